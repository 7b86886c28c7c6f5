"""How often certified thresholds keep their promise, in simulations and on public development sets.

    python bench/selective_verdicts.py [--runs 1000] [--labels 120 300 1000] [--risk 0.05 0.1]
    python bench/selective_verdicts.py --rows ROWS.jsonl --checker fast [--splits 200] [--risk 0.1]

A certified threshold promises that, of the verdicts above it, at most the share `--risk` is wrong. In the
simulation a checker gives scores from 0.5 to 1, and the chance of a wrong verdict falls from `--worst` at 0.5
to 0 at 1. The promise is broken if the true share is above the risk, which may happen in a tenth of the runs.
A case holds `--claims` claims. In half of the cases all claims are right or wrong by the same luck; `certify`
uses a single claim of each case.

With `--rows`, labelled rows of {"claim", "evidence", "label"} are judged once. Each split certifies
thresholds on half of the groups, and measures the share of wrong verdicts above them on the other half. That
half is subject to chance too, so the mean share is printed beside how often it is above the risk.
"""

from __future__ import annotations

import argparse
import itertools
import random
from pathlib import Path

import numpy as np

from pytest_medfaith.calibration.selective import Judged, certify


def simulated(source, labels: int, worst: float, claims: int) -> list[Judged]:
    """Returns `labels` verdicts, `claims` in each case; claims of half of the cases share their luck."""
    rows = []
    for number in range(labels):
        case = number // claims
        if number % claims == 0:
            luck, shared = source.random(), source.random() < 0.5
        score = 0.5 + source.random() / 2
        drawn = luck if shared else source.random()
        rows.append(Judged(score, drawn < worst * (1 - score) * 2, case))
    return rows


def simulate(runs: int, labels: int, risk: float, worst: float, claims: int) -> str:
    """Returns a row of the table, over all runs.

    It has the share of runs with a threshold, the share with a broken promise, and the share of verdicts
    kept.
    """
    broken = certified = 0
    stood = []
    for seed in range(runs):
        found = certify(simulated(random.Random(seed), labels, worst, claims), risk=risk, seed=seed)
        if found.least is None:
            continue
        certified += 1
        least = max(found.least, 0.5)
        broken += worst * (1 - least) > risk  # the mean chance of an error above the threshold
        stood.append((1 - least) * 2)
    kept = f"{np.mean(stood):.2f}" if stood else "-"
    told = [
        labels,
        claims,
        f"{risk:g}",
        f"{worst:g}",
        f"{certified / runs:.2f}",
        f"{broken / runs:.3f}",
        kept,
    ]
    return f"| {' | '.join(map(str, told))} |"


def on_rows(path: Path, checker: str, risk: float, splits: int) -> None:
    """Prints how thresholds certified on half of the groups of a file do on the other half."""
    from pytest_medfaith.calibration.certifying import row_verdicts
    from pytest_medfaith.calibration.rows import read_labelled_rows
    from pytest_medfaith.checking.loading import load_checker
    from pytest_medfaith.checking.selective import confidence_of

    rows = read_labelled_rows(path)
    verdicts = row_verdicts(load_checker(checker), rows, None)
    for kind, right in (("supported", "entail"), ("refuted", "contradict")):
        judged = [
            Judged(confidence_of(verdict), row.label != right, row.group)
            for row, verdict in zip(rows, verdicts, strict=True)
            if verdict.label == kind
        ]
        wrong = sum(row.is_wrong for row in judged)
        groups = {row.group for row in judged}
        print(f"{path.name}, {kind}: {len(judged)} verdicts, {wrong} wrong, {len(groups)} groups")
        shares, kept, certified = [], [], 0
        for seed in range(splits):
            shuffled = sorted(groups)
            random.Random(seed).shuffle(shuffled)
            first = set(shuffled[: len(shuffled) // 2])
            found = certify([row for row in judged if row.group in first], risk=risk, seed=seed)
            rest = [row for row in judged if row.group not in first]
            standing = [row for row in rest if found.least is not None and row.score > found.least]
            certified += found.least is not None
            if standing:
                shares.append(np.mean([row.is_wrong for row in standing]))
                kept.append(len(standing) / len(rest))
        if shares:
            above = sum(share > risk for share in shares)
            print(
                f"  certified in {certified} of {splits} splits; wrong among those that stand "
                f"{np.mean(shares):.3f}, above {risk:g} in {above}; {np.mean(kept):.2f} of the verdicts stand"
            )
        else:
            print(f"  certified in none of {splits} splits")


def main() -> None:
    """Prints the table of the simulation, or what thresholds do on labelled rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--labels", type=int, nargs="+", default=[120, 300, 1000])
    parser.add_argument("--risk", type=float, nargs="+", default=[0.05, 0.1])
    parser.add_argument("--worst", type=float, nargs="+", default=[0.05, 0.2, 0.5])
    parser.add_argument("--claims", type=int, nargs="+", default=[1, 3])
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--checker", default="fast")
    parser.add_argument("--splits", type=int, default=200)
    given = parser.parse_args()
    if given.rows:
        for risk in given.risk:
            on_rows(given.rows, given.checker, risk, given.splits)
        return
    print("| labels | claims | risk | worst | certified | broken | stand |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for labels, claims, risk, worst in itertools.product(given.labels, given.claims, given.risk, given.worst):
        print(simulate(given.runs, labels, risk, worst, claims), flush=True)


if __name__ == "__main__":
    main()
