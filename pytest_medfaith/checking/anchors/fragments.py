"""Claims of a few words without a verb, of which the evidence holds no word."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, linked
from pytest_medfaith.english.phrases import read_words
from pytest_medfaith.english.verbs import finite_verbs
from pytest_medfaith.english.words import read_tokens
from pytest_medfaith.quantities.reader import read_quantities

_CONTRACTED = re.compile(
    r"['’](?:re|ll|ve|d|m)\b|n['’]t\b", re.IGNORECASE
)  # "you're still allowed" has a verb
_LONGEST = 8  # words: what is longer is no fragment, and more of it may be told in other words


def missing_fragments(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a fragment of which no word is in the evidence: "Hiccups." behind a sentence on metformin.

    A model reads a fragment with the sentence before it, and that sentence may be all that is supported.
    """
    words = [token for token in read_tokens(claim) if token.content]
    if not words or len(words) > _LONGEST or read_quantities(claim) or _CONTRACTED.search(claim):
        return  # amounts have their own reader
    if finite_verbs(read_words(claim)):
        return
    told = any(token.key in evidence.keys for token in words) or any(map(evidence.names, linked(claim)))
    if not told:
        yield Missing("fragment", words[0].start, words[-1].end)
