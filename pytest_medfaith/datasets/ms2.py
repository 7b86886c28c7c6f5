"""MS^2 and the MSLR 2022 shared task: what a review concludes from the studies that it includes.

Each case has many documents.

Two layouts. The review JSON (one object, a list, or JSON Lines):

| field | becomes |
|---|---|
| `docid`, `title` | `id`, and the title as `question` |
| `summary`, else the sentences labelled EFFECT in `structured_abstract` | `reference_answer` |
| sentences labelled BACKGROUND or GOAL | `meta.background` |
| `included_studies[].references[]` | PMIDs in `references`; a chunk for each, with title and abstract |

The CSV files `*-targets.csv` (ReviewID, Target) with `*-inputs.csv` (ReviewID, PMID, Title, Abstract) beside
it and, where it exists, `*-reviews-info.csv` (ReviewID, Background). They hold no question: the background
takes its place, else the titles of the first studies, else the review's id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any, Generic, TypeVar

from pytest_medfaith.corpus.sources import SourceFile, source_files
from pytest_medfaith.datasets.cleaning import one_line, plain_text
from pytest_medfaith.datasets.csv_rows import read_csv_rows
from pytest_medfaith.datasets.fields import require_row, require_text, rows, text_or_empty
from pytest_medfaith.datasets.files import data_files, open_text
from pytest_medfaith.datasets.json_stream import values
from pytest_medfaith.datasets.skips import Skips, without_repeats
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.records import Case, Chunk

T = TypeVar("T")

_PICO_TAG = re.compile(r"</?(?:int|out|pop)>")  # marks of interventions, outcomes and populations
_HEADING = re.compile(
    r"^(?:AUTHORS['\u2019] )?(?:CONCLUSIONS?|BACKGROUND|OBJECTIVES?|PURPOSE|AIMS?|INTERPRETATION)\s*:?\s+"
    r"(?=[A-Z])"
)
_TITLES_ASKED = 5  # titles in the place of a question: enough to tell the topic, few enough to be a query
_EXPECTED = "reviews as .json or .jsonl, or *-targets.csv with *-inputs.csv"
_INPUTS = ("ReviewID", "PMID", "Title", "Abstract")
_CSV_NAME = re.compile(r"(.*)(targets|inputs|reviews-info)\.csv(?:\.gz)?", re.IGNORECASE)


def read_ms2(path: Path, *, skips: Skips | None = None) -> Iterator[Case]:
    """Yields a case for each review of a file of either layout, or of a folder of such files.

    Reviews in JSON may come in an archive. Reviews without a conclusion or target are skipped and counted.
    Where the CSV files name the reviews in the same order, a single review is in memory; where they do not,
    so are the rows that were read ahead.

    Raises:
        DataError: nothing to read, a damaged file, a missing column or field.
    """
    skips = Skips() if skips is None else skips
    return without_repeats(_cases(path, skips), skips)


def read_ms2_chunks(path: Path, *, skips: Skips | None = None) -> Iterator[Chunk]:
    """Yields each study with an abstract once, in the order of the files.

    A study is known by its id: a second review that includes it adds nothing. `skips` counts the studies
    without an abstract, where it is given.
    """
    seen: set[str] = set()
    for place, chunk in _studies(path):
        if not chunk.text:
            if skips is not None:
                skips.add("study without abstract", f"{place}, id {chunk.id!r}")
        elif chunk.id not in seen:
            seen.add(chunk.id)
            yield chunk


def _files(path: Path) -> Iterator[tuple[SourceFile, str, str]]:
    """Yields (file, prefix, kind): the kind of a CSV file, such as "targets", or "" for reviews in JSON."""
    for file in data_files(path, r".*\.jsonl?(\.gz)?|.*(targets|inputs)\.csv(\.gz)?", expected=_EXPECTED):
        match = _CSV_NAME.fullmatch(PurePosixPath(file.name).name)
        if match and file.data is not None:
            raise DataError(
                f"{file.place}: the CSV files belong together and cannot be read out of an archive; unpack "
                "it and give the folder"
            )
        yield file, match[1] if match else "", match[2].lower() if match else ""


def _cases(path: Path, skips: Skips) -> Iterator[tuple[str, Case]]:
    for file, prefix, kind in _files(path):
        if not kind:
            yield from _json_cases(file, skips)
        elif kind == "targets":
            yield from _csv_cases(file, prefix, skips)
        elif file.path == path:
            raise DataError(
                f"{path}: has no reviews of its own, expected those of {prefix}targets.csv; give that file "
                "with this file beside it, or their folder"
            )
        elif _beside(file, prefix, "targets") is None:
            skips.add("inputs without targets", f"{file.place}, which needs {prefix}targets.csv beside it")


def _beside(file: SourceFile, prefix: str, kind: str) -> Path | None:
    """Returns the CSV file of `kind` beside `file`, compressed or not; None where there is no such file."""
    paths = (file.path.with_name(f"{prefix}{kind}.csv{suffix}") for suffix in ("", ".gz"))
    return next((path for path in paths if path.is_file()), None)


def _studies(path: Path) -> Iterator[tuple[str, Chunk]]:
    for file, _, kind in _files(path):
        if not kind:
            for place, review in _reviews(file):
                yield from ((place, _chunk(study, place)) for study in _included(review, place))
        elif kind == "inputs":
            yield from ((place, _csv_chunk(row)) for place, row in read_csv_rows(file, _INPUTS))


def _reviews(file: SourceFile) -> Iterator[tuple[str, Mapping[str, Any]]]:
    with open_text(file) as stream:
        for place, review in values(stream, file.place):
            yield place, require_row(review, place)


def _json_cases(file: SourceFile, skips: Skips) -> Iterator[tuple[str, Case]]:
    for place, review in _reviews(file):
        name, title = require_text(review, "docid", place), _plain(require_text(review, "title", place))
        conclusion = _plain(text_or_empty(review, "summary", place)) or _labelled(review, place, "EFFECT")
        if not conclusion or not title:
            skips.add("no conclusion" if not conclusion else "no title", f"{place}, id {name!r}")
            continue
        studies = [_study_id(study, place) for study in _included(review, place)]
        meta = {"background": _labelled(review, place, "BACKGROUND", "GOAL"), "studies": len(studies)}
        case = Case(
            id=f"ms2/{name}",
            slice="ms2",
            question=title,
            reference_answer=conclusion,
            references=tuple(dict.fromkeys(studies)),
            meta={key: value for key, value in meta.items() if value},
        )
        yield place, case


def _labelled(review: Mapping[str, Any], place: str, *labels: str) -> str:
    """Returns the sentences of `structured_abstract` (rows of label, sentence) that have one of `labels`."""
    sentences = review.get("structured_abstract") or []
    if not isinstance(sentences, list) or not all(
        isinstance(row, list) and len(row) > 1 and isinstance(row[1], str) for row in sentences
    ):
        raise DataError(
            f"{place}: field 'structured_abstract' holds {shown(sentences)}, expected rows of label and "
            "sentence; mend the record"
        )
    return " ".join(_HEADING.sub("", _plain(row[1])) for row in sentences if row[0] in labels)


def _included(review: Mapping[str, Any], place: str) -> Iterator[Mapping[str, Any]]:
    for study in rows(review, "included_studies", place):
        yield from rows(study, "references", place)


def _study_id(study: Mapping[str, Any], place: str) -> str:
    name = study.get("pmid") or study.get("s2id")
    if not name:
        raise DataError(
            f"{place}: an included study has neither 'pmid' nor 's2id'; expected one of them to name it; "
            "mend the record"
        )
    return str(name)


def _chunk(study: Mapping[str, Any], place: str) -> Chunk:
    name = _study_id(study, place)
    return Chunk(
        id=f"ms2/{name}",
        text=_plain(text_or_empty(study, "abstract", place)),
        title=_plain(text_or_empty(study, "title", place)),
        url=f"https://pubmed.ncbi.nlm.nih.gov/{name}/" if study.get("pmid") else "",
        source="ms2",
        pmid=name if study.get("pmid") else None,
    )


def _plain(text: str) -> str:
    return plain_text(_PICO_TAG.sub(" ", text))


class _Joined(Generic[T]):
    """Looks up the rows of a file by review, while a second file that names the same reviews is read.

    Rows are read ahead only as far as needed, so files in the same order are joined in constant memory.
    """

    def __init__(self, groups: Iterable[tuple[str, list[T]]]) -> None:
        self._groups = iter(groups)
        self._ahead: dict[str, list[T]] = {}

    def of(self, name: str) -> list[T]:
        """Returns the rows of review `name`, an empty list where there are none."""
        if name in self._ahead:
            return self._ahead.pop(name)
        for found, group in self._groups:
            if found == name:
                return group
            self._ahead.setdefault(found, []).extend(group)
        return []

    def left(self) -> Iterator[str]:
        """Yields the reviews whose rows nobody took."""
        yield from self._ahead
        yield from (name for name, _ in self._groups)


def _csv_cases(targets: SourceFile, prefix: str, skips: Skips) -> Iterator[tuple[str, Case]]:
    inputs, info = (_beside(targets, prefix, kind) for kind in ("inputs", "reviews-info"))
    studies = _Joined(_grouped_studies(inputs) if inputs else ())
    backgrounds = _Joined(_backgrounds(info) if info else ())
    for place, row in read_csv_rows(targets, ("ReviewID", "Target")):
        name, target = row["ReviewID"].strip(), plain_text(row["Target"])
        included, background = studies.of(name), " ".join(backgrounds.of(name))
        if target and name:
            yield place, _csv_case(name, target, background, included, split=prefix.strip("-_"))
        else:
            skips.add("no target" if name else "no review id", place)
    for name in studies.left():
        reason = "studies apart from their review, or of a review without a target"
        skips.add(reason, f"{inputs}, ReviewID {name!r}")


def _csv_case(name: str, target: str, background: str, studies: list[tuple[str, str]], *, split: str) -> Case:
    titles = "; ".join(title for _, title in studies[:_TITLES_ASKED])
    asked = background or (
        f"What do these studies show? {titles}" if titles else f"What do the studies of review {name} show?"
    )
    meta = {"background": background, "studies": len(studies), "split": split}
    return Case(
        id=f"ms2/{name}",
        slice="ms2",
        question=asked,
        reference_answer=target,
        references=tuple(dict.fromkeys(pmid for pmid, _ in studies)),
        meta={key: value for key, value in meta.items() if value},
    )


def _grouped_studies(inputs: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yields (review, its studies as (PMID, title)) for each run of rows of the same review."""
    for file in source_files(inputs):
        rows_of_file = read_csv_rows(file, _INPUTS)
        for name, group in groupby(rows_of_file, key=lambda item: item[1]["ReviewID"].strip()):
            yield name, [(row["PMID"].strip(), one_line(row["Title"])) for _, row in group]


def _backgrounds(info: Path) -> Iterator[tuple[str, list[str]]]:
    for file in source_files(info):
        for _, row in read_csv_rows(file, ("ReviewID", "Background")):
            yield row["ReviewID"].strip(), [one_line(row["Background"])]


def _csv_chunk(row: Mapping[str, str]) -> Chunk:
    pmid = row["PMID"].strip()
    return Chunk(
        id=f"ms2/{pmid}",
        text=plain_text(row["Abstract"]),
        title=one_line(row["Title"]),
        url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/",
        source="ms2",
        pmid=pmid,
    )
