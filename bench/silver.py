"""Validates every file of silver pairs and prints what is in it, with how far a claim alone gives its label away.

    python bench/silver.py [FILE ...]        (default: fixtures/silver/*.jsonl)

A line that breaks the format stops it with file and place. The claim-only baseline is TF-IDF and logistic regression on claims without
their evidence, five folds split by item: the nearer to the majority class, the less the claims give away.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from tabulate import tabulate

from pytest_medfaith.distill.pairs import Pair, read_written
from pytest_medfaith.distill.silver import claim_only_baseline, validate_items
from pytest_medfaith.records import LABELS

FOLDER = Path(__file__).parents[1] / "fixtures" / "silver"


def row(name: str, items: int, pairs: list[Pair]) -> list[str]:
    counts = Counter(pair.label for pair in pairs)
    alone = claim_only_baseline(pairs)
    labels = " / ".join(f"{counts[label]:,}" for label in LABELS)
    return [name, f"{items:,}", f"{len(pairs):,}", labels, f"{100 * alone.accuracy:.0f} % ({100 * alone.majority:.0f} %)"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    files = parser.parse_args().files or sorted(FOLDER.glob("*.jsonl"))
    rows, every, total = [], [], 0
    for path in files:
        items, pairs = validate_items(path), list(read_written(path))
        rows.append(row(path.name, items, pairs))
        every += pairs
        total += items
    if len(files) > 1:
        rows.append(row("all", total, every))
    headers = ["file", "items", "pairs", " / ".join(LABELS), "claim alone (majority)"]
    print(tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
