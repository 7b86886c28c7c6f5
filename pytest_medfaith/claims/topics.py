"""Keeps track of what an answer speaks of, and puts it where a claim says "it", "they" or "this drug"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_medfaith.claims import lexicon
from pytest_medfaith.claims.grammar import Clause, finite_verbs, is_auxiliary, is_content, read_clause
from pytest_medfaith.claims.words import Phrase, Word, inserted, without_brackets, written

_LONGEST_TOPIC = 9  # words; a longer subject is a description, not a name
_DRUG_NOUNS = frozenset(
    "drug drugs medication medications medicine medicines agent agents antibiotic antibiotics antidepressant antihistamine inhibitor inhibitors blocker "
    "blockers statin vaccine vaccines supplement supplements product cream ointment treatment treatments therapy therapies pill injection corticosteroid "
    "steroid opioid hormone vitamin antagonist agonist diuretic anticoagulant antiviral antifungal nsaid ssri analgesic sedative relaxant".split()
)
_DISEASE_NOUNS = frozenset(
    "condition conditions disease diseases disorder disorders infection infections syndrome syndromes illness illnesses cancer cancers inflammation "
    "deficiency rash injury pain ailment complication tumor tumour arrhythmia".split()
)
_CLASS_NOUNS = (
    _DRUG_NOUNS
    | _DISEASE_NOUNS
    | frozenset("procedure test surgery approach method virus bacterium bacteria device compound substance class enzyme protein gene type diet technique tool".split())
)
_KIND_WORDS = r"(?:most\s+)?(?:common|typical|other|possible|potential|serious|severe|mild|early|main|usual|frequent|rare|less\s+common|more\s+common|additional|associated|reported)"
_OF_A_DRUG = re.compile(rf"(?:the\s+)?(?:{_KIND_WORDS}\s+)*(?:(?:side|adverse)\s+(?:effects|reactions|events)|contraindications|drug\s+interactions)", re.IGNORECASE)
_OF_A_DISEASE = re.compile(
    rf"(?:the\s+|its\s+)?(?:{_KIND_WORDS}\s+)*(?:(?:signs\s+and\s+)?symptoms|causes|risk\s+factors|complications|treatments?(?:\s+options)?|diagnosis|prognosis|prevention)", re.IGNORECASE
)
_EXPLETIVE = re.compile(
    r"it\s*(?:(?:is|was|may|might|can|could|would|will|has|['’]s)\s+)(?:be\s+|been\s+)?(?:\w+ly\s+|also\s+|not\s+|always\s+|often\s+|best\s+|very\s+|more\s+|therefore\s+|still\s+|yet\s+|well\s+)*"
    r"(?:(?:important|essential|crucial|vital|necessary|possible|impossible|likely|unlikely|recommended|advised|advisable|best|better|safe|unsafe|difficult|hard|easy|wise|good|"
    r"helpful|useful|normal|reasonable|appropriate|preferable|imperative|critical|time|prudent|beneficial|common|rare|uncommon|practice)\s+(?:\w+\s+){0,3}?(?:to|that|for|if|when|in)\b"
    r"|(?:clear|unclear|known|unknown|suggested|believed|thought|estimated|assumed|reported|shown|found|true|said|noted|considered|debated|uncertain|controversial|documented|"
    r"established|hypothesi[sz]ed|expected|observed|not\s+known|recommended|advised|worth|possible|likely|unlikely|important)\s+(?:\w+\s+){0,3}?(?:that|whether|if|how|why|what|when)\b)"
    r"|it\s+(?:is|was|has\s+been|can\s+be|could\s+be|may\s+be)\s+(?:\w+\s+){1,3}?that\b"
    r"|it\s+(?:\w+\s+)?(?:takes?|took)\b|it\s+(?:seems|appears|follows|turns\s+out|means|depends)\b",
    re.IGNORECASE,
)
_SUBJECT_OF = r"((?!(?:i|you|we|it|they|he|she|there|this|that|my|your|someone|people|anyone|one|just|not|only|also|still|always|ever|any|it's)\b)[\w’'-]+(?:\s+[\w’'-]+){0,3}?)"
_ASKED_OF = re.compile(
    r"\b((?:(?:common|main|possible|usual|recommended|typical|early|first-line|standard|best)\s+)*(?:side\s+effects?|adverse\s+effects?|symptoms?|signs?|causes?|treatments?|"
    r"risks?|benefits?|uses?|dos(?:e|age)|complications?|diagnosis|prognosis|risk\s+factors?|mechanism\s+of\s+action)\s+(?:of|for))\s+(?:the\s+|an?\s+)?([^?,.;]+?)(?:\s+(?:in|for|during)\s[^?]*)?\s*\?",
    re.IGNORECASE,
)
_ASKED_WHAT = re.compile(r"\bwhat\s+(?:is|are|was|were)\s+(?:an?\s+|the\s+)?([^?,.;]+?)(?:\s+(?:used\s+for|for|in)\b[^?]*)?\s*\?", re.IGNORECASE)
_ASKED_WHETHER = (
    re.compile(rf"\b(?:does|do|did|can|could|will|would|may|should)\s+(?:the\s+|an?\s+)?{_SUBJECT_OF}\s+(?:be\s+)?(?:also\s+|ever\s+|still\s+)?(\w+)\b", re.IGNORECASE),
    re.compile(rf"\b(?:is|are|was|were)\s+(?:the\s+|an?\s+)?{_SUBJECT_OF}\s+(?:an?\s+|the\s+)?(safe|effective|used|approved|contagious|dangerous|harmful|associated|recommended|indicated|linked|related|caused|\w+ed)\b", re.IGNORECASE),
)


@dataclass(frozen=True)
class Topic:
    """What a subject names. `kind` is "drug", "disease" or "" where the answer does not say."""

    text: str
    plural: bool
    kind: str = ""


@dataclass(frozen=True)
class Topics:
    """The latest subjects: the one "it" stands for, the one "they" stands for, and the main one of the answer.

    `rival` says that the latest clause names other things in the plural too, which a bare "these" would rather mean.
    """

    singular: Topic | None = None
    plural: Topic | None = None
    main: Topic | None = None
    rival: bool = False


def question_topics(question: str | None) -> Topics:
    """Returns what `question` asks about; empty where that is not plain."""
    if not question:
        return Topics()
    asked = question.strip() if question.strip().endswith("?") else question.strip() + "?"
    of = _ASKED_OF.search(asked)
    if of:
        return _relational_topics(of)
    name = _asked_name(asked)
    if name is None or len(name.split()) > _LONGEST_TOPIC:
        return Topics()
    topic = Topic(name, plural=_looks_plural(name))
    return Topics(None if topic.plural else topic, topic if topic.plural else None, topic)


def _relational_topics(of: re.Match[str]) -> Topics:
    noun = of[1].rsplit(None, 1)[0]
    kind = "drug" if _OF_A_DRUG.fullmatch(noun) else "disease" if _OF_A_DISEASE.fullmatch(noun) else ""
    main = Topic(of[2], plural=_looks_plural(of[2]), kind=kind)
    asked = Topic(f"the {of[1]} {of[2]}", plural=_looks_plural(noun))
    return Topics(main if asked.plural else asked, asked if asked.plural else None, main)


def _asked_name(question: str) -> str | None:
    for pattern in _ASKED_WHETHER:
        found = pattern.search(question)
        if found and (pattern is not _ASKED_WHETHER[0] or "base" in lexicon.verb_forms().get(found[2].lower(), ())):
            return found[1]
    what = _ASKED_WHAT.search(question)
    return what[1] if what else None


def _looks_plural(text: str) -> bool:
    head = re.split(r"\s+(?:of|for|in|with|on|from|to|at|by)\s", text)[0].split()[-1].lower()
    return " and " in text or (head.endswith("s") and not head.endswith(("ss", "us", "is", "as", "'s")))


def resolve(words: Phrase, topics: Topics) -> Phrase:
    """Returns `words` with a leading "it", "they", "this drug" or "its" replaced by what it stands for, where that is plain.

    Looks at the first word, at the word behind an opening "when" or "if", and behind an opening phrase such as "In adults,".
    An "it" that stands for nothing ("it is important to") stays, and so does a "this" that stands for a whole event.
    """
    for place in _pronoun_places(words):
        replaced = _resolve_at(words, place, topics)
        if replaced is not None:
            return replaced
    return words


def _pronoun_places(words: Phrase) -> list[int]:
    places = [0]
    if len(words) > 1 and words[0].lower in lexicon.CONDITIONS | {"although", "because", "since", "as", "though"}:
        places.append(1)
    clause = read_clause(words)
    from_before = not any(word.own for word in words[: clause.lead])
    if clause.lead > 0 and words[0].lower != "as" and (from_before or not any(verb.index < clause.lead for verb in clause.verbs)):
        places.append(clause.lead)
    return places


def _resolve_at(words: Phrase, place: int, topics: Topics) -> Phrase | None:
    lower = words[place].lower
    after = words[place + 1] if place + 1 < len(words) else None
    if after is None:
        return None
    if lower in ("it", "he", "she") and not _EXPLETIVE.match(written(words[place : place + 12])):
        return _replace(words, place, 1, topics.singular if lower == "it" or _is_name(topics.singular) else None)
    if lower == "they" or (lower in ("these", "those") and is_auxiliary(after) and not topics.rival):
        return _replace(words, place, 1, topics.plural)
    if lower == "this" and after.lower in ("is", "was") and place + 2 < len(words) and _begins_name(words[place + 2]):
        return _replace(words, place, 1, topics.singular)
    if lower in ("this", "that", "the", "these", "such") and _is_class_noun_subject(words, place):
        topic = topics.plural if _looks_plural(after.text) else topics.singular
        return _replace(words, place, 2, topic if _agrees(topic, after.lower, surely=lower in ("the", "these")) else None)
    if lower in ("its", "their", "his", "her") and not is_auxiliary(after):
        topic = topics.plural if lower == "their" else topics.singular
        return _replace(words, place, 1, topic, possessive=True) if lower in ("its", "their") or _is_name(topic) else None
    return None


def _begins_name(word: Word) -> bool:
    return word.lower in ("a", "an", "the", "known", "called", "its", "their", "one") or word.lower.endswith("'s")


def _is_class_noun_subject(words: Phrase, place: int) -> bool:
    if words[place + 1].lower not in _CLASS_NOUNS or place + 2 >= len(words):
        return False
    return read_clause(words).main == place + 2 or any(verb.index == place + 2 and verb.form != "past" for verb in finite_verbs(words))


def _agrees(topic: Topic | None, noun: str, *, surely: bool) -> bool:
    """Returns whether "this drug" can be `topic`: never a disease, and the other way round; `surely` asks that its kind is known."""
    if topic is None or (surely and not topic.kind):
        return False
    return not ((topic.kind == "drug" and noun in _DISEASE_NOUNS) or (topic.kind == "disease" and noun in _DRUG_NOUNS))


def _is_name(topic: Topic | None) -> bool:
    return topic is not None and all(part[0].isupper() for part in topic.text.split())


def _replace(words: Phrase, place: int, count: int, topic: Topic | None, *, possessive: bool = False) -> Phrase | None:
    if topic is None or (possessive and len(topic.text.split()) > 4):
        return None
    first, last = words[place], words[place + count - 1]
    name = topic.text[0].lower() + topic.text[1:] if place and topic.text.split()[0].lower() in lexicon.DETERMINERS else topic.text
    text = name + (("'" if topic.text.endswith("s") else "'s") if possessive else "")
    return (*words[:place], replace(first, text=text, end=last.end, inside=False), *words[place + count :])


def complete_subject(words: Phrase, topics: Topics) -> Phrase:
    """Returns `words` with "of metformin" after a bare "Side effects", or "of gout" after "Symptoms", where the answer's main topic is known to be such."""
    clause = read_clause(words)
    main = topics.main
    if clause.main is None or main is None or not main.kind or not clause.subject:
        return words
    pattern = _OF_A_DRUG if main.kind == "drug" else _OF_A_DISEASE
    if not pattern.fullmatch(written(clause.subject)) or main.text.lower() in written(words).lower():
        return words
    end = clause.lead + len(clause.subject)
    return (*words[:end], *inserted("of", main.text), *words[end:])


