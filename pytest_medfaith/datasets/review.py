"""Writes gold claims as a sheet that a person edits, and puts the edits back into the cases.

The sheet is CSV in UTF-8 with a byte order mark (so that Excel reads it as UTF-8), with a row for each claim:

| column | the reviewer |
|---|---|
| case, claim | leaves them; an empty claim cell means a new claim |
| keep | writes keep or drop |
| key | writes yes (a correct answer must say it) or no (it may) |
| text | rewrites, or leaves |
| provenance | leaves; rewritten and new claims become `human` |
| question, answer | reads |

A cell is a single line without control characters. A text that a spreadsheet would run as a formula gets an
apostrophe before it, which reading takes off again; a text that nobody edited comes back as it was. Ids are
in brackets, so that a spreadsheet does not read them as numbers or dates.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from pytest_medfaith.corpus.sources import source_files
from pytest_medfaith.datasets.files import open_text
from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.jsonl import atomic_writer
from pytest_medfaith.plain import sheet_cell, text_of_cell
from pytest_medfaith.records import Case, GoldClaim

COLUMNS = ("case", "claim", "keep", "key", "text", "provenance", "question", "answer")

_ANSWER_SHOWN = 8_000  # characters; a cell of a spreadsheet holds 32,767, and a reviewer reads less


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of a sheet; `claim` is "" for a claim that the reviewer added."""

    place: str
    case: str
    claim: str
    keep: bool
    key: bool
    text: str


def write_review_sheet(cases: Iterable[Case], path: Path) -> int:
    """Writes a row for each gold claim to `path`, whole or not at all, and returns how many cases.

    A case without claims gets a row to fill in. Every row shows the question, the first row of a case also
    the reference answer, clipped at 8,000 characters.

    Raises:
        DataError: ids that look alike in a sheet, or hold nothing that it can show.
    """
    with atomic_writer(path) as out:
        out.write("\ufeff")
        sheet = csv.writer(out, lineterminator="\r\n")
        sheet.writerow(COLUMNS)
        ids = []
        for case in cases:
            ids.append(case.id)
            sheet.writerows(_rows_of(case))
        _check_ids("cases", ids)
    return len(ids)


def _rows_of(case: Case) -> Iterator[list[str]]:
    _check_ids(f"gold claims of case {case.id!r}", [claim.id for claim in case.gold_claims])
    asked, answer = sheet_cell(case.question), sheet_cell((case.reference_answer or "")[:_ANSWER_SHOWN])
    for claim in case.gold_claims:
        told = [
            _id_cell(claim.id),
            "keep",
            "yes" if claim.key else "no",
            sheet_cell(claim.text),
            sheet_cell(claim.provenance),
        ]
        yield [_id_cell(case.id), *told, asked, answer]
        answer = ""
    if not case.gold_claims:
        yield [_id_cell(case.id), "", "keep", "yes", "", "", asked, answer]


def _check_ids(of: str, ids: Iterable[str]) -> None:
    """Raises DataError for ids that a sheet cannot tell apart: edits find their claim by the id."""
    taken: dict[str, str] = {}
    for name in ids:
        cell = id_in_sheet(name)
        if not cell:
            raise DataError(
                f"{of}: the id {name!r} holds nothing that a sheet can show; give it letters or numbers"
            )
        if cell in taken:
            same = f"the ids {taken[cell]!r} and {name!r} look alike in a sheet"
            if taken[cell] == name:
                same = f"the id {name!r} stands twice"
            raise DataError(f"{of}: {same}; give each a different id, edits find their claim by it")
        taken[cell] = name


def _id_cell(name: str) -> str:
    return sheet_cell(f"[{name}]")


def id_in_sheet(name: str) -> str:
    """Returns an id as a cell of the sheet shows it: without control characters, with single blanks."""
    return _id(_id_cell(name))


def read_review_sheet(path: Path) -> list[Row]:
    """Returns the rows of an edited sheet in their order; rows without a text and a claim id are left out.

    Commas, semicolons and tabs all serve as separators: which of them a spreadsheet writes depends on its
    language.

    Raises:
        DataError: no such file, bytes that are not UTF-8, a missing column, a `keep` that is neither keep nor
            drop, a `key` that is neither yes nor no, an id that is missing or used twice; the message names
            file and line.
    """
    if not path.is_file():
        raise DataError(
            f"{path}: no such file; write the sheet first with `medfaith gold review GOLD --sheet {path}`"
        )
    found: list[Row] = []
    seen: dict[tuple[str, str], str] = {}
    for line, cells in _cells(path):
        row = _row(cells, f"{path}:{line}")
        if not row.claim and not row.text.strip():
            continue
        first = seen.setdefault((row.case, row.claim), row.place) if row.claim else row.place
        if first != row.place:
            raise DataError(
                f"{row.place}: claim {row.claim!r} of case {row.case!r} stands at {first} already, expected "
                "once; leave the claim cell empty for a new claim"
            )
        found.append(row)
    return found


