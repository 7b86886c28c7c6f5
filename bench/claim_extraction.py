"""Compares claims made by the rules with claims written by people, beside a plain sentence splitter.

    python bench/claim_extraction.py --data DIR [--match words] [--match checker]
    python bench/claim_extraction.py --data DIR --match words --extractor students/tagger --half development

With --extractor the claims of a student are compared beside those of the rules.

DIR holds kqa/questions_w_answers.jsonl (must-have and nice-to-have statements of an answer) and
factcheck_bench/benchmark.jsonl (answers split into claims). Each claim is matched with at most one statement,
so that as many as possible match. By words, the two match if the F1 of their words is at least 0.6; by the
checker, if each of the two supports the other, medical rules included. Pairs that share less than a fifth of
their words are not shown to the checker. By crc32 of their ids answers are in a development half, on which
the rules were written, or a test half.
"""

from __future__ import annotations

import argparse
import json
import re
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pysbd import Segmenter
from scipy.optimize import linear_sum_assignment

from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.claims.split import extract_claims
from pytest_medfaith.claims.student import folder_extractor
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk, Claim

THRESHOLD = 0.6
WORTH_CHECKING = 0.2  # F1 of words; two statements that say the same share at least a name
RESAMPLES = 2000
HALVES = ("development", "test")
_WORD = re.compile(r"[^\W_]+(?:[.,'-][^\W_]+)*")
_ARTICLES = frozenset({"a", "an", "the"})

Extract = Callable[[str, str], list[str]]
Texts = Sequence[str]
# (claims made, claims written) of each answer -> how many match
Match = Callable[[Sequence[tuple[Texts, Texts]]], list[int]]


@dataclass(frozen=True)
class Answer:
    """An answer, its question, and the claims that people made of it."""

    id: str
    question: str
    text: str
    claims: tuple[str, ...]

    @property
    def half(self) -> str:
        """The half that the answer is in: "development" or "test"."""
        return "test" if zlib.crc32(self.id.encode()) % 2 else "development"


@dataclass(frozen=True)
class Counts:
    """Of an answer: how many claims were made by the extractor, written by people, and matched."""

    made: int
    written: int
    matched: int


def read_kqa(folder: Path) -> Iterator[Answer]:
    """Yields K-QA's answers with physicians' statements."""
    for number, row in _rows(folder / "kqa" / "questions_w_answers.jsonl"):
        claims = _kept([*row["Must_have"], *row["Nice_to_have"]])
        yield Answer(f"kqa:{number}", row["Question"], row["Free_form_answer"], claims)


def read_factcheck(folder: Path) -> Iterator[Answer]:
    """Yields Factcheck-Bench's answers with annotators' claims; answers without claims are left out."""
    for number, row in _rows(folder / "factcheck_bench" / "benchmark.jsonl"):
        claims = _kept(claim for sentence in row["sentences"].values() for claim in sentence["claims"])
        if claims:
            yield Answer(f"factcheck:{number}", row["prompt"], row["response"], claims)


def _rows(path: Path) -> Iterator[tuple[int, dict]]:
    """Yields (line number from 1, row) of a JSON Lines file; DataError if there is none."""
    if not path.is_file():
        raise DataError(f"{path}: no such file; --data names the folder that holds kqa/ and factcheck_bench/")
    with path.open(encoding="utf-8") as lines:
        yield from ((number, json.loads(line)) for number, line in enumerate(lines, start=1))


def _kept(claims) -> tuple[str, ...]:
    """Returns the claims that hold text, stripped."""
    return tuple(claim.strip() for claim in claims if claim.strip())


def tokens(text: str) -> Counter[str]:
    """Returns how often each word is in `text`, in lower case and without articles."""
    return Counter(word for word in _WORD.findall(text.lower()) if word not in _ARTICLES)


def overlap_f1(first: Counter[str], second: Counter[str]) -> float:
    """Returns the F1 of the words that two texts share, counted as often as both have them: 0 to 1."""
    total = sum(first.values()) + sum(second.values())
    return 2 * sum((first & second).values()) / total if total else 0.0


def overlaps(made: Texts, written: Texts) -> np.ndarray:
    """Returns the F1 of the words of each claim with each statement: float (claims, statements)."""
    left, right = [tokens(text) for text in made], [tokens(text) for text in written]
    return np.array([[overlap_f1(a, b) for b in right] for a in left]).reshape(len(left), len(right))


