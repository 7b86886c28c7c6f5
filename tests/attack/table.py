"""Writes the table of tries and failures per kind into docs/soundness.md.

python tests/attack/table.py
"""

# ruff: noqa: T201 - a script; it says what it wrote
from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from kinds import KINDS, Kind

PAGE = Path(__file__).parents[2] / "docs" / "soundness.md"
_TABLE = re.compile(r"(?<=<!-- tries -->\n\n).*?(?=\n\n<!-- end of tries -->)", re.DOTALL)
_ROW = re.compile(r"^\| (?P<name>[^|]+) \| [^|]+ \| (?P<tries>\d+) \| (?P<failures>\d+) \|$", re.MULTILINE)


def failures(kind: Kind) -> tuple[int, list[tuple[str, str]]]:
    """Returns the number of tries and, for each with a wrong result, the try and what is wrong."""
    tries = kind.tries()
    results = [(ascii(attack), kind.failure(attack)) for attack in tries]
    return len(tries), [(attack, wrong) for attack, wrong in results if wrong]


def counts_on_page() -> dict[str, tuple[int, int]]:
    """Returns tries and failures per kind as the page says them."""
    return {
        row["name"]: (int(row["tries"]), int(row["failures"]))
        for row in _ROW.finditer(PAGE.read_text(encoding="utf-8"))
    }


def main() -> None:
    """Makes every try, prints those that went wrong and writes the page."""
    rows = ["| kind | right result | tries | failures |", "|---|---|--:|--:|"]
    for kind in KINDS:
        tries, wrong = failures(kind)
        rows.append(f"| {kind.name} | {kind.right} | {tries} | {len(wrong)} |")
        for attack, why in wrong:
            print(f"{kind.name}: {why}: {attack}")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_TABLE.sub(lambda _: "\n".join(rows), page), encoding="utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