def follow(topics: Topics, words: Phrase) -> Topics:
    """Returns `topics` after the clause `words` was said: its subject is what a later pronoun stands for."""
    clause = read_clause(_reported(words))
    subject = _named_after(clause) or _named(clause.subject)
    if subject is None or clause.main is None:
        return Topics(main=topics.main) if len(clause.subject) > _LONGEST_TOPIC else topics
    if _speaks_of(subject, topics.singular):
        return topics
    plural = _is_plural(clause, subject)
    rival = any(is_content(word) and _looks_plural(word.text) for word in words[clause.main + 1 :])
    topic = Topic(subject, plural, _kind(clause))
    main = topics.main
    if main is None or (not main.kind and topic.kind and main.text.lower() in (subject.lower(), subject.lower() + "s")):
        main = topic
    known = next((one for one in (topics.singular, topics.plural, main) if one is not None and one.text.lower() == subject.lower() and one.kind), None)
    topic = topic if topic.kind or known is None else replace(topic, kind=known.kind)
    return Topics(topics.singular if plural else topic, topic if plural else topics.plural, main, rival)


def _reported(words: Phrase) -> Phrase:
    """Returns what is reported in "We found that ..." or "Studies show that ...", else `words`."""
    for index, word in enumerate(words[1:6], start=1):
        if word.lower == "that" and words[index - 1].lower in lexicon.ATTRIBUTIONS and index + 1 < len(words):
            return words[index + 1 :]
    return words


