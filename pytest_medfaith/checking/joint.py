"""Joins the few sentences that together speak of a claim, for claims that no single window decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_medfaith.checking.windows import evidence_windows
from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.english.words import content_words
from pytest_medfaith.records import Chunk

SENTENCES = 3  # a claim that needs four is no single claim
LEAST_GAIN = 0.15  # of the claim's content words that a further sentence must add; less is a chance word


@dataclass(frozen=True)
class Part:
    """One sentence of the joined evidence: `start`, `end` is its span in the chunk's text."""

    chunk: int
    start: int
    end: int
    text: str


def joined_parts(claim: str, chunks: Sequence[Chunk]) -> list[Part]:
    """Returns two or three sentences that cover the claim better together than any alone, in the order of the evidence.

    Each next sentence is the one that adds most of the claim's words that the others lack (greedy set cover; ties go to the
    earlier one). Empty where one sentence covers as much, and where one window holds them all: the model has read that already.
    """
    wanted = content_words(claim)
    candidates = [(part, wanted & content_words(part.text)) for part in _sentences(chunks)]
    chosen: list[Part] = []
    missing = set(wanted)
    while candidates and len(chosen) < SENTENCES:
        part, words = max(candidates, key=lambda candidate: len(candidate[1] & missing))
        if len(words & missing) < max(1.0, LEAST_GAIN * len(wanted)):
            break
        chosen.append(part)
        missing -= words
    if len(chosen) < 2 or _in_one_window(chosen, chunks):
        return []
    return sorted(chosen, key=lambda part: (part.chunk, part.start))


def _sentences(chunks: Sequence[Chunk]) -> Iterator[Part]:
    for number, chunk in enumerate(chunks):
        for start, end in sentence_spans(chunk.text):
            yield Part(number, start, end, chunk.text[start:end])


def _in_one_window(parts: Sequence[Part], chunks: Sequence[Chunk]) -> bool:
    first = parts[0].chunk
    if any(part.chunk != first for part in parts):
        return False
    return any(
        all(window.start <= part.start and part.end <= window.end for part in parts)
        for window in evidence_windows(chunks[first].text)
    )
