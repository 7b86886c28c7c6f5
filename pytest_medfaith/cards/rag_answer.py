"""Shows an answer of the reference RAG in the terminal: sources, confidence, what was dropped and why."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_medfaith.cards.wording import clip
from pytest_medfaith.plain import one_line
from pytest_medfaith.rag.account import Account, account_of
from pytest_medfaith.records import Response

_MARK = re.compile(r"\[(\d+)\]")
_SHOWN = 160  # characters of a dropped sentence


def answer_text(response: Response) -> str:
    """Returns the answer, and below it its sources and how it was verified, a line for each matter."""
    lines = [response.answer, *_sources(response)]
    account = account_of(response)
    return "\n".join([*lines, *_account_lines(account)] if account else lines)


def _sources(response: Response) -> Iterator[str]:
    """Yields a line for each passage that the answer cites, after an empty line."""
    places = dict.fromkeys(int(place) for place in _MARK.findall(response.answer))
    for number, place in enumerate(sorted(one for one in places if 1 <= one <= len(response.contexts))):
        chunk = response.contexts[place - 1]
        title = f": {one_line(chunk.title)}" if chunk.title else ""
        address = f" {one_line(chunk.url)}" if chunk.url else ""
        yield f"{'' if number else chr(10)}[{place}] {one_line(chunk.id)}{title}{address}"


def _account_lines(account: Account) -> Iterator[str]:
    yield ""
    if account.refused:
        yield f"no answer: {one_line(account.refused)}"
    if account.confidence is not None and account.coverage is not None:
        yield (
            f"confidence {account.confidence:.2f} = 0.5 x faithfulness {account.faithfulness or 0.0:.2f} "
            f"({account.supported} of {account.claims} claims) + 0.5 x coverage {account.coverage:.2f}; "
            f"threshold {account.threshold:g}"
        )
    elif account.checker and account.claims:
        yield f"{account.supported} of {account.claims} claims of the draft are supported"
    for sentence in account.dropped:
        yield f"dropped: {clip(sentence.text, _SHOWN)}"
        yield f"         {clip(sentence.reason, _SHOWN)}"
    for assigned in account.assigned:
        yield f"citation [{one_line(assigned.marker)}] was assigned: {clip(assigned.text, _SHOWN)}"
    by = f", verified by {one_line(account.checker)}" if account.checker else ", not verified"
    yield f"mode {account.mode}, generator {account.generator}{by}"
