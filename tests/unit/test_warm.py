"""Runs that are forked see nothing of each other."""

import sys

import pytest
from warm import can_fork

pytestmark = pytest.mark.skipif(not can_fork(), reason="runs are not forked here")


def run(warm, folder, monkeypatch):
    monkeypatch.chdir(folder)
    with (folder / "stdout").open("w") as out, (folder / "stderr").open("w") as err:
        status = warm.popen(("-q", "-pno:cacheprovider"), out, err).wait()
    return status, (folder / "stdout").read_text() + (folder / "stderr").read_text()


def test_a_run_sees_its_folder_and_nothing_of_the_runs_before(tmp_path, monkeypatch, warm):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        (folder / "pytest.ini").write_text("[pytest]\n")
    (first / "helper_of_first.py").write_text("")
    (first / "conftest.py").write_text(
        "import helper_of_first, os, pytest_medfaith.errors as errors\n"
        "os.environ['OF_FIRST'] = '1'\nerrors.of_first = True\n"
    )
    (first / "test_it.py").write_text("def test_it():\n    import helper_of_first\n")
    (second / "test_it.py").write_text(
        "import os, sys\nimport pytest_medfaith.errors as errors\n"
        "def test_it():\n"
        "    assert 'helper_of_first' not in sys.modules\n"
        f"    assert {str(first)!r} not in sys.path\n"
        "    assert 'OF_FIRST' not in os.environ and not hasattr(errors, 'of_first')\n"
    )
    assert run(warm, first, monkeypatch)[0] == 0
    status, output = run(warm, second, monkeypatch)
    assert status == 0, output


def test_a_run_that_ends_the_process_is_its_status(tmp_path, monkeypatch, warm):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text("import os\ndef test_it():\n    os._exit(7)\n")
    assert run(warm, tmp_path, monkeypatch)[0] == 7
    (tmp_path / "test_it.py").write_text("def test_it():\n    assert False\n")
    assert run(warm, tmp_path, monkeypatch)[0] == 1


def test_a_new_python_starts_like_a_forked_one(tmp_path, monkeypatch, warm):
    """The folder of the run is on the path, and the arguments of pytest are those of the run."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(
        "import os, sys\ndef test_it(pytestconfig):\n"
        "    assert os.getcwd() in sys.path\n"
        "    assert pytestconfig.invocation_params.args == ('-q', '-pno:cacheprovider')\n"
        f"    assert sys.executable == {sys.executable!r}\n"
    )
    status, output = run(warm, tmp_path, monkeypatch)
    assert status == 0, output


def test_hypothesis_may_be_imported_in_a_run(tmp_path, monkeypatch, warm):
    """It warns of random numbers that nobody seems to hold, such as those hidden from the collector."""
    # pytest-asyncio before 1.0 warns of a setting that nobody gave; it is not what is tested here.
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\naddopts = -p no:asyncio\n")
    (tmp_path / "test_it.py").write_text(
        "import sys\ndef test_it():\n    import hypothesis\n    assert 'trio' in sys.modules\n"
    )
    status, output = run(warm, tmp_path, monkeypatch)
    assert status == 0, output
