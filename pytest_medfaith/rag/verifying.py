"""Checks the claims of a draft against its passages, and keeps sentences whose claims are all supported."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.claims.citations import read_citations
from pytest_medfaith.claims.layout import Layout, Sentence, read_layout
from pytest_medfaith.english.words import plain_words
from pytest_medfaith.errors import TeacherError
from pytest_medfaith.rag.account import DroppedSentence
from pytest_medfaith.records import Chunk, Claim, PairScore, Verdict
from pytest_medfaith.teacher.settings import TEACHER

Extractor = Callable[..., list[Claim]]
UNCHECKED = "no claim of it was checked"
BEREFT = "it needs a sentence that was dropped"
LEADS_NOWHERE = "all that it leads to was dropped"
_LISTED = ("item", "row")
# Words that may mean something said in the sentence before, wherever they are: "Tea lowers it."
_POINTING = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|she|him|her|his|this|these|those|such|both|former|latter|same|"
    r"other|others)\b|^\W*(?:that|so|thus|therefore|however|also|then|otherwise|instead)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Verifier:
    """Judges the claims of answers.

    Attributes:
        checker: judges a claim against passages.
        extractor: function from an answer to its claims.
    """

    checker: Checker
    extractor: Extractor

    def verdicts(self, answer: str, question: str, contexts: Sequence[Chunk]) -> list[Verdict]:
        """Returns the verdict on each claim of `answer`, in order; [] where it makes no claim.

        Args:
            answer: to verify.
            question: that it answers.
            contexts: the passages that claims are judged by.

        Raises:
            TeacherError: the checker is the teacher, and did not judge a claim.
        """
        claims = self.extractor(answer, question=question)
        scores: dict[str, list[PairScore]] = {claim.id: [] for claim in claims}
        for score in self.checker.score([(claim, chunk) for claim in claims for chunk in contexts]):
            scores[score.claim_id].append(score)
        found = [self.checker.decide(claim, scores[claim.id], contexts) for claim in claims]
        lost = next((one for one in found if one.label == "unscored"), None)
        if lost and self.checker.name == TEACHER:
            raise TeacherError(f"the answer could not be verified: {lost.reason}")
        return found


def supported_part(answer: str, verdicts: Sequence[Verdict]) -> tuple[str, list[DroppedSentence]]:
    """Returns (the supported sentences of `answer` as a text, the dropped sentences with their reasons).

    A sentence stays if it makes claims and all of them are supported. "I hope this helps." makes none, so it
    is dropped as unchecked. A heading, or a line that introduces a list, stays if anything below it stays.
    "It lowers glucose." is dropped with the sentence that "it" refers to.

    Args:
        answer: with its citation markers.
        verdicts: on all claims of it.
    """
    layout = read_layout(read_citations(answer).text)
    sentences = layout.sentences
    mine = [[one for one in verdicts if _overlaps(one.claim, sentence)] for sentence in sentences]
    led = {place: _led_by(sentences, place) for place in range(len(sentences)) if _leads(layout, place)}
    dropped: dict[int, str] = {}
    for place in range(len(sentences)):
        is_orphan = any(place in behind and lead in dropped for lead, behind in led.items())
        unchecked = "" if mine[place] or place in led else UNCHECKED
        why = _why_dropped(mine[place]) or unchecked or (BEREFT if is_orphan else "")
        why = why or _bereft(mine[place], sentences, answer, dropped, place)
        if why:
            dropped[place] = why
    for place, behind in reversed(led.items()):
        if place not in dropped and not mine[place] and all(one in dropped for one in behind):
            dropped[place] = LEADS_NOWHERE
    zones = [*(sentence.zone for sentence in sentences), len(answer)]
    pieces = [answer[zones[place] : zones[place + 1]] for place in range(len(sentences))]
    kept = "".join(piece for place, piece in enumerate(pieces) if place not in dropped)
    told = [
        DroppedSentence(text=" ".join(pieces[place].split()), reason=why)
        for place, why in sorted(dropped.items())
    ]
    return kept.strip(), told


def _leads(layout: Layout, place: int) -> bool:
    """Returns whether a sentence leads to what follows: a heading, or a line such as "Side effects are:"."""
    sentence = layout.sentences[place]
    return sentence.block.kind == "heading" or layout.text[sentence.start : sentence.end].rstrip().endswith(
        ":"
    )


def _led_by(sentences: Sequence[Sentence], place: int) -> range:
    """Returns the places of the sentences below a heading, or behind a line that introduces them."""
    behind = range(place + 1, len(sentences))
    if sentences[place].block.kind == "heading":
        end = next((one for one in behind if sentences[one].block.kind == "heading"), len(sentences))
    elif behind and sentences[place + 1].block.kind in _LISTED:
        end = next((one for one in behind if sentences[one].block.kind not in _LISTED), len(sentences))
    else:
        end = min(place + 2, len(sentences))
    return range(place + 1, end)


def _overlaps(claim: Claim, sentence: Sentence) -> bool:
    return claim.start < sentence.end and sentence.start < claim.end


def _why_dropped(verdicts: Sequence[Verdict]) -> str:
    """Returns why a sentence is dropped by its verdicts: "refuted: ..."; "" where all are supported."""
    worst = next((one for one in verdicts if one.label == "refuted"), None)
    worst = worst or next((one for one in verdicts if one.label != "supported"), None)
    if worst is None:
        return ""
    why = worst.reason or next((finding.message for finding in worst.findings), "")
    return f"{worst.label}: {why}" if why else worst.label


def _bereft(
    verdicts: Sequence[Verdict],
    sentences: Sequence[Sentence],
    answer: str,
    dropped: Mapping[int, str],
    place: int,
) -> str:
    """Returns why a sentence cannot be read any more: what its "it" means was dropped; "" where it can.

    Args:
        verdicts: on the claims of the sentence.
        sentences: all sentences of the answer.
        answer: their text.
        dropped: {place of a dropped sentence: why}.
        place: of the sentence among `sentences`.
    """
    needed = " ".join(plain_words(one.claim.context) for one in verdicts if one.claim.context)
    points = bool(needed) or _POINTING.search(answer[sentences[place].start : sentences[place].end])
    texts = {one: plain_words(answer[sentences[one].start : sentences[one].end]) for one in dropped}
    lost = (points and place - 1 in dropped) or any(text and text in needed for text in texts.values())
    return BEREFT if lost else ""
