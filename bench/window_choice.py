"""How often the windows, or sentences, chosen for a claim hold a sentence that proves or refutes it.

    python bench/window_choice.py --data DIR [--parts sentences] [--encoder FILE.onnx]

They are chosen by shared words, by the encoder, and by both: `both` adds `--words` times the share of covered
words (0 to 1) to the cosine. The claims are SciFact's training claims, with the abstracts that decide them.
An abstract of a single window, or sentence, is left out, since there is nothing to choose. The 95 % intervals
are over pairs of claim and abstract.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.metrics.bootstrap import percentile_interval, resampled_counts
from pytest_medfaith.models.onnx import embed_texts
from pytest_medfaith.models.shipped import ENCODER
from pytest_medfaith.scoring.windows import Window, coverage, evidence_windows
from training.pairs import json_lines


@dataclass(frozen=True)
class Choice:
    """A claim, and the parts of an abstract to choose from.

    Attributes:
        claim: the statement.
        text: of the abstract.
        windows: its windows, or sentences.
        holds: for each, whether it holds a whole sentence of the proof.
    """

    claim: str
    text: str
    windows: tuple[Window, ...]
    holds: tuple[bool, ...]


def choices(data: Path, parts: str) -> Iterator[Choice]:
    """Yields the choices of SciFact; `parts` is "windows" or "sentences"."""
    corpus = {doc["doc_id"]: doc["abstract"] for doc in json_lines(data / "scifact" / "corpus.jsonl")}
    for row in json_lines(data / "scifact" / "claims_train.jsonl"):
        for doc, found in row["evidence"].items():
            sentences = [sentence.strip() for sentence in corpus[int(doc)]]
            ends = np.cumsum([len(sentence) + 1 for sentence in sentences])
            proof = [
                (int(ends[i]) - len(sentences[i]) - 1, int(ends[i]) - 1)
                for rationale in found
                for i in rationale["sentences"]
            ]
            text = " ".join(sentences)
            windows = (
                evidence_windows(text)
                if parts == "windows"
                else tuple(Window(text[a:b], a, b) for a, b in sentence_spans(text))
            )
            holds = tuple(any(window.start <= a and b <= window.end for a, b in proof) for window in windows)
            if len(windows) > 1 and any(holds):
                yield Choice(row["claim"], text, windows, holds)


def scores(found: list[Choice], model: Path, share: float) -> dict[str, list[np.ndarray]]:
    """Returns {way of choosing: for each choice, the scores of its windows}."""
    texts = list(dict.fromkeys(window.text for choice in found for window in choice.windows))
    claims = list(dict.fromkeys(choice.claim for choice in found))
    began = time.perf_counter()
    vectors = dict(zip([*texts, *claims], embed_texts([*texts, *claims], model=model), strict=True))
    print(f"{len(texts)} parts and {len(claims)} claims embedded in {time.perf_counter() - began:.1f} s")
    words = [
        np.array([coverage(choice.claim, window.text, of=choice.text) for window in choice.windows])
        for choice in found
    ]
    cosines = [
        np.array([vectors[window.text] @ vectors[choice.claim] for window in choice.windows])
        for choice in found
    ]
    return {
        "words": words,
        "encoder": cosines,
        "both": [share * a + b for a, b in zip(words, cosines, strict=True)],
    }


def hits(found: list[Choice], scored: list[np.ndarray], most: int) -> np.ndarray:
    """Returns for each choice 1 if any of its `most` best windows holds a sentence of the proof, else 0."""
    return np.array(
        [
            float(any(choice.holds[i] for i in np.argsort(-values, kind="stable")[:most]))
            for choice, values in zip(found, scored, strict=True)
        ]
    )


def main() -> None:
    """Prints, for the best one and two windows, how often each way of choosing is right."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--parts", choices=["windows", "sentences"], default="windows")
    parser.add_argument("--encoder", type=Path, default=ENCODER)
    parser.add_argument(
        "--words", type=float, default=1.0, help="weight of the words beside the cosine in `both`"
    )
    arguments = parser.parse_args()
    found = list(choices(arguments.data, arguments.parts))
    mean = sum(len(choice.windows) for choice in found) / len(found)
    print(f"{len(found)} pairs, {mean:.1f} {arguments.parts} each")
    by_way = scores(found, arguments.encoder, arguments.words)
    for most in (1, 2):
        by_words = hits(found, by_way["words"], most)
        for way, scored in by_way.items():
            values = hits(found, scored, most)
            for what, column in (("", values), (" less that of words", values - by_words)):
                sums = np.concatenate([counts @ column for counts in resampled_counts(len(column))])
                low, high = percentile_interval(sums / len(column))
                print(f"best {most} by {way}{what}: {column.mean():.3f} [{low:.3f}, {high:.3f}]")


if __name__ == "__main__":
    main()
