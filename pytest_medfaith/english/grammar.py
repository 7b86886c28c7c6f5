"""Finds the verbs and the subject of a clause by word lists and neighbours: enough for the clause rules, no full tagger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pytest_medfaith.english import lexicon
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import Phrase, Word, holds, places

Form = Literal["s", "plural", "past", "modal", "base"]

_COORDINATORS = word_set("and or but nor")
_SUBJECT_PRONOUNS = word_set("it he she they we which who")
_STOPS = frozenset(".,;:!?-\u2013—")
_CLEARED_BY_COMMA = lexicon.CONDITIONS | {"because", "although", "though", "since", "before", "after"}
_MOST_ADVERBS = 12  # in a row; "not not not ..." without end would be read anew at each word
_LOOK_AHEAD = 3  # verbs behind a verb: "uses uses uses ..." without end would ask each of them
_PARTICIPLE_OPENINGS = word_set("as due based according compared")


@dataclass(frozen=True)
class Verb:
    """A verb at word `index`; `subordinate` when a word such as "that", "which" or "if" governs it."""

    index: int
    form: Form
    subordinate: bool


@dataclass(frozen=True)
class Clause:
    """The words of a clause, its finite verbs, and the place of its main verb.

    `lead` is where the subject begins: words before it are an opening phrase such as "In adults,". `subject_end` is where it
    ends. The main verb of an order ("Take 5 mg") has the form "base" and no subject.
    """

    words: Phrase
    verbs: tuple[Verb, ...]
    main: int
    lead: int
    subject_end: int

    @property
    def subject(self) -> Phrase:
        """The words of the subject, adverbs before the verb left out."""
        return self.words[self.lead : self.subject_end]

    @property
    def form(self) -> Form:
        """The form of the main verb."""
        return next(verb.form for verb in self.verbs if verb.index == self.main)


def is_adverb(word: Word) -> bool:
    """Returns whether `word` may stand between a subject and its verb."""
    return _adverb(word.lower)


@lru_cache(maxsize=8192)
def _adverb(lower: str) -> bool:
    return lower in lexicon.ADVERBS or (lower.endswith("ly") and len(lower) > len("only"))


def is_content(word: Word) -> bool:
    """Returns whether `word` is a noun, adjective, name or number rather than a function word or a mark."""
    return _content(word.lower)


@lru_cache(maxsize=8192)
def _content(lower: str) -> bool:
    function_words = (
        lexicon.PREPOSITIONS,
        lexicon.DETERMINERS,
        lexicon.SUBORDINATORS,
        _COORDINATORS,
        lexicon.NON_FINITE_AUXILIARIES,
    )
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


def is_plain_verb(word: Word) -> bool:
    """Returns whether `word` can hardly be anything but a present verb."""
    return (
        bool({"base", "s"} & forms(word))
        and word.lower not in lexicon.noun_verbs()
        and word.lower not in lexicon.ADJECTIVE_VERBS
    )


def finite_verbs(words: Sequence[Word]) -> tuple[Verb, ...]:
    """Returns the finite verbs of `words` outside brackets; of a group such as "has been shown" the first word."""
    return _scan(words)[0]


def ends_open(words: Sequence[Word]) -> bool:
    """Returns whether `words` break off within a clause that a word such as "that" or "where" opened and no verb has closed."""
    return bool(_scan(words)[1])


def _scan(words: Sequence[Word]) -> tuple[tuple[Verb, ...], list[str]]:
    """Returns the finite verbs of `words`, and the subordinating words that no verb has answered."""
    found: list[Verb] = []
    pending: list[str] = []
    settled = False  # since the last joint a finite verb was seen; "is justified for long term follow up" has no second one
    index = 0
    while index < len(words):
        word = words[index]
        form: Form | None = None
        if not word.inside:
            if _opens_clause(words, index):
                pending.append(word.lower)
            elif word.text == "," and pending and pending[-1] in _CLEARED_BY_COMMA:
                pending.pop()
            form = _finite_form(words, index)
            if (
                form == "plural"
                and settled
                and auxiliary_form(word) is None
                and not _plural_before(words, index)
            ):
                form = None
            settled = form is not None or (
                settled and word.text != "," and word.lower not in _COORDINATORS | lexicon.SUBORDINATORS
            )
        if form is None:
            index += 1
        else:
            found.append(Verb(index, form, subordinate=bool(pending)))
            pending = pending[:-1]
            index = _group_end(words, index, form)
    return tuple(found), pending


def _opens_clause(words: Sequence[Word], index: int) -> bool:
    lower = words[index].lower
    after = words[index + 1] if index + 1 < len(words) else None
    if after is None:
        return False
    if lower in ("before", "after"):
        return after.lower in lexicon.PRONOUNS
    if lower not in lexicon.SUBORDINATORS or (
        lower == "once" and (is_adverb(after) or after.lower in ("a", "per", "every", "each", "in"))
    ):
        return False
    if lower == "that":
        return after.lower != "of" and index > 0 and words[index - 1].lower not in lexicon.PREPOSITIONS
    can_be = forms(after)
    participle = "ing" in can_be or (can_be and can_be <= {"past", "part"})  # "while taking", "if taken"
    return lower in lexicon.RELATIVES or not participle


def _finite_form(words: Sequence[Word], index: int, *, ahead: int = _LOOK_AHEAD) -> Form | None:
    """Returns the form of a finite verb at `index`, or None; `ahead` verbs behind it may be asked whether they take its place."""
    word = words[index]
    auxiliary = auxiliary_form(word)
    can_be = forms(word)
    if auxiliary is not None or not can_be:
        return auxiliary or _form_behind_pronoun(words, index)
    if "s" in can_be and _verb_here(words, index, ahead):
        return "s"
    if (
        "base" in can_be
        and _verb_here(words, index, ahead)
        and (_plural_before(words, index) or _verb_behind_noun(words, index))
    ):
        return "plural"
    return "past" if "past" in can_be and _past_here(words, index) else None


def _form_behind_pronoun(words: Sequence[Word], index: int) -> Form | None:
    """Returns the form of an unknown word that must be a verb because it follows "they", or an "it" that opens a clause."""
    at = _before_adverbs(words, index)
    word = words[index].lower
    if (
        at < 0
        or words[at].lower not in _SUBJECT_PRONOUNS
        or not is_content(words[index])
        or not word.isalpha()
    ):
        return None
    subject, before = words[at].lower, words[at - 1].lower if at else ","
    if subject == "it" and not (before in (",", ";", ":") or before in lexicon.SUBORDINATORS | _COORDINATORS):
        return None
    if subject in ("which", "who") and not word.endswith(("s", "ed")):
        return None
    return "past" if word.endswith("ed") else "plural" if subject in ("they", "we") else "s"


def _before_adverbs(words: Sequence[Word], index: int) -> int:
    at = index - 1
    while at >= 0 and index - at <= _MOST_ADVERBS and is_adverb(words[at]):
        at -= 1
    return at


def _verb_here(words: Sequence[Word], index: int, ahead: int) -> bool:
    """Returns whether the word at `index`, by spelling a present verb, is one by its neighbours."""
    before = words[index - 1] if index else None
    if (
        before is None
        or before.lower in lexicon.PREPOSITIONS
        or before.lower in ("a", "an", "brand", "trade", "generic")
    ):
        return False
    if words[index].lower not in lexicon.noun_verbs():
        return before.lower != "the"
    return not _modifies_noun(before) and _goes_on_as_verb(words, index, ahead)


def _modifies_noun(word: Word) -> bool:
    lower = word.lower
    determiner = lower in lexicon.DETERMINERS and lower not in lexicon.PRONOUNS
    number = lower[-1].isdigit() or lower in lexicon.NUMBERS
    return (
        determiner
        or number
        or lower in lexicon.ADJECTIVES
        or (lower.endswith(lexicon.ADJECTIVE_ENDINGS) and len(lower) > len("oral"))
    )


def _goes_on_as_verb(words: Sequence[Word], index: int, ahead: int) -> bool:
    """Returns whether what follows a word such as "causes" or "uses" lets it be a verb: no "of", no stop, no other verb."""
    after = words[index + 1] if index + 1 < len(words) else None
    if (
        after is None
        or after.text in _STOPS
        or after.lower in ("of", "and", "or", "that", "such", "like", "including")
    ):
        return False
    near = range(index + 1, min(index + 1 + _MOST_ADVERBS, len(words)))
    verb = next((place for place in near if not is_adverb(words[place])), None)
    if ahead and verb is not None and _finite_form(words, verb, ahead=ahead - 1) is not None:
        return False
    return (
        words[index - 1].lower not in _COORDINATORS or after.lower in lexicon.DETERMINERS or is_content(after)
    )


def _plural_before(words: Sequence[Word], index: int) -> bool:
    at = _before_adverbs(words, index)
    if at < 0 or words[at].lower in _COORDINATORS:
        return False
    lower = words[at].lower
    if lower in lexicon.PRONOUNS:
        return lower not in ("he", "she", "it", "this")
    if lower in ("that", "which", "women", "men", "children", ")"):
        return True
    return (
        lower.endswith("s") and not lower.endswith(("ss", "us", "is", "'s")) and not is_auxiliary(words[at])
    )


def _verb_behind_noun(words: Sequence[Word], index: int) -> bool:
    """Returns whether a word that is seldom anything but a verb follows a noun, with no modal or "to" before it."""
    before = words[index - 1]
    if not is_plain_verb(words[index]) or not (is_content(before) or before.text == ")") or forms(before):
        return False
    return not any(
        word.lower in lexicon.MODALS or word.lower in ("to", "do", "does", "did", "and", "or")
        for word in words[max(0, index - 3) : index]
    )


def _past_here(words: Sequence[Word], index: int) -> bool:
    before = words[index - 1] if index else None
    after = words[index + 1] if index + 1 < len(words) else None
    if before is None or after is None or (forms(before) and before.lower not in lexicon.noun_verbs()):
        return False
    follows_subject = (
        is_content(before) or before.lower in lexicon.PRONOUNS or is_adverb(before) or before.text == ")"
    )
    reduced = "part" in forms(words[index]) and after.lower in (
        "by",
        "with",
        "in",
        "for",
        "to",
        "on",
        "from",
        "as",
        "under",
        "at",
        "into",
    )
    return (
        follows_subject
        and not reduced
        and not any(auxiliary_form(word) for word in words[max(0, index - 4) : index])
    )


def _group_end(words: Sequence[Word], index: int, form: Form) -> int:
    """Returns where the verb group that begins at `index` ends: auxiliaries, adverbs, and the first full verb after them."""
    if auxiliary_form(words[index]) is None:
        return index + 1
    inner = lexicon.NON_FINITE_AUXILIARIES | {"have"} if form == "modal" else lexicon.NON_FINITE_AUXILIARIES
    index += 1
    while index < len(words) and (is_adverb(words[index]) or words[index].lower in inner):
        index += 1
    return (
        index + 1
        if index < len(words) and forms(words[index]) and auxiliary_form(words[index]) is None
        else index
    )


@lru_cache(maxsize=256)  # every rule reads the statement anew
def read_clause(words: Phrase) -> Clause | None:
    """Returns the verbs and the subject of `words`, or None where there is no main verb."""
    verbs = finite_verbs(words)
    main = next(
        (
            verb.index
            for verb in verbs
            if not verb.subordinate and not _goes_on_with_opening(words, verb.index)
        ),
        None,
    )
    if main is None:
        order = _order(words)
        return (
            None
            if order is None
            else Clause(words, (Verb(order, "base", subordinate=False), *verbs), order, order, order)
        )
    lead = _lead(words, main)
    return Clause(words, verbs, main, lead, max(lead, _before_adverbs(words, main) + 1))


def _goes_on_with_opening(words: Phrase, index: int) -> bool:
    """Returns whether the verb at `index` still belongs to an opening such as "For wounds that bleed, are deep, or itch, ..."."""
    opens = words[0].lower in lexicon.PREPOSITIONS or words[0].lower in lexicon.CONDITIONS
    return (
        opens
        and words[index - 1].lower in (",", "or")
        and any(word.text == "," for word in words[index + 1 :])
    )


def _order(words: Phrase) -> int | None:
    """Returns where the verb of an order stands ("Take 5 mg", "To sleep better, avoid coffee"), or None."""
    starts = [0, *(comma + 1 for comma in places(words, ","))] if words and _is_opening(words) else [0]
    for start in starts:
        place = start
        while place < len(words) - 1 and (
            is_adverb(words[place]) or words[place].lower in ("please", "do", "don't")
        ):
            place += 1
        if place + 1 < len(words) and "base" in forms(words[place]) and begins_object(words[place + 1]):
            return place
    return None


def begins_object(word: Word) -> bool:
    """Returns whether `word` can open the object of a verb."""
    return (
        word.lower in lexicon.DETERMINERS
        or word.lower in ("it", "them", "you")
        or word.text[0].isdigit()
        or is_content(word)
    )


def _is_opening(words: Phrase) -> bool:
    first = words[0]
    opening = (
        first.lower in lexicon.PREPOSITIONS
        or first.lower in lexicon.SUBORDINATORS
        or first.lower in _PARTICIPLE_OPENINGS
    )
    return opening or "ing" in forms(first) or is_adverb(first)


def _lead(words: Phrase, main: int) -> int:
    """Returns where the subject begins: after the comma that ends an opening phrase or subordinate clause."""
    commas = places(words, ",", end=main)
    if not commas or not _is_opening(words):
        return 0
    if holds(words[commas[-1] : main], ("and", "or")):  # the last comma stands within a list of subjects
        return 0 if "ing" in forms(words[0]) else commas[0] + 1
    for comma in reversed(commas):
        after = words[comma + 1].lower
        if comma + 1 < main and not any(
            after in listed for listed in (_COORDINATORS, lexicon.RELATIVES, lexicon.PREPOSITIONS)
        ):
            return comma + 1
    return 0
