"""Limits of a run: how many tokens and how much money it may spend, and how fast it may ask."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from pytest_medfaith.teacher.exchange import Answer, Request
from pytest_medfaith.teacher.settings import LlmSettings

_CHARACTERS = 3  # of a token, for estimates that are never too low: English has 4, names of drugs fewer
_MILLION = 1_000_000


@dataclass(frozen=True)
class Tokens:
    """Tokens of a request.

    Attributes:
        into: of the prompt.
        out: of the reply.
        is_estimated: True where the server did not count them.
    """

    into: int
    out: int
    is_estimated: bool = False


class BudgetSpent(Exception):
    """A request does not fit in the rest of the budget; the message says which budget."""


def share_of_worker(settings: LlmSettings) -> LlmSettings:
    """Returns the settings of this process: each worker of pytest-xdist gets an equal share of all limits."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT") or 1)
    if workers < 2:
        return settings
    return replace(
        settings,
        concurrency=max(1, settings.concurrency // workers),
        requests_per_minute=settings.requests_per_minute and settings.requests_per_minute / workers,
        token_budget=settings.token_budget and settings.token_budget // workers,
        money_budget=settings.money_budget and settings.money_budget / workers,
    )


def tokens_of(request: Request, answer: Answer) -> Tokens:
    """Returns the tokens that a request and its answer took: as the server counted, else estimated.

    An estimate takes three characters for a token, which is rather too much than too little.
    """
    into, out = answer.tokens_in, answer.tokens_out
    return Tokens(
        _prompt_tokens(request) if into is None else into,
        math.ceil(len(answer.text) / _CHARACTERS) if out is None else out,
        is_estimated=into is None or out is None,
    )


def _prompt_tokens(request: Request) -> int:
    """Returns an estimate of the prompt's tokens, by its characters."""
    return math.ceil(sum(len(message.content) for message in request.messages) / _CHARACTERS)


def price(settings: LlmSettings, into: int, out: int) -> float | None:
    """Returns what the tokens of prompts (`into`) and replies (`out`) cost, in the currency of the settings.

    None where either price, which is for a million tokens, is not set.
    """
    if settings.price_in is None or settings.price_out is None:
        return None
    return (into * settings.price_in + out * settings.price_out) / _MILLION


class Budget:
    """Counts what is spent, so that no run spends more than its budget.

    Before each request the most that it can take is set aside, so the budget holds even for requests at the
    same time.
    """

    def __init__(self, settings: LlmSettings) -> None:
        """Starts with nothing spent."""
        self._settings = settings
        self._into = self._out = 0
        self._guard = threading.Lock()

    def set_aside(self, request: Request) -> Tokens:
        """Returns the tokens that are set aside for a request.

        Raises:
            BudgetSpent: the rest of the budget is too small.
        """
        wanted = Tokens(_prompt_tokens(request), self._settings.reply_tokens)
        with self._guard:
            into, out = self._into + wanted.into, self._out + wanted.out
            tokens, money = self._settings.token_budget, self._settings.money_budget
            if tokens is not None and into + out > tokens:
                raise BudgetSpent(f"the budget of {tokens:,} tokens is spent")
            cost = price(self._settings, into, out)
            if money is not None and cost is not None and cost > money:
                raise BudgetSpent(f"the budget of {money:g} {self._settings.currency} is spent")
            self._into, self._out = into, out
        return wanted

    def settle(self, aside: Tokens, taken: Tokens | None) -> None:
        """Replaces what was set aside for a request by what it took; `taken` is None for a failed request.

        A failed request may have been computed and be paid for, so its prompt still counts.
        """
        taken = taken or Tokens(aside.into, 0)
        with self._guard:
            self._into += taken.into - aside.into
            self._out += taken.out - aside.out


class Pace:
    """Spaces out requests evenly, so that at most so many begin in a minute."""

    def __init__(
        self,
        per_minute: float | None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Sets the limit; None sets none. `clock` and `sleep` replace those of `time` in tests."""
        self._pause = 60.0 / per_minute if per_minute else 0.0
        self._clock, self._sleep = clock, sleep
        self._next = 0.0
        self._guard = threading.Lock()

    def wait(self) -> None:
        """Waits until the next request may begin."""
        if not self._pause:
            return
        with self._guard:
            now = self._clock()
            begins = max(now, self._next)
            self._next = begins + self._pause
        if begins > now:
            self._sleep(begins - now)
