"""The words of a text, and how much two texts share of them.

`read_tokens` is the tokenizer: its tokens know their places and their stems. The other readers cut a text in
other ways, since they compare other texts. From "IL-6, the patient's 2.5 mg/kg beta-blocker" they make:

reader           compares                                  words
read_tokens      claims and evidence, in the rules         IL-6 , the patient's 2.5 mg / kg beta-blocker
content_words    claims and evidence, to choose windows    il-6 patient s 2.5 mg/kg beta-blocker
plain_words      claims and evidence, to find quotations   il-6 the patient's 2.5 mg/kg beta-blocker
search_words     questions and chunks, by BM25             il-6 the patient's 2.5 mg/kg beta blocker
STATED           statements of reference answers           IL-6 the patient's 2.5 mg kg beta-blocker
SHINGLED         chunks, to find near-duplicates           IL 6 the patient s 2.5 mg kg beta blocker
SPOKEN           small talk and refusals with word lists   IL-6 the patient's 2 5 mg kg beta-blocker
LETTERS          words beside numbers, initials            IL the patient s mg kg beta blocker
pieces_of        names of concepts and of rules            IL 6 the patient s 2 5 mg kg beta blocker

Words with their grammar are in `phrases` and `grammar`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from pytest_medfaith import defaults
from pytest_medfaith.english.letters import folded
from pytest_medfaith.english.lexicon import COMMON_WORDS, FUNCTION_WORDS, word_set
from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.english.stems import light_stem, word_key

# No rule reads a longer sentence: it is a table or a run-on. This also limits the work on hostile input.
MAX_TOKENS = 250

_TOKEN = re.compile(
    r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:[.·]\d+)?|[^\W\d_]+(?:['’][^\W\d_]+)?(?:[-‐‑][^\W_]+)*\d*"
    r"|[%‰≥≤<>=±°;,:()\[\]/.!?–—-]",
)
# Keys of words that nearly every medical sentence may have. Sharing them hardly shows that two sentences
# speak of the same thing.
_GENERIC = frozenset(
    map(
        word_key,
        word_set(
            "patient person people individual subject participant case group study trial treatment therapy "
            "take use need start occur happen time day week month year level risk common usual normal effect "
            "help cause result show find found report receive have include compare associate relate number "
            "high low drug medicine medication doctor"
        ),
    )
)


@dataclass(frozen=True)
class Token:
    """A word, number or mark of a text.

    Attributes:
        text: the token as written.
        lower: the token in lower case.
        key: its stem, the same for all forms and spellings of a word; for a number its digits, for a mark "".
        start: its first character in the text.
        end: the character after it.
    """

    text: str
    lower: str
    key: str
    start: int
    end: int

    @property
    def content(self) -> bool:
        """True for a word with a meaning of its own: no function word ("the"), number or mark."""
        return bool(self.key) and not self.key[0].isdigit() and self.lower not in FUNCTION_WORDS


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def read_tokens(text: str) -> tuple[Token, ...]:
    """Returns the words, numbers and marks of `text` with their spans, in order.

    "Take 0.5 mg twice-daily." has the tokens "Take", "0.5", "mg", "twice-daily" and ".".
    """
    tokens = []
    for found in _TOKEN.finditer(text):
        lower = found[0].lower()
        key = word_key(lower) if lower[0].isalpha() else lower if lower[0].isdigit() else ""
        tokens.append(Token(found[0], lower, key, found.start(), found.end()))
    return tuple(tokens)


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def content_keys(text: str) -> frozenset[str]:
    """Returns the keys (stems) of the content words of `text`: {"treat", "gout"} for "Treatment of gout".

    The set is empty for a text without content words.
    """
    return frozenset(token.key for token in read_tokens(text) if token.content)


def weight(key: str) -> float:
    """Returns how much a shared word counts: 0.3 for a word that any medical sentence may have, else 1.

    `key` is the word's key (stem): "patient" counts 0.3, "warfarin" 1.
    """
    return 0.3 if key in _GENERIC else 1.0


def share(wanted: Collection[str], held: Collection[str]) -> float:
    """Returns the share of the weight of the keys `wanted` that is in `held`, 0 to 1; 0 for no keys.

    Of "warfarin" (1) and "patient" (0.3), "warfarin" alone has the share 0.77. The sums are exact, so that
    the order of a set does not matter.
    """
    total = math.fsum(map(weight, wanted))
    return math.fsum(weight(key) for key in wanted if key in held) / total if total else 0.0


@dataclass(frozen=True)
class Sentence:
    """A sentence of evidence: its tokens and its span. All offsets count from the start of the evidence."""

    tokens: tuple[Token, ...]
    start: int
    end: int

    @property
    def keys(self) -> frozenset[str]:
        """The keys (stems) of its content words."""
        return frozenset(token.key for token in self.tokens if token.content)


@lru_cache(maxsize=defaults.PASSAGES_KEPT)
def evidence_sentences(evidence: str) -> tuple[Sentence, ...]:
    """Returns the sentences of `evidence` that have a word and at most MAX_TOKENS tokens."""
    tokens = iter(read_tokens(evidence))
    sentences, token = [], next(tokens, None)
    for start, end in sentence_spans(evidence):
        inside = []
        while token is not None and token.end <= end:
            inside.append(token)
            token = next(tokens, None)
        if any(word.key for word in inside) and len(inside) <= MAX_TOKENS:
            sentences.append(Sentence(tuple(inside), start, end))
    return tuple(sentences)


_CONTENT = re.compile(r"[^\W_]+(?:[-.,/][^\W_]+)*")
_PLAIN = re.compile(r"(?<![\w.])\.\d+|[^\W_]+(?:[.,/'’-][^\W_]+)*|[<>=≤≥±%+−↑↓→]|(?<![^\W_])-(?=\d)")
STATED = re.compile(r"[^\W_]+(?:[.,'\u2019-][^\W_]+)*%?")
SHINGLED = re.compile(r"\w+(?:[.,/]\d+)*")
SPOKEN = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
LETTERS = re.compile(r"[^\W\d_]+")
_PIECE = re.compile(r"[^\W_]+")


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def content_words(text: str) -> frozenset[str]:
    """Returns the lower-case content words of `text`, without endings of plurals and verbs.

    "The patients were treated with statins." has "patient", "treat" and "statin".
    """
    words = (word.lower() for word in _CONTENT.findall(text))
    return frozenset(light_stem(word) for word in words if word not in COMMON_WORDS)


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def plain_words(text: str) -> str:
    """Returns the lower-case words of `text` with single blanks; numbers and signs such as "<" stay."""
    return " ".join(_PLAIN.findall(text.lower()))


def pieces_of(text: str) -> list[tuple[str, int, int]]:
    """Returns (run, start, end) of each run of letters and digits in `text`.

    "COVID-19" gives ("COVID", 0, 5) and ("19", 6, 8).
    """
    return [(found[0], found.start(), found.end()) for found in _PIECE.finditer(text)]


_UNITS = "mg|g|kg|mcg|[μu]g|ng|ml|l|dl|mmol|[μu]mol|nmol|mol|mmhg|cm|mm|iu|units?|meq|kcal|%"
_SEARCHED = re.compile(
    rf"""
    # 5 mg, 2.5mg/kg/day, 140 mmHg
    \d+(?:[.,]\d+)*\ ?(?:{_UNITS})(?:/(?:kg|day|d|h|hr|min|week|ml|l|dl|m2))*(?!\w)
    # HER2, IL-6, 1,25-OH, 25-hydroxy
    | \w+(?:[-./,'’+]\w+)*
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DOSE = re.compile(rf"[\d.,]+ ?(?:{_UNITS})(?:/.+)?")
_WORDS_WITH_HYPHEN = re.compile(r"[^\W\d_]{2,}(?:-[^\W\d_]{2,})+")


def search_words(text: str) -> list[str]:
    """Returns the words of `text` for BM25, in order with repeats, in lower case and without accents.

    `HER2`, `1,25-OH`, `IL-6` and `5 mg` stay whole; `beta-blocker` is two words. A number and its unit are
    one word: `5mg` and `5 mg` are both `5 mg`. `5 µg`, `5 ug` and `5 mcg` are the same.
    """
    words: list[str] = []
    for found in _SEARCHED.finditer(folded(text)):
        word = found[0]
        if _WORDS_WITH_HYPHEN.fullmatch(word):
            words += word.split("-")
        elif _DOSE.fullmatch(word):
            spaced = re.sub(r"^([\d.,]*\d) ?([^\d\s].*)$", r"\1 \2", word)
            words.append(re.sub(r"(?<= )[μu](?=g\b)", "mc", spaced).replace(" μmol", " umol"))
        else:
            words.append(word)
    return words
