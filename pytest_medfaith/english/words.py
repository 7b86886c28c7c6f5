"""Words, clauses and frames: how the rules see that a claim and a sentence of evidence say the same thing but for one spot."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.english.stems import word_key

# A longer sentence is a table or a run-on; no rule reads it, which also bounds the work on hostile input.
MAX_TOKENS = 250

_TOKEN = re.compile(
    r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:[.·]\d+)?|[^\W\d_]+(?:['’][^\W\d_]+)?(?:[-‐‑][^\W_]+)*\d*|[%‰≥≤<>=±°;,:()\[\]/.!?–—-]",
)
_STOP = frozenset(
    "a about above across after again all also although among an and any are as at be because been before being below between both but by can could did do "
    "does doing down during each either else enough even ever every few for from further get gets getting give given gives giving go goes going gone got had has "
    "have having he her here hers him his how however i if in including into is it its itself just less let like made make makes making many may me might more "
    "most much must my neither no nor not of off often on once one only onto or other others our out over own per quite rather s same shall she should since so "
    "some such than that the their them themselves then there these they this those though through thus till to too toward towards under until up upon us very via was we well "
    "were what when where whether which while who whom whose why will with within without would yet you your yours".split()
)
# Words that nearly every medical sentence may hold: shared, they say little about whether two sentences speak of the same thing.
_GENERIC = frozenset(
    "patient person people individual subject participant case group study trial treatment therapy take use need start occur happen time day week month year level risk "
    "common usual normal effect help cause result show find found report receive have include compare associate relate number high low drug medicine medication doctor".split()
)


@dataclass(frozen=True)
class Token:
    """A word, number or mark; `key` is its normal form, equal for forms and spellings of one word, and empty for marks."""

    text: str
    lower: str
    key: str
    start: int
    end: int

    @property
    def content(self) -> bool:
        """Whether the token is a word that carries meaning: no function word, number or mark."""
        return bool(self.key) and not self.key[0].isdigit() and self.lower not in _STOP


@lru_cache(maxsize=16_384)
def read_tokens(text: str) -> tuple[Token, ...]:
    """Returns the words, numbers and marks of `text` with their spans, in order."""
    tokens = []
    for found in _TOKEN.finditer(text):
        lower = found[0].lower()
        key = word_key(lower) if lower[0].isalpha() else lower if lower[0].isdigit() else ""
        tokens.append(Token(found[0], lower, key, found.start(), found.end()))
    return tuple(tokens)


@lru_cache(maxsize=16_384)
def content_keys(text: str) -> frozenset[str]:
    """Returns the keys of the content words of `text`."""
    return frozenset(token.key for token in read_tokens(text) if token.content)


def weight(key: str) -> float:
    """Returns how much a shared word says: 0.3 for words that any medical sentence may hold, else 1."""
    return 0.3 if key in _GENERIC_KEYS else 1.0


_GENERIC_KEYS = frozenset(word_key(word) for word in _GENERIC)


def share(wanted: Collection[str], held: Collection[str]) -> float:
    """Returns which part of the weight of `wanted` keys is in `held`: 0 to 1; 0 when nothing is wanted. Sums are exact, in whatever order."""
    total = math.fsum(map(weight, wanted))
    return math.fsum(weight(key) for key in wanted if key in held) / total if total else 0.0


@dataclass(frozen=True)
class Sentence:
    """A sentence of evidence: its tokens stand at offsets of the whole evidence text."""

    tokens: tuple[Token, ...]
    start: int
    end: int

    @property
    def keys(self) -> frozenset[str]:
        """The keys of its content words."""
        return frozenset(token.key for token in self.tokens if token.content)


@lru_cache(maxsize=4_096)
def evidence_sentences(evidence: str) -> tuple[Sentence, ...]:
    """Returns the sentences of `evidence` that hold a word and are no longer than MAX_TOKENS."""
    tokens = iter(read_tokens(evidence))
    sentences, token = [], next(tokens, None)
    for start, end in sentence_spans(evidence):
        own = []
        while token is not None and token.end <= end:
            own.append(token)
            token = next(tokens, None)
        if any(word.key for word in own) and len(own) <= MAX_TOKENS:
            sentences.append(Sentence(tuple(own), start, end))
    return tuple(sentences)
