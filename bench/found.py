"""Verdicts on labelled claims: how many errors pass, true claims are refuted, additions are decided.

    python bench/found.py [FILE ...] [--checker NAME] [--rules-off] [--list]

A line of FILE is {"claim", "evidence": text or [text, ...], "label": entail | contradict | neutral, "kind"}.
Without FILE the found set is read (fixtures/found): claims of answers, some with planted errors. An addition
is a claim labelled neutral, since the evidence does not say it. Each figure comes with its number of claims
and a 95 % Wilson interval. `--list` prints every wrong verdict.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from scipy.stats import binomtest

from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.checking.rules import RULE_NAMES
from pytest_medfaith.records import Chunk, Claim, Verdict

FOUND = Path(__file__).parents[1] / "fixtures" / "found" / "newcomer" / "labelled.jsonl"


def read_labelled(path: Path) -> list[dict]:
    """Returns the rows of a file, each with its evidence as a list of texts."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [
        row | {"evidence": [row["evidence"]] if isinstance(row["evidence"], str) else row["evidence"]}
        for row in rows
    ]


def verdicts(checker: Checker, rows: Sequence[dict]) -> list[Verdict]:
    """Returns the verdict on each row's claim over all its evidence."""
    claims = [
        Claim(id=str(i), text=row["claim"], context=row.get("context", "")) for i, row in enumerate(rows)
    ]
    chunks = [
        [Chunk(id=f"context-{j}", text=text) for j, text in enumerate(row["evidence"], start=1)]
        for row in rows
    ]
    scores = checker.score(
        [(claim, chunk) for claim, evidence in zip(claims, chunks, strict=True) for chunk in evidence]
    )
    found: dict[str, list] = {claim.id: [] for claim in claims}
    for score in scores:
        found[score.claim_id].append(score)
    return [
        checker.decide(claim, found[claim.id], evidence)
        for claim, evidence in zip(claims, chunks, strict=True)
    ]


def share(name: str, count: int, total: int) -> str:
    """Returns a line such as "unscored: 1 of 50 = 0.020 [0.004, 0.105]", with Wilson's interval."""
    if not total:
        return f"{name}: none"
    interval = binomtest(count, total).proportion_ci(method="wilson")
    return f"{name}: {count} of {total} = {count / total:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def summary(labels: Sequence[str], said: Sequence[str]) -> list[str]:
    """Returns a line for each figure.

    Args:
        labels: the right labels.
        said: the verdicts, in the same order.
    """

    def count(label: str, *words: str) -> tuple[int, int]:
        of_label = [word for right, word in zip(labels, said, strict=True) if right == label]
        return sum(word in words for word in of_label), len(of_label)

    refuted = [right for right, word in zip(labels, said, strict=True) if word == "refuted"]
    return [
        share("errors called supported", *count("contradict", "supported")),
        share("true claims refuted", *count("entail", "refuted")),
        share("true claims supported", *count("entail", "supported")),
        share("additions decided", *count("neutral", "supported", "refuted")),
        share("refutations right", sum(right == "contradict" for right in refuted), len(refuted)),
        share("unscored", sum(word == "unscored" for word in said), len(said)),
    ]


def main() -> None:
    """Prints the figures of each file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, default=[FOUND])
    parser.add_argument("--checker", default="default")
    parser.add_argument("--rules-off", action="store_true", help="the model alone")
    parser.add_argument("--list", action="store_true", help="print every wrong verdict")
    arguments = parser.parse_args()
    checker = load_checker(arguments.checker, rules_off=RULE_NAMES if arguments.rules_off else ())
    right = {"entail": "supported", "contradict": "refuted", "neutral": "unsupported"}
    for path in arguments.files:
        rows = read_labelled(path)
        said = verdicts(checker, rows)
        print(f"{path.name}, n {len(rows)}")
        figures = summary([row["label"] for row in rows], [verdict.label for verdict in said])
        print("\n".join("  " + line for line in figures))
        for row, verdict in zip(rows, said, strict=True):
            if arguments.list and verdict.label != right[row["label"]]:
                rules = ", ".join(finding.rule for finding in verdict.findings)
                called = f"{row['label']} ({row.get('kind', '')}) called {verdict.label}"
                print(f"  {called} {verdict.score:.2f} {rules}: {row['claim']}")


if __name__ == "__main__":
    main()
