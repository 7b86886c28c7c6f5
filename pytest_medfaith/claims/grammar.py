"""Finds the verbs and the subject of a clause by word lists and neighbours: enough for the clause rules, no full tagger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pytest_medfaith.claims import lexicon
from pytest_medfaith.claims.words import Phrase, Word

Form = Literal["s", "plural", "past", "modal", "base", "part", "ing"]
FINITE: frozenset[Form] = frozenset({"s", "plural", "past", "modal"})

_COORDINATORS = frozenset("and or but nor".split())
_SUBJECT_PRONOUNS = frozenset("it he she they we which who".split())
_STOPS = frozenset(".,;:!?-–—")
_CLEARS_AT_COMMA = lexicon.CONDITIONS | {"because", "although", "though", "since", "before", "after"}


@dataclass(frozen=True)
class Verb:
    """A verb at word `index`; `subordinate` when a word such as "that", "which" or "if" governs it."""

    index: int
    form: Form
    subordinate: bool


@dataclass(frozen=True)
class Clause:
    """The words of a clause, its finite verbs, and its main verb's place (None where it has none).

    `lead` is where the subject begins: words before it are an opening phrase such as "In adults,". `subject_end` is where it ends.
    """

    words: Phrase
    verbs: tuple[Verb, ...]
    main: int | None
    lead: int
    subject_end: int

    @property
    def subject(self) -> Phrase:
        """The words of the subject, adverbs before the verb left out."""
        return self.words[self.lead : self.subject_end]


def is_adverb(word: Word) -> bool:
    """Returns whether `word` may stand between a subject and its verb."""
    return _adverb(word.lower)


@lru_cache(maxsize=8192)
def _adverb(lower: str) -> bool:
    return lower in lexicon.ADVERBS or (lower.endswith("ly") and len(lower) > 4)  # noqa: PLR2004 "only", "ply"


def is_content(word: Word) -> bool:
    """Returns whether `word` is a noun, adjective, name or number rather than a function word or a mark."""
    return _content(word.lower)


@lru_cache(maxsize=8192)
def _content(lower: str) -> bool:
    function_words = (lexicon.PREPOSITIONS, lexicon.DETERMINERS, lexicon.SUBORDINATORS, _COORDINATORS, lexicon.NON_FINITE_AUXILIARIES)
    named = any(map(str.isalnum, lower)) and not any(lower in words for words in function_words)
    return named and _auxiliary_form(lower) is None and not _adverb(lower)


def is_auxiliary(word: Word) -> bool:
    """Returns whether `word` is a modal or a form of be, have or do."""
    return _auxiliary_form(word.lower) is not None or word.lower in lexicon.NON_FINITE_AUXILIARIES


def auxiliary_form(word: Word) -> Form | None:
    """Returns the finite form of an auxiliary or modal, or None."""
    return _auxiliary_form(word.lower)


@lru_cache(maxsize=8192)
def _auxiliary_form(lower: str) -> Form | None:
    if lower in lexicon.MODALS:
        return "modal"
    if lower in lexicon.SINGULAR_AUXILIARIES:
        return "s"
    if lower in lexicon.PLURAL_AUXILIARIES:
        return "plural"
    return "past" if lower in lexicon.OTHER_AUXILIARIES else None


def forms(word: Word) -> frozenset[str]:
    """Returns the verb forms that `word` can be, by its spelling alone."""
    return frozenset() if word.inside else lexicon.verb_forms().get(word.lower, frozenset())


def finite_verbs(words: Sequence[Word]) -> tuple[Verb, ...]:
    """Returns the finite verbs of `words` outside brackets; of a group such as "has been shown" the first word."""
    return _scan(words)[0]


def ends_open(words: Sequence[Word]) -> bool:
    """Returns whether `words` break off within a clause that a word such as "that" or "where" opened and no verb has closed."""
    return bool(_scan(words)[1])


def _scan(words: Sequence[Word]) -> tuple[tuple[Verb, ...], list[str]]:
    found: list[Verb] = []
    pending: list[str] = []
    settled = False
    index = 0
    while index < len(words):
        word = words[index]
        if not word.inside:
            if _opens_clause(words, index):
                pending.append(word.lower)
            elif word.text == "," and pending and pending[-1] in _CLEARS_AT_COMMA:
                pending.pop()
            form = _finite_form(words, index)
            if form == "plural" and settled and auxiliary_form(word) is None and not _plural_before(words, index):
                form = None  # a clause has one finite verb: "is justified for long term follow up"
            settled = form is not None or (settled and word.text != "," and word.lower not in _COORDINATORS | lexicon.SUBORDINATORS)
            if form is not None:
                found.append(Verb(index, form, subordinate=bool(pending)))
                pending = pending[:-1]
                index = _group_end(words, index, form)
                continue
        index += 1
    return tuple(found), pending


def _opens_clause(words: Sequence[Word], index: int) -> bool:
    lower = words[index].lower
    after = words[index + 1] if index + 1 < len(words) else None
    if after is None or (lower in ("before", "after") and after.lower in lexicon.PRONOUNS):
        return after is not None
    if lower not in lexicon.SUBORDINATORS:
        return False
    if lower == "once" and (is_adverb(after) or after.lower in ("a", "per", "every", "each", "in")):
        return False
    if lower == "that":
        return after.lower != "of" and index > 0 and words[index - 1].lower not in lexicon.PREPOSITIONS
    verb = forms(after)
    return lower in lexicon.RELATIVES or "ing" not in verb and not (verb and verb <= {"past", "part"})  # "while taking", "if taken"


def _finite_form(words: Sequence[Word], index: int) -> Form | None:
    word = words[index]
    auxiliary = auxiliary_form(word)
    if auxiliary is not None:
        return auxiliary
    can_be = forms(word)
    if "s" in can_be and _verb_here(words, index):
        return "s"
    if "base" in can_be and _verb_here(words, index) and (_plural_before(words, index) or _plain_base(words, index)):
        return "plural"
    if "past" in can_be and _past_here(words, index):
        return "past"
    return _form_behind_pronoun(words, index) if not can_be else None


def _form_behind_pronoun(words: Sequence[Word], index: int) -> Form | None:
    """Returns the form of an unknown word that must be a verb because it follows "they", or an "it" that opens a clause."""
    at = index - 1
    while at > 0 and is_adverb(words[at]):
        at -= 1
    if at < 0 or words[at].lower not in _SUBJECT_PRONOUNS or not is_content(words[index]) or not words[index].lower.isalpha():
        return None
    subject, before = words[at].lower, words[at - 1].lower if at else ","
    if subject in ("which", "who"):
        return "past" if words[index].lower.endswith("ed") else "s" if words[index].lower.endswith("s") else None
    if subject in ("they", "we", "he", "she") or (subject == "it" and (before in (",", ";", ":") or before in lexicon.SUBORDINATORS | _COORDINATORS)):
        return "past" if words[index].lower.endswith("ed") else "s" if subject in ("it", "he", "she") else "plural"
    return None


def _verb_here(words: Sequence[Word], index: int) -> bool:
    """Returns whether the word at `index`, by spelling a verb or a noun, is the verb by its neighbours."""
    before = words[index - 1] if index else None
    after = words[index + 1] if index + 1 < len(words) else None
    if before is None or before.lower in lexicon.PREPOSITIONS or before.lower in ("a", "brand", "trade", "generic"):
        return False
    if words[index].lower not in lexicon.noun_verbs():
        return before.lower not in ("the", "an")
    if (before.lower in lexicon.DETERMINERS and before.lower not in lexicon.PRONOUNS) or before.text[-1].isdigit() or before.lower in lexicon.NUMBERS:
        return False
    if before.lower in lexicon.ADJECTIVES or (before.lower.endswith(lexicon.ADJECTIVE_ENDINGS) and len(before.text) > 4):  # noqa: PLR2004
        return False
    if after is None or after.text in _STOPS or after.lower in ("of", "and", "or", "that", "such", "like", "including"):
        return False
    verb = next((place for place in range(index + 1, len(words)) if not is_adverb(words[place])), len(words))
    if verb < len(words) and _finite_form(words, verb) is not None:
        return False
    return before.lower not in _COORDINATORS or after.lower in lexicon.DETERMINERS or is_content(after)


def _plain_base(words: Sequence[Word], index: int) -> bool:
    """Returns whether a word that is seldom anything but a verb follows a noun with no modal or "to" before it."""
    before = words[index - 1]
    if words[index].lower in lexicon.noun_verbs() | lexicon.ADJECTIVE_VERBS or not (is_content(before) or before.text == ")") or forms(before):
        return False
    return not any(word.lower in lexicon.MODALS or word.lower in ("to", "do", "does", "did", "and", "or") for word in words[max(0, index - 3) : index])


def _plural_before(words: Sequence[Word], index: int) -> bool:
    at = index - 1
    while at >= 0 and is_adverb(words[at]):
        at -= 1
    if at < 0 or words[at].lower in _COORDINATORS:
        return False
    before = words[at]
    if before.lower in lexicon.PRONOUNS and before.lower not in ("he", "she", "it", "this"):
        return True
    if before.lower in ("that", "which", "patients", "children", "women", "men") or before.text == ")":
        return True
    return before.lower.endswith("s") and not before.lower.endswith(("ss", "us", "is", "'s")) and not is_auxiliary(before)


def _past_here(words: Sequence[Word], index: int) -> bool:
    before = words[index - 1] if index else None
    after = words[index + 1] if index + 1 < len(words) else None
    if before is None or after is None or not (is_content(before) or before.lower in lexicon.PRONOUNS or is_adverb(before) or before.text in (")", ",")):
        return False
    if (forms(before) and before.lower not in lexicon.noun_verbs()) or before.text == ",":
        return False
    passive = after.lower in ("by", "with", "in", "for", "to", "on", "from", "as", "under", "at", "into")
    return not (passive and "part" in forms(words[index])) and not any(auxiliary_form(word) for word in words[max(0, index - 4) : index])


def _group_end(words: Sequence[Word], index: int, form: Form) -> int:
    """Returns where the verb group that begins at `index` ends: auxiliaries, adverbs, and the first full verb after them."""
    if auxiliary_form(words[index]) is None:
        return index + 1
    index += 1
    while index < len(words) and (is_adverb(words[index]) or words[index].lower in lexicon.NON_FINITE_AUXILIARIES or _is_have(words[index], form)):
        index += 1
    return index + 1 if index < len(words) and forms(words[index]) and auxiliary_form(words[index]) is None else index


def _is_have(word: Word, form: Form) -> bool:
    return word.lower == "have" and form == "modal"


@lru_cache(maxsize=256)  # every rule reads the statement anew
def read_clause(words: Phrase) -> Clause:
    """Returns the verbs and the subject of `words`; a clause with no main verb has an empty subject."""
    verbs = finite_verbs(words)
    main = next((verb.index for verb in verbs if not verb.subordinate and not _goes_on_with_opening(words, verb.index)), None)
    if main is None:
        order = _order(words)
        return Clause(words, verbs, None, 0, 0) if order is None else Clause(words, (Verb(order, "base", subordinate=False), *verbs), order, order, order)
    lead = _lead(words, main)
    end = main
    while end > lead and is_adverb(words[end - 1]):
        end -= 1
    return Clause(words, verbs, main, lead, end)


def _goes_on_with_opening(words: Phrase, index: int) -> bool:
    """Returns whether the verb at `index` still belongs to an opening such as "For wounds that bleed, are deep, or itch, ..."."""
    opens = words[0].lower in lexicon.PREPOSITIONS or words[0].lower in lexicon.CONDITIONS
    return opens and words[index - 1].text in (",", "or") and any(word.text == "," for word in words[index + 1 :])


def _order(words: Phrase) -> int | None:
    """Returns where the verb of an order stands ("Take 5 mg", "To sleep better, avoid coffee"), or None."""
    starts = [0, *(index + 1 for index, word in enumerate(words) if word.text == "," and not word.inside)]
    for start in starts if _is_opening(words) else starts[:1]:
        place = start
        while place < len(words) - 1 and (is_adverb(words[place]) or words[place].lower in ("please", "do", "don't")):
            place += 1
        after = words[place + 1] if place + 1 < len(words) else None
        if after is not None and "base" in forms(words[place]) and (after.lower in lexicon.DETERMINERS or after.text[:1].isdigit() or is_content(after)):
            return place
    return None


def _is_opening(words: Phrase) -> bool:
    first = words[0].lower
    return (
        first in lexicon.PREPOSITIONS
        or first in lexicon.SUBORDINATORS
        or "ing" in forms(words[0])
        or is_adverb(words[0])
        or first in ("as", "due", "based", "according", "compared")
    )


def _lead(words: Phrase, main: int) -> int:
    """Returns where the subject begins: after the comma that ends an opening phrase or subordinate clause."""
    commas = [index for index in range(main) if words[index].text == "," and not words[index].inside]
    if not _is_opening(words) or not commas:
        return 0
    if any(word.lower in ("and", "or") and not word.inside for word in words[commas[-1] : main]):
        return 0 if "ing" in forms(words[0]) else commas[0] + 1
    for comma in reversed(commas):
        after = words[comma + 1]
        if comma + 1 < main and after.lower not in _COORDINATORS and after.lower not in lexicon.RELATIVES and after.lower not in lexicon.PREPOSITIONS:
            return comma + 1
    return 0
