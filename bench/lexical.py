"""BM25 by rank-bm25, bm25s and Lucene (if installed): time of a question, time to build, and memory.

    python bench/lexical.py --data DIR [--chunks 20000 135000] [--questions 30] [--lucene]

DIR holds medquad/medquad_xml.tar.gz. Chunks are passages of some 100 words of its pages. If these are too
few, more chunks are drawn from sentences of different pages, so that words are as frequent as in the pages.
Questions are those of MedQuAD. All contestants answer the same questions in the same run, each in a process
of its own; a question asks for 100 chunks.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import random
import subprocess
import sys
import tarfile
import tempfile
import time
from functools import partial
from pathlib import Path
from xml.etree import ElementTree as ET

from pytest_medfaith.models.onnx import processor_kernel
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval.bm25 import bm25_retriever
from pytest_medfaith.retrieval.bm25_fast import fast_bm25_retriever

ARCHIVE = Path("medquad") / "medquad_xml.tar.gz"
WORDS = 100  # of a chunk
SENTENCES = 6  # of a drawn chunk, some 100 words
TOP = 100
AGREE = 1e-4
Rankings = list[list[tuple[str, float]]]  # (chunk id, score) of each hit of each question


def read_pages(archive: Path) -> tuple[list[str], list[str]]:
    """Returns (MedQuAD's answers, its questions), in the order of the archive."""
    answers, questions = [], []
    with tarfile.open(archive) as pages:
        for member in pages:
            stream = pages.extractfile(member) if member.isfile() and member.name.endswith(".xml") else None
            if stream is None:
                continue
            for pair in ET.fromstring(stream.read()).iter("QAPair"):  # noqa: S314 - a known file
                question, answer = pair.findtext("Question") or "", pair.findtext("Answer") or ""
                if question.strip() and answer.strip():
                    questions.append(" ".join(question.split()))
                    answers.append(" ".join(answer.split()))
    return answers, questions


def make_chunks(answers: list[str], count: int) -> list[Chunk]:
    """Returns `count` chunks: passages of the answers, then chunks drawn from their sentences."""
    passages = []
    for answer in answers:
        words = answer.split()
        passages += [" ".join(words[start : start + WORDS]) for start in range(0, len(words), WORDS)]
    sentences = [
        sentence for answer in answers for sentence in answer.split(". ") if len(sentence.split()) > 5
    ]
    draw = random.Random(0)
    while len(passages) < count:
        passages.append(". ".join(draw.choices(sentences, k=SENTENCES)))
    return [Chunk(id=str(i), text=text) for i, text in enumerate(passages[:count])]


def resident_mb() -> float:
    """Returns the memory that this process holds now, in MB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def contestant(name: str, data: Path, count: int, asked: int) -> dict[str, object]:
    """Returns the figures of one implementation, and the scores of its hits."""
    answers, questions = read_pages(data / ARCHIVE)
    chunks = make_chunks(answers, count)
    questions = random.Random(1).sample(sorted(set(questions)), asked)
    before = resident_mb()
    builders = {"rank-bm25": bm25_retriever, "bm25s": fast_bm25_retriever}
    begin = time.perf_counter()
    if name == "lucene":
        from pytest_medfaith.retrieval.lucene import lucene_retriever

        builders["lucene"] = partial(lucene_retriever, cache=Path(tempfile.mkdtemp()))
    search = builders[name](chunks)
    built = time.perf_counter() - begin
    held = resident_mb()
    search(questions[0], top_k=TOP)  # the first question loads what is loaded late
    times, scores = [], []
    for question in questions:
        begin = time.perf_counter()
        hits = search(question, top_k=TOP)
        times.append(time.perf_counter() - begin)
        scores.append([(hit.chunk.id, hit.score) for hit in hits])
    times.sort()
    return {
        "build_s": built,
        "p50_ms": 1e3 * times[len(times) // 2],
        "p95_ms": 1e3 * times[int(0.95 * len(times))],
        "more_mb": held - before,
        "scores": scores,
    }


def furthest(left: Rankings, right: Rankings) -> tuple[bool, float]:
    """Returns (whether both found the same chunks in the same order, largest difference of scores)."""
    same = [[name for name, _ in hits] for hits in left] == [[name for name, _ in hits] for hits in right]
    pairs = [
        (a, b)
        for first, second in zip(left, right, strict=True)
        for (_, a), (_, b) in zip(first, second, strict=True)
    ]
    return same, max(abs(a - b) for a, b in pairs)


def main() -> None:
    """Prints the figures of each contestant, and whether bm25s agrees with rank-bm25."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--chunks", type=int, nargs="+", default=[20_000, 135_000])
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--lucene", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(contestant(given.one, given.data, given.chunks[0], given.questions)))
        return
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {processor_kernel()}"
    print(f"{machine}, {given.questions} questions, {TOP} hits")
    for count in given.chunks:
        found = {}
        for name in ["rank-bm25", "bm25s", *["lucene"] * given.lucene]:
            command = [sys.executable, __file__, "--data", str(given.data), "--one", name]
            command += ["--chunks", str(count), "--questions", str(given.questions)]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            row = found[name] = json.loads(said)
            times = found["rank-bm25"]["p50_ms"] / row["p50_ms"]
            print(
                f"{count:>8} {name:>9}: question p50 {row['p50_ms']:.2f} ms, p95 {row['p95_ms']:.2f} ms "
                f"({times:.0f} times rank-bm25), "
                f"built in {row['build_s']:.1f} s, {row['more_mb']:.0f} MB more"
            )
        same, apart = furthest(found["rank-bm25"]["scores"], found["bm25s"]["scores"])
        order = f"bm25s finds the same chunks in the same order: {same}"
        print(f"{count:>8} {order}; scores at most {apart:.2g} apart")
        if apart > AGREE:
            raise SystemExit(f"scores differ by more than {AGREE}")


if __name__ == "__main__":
    main()
