"""Builds, by rules, the questions that a claim answers.

Example: "Metformin lowers insulin levels in PCOS." answers "What lowers insulin levels in PCOS?", "What does
metformin do?" and "Is it true that metformin lowers insulin levels in PCOS?". Only the sentence encoder
compares these questions, so their grammar need not be perfect.
"""

from __future__ import annotations

from pytest_medfaith.english import lexicon
from pytest_medfaith.english.grammar import Clause, Part
from pytest_medfaith.english.phrases import Phrase, read_words, written
from pytest_medfaith.records import Claim

_TURNED = lexicon.AUXILIARIES - lexicon.NEGATIONS  # "Gout is ..." is turned into "What is gout?"


def answered_questions(claim: Claim) -> tuple[str, ...]:
    """Returns the questions that `claim` answers, each after the claim's context.

    "Take it with food." answers "What should be done, and how?". A claim without a verb answers only whether
    it is true.
    """
    stated = claim.text.strip().rstrip(".! ")
    clause = Part(tuple(read_words(stated))).clause
    asked = [f"Is it true that {_lowered(stated)}?"]
    if clause is not None and clause.subject:
        asked += _of_clause(clause)
    elif clause is not None:
        asked.append(f"What should be done, and how? {stated}?")
    before = f"{claim.context} " if claim.context else ""
    return tuple(before + question for question in asked)


def _of_clause(clause: Clause) -> list[str]:
    """Returns the question for the subject of a clause, and the question for what is said of it."""
    opening = _text(clause.words[: clause.lead])
    subject, said = _text(clause.subject), _text(clause.words[clause.subject_end :])
    verb = clause.words[clause.main].lower
    about = f"What {verb} {_lowered(subject)}" if verb in _TURNED else f"What does {_lowered(subject)} do"
    return [f"{opening + ', what' if opening else 'What'} {said}?", f"{about}?"]


def _text(words: Phrase) -> str:
    """Returns the text of `words` without marks at its ends."""
    return written(words).strip(" ,.")


def _lowered(text: str) -> str:
    """Returns `text` as it is written inside a sentence: "metformin" for "Metformin"; "COPD" stays."""
    return text if text[1:2].isupper() or text[1:2].isdigit() else text[:1].lower() + text[1:]
