"""How often and how soon `medfaith watch-log` raises an alarm, on simulated answers.

    python bench/drift_alarms.py [--runs 300]

Answers have 1 to 8 claims. The rows are courses of the true rate: at the bound (an alarm would be false),
below it, above it, and rising above it after 3,000 answers.
"""

from __future__ import annotations

import argparse

import numpy as np

from pytest_medfaith.drift.betting import betting_test

BOUND = 0.05
MOST_CLAIMS = 8
# (rate at first, for how many answers, rate after that, for how many answers)
COURSES = (
    (0.05, 3000, 0.0, 0),
    (0.04, 3000, 0.0, 0),
    (0.07, 2000, 0.0, 0),
    (0.09, 1000, 0.0, 0),
    (0.02, 3000, 0.09, 1000),
)


def main() -> None:
    """Prints, for each course of the true rate, the share of runs with an alarm and its median answer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=300)
    given = parser.parse_args()
    drawn = np.random.default_rng(0)
    print("| true rate | answers | alarms | median answer of the alarm |\n| --- | --- | --- | --- |")
    for first, before, then, after in COURSES:
        crossed = []
        for _ in range(given.runs):
            claims = drawn.integers(1, MOST_CLAIMS + 1, before + after)
            rates = np.repeat([first, then], [before, after])
            found = betting_test(drawn.binomial(claims, rates) / claims, BOUND).crossed
            crossed += [found] if found else []
        rate = f"{first}, then {then}" if after else f"{first}"
        half = f"{np.median(crossed):.0f}" if crossed else ""
        print(f"| {rate} | {before + after} | {len(crossed) / given.runs:.1%} | {half} |", flush=True)


if __name__ == "__main__":
    main()
