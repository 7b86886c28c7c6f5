"""Reads files of cases, and makes gold claims out of long reference answers.

An answer is split, repeats are left out, and the claims that the question asks for most are kept. Claims made
here have the provenance "extracted", claims that a person wrote "human".
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pytest_medfaith import defaults
from pytest_medfaith.answers.given import refuse_near_keys
from pytest_medfaith.answers.row_files import is_table, read_row_file
from pytest_medfaith.answers.row_keys import case_row
from pytest_medfaith.english.lexicon import COMMON_WORDS, word_set
from pytest_medfaith.english.sentences import sentences_of
from pytest_medfaith.english.words import STATED
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import records_of
from pytest_medfaith.records import Case, GoldClaim

Style = Literal["given", "sentences", "claims"]


_MIN_WORDS = 4  # fewer are headings and fragments
_MAX_WORDS = 60  # more are tables that lost their markup
# Two statements say the same where the shorter has this share of the content words of the longer.
_SAME = 0.8
_BULLET = re.compile(r"\s*(?:[-*\u2022\u2023\u25aa\u00b7\u2013]|\d{1,2}[.)])\s+")
# Openings of sentences that speak of pages, tables and resources instead of medicine.
_POINTER = re.compile(
    r"(?:for more (?:information|details)|see (?:also|the|our|more)|click|learn more|read more|visit|"
    r"more information|you can (?:use|find)|this (?:page|section|table)|the table below|"
    r"if the information is available|source:|nih:|to find out|these resources|the human phenotype ontology|"
    r"much of this information|the frequency (?:of a sign|may also)|the first number of the fraction|"
    r"for example, a frequency|because these frequencies|sometimes, no information on frequency|"
    r"in these cases, the sign or)\b",
    re.IGNORECASE,
)
# Ends of a line that the list below it completes: "Symptoms include".
_LEAD_END = re.compile(
    r"(?::|\b(?:include|includes|including|are|is|be|by|to|as|such as|usually|may|can|should|of|for|with|if|"
    r"when|following|follows))$"
)
# Openings of a sentence that cannot be read without the sentence before it: "It also ...".
_BACKWARD = re.compile(
    r"(?:it|its|they|their|he|she|his|her|this|these|those|such|both|another|other|also|however|therefore|"
    r"thus|instead|in addition|in this case|for example)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(r"summary\s*:\s+(?=[A-Z])", re.IGNORECASE)  # MedlinePlus begins its pages so
_BACKWARD_COST = 0.5  # taken off a score of at most 2
# Words that say nothing of what a statement is about. "must", "should", "not" and "no" are not among them: a
# statement with "must" says more than the same statement without it.
_PLAIN = COMMON_WORDS - word_set("must should no not") | word_set("how many much other what where why")
# Words that turn a sense round: two statements that differ in such a word never say the same.
_TURNING = word_set(
    "no not never none neither nor without cannot except unless only less least rarely before after under "
    "over"
)


_CASE_KEYS, _CLAIM_KEYS = (
    [field.name for field in dataclasses.fields(kind) if field.name != "extra"] for kind in (Case, GoldClaim)
)


def read_gold_file(path: Any) -> Iterator[Case]:
    """Yields the cases of a gold file, lazily.

    Args:
        path: a file of JSON Lines, JSON, CSV or Parquet, in the keys of this project, of ragas or of
            deepeval; or a list of mappings, or a table of pandas, polars, pyarrow or Hugging Face.

    Raises:
        DataError: no such file, a malformed line, an id used twice, or a key that is nearly a known key:
            `gold_claim` would leave a case without gold claims.
        MissingExtra: a Parquet file, and no pyarrow.
    """
    from_table = is_table(path)
    rows = ((place, case_row(row, place=place, is_table=from_table)) for place, row in read_row_file(path))
    for case in records_of(rows, Case):
        try:
            refuse_near_keys(case.to_dict(), _CASE_KEYS)
            for claim in case.gold_claims:
                refuse_near_keys(claim.to_dict(), _CLAIM_KEYS)
        except DataError as error:
            raise DataError(
                f"{path if isinstance(path, Path) else 'the rows'}: case {case.id!r}: {error}"
            ) from None
        yield case


def with_gold_claims(case: Case, *, style: Style, cap: int = defaults.GOLD_CLAIMS) -> Case:
    """Returns `case` with gold claims made of its reference answer.

    A case that has gold claims, or no reference answer, comes back as it is.
    """
    if case.gold_claims or not case.reference_answer or style == "given":
        return case
    return case.with_(
        gold_claims=gold_claims(case.reference_answer, question=case.question, style=style, cap=cap)
    )


def gold_claims(
    answer: str, *, question: str, style: Style = "claims", cap: int = defaults.GOLD_CLAIMS
) -> tuple[GoldClaim, ...]:
    """Returns at most `cap` claims of `answer`, the most telling first; () where it states nothing.

    Claims that repeat another are left out. The ids are "g1", "g2", ... in the order returned.

    Args:
        answer: plain text, each list item on a line.
        question: what was asked; claims that share its words, and early ones, rank first (see `rank`).
        style: "claims" asks the claim extractor; "sentences" takes `statements`, and so does "given".
        cap: at least 1.

    Raises:
        ValueError: `cap` is below 1.
    """
    if cap < 1:
        raise ValueError(f"cap is {cap}, expected 1 or more claims; leave it out for {defaults.GOLD_CLAIMS}")
    if style == "claims":
        from pytest_medfaith.claims.split import extract_claims

        found = [claim.text for claim in extract_claims(answer, question=question)]
    else:
        found = statements(answer)
    ranked = rank(distinct(found), question=question)[:cap]
    return tuple(
        GoldClaim(id=f"g{number}", text=text, provenance="extracted")
        for number, text in enumerate(ranked, start=1)
    )


def statements(answer: str) -> list[str]:
    """Returns the sentences and list items of `answer` that state something, in order.

    A list item is joined to the line that introduces it: "Symptoms include:" and "fever" become "Symptoms
    include: fever". Headings, questions, and pointers to pages and tables are left out, and so is what has
    fewer than 4 or more than 60 words. [] for an empty answer.
    """
    found: list[str] = []
    lead = ""
    for line in filter(str.strip, _LABEL.sub("", answer, count=1).split("\n")):
        bullet = _BULLET.match(line)
        sentences = sentences_of(line[bullet.end() :] if bullet else line)
        if bullet and lead and sentences:
            found += [f"{lead} {sentences[0]}", *filter(_is_sentence, sentences[1:])]
        else:
            found += filter(_is_sentence, sentences)
        if not bullet:
            lead = sentences[-1] if _LEAD_END.search(sentences[-1]) and _is_long(sentences[-1]) else ""
    return [text for text in found if _is_long(text) and not _POINTER.match(text)]


def _is_long(text: str) -> bool:
    return _MIN_WORDS <= len(text.split()) <= _MAX_WORDS


def _is_sentence(text: str) -> bool:
    """Returns whether `text` states something: it ends as sentences do, or is too long for a heading.

    A question, and the introduction of a list, state nothing.
    """
    ended = text.rstrip("\"'\u201d\u2019)").endswith((".", "!", "%")) or len(text.split()) > 2 * _MIN_WORDS
    return ended and not text.endswith("?") and not _LEAD_END.search(text)


def distinct(found: list[str]) -> list[str]:
    """Returns `found` without the statements that say what an earlier statement said.

    Two statements say the same when all content words of the shorter are in the longer and make up at least
    0.8 of its content words, and both have the same numbers and the same words that turn a sense round. A
    swapped word (increases, decreases) keeps both.
    """
    kept: list[tuple[str, frozenset[str], frozenset[str]]] = []
    for text in found:
        words, turning = _content(text), _guarded(text)
        if not any(turning == before and _alike(words, earlier) for _, earlier, before in kept):
            kept.append((text, words, turning))
    return [text for text, _, _ in kept]


def _alike(words: frozenset[str], earlier: frozenset[str]) -> bool:
    small, large = sorted((words, earlier), key=len)
    return small <= large and len(small) >= _SAME * len(large)


def _words(text: str) -> list[str]:
    return [word.casefold().replace("\u2019", "'") for word in STATED.findall(text)]


def _content(text: str) -> frozenset[str]:
    return frozenset(word for word in _words(text) if word not in _PLAIN)


def _guarded(text: str) -> frozenset[str]:
    """Returns the numbers of `text`, and its words that turn a sense round, such as "not"."""
    return frozenset(
        word
        for word in _words(text)
        if word in _TURNING or word.endswith("n't") or any(sign.isdigit() for sign in word)
    )


def rank(found: list[str], *, question: str) -> list[str]:
    """Returns `found` by score, highest first; equal scores keep their order.

    Score = share of the question's content words in the statement + 1 / (1 + place in the answer from 0) -
    0.5 where it begins with a word that points back. It favours what was asked for, what the author put
    first, and what can be read alone.
    """
    asked = _content(question)
    scored = []
    for place, text in enumerate(found):
        overlap = len(asked & _content(text)) / max(1, len(asked))
        score = overlap + 1 / (1 + place) - (_BACKWARD_COST if _BACKWARD.match(text) else 0)
        scored.append((score, text))
    return [text for _, text in sorted(scored, key=lambda pair: -pair[0])]
