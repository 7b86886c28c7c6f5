"""What the model reads a second time, where its first reading did not support the claim.

A claim of "0.4 mg BD" is read with the words of its evidence: "400 micrograms twice a day". A claim that no
chunk decides is read against two or three sentences together, from one chunk or from several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.english.words import content_words
from pytest_medfaith.quantities.quantity import same_quantity
from pytest_medfaith.quantities.reader import read_quantities
from pytest_medfaith.records import Chunk, Claim, PairScore, Verdict
from pytest_medfaith.scoring.reading import AS_SHIPPED, ReadingSettings
from pytest_medfaith.scoring.windows import evidence_windows

Ask = Callable[[Claim, Chunk], Verdict]  # the model's verdict on a claim by one text


def read_restated(
    verdict: Verdict, scores: Sequence[PairScore], chunks: Sequence[Chunk], ask: Ask
) -> Verdict:
    """Returns the model's support for the claim with quantities as the evidence writes them, or `verdict`.

    A small model compares the digits that it reads. So where two quantities are the same after conversion, it
    gets the same digits: "400 micrograms" for "0.4 mg".

    Args:
        verdict: the verdict of the first reading.
        scores: the scores of the claim, with logits.
        chunks: the chunks that can be read.
        ask: gives the model's verdict on a claim by one chunk.
    """
    score = next((score for score in scores if score.chunk_id == verdict.chunk_id and score.span), None)
    chunk = next((chunk for chunk in chunks if chunk.id == verdict.chunk_id), None)
    if verdict.label == "supported" or score is None or score.span is None or chunk is None:
        return verdict
    text = restated(verdict.claim.text, chunk.text[slice(*score.span)])
    if text == verdict.claim.text:
        return verdict
    again = ask(verdict.claim.with_(text=text), chunk)
    return (
        again.with_(claim=verdict.claim, reason=f"read as: {text}") if again.label == "supported" else verdict
    )


def restated(claim: str, sentence: str) -> str:
    """Returns `claim` with its quantities as `sentence` writes them.

    "0.4 mg" becomes "400 micrograms", "BD" becomes "twice a day". A claim without such a quantity comes back
    unchanged.
    """
    stated, text = read_quantities(sentence), claim
    for quantity in reversed(read_quantities(claim)):
        found = next((known for known in stated if same_quantity(quantity, known)), None)
        if found is not None:
            text = text[: quantity.start] + sentence[found.start : found.end] + text[quantity.end :]
    return text


def read_joined(verdict: Verdict, chunks: Sequence[Chunk], ask: Ask, settings: ReadingSettings) -> Verdict:
    """Returns the verdict by two or three sentences that cover an undecided claim together, else `verdict`.

    Args:
        verdict: the verdict of the first reading.
        chunks: the chunks that can be read.
        ask: gives the model's verdict on a claim by one chunk.
        settings: how many sentences are joined.
    """
    parts = joined_parts(verdict.claim.text, chunks, settings) if verdict.label == "unsupported" else []
    if not parts:
        return verdict
    text = " ".join(part.text for part in parts)
    joined = ask(verdict.claim, Chunk(id=chunks[parts[0].chunk].id, text=text))
    if joined.label == "unsupported":
        return verdict
    sources = tuple(dict.fromkeys(chunks[part.chunk].id for part in parts))
    return joined.with_(
        joint=True,
        span=(parts[0].start, parts[0].end),
        supporting=sources if joined.label == "supported" and len(sources) == 1 else (),
        reason=f"{len(parts)} sentences of {' and '.join(sources)} read together",
    )


@dataclass(frozen=True)
class Part:
    """A sentence of the joined evidence.

    Attributes:
        chunk: the index of its chunk.
        start: its first character in the chunk's text.
        end: the character after it.
        text: its text.
    """

    chunk: int
    start: int
    end: int
    text: str


def joined_parts(claim: str, chunks: Sequence[Chunk], settings: ReadingSettings = AS_SHIPPED) -> list[Part]:
    """Returns the two or three sentences that together cover the claim best, in the order of the evidence.

    Each next sentence is the one that adds most of the claim's words that the sentences before it lack
    (greedy set cover; ties go to the earlier sentence). Empty where one sentence covers as much, and where
    one window (the sentences that the model read at once) has them all: then the model has read them together
    already.

    Args:
        claim: the text of the claim.
        chunks: the chunks that can be read.
        settings: the most sentences, and the least that each has to add.
    """
    wanted = content_words(claim)
    sentences = [
        Part(number, start, end, chunk.text[start:end])
        for number, chunk in enumerate(chunks)
        for start, end in sentence_spans(chunk.text)
    ]
    candidates = [(part, wanted & content_words(part.text)) for part in sentences]
    chosen: list[Part] = []
    missing = set(wanted)
    while candidates and len(chosen) < settings.joined_sentences:
        part, words = max(candidates, key=lambda candidate: len(candidate[1] & missing))
        if len(words & missing) < max(1.0, settings.joined_gain * len(wanted)):
            break
        chosen.append(part)
        missing -= words
    if len(chosen) < 2 or _in_one_window(chosen, chunks, settings):
        return []
    return sorted(chosen, key=lambda part: (part.chunk, part.start))


def _in_one_window(parts: Sequence[Part], chunks: Sequence[Chunk], settings: ReadingSettings) -> bool:
    """Returns whether the model has read all `parts` at once, in a single window of their chunk."""
    if len({part.chunk for part in parts}) > 1:
        return False
    text = chunks[parts[0].chunk].text
    windows = evidence_windows(text, settings.window_words, settings.window_slack)
    return any(all(window.holds(part.start, part.end) for part in parts) for window in windows)
