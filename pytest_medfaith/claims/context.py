"""Tells which words before a claim its reader needs.

"It lowers glucose", "The drug is safe" and "Take 5 mg" need the sentence that names what they speak of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_medfaith.english import lexicon
from pytest_medfaith.english.grammar import Part
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import Phrase, holds
from pytest_medfaith.english.verbs import is_auxiliary, is_content

_POINTERS = word_set("it its he she they their this that these those such his her him them itself themselves")
_OTHERS = word_set("another other others both neither either former latter same")
_SUBJECTS = word_set("it he she they")  # in "Against placebo it halved the risk" the last word of the subject
_CONTRACTED = re.compile(
    rf"(?:{'|'.join((*_SUBJECTS, 'this', 'that', 'these', 'those'))})['’](?:s|re|ll|ve|d)$"
)
_SHARES = word_set(
    "about roughly around approximately nearly almost some most many few several all none each a an half "
    "more fewer up over under"
)
_RELATIONS = lexicon.PREPOSITIONS | lexicon.RELATIVES
# Without a further word these belong to something named before: "Side effects are mild".
_RELATIONAL = word_set(
    "effects symptoms signs causes complications contraindications interactions dose doses dosage treatment "
    "therapy diagnosis prognosis prevention onset risk risks benefits recovery recurrence"
)
# Fragments that go on with what was said: "Then 40 mg daily for four weeks", "Already after one year"
_GOING_ON = word_set("then already")
_HANGING = word_set("although though")  # "In adults, although surgery is usual"
_LONGEST_DEFINITE = 4  # words: "the usual starting dose" names nothing by itself, a longer subject does
_LONGEST_FRAGMENT = 4  # words without a verb: "Nausea" says nothing by itself
_ASKS_FOR_A_REASON = 2  # words: "Why is", "What makes"
_LONGEST_CONTEXT = 60  # words of the sentence before: more would push the claim out of what a model reads


@dataclass(frozen=True)
class Before:
    """What was said before a sentence.

    Attributes:
        alone: the latest sentence that can be read by itself.
        latest: the latest sentence.
    """

    alone: str = ""
    latest: str = ""

    @property
    def text(self) -> str:
        """The words that tell what a later "it" may mean: `alone` and `latest`."""
        return self.latest if self.alone == self.latest else f"{self.alone} {self.latest}".strip()

    def followed_by(self, part: Part, *, alone: bool) -> Before:
        """Returns what was said before the next sentence, after `part`; at most 60 words of `part`.

        Args:
            part: a sentence.
            alone: whether it can be read by itself.
        """
        said = part.text.strip(" ,;:\u2013—-")
        said = said if said.endswith((".", "!", "?")) or not said else f"{said}."
        short = " ".join(said.split()[:_LONGEST_CONTEXT])
        return Before(short if alone else self.alone, short)

    def asked(self, part: Part, *, alone: bool) -> Before:
        """Returns what was said before the next sentence, after the question `part`.

        "Is it safe?" needs the sentence before it, and so does its answer. `alone`: whether `part` can be
        read by itself.
        """
        behind = self.followed_by(part, alone=alone)
        return behind if alone else Before(" ".join(self.text.split()[-_LONGEST_CONTEXT:]), behind.latest)


def stands_alone(part: Part) -> bool:
    """Returns whether `part` says by itself what it speaks of.

    "It lowers glucose", "In children, it is unsafe", "The dose is 5 mg", "Take 5 mg" and "Nausea" do not.
    """
    words, clause = part.words, part.clause
    if _has_contracted_subject(words if clause is None else (*words[:1], *clause.subject)):
        return False
    if clause is None:
        led = any(word.borrowed or word.text == ":" for word in words)
        goes_on = words[0].lower in _GOING_ON or words[0].text[0].isdigit() or holds(words, _HANGING)
        return (led or (len(words) > _LONGEST_FRAGMENT and not goes_on)) and not _points(words)
    if _is_elliptic(words[clause.lead :]):
        return False
    subject = clause.subject
    if (
        not subject
    ):  # an order, which names its object or not: "Take 5 mg once a day", "Avoid it in pregnancy"
        after = words[clause.main + 1 : clause.main + 2]
        return not after or not (after[0].text[0].isdigit() or after[0].lower in _POINTERS)
    pronoun = subject[-1].lower in _SUBJECTS and not any(word.text == ":" for word in subject)
    unnamed = pronoun or _is_definite(subject) or _is_share(subject)
    return not (unnamed or _points(subject) or _points(words[: clause.lead]))


def _has_contracted_subject(words: Phrase) -> bool:
    """Returns whether a word is "it's", "they're" or the like, in which the clause reader sees no verb."""
    return any(_CONTRACTED.match(word.lower) and not word.inside for word in words)


def _is_elliptic(words: Phrase) -> bool:
    """Returns whether the verb was said before: "injurious falls did not"."""
    said = [word for word in words if any(map(str.isalnum, word.text))]
    whole = len(said) > 2 and not holds(words, ",;") and not holds(words, _RELATIONS | {"than"})
    return whole and said[-1].lower == "not" and is_auxiliary(said[-2])


def asks_alone(part: Part) -> bool:
    """Returns whether the question `part` says what it asks about; "Is it safe?" and "And adults?" do not."""
    return len(part.words) > _LONGEST_FRAGMENT and not _points(part.words)


def names_its_matter(question: Part) -> bool:
    """Returns whether a "Why" question says what it is about; "Why is this so?" and "Why?" do not."""
    return len(question.words) > _LONGEST_FRAGMENT and not _points(question.words[_ASKS_FOR_A_REASON:])


def asks_whole(part: Part) -> bool:
    """Returns whether the message `part` can be read without the messages before it.

    "Is it safe?", "And adults?" and "What are the side effects?" cannot.
    """
    words = [word.lower for word in part.words if word.text not in ".,;:()?"]
    following = [*words[1:], ""]
    unnamed = any(
        word in _RELATIONAL and after not in _RELATIONS for word, after in zip(words, following, strict=True)
    )
    return asks_alone(part) and stands_alone(part) and not unnamed


def _points(words: Phrase) -> bool:
    """Returns whether one of `words` means something said before ("it", "this")."""
    return any(_is_pointer(words, place) for place in range(len(words)))


def _is_pointer(words: Phrase, place: int) -> bool:
    """Returns whether the word at `place` means something said before; "that" before a clause does not."""
    lower = words[place].lower
    if lower not in _POINTERS or words[place].inside:
        return False
    if lower in ("it", "them") and place and words[place - 1].lower in lexicon.PREPOSITIONS:
        return True  # "babies exposed to it"
    named = any(is_content(word) and word.lower not in _POINTERS | lexicon.PRONOUNS for word in words[:place])
    return not named and (lower != "that" or place == 0)


def _is_definite(subject: Phrase) -> bool:
    """Returns whether only the text before completes `subject`: a short "the dose", a bare "side effects"."""
    words = [word for word in subject if not word.inside and word.text not in ".,;:()"]
    if not words or len(words) > _LONGEST_DEFINITE or any(word.lower in _RELATIONS for word in words):
        return False
    definite = words[0].lower in {"the"} | _OTHERS or words[-1].lower in _RELATIONAL
    return definite and not any(word.text[0].isupper() for word in words[1:])


def _is_share(subject: Phrase) -> bool:
    """Returns whether `subject` is a part of something named before: "30% of the children"."""
    end = [word.lower for word in subject[-3:-1]]
    counted = subject[0].text[0].isdigit() or subject[0].lower in _SHARES | lexicon.NUMBERS
    return counted and end in (["of", "the"], ["of", "these"], ["of", "those"]) and subject[-1].text.islower()
