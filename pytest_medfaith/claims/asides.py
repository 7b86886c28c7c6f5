"""Splits off what a sentence says by the way: asides about its subject, closing relative clauses and participles."""

from __future__ import annotations

from dataclasses import replace

from pytest_medfaith.claims import lexicon
from pytest_medfaith.claims.clauses import STRONG_CONDITIONS, trimmed
from pytest_medfaith.claims.grammar import Clause, auxiliary_form, finite_verbs, forms, is_adverb, is_content, read_clause
from pytest_medfaith.claims.words import Phrase, Word, carried, inserted

_ENUMERATING = frozenset("including include includes included involve involves such like".split())
_LONGEST_ANTECEDENT = 9
# Participles that belong to the words before them, or state nothing.
_ATTACHED = frozenset("including following regarding concerning depending using according excluding involving containing being having ranging considering".split())
# What a treatment or finding does; patients and doctors do not "result in" things.
_OF_EVENTS = frozenset("resulting leading causing allowing making enabling contributing".split())
_PERSONS = frozenset("patients people participants adults children women men individuals doctors physicians clinicians researchers we they you authors".split())
_NO_SUBJECT = frozenset("no none neither few little nothing there".split())


def split_asides(words: Phrase) -> list[Phrase]:
    """Splits "X, which is a Y, does Z", "X, sold as Y, does Z" and "X, a Y, does Z" into what is said of X twice."""
    clause = read_clause(words)
    if clause.main is None:
        return [words]
    aside = _subject_aside(clause)
    if aside:
        return aside
    return _closing_relative(clause) or [words]


def _subject_aside(clause: Clause) -> list[Phrase]:
    words, main = clause.words, clause.main or 0
    commas = [index for index in range(clause.lead, main) if words[index].text == "," and not words[index].inside]
    if len(commas) != 2 or commas[1] != clause.subject_end - 1 or not 0 < commas[0] - clause.lead <= _LONGEST_ANTECEDENT:  # noqa: PLR2004
        return []
    subject, aside = words[clause.lead : commas[0]], words[commas[0] + 1 : commas[1]]
    said = _aside_predicate(aside, words[main])
    if not said:
        return []
    rest = (*words[: commas[0]], *words[commas[1] + 1 :])
    return [(*carried(words[: clause.lead]), *carried(subject), *said), rest]


def _aside_predicate(aside: Phrase, main: Word) -> Phrase:
    """Returns what an aside says of its subject, as a predicate; nothing where it says no fact of its own."""
    first = next((word for word in aside if not is_adverb(word)), None)
    if first is None:
        return ()
    if first.lower in ("which", "who"):
        verbs = finite_verbs(aside)
        return aside[1:] if verbs and all(is_adverb(word) for word in aside[1 : verbs[0].index]) else ()
    copula = inserted("are" if auxiliary_form(main) == "plural" and main.lower != "were" else "is")
    if "part" in forms(first) and "ing" not in forms(first) and len(aside) > 1:
        return (*copula, *aside)
    if first.lower in ("a", "an") and not finite_verbs(aside):
        return (*copula, *aside)
    return ()


def _closing_relative(clause: Clause) -> list[Phrase]:
    """Splits a closing ", which is a Y" off where the noun before it is what it speaks of."""
    words = clause.words
    for index in range((clause.main or 0) + 1, len(words) - 3):
        if words[index].text != "," or words[index].inside or words[index + 1].lower not in ("which", "who"):
            continue
        verb, after = words[index + 2], words[index + 3]
        if verb.lower not in lexicon.BE or after.lower not in ("a", "an", "the", "also", "called", "known"):
            continue
        antecedent = _noun_before(words, index)
        tail = words[index + 2 :]
        if antecedent and not any(word.text in ",;" and not word.inside for word in tail):
            return [words[:index], (*carried(antecedent), *tail)]
    return []


def _noun_before(words: Phrase, end: int) -> Phrase:
    start = end
    while start > 0 and (is_content(words[start - 1]) or words[start - 1].inside) and not _is_verb_before(words, start - 1, end):
        start -= 1
    return words[start:end] if end - start <= 5 else ()  # noqa: PLR2004


def _is_verb_before(words: Phrase, index: int, end: int) -> bool:
    can_be = forms(words[index])
    if not can_be or index == end - 1:
        return False
    return bool(can_be & {"s", "ing"}) or (index > 0 and (words[index - 1].lower in lexicon.MODALS or words[index - 1].lower == "to"))


def split_participles(words: Phrase) -> list[Phrase]:
    """Splits "X blocks A, lowering B" into "X blocks A" and "X lowers B", with the modal or tense of the main verb."""
    clause = read_clause(words)
    if clause.main is None or not clause.subject or clause.subject[0].lower in _NO_SUBJECT:
        return [words]
    for comma in range(clause.main + 1, len(words) - 2):
        if any(word.lower in _ENUMERATING for word in words[clause.main : comma]) or _of_another_subject(clause, comma):
            break
        if any(word.text == ":" and not word.inside for word in words[clause.main : comma]):
            break
        if words[comma].text != "," or words[comma].inside or any(word.lower in STRONG_CONDITIONS for word in words[clause.main :]):
            continue
        second = _participle_statement(clause, comma)
        if second:
            return [words[:comma], *split_participles(second)]
    return [words]


def _of_another_subject(clause: Clause, comma: int) -> bool:
    """Returns whether the participle behind `comma` may speak of a subject after the main one, as in "studies show A does B, lowering C"."""
    main = clause.main or 0
    attributed = any(word.lower in lexicon.ATTRIBUTIONS for word in clause.words[main : main + 4])
    return attributed or any(main < verb.index < comma and not verb.subordinate for verb in clause.verbs)


def _participle_statement(clause: Clause, comma: int) -> Phrase:
    words, main = clause.words, clause.main or 0
    place = comma + 1
    while place < len(words) - 2 and is_adverb(words[place]):
        place += 1
    participle = words[place]
    if participle.lower == "meaning":
        return _meant(clause, words[place + 1 :])
    persons = any(word.lower in _PERSONS for word in clause.subject)
    if participle.inside or words[place + 1].text in ",." or words[place + 1].lower in ("and", "or") or participle.lower in _ATTACHED or (persons and participle.lower in _OF_EVENTS):
        return ()
    modal = words[main].lower in lexicon.MODALS
    verb = lexicon.finite_of_participle(participle.lower, "base" if modal else _tense(clause))
    if verb is None:
        return ()
    return (*carried(words[: main + 1 if modal else clause.subject_end]), *words[comma + 1 : place], replace(participle, text=verb), *words[place + 1 :])


def _meant(clause: Clause, words: Phrase) -> Phrase:
    """Returns what follows "meaning that", with the subject in place of its "it"; nothing where it is no clause."""
    said = words[1:] if words and words[0].lower == "that" else words
    inner = read_clause(said) if said else None
    if inner is None or inner.main is None or not inner.subject:
        return ()
    return (*carried(clause.subject), *said[1:]) if said[0].lower in ("it", "they") else said


def _tense(clause: Clause) -> str:
    main = clause.words[clause.main or 0]
    form = next(verb.form for verb in clause.verbs if verb.index == clause.main)
    return "past" if form == "past" or main.lower in ("was", "were") else "s" if form == "s" else "base"
