"""Tells verbs, adverbs and content words by word lists and neighbours. It is no full tagger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pytest_medfaith import defaults
from pytest_medfaith.english import lexicon
from pytest_medfaith.english.conjugation import noun_verbs, verb_forms
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import Word

Form = Literal["s", "plural", "past", "modal", "base"]

_SUBJECT_PRONOUNS = word_set("it he she they we which who")
_STOPS = frozenset(".,;:!?-\u2013—")
_CLEARED_BY_COMMA = lexicon.CONDITIONS | word_set("because although though since before after")
_MOST_ADVERBS = 12  # in a row; an endless "not not not ..." would be read again at each word
_LOOK_AHEAD = 3  # verbs after a verb; an endless "uses uses uses ..." would look at each of them
_JOINTS = lexicon.COORDINATORS | lexicon.SUBORDINATORS
_FUNCTION_WORDS = lexicon.PREPOSITIONS | lexicon.DETERMINERS | _JOINTS | lexicon.NON_FINITE_AUXILIARIES
_AUXILIARY_FORMS: dict[str, Form] = {
    **dict.fromkeys(lexicon.OTHER_AUXILIARIES, "past"),
    **dict.fromkeys(lexicon.PLURAL_AUXILIARIES, "plural"),
    **dict.fromkeys(lexicon.SINGULAR_AUXILIARIES, "s"),
    **dict.fromkeys(lexicon.MODALS, "modal"),
}
_REDUCING = word_set("by with in for to on from as under at into")  # behind a participle: "drugs used in"


@dataclass(frozen=True)
class Verb:
    """A finite verb of a phrase.

    Attributes:
        index: the index of its word.
        form: "s" ("lowers"), "plural" ("lower"), "past", "modal" ("can") or "base" (of an order).
        subordinate: True where a word such as "that", "which" or "if" governs it.
    """

    index: int
    form: Form
    subordinate: bool


def is_adverb(word: Word) -> bool:
    """Returns whether `word` is an adverb, such as "often": it may be between a subject and its verb."""
    return _adverb(word.lower)


@lru_cache(maxsize=defaults.WORDS_KEPT)
def _adverb(lower: str) -> bool:
    return lower in lexicon.ADVERBS or (lower.endswith("ly") and len(lower) > len("only"))


def is_content(word: Word) -> bool:
    """Returns whether `word` is neither a function word, an auxiliary, an adverb nor a mark.

    Nouns, adjectives, names and numbers are content; so are full verbs ("lowers") and pronouns ("he", "it").
    """
    return _content(word.lower)


@lru_cache(maxsize=defaults.WORDS_KEPT)
def _content(lower: str) -> bool:
    function = lower in _FUNCTION_WORDS or lower in _AUXILIARY_FORMS or _adverb(lower)
    return not function and any(map(str.isalnum, lower))


def is_auxiliary(word: Word) -> bool:
    """Returns whether `word` is a modal or a form of be, have or do."""
    return word.lower in _AUXILIARY_FORMS or word.lower in lexicon.NON_FINITE_AUXILIARIES


def auxiliary_form(word: Word) -> Form | None:
    """Returns the finite form of an auxiliary or modal, "s" for "is"; None for other words."""
    return _AUXILIARY_FORMS.get(word.lower)


def forms(word: Word) -> frozenset[str]:
    """Returns the verb forms that `word` can be by its spelling: "part" for "taken", "past" for "gave".

    "lowered" can be "past" and "part"; "base", "s" and "ing" are the further forms. Empty for words that are
    no known verb, and for words in brackets.
    """
    return frozenset() if word.inside else verb_forms().get(word.lower, frozenset())


def is_plain_verb(word: Word) -> bool:
    """Returns whether `word` can hardly be anything but a present verb: "lowers" is, "causes" is not."""
    doubtful = word.lower in noun_verbs() or word.lower in lexicon.ADJECTIVE_VERBS
    return not doubtful and not forms(word).isdisjoint(("base", "s"))


def begins_object(word: Word) -> bool:
    """Returns whether `word` can begin the object of a verb, as "the", "it", "pain" and "two" can."""
    pointing = word.lower in lexicon.DETERMINERS or word.lower in ("it", "them", "you")
    return pointing or word.text[0].isdigit() or is_content(word)


def before_adverbs(words: Sequence[Word], index: int) -> int:
    """Returns the index of the last word before `index` that is no adverb; -1 for none.

    Before "lower" in "Statins often lower cholesterol" that is "Statins".
    """
    at = index - 1
    while at >= 0 and index - at <= _MOST_ADVERBS and is_adverb(words[at]):
        at -= 1
    return at


def finite_verbs(words: Sequence[Word]) -> tuple[Verb, ...]:
    """Returns the finite verbs of `words` outside brackets; for a group ("has been shown") its first word."""
    return _scan(words)[0]


def ends_open(words: Sequence[Word]) -> bool:
    """Returns whether `words` end inside a clause that a "that" has opened and no verb has closed."""
    return bool(_scan(words)[1])


def _scan(words: Sequence[Word]) -> tuple[tuple[Verb, ...], list[str]]:
    """Returns (the finite verbs of `words`, the words such as "that" whose verb is still to come)."""
    found: list[Verb] = []
    pending: list[str] = []
    # A finite verb came since the last joint: "is justified for long term follow up" has no second verb.
    settled = False
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
            if form == "plural" and settled and not (auxiliary_form(word) or _plural_before(words, index)):
                form = None
            joint = word.text == "," or word.lower in _JOINTS
            settled = form is not None or (settled and not joint)
        if form is None:
            index += 1
        else:
            found.append(Verb(index, form, subordinate=bool(pending)))
            pending = pending[:-1]
            index = _group_end(words, index, form)
    return tuple(found), pending


def _opens_clause(words: Sequence[Word], index: int) -> bool:
    """Returns whether a word opens a subordinate clause: "that it works", but not "that of" or "if taken"."""
    lower = words[index].lower
    after = words[index + 1] if index + 1 < len(words) else None
    if after is None:
        return False
    if lower in ("before", "after"):
        return after.lower in lexicon.PRONOUNS
    counted = lower == "once" and (is_adverb(after) or after.lower in ("a", "per", "every", "each", "in"))
    if lower not in lexicon.SUBORDINATORS or counted:
        return False
    if lower == "that":
        return after.lower != "of" and index > 0 and words[index - 1].lower not in lexicon.PREPOSITIONS
    can_be = forms(after)
    participle = "ing" in can_be or (can_be and can_be <= {"past", "part"})  # "while taking", "if taken"
    return lower in lexicon.RELATIVES or not participle


def _finite_form(words: Sequence[Word], index: int, *, ahead: int = _LOOK_AHEAD) -> Form | None:
    """Returns the form of the word at `index` as a finite verb, or None.

    Up to `ahead` later words are tried as the verb instead.
    """
    word = words[index]
    auxiliary = auxiliary_form(word)
    can_be = forms(word)
    if auxiliary is not None or not can_be:
        return auxiliary or _form_behind_pronoun(words, index)
    present = not can_be.isdisjoint(("s", "base")) and _verb_here(words, index, ahead)
    if present and "s" in can_be:
        return "s"
    if present and (_plural_before(words, index) or _verb_behind_noun(words, index)):
        return "plural"
    return "past" if "past" in can_be and _past_here(words, index) else None


def _form_behind_pronoun(words: Sequence[Word], index: int) -> Form | None:
    """Returns the form of a word that must be a verb, after "they" or after an "it" that begins a clause."""
    at = before_adverbs(words, index)
    word = words[index].lower
    subject = words[at].lower if at >= 0 else ""
    if subject not in _SUBJECT_PRONOUNS or not is_content(words[index]) or not word.isalpha():
        return None
    before = words[at - 1].lower if at else ","
    opens = before in (",", ";", ":") or before in _JOINTS
    if subject == "it" and not opens:
        return None
    if subject in ("which", "who") and not word.endswith(("s", "ed")):
        return None
    return "past" if word.endswith("ed") else "plural" if subject in ("they", "we") else "s"


def _verb_here(words: Sequence[Word], index: int, ahead: int) -> bool:
    """Returns whether the word at `index`, spelled like a present verb, is a verb by its neighbours."""
    before = words[index - 1].lower if index else ""
    if not index or before in lexicon.PREPOSITIONS or before in ("a", "an", "brand", "trade", "generic"):
        return False
    if words[index].lower not in noun_verbs():
        return before != "the"
    return not _modifies_noun(before) and _goes_on_as_verb(words, index, ahead)


def _modifies_noun(lower: str) -> bool:
    """Returns whether a word before a noun belongs to it: "the", "two", "severe"."""
    determiner = lower in lexicon.DETERMINERS and lower not in lexicon.PRONOUNS
    number = lower[-1].isdigit() or lower in lexicon.NUMBERS
    adjective = lower.endswith(lexicon.ADJECTIVE_ENDINGS) and len(lower) > len("oral")
    return determiner or number or adjective or lower in lexicon.ADJECTIVES


def _goes_on_as_verb(words: Sequence[Word], index: int, ahead: int) -> bool:
    """Returns whether the words after "causes" or "uses" let it be a verb: no "of", no stop, no verb."""
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
    joined = words[index - 1].lower in lexicon.COORDINATORS
    return not joined or after.lower in lexicon.DETERMINERS or is_content(after)


def _plural_before(words: Sequence[Word], index: int) -> bool:
    """Returns whether the word before the verb at `index`, without adverbs, can end a plural subject."""
    at = before_adverbs(words, index)
    lower = words[at].lower if at >= 0 else ""
    if not lower or lower in lexicon.COORDINATORS:
        return False
    if lower in lexicon.PRONOUNS:
        return lower not in ("he", "she", "it", "this")
    if lower in ("that", "which", "women", "men", "children", ")"):
        return True
    return (
        lower.endswith("s") and not lower.endswith(("ss", "us", "is", "'s")) and not is_auxiliary(words[at])
    )


def _verb_behind_noun(words: Sequence[Word], index: int) -> bool:
    """Returns whether a word that is hardly ever a noun follows a noun, with no modal or "to" before it."""
    before = words[index - 1]
    noun = (is_content(before) or before.text == ")") and not forms(before)
    governed = any(
        word.lower in lexicon.MODALS or word.lower in ("to", "do", "does", "did", "and", "or")
        for word in words[max(0, index - 3) : index]
    )
    return noun and not governed and is_plain_verb(words[index])


def _past_here(words: Sequence[Word], index: int) -> bool:
    """Returns whether a word spelled like a past form is a finite verb: not in "drugs used in children"."""
    before = words[index - 1] if index else None
    after = words[index + 1] if index + 1 < len(words) else None
    if before is None or after is None or (forms(before) and before.lower not in noun_verbs()):
        return False
    behind_subject = (
        is_content(before) or before.lower in lexicon.PRONOUNS or is_adverb(before) or before.text == ")"
    )
    reduced = "part" in forms(words[index]) and after.lower in _REDUCING
    in_group = any(auxiliary_form(word) for word in words[max(0, index - 4) : index])
    return behind_subject and not reduced and not in_group


def _group_end(words: Sequence[Word], index: int, form: Form) -> int:
    """Returns the index after the verb group at `index`: auxiliaries, adverbs and the first full verb."""
    if auxiliary_form(words[index]) is None:
        return index + 1
    inner = lexicon.NON_FINITE_AUXILIARIES | {"have"} if form == "modal" else lexicon.NON_FINITE_AUXILIARIES
    index += 1
    while index < len(words) and (is_adverb(words[index]) or words[index].lower in inner):
        index += 1
    full = index < len(words) and forms(words[index]) and auxiliary_form(words[index]) is None
    return index + 1 if full else index
