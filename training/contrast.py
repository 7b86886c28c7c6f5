"""Makes minimal pairs from PubMedQA and MedQuAD: three claims against the same few sentences of a document.

One claim says what a sentence says, one says its opposite, and one is a sentence from elsewhere in the
document.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from pytest_medfaith.audit.mutation import Mutation
from pytest_medfaith.audit.operators import OPERATORS
from pytest_medfaith.audit.paraphrase import paraphrase
from pytest_medfaith.audit.statements import is_statement
from pytest_medfaith.datasets.medquad import read_medquad_chunks
from pytest_medfaith.datasets.pubmedqa import read_pubmedqa_chunks
from pytest_medfaith.english.sentences import sentences_of
from pytest_medfaith.english.words import content_keys, share
from pytest_medfaith.records import Chunk
from training.pairs import Pair, is_share, sentence_window

PER_DOCUMENT = 3  # sentences of a document; each gives three pairs
MEDQUAD_SHARE = 2  # every second MedQuAD document is read: its sites repeat themselves from page to page
_CONTRADICTING = ("negation", "direction", "drug_swap", "dose_up", "dose_down", "unit_swap", "population")
_COMMON = ("negation", "drug_swap")
_MOST_ENTAILED = 4  # synonyms in an entailed claim
_COPIES = 0.15  # of the sentences that no rewording fits, this share is kept as copies
_LARGEST_OVERLAP = (
    0.5  # share of a neutral claim's words in the window; with more, the claim may follow from it
)


def read_contrast(root: Path, *, per_document: int = PER_DOCUMENT) -> Iterator[Pair]:
    """Yields pairs in threes: an entailed, a contradicted and a neutral claim against the same window.

    A window is two to four sentences. In a random half of the cases it holds the mutated sentence, and the
    true sentence is the contradicted claim, so that neither "not" nor an odd dose gives the label away.
    Entailed claims differ from their sentence in more words than contradicted claims do, and few are
    copies: else a model learns that whatever differs is wrong. A group is a document.

    Args:
        root: the folder of data sets, with pubmedqa/ori_pqal.json and medquad/medquad_xml.tar.gz.
        per_document: most sentences taken of a document.
    """
    seen: set[str] = set()
    for document, sentences in _documents(root):
        taken = 0
        for centre in _shuffled(range(len(sentences)), document):
            if taken == per_document:
                break
            if sentences[centre] not in seen and (pairs := _pairs(document, sentences, centre)):
                seen.add(sentences[centre])
                taken += 1
                yield from pairs


def _documents(root: Path) -> Iterator[tuple[str, list[str]]]:
    """Yields (document's id, its sentences) of both data sets."""
    pubmedqa = read_pubmedqa_chunks(root / "pubmedqa" / "ori_pqal.json")
    medquad = read_medquad_chunks(root / "medquad" / "medquad_xml.tar.gz")
    yield from _by_document(pubmedqa, r"/\d+$")
    for document, sentences in _by_document(medquad, r"-\d+$"):
        if is_share(document, one_in=MEDQUAD_SHARE):
            yield document, sentences


def _by_document(chunks: Iterable[Chunk], tail: str) -> Iterator[tuple[str, list[str]]]:
    """Yields (document's id, its sentences) from neighbouring chunks.

    `tail` matches the end of a chunk's id.
    """
    for document, its_chunks in groupby(chunks, key=lambda chunk: re.sub(tail, "", chunk.id)):
        yield document, [sentence for chunk in its_chunks for sentence in sentences_of(chunk.text)]


def _shuffled(numbers: Iterable[int], seed: str) -> list[int]:
    """Returns the numbers in an order that depends only on `seed`."""
    order = list(numbers)
    random.Random(f"contrast-{seed}").shuffle(order)
    return order


def _pairs(document: str, sentences: list[str], centre: int) -> list[Pair]:
    """Returns the three pairs made of the sentence at `centre`.

    [] if no mutation fits the sentence, or no other sentence of the document is neutral to it.
    """
    rng = random.Random(f"contrast-{document}-{centre}")
    size = rng.choice((2, 3, 4))
    true, window = sentences[centre], sentence_window(sentences, centre, size=size)
    mutation = _mutation(true, " ".join(sentences), rng) if is_statement(true) else None
    neutral = _elsewhere(sentences, window, rng) if mutation else None
    if mutation is None or neutral is None:
        return []
    said, unsaid = true, mutation.text
    if rng.random() < 0.5:
        said, unsaid = unsaid, said
        window = window.replace(true, said, 1)
    entailed = paraphrase(said, window, rng, most=_MOST_ENTAILED)
    if entailed == said and rng.random() >= _COPIES:
        return []
    contradicted = paraphrase(unsaid, window, rng) if rng.random() < 0.5 else unsaid
    claims = (
        (entailed, "entail"),
        (contradicted, "contradict"),
        (paraphrase(neutral, window, rng), "neutral"),
    )
    return [Pair(window, claim, label, "contrast", document) for claim, label in claims]


def _mutation(sentence: str, text: str, rng: random.Random) -> Mutation | None:
    """Returns the sentence with its meaning changed ("5 mg" to "50 mg"), in a way drawn at random; or None.

    None if no way fits the sentence. Rare ways, such as doses, are mostly tried before negations.
    """
    kinds = rng.sample(_CONTRADICTING, len(_CONTRADICTING))
    if rng.random() < 0.6:
        kinds.sort(key=lambda kind: kind in _COMMON)
    return next((found for kind in kinds if (found := OPERATORS[kind](sentence, text, rng))), None)


def _elsewhere(sentences: list[str], window: str, rng: random.Random) -> str | None:
    """Returns a statement of the document that is not in the window, as it is or mutated.

    None where the document has no such statement.
    """
    known = content_keys(window)
    outside = [
        each
        for each in sentences
        if each not in window and is_statement(each) and share(content_keys(each), known) < _LARGEST_OVERLAP
    ]
    if not outside:
        return None
    chosen = rng.choice(outside)
    changed = _mutation(chosen, " ".join(sentences), rng) if rng.random() < 0.3 else None
    return changed.text if changed else chosen