def assigned(matches: np.ndarray) -> int:
    """Returns how many claims can be matched if each claim and each statement is used at most once.

    `matches` holds, as booleans (claims, statements), which may be matched.
    """
    rows, columns = linear_sum_assignment(matches, maximize=True)
    return int(matches[rows, columns].sum())


def match_words(answers: Sequence[tuple[Texts, Texts]]) -> list[int]:
    """Returns, for each answer, how many claims match by their words."""
    return [assigned(overlaps(made, written) >= THRESHOLD) for made, written in answers]


class CheckerMatch:
    """Matches claims that the checker calls supported in both directions.

    Attributes:
        checker: the shipped checker.
        pairs: how many pairs it scored.
        seconds: how long that took.
    """

    def __init__(self) -> None:
        self.checker = load_checker()
        self.pairs = 0
        self.seconds = 0.0

    def __call__(self, answers: Sequence[tuple[Texts, Texts]]) -> list[int]:
        """Returns, for each answer, how many claims match."""
        begun = time.perf_counter()
        matches = [overlaps(made, written) >= WORTH_CHECKING for made, written in answers]
        for both in (lambda made, written: (made, written), lambda made, written: (written, made)):
            places = [
                (number, *place)
                for number, table in enumerate(matches)
                for place in zip(*table.nonzero(), strict=True)
            ]
            texts = [
                both(answers[number][0][row], answers[number][1][column]) for number, row, column in places
            ]
            for (number, row, column), supported in zip(places, self.supported(texts), strict=True):
                matches[number][row, column] = supported
        self.seconds += time.perf_counter() - begun
        return [assigned(table) for table in matches]

    def supported(self, texts: Sequence[tuple[str, str]]) -> list[bool]:
        """Returns for each (claim, evidence) whether the evidence supports the claim."""
        pairs = [
            (Claim(id="claim", text=claim), Chunk(id="evidence", text=evidence)) for claim, evidence in texts
        ]
        scores = self.checker.score(pairs)
        self.pairs += len(set(texts))
        return [
            self.checker.decide(claim, [score], [chunk]).label == "supported"
            for (claim, chunk), score in zip(pairs, scores, strict=True)
        ]


def extract_all(answers: Sequence[Answer], extract: Extract) -> tuple[list[list[str]], list[float]]:
    """Returns (the claims of each answer, processor milliseconds of each answer)."""
    made, times = [], []
    for answer in answers:
        begun = time.process_time()
        made.append(extract(answer.text, answer.question))
        times.append(1000 * (time.process_time() - begun))
    return made, times


def count(answers: Sequence[Answer], made: Sequence[Texts], match: Match = match_words) -> list[Counts]:
    """Returns, for each answer, how many claims were made, written and matched."""
    pairs = [(claims, answer.claims) for answer, claims in zip(answers, made, strict=True)]
    return [
        Counts(len(claims), len(written), matched)
        for (claims, written), matched in zip(pairs, match(pairs), strict=True)
    ]


def summarise(counts: Sequence[Counts], *, seed: int = 0) -> dict[str, tuple[float, float, float]]:
    """Returns {measure: (value, low, high)} over all claims, with 95 % bootstrap intervals over answers.

    The measures are precision, recall, f1 and claims/gold: claims made for each claim written.
    """
    table, picks = _table(counts), _picks(len(counts), seed)
    ratios = table[:, 0] / table[:, 1]
    values = _measures(table.sum(axis=0), ratios.mean())
    resampled = _measures(table[picks].sum(axis=1).T, ratios[picks].mean(axis=1))
    return {
        name: (float(values[name]), *map(float, np.percentile(resampled[name], [2.5, 97.5])))
        for name in values
    }


def f1_gain(
    counts: Sequence[Counts], baseline: Sequence[Counts], *, seed: int = 0
) -> tuple[float, float, float]:
    """Returns (F1 of `counts` minus F1 of `baseline`, low, high): a 95 % paired bootstrap over answers.

    Both are of the same answers.
    """
    first, second, picks = _table(counts), _table(baseline), _picks(len(counts), seed)
    gain = float(_f1(first.sum(axis=0)) - _f1(second.sum(axis=0)))
    resampled = _f1(first[picks].sum(axis=1).T) - _f1(second[picks].sum(axis=1).T)
    return gain, *map(float, np.percentile(resampled, [2.5, 97.5]))


