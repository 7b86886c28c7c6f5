"""Makes the claims of an audit: sentences of a corpus, reworded, as they are and with a planted error."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_medfaith.audit.operators import OPERATORS
from pytest_medfaith.audit.paraphrase import paraphrase
from pytest_medfaith.audit.results import UNCHANGED, AuditClaim
from pytest_medfaith.audit.statements import statements
from pytest_medfaith.english.words import content_keys, share
from pytest_medfaith.metrics.audit import AUDIT_KINDS
from pytest_medfaith.records import Chunk

OTHER_DOCUMENT = "other_document"
# As many true claims as of each kind: false alarms should be rare, and a rare share needs more claims.
UNCHANGED_TIMES = 4
MOST_CHUNKS = 2_000  # looked through for kinds that few sentences allow, such as doses
# Of a sentence's words with a chunk of another document: a chunk that shares more may state it, too.
_MOST_SHARED = 0.5
_DRAWS = 20


def sample_claims(chunks: Sequence[Chunk], *, limit: int, seed: int) -> list[AuditClaim]:
    """Returns the claims of an audit, without verdicts: at most `limit` of each kind.

    There are up to four times as many unchanged claims. A chunk gives at most one claim of a kind. The same
    chunks, limit and seed give the same claims.
    """
    wanted = {**dict.fromkeys(AUDIT_KINDS, limit), UNCHANGED: UNCHANGED_TIMES * limit}
    order = sorted(chunks, key=lambda chunk: chunk.id)
    random.Random(f"audit-{seed}").shuffle(order)
    found: Counter[str] = Counter()
    claims: list[AuditClaim] = []
    for chunk in order[:MOST_CHUNKS]:
        if all(found[kind] >= number for kind, number in wanted.items()):
            break
        rng = random.Random(f"audit-{seed}-{chunk.id}")
        taken: set[str] = set()
        for claim in (*_changed_claims(chunk, rng), *_foreign_claim(chunk, order, rng)):
            if found[claim.kind] < wanted[claim.kind] and claim.kind not in taken:
                taken.add(claim.kind)
                found[claim.kind] += 1
                claims.append(claim)
    return sorted(claims, key=lambda claim: [*AUDIT_KINDS, UNCHANGED].index(claim.kind))


def _changed_claims(chunk: Chunk, rng: random.Random) -> Iterator[AuditClaim]:
    """Yields the claims that can be made from the sentences of `chunk`, in a random order."""
    sentences = statements(chunk.text)
    rng.shuffle(sentences)
    for sentence in sentences:
        reworded = paraphrase(sentence, chunk.text, rng)
        if reworded != sentence:  # a checker would find a copy by its words alone
            yield _claim(UNCHANGED, chunk, sentence, reworded)
        for kind, operator in OPERATORS.items():
            mutation = operator(reworded, chunk.text, rng)
            if mutation:
                yield _claim(kind, chunk, sentence, mutation.text, start=mutation.start, end=mutation.end)


def _foreign_claim(chunk: Chunk, others: Sequence[Chunk], rng: random.Random) -> Iterator[AuditClaim]:
    """Yields a sentence of another document as a claim, which the chunk does not support."""
    found = foreign_sentence((chunk,), others, rng)
    if found:
        sentence, other = found
        text = paraphrase(sentence, other.text, rng)
        yield _claim(OTHER_DOCUMENT, chunk, sentence, text, end=len(text))


def foreign_sentence(
    chunks: Sequence[Chunk], others: Sequence[Chunk], rng: random.Random
) -> tuple[str, Chunk] | None:
    """Returns a sentence of another document than those of `chunks`, and its chunk; None where none is drawn.

    The sentence shares few words with `chunks`, so that they do not happen to state it.
    """
    known = content_keys("\n".join(chunk.text for chunk in chunks))
    documents = {document(chunk) for chunk in chunks}
    for _ in range(_DRAWS if known else 0):
        other = rng.choice(others)
        sentences = statements(other.text) if document(other) not in documents else []
        sentence = rng.choice(sentences) if sentences else ""
        if sentence and share(content_keys(sentence), known) < _MOST_SHARED:
            return sentence, other
    return None


def document(chunk: Chunk) -> str:
    """Returns what identifies the document of a chunk: its address, its title, or its id."""
    return chunk.url or chunk.title or chunk.id


def _claim(kind: str, chunk: Chunk, sentence: str, text: str, *, start: int = 0, end: int = 0) -> AuditClaim:
    return AuditClaim(
        id=f"{kind}/{chunk.id}",
        kind=kind,
        chunk_id=chunk.id,
        sentence=sentence,
        text=text,
        start=start,
        end=end,
    )
