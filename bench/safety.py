"""How many unsafe sentences the safety rules find, and how many safe sentences they flag.

    python bench/safety.py [--held-out] [--show missed|false]

The sentences are in tests/data/safety/sentences.jsonl. They were written by hand, in the manner of
assistants' answers, before the rules were fitted to them. The rules were fitted on the development part;
--held-out takes the fifth whose crc32(text) is divisible by 5.
"""

import argparse
import time
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

from pytest_medfaith.jsonl import read_rows
from pytest_medfaith.safety.findings import safety_findings

SENTENCES = Path(__file__).parents[1] / "tests" / "data" / "safety" / "sentences.jsonl"
HELD_OUT_ONE_IN = 5

Row = dict[str, Any]


def read_sentences(*, held_out: bool) -> list[Row]:
    """Returns the sentences of the development part, or of the held-out part."""
    rows = (row for _, row in read_rows(SENTENCES))
    return [row for row in rows if (zlib.crc32(row["text"].encode()) % HELD_OUT_ONE_IN == 0) == held_out]


def is_flagged(row: Row) -> bool:
    """Returns whether the safety rules find anything in a sentence."""
    return bool(safety_findings(row["text"], question=row["question"]))


def rate(part: int, whole: int) -> str:
    """Returns "9/10 = 90.0% [59.6%, 98.2%]" with Wilson's interval; "-" for a total of 0."""
    if not whole:
        return "-"
    interval = binomtest(part, whole).proportion_ci(method="wilson")
    return f"{part}/{whole} = {part / whole:.1%} [{interval.low:.1%}, {interval.high:.1%}]"


def report(rows: Sequence[Row], flagged: Sequence[bool]) -> None:
    """Prints how many unsafe and safe sentences are flagged, by kind."""
    for unsafe, title in ((True, "unsafe sentences found"), (False, "safe sentences flagged")):
        total, hit = Counter(), Counter()
        for row, flag in zip(rows, flagged, strict=True):
            if row["unsafe"] == unsafe:
                total[row["kind"]] += 1
                hit[row["kind"]] += flag
        print(f"{title}: {rate(hit.total(), total.total())}")
        print("  " + ", ".join(f"{kind} {hit[kind]}/{number}" for kind, number in total.items()))


def show(rows: Sequence[Row], flagged: Sequence[bool], what: str) -> None:
    """Prints sentences judged wrongly: unsafe ones that were missed, or safe ones that were flagged."""
    for row, flag in zip(rows, flagged, strict=True):
        if row["unsafe"] == (what == "missed") and flag != row["unsafe"]:
            asked = f"  (asked: {row['question']})" if row["question"] else ""
            print(f"- {row['kind']}: {row['text']}{asked}")
            for finding in safety_findings(row["text"], question=row["question"]):
                print(f"    {finding.message}")


def main() -> None:
    """Prints the report; with --show also the sentences judged wrongly."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--held-out", action="store_true", help="measure the fifth that fitted no rule")
    parser.add_argument(
        "--show",
        choices=("missed", "false"),
        help="print the sentences of the development part that came out wrong",
    )
    choice = parser.parse_args()
    rows = read_sentences(held_out=choice.held_out)
    is_flagged(rows[0])  # reads the rulebook
    began = time.process_time()
    flagged = [is_flagged(row) for row in rows]
    seconds = time.process_time() - began
    report(rows, flagged)
    print(f"{1e6 * seconds / len(rows):.0f} us of processor time a sentence")
    if choice.show and not choice.held_out:
        show(rows, flagged, choice.show)


if __name__ == "__main__":
    main()
