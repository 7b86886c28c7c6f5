"""Runs of pytest within the tests are forked from a process that has the slow imports behind it: warm.py."""

import subprocess
import sys

import bags
import pytest
from warm import Warm, can_fork


def pytest_collection_modifyitems(items):
    """Puts the examples first: minutes of the strong model, for which one worker would be waited at the end."""
    items.sort(key=lambda item: item.path.name != "test_examples.py")


@pytest.fixture(scope="session")
def warm():
    """The process that forks."""
    warm = Warm()
    yield warm
    warm.close()


@pytest.fixture
def pytester(pytester, warm, monkeypatch):
    """Pytest's fixture, its subprocesses of pytest forked where the machine can."""
    start = pytester.popen

    def popen(cmdargs, stdout, stderr, stdin=pytester.CLOSE_STDIN, **options):
        if cmdargs[:2] == (sys.executable, "-mpytest") and stdin is pytester.CLOSE_STDIN and not options:
            return warm.popen(cmdargs[2:], stdout, stderr)
        return start(cmdargs, stdout, stderr, stdin=stdin, **options)

    if can_fork():
        monkeypatch.setattr(pytester, "popen", popen)
    return pytester


@pytest.fixture
def word_vectors(monkeypatch):
    """The similarity of texts is that of their words, without the encoder."""
    monkeypatch.setattr("pytest_medfaith.models.onnx.embed_texts", bags.embed_texts)


@pytest.fixture
def run_pytest(warm, monkeypatch, tmp_path_factory):
    """Runs pytest in a folder, as a `subprocess.CompletedProcess`: in a forked process where the machine can."""

    def run(folder, *options, **environ):
        output = tmp_path_factory.mktemp("output")
        with (
            monkeypatch.context() as context,
            (output / "out").open("w") as out,
            (output / "err").open("w") as err,
        ):
            context.chdir(folder)
            for name, value in environ.items():
                context.setenv(name, value)
            arguments = ("-p", "no:cacheprovider", *options)
            if can_fork():
                status = warm.popen(arguments, out, err).wait()
            else:
                call = [sys.executable, "-m", "pytest", *arguments]
                status = subprocess.run(call, stdout=out, stderr=err, check=False).returncode
        # A carriage return is a character of the output, not the end of a line.
        texts = [(output / name).read_bytes().decode() for name in ("out", "err")]
        return subprocess.CompletedProcess(options, status, *texts)

    return run
