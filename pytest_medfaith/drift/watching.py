"""Checks samples of a log, keeps what was found, and tests it against a bound."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_medfaith.drift.betting import BoundTest, betting_test
from pytest_medfaith.drift.history import LEFT_OUT, UNDECIDED, History, Seen
from pytest_medfaith.drift.log import Logged
from pytest_medfaith.errors import DataError
from pytest_medfaith.gates.completeness import MOST_ABSTAINED
from pytest_medfaith.gates.expressions import BoundGate, parse_gate
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.failed import failure_of
from pytest_medfaith.records import Case, Report

if TYPE_CHECKING:
    from pytest_medfaith.config import SliceSettings
    from pytest_medfaith.run.resources import Resources

Progress = Callable[[int, int], None]
_RULED_BY_RUN = "latency"  # metrics of times are no rates
_KEPT_AT_A_TIME = 20  # answers; a killed run loses at most these


@dataclass(frozen=True)
class Bound:
    """A bound on a metric of answers: at least `bound` where `at_least`, else at most."""

    expression: str
    metric: str
    at_least: bool
    bound: float

    def badness(self, value: float) -> float:
        """Returns `value`, or 1 - `value` where high values are good; its mean must be at most `most`."""
        return 1 - value if self.at_least else value

    @property
    def most(self) -> float:
        """The largest mean of `badness` that the bound allows."""
        return self.badness(self.bound)


@dataclass(frozen=True)
class Watched:
    """What is known after a look at the log.

    Attributes:
        bound: that was tested.
        seen: the answers that the present checker looked at, in that order.
        new: how many answers this look added.
        left_out: of the new answers, those that the sample did not draw.
        others: how many answers other checkers or rules judged; they do not count here.
        test: of the bound.
    """

    bound: Bound
    seen: tuple[Seen, ...]
    new: int
    left_out: int
    others: int
    test: BoundTest

    @property
    def valued(self) -> list[Seen]:
        """The answers with a value of the metric."""
        return [one for one in self.seen if one.value is not None]

    @property
    def crossed(self) -> Seen | None:
        """The answer at which the bound was first refuted."""
        return None if self.test.crossed is None else self.valued[self.test.crossed - 1]

    @property
    def unusable(self) -> str:
        """Why the answers say nothing of the bound; "" where they do."""
        if not self.valued:
            return f"no answer has a value of {self.bound.metric}"
        failed = sum(one.outcome == "failed" for one in self.seen)
        looked = sum(one.outcome != LEFT_OUT for one in self.seen)
        if failed > looked * MOST_ABSTAINED:
            return f"{failed} of {looked} answers could not be checked: they have no text or no contexts"
        abstained = sum(one.outcome == "abstained" for one in self.seen)
        if abstained > looked * MOST_ABSTAINED:
            return f"{abstained} of {looked} answers are refusals"
        undecided = sum(one.outcome == UNDECIDED for one in self.seen)
        if undecided > looked * MOST_ABSTAINED:
            return f"{undecided} of {looked} answers have claims that are unscored or uncertain"
        return ""


def parse_bound(expression: str, declared: Mapping[str, Metric]) -> Bound:
    """Returns the bound that a gate expression sets.

    Raises:
        ValueError: it does not parse, compares with a baseline, or names no rate of an answer.
    """
    gate = parse_gate(expression, declared)
    if not isinstance(gate, BoundGate) or gate.sure:
        raise ValueError(
            f"--bound is {expression!r}; expected METRIC <= NUMBER or METRIC >= NUMBER, for example "
            "hallucination <= 0.05: the test brings its own certainty, and knows no baseline"
        )
    if not 0 <= gate.bound <= 1 or gate.metric.startswith(_RULED_BY_RUN):
        raise ValueError(f"--bound is {expression!r}; expected a rate and a bound from 0 to 1")
    return Bound(gate.expression, gate.metric, gate.at_least, gate.bound)


def watched_signature(resources: Resources, settings: SliceSettings) -> str:
    """Returns a digest of checker, thresholds and rules; only values of equal digests are put together."""
    from pytest_medfaith.run.signature import checker_signature

    told = {
        "checker": checker_signature(resources.checker(settings.checker)),
        "severity": resources.severity.signature,
        "rules_off": sorted(resources.rules_off),
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:16]


def watch(
    resources: Resources,
    settings: SliceSettings,
    logged: Sequence[Logged],
    *,
    bound: Bound,
    history: History,
    sample: int | None = None,
    seed: int = 0,
    since: str = "",
    alpha: float = 0.05,
    progress: Progress = lambda *_: None,
) -> Watched:
    """Checks what is new in a log, keeps it, and returns what all answers say of a bound.

    Args:
        settings: of the slice whose checker judges.
        resources: of the project.
        logged: the answers of the log.
        bound: to test.
        history: keeps answers.
        sample: at most so many of the new answers are drawn; the rest is left out for ever.
        seed: of the draw.
        since: the first day that counts; "" for all.
        alpha: the chance of a false alarm.
        progress: told (checked, to check).
    """
    new, chosen = _drawn(logged, history, sample=sample, seed=seed)
    kept: list[Seen] = []
    for number, one in enumerate(chosen, start=1):
        kept.append(_checked(resources, settings, one, bound.metric))
        if len(kept) == _KEPT_AT_A_TIME or number == len(chosen):
            history.add(kept)
            kept = []
        progress(number, len(chosen))
    seen = tuple(history.of_this_checker(since=since))
    values = [bound.badness(one.value) for one in seen if one.value is not None]
    return Watched(
        bound=bound,
        seen=seen,
        new=new,
        left_out=new - len(chosen),
        others=history.of_other_checkers(),
        test=betting_test(values, bound.most, alpha=alpha),
    )


def _drawn(
    logged: Sequence[Logged], history: History, *, sample: int | None, seed: int
) -> tuple[int, list[Logged]]:
    """Returns how many answers are new, and those that are checked; the others are kept as left out."""
    known = history.known()
    new = [one for one in logged if one.id not in known]
    if sample is None or sample >= len(new):
        return len(new), new
    drawn = set(random.Random(seed).sample(range(len(new)), sample))
    left_out = (one for place, one in enumerate(new) if place not in drawn)
    history.add(Seen(one.id, one.day, LEFT_OUT, None) for one in left_out)
    return len(new), [one for place, one in enumerate(new) if place in drawn]


def _checked(resources: Resources, settings: SliceSettings, one: Logged, metric: str) -> Seen:
    from pytest_medfaith.evaluation import evaluate_case

    checker = resources.checker(settings.checker)
    case = Case(id=one.id, question=one.question)
    report = evaluate_case(
        case, one.response, checker=checker, extractor=resources.extractor, **resources.rules
    )
    outcome = _outcome(report)
    value = report.metrics.get(metric) if outcome == "checked" else None
    if value is not None and not 0 <= value <= 1:
        raise DataError(
            f"{metric} of an answer is {value:g}; expected a rate from 0 to 1, as hallucination is"
        )
    return Seen(one.id, one.day, outcome, value)


def _outcome(report: Report) -> str:
    """Returns "failed" for no text, contexts or scored claim, else "abstained", undecided or "checked".

    An answer with an unscored or uncertain claim is undecided and has no value: such claims are in no rate,
    so the rate of what is left could only be too good.
    """
    if failure_of(report):
        return "failed"
    if any(verdict.label in ("unscored", "uncertain") for verdict in report.verdicts):
        return UNDECIDED
    return "abstained" if report.abstained else "checked"
