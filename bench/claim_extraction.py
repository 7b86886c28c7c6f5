"""Scores rule-made claims against claims written by people, beside a plain sentence splitter.

    python bench/claim_extraction.py --data DIR

DIR holds kqa/questions_w_answers.jsonl (must-have and nice-to-have statements of an answer) and factcheck_bench/benchmark.jsonl
(answers split into claims). A claim and a statement match when the F1 of their words is at least 0.6; each is used once. The
answers fall into a development half, on which the rules were written, and a test half, by crc32 of their id.
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

from pytest_medfaith.claims.split import extract_claims
from pytest_medfaith.errors import DataError

THRESHOLD = 0.6
RESAMPLES = 2000
_WORD = re.compile(r"[^\W_]+(?:[.,'-][^\W_]+)*")
_ARTICLES = frozenset({"a", "an", "the"})

Extract = Callable[[str, str], list[str]]


@dataclass(frozen=True)
class Answer:
    """An answer, its question, and the claims that people made of it."""

    id: str
    question: str
    text: str
    claims: tuple[str, ...]

    @property
    def half(self) -> str:
        return "test" if zlib.crc32(self.id.encode()) % 2 else "development"


@dataclass(frozen=True)
class Counts:
    """One answer's number of claims made, claims written by people, and matches."""

    made: int
    written: int
    matched: int


def read_kqa(folder: Path) -> Iterator[Answer]:
    for number, row in _rows(folder / "kqa" / "questions_w_answers.jsonl"):
        yield Answer(f"kqa:{number}", row["Question"], row["Free_form_answer"], _kept([*row["Must_have"], *row["Nice_to_have"]]))


def read_factcheck(folder: Path) -> Iterator[Answer]:
    for number, row in _rows(folder / "factcheck_bench" / "benchmark.jsonl"):
        claims = _kept(claim for sentence in row["sentences"].values() for claim in sentence["claims"])
        if claims:
            yield Answer(f"factcheck:{number}", row["prompt"], row["response"], claims)


def _rows(path: Path) -> Iterator[tuple[int, dict]]:
    if not path.is_file():
        raise DataError(f"{path}: no such file; --data names the folder that holds kqa/ and factcheck_bench/")
    with path.open(encoding="utf-8") as lines:
        yield from ((number, json.loads(line)) for number, line in enumerate(lines, start=1))


def _kept(claims) -> tuple[str, ...]:
    return tuple(claim.strip() for claim in claims if claim.strip())


def tokens(text: str) -> Counter[str]:
    return Counter(word for word in _WORD.findall(text.lower()) if word not in _ARTICLES)


def overlap_f1(first: Counter[str], second: Counter[str]) -> float:
    """Returns the F1 of the words two texts share, counted as often as both have them: 0 to 1."""
    total = sum(first.values()) + sum(second.values())
    return 2 * sum((first & second).values()) / total if total else 0.0


def match(made: Sequence[str], written: Sequence[str]) -> int:
    """Returns how many claims match a statement one to one at THRESHOLD, under the best assignment."""
    if not made or not written:
        return 0
    left, right = [tokens(text) for text in made], [tokens(text) for text in written]
    scores = np.array([[overlap_f1(a, b) for b in right] for a in left])
    scores[scores < THRESHOLD] = 0.0
    rows, columns = linear_sum_assignment(scores + (scores > 0), maximize=True)
    return int((scores[rows, columns] > 0).sum())


def extract_all(answers: Sequence[Answer], extract: Extract) -> tuple[list[list[str]], list[float]]:
    """Returns each answer's claims, and the milliseconds of processor time that each answer took."""
    made, times = [], []
    for answer in answers:
        begun = time.process_time()
        made.append(extract(answer.text, answer.question))
        times.append(1000 * (time.process_time() - begun))
    return made, times


def count(answers: Sequence[Answer], made: Sequence[Sequence[str]]) -> list[Counts]:
    return [Counts(len(claims), len(answer.claims), match(claims, answer.claims)) for answer, claims in zip(answers, made, strict=True)]


def summarise(counts: Sequence[Counts], *, seed: int = 0) -> dict[str, tuple[float, float, float]]:
    """Returns name -> (value, low, high) over all claims; 95 % percentile bootstrap over answers."""
    table, picks = _table(counts), _picks(len(counts), seed)
    ratios = table[:, 0] / table[:, 1]
    values = _measures(table.sum(axis=0), ratios.mean())
    resampled = _measures(table[picks].sum(axis=1).T, ratios[picks].mean(axis=1))
    return {name: (float(values[name]), *map(float, np.percentile(resampled[name], [2.5, 97.5]))) for name in values}


def f1_gain(counts: Sequence[Counts], baseline: Sequence[Counts], *, seed: int = 0) -> tuple[float, float, float]:
    """Returns the F1 of `counts` minus that of `baseline`, both of the same answers, with its 95 % paired bootstrap interval."""
    first, second, picks = _table(counts), _table(baseline), _picks(len(counts), seed)
    gain = float(_f1(first.sum(axis=0)) - _f1(second.sum(axis=0)))
    resampled = _f1(first[picks].sum(axis=1).T) - _f1(second[picks].sum(axis=1).T)
    return gain, *map(float, np.percentile(resampled, [2.5, 97.5]))


def _table(counts: Sequence[Counts]) -> np.ndarray:
    return np.array([(c.made, c.written, c.matched) for c in counts], dtype=float)


def _picks(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, n, (RESAMPLES, n))


def _f1(sums: np.ndarray) -> np.ndarray:
    made, written, matched = sums
    return 2 * matched / (made + written)


def _measures(sums: np.ndarray, ratio: np.ndarray) -> dict[str, np.ndarray]:
    made, written, matched = sums
    return {"precision": matched / made, "recall": matched / written, "f1": _f1(sums), "claims/gold": ratio}


def rules(answer: str, question: str) -> list[str]:
    return [claim.text for claim in extract_claims(answer, question=question)]


def sentences(segmenter: Segmenter) -> Extract:
    return lambda answer, _: [piece for line in answer.splitlines() if line.strip() for piece in segmenter.segment(line) if piece.strip()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with kqa/ and factcheck_bench/")
    folder = parser.parse_args().data
    extractors: dict[str, Extract] = {"rules": rules, "pySBD sentences": sentences(Segmenter(language="en", clean=False))}
    for extract in extractors.values():
        extract("It warms up, e.g. here. Dr. A agrees.", "")
    for name, answers in (("K-QA", list(read_kqa(folder))), ("Factcheck-Bench", list(read_factcheck(folder)))):
        for half in ("development", "test"):
            chosen = [answer for answer in answers if answer.half == half]
            print(f"\n{name}, {half} half, {len(chosen)} answers")
            counts = []
            for extractor, extract in extractors.items():
                made, times = extract_all(chosen, extract)
                counts.append(count(chosen, made))
                _show(extractor, summarise(counts[-1]), times)
            print("  F1 gained        {:+.3f} [{:+.3f}, {:+.3f}]".format(*f1_gain(*counts)))


def _show(extractor: str, measures: dict[str, tuple[float, float, float]], times: Sequence[float]) -> None:
    shown = "  ".join(f"{name} {value:.3f} [{low:.3f}, {high:.3f}]" for name, (value, low, high) in measures.items())
    print(f"  {extractor:<16} {shown}  {np.mean(times):.1f} ms an answer, p95 {np.percentile(times, 95):.1f}")


if __name__ == "__main__":
    main()
