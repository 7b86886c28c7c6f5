"""What asking an LLM took (requests, tokens, money, time), and what it did not answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_medfaith.conversion import Record

_REASONS_SHOWN = 3
_FAMILY = re.compile(r"[a-z]+")
_OF_FAMILY = {"o": "gpt", "chatgpt": "gpt", "codellama": "llama"}  # names that do not show their family


@dataclass(frozen=True, kw_only=True)
class LlmUse(Record):
    """What asking an LLM took while a case was measured.

    Attributes:
        model: the teacher's name.
        asked: requests that the endpoint answered.
        replayed: requests that a cassette answered; their tokens and money are those of the recording.
        repaired: replies that could not be used and were asked for again.
        failures: {reason: how many items have no usable answer}; their claims are unscored.
        tokens_in: tokens of the prompts.
        tokens_out: tokens of the replies.
        is_estimated: True where a server did not count its tokens, so characters were counted.
        money: what the tokens cost; None without prices.
        currency: of `money`.
        latencies_ms: milliseconds of each request that the endpoint answered.
        agreements: for each item that was judged several times, the share of samples that agree.
        not_taken: parameters that the endpoint refused, such as "seed".
        same_family: name of the model that wrote the answer, if the judge is of its family; else "".
    """

    model: str = ""
    asked: int = 0
    replayed: int = 0
    repaired: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    tokens_in: int = 0
    tokens_out: int = 0
    is_estimated: bool = False
    money: float | None = None
    currency: str = ""
    latencies_ms: tuple[float, ...] = ()
    agreements: tuple[float, ...] = ()
    not_taken: tuple[str, ...] = ()
    same_family: str = ""

    @property
    def failed(self) -> int:
        """How many items have no usable answer."""
        return sum(self.failures.values())


def sum_uses(uses: Iterable[LlmUse]) -> LlmUse:
    """Returns what several cases took together; `LlmUse()` for no case.

    Numbers are added, latencies and agreements listed one after the other, names joined by ", ". `money` is
    the sum of the known prices, in the first currency; None where none is known.
    """
    uses = [use for use in uses if use != LlmUse()]
    failures: Counter[str] = Counter()
    for use in uses:
        failures.update(use.failures)
    known = [use.money for use in uses if use.money is not None]
    return LlmUse(
        model=", ".join(dict.fromkeys(use.model for use in uses if use.model)),
        asked=sum(use.asked for use in uses),
        replayed=sum(use.replayed for use in uses),
        repaired=sum(use.repaired for use in uses),
        failures=dict(sorted(failures.items())),
        tokens_in=sum(use.tokens_in for use in uses),
        tokens_out=sum(use.tokens_out for use in uses),
        is_estimated=any(use.is_estimated for use in uses),
        money=round(sum(known), 6) if known else None,
        currency=next((use.currency for use in uses if use.currency), ""),
        latencies_ms=tuple(ms for use in uses for ms in use.latencies_ms),
        agreements=tuple(share for use in uses for share in use.agreements),
        not_taken=tuple(sorted({name for use in uses for name in use.not_taken})),
        same_family=", ".join(sorted({use.same_family for use in uses if use.same_family})),
    )


def read_uses(rows: Iterable[Mapping[str, Any]]) -> LlmUse:
    """Returns `sum_uses` of a report's cases, from their rows as plain values; empty rows do not count."""
    return sum_uses(LlmUse.from_dict(row) for row in rows if row)


def use_lines(use: LlmUse) -> list[str]:
    """Returns what a card says of the teacher, as lines; [] where no teacher was asked."""
    if use == LlmUse():
        return []
    lines = [f"teacher {use.model}: {'; '.join(_parts(use))}"]
    if use.agreements:
        whole = sum(share == 1 for share in use.agreements)
        lines.append(
            f"teacher: all samples agree on {whole} of {len(use.agreements)} items; least agreement "
            f"{min(use.agreements):.2f}"
        )
    if use.not_taken:
        lines.append(f"teacher: the endpoint does not take {', '.join(use.not_taken)}")
    if use.failures:
        lines.append(f"UNANSWERED: {failure_text(use)}")
    if use.same_family:
        lines.append(
            f"WARNING: the judge {use.model} is of the family of {use.same_family}, which wrote the answers; "
            "a model favours answers like its own (allow_same_family = true takes this line away)"
        )
    return lines


def failure_text(use: LlmUse) -> str:
    """Returns a sentence: how many items the teacher left without a usable answer, and why."""
    worst = sorted(use.failures.items(), key=lambda row: (-row[1], row[0]))
    told = [f"{number} because {why}" for why, number in worst[:_REASONS_SHOWN]]
    more = sum(number for _, number in worst[_REASONS_SHOWN:])
    told += [f"{more} for other reasons"] * bool(more)
    return f"the teacher gave no usable answer to {use.failed} of its items: {'; '.join(told)}"


def _parts(use: LlmUse) -> list[str]:
    """Returns what a card says of requests, tokens, money and time, in short phrases."""
    total = use.asked + use.replayed
    replayed = f" ({use.replayed} replayed)" if use.replayed else ""
    parts = [f"{total} request{'s' * (total != 1)}{replayed}"]
    parts += [f"{use.repaired} asked again for a usable reply"] * bool(use.repaired)
    estimated = ", estimated" if use.is_estimated else ""
    parts.append(f"{use.tokens_in:,} tokens in, {use.tokens_out:,} out{estimated}")
    when = " when recorded" if use.replayed and not use.asked else ""
    parts += [f"{use.money:.4f} {use.currency}{when}"] if use.money is not None else []
    if use.latencies_ms:
        p50, p95 = percentiles(use.latencies_ms)
        parts.append(f"{p50:,.0f} / {p95:,.0f} ms at p50 / p95")
    return parts


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    """Returns (median, 95th percentile) of `values`, each one of the values, not interpolated."""
    ordered = sorted(values)
    last = len(ordered) - 1
    return ordered[round(0.5 * last)], ordered[round(0.95 * last)]


def family_of(model: str) -> str:
    """Returns the family of a model: "llama" for "meta-llama/Llama-3.1-8B-Instruct" and for "llama3.1:70b".

    "" for a name that does not begin with a letter.
    """
    found = _FAMILY.match(model.rstrip("/").rpartition("/")[2].casefold())
    return _OF_FAMILY.get(found[0], found[0]) if found else ""
