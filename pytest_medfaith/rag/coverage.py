"""How much of a question the retrieved passages cover: 0 to 1, by words and vectors."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_medfaith.english.sentences import sentences_of
from pytest_medfaith.english.words import content_keys, share
from pytest_medfaith.rag.quoting import Embed
from pytest_medfaith.records import Chunk

_READ = 3  # the encoder reads the sentences of so many passages, those with most of the question's words


def word_coverage(question: str, contexts: Sequence[Chunk]) -> float:
    """Returns which share of the question's content words the passages hold together, 0 to 1.

    Example: of "iron in pregnancy" a passage on iron covers half. Without content words it is 0. Words that
    any medical sentence may hold count less.
    """
    held = frozenset[str]().union(*(content_keys(_read(chunk)) for chunk in contexts))
    return share(content_keys(question), held)


def passage_coverage(question: str, contexts: Sequence[Chunk], *, embed: Embed) -> float:
    """Returns how much of the question the best single passage covers, 0 to 1.

    A passage's value is half the share of the question's content words in it, and half the cosine of the
    question and its most similar sentence. So words count less if they are spread over several passages. 0.0
    without passages, or if they hold no sentence.

    Args:
        question: of the user.
        contexts: the passages; the three with the most words of the question are read.
        embed: the sentence encoder: texts -> vectors of length 1.
    """
    keys = content_keys(question)
    best = sorted(contexts, key=lambda chunk: -share(keys, content_keys(_read(chunk))))[:_READ]
    pieces = [(place, piece) for place, chunk in enumerate(best) for piece in sentences_of(chunk.text)]
    if not pieces:
        return 0.0
    vectors = embed([question, *(f"{best[place].title} {piece}".strip() for place, piece in pieces)])
    alike = [0.0] * len(best)
    for (place, _), vector in zip(pieces, vectors[1:], strict=True):
        alike[place] = max(alike[place], float(vectors[0] @ vector))
    found = (
        0.5 * share(keys, content_keys(_read(chunk))) + 0.5 * alike[place] for place, chunk in enumerate(best)
    )
    return min(1.0, max(found))


def _read(chunk: Chunk) -> str:
    """Returns title, section path and text of a chunk in a single text."""
    return " ".join([chunk.title, *chunk.section_path, chunk.text])
