"""Writes a project's first suite: settings, chunks, cases, recorded answers, a test, workflows for CI."""

from __future__ import annotations

import configparser
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from pytest_medfaith.config import is_configured
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import write_text

TEMPLATES = Path(__file__).parent / "templates"
_TEST = "tests/test_medical_answers.py"
# Where each template goes. The suite is no .py file here, so that no tool takes it for a module of this
# package.
_SUITE = {
    "medfaith.toml": "medfaith.toml",
    "medfaith/corpus/samples.jsonl": "corpus.jsonl",
    "medfaith/gold.jsonl": "gold.jsonl",
    "medfaith/responses.jsonl": "responses.jsonl",
    _TEST: "test_suite.py.txt",
}
# Without this file pytest may take the folder above for its root, where it finds no settings.
_ROOT_MARK = {"pytest.ini": "pytest.ini"}
_CI = {"github": {".github/workflows/medfaith.yml": "github.yml"}, "gitlab": {".gitlab-ci.yml": "gitlab.yml"}}


def init_project(folder: Path, *, ci: Sequence[str] = ()) -> list[Path]:
    """Writes the first suite into `folder`, all of it or nothing, and returns the paths written.

    One recorded answer names a wrong dose, so that the first run shows what a failure looks like. A
    pytest.ini is written where the folder holds no configuration of pytest. A project that configures
    medfaith already gets only the workflows in `ci`.

    Args:
        folder: the root of the project; it is made where it is missing.
        ci: workflows to write: "github", "gitlab".

    Raises:
        ValueError: `ci` holds an unknown name.
        DataError: a file is there already, the folder's pyproject.toml configures medfaith and `ci` is empty,
            or the folder cannot be written.
    """
    unknown = [name for name in ci if name not in _CI]
    if unknown:
        raise ValueError(f"there is no workflow for {unknown[0]!r}; expected {' or '.join(_CI)}, or none")
    if ci and is_configured(folder):
        return _add_workflows(folder, ci)
    root_mark = {} if _configures_pytest(folder) else _ROOT_MARK
    chosen = {
        **_SUITE,
        **root_mark,
        **{target: source for name in ci for target, source in _CI[name].items()},
    }
    files = {
        folder / target: (TEMPLATES / source).read_text(encoding="utf-8") for target, source in chosen.items()
    }
    _refuse_existing(files)
    _refuse_hidden_settings(folder)
    _write_all(files)
    return list(files)


def _add_workflows(folder: Path, ci: Sequence[str]) -> list[Path]:
    """Writes workflows that run the marked tests of the suite that `folder` has."""
    texts = {
        folder / target: (TEMPLATES / source).read_text(encoding="utf-8")
        for name in ci
        for target, source in _CI[name].items()
    }
    is_ours = (folder / _TEST).is_file()
    files = {
        path: text if is_ours else text.replace(f"pytest {_TEST}", "pytest -m medfaith")
        for path, text in texts.items()
    }
    _refuse_existing(files)
    _write_all(files)
    return list(files)


def _configures_pytest(folder: Path) -> bool:
    """Returns whether pytest, run in `folder`, takes it for its root."""
    if any(
        (folder / name).is_file()
        for name in ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml")
    ):
        return True
    return _has_section(folder / "tox.ini", "pytest") or _has_section(folder / "setup.cfg", "tool:pytest")


def _has_section(path: Path, section: str) -> bool:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}); mend the file, pytest reads it too") from error
    return parser.has_section(section)


def _refuse_existing(paths: Iterable[Path]) -> None:
    there = [str(path) for path in paths if os.path.lexists(path)]
    if there:
        raise DataError(
            f"{', '.join(there)}: there already, and nothing is overwritten; move it away, leave out "
            "--github or --gitlab where that asks for it, or give another folder with medfaith init FOLDER"
        )


def _refuse_hidden_settings(folder: Path) -> None:
    """Refuses a folder whose pyproject.toml configures medfaith: a medfaith.toml would hide that."""
    if is_configured(folder):
        raise DataError(
            f"{folder / 'pyproject.toml'}: has a table [tool.medfaith], which a medfaith.toml would hide; "
            "write the suite elsewhere with medfaith init FOLDER, and copy from there what you need"
        )


def _write_all(files: Mapping[Path, str]) -> None:
    """Writes all files; where a file cannot be written, it removes what it wrote and the folders it made."""
    new_folders = {parent for path in files for parent in path.parents if not parent.exists()}
    written: list[Path] = []
    try:
        for path, text in files.items():
            write_text(path, text)
            written.append(path)
    except BaseException as error:
        _remove(written, new_folders)
        if isinstance(error, OSError):
            raise DataError(
                f"{error.filename or path}: cannot be written ({error.strerror or error}); expected a folder "
                "that you may write, give one with medfaith init FOLDER"
            ) from error
        raise


def _remove(files: Iterable[Path], folders: Iterable[Path]) -> None:
    for path in files:
        path.unlink(missing_ok=True)
    for folder in sorted(folders, reverse=True):  # what lies in a folder before the folder itself
        with suppress(OSError):  # the folder was never made, or holds something else by now
            folder.rmdir()
