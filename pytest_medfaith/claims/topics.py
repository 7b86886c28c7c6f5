"""Keeps track of what an answer speaks of, and puts it where a claim says "it", "they" or "this drug"."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from pytest_medfaith.claims import lexicon
from pytest_medfaith.claims.grammar import Clause, finite_verbs, is_auxiliary, is_content, read_clause
from pytest_medfaith.claims.lexicon import word_set
from pytest_medfaith.claims.words import Phrase, Word, inserted, without_brackets, written

Kind = Literal["drug", "disease", ""]

LONGEST_TOPIC = 9  # words; a longer subject is a description, not a name
_LONGEST_OWNER = 4  # words before a possessive: "metformin's", not "the latest of the statins's"
_DRUG_NOUNS = word_set(
    "drug drugs medication medications medicine medicines agent agents antibiotic antibiotics antidepressant antihistamine inhibitor "
    "inhibitors blocker blockers statin vaccine vaccines supplement supplements product cream ointment treatment treatments therapy "
    "therapies pill injection corticosteroid steroid opioid hormone vitamin antagonist agonist diuretic anticoagulant antiviral "
    "antifungal nsaid ssri analgesic sedative relaxant"
)
_DISEASE_NOUNS = word_set(
    "condition conditions disease diseases disorder disorders infection infections syndrome syndromes illness illnesses cancer "
    "cancers inflammation deficiency rash injury pain ailment complication tumor tumour arrhythmia"
)
_OTHER_NOUNS = word_set(
    "procedure test surgery approach method virus bacterium bacteria device compound substance class enzyme protein gene type diet"
)
_CLASS_NOUNS = _DRUG_NOUNS | _DISEASE_NOUNS | _OTHER_NOUNS
_DEGREE = (
    r"(?:(?:the|its|most|less|more|common|typical|other|possible|potential|serious|severe|mild|early|main|usual|frequent|rare|"
    r"additional|associated)\s+)*"
)
_OF_A_DRUG = re.compile(
    rf"{_DEGREE}(?:(?:side|adverse)\s+(?:effects|reactions|events)|contraindications|drug\s+interactions)", re.IGNORECASE
)
_OF_A_DISEASE = re.compile(
    rf"{_DEGREE}(?:(?:signs\s+and\s+)?symptoms|causes|risk\s+factors|complications|treatments?(?:\s+options)?|diagnosis|prognosis|prevention)",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"""it (?:
      \s*(?:is|was|may|might|can|could|would|will|has|['\u2019]s)\s+ (?:be(?:en)?\s+)?
        (?:(?:\w+ly|also|not|always|often|best|very|more|still|yet|well|therefore|thus|then|only|quite)\s+)*
        (?:(?:important|essential|crucial|vital|necessary|possible|impossible|likely|unlikely|recommended|advised|advisable|best|better|safe|unsafe|
            difficult|hard|easy|wise|good|helpful|useful|normal|reasonable|appropriate|preferable|imperative|critical|time|prudent|beneficial|common|
            rare|uncommon|practice) \s+(?:\w+\s+){0,3}? (?:to|that|for|if|when|in)\b
          |(?:\w+ed|clear|unclear|known|unknown|thought|shown|found|true|said|uncertain|controversial|worth|possible|likely|unlikely|important)
            \s+(?:\w+\s+){0,3}? (?:that|whether|if|how|why|what|when)\b)
    | \s+(?:is|was|has\s+been|(?:can|could|may)\s+be)\s+ (?:\w+\s+){1,3}? that\b
    | \s+(?:\w+\s+)? (?:takes?|took)\b
    | \s+(?:seems|appears|follows|turns\s+out|means|depends)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True)
class Topic:
    """What a subject names, and of what kind that is where the answer says so."""

    text: str
    plural: bool
    kind: Kind = ""


@dataclass(frozen=True)
class Topics:
    """The latest subjects: the one "it" stands for, the one "they" stands for, and the main one of the answer.

    `rival` says that the latest clause names other things in the plural too, which a bare "these" would rather mean.
    """

    singular: Topic | None = None
    plural: Topic | None = None
    main: Topic | None = None
    rival: bool = False


def owner_kind(noun: str) -> Kind:
    """Returns whether `noun`, such as "common side effects" or "symptoms", belongs to a drug or to a disease."""
    return "drug" if _OF_A_DRUG.fullmatch(noun) else "disease" if _OF_A_DISEASE.fullmatch(noun) else ""


def looks_plural(name: str) -> bool:
    """Returns whether the head of `name` has a plural ending, or two things are named."""
    head = re.split(r"\s+(?:of|for|in|with|on|from|to|at|by)\s", name)[0].split()[-1].lower()
    return " and " in name or (head.endswith("s") and not head.endswith(("ss", "us", "is", "as", "'s")))


def resolve(words: Phrase, topics: Topics) -> Phrase:
    """Returns `words` with a leading "it", "they", "this drug" or "its" replaced by what it stands for, where that is plain.

    Looks at the first word, at the word behind an opening "when" or "if", and behind an opening phrase such as "In adults,".
    An "it" that stands for nothing ("it is important to") stays, and so does a "this" that stands for a whole event.
    """
    resolved = (_resolve_at(words, place, topics) for place in _pronoun_places(words) if place + 1 < len(words))
    return next((found for found in resolved if found is not None), words)


def _pronoun_places(words: Phrase) -> list[int]:
    found = [0]
    if words[0].lower in lexicon.CONDITIONS | {"although", "because", "since", "as", "though"}:
        found.append(1)
    clause = read_clause(words)
    if clause is not None and clause.lead > 0 and words[0].lower != "as":
        opening = words[: clause.lead]
        if not any(word.own for word in opening) or not any(verb.index < clause.lead for verb in clause.verbs):
            found.append(clause.lead)
    return found


def _resolve_at(words: Phrase, place: int, topics: Topics) -> Phrase | None:
    lower, after = words[place].lower, words[place + 1]
    person = topics.singular if _is_name(topics.singular) else None
    if lower in ("it", "he", "she") and not _EXPLETIVE.match(written(words[place : place + 12])):
        return _replace(words, place, 1, topics.singular if lower == "it" else person)
    if lower == "they" or (lower in ("these", "those") and is_auxiliary(after) and not topics.rival):
        return _replace(words, place, 1, topics.plural)
    if lower == "this" and after.lower in ("is", "was") and any(map(_begins_name, words[place + 2 : place + 3])):
        return _replace(words, place, 1, topics.singular)
    if lower in ("this", "that", "the", "these", "such") and _is_class_noun(words, place + 1):
        topic = topics.plural if looks_plural(after.text) else topics.singular
        return _replace(words, place, 2, topic if _agrees(topic, after.lower, surely=lower in ("the", "these")) else None)
    if lower in ("its", "their", "his", "her") and not is_auxiliary(after):
        topic = topics.plural if lower == "their" else topics.singular if lower == "its" else person
        return _replace(words, place, 1, topic, possessive=True)
    return None


def _begins_name(word: Word) -> bool:
    return word.lower in ("a", "an", "the", "known", "called", "its", "their", "one") or word.lower.endswith("'s")


def _is_class_noun(words: Phrase, place: int) -> bool:
    """Returns whether the word at `place` is a noun such as "drug" that ends a subject."""
    return words[place].lower in _CLASS_NOUNS and any(verb.index == place + 1 and verb.form != "past" for verb in finite_verbs(words))


def _agrees(topic: Topic | None, noun: str, *, surely: bool) -> bool:
    """Returns whether "this drug" can be `topic`: never a disease, and the other way round; `surely` asks that its kind is known."""
    if topic is None or (surely and not topic.kind):
        return False
    return not ((topic.kind == "drug" and noun in _DISEASE_NOUNS) or (topic.kind == "disease" and noun in _DRUG_NOUNS))


def _is_name(topic: Topic | None) -> bool:
    return topic is not None and all(part[0].isupper() for part in topic.text.split())


def _replace(words: Phrase, place: int, count: int, topic: Topic | None, *, possessive: bool = False) -> Phrase | None:
    if topic is None or (possessive and len(topic.text.split()) > _LONGEST_OWNER):
        return None
    within = place > 0 and topic.text.split()[0].lower() in lexicon.DETERMINERS
    text = topic.text[0].lower() + topic.text[1:] if within else topic.text
    text += "" if not possessive else "'" if text.endswith("s") else "'s"
    name = replace(words[place], text=text, end=words[place + count - 1].end, inside=False)
    return (*words[:place], name, *words[place + count :])


def complete_subject(words: Phrase, topics: Topics) -> Phrase:
    """Returns `words` with "of metformin" after a bare "Side effects", or "of gout" after "Symptoms".

    Only where the answer or its question says that its main topic is a drug, or a disease.
    """
    clause, main = read_clause(words), topics.main
    if clause is None or main is None or not main.kind or main.text.lower() in written(words).lower():
        return words
    if owner_kind(written(clause.subject)) != main.kind:
        return words
    return (*words[: clause.subject_end], *inserted("of", main.text), *words[clause.subject_end :])


def follow(topics: Topics, words: Phrase) -> Topics:
    """Returns `topics` after the clause `words` was said: its subject is what a later pronoun stands for."""
    clause = read_clause(_reported(words))
    if clause is None:
        return topics
    name = _name_behind_is(clause) or _name(clause.subject)
    if name is None:
        return Topics(main=topics.main) if len(clause.subject) > LONGEST_TOPIC else topics
    if _is_aspect(name, topics.singular):
        return topics
    plural = clause.form == "plural" if clause.form in ("s", "plural") else looks_plural(name)
    topic = Topic(name, plural, _kind(clause) or _known_kind(name, topics))
    rival = any(is_content(word) and looks_plural(word.text) for word in clause.words[clause.main + 1 :])
    return Topics(topics.singular if plural else topic, topic if plural else topics.plural, _main_topic(topics.main, topic), rival)


def _reported(words: Phrase) -> Phrase:
    """Returns what is reported in "We found that ..." or "Studies show that ...", else `words`."""
    for index, word in enumerate(words[1:6], start=1):
        if word.lower == "that" and words[index - 1].lower in lexicon.ATTRIBUTIONS:
            return words[index + 1 :]
    return words


def _name_behind_is(clause: Clause) -> str | None:
    """Returns the name behind "is" in "A common choice is Letrozole", of which the next sentence speaks."""
    if clause.words[clause.main].lower not in ("is", "was") or not clause.subject or clause.subject[0].lower not in ("a", "an", "the"):
        return None
    name = [word for word in without_brackets(clause.words[clause.main + 1 :]) if word.text not in ".,;"]
    return written(name) if 0 < len(name) < _LONGEST_OWNER and name[0].text[0].isupper() and not finite_verbs(name) else None


def _name(subject: Phrase) -> str | None:
    """Returns the subject as a name, or None where it is a pronoun, a possessive, a bare class noun or a long description."""
    words = without_brackets(subject)
    if words and words[-1].text == ",":  # "Escitalopram, sold as Lexapro, is"
        words = words[: next(index for index, word in enumerate(words) if word.text == ",")]
    if not words or len(words) > LONGEST_TOPIC or any(word.text in ",;:" for word in words):
        return None
    first = words[0].lower
    if first in lexicon.POINTING or first in lexicon.PRONOUNS or first.endswith(("'s", "s'")):
        return None
    bare_class = first in ("the", "other", "another") and len(words) == len(("the", "drug")) and words[-1].lower in _CLASS_NOUNS
    return None if bare_class else written(words)


def _is_aspect(name: str, topic: Topic | None) -> bool:
    """Returns whether `name` is an aspect of `topic`, as in "the exact cause of gout": the next "it" is still the topic."""
    if topic is None:
        return False
    endings = tuple(f" {link} {article}{topic.text.lower()}" for link in ("of", "for") for article in ("", "the ", "a ", "an "))
    return name.lower().endswith(endings)


def _kind(clause: Clause) -> Kind:
    """Returns the kind that "X is a drug ..." or "X is a skin disease ..." gives X."""
    if clause.words[clause.main].lower not in lexicon.BE:
        return ""
    for word in clause.words[clause.main + 1 : clause.main + 12]:
        if word.lower in ("that", "which", "of", "for", "in", ",", ".", "by", "to", "used"):
            return ""
        if word.lower in _DRUG_NOUNS or word.lower in _DISEASE_NOUNS:
            return "drug" if word.lower in _DRUG_NOUNS else "disease"
    return ""


def _known_kind(name: str, topics: Topics) -> Kind:
    known = (
        topic.kind for topic in (topics.singular, topics.plural, topics.main) if topic is not None and topic.text.lower() == name.lower()
    )
    return next((kind for kind in known if kind), "")


def _main_topic(main: Topic | None, topic: Topic) -> Topic:
    """Returns the first topic of the answer, and the same with its kind as soon as the answer says that."""
    said = main is not None and not main.kind and bool(topic.kind) and main.text.lower() in (topic.text.lower(), topic.text.lower() + "s")
    return topic if main is None or said else main