def _cells(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yields (line, {column: cell}) of a sheet with commas, semicolons or tabs; blank lines are skipped."""
    (file,) = source_files(path)
    with open_text(file, newline="") as stream:
        text = stream.read()
    heading = text.partition("\n")[0]
    separator = max(",;\t", key=heading.count)
    sheet = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        names = [name.strip().lower() for name in next(sheet, [])]
        missing = [name for name in COLUMNS[:5] if name not in names]
        if missing:
            raise DataError(
                f"{path}:1: column {missing[0]!r} is missing, the heading has "
                f"{', '.join(map(shown, names)) or 'nothing'}; put back the heading {','.join(COLUMNS)}"
            )
        for cells in sheet:
            if any(cell.strip() for cell in cells):
                yield sheet.line_num, dict(zip(names, [*cells, *[""] * len(names)], strict=False))
    except csv.Error as error:
        raise DataError(f"{path}:{sheet.line_num}: not CSV ({error}); save the sheet as CSV UTF-8") from None


def _row(cells: Mapping[str, str], place: str) -> Row:
    case = _id(cells["case"])
    if not case:
        raise DataError(f"{place}: the case cell is empty; copy it from the row above")
    return Row(
        place=place,
        case=case,
        claim=_id(cells["claim"]),
        keep=_choice(cells["keep"], ("keep", "drop"), "keep", place),
        key=_choice(cells["key"], ("yes", "no"), "key", place),
        text=text_of_cell(cells["text"]),
    )


def _id(cell: str) -> str:
    """Returns the id of a cell without its brackets, which a reviewer who types an id may leave out."""
    bare = cell.strip()
    return (bare[1:-1] if bare.startswith("[") and bare.endswith("]") else bare).strip()


def _choice(cell: str, words: tuple[str, str], column: str, place: str) -> bool:
    """Returns whether the cell holds the first of `words`; an empty cell counts as the first."""
    word = cell.strip().lower() or words[0]
    if word not in words:
        raise DataError(f"{place}: column {column!r} is {shown(cell)}, expected {words[0]} or {words[1]}")
    return word == words[0]


@dataclass(frozen=True, kw_only=True)
class Reviewed:
    """The cases after a review, and how many claims were kept, dropped, rewritten, toggled or added.

    Toggled claims changed between key and optional.
    """

    cases: tuple[Case, ...]
    edits: Mapping[str, int]

    def line(self) -> str:
        """Returns the counts in a line."""
        names = ("kept", "dropped", "rewritten", "toggled", "added")
        return ", ".join(f"{self.edits.get(name, 0):,} {name}" for name in names)


def apply_review(cases: Iterable[Case], rows: Iterable[Row]) -> Reviewed:
    """Returns `cases` with the edits of `rows`; everything a sheet does not show comes back as it was.

    A case without a row in the sheet is left alone. In a case with rows, a claim whose row was deleted is
    dropped, and the claims take the order of the rows. A claim both rewritten and toggled counts as
    rewritten.

    Raises:
        DataError: a row names a case or a claim that is not there, or its text is empty.
    """
    by_case: dict[str, list[Row]] = {}
    for row in rows:
        by_case.setdefault(row.case, []).append(row)
    edits: Counter[str] = Counter()
    done = []
    for case in cases:
        its_rows = by_case.pop(id_in_sheet(case.id), None)
        done.append(case if its_rows is None else _edited(case, its_rows, edits))
    for stray, *_ in by_case.values():
        raise DataError(
            f"{stray.place}: case {stray.case!r} is not among the cases; expected an id of the gold file "
            "that the sheet was written from"
        )
    return Reviewed(cases=tuple(done), edits=edits)


def _edited(case: Case, rows: list[Row], edits: Counter[str]) -> Case:
    """Returns a case with the edits of its rows, which are counted in `edits`."""
    old = {id_in_sheet(claim.id): claim for claim in case.gold_claims}
    claims: list[GoldClaim] = []
    for row in rows:
        claim = old.get(row.claim)
        if row.claim and claim is None:
            raise DataError(
                f"{row.place}: case {row.case!r} has no claim {row.claim!r}; for a new claim leave the claim "
                "cell empty"
            )
        if row.keep and not row.text.strip() and not (claim and _is_unedited(claim, row)):
            raise DataError(
                f"{row.place}: claim {row.claim!r} is kept but its text is empty; write a text, or drop in "
                "column 'keep'"
            )
        if row.keep:
            ids = {known.id for known in (*case.gold_claims, *claims)}
            claims.append(_edit(claim, row, edits, taken=ids))
    edits["dropped"] += len({claim.id for claim in case.gold_claims} - {claim.id for claim in claims})
    return case.with_(gold_claims=tuple(claims))


def _edit(claim: GoldClaim | None, row: Row, edits: Counter[str], *, taken: set[str]) -> GoldClaim:
    if claim is None:
        edits["added"] += 1
        free = next(name for number in count(len(taken) + 1) if (name := f"g{number}") not in taken)
        return GoldClaim(id=free, text=row.text.strip(), key=row.key, provenance="human")
    unedited = _is_unedited(claim, row)
    edits["rewritten" if not unedited else "toggled" if row.key != claim.key else "kept"] += 1
    claim = replace(claim, key=row.key)
    return claim if unedited else replace(claim, text=row.text.strip(), provenance="human")


def _is_unedited(claim: GoldClaim, row: Row) -> bool:
    """Returns whether the row shows `claim` as a cell holds it, which may be less than its text."""
    return row.text.strip() == text_of_cell(sheet_cell(claim.text)).strip()
