"""Counts what a teacher was asked, from several threads; the counts are taken once for each case."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable

from pytest_medfaith.teacher.budget import Tokens
from pytest_medfaith.teacher.settings import LlmSettings
from pytest_medfaith.teacher.use import LlmUse


class Tally:
    """Counts since they were last taken: requests, tokens, money, time, failures."""

    def __init__(self, settings: LlmSettings) -> None:
        """Starts with all counts at 0."""
        self._settings = settings
        self._guard = threading.Lock()
        self._told: set[str] = set()  # keys of requests whose failure or repair is counted: each counts once
        self._begin()

    def _begin(self) -> None:
        self._asked = self._replayed = self._repaired = self._into = self._out = 0
        self._is_estimated, self._money = False, 0.0
        self._failures: Counter[str] = Counter()
        self._latencies: list[float] = []
        self._agreements: list[float] = []

    def answered(self, tokens: Tokens, money: float | None, *, ms: float | None) -> None:
        """Counts an answer.

        Args:
            tokens: that it took.
            money: that it cost; None where prices are not known.
            ms: milliseconds that it took; None where a cassette gave it.
        """
        with self._guard:
            self._asked += ms is not None
            self._replayed += ms is None
            self._into += tokens.into
            self._out += tokens.out
            self._is_estimated |= tokens.is_estimated
            self._money += money or 0.0
            self._latencies += [] if ms is None else [round(ms, 1)]

    def repaired(self, key: str) -> None:
        """Counts a reply that could not be used and was asked for again; each request (`key`) counts once."""
        with self._guard:
            self._repaired += f"repaired {key}" not in self._told
            self._told.add(f"repaired {key}")

    def failed(self, key: str, why: str) -> None:
        """Counts an item without a usable answer under the reason `why`; each request (`key`) counts once."""
        with self._guard:
            if key not in self._told:
                self._failures[why] += 1
            self._told.add(key)

    def agreed(self, share: float) -> None:
        """Counts an item that was judged several times; `share` of the samples agree, 0 to 1."""
        with self._guard:
            self._agreements.append(round(share, 4))

    def take(self, *, not_taken: Iterable[str] = ()) -> LlmUse:
        """Returns the counts and sets them to 0; an empty `LlmUse` where nothing was asked.

        `not_taken` names parameters that the endpoint refused.
        """
        with self._guard:
            nothing = not (self._asked or self._replayed or self._failures or self._agreements)
            use = LlmUse(
                model=self._settings.model,
                asked=self._asked,
                replayed=self._replayed,
                repaired=self._repaired,
                failures=dict(sorted(self._failures.items())),
                tokens_in=self._into,
                tokens_out=self._out,
                is_estimated=self._is_estimated,
                money=round(self._money, 6) if self._settings.has_prices else None,
                currency=self._settings.currency if self._settings.has_prices else "",
                latencies_ms=tuple(self._latencies),
                agreements=tuple(self._agreements),
                not_taken=tuple(sorted(not_taken)),
            )
            self._begin()
        return LlmUse() if nothing else use
