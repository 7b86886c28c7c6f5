"""How often a gate fails in simulated runs: without a change, with one at its margin, and with a larger one.

A case is a question with 5 claims, each refuted or not. Claims of a case are alike: the case's rate of
refuted claims is drawn from a beta distribution (so claims are beta-binomial) in which two claims of a case
have the correlation 0.1, unless said otherwise. Both runs answer the same cases. A case keeps its place in
the distribution (what is hard before is hard after), and its claims are drawn anew from its rate. The second
table drops these assumptions one at a time.

The gates are the package's functions. They are compared with a plain threshold, and with the rule "the new
value is higher than the old value".
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from pytest_medfaith.gates.judging import UNSTATED_MARGIN
from pytest_medfaith.gates.paired import ALPHA, Pairs, decide, holm, swap_p_values, worsenings

SIMULATIONS = 4000
BATCH = 500  # simulated runs tested at once
CLAIMS = 5
MARGIN = 0.02
THRESHOLD = 0.05
SEED = 20_24
GRID = 2000  # equally likely points of the beta distribution

Counts = npt.NDArray[np.int64]
Rates = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Model:
    """How similar the claims of a case are, and how similar the two runs are.

    Attributes:
        name: in the table.
        correlation: of two claims of a case, 0 to 1.
        same_difficulty: whether a case that is hard in the first run is hard in the second.
        claims_vary: whether the number of claims varies, between cases and between runs.
        turn_back: if set, both runs make the same claims, and this share of the refuted claims is refuted no
            more.
    """

    name: str
    correlation: float = 0.1
    same_difficulty: bool = True
    claims_vary: bool = False
    turn_back: float | None = None


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Claims of simulated runs, before and after.

    Attributes:
        refuted: number of refuted claims before, and after: each (cases, simulations).
        claims: number of claims before, and after: each (cases, simulations).
        worse: (simulations,) claims that became refuted; None if the runs' claims cannot be matched.
        better: (simulations,) claims that are refuted no more; None if the runs' claims cannot be matched.
    """

    refuted: tuple[Counts, Counts]
    claims: tuple[Counts, Counts]
    worse: Counts | None = None
    better: Counts | None = None


DEFAULT = Model(name="as above")
MODELS = (
    Model(name="claims of a case independent", correlation=0.0),
    DEFAULT,
    Model(name="correlation 0.3", correlation=0.3),
    Model(name="difficulty of each case drawn anew", same_difficulty=False),
    Model(name="correlation 0.3, difficulty drawn anew", correlation=0.3, same_difficulty=False),
    Model(name="1 to about 10 claims a case, other numbers in each run", claims_vary=True),
    Model(name="same claims in both runs, half of the refuted ones turn back", turn_back=0.5),
)


def rates(mean: float, correlation: float) -> Rates:
    """Returns GRID equally likely rates of a case, in ascending order, with this mean."""
    if correlation == 0:
        return np.full(GRID, mean)
    size = (1 - correlation) / correlation
    points = stats.beta.ppf((np.arange(GRID) + 0.5) / GRID, mean * size, (1 - mean) * size)
    return np.asarray(np.minimum(points * mean / points.mean(), 1.0), dtype=np.float64)


def simulate(
    model: Model, cases: int, before: float, after: float, *, size: int, generator: np.random.Generator
) -> Runs:
    """Returns `size` simulated pairs of runs over `cases` cases, with true rates `before` and `after`."""
    places = generator.integers(GRID, size=(cases, size))
    old = rates(before, model.correlation)[places]
    new = rates(after, model.correlation)[
        places if model.same_difficulty else generator.integers(GRID, size=(cases, size))
    ]
    if model.claims_vary:
        claims = 1 + generator.poisson(CLAIMS - 1, size=(2, cases, size))
        return Runs(
            refuted=(generator.binomial(claims[0], old), generator.binomial(claims[1], new)),
            claims=(claims[0], claims[1]),
        )
    claims = np.full((cases, size), CLAIMS)
    refuted = generator.binomial(claims, old)
    if model.turn_back is None:
        better, worse = generator.binomial(refuted, 1 - new), generator.binomial(claims - refuted, new)
    else:
        turn = (after - before * (1 - model.turn_back)) / (1 - before)
        better, worse = (
            generator.binomial(refuted, model.turn_back),
            generator.binomial(claims - refuted, turn),
        )
    return Runs(
        refuted=(refuted, refuted - better + worse),
        claims=(claims, claims),
        worse=worse.sum(axis=0),
        better=better.sum(axis=0),
    )


def pairs_of(runs: Runs) -> Pairs:
    """Returns the counts as the package's gates take them."""
    before, after = (np.stack([runs.refuted[i], runs.claims[i]]).astype(np.float64) for i in (0, 1))
    return Pairs(before=before, after=after)


