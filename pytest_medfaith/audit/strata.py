"""Makes the claims of the strata, groups of claims with errors as real answers make them.

They are items of the bank beside passages of the corpus, and two facts of a corpus joined.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from pytest_medfaith.audit.bank import BankItem, read_bank
from pytest_medfaith.audit.mutation import Mutation, as_inner
from pytest_medfaith.audit.operators import OPERATORS
from pytest_medfaith.audit.paraphrase import paraphrase
from pytest_medfaith.audit.results import Role, StratumClaim
from pytest_medfaith.audit.sampling import document, foreign_sentence
from pytest_medfaith.audit.statements import statements
from pytest_medfaith.english.words import content_keys, share
from pytest_medfaith.metrics.audit import BANK_STRATA, NEAR_MISS, TWO_CHUNKS
from pytest_medfaith.records import Chunk

BESIDE = 2  # passages of the corpus beside an item of the bank
# Of a bank claim's words with a passage beside it: a passage that shares more may decide the claim itself.
_MOST_SHARED = 0.4
_DRAWS = 20  # chunks looked at for a passage, or for the second half of a joined claim


class StratumQuestion(NamedTuple):
    """A claim that is still to be judged, and the chunks that judge it."""

    claim: StratumClaim
    chunks: tuple[Chunk, ...]


def sample_strata(chunks: Sequence[Chunk], *, limit: int, seed: int) -> list[StratumQuestion]:
    """Returns the claims of the strata: for each item an error, a faithful claim and an addition.

    A stratum has at most `limit` items. The same chunks, in any order, limit and seed give the same claims.
    """
    order = sorted(chunks, key=lambda chunk: chunk.id)
    random.Random(f"strata-{seed}").shuffle(order)
    bank = list(read_bank())
    random.Random(f"bank-{seed}").shuffle(bank)
    found: list[StratumQuestion] = []
    for stratum in BANK_STRATA:
        for item in [item for item in bank if item.stratum == stratum][:limit]:
            found += _of_item(item, stratum, order, random.Random(f"{stratum}-{seed}-{item.id}"))
    # An item of each stratum in turn, so that the first `limit` of them cover all strata.
    turns = [sum(other.stratum == item.stratum for other in bank[:place]) for place, item in enumerate(bank)]
    for _, item in sorted(zip(turns, bank, strict=True), key=lambda turn: turn[0])[:limit]:
        found += _of_item(item, NEAR_MISS, order, random.Random(f"{NEAR_MISS}-{seed}-{item.id}"))
    return found + list(_joined(order, limit=limit, seed=seed))


def _of_item(
    item: BankItem, stratum: str, corpus: Sequence[Chunk], rng: random.Random
) -> Iterator[StratumQuestion]:
    texts = {"passage": item.passage, **({"near": item.near_miss} if stratum == NEAR_MISS else {})}
    chunks = [Chunk(id=f"medfaith-bank/{item.id}/{name}", text=text) for name, text in texts.items()]
    chunks += _beside((item.claim, item.wrong, item.addition), corpus, rng)
    rng.shuffle(chunks)
    yield from _questions(
        f"{stratum}/{item.id}", stratum, chunks, error=item.wrong, faithful=item.claim, addition=item.addition
    )


def _beside(claims: Iterable[str], corpus: Sequence[Chunk], rng: random.Random) -> list[Chunk]:
    """Returns passages of the corpus on other matters than `claims`, at most BESIDE."""
    keys = [content_keys(claim) for claim in claims]
    drawn = rng.sample(corpus, min(_DRAWS, len(corpus)))
    return list(
        islice(
            (
                chunk
                for chunk in drawn
                if all(share(wanted, content_keys(chunk.text)) < _MOST_SHARED for wanted in keys)
            ),
            BESIDE,
        )
    )


def _questions(name: str, stratum: str, chunks: Sequence[Chunk], **texts: str) -> Iterator[StratumQuestion]:
    """Yields a question for each role in `texts`; a role with an empty text is left out."""
    roles: tuple[Role, ...] = ("error", "faithful", "addition")
    ids = tuple(chunk.id for chunk in chunks)
    for role in roles:
        if texts[role]:
            claim = StratumClaim(
                id=f"{name}/{role}", stratum=stratum, role=role, chunk_ids=ids, text=texts[role]
            )
            yield StratumQuestion(claim, tuple(chunks))


def _joined(order: Sequence[Chunk], *, limit: int, seed: int) -> Iterator[StratumQuestion]:
    """Yields claims that join two facts: both true; the second changed; the second from elsewhere."""
    made = 0
    for chunk in order:
        rng = random.Random(f"{TWO_CHUNKS}-{seed}-{chunk.id}")
        partner = _partner(chunk, order, rng)
        halves = _halves(chunk, partner, rng) if partner else None
        if made == limit:
            return
        if partner is None or halves is None:
            continue
        made += 1
        first, second, change = halves
        foreign = foreign_sentence((chunk, partner), order, rng)
        yield from _questions(
            f"{TWO_CHUNKS}/{chunk.id}",
            TWO_CHUNKS,
            (chunk, partner),
            error=_join(first, change.text, partner),
            faithful=_join(first, second, partner),
            addition=_join(first, foreign[0], foreign[1]) if foreign else "",
        )


def _partner(chunk: Chunk, others: Sequence[Chunk], rng: random.Random) -> Chunk | None:
    """Returns the chunk that shares most words with `chunk`, of those drawn from other documents, or None."""
    drawn = [
        other for other in rng.sample(others, min(_DRAWS, len(others))) if document(other) != document(chunk)
    ]
    known = content_keys(chunk.text)
    return max(drawn, key=lambda other: (share(known, content_keys(other.text)), other.id), default=None)


def _halves(chunk: Chunk, partner: Chunk, rng: random.Random) -> tuple[str, str, Mutation] | None:
    """Returns a sentence of each chunk, reworded, and the second changed; None where that is impossible."""
    firsts, seconds = _joinable(chunk), _joinable(partner)
    rng.shuffle(seconds)
    if not firsts:
        return None
    first = paraphrase(rng.choice(firsts), chunk.text, rng)
    evidence = f"{chunk.text} {partner.text}"
    operators = list(OPERATORS.values())
    rng.shuffle(operators)
    for sentence in seconds:
        second = paraphrase(sentence, partner.text, rng)
        change = next((found for operator in operators if (found := operator(second, evidence, rng))), None)
        if change:
            return first, second, change
    return None


def _joinable(chunk: Chunk) -> list[str]:
    """Returns the statements of a chunk behind which another can follow: "A lowers B, and ..."."""
    return [sentence for sentence in statements(chunk.text) if ";" not in sentence]


def _join(first: str, second: str, source: Chunk) -> str:
    """Returns both sentences joined: "A lowers B, and c raises d."."""
    return f"{first.removesuffix('.')}, and {as_inner(second, source.text)}"
