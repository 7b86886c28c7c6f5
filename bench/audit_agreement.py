"""Compares the audit's recall with the recall on the found set: does the audit foretell which errors pass?

    python bench/audit_agreement.py [--checker NAME] [--corpus FOLDER] [--seeds N] [--rules-off]

The found set (fixtures/found) holds claims of answers, some with planted errors. Two figures of the audit are
printed beside its recall, each with whether it is within 10 points. The first weighs all strata alike. The
second weighs kinds of error as the found set holds them: mostly numbers, no trial arm, no attribution.
Negation and drug have no stratum; in the second figure they are those of the near-copies, which are easier.
The found set is small and rules were developed on it, so it flatters a checker with rules.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parent))

from found import FOUND, read_labelled, share, verdicts

from pytest_medfaith import defaults
from pytest_medfaith.audit.run import audit_checker
from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.checking.rules import RULE_NAMES
from pytest_medfaith.jsonl import read_chunks
from pytest_medfaith.metrics.audit import CAUGHT

SAMPLES = Path(__file__).parents[1] / "corpus_samples"
BAR = 0.10
# {kind of error in the found set: the audit's metric of the same kind}.
KINDS = {
    "error: number": "audit.caught.number",
    "error: dose": "audit.caught.number",
    "error: dose in table": "audit.caught.number",
    "error: statistic": "audit.caught.number",
    "error: frequency": "audit.caught.number",
    "error: duration": "audit.caught.duration",
    "error: route": "audit.caught.route",
    "error: condition": "audit.caught.condition",
    "error: drug order": "audit.caught.order",
    "error: drug": "audit.recall.drug_swap",
    "error: negation": "audit.recall.negation",
}


def found_recall(checker: Checker, path: Path) -> tuple[int, int, Counter[str]]:
    """Returns (errors caught, errors scored, {kind: how many errors}).

    Additions, which are labelled neutral, do not count as errors.
    """
    rows = [row for row in read_labelled(path) if row["label"] == "contradict"]
    said = [verdict.label for verdict in verdicts(checker, rows)]
    scored = [label for label in said if label != "unscored"]
    return sum(label != "supported" for label in scored), len(scored), Counter(row["kind"] for row in rows)


def audit_recalls(checker: Checker, corpus: Path, seeds: Sequence[int]) -> dict[str, float]:
    """Returns {metric: mean over `seeds` of the share that the audit measured}."""
    measured = [
        audit_checker(checker, read_chunks([corpus]), limit=defaults.AUDIT_LIMIT, seed=seed).metrics
        for seed in seeds
    ]
    names = [name for name in measured[0] if all(metrics[name].value is not None for metrics in measured)]
    return {name: fmean(metrics[name].value for metrics in measured) for name in names}


def weighed(recalls: Mapping[str, float], kinds: Mapping[str, int]) -> float:
    """Returns the audit's recall, with kinds of error weighed by their numbers in `kinds`.

    Raises:
        ValueError: the audit has no metric for a kind.
    """
    unknown = sorted(kind for kind in kinds if KINDS.get(kind) not in recalls)
    if unknown:
        raise ValueError(
            f"the audit measured nothing of the kinds {unknown}; "
            f"expected kinds of {sorted(KINDS)}, or add them to KINDS"
        )
    return sum(number * recalls[KINDS[kind]] for kind, number in kinds.items()) / sum(kinds.values())


def beside(name: str, recall: float, found: float) -> str:
    """Returns a line: `recall`, its difference to the found set's recall, and whether that is within BAR."""
    difference = recall - found
    within = "within" if abs(difference) <= BAR else "not within"
    return f"{name}: {recall:.3f}, {difference:+.3f}, {within} {BAR:.2f}"


def main() -> None:
    """Prints both recalls of the audit beside the found set's."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checker", default="default")
    parser.add_argument("--corpus", type=Path, default=SAMPLES)
    parser.add_argument("--seeds", type=int, default=1, help="audits with seeds from 0 on")
    parser.add_argument("--rules-off", action="store_true", help="the model alone")
    parser.add_argument("--cache", type=Path, help="SQLite file of kept scores")
    arguments = parser.parse_args()
    checker = load_checker(
        arguments.checker, cache=arguments.cache, rules_off=RULE_NAMES if arguments.rules_off else ()
    )
    caught, total, kinds = found_recall(checker, FOUND)
    recalls = audit_recalls(checker, arguments.corpus, range(arguments.seeds))
    print(share("found set, errors caught", caught, total))
    print(beside("audit, all strata alike", recalls[CAUGHT], caught / total))
    print(beside("audit, kinds in the found set's shares", weighed(recalls, kinds), caught / total))
    for kind, number in sorted(kinds.items()):
        print(f"  {kind} ({number}): {KINDS[kind]} {recalls[KINDS[kind]]:.3f}")


if __name__ == "__main__":
    main()
