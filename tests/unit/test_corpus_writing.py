"""A file is written whole or not at all, never over a file that is read, with the rights of the umask."""

import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_medfaith.errors import CannotWrite, DataError
from pytest_medfaith.jsonl import atomic_writer, refuse_overwriting, write_text

pytestmark = pytest.mark.skipif(os.name != "posix", reason="rights, links and limits of POSIX")


@pytest.mark.parametrize(("umask", "mode"), [(0o077, 0o600), (0o022, 0o644), (0o027, 0o640), (0o002, 0o664)])
def test_new_files_get_what_umask_leaves(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        write_text(tmp_path / "new.txt", "patient\n")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == mode


def test_a_file_that_is_replaced_gets_them_too(tmp_path):
    path = tmp_path / "old.txt"
    path.write_text("old")
    path.chmod(0o666)
    before = os.umask(0o077)
    try:
        write_text(path, "new")
    finally:
        os.umask(before)
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o600)


_LIMITED = """
import resource, signal, sys
from pathlib import Path
from pytest_medfaith.jsonl import write_text
from pytest_medfaith.errors import DataError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
text = "x" * 8191 + "\\n" + "y" * 8192
for size in (0, 1, 4096, 8191, 8192, 8193, 12000, 16383, 16384, 16385):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        write_text(path, text)
        outcome = "written"
    except DataError as error:
        clear = "File too large" in str(error) and str(path) in str(error)
        outcome = "refused" if clear else f"bad message: {error}"
    held = path.read_text() if path.exists() else "none"
    whole = held == text if outcome == "written" else held == "none"
    print(size, outcome, whole, sorted(one.name for one in path.parent.iterdir()))
    path.unlink(missing_ok=True)
"""


def test_a_full_disk_is_said_at_every_size_and_leaves_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, tmp_path / "out.json"], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 10
    for line in lines:
        size, outcome, whole, *left = line.split(maxsplit=3)
        assert outcome == ("written" if int(size) >= 16384 else "refused"), line
        assert whole == "True", line
        assert left == (["['out.json']"] if outcome == "written" else ["[]"]), line
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_the_message_says_what_to_do(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(
        CannotWrite, match=r"folder: cannot be written \(Is a directory\).*name another"
    ) as caught:
        write_text(folder, "a")
    assert isinstance(caught.value, DataError)
    (tmp_path / "file").write_text("a")
    with pytest.raises(CannotWrite, match=r"file/below: cannot be written"):
        write_text(tmp_path / "file" / "below", "a")


def test_an_error_of_what_is_read_meanwhile_keeps_its_name(tmp_path):
    with pytest.raises(FileNotFoundError, match="elsewhere"), atomic_writer(tmp_path / "out"):
        Path(tmp_path, "folder", "elsewhere").read_text()
    assert list(tmp_path.iterdir()) == []


def test_a_device_is_written_to_and_stays_one():
    write_text(Path("/dev/null"), "gone")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_very_long_name_can_be_written(tmp_path):
    write_text(tmp_path / ("n" * 250), "a")
    assert [len(path.name) for path in tmp_path.iterdir()] == [250]


@pytest.mark.parametrize("spell", ["same", "dots", "symlink", "hardlink", "folder link"])
def test_what_is_read_is_not_written_over(tmp_path, spell):
    source = tmp_path / "rows.jsonl"
    source.write_text("{}\n")
    (tmp_path / "folder").mkdir()
    target = {
        "same": source,
        "dots": tmp_path / "folder" / ".." / "rows.jsonl",
        "symlink": tmp_path / "link",
        "hardlink": tmp_path / "second",
        "folder link": tmp_path / "here" / "rows.jsonl",
    }[spell]
    if spell == "symlink":
        target.symlink_to(source)
    if spell == "hardlink":
        os.link(source, target)
    if spell == "folder link":
        (tmp_path / "here").symlink_to(tmp_path)
    with pytest.raises(
        DataError, match=r"--out is .*, which is the file of rows and would be written over; name another"
    ):
        refuse_overwriting({"--out": target}, {"the file of rows": [source]})


def test_two_results_need_two_files(tmp_path):
    with pytest.raises(DataError, match=r"--cache is .* which --out names too"):
        refuse_overwriting({"--out": tmp_path / "a", "--cache": tmp_path / "b" / ".." / "a"}, {})
    refuse_overwriting(
        {"--out": tmp_path / "a", "--cache": None, "other": tmp_path / "b"},
        {"rows": tmp_path / "c", "none": None},
    )
    refuse_overwriting(
        {"--out": Path("/dev/null"), "--cache": Path("/dev/null")}, {"rows": Path("/dev/null")}
    )
