"""Processor time of an answer with the default checker, as a multiple of the time with `fast`.

    python bench/answer_cost.py [--rounds 3] [--windows 3 4]

An answer has 10 claims against 20 chunks of 500 tokens of the sample corpora, other texts in each round.
Nothing is cached. The checkers take turns in each round, so that other work on the machine slows all of them.
Printed are the seconds of each round and the median of the ratios. --windows adds the default checker with
fewer windows of evidence for the strong model than its card says.
"""

import argparse
import statistics
import time
from dataclasses import replace

from speed import CHUNKS, answer, forget_texts

from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.records import Chunk, Claim


def contestants(windows: list[int]) -> dict[str, Checker]:
    """Returns checkers without a cache by name, `fast` first; their models are loaded."""
    fast, default = (replace(load_checker(name), cache=None) for name in ("fast", "default"))
    found = {"fast": fast, "default": default}
    for count in windows:
        found[f"default, {count} windows"] = replace(default, cascade=replace(default.cascade, windows=count))
    for checker in found.values():
        checker("Iron helps.", [Chunk(id="warm", text="Iron helps adults.")])
    return found


def cost(checker: Checker, claims: list[Claim], chunks: list[Chunk]) -> float:
    """Returns the seconds of processor time until each claim has its verdict."""
    forget_texts()
    began = time.process_time()
    scores = checker.score([(claim, chunk) for claim in claims for chunk in chunks])
    for number, claim in enumerate(claims):
        checker.decide(claim, scores[number * CHUNKS : (number + 1) * CHUNKS], chunks)
    return time.process_time() - began


def main() -> None:
    """Prints the seconds of each round and the median ratio to `fast`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--windows", type=int, nargs="*", default=[])
    arguments = parser.parse_args()
    checkers = contestants(arguments.windows)
    seconds: dict[str, list[float]] = {name: [] for name in checkers}
    names = list(checkers)
    for number in range(arguments.rounds):
        claims, chunks = answer(number)
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            seconds[name].append(cost(checkers[name], claims, chunks))
        print(
            f"round {number}: " + ", ".join(f"{name} {seconds[name][-1]:.1f} s" for name in names), flush=True
        )
    for name in names[1:]:
        ratios = [mine / theirs for mine, theirs in zip(seconds[name], seconds["fast"], strict=True)]
        print(f"{name}: {statistics.median(ratios):.2f} times the processor time of fast")


if __name__ == "__main__":
    main()