def _speaks_of(subject: str, topic: Topic | None) -> bool:
    """Returns whether `subject` is an aspect of `topic`, as in "the exact cause of gout": the next "it" is still the topic."""
    return topic is not None and subject.lower().endswith(tuple(f" {link} {article}{topic.text.lower()}" for link in ("of", "for") for article in ("", "the ", "a ", "an ")))


def _named_after(clause: Clause) -> str | None:
    """Returns the name behind "is" in "The first-line drug is Metformin", of which the next sentence speaks."""
    words = clause.words
    if clause.main is None or words[clause.main].lower not in ("is", "was") or not clause.subject or clause.subject[0].lower not in ("a", "an", "the"):
        return None
    name = [word for word in without_brackets(words[clause.main + 1 :]) if word.text not in ".,;"]
    return written(name) if 0 < len(name) <= 3 and all(word.text[:1].isupper() for word in name[:1]) and not finite_verbs(name) else None  # noqa: PLR2004


def _named(subject: Phrase) -> str | None:
    """Returns the subject as a name, or None where it is a pronoun, a possessive, a bare class noun or a long description."""
    words = without_brackets(subject)
    if words and words[-1].text == ",":
        words = words[: next(index for index, word in enumerate(words) if word.text == ",")]
    if not words or len(words) > _LONGEST_TOPIC or any(word.text in ",;:" for word in words):
        return None
    first, last = words[0].lower, words[-1].lower
    if first in ("here", "there", "what", "how", "whether", "this", "that", "these", "those", "such", "your", "its", "their", "his", "her", "my") or first in lexicon.PRONOUNS:
        return None
    if first.endswith(("'s", "s'")) or (first in ("the", "other", "another") and len(words) == 2 and last in _CLASS_NOUNS):  # noqa: PLR2004
        return None
    return written(words)


def _is_plural(clause: Clause, subject: str) -> bool:
    form = next(verb.form for verb in clause.verbs if verb.index == clause.main)
    return form == "plural" if form in ("s", "plural") else _looks_plural(subject)


def _kind(clause: Clause) -> str:
    words = clause.words
    if clause.main is None or words[clause.main].lower not in lexicon.BE:
        return ""
    for word in words[clause.main + 1 : clause.main + 12]:
        if word.lower in ("that", "which", "of", "for", "in", ",", ".", "by", "to", "used"):
            return ""
        if word.lower in _DRUG_NOUNS:
            return "drug"
        if word.lower in _DISEASE_NOUNS:
            return "disease"
    return ""
