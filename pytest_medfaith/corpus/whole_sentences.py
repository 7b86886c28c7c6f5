"""Finds where a chunk may begin and end."""

from __future__ import annotations

import re

from pytest_medfaith.english.sentences import sentence_spans

# Ends that `sentence_spans` takes for a sentence's although names and numbers follow them: U.S. Food, M.D. Anderson, Jan. 5, Suppl. 2, tab. 500 mg.
# A checker's window that ends there still holds its evidence; a chunk that begins with "Food and Drug Administration" lost a word.
_GOES_ON = re.compile(
    r"(?:(?<![\w.])(?:[A-Za-z]\.){2,}|\b(?:Ph\.?D|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Suppl|Ref|Refs|pp|Eq|[Tt]abs?|[Cc]aps?|[Tt]emp|[Ii]nj|Drs|Sect|Ch|Art|Jr|Sr|Gen|Ltd|Corp|Co|Vit)\.)$"
)


def whole_sentences(text: str) -> list[tuple[int, int]]:
    """Returns half-open character spans of the sentences of `text`; where in doubt two stay one, so that none is cut.

    A line end is always a boundary: `text` is normalised, and lines broken by an editor are joined already.
    """
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        if (
            spans
            and "\n" not in text[spans[-1][1] : start]
            and _GOES_ON.search(text, max(spans[-1][0], spans[-1][1] - 12), spans[-1][1])
        ):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans
