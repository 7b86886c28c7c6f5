"""Checks every file of silver pairs, and prints what is in it and how far claims give their labels away.

    python bench/silver.py [FILE ...] [--data DIR]

Without FILE the files of data/silver, published, turned, clusters and answers are read. A malformed line
stops the script with file and place. Labels are guessed from claims without their evidence, by TF-IDF and
logistic regression over five folds split by item. The less the accuracy exceeds the share of the most
frequent label, the less the claims give away. With `--data`, the script instead names the items whose
evidence shares nine words in a row with an evaluation set (HealthVer, Check-COVID, SciFact): such texts were
remembered, not written.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tabulate import tabulate

from pytest_medfaith.records import LABELS
from training.pairs import Pair, json_lines
from training.silver import claim_only_baseline, validate_clusters, validate_items, word_runs

DATA = Path(__file__).parents[1] / "data"


def row(name: str, items: int, pairs: list[Pair]) -> list[str]:
    """Returns a row of the table about some pairs."""
    counts = Counter(pair.label for pair in pairs)
    alone = claim_only_baseline(pairs)
    labels = " / ".join(f"{counts[label]:,}" for label in LABELS)
    share = f"{100 * alone.accuracy:.0f} % ({100 * alone.majority:.0f} %)"
    return [name, f"{items:,}", f"{len(pairs):,}", labels, share]


def claims_of(path: Path) -> Iterator[Pair]:
    """Yields each claim of a file under each of its labels, without evidence."""
    for number, item in enumerate(json_lines(path)):
        if "texts" in item:
            yield from (
                Pair("", claim["text"], label, path.stem, str(number))
                for claim in item["claims"]
                for label in claim["labels"]
            )
            continue
        for label in ("label", "alt_label"):
            yield from (
                Pair("", claim["text"], claim[label], path.stem, item["id"]) for claim in item["claims"]
            )


def evaluation_texts(data: Path) -> Iterator[str]:
    """Yields the evidence of the public sets on which the checker is measured."""
    for path in sorted((data / "healthver").glob("*.csv")):
        with path.open(encoding="utf-8-sig", newline="") as rows:
            yield from (row["evidence"] for row in csv.DictReader(rows))
    for path in (data / "check_covid" / "corpus.json", data / "scifact" / "corpus.jsonl"):
        yield from (" ".join(row["abstract"]) for row in json_lines(path))


def remembered(files: Sequence[Path], data: Path) -> Iterator[str]:
    """Yields "ID: WORDS" for every item that shares nine words in a row with an evaluation text."""
    runs = set().union(*map(word_runs, evaluation_texts(data)))
    for path in files:
        for item in json_lines(path):
            shared = word_runs(item.get("evidence", "")) & runs
            if shared:
                yield f"{item['id']}: {min(shared)}"


def main() -> None:
    """Prints the table, or with --data the items that were remembered."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    files = arguments.files or [
        file
        for folder in ("silver", "published", "turned", "clusters", "answers")
        for file in sorted((DATA / folder).glob("*.jsonl"))
    ]
    if arguments.data:
        print(*remembered(files, arguments.data), sep="\n")
        return
    rows, every, total = [], [], 0
    for path in files:
        validate = validate_clusters if path.parent.name in ("clusters", "answers") else validate_items
        items, pairs = validate(path), list(claims_of(path))
        rows.append(row(f"{path.parent.name}/{path.name}", items, pairs))
        every += pairs
        total += items
    if len(files) > 1:
        rows.append(row("all", total, every))
    headers = ["file", "items", "pairs", " / ".join(LABELS), "claim alone (majority)"]
    print(tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
