"""What a number without a unit counts: people in "120 women", nothing in "in 2019", which is a year."""

from __future__ import annotations

import re
from itertools import takewhile

from pytest_medfaith.english.stems import word_key
from pytest_medfaith.quantities.bounds import words_before
from pytest_medfaith.quantities.numerals import Numeral

_WORDS_AFTER = re.compile(r"[\s-]*([^\W\d_][\w’'-]*(?:\s+[^\W\d_][\w’'-]*){0,3})")
# Words that end the noun phrase after a number.
_PHRASE_ENDS = frozenset(
    """and or but of in on at with for to from by per than versus vs was were is are had have has did do does
    may can should will who that which if when after before over during within as against a an the
    not no be been being times more less while because so each every under above below into between among
    without about then""".split()
)
_PEOPLE = frozenset(
    word_key(word)
    for word in """people patients participants adults children women men subjects persons individuals
    volunteers infants babies newborns boys girls adolescents outpatients inpatients residents workers nurses
    students users smokers recipients survivors veterans carriers mothers neonates schoolchildren toddlers
    teenagers cases members donors couples""".split()
)
# Things that 2000 counts, as in "2000 deaths". Without them, or beside a study, it is a calendar year.
_COUNTED = frozenset(
    word_key(word)
    for word in """deaths births episodes events visits admissions hospitalizations samples specimens
    procedures operations injections doses tablets pills pregnancies families households
    twins calories kilocalories steps hospitals""".split()
) | {"person"}
_DATED = frozenset(
    word_key(word)
    for word in """trial study guideline survey review report analysis meta-analysis cohort outbreak
    epidemic pandemic season census update statement consensus olympics election earthquake""".split()
)
_ON_A_DATE = re.compile(
    r"(?:\b(?:in|since|during|by|until|till|before|after|circa|early|late|mid|year|spring|summer|autumn|"
    r"winter|january|february|march|april|may|june|july|august|september|october|november|december)[\s-]+"
    r"|\b(?:1[89]|20)\d\d\s*(?:-|–|to|and)\s*|(?<!\d)\d{1,2},\s*)$",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\b(?:the|an?|this|that)\s+$", re.IGNORECASE)


def is_count(text: str, numeral: Numeral) -> bool:
    """Returns whether a number without a unit counts something; a year and the pronoun "one" do not."""
    written = text[numeral.start : numeral.end]
    may_be_year = numeral.step == 0.5 and 1800 <= numeral.value <= 2100 and written.isdecimal()
    if may_be_year and not counts_things(text, numeral.start, numeral.end):
        return False
    return written.lower() not in ("one", "a million", "zero")


def counts_things(text: str, start: int, end: int) -> bool:
    """Returns whether the number at `start:end`, which may be a year, counts what follows it.

    "2000 deaths" and "2000 adult patients" count. "In 2000 deaths fell" and "a 2000 study" have a year.
    """
    first, second = (*_noun_phrase(text, end), "", "")[:2]
    ahead = words_before(text, start)
    if _ON_A_DATE.search(ahead):
        return False
    dated = word_key(first) in _DATED or _ARTICLE.search(ahead)
    return _is_counted(first) or (_is_counted(second) and not dated)


def counted_keys(text: str, end: int) -> frozenset[str]:
    """Returns the keys (stems) of what the number before `end` counts: {"person"} for "120 women"."""
    return frozenset(map(_key, _noun_phrase(text, end)))


def _noun_phrase(text: str, end: int) -> list[str]:
    """Returns the words of the noun phrase after a number, in lower case, four at most."""
    found = _WORDS_AFTER.match(text, end)
    return list(takewhile(lambda word: word not in _PHRASE_ENDS, found[1].lower().split() if found else []))


def _is_counted(word: str) -> bool:
    """Returns whether a word is a plural of people or of other things that are counted."""
    return _key(word) in _COUNTED and (word.endswith("s") or word in ("people", "children", "men", "women"))


def _key(word: str) -> str:
    """Returns the key of a word; "person" for all kinds of people."""
    key = word_key(word)
    return "person" if key in _PEOPLE else key
