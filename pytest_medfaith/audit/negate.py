"""Negates a sentence, or takes its negation away: "is used" and "is not used", "no cure" and "a cure"."""

from __future__ import annotations

import random

from pytest_medfaith.audit.mutation import Mutation, article_for, clause_of, replaced
from pytest_medfaith.english import lexicon
from pytest_medfaith.english.conjugation import base_of, in_form
from pytest_medfaith.english.grammar import Clause
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import Word
from pytest_medfaith.english.verbs import auxiliary_form, forms, is_adverb, is_content

KIND = "negation"

# "Some adults do not cough" does not deny "Some adults cough", and "but" or "only" makes two statements.
_RESISTING = word_set(
    "some several few fewer many most half certain various any either neither nor no not never none nothing "
    "rarely seldom hardly barely sometimes occasionally but only unless until whether though although "
    "except yet even"
)
_KEPT_BEFORE_NOT = word_set("therefore thus also still then now probably generally itself")
# "may be used" allows, so its opposite forbids. Other verbs behind "may" say what is possible.
_ALLOWED = word_set(
    "used given taken offered considered added started prescribed tried continued combined repeated stopped"
)
_NEVER_PLAIN = word_set(
    "only just necessarily always yet all every everyone both merely infrequently uncommon unusual rare"
)
_UNTIED = word_set("any either nor yet until unless ever")  # these words need the negation
_UNCOUNTED = word_set(
    "evidence information proof data harm mortality pain bleeding improvement progress impairment toxicity "
    "consensus correlation need access"
)
_DO = {"does": "s", "do": "base", "did": "past"}


def negate(sentence: str, evidence: str, rng: random.Random) -> Mutation | None:  # noqa: ARG001 - an Operator
    """Returns `sentence` with its main verb negated, or without the negation that it has.

    "Iron helps." becomes "Iron does not help."; None where English gives no clear way.
    """
    clause = clause_of(sentence)
    if clause is None:
        return None
    # "some adults", "30% of patients": to negate the verb would leave the rest of them open
    if any(word.lower in _RESISTING or "%" in word.text for word in clause.subject):
        return None
    return _affirmed(sentence, clause) or _without_no(sentence, clause) or _negated(sentence, clause)


def _affirmed(sentence: str, clause: Clause) -> Mutation | None:
    """Returns the sentence without the "not" at its main verb; None where it has none."""
    words, main = clause.words, clause.main
    verb = words[main]
    if not main:
        return None
    if verb.lower == "cannot":
        return (
            replaced(sentence, verb.start, verb.end, new="can", kind=KIND)
            if _untied(words[main + 1 :])
            else None
        )
    at = next(
        (
            index
            for index in range(main + 1, min(main + 4, len(words)))
            if not is_adverb(words[index]) or words[index].lower == "not"
        ),
        main,
    )
    if words[at].lower != "not" or auxiliary_form(verb) is None or not _untied(words[at + 1 :]):
        return None
    if verb.lower not in _DO:
        return replaced(sentence, words[at - 1].end, words[at].end, new="", kind=KIND)
    base = next((index for index in range(at + 1, len(words)) if not is_adverb(words[index])), None)
    finite = in_form(words[base].lower, _DO[verb.lower]) if base is not None else None
    if base is None or (finite is None and words[base].lower != "have"):
        return None
    finite = finite or {"s": "has", "base": "have", "past": "had"}[_DO[verb.lower]]
    kept = "".join(f"{word.text} " for word in words[at + 1 : base])
    return replaced(sentence, verb.start, words[base].end, new=kept + finite, kind=KIND)


def _untied(after: tuple[Word, ...]) -> bool:
    """Returns whether what follows a negation is still English without it."""
    return not (after and after[0].lower in _NEVER_PLAIN) and not any(word.lower in _UNTIED for word in after)


