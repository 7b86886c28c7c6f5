"""Files that are broken on purpose, for every reader of the package, and bad places, for every writer.

A bad place is, for example, a folder where a file is to be written.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from gate_samples import SIGNATURE, case, report_of

from pytest_medfaith.answers.responses import read_responses
from pytest_medfaith.calibration.applying import read_calibration
from pytest_medfaith.calibration.rows import read_labelled_rows
from pytest_medfaith.cards.run_folder import write_run
from pytest_medfaith.cards.run_reading import read_run
from pytest_medfaith.checking.card import read_card
from pytest_medfaith.commands.check_rows import read_check_rows
from pytest_medfaith.config import load_settings
from pytest_medfaith.datasets.gold import read_gold_file
from pytest_medfaith.datasets.review import read_review_sheet
from pytest_medfaith.datasets.traces.adapting import read_spans
from pytest_medfaith.errors import MedfaithError
from pytest_medfaith.gates.baseline import read_baseline, write_baseline
from pytest_medfaith.jsonl import read_chunks, write_records, write_text
from pytest_medfaith.safety.rulebook import load_rulebook

ROW = json.dumps(
    {
        "id": "a",
        "case_id": "a",
        "question": "?",
        "answer": "x",
        "text": "y",
        "claim": "x",
        "evidence": "y",
        "label": "entail",
    }
).encode()
CONTENTS = {
    "cut in a line": ROW + b"\n" + ROW[:-20],
    "cut in a character": ROW[:-2] + b"\xe2\x82",
    "binary": bytes(range(256)) * 20,
    "zeros": b"\x00" * 4_096,
    "UTF-16": ROW.decode().encode("utf-16"),
    "Latin-1": ROW.replace(b'"x"', b'"caf\xe9"'),
    "lists in lists": b"[" * 100_000,
    "objects in objects": b'{"a":' * 100_000,
    "a long line without an end": b'{"id": "' + b"x" * 5_000_000,
    "a number": b"7\n",
    "NaN": ROW.replace(b'"x"', b"NaN"),
    "half of a character": ROW.replace(b'"x"', b'"\\ud800"'),
    "a web page": b"<!doctype html><html><body>404 Not Found</body></html>\n",
    "a pointer to a large file": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
}
PLACES = ("nothing there", "a folder", "a link to itself", "a link to nothing", "below a file")
READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "responses": ("a.jsonl", lambda path: read_responses(path, [])),
    "gold": ("a.jsonl", lambda path: list(read_gold_file(path))),
    "corpus": ("a.jsonl", lambda path: read_chunks([path])),
    "rows to check": ("a.jsonl", read_check_rows),
    "labelled rows": ("a.jsonl", read_labelled_rows),
    "traces": ("a.jsonl", lambda path: list(read_spans(path))),
    "baseline": ("a.json", read_baseline),
    "calibration": ("a.json", read_calibration),
    "model card": ("card.json", lambda path: read_card(path.parent)),
    "rulebook": ("a.toml", lambda path: load_rulebook((path,))),
    "settings": ("medfaith.toml", lambda path: load_settings(path.parent)),
    "review sheet": ("a.csv", read_review_sheet),
    "report": ("report.json", lambda path: read_run(path.parent)),
    "signature": ("signature.json", lambda path: read_run(path.parent)),
}
# Settings that are not there are no settings: what is read then is that nothing is configured.
NO_SETTINGS = {("settings", place) for place in PLACES}


def reading() -> list[tuple[str, str]]:
    """Returns (reader, what stands in the place of its file) of every try."""
    return [
        (reader, found)
        for reader in READERS
        for found in (*CONTENTS, *PLACES)
        if (reader, found) not in NO_SETTINGS
    ]


def read_wrongly(attack: tuple[str, str]) -> str:
    """Returns what is wrong with how a reader takes a broken file, "" where it is an error of the package."""
    reader, found = attack
    name, read = READERS[reader]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        if reader in ("report", "signature"):
            for beside, content in _whole_run().items():
                path.with_name(beside).write_bytes(content)
            path.unlink()
        _put(path, found)
        path = path / "below" if found == "below a file" else path
        try:
            read(path)
        except MedfaithError:
            return ""
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            return f"raises {type(error).__name__}: {error}"[:200]
        return "is read"


@cache
def _whole_run() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder), [report_of([case("a", "ss")])], signature=SIGNATURE)
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def _put(path: Path, found: str) -> None:
    if found in CONTENTS:
        path.write_bytes(CONTENTS[found])
    elif found == "a folder":
        path.mkdir()
    elif found == "a link to itself":
        path.symlink_to(path)
    elif found == "a link to nothing":
        path.symlink_to(path.with_name("gone"))
    elif found == "below a file":
        path.write_bytes(ROW)


WRITERS: dict[str, Callable[[Path], Any]] = {
    "text": lambda path: write_text(path, "x" * 100_000),
    "rows": lambda path: write_records(path, [{"a": "x" * 100_000}]),
    "baseline": lambda path: write_baseline(path, [report_of([case("a", "ss")])], signature=SIGNATURE),
    "report": lambda path: write_run(path, [report_of([case("a", "ss")])], signature=SIGNATURE),
}
FULL = Path("/dev/full")
TARGETS = (
    "a folder",
    "a file",
    "a link to itself",
    "below a file",
    "a long name",
    *(["a full disk"] if FULL.exists() else []),
)


def writing() -> list[tuple[str, str]]:
    """Returns (writer, what stands where it is to write) of every try."""
    fits = {
        ("report", "a folder"),
        *(
            (writer, target)
            for writer in WRITERS
            if writer != "report"
            for target in ("a file", "a link to itself")
        ),
    }
    return [(writer, target) for writer in WRITERS for target in TARGETS if (writer, target) not in fits]


def written_wrongly(attack: tuple[str, str]) -> str:
    """Returns how a writer mistreats a bad place, "" where it raises an error of the package."""
    writer, target = attack
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out"
        _put(path, {"a file": "a number"}.get(target, target))
        before = path.read_bytes() if path.is_file() else b""
        given = {
            "below a file": path / "below",
            "a long name": path.with_name("x" * 300),
            "a full disk": FULL,
        }.get(target, path)
        try:
            WRITERS[writer](given)
        except MedfaithError:
            left = [found.name for found in Path(folder).iterdir() if found.name != "out"]
            return (
                f"leaves {left}"
                if left
                else ""
                if not before or path.read_bytes() == before
                else "the file there was changed"
            )
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            return f"raises {type(error).__name__}: {error}"[:200]
        return "says nothing"
