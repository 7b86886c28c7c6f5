"""Shards, the parts of a run that a CI matrix runs side by side: which cases each runs, what it leaves.

The hash of a case's id decides its shard, as pytest-shard does with node ids. So a new case moves no other
case, and all tests, retrievers and checkers of a case are in one shard. Shards are numbered from 1 (2/5), as
in Playwright, Jest and GitLab.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_medfaith.errors import DataError
from pytest_medfaith.gates.expressions import compared_metrics, parse_gate

if TYPE_CHECKING:
    from pytest_medfaith.run.options import Options
    from pytest_medfaith.run.resources import Resources


@dataclass(frozen=True)
class Shard:
    """A part of a run: number `index`, from 1, of `of` parts."""

    index: int
    of: int

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    def holds(self, name: str) -> bool:
        """Returns whether the case or test called `name` runs in this shard."""
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.index - 1


def parse_shard(text: str) -> Shard:
    """Returns the shard that a text such as "2/5" names.

    Raises:
        DataError: it names none.
    """
    index, slash, of = text.partition("/")
    numbers = [int(part) if part.isascii() and part.isdecimal() else 0 for part in (index, of)]
    if not slash or not 1 <= numbers[0] <= numbers[1]:
        raise DataError(f"--medfaith-shard is {text!r}; expected a shard of all, such as 2/5, the first 1/5")
    return Shard(*numbers)


def check_shard(options: Options) -> None:
    """Raises DataError for options that a shard cannot follow.

    A shard needs a run folder, without which its gates would never be judged. It can neither write the
    baseline nor audit, since it holds only a part of the cases.
    """
    if options.shard is None:
        return
    if options.report is None:
        raise DataError(
            f"--medfaith-shard {options.shard} is given without --medfaith-report DIR; expected a run folder "
            "for each shard, since gates are judged by: medfaith merge DIR..."
        )
    for name, is_given in (("update-baseline", options.update_baseline), ("audit", options.audit)):
        if is_given:
            raise DataError(
                f"--medfaith-{name} is given with --medfaith-shard {options.shard}, and a shard holds a part "
                f"of the cases; leave it out here"
                + (", and give --update-baseline to: medfaith merge" if name == "update-baseline" else "")
            )


def shard_record(
    resources: Resources, whole: Sequence[Mapping[str, Any]], errors: Sequence[str]
) -> dict[str, Any]:
    """Returns what `medfaith merge` must know of a shard, as plain values.

    Args:
        resources: of the run.
        whole: what all shards together expect (`Collected.sorted_values`).
        errors: why the shard is unusable.
    """
    shard = resources.options.shard
    assert shard is not None  # noqa: S101 - the caller asked
    gates = {gate for row in whole for told in row["gates"].values() for gate in told}
    compares = compared_metrics([parse_gate(gate, resources.metrics) for gate in sorted(gates)])
    return {
        "index": shard.index,
        "of": shard.of,
        "expected": list(whole),
        "baseline": baseline_digest(resources) if compares else "",
        "errors": list(errors),
    }


def baseline_digest(resources: Resources) -> str:
    """Returns a hash of the baseline file; "" where there is none."""
    path = resources.baseline_path
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