def measure(model: Model, cases: int, before: float, after: float) -> dict[str, int]:
    """Returns {gate and outcome: in how many of SIMULATIONS runs}.

    "0" is a gate without a margin, "m" a gate with the margin MARGIN.
    """
    generator = np.random.default_rng(SEED)
    found = dict.fromkeys(
        ("0 fail", "0 inconclusive", "m fail", "m inconclusive", "threshold", "higher", "mcnemar"), 0
    )
    for _ in range(SIMULATIONS // BATCH):
        runs = simulate(model, cases, before, after, size=BATCH, generator=generator)
        pairs = pairs_of(runs)
        p_values, worse = swap_p_values(pairs), worsenings(pairs)
        for i in range(BATCH):
            shared = {
                "worse_by": round(float(worse.estimate[i]), 10),
                "high": float(worse.high[i]),
                "p": float(p_values[i]),
            }
            for name, margin, tolerated in (("0", 0.0, UNSTATED_MARGIN), ("m", MARGIN, MARGIN)):
                outcome = decide(margin=margin, tolerated=tolerated, **shared)
                if outcome != "pass":
                    found[f"{name} {outcome}"] += 1
        value = pairs.after[0].sum(axis=0) / pairs.after[1].sum(axis=0)
        found["threshold"] += int((value > THRESHOLD).sum())
        found["higher"] += int((worse.estimate > 0).sum())
        if runs.worse is not None and runs.better is not None:
            mcnemar = stats.binom.sf(runs.worse - 1, runs.worse + runs.better, 0.5)
            found["mcnemar"] += int((mcnemar <= ALPHA).sum())
    return found


def rate(count: int, of: int = SIMULATIONS) -> str:
    """Returns a share in percent with its 95 % interval (Wilson): "5.0 [4.4, 5.7]"."""
    interval = stats.binomtest(count, of).proportion_ci(method="wilson")
    return f"{100 * count / of:.1f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def family(cases: int) -> tuple[int, int]:
    """Returns in how many runs without a change at least one of three gates fails: (corrected, uncorrected).

    The gates are on faithfulness, hallucination and unsupported; 80 % of claims are supported, 4 % refuted,
    16 % unsupported. The correction is Holm's.
    """
    generator = np.random.default_rng(SEED)
    shares, size = np.array([0.80, 0.04, 0.16]), (1 - DEFAULT.correlation) / DEFAULT.correlation
    corrected = plain = 0
    for _ in range(SIMULATIONS // BATCH):
        rates_of_case = generator.dirichlet(shares * size, size=(cases, BATCH))
        verdicts = [generator.multinomial(CLAIMS, rates_of_case).astype(np.float64) for _ in (0, 1)]
        claims = np.full((cases, BATCH), float(CLAIMS))
        p_values = [
            swap_p_values(
                Pairs(
                    before=np.stack([verdicts[0][..., i], claims]),
                    after=np.stack([verdicts[1][..., i], claims]),
                    sign=sign,
                )
            )
            for i, sign in enumerate((-1.0, 1.0, 1.0))
        ]
        for of_run in zip(*p_values, strict=True):
            plain += bool(min(of_run) <= ALPHA)
            corrected += bool(min(holm(dict(zip("abc", of_run, strict=True))).values()) <= ALPHA)
    return corrected, plain


def print_table(head: list[str], rows: list[list[str]]) -> None:
    """Prints a table in Markdown."""
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print()


def main() -> None:
    """Prints both tables, and how often one of three gates fails."""
    began = time.perf_counter()
    print(
        f"Share of {SIMULATIONS} simulated runs, in percent, with 95 % intervals. {CLAIMS} claims a case, "
        f"correlation of two claims of one case {DEFAULT.correlation}, margin {MARGIN}, level {ALPHA}.\n"
    )
    truths = ((0.04, 0.04), (0.04, 0.04 + MARGIN), (0.04, 0.09), (0.01, 0.04), (0.06, 0.06))
    rows = []
    for before, after in truths:
        for cases in (50, 100, 200, 400):
            found = measure(DEFAULT, cases, before, after)
            cells = [
                rate(found[name])
                for name in ("0 fail", "0 inconclusive", "m fail", "m inconclusive", "threshold", "higher")
            ]
            rows.append([f"{100 * before:g} % to {100 * after:g} %", str(cases), *cells])
    gate = "`hallucination no worse than baseline`"
    outcomes = [f"{gate} fails", "inconclusive", "the same `by 0.02` fails", "inconclusive"]
    print_table(["true rate", "cases", *outcomes, "`hallucination <= 0.05` fails", "new value > old"], rows)
    rows = []
    for model in MODELS:
        both = [measure(model, 200, 0.04, after) for after in (0.04, 0.09)]
        mcnemar = (
            ["no claim matches"] * 2 if model.claims_vary else [rate(found["mcnemar"]) for found in both]
        )
        rows.append(
            [model.name, *(rate(found[name]) for name in ("0 fail", "m fail") for found in both), *mcnemar]
        )
    print("Other assumptions, 200 cases; the McNemar test is reported beside the gate and decides nothing.\n")
    tests = (gate, "`by 0.02`", "McNemar p <= 0.05")
    print_table(
        ["model", *(f"{test}, {truth}" for test in tests for truth in ("4 % to 4 %", "4 % to 9 %"))], rows
    )
    corrected, plain = family(200)
    print(
        "Three gates on one slice (faithfulness, hallucination, unsupported), no change, 200 cases: "
        f"one at least fails in {rate(corrected)} with Holm's correction, in {rate(plain)} without.\n"
    )
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
