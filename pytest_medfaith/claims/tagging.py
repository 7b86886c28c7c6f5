"""Claims as tags of tokens: B begins a claim, I continues it, O is in no claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_medfaith.english.sentences import answer_sentences

TAGS = ("O", "B", "I")
Span = tuple[int, int]


def tags_of_spans(offsets: Sequence[Span], claims: Sequence[Span]) -> list[str]:
    """Returns the tag of each token at `offsets`: B for the first token of a claim, I for the next, else O.

    Tokens at (0, 4), (5, 8) and (9, 12) with a claim at (0, 8) give ["B", "I", "O"]. Where two claims
    overlap, the first has the tokens. Empty tokens, such as a model's special tokens, are O.
    """
    tags = ["O"] * len(offsets)
    taken = 0
    for start, end in sorted(claims):
        begins = True
        for place, (first, last) in enumerate(offsets):
            if first < last and max(start, taken) <= first and last <= end:
                tags[place] = "B" if begins else "I"
                begins = False
        taken = max(taken, end)
    return tags


def spans_of_tags(offsets: Sequence[Span], tags: Sequence[str]) -> list[Span]:
    """Returns the spans that the tags of the tokens at `offsets` mark; an I after an O begins a claim.

    The reverse of `tags_of_spans`: ["B", "I", "O"] gives the span of the first two tokens.
    """
    spans: list[Span] = []
    inside = False
    for (start, end), tag in zip(offsets, tags, strict=True):
        if start >= end:
            continue
        if tag == "B" or (tag == "I" and not inside):
            spans.append((start, end))
        elif tag == "I":
            spans[-1] = (spans[-1][0], end)
        inside = tag != "O"
    return spans


def stretches(answer: str, length_of: Callable[[str], int], *, most: int) -> list[Span]:
    """Returns the spans of whole sentences of `answer` that a model reads at a time, in order.

    Args:
        answer: any text.
        length_of: gives the number of tokens of a text.
        most: the most tokens of a span. A sentence that is longer is a span by itself; the model reads its
            beginning.
    """
    found: list[Span] = []
    for start, end in answer_sentences(answer):
        if found and length_of(answer[found[-1][0] : end]) <= most:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found
