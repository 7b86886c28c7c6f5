"""What a user sees on whole answers: splitting, checking and rules, measured sentence by sentence.

    python bench/written_answers.py [FILE ...] [--part dev | held-out | all] [--checker NAME] [--list]
                                    [--cache FILE]

A line of FILE is {"id", "question", "contexts", "answer", "kind", "sentences": [...]}; without FILE the files
of fixtures/written_answers are read. A sentence is {"text", "label": true | error | addition | none, "kind"};
"none" is a sentence without content, such as a greeting. A third of the answers, by crc32 of the id, is held
out: constants are chosen on the rest. A sentence is flagged if a claim that overlaps it is refuted or
unsupported. Each figure comes with its count and a 95 % Wilson interval.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from scipy.stats import binomtest

from pytest_medfaith import check_answer
from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.records import Report

FOLDER = Path(__file__).parents[1] / "fixtures" / "written_answers"
PARTS = {"dev": (1, 2), "held-out": (0,), "all": (0, 1, 2)}


def read_answers(paths: Sequence[Path], *, part: str) -> list[dict]:
    """Returns the answers of these files that are in `part`."""
    rows = [
        json.loads(line)
        for path in paths
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]
    return [row for row in rows if zlib.crc32(row["id"].encode()) % 3 in PARTS[part]]


def labelled_sentences(row: dict, report: Report) -> Iterator[tuple[dict, set[str]]]:
    """Yields (labelled sentence, labels of the verdicts on claims that overlap it)."""
    start = 0
    for sentence in row["sentences"]:
        start = row["answer"].index(sentence["text"], start)
        end = start + len(sentence["text"])
        overlapping = (
            verdict for verdict in report.verdicts if verdict.claim.start < end and start < verdict.claim.end
        )
        yield sentence, {verdict.label for verdict in overlapping}
        start = end


def share(name: str, hits: Sequence[bool]) -> str:
    """Returns a line such as "errors passed: 1 of 50 = 0.020 [0.004, 0.105]", with Wilson's interval."""
    if not hits:
        return f"{name}: none"
    interval = binomtest(sum(hits), len(hits)).proportion_ci(method="wilson")
    value = f"{sum(hits) / len(hits):.3f} [{interval.low:.3f}, {interval.high:.3f}]"
    return f"{name}: {sum(hits)} of {len(hits)} = {value}"


def decided(said: set[str]) -> bool:
    """Returns whether the verdicts decide about a sentence: any is "refuted", or all are "supported"."""
    return "refuted" in said or said == {"supported"}


def wrong(sentence: dict, said: set[str]) -> bool:
    """Returns whether a sentence is judged wrongly, by its label and the verdicts `said`."""
    flagged = bool(said & {"refuted", "unsupported", "unscored"})
    return {"true": flagged, "error": not flagged, "addition": decided(said) or not said, "none": flagged}[
        sentence["label"]
    ]


def main() -> None:
    """Prints the figures; with --list also each sentence that is judged wrongly."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--part", choices=PARTS, default="dev")
    parser.add_argument("--checker", default="default")
    parser.add_argument("--list", action="store_true", help="print every sentence that is judged wrongly")
    parser.add_argument("--cache", type=Path, help="SQLite file of kept scores and vectors")
    arguments = parser.parse_args()
    rows = read_answers(arguments.files or sorted(FOLDER.glob("*.jsonl")), part=arguments.part)
    checker = load_checker(arguments.checker, cache=arguments.cache)
    reports = [
        check_answer(row["answer"], contexts=row["contexts"], question=row["question"], checker=checker)
        for row in rows
    ]
    judged = [list(labelled_sentences(row, report)) for row, report in zip(rows, reports, strict=True)]
    of = {
        label: [said for answer in judged for sentence, said in answer if sentence["label"] == label]
        for label in ("true", "error", "addition", "none")
    }
    flags = {"refuted", "unsupported", "unscored"}
    faithful = [report for row, report in zip(rows, reports, strict=True) if row["kind"] == "faithful"]
    refusals = [
        report.abstained for row, report in zip(rows, reports, strict=True) if row["kind"] == "refusal"
    ]
    print(f"{len(rows)} answers, {sum(map(len, judged))} sentences")
    print(share("errors passed", [not said & flags for said in of["error"]]))
    print(share("errors refuted", ["refuted" in said for said in of["error"]]))
    print(share("true sentences refuted", ["refuted" in said for said in of["true"]]))
    print(share("true sentences flagged", [bool(said & flags) for said in of["true"]]))
    print(share("additions decided", [decided(said) or not said for said in of["addition"]]))
    print(share("sentences without content flagged", [bool(said & flags) for said in of["none"]]))
    labels = [{verdict.label for verdict in report.verdicts} for report in faithful]
    print(share("faithful answers flagged", [bool(said & flags) for said in labels]))
    print(share("faithful answers with a refutation", ["refuted" in said for said in labels]))
    print(share("refusals recognised", refusals))
    for row, sentences in zip(rows, judged, strict=True):
        for sentence, said in sentences:
            if arguments.list and wrong(sentence, said):
                place = f"{row['id']} {sentence['label']} ({sentence.get('kind', '')})"
                print(f"  {place} {', '.join(sorted(said)) or 'no claim'}: {sentence['text']}")


if __name__ == "__main__":
    main()
