"""Plants the opposite direction: "raises" for "lowers", "higher" for "lower"."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from functools import lru_cache

from pytest_medfaith.audit.mutation import Mutation, clause_of, replaced
from pytest_medfaith.english import lexicon
from pytest_medfaith.english.conjugation import FORMS, in_form, noun_verbs
from pytest_medfaith.english.grammar import Clause
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import Phrase
from pytest_medfaith.english.verbs import forms, is_adverb, is_auxiliary

KIND = "direction"

# Each verb is replaced in its form. The pairs are not those of english/opposites, which the checker's rules
# read: an audit that asked the rules what they know would find nothing that they miss. They also have to fit
# the same grammar.
_VERBS = (
    "increase decrease, decrease increase, raise lower, lower raise, reduce increase, improve worsen, "
    "worsen improve, decline rise, enhance reduce, prolong shorten, shorten prolong, stimulate inhibit, "
    "inhibit stimulate, activate suppress, suppress activate, promote prevent, prevent promote, accelerate "
    "slow, slow accelerate, relax tighten, dilate constrict, constrict dilate, elevate reduce, diminish "
    "increase, relieve worsen, aggravate relieve, exacerbate relieve, delay hasten, strengthen weaken, "
    "weaken strengthen, widen narrow, halve double, double halve, cause prevent, trigger prevent, induce "
    "suppress, retain excrete, lengthen shorten, impair improve, alleviate worsen"
)
_WORD_OPPOSITES = dict(
    pair.split()
    for pair in (
        "higher lower, lower higher, greater smaller, smaller greater, larger smaller, better worse, worse "
        "better, longer shorter, shorter longer, faster slower, slower faster, fewer more, less more, "
        "increase decrease, decrease increase, reduction increase, increases decreases, decreases "
        "increases, reductions increases, rise fall, improvement worsening, decline rise, high low, low "
        "high, elevated reduced, raised lowered, increased decreased, decreased increased, reduced "
        "increased, lowered raised, common rare, rare common, uncommon common, frequent infrequent, often "
        "rarely, commonly rarely, frequently rarely, rarely often, usually rarely, strong weak, weak "
        "strong, severe mild, mild severe, effective ineffective, ineffective effective, beneficial "
        "harmful, safe unsafe, superior inferior, inferior superior, positive negative, negative positive, "
        "acute chronic, above below, below above, hyperkalemia hypokalemia, hypokalemia hyperkalemia, "
        "hyponatremia hypernatremia, hypoglycemia hyperglycemia, hyperglycemia hypoglycemia, tachycardia "
        "bradycardia, bradycardia tachycardia, vasodilation vasoconstriction, bronchoconstriction "
        "bronchodilation, benign malignant, malignant benign, reversible irreversible, irreversible "
        "reversible, temporary permanent, permanent temporary, rapidly slowly, slowly rapidly, upward "
        "downward, likely unlikely"
    ).split(",")
)
_IRREGULAR = {
    "rises": "falls", "rose": "fell", "risen": "fallen", "rising": "falling",
    "falls": "rises", "fell": "rose", "fallen": "risen", "falling": "rising",
}  # fmt: skip
# What follows these words says which case is meant, not what is true of it.
_CONDITIONS = lexicon.SUBORDINATORS - {"that", "whereas", "while"}
_UNSURE = word_set("may might could whether unclear unknown")
# Before a noun these words say which case is meant: "high doses".
_PLACED = word_set("above below high low positive negative acute chronic severe mild")
_DEGREES = word_set("or no once more less most least as so too very much")
_GRADED = word_set("common frequent often likely severe serious important accurate useful helpful")
_BODY = word_set(
    "back limb limbs leg legs abdomen abdominal extremity extremities respiratory urinary gastrointestinal "
    "lobe limit third half"
)


@lru_cache(maxsize=1)
def _opposites() -> Mapping[str, str]:
    """Returns {verb: its opposite in the same form}."""
    found = dict(_IRREGULAR)
    for pair in _VERBS.split(","):
        verb, opposite = pair.split()
        for form in FORMS:
            conjugated, conjugated_opposite = in_form(verb, form), in_form(opposite, form)
            if conjugated and conjugated_opposite:
                found.setdefault(conjugated, conjugated_opposite)
    return found


def turn(sentence: str, evidence: str, rng: random.Random) -> Mutation | None:  # noqa: ARG001 - an Operator
    """Returns `sentence` with one word of direction reversed: "raises the risk" for "lowers the risk".

    The word is in what the sentence states of its subject. None where there is no such word, or the sentence
    denies or doubts.
    """
    clause = clause_of(sentence)
    if clause is None or any(
        word.lower in lexicon.NEGATIONS or word.lower in _UNSURE for word in clause.words
    ):
        return None
    turned = list(_turned(clause))
    if not turned:
        return None
    index, new = rng.choice(turned[:3])
    word = clause.words[index]
    return replaced(sentence, word.start, word.end, new=new, kind=KIND)


def _turned(clause: Clause) -> Iterator[tuple[int, str]]:
    """Yields the index and the opposite of each word that has an opposite, from the main verb on."""
    words = clause.words
    for index in range(clause.main, len(words)):
        if index > clause.main and words[index].lower in _CONDITIONS:
            return
        names_body_part = index + 1 < len(words) and words[index + 1].lower in _BODY  # "lower back"
        if not words[index].inside and not names_body_part:
            new = _opposite(clause, index)
            if new:
                yield index, new


def _opposite(clause: Clause, index: int) -> str | None:
    words, lower = clause.words, clause.words[index].lower
    if lower in ("more", "less", "most"):
        return _degree(words, index)
    if words[index - 1].lower in _DEGREES:
        return None
    if _is_verb(clause, index):
        return _opposites().get(lower)
    if lower in _PLACED and not _fits_place(words, index):
        return None
    return _WORD_OPPOSITES.get(lower)


def _degree(words: Phrase, index: int) -> str | None:
    """Returns the opposite of "more", "less" or "most" before adjective or noun; None in "more than 10%"."""
    after = words[index + 1].lower if index + 1 < len(words) else "."
    before = words[index - 1]
    if (
        after in ("than", "or", "of")
        or not after.isalpha()
        or before.text.isdigit()
        or before.lower in _DEGREES
    ):
        return None
    if words[index].lower == "most":
        return "least" if after in _GRADED or after.endswith(lexicon.ADJECTIVE_ENDINGS) else None
    if words[index].lower == "less":
        return "more"
    return "fewer" if len(after) > 3 and after.endswith("s") and not after.endswith(("ss", "us")) else "less"


def _is_verb(clause: Clause, index: int) -> bool:
    if any(verb.index == index for verb in clause.verbs) and (
        index == clause.main or clause.words[index].lower not in noun_verbs()
    ):
        return True
    before = next((word for word in reversed(clause.words[:index]) if not is_adverb(word)), None)
    if before is None or before.lower in ("and", "or"):
        return (
            bool(forms(clause.words[index]) - {"base", "s"})
            if before is None
            else _joined_verb(clause, index)
        )
    return (
        before.lower == "to"
        or before.lower in lexicon.MODALS
        or (is_auxiliary(before) and "past" in forms(clause.words[index]))
    )


def _joined_verb(clause: Clause, index: int) -> bool:
    """Returns whether "and" joins the word to a verb of its form: "opens the airways and reduces mucus"."""
    can_be = forms(clause.words[index])
    return any(
        can_be & forms(clause.words[verb.index]) & {"s", "base"}
        for verb in clause.verbs
        if verb.index < index
    )


def _fits_place(words: Phrase, index: int) -> bool:
    """Returns whether a word such as "high" states something ("is high"), rather than which case is meant."""
    lower, before = words[index].lower, words[index - 1].lower
    if lower in ("above", "below"):
        return index + 1 < len(words) and words[index + 1].text[0].isdigit()
    return before in lexicon.BE or (is_adverb(words[index - 1]) and words[index - 2].lower in lexicon.BE)