def _table(counts: Sequence[Counts]) -> np.ndarray:
    """Returns made, written and matched as float (answers, 3)."""
    return np.array([(c.made, c.written, c.matched) for c in counts], dtype=float)


def _picks(n: int, seed: int) -> np.ndarray:
    """Returns the places of answers in each resample: int (RESAMPLES, n)."""
    return np.random.default_rng(seed).integers(0, n, (RESAMPLES, n))


def _f1(sums: np.ndarray) -> np.ndarray:
    """Returns F1 from sums of claims made, written and matched."""
    made, written, matched = sums
    return 2 * matched / (made + written)


def _measures(sums: np.ndarray, ratio: np.ndarray) -> dict[str, np.ndarray]:
    """Returns the measures from sums of claims made, written and matched."""
    made, written, matched = sums
    return {"precision": matched / made, "recall": matched / written, "f1": _f1(sums), "claims/gold": ratio}


def rules(answer: str, question: str) -> list[str]:
    """Returns the claims that the shipped rules make of an answer."""
    return [claim.text for claim in extract_claims(answer, question=question)]


def sentences(segmenter: Segmenter) -> Extract:
    """Returns an extractor that takes each sentence as a claim."""
    return lambda answer, _: [
        piece
        for line in answer.splitlines()
        if line.strip()
        for piece in segmenter.segment(line)
        if piece.strip()
    ]


def student(folder: Path) -> Extract:
    """Returns the extractor in a folder: the student, completed by the rules."""
    extract, _ = folder_extractor(folder)
    return lambda answer, question: [claim.text for claim in extract(answer, question=question)]


def main() -> None:
    """Prints, for each data set and half, the measures of each extractor."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with kqa/ and factcheck_bench/")
    parser.add_argument(
        "--match",
        action="append",
        choices=("words", "checker"),
        help="both, where left out; the checker takes minutes",
    )
    parser.add_argument("--extractor", type=Path, help="the folder of a student, beside the rules")
    parser.add_argument("--half", action="append", choices=HALVES, help="both, where left out")
    options = parser.parse_args()
    matches: dict[str, Match] = {
        name: match_words if name == "words" else CheckerMatch()
        for name in options.match or ("words", "checker")
    }
    extractors: dict[str, Extract] = (
        {options.extractor.name: student(options.extractor), "rules": rules}
        if options.extractor
        else {"rules": rules, "pySBD sentences": sentences(Segmenter(language="en", clean=False))}
    )
    for extract in extractors.values():
        extract("It warms up, e.g. here. Dr. A agrees.", "")
    for name, answers in (
        ("K-QA", list(read_kqa(options.data))),
        ("Factcheck-Bench", list(read_factcheck(options.data))),
    ):
        for half in options.half or HALVES:
            chosen = [answer for answer in answers if answer.half == half]
            print(f"\n{name}, {half} half, {len(chosen)} answers")
            _show_half(chosen, extractors, matches)
    for matcher in matches.values():
        if isinstance(matcher, CheckerMatch):
            per_pair = 1000 * matcher.seconds / max(1, matcher.pairs)
            print(f"\nchecker: {matcher.pairs:,} pairs in {matcher.seconds:.0f} s, {per_pair:.1f} ms a pair")


def _show_half(answers: Sequence[Answer], extractors: dict[str, Extract], matches: dict[str, Match]) -> None:
    """Prints the measures, the gain in F1 and the times for some answers."""
    extracted = {name: extract_all(answers, extract) for name, extract in extractors.items()}
    for match_name, match in matches.items():
        print(f" matched by {match_name}")
        counts = {name: count(answers, made, match) for name, (made, _) in extracted.items()}
        for name in extractors:
            _show(name, summarise(counts[name]))
        print("  F1 gained        {:+.3f} [{:+.3f}, {:+.3f}]".format(*f1_gain(*counts.values())))
    for name, (_, times) in extracted.items():
        print(f"  {name:<16} {np.mean(times):.1f} ms an answer, p95 {np.percentile(times, 95):.1f}")


def _show(extractor: str, measures: dict[str, tuple[float, float, float]]) -> None:
    """Prints the measures of an extractor in a line."""
    shown = "  ".join(
        f"{name} {value:.3f} [{low:.3f}, {high:.3f}]" for name, (value, low, high) in measures.items()
    )
    print(f"  {extractor:<16} {shown}", flush=True)


if __name__ == "__main__":
    main()
