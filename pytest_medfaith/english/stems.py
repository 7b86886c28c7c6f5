"""The stems of words: what the forms of a word have in common.

`word_key` is the stemmer. The other functions cut less on purpose:

* `light_stem` chooses the evidence that the model reads. The thresholds of its scores were fitted with it.
* `singular` and `singulars` find names and terms that a table lists, where "doses" must not match "dosing".
* `verb_stems` compares a denied verb of a sentence with an affirmed verb of a claim, also in irregular forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from pytest_medfaith import defaults

_ENDINGS = (
    "ations", "ation", "ments", "ment", "ities", "ings", "ions", "ally", "ing", "ion", "ity", "ies", "ied",
    "ive", "ers", "ors", "ed", "es", "er", "or", "ly", "al", "s", "e", "y",
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
    "children": "child",
    "women": "woman",
    "men": "man",
    "feet": "foot",
    "teeth": "tooth",
}
_SHORTEST_STEM = 4  # letters that a cut leaves


@lru_cache(maxsize=defaults.WORDS_KEPT)
def word_key(lower: str) -> str:
    """Returns the key of a lower-case word, its stem: "treat" for "treated" and "treatment".

    Spelling becomes American, endings are cut, and some synonyms have the same key ("tablet", "pill").
    """
    word = lower.replace("’", "'").removesuffix("'s")
    for pattern, plain in _SPELLINGS:
        word = pattern.sub(plain, word)
    word = _cut(word, _ENDINGS)
    return _SAME.get(word, word)


def light_stem(lower: str) -> str:
    """Returns a lower-case word without the ending of a plural or a verb: "treat" for "treated".

    The word stays as it is if fewer than four letters would be left: "uses".
    """
    return _cut(lower, ("ies", "ing", "ed", "es", "s"))


def _cut(word: str, endings: tuple[str, ...]) -> str:
    """Returns `word` without the first of `endings` that leaves at least four letters."""
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=defaults.WORDS_KEPT)
def singular(word: str) -> str:
    """Returns `word` in lower case without its plural "s": "tablet" for "tablets"; "virus" stays."""
    lower = word.lower()
    plural = len(lower) > len("its") and lower.endswith("s") and not lower.endswith(("ss", "us", "is"))
    return lower[:-1] if plural else lower


def singulars(lower: str) -> Iterator[str]:
    """Yields a lower-case word and the words whose plural it may be: "doses", "dose" and "dos"."""
    yield lower
    if lower.endswith("s"):
        yield lower[:-1]
        if lower.endswith("es"):
            yield lower[:-2]


# Past forms whose consonants are not those of the verb.
_OTHER_CONSONANTS = {
    "went": "go", "underwent": "undergo", "brought": "bring", "thought": "think", "sought": "seek",
    "bought": "buy", "caught": "catch", "fought": "fight", "left": "leave", "saw": "see", "stood": "stand",
}  # fmt: skip
# Endings of verbs. Each is cut by itself, since "exceed" and "led" only look like past forms.
_VERB_ENDINGS = (re.compile("(?<=..)(?:ies|ied|es|ed|ing|en|s)$"), re.compile("(?<=..)[dtn]$"))
_VOWELS = re.compile("[aeiouy]")
_TWICE = re.compile(r"(.)\1+")


def verb_stems(lower: str) -> frozenset[str]:
    """Returns strings of consonants; two forms of a verb share at least one of them.

    "found" gives {"fnd", "fn"} and "find" the same; "stopped" gives "stp" among others, as "stop" does. Each
    string is the word, whole or without an ending, and without vowels and doubled letters.
    """
    word = _OTHER_CONSONANTS.get(lower, lower)
    stems = (word, *(ending.sub("", word) for ending in _VERB_ENDINGS))
    return frozenset(_TWICE.sub(r"\1", _VOWELS.sub("", stem)) for stem in stems) - {""}
