"""Claims of a few words without a verb, none of which the evidence has.

Example: "Hiccups." behind a sentence on metformin. A model reads the fragment with the sentence before it,
and may support it for the sake of that sentence.
"""

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
_LONGEST = 8  # words; a longer text is no fragment, and the evidence may say it in other words


def missing_fragments(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "fragment" for a claim without a verb that has no word of the evidence.

    The claim has one to eight content words and no amount, and the evidence names none of its concepts.
    """
    words = [token for token in read_tokens(claim) if token.content]
    if not words or len(words) > _LONGEST or read_quantities(claim) or _CONTRACTED.search(claim):
        return  # amounts have their own reader
    if finite_verbs(read_words(claim)):
        return
    told = any(token.key in evidence.keys for token in words) or any(map(evidence.names, linked(claim)))
    if not told:
        yield Missing("fragment", words[0].start, words[-1].end)
