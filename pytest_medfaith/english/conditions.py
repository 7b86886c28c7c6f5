"""Reads clauses that limit a statement ("unless", "only if"), or say that something does not ("even if").

Example: "Do not drive even if you feel well, unless a doctor allows it" has a concession ("even if you feel
well") and an exception ("unless a doctor allows it").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pytest_medfaith import defaults

# A statement is false in an exception ("unless"), true only under a condition ("only if"), true in a case
# ("if"), and true in spite of a concession ("even if").
Kind = Literal["exception", "condition", "case", "concession"]

_WHETHER = r"(?:\s+(?:whether(?:\s+or\s+not)?|if|how|what|which|who|when))?"
_MARKER = re.compile(
    rf"""\b(?:
        (?P<concession>
            (?P<both_ways>(?:regardless|irrespective|independent(?:ly)?)\s+of{_WHETHER}
                |no\s+matter\s+(?:if|whether|how|what|which|who|when)
                |whether\s+or\s+not|whether(?=[^.;,]*\sor\s+not\b)
                |whatever(?=\s+(?:the|your|his|her|their|its)\b)
                |(?:both\s+)?with\s+(?:or|and)\s+without|(?:both\s+)?in\s+(?:or|and)\s+out\s+of)
            |(?:not\s+)?even\s+(?:if|when|where|though|in|with|after|before|during|for|at|on|while|once)
            |(?:not\s+)?even(?=\s+without\b)|despite|in\s+spite\s+of|although
            |throughout|at\s+(?:any|every)\s+(?:time|stage)\s+(?:of|in|during)
        )
        |(?P<condition>
            only\s+(?:if|when|after|once|where|in|for|with|under|by|while|during|to|at|on|before|from)
            |if\s+and\s+only\s+if|depend(?:s|ing)\s+on|according\s+to(?=\s+(?:the\s+)?\w+$)
            |(?:provided|providing)(?:\s+that)?(?!\s+by)|(?:as|so)\s+long\s+as|on\s+condition\s+that
            |not\s+(?:until|before)
        )
        |(?P<exception>
            unless|except(?:ing)?(?:\s+(?:for|in|when|if|that|where|during|with))?|apart\s+from|other\s+than
            |save\s+for|with\s+the\s+exception\s+of|excluding
            |but\s+not\s+(?:in|for|with|if|when|during|at|after)|(?:only\s+)?until
        )
        |(?P<case>if|when|whenever|where|once)
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_END = re.compile(r"[.;,:()\u2013\u2014]")
_OR_NOT = re.compile(r"\s+or\s+not\b", re.IGNORECASE)


@dataclass(frozen=True)
class Condition:
    """A clause that limits a statement or concedes something: "even if you feel well".

    Attributes:
        kind: what it does to the statement.
        marker: its first words: "even if".
        words: the words after the marker: " you feel well".
        start: its first character in the text.
        end: the character after it: a mark, or the next marker.
        both_ways: True for a concession that names a thing and its opposite: "whether or not", "regardless".
    """

    kind: Kind
    marker: str
    words: str
    start: int
    end: int
    both_ways: bool = False


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def read_conditions(text: str) -> tuple[Condition, ...]:
    """Returns the conditions, exceptions and concessions of `text`, in order and without overlaps.

    "Take it unless you are pregnant." has the exception "unless you are pregnant".
    """
    markers = list(_MARKER.finditer(text))
    found = []
    for place, marker in enumerate(markers):
        mark = _END.search(text, marker.end())
        end = mark.start() if mark else len(text)
        if place + 1 < len(markers):
            end = min(end, markers[place + 1].start())
        kind: Kind = next(kind for kind in _KINDS if marker[kind])
        words = _OR_NOT.sub("", text[marker.end() : end])
        found.append(Condition(kind, marker[0], words, marker.start(), end, bool(marker["both_ways"])))
    return tuple(found)


_KINDS: tuple[Kind, ...] = ("concession", "condition", "exception", "case")


def without_conditions(text: str) -> str:
    """Returns `text` at the same length with blanks for its conditions, exceptions and concessions.

    "If pain returns, call us." keeps ", call us." at the same offsets.
    """
    return blanked(text, read_conditions(text))


def blanked(text: str, conditions: Iterable[Condition]) -> str:
    """Returns `text` at the same length with blanks for `conditions`."""
    for one in conditions:
        text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
    return text
