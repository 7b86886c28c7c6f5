"""The normal form of a word, equal for forms and spellings of one word."""

from __future__ import annotations

import re
from functools import lru_cache

_ENDINGS = (
    "ations", "ation", "ments", "ment", "ities", "ings", "ions", "ally", "ing", "ion", "ity", "ies", "ied", "ive", "ers", "ors", "ed", "es", "er", "or", "ly", "al", "s", "e", "y",
)  # fmt: skip
_SPELLINGS = (
    (re.compile(r"h(a)?em(?=[aeo])"), "hem"),
    (re.compile(r"aem(?=i)"), "em"),
    (re.compile(r"oe(?=s|d|str|p|t)"), "e"),
    (re.compile(r"(?<=rrh)oe"), "e"),
    (re.compile(r"ae(?=s|d|t|c)"), "e"),
    (re.compile(r"our(?=$|s$|ed|less|al)"), "or"),
    (re.compile(r"is(?=e$|es$|ed$|ing$|ation)"), "iz"),
    (re.compile(r"yse(?=$|s$|d$)"), "yze"),
    (re.compile(r"tre(?=$|s$)"), "ter"),
)
_SAME = {
    "tablet": "pill",
    "capsul": "pill",
    "physician": "doctor",
    "provid": "doctor",
    "clinician": "doctor",
    "medication": "drug",
    "medicin": "drug",
    "adolesc": "teen",
    "teenag": "teen",
    "kidney": "renal",
    "begin": "start",
    "began": "start",
    "begun": "start",
    "liver": "hepat",
    "cardiac": "heart",
    "illnes": "diseas",
    "disord": "diseas",
    "dying": "death",
    "died": "death",
    "dies": "death",
    "mortal": "death",
    "infant": "baby",
    "babi": "baby",
}


@lru_cache(maxsize=65_536)
def word_key(lower: str) -> str:
    """Returns the normal form of a lower-case word: American spelling, endings cut, a few synonyms brought together."""
    word = lower.replace("’", "'").removesuffix("'s")
    for pattern, plain in _SPELLINGS:
        word = pattern.sub(plain, word)
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)]
            break
    return _SAME.get(word, word)