def _without_no(sentence: str, clause: Clause) -> Mutation | None:
    """Returns the sentence without a "no" behind its main verb: "had an effect" for "had no effect"."""
    words, main = clause.words, clause.main
    at = main + 1
    if at + 1 >= len(words) or words[at].lower != "no" or not _untied(words[at + 1 :]):
        return None
    following = words[at + 1].lower
    if following == "longer":
        return replaced(sentence, words[main].end, words[at + 1].end, new="", kind=KIND)
    if following in ("more", "less", "fewer", "one", "other", "later", "sooner", "such", "doubt"):
        return None
    head = at + 1
    while head + 1 < len(words) and is_content(words[head + 1]):
        head += 1
    plain = (
        words[head].lower in _UNCOUNTED
        or words[head].lower.endswith("s")
        or (head + 1 < len(words) and words[head + 1].lower in ("or", "and"))
    )
    article = "" if plain else article_for(words[at + 1].text)
    return replaced(sentence, words[at].start, words[at].end, new=article, kind=KIND)


def _negated(sentence: str, clause: Clause) -> Mutation | None:
    """Returns the sentence with a "not" at its main verb, with a form of "do" where English needs it."""
    words, main = clause.words, clause.main
    following = words[main + 1] if main + 1 < len(words) else None
    if (
        following is None
        or following.lower in ("and", "or", ",")
        or any(word.lower in _RESISTING for word in words[clause.lead :])
    ):
        return None
    if clause.form == "base":
        return _forbidden(sentence, clause)
    if main and words[main - 1].lower == "there" and words[main].lower in lexicon.BE:
        return _there_is_no(sentence, following)
    if auxiliary_form(words[main]):
        new = _auxiliary_negated(words, main)
    else:
        base = base_of(words[main].lower, "base" if clause.form == "plural" else clause.form)
        helper = {"s": "does", "plural": "do", "past": "did"}.get(clause.form)
        new = f"{helper} not {base}" if base and helper else None
    return _put_at_verb(sentence, clause, new) if new else None


def _there_is_no(sentence: str, following: Word) -> Mutation | None:
    if is_adverb(following):
        return None
    article = following.lower in ("a", "an")
    end, new = (following.end, "no") if article else (following.start, "no ")
    return replaced(sentence, following.start, end, new=new, kind=KIND)


def _put_at_verb(sentence: str, clause: Clause, new: str) -> Mutation:
    """Puts `new` for the verb: "is therefore not given" for "is therefore given"; an "also" is taken out."""
    words, main, last = clause.words, clause.main, clause.main
    if auxiliary_form(words[main]) and new.endswith(" not"):
        while last + 1 < len(words) and words[last + 1].lower in _KEPT_BEFORE_NOT:
            last += 1
    elif auxiliary_form(words[main]) and words[main + 1].lower == "also":
        last += 1
    kept = "".join(f" {word.text}" for word in words[main + 1 : last + 1] if word.lower != "also")
    if kept:
        new = f"{new.removesuffix(' not')}{kept} not"
    return replaced(sentence, words[main].start, words[last].end, new=new, kind=KIND)


def _forbidden(sentence: str, clause: Clause) -> Mutation | None:
    verb = clause.words[clause.main]
    if clause.main and clause.words[clause.main - 1].text != ",":
        return None
    new = f"do not {verb.lower}"
    return replaced(sentence, verb.start, verb.end, new=new, kind=KIND)


def _auxiliary_negated(words: tuple[Word, ...], main: int) -> str | None:
    """Returns the auxiliary at `main` negated; "has" and "have" take "do" unless a participle follows."""
    lower = words[main].lower
    rest = [word for word in words[main + 1 : main + 4] if not is_adverb(word)]
    after = rest[0].lower if rest else ""
    if lower in lexicon.NEGATIONS or lower in _DO:
        return None
    if lower in ("has", "have", "had") and not (after == "been" or (rest and "part" in forms(rest[0]))):
        return {"has": "does not have", "have": "do not have", "had": "did not have"}[lower]
    if lower in ("may", "might"):
        allowed = after == "be" and len(rest) > 1 and rest[1].lower in _ALLOWED
        return "should not" if allowed else "will not"
    return "cannot" if lower == "can" else f"{lower} not"
