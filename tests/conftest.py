"""Runs of pytest and medfaith within the tests are forked from a process with the slow imports: warm.py."""

import gc
import subprocess
import sys

import bags
import pytest
from llm_server import KEY, SURROUNDINGS, LlmServer
from warm import Warm, can_fork

# What Python is started with where a run cannot be forked.
PROGRAMS = {
    "python": (),
    "pytest": ("-m", "pytest"),
    # As the installed script, which does not have the folder of the run on its path.
    "medfaith": ("-c", "import sys; sys.path.remove(''); from pytest_medfaith.cli import main; main()"),
}


# Minutes of the strong model, and clusters that start slowly: at the end a worker would be waited for.
FIRST = ("test_examples.py", "test_ray.py")


def pytest_collection_modifyitems(items):
    """Puts the longest tests first, in the order of `FIRST`."""
    items.sort(key=lambda item: FIRST.index(item.path.name) if item.path.name in FIRST else len(FIRST))


def pytest_collection_finish():
    """Leaves the tests themselves out of collections of garbage: with 12,000 of them each takes a second."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish():
    """Ends that: Hypothesis, which pytest may import to sum up, asks the garbage collector who holds what."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def warm():
    """The process that forks."""
    warm = Warm()
    yield warm
    warm.close()


@pytest.fixture
def pytester(pytester, warm, monkeypatch):
    """Pytest's fixture; `python -mpytest` and `python -c` are forked where the machine can.

    What asks for `python -m pytest` gets a new Python.
    """
    start = pytester.popen

    def popen(cmdargs, stdout, stderr, stdin=pytester.CLOSE_STDIN, **options):
        forked = stdin is pytester.CLOSE_STDIN and not options
        if forked and cmdargs[:2] == (sys.executable, "-mpytest"):
            return warm.popen(cmdargs[2:], stdout, stderr)
        if forked and cmdargs[:2] == (sys.executable, "-c"):
            return warm.popen(cmdargs[1:], stdout, stderr, "python")
        return start(cmdargs, stdout, stderr, stdin=stdin, **options)

    if can_fork():
        monkeypatch.setattr(pytester, "popen", popen)
    return pytester


@pytest.fixture
def word_vectors(monkeypatch):
    """The similarity of texts is that of their words, without the encoder."""
    monkeypatch.setattr("pytest_medfaith.models.onnx.embed_texts", bags.embed_texts)


@pytest.fixture(scope="session")
def run_pytest(run_forked):
    """Runs pytest in a folder, as a `subprocess.CompletedProcess`, and in a fork where the machine can."""

    def run(folder, *options, **environ):
        return run_forked("pytest", "-p", "no:cacheprovider", *options, folder=folder, **environ)

    return run


@pytest.fixture(scope="session")
def medfaith(run_forked):
    """Runs the command medfaith in a folder, likewise; `merged` writes its errors into its output."""

    def run(*arguments, folder, merged=False, **environ):
        return run_forked("medfaith", *map(str, arguments), folder=folder, merged=merged, **environ)

    return run


@pytest.fixture(scope="session")
def run_forked(start, tmp_path_factory):
    """Runs pytest, medfaith or python to its end."""

    def run(program, *arguments, folder, merged=False, **environ):
        output = tmp_path_factory.mktemp("output")
        with (output / "out").open("w") as out, (output / "err").open("w") as err:
            streams = {"stdout": out, "stderr": out if merged else err}
            status = start(program, *arguments, folder=folder, **streams, **environ).wait()
        # A carriage return is a character of the output, not the end of a line.
        texts = [(output / name).read_bytes().decode() for name in ("out", "err")]
        return subprocess.CompletedProcess(arguments, status, *texts)

    return run


@pytest.fixture(scope="session")
def start(warm):
    """Starts pytest, medfaith or python in a folder; its output goes to open files or terminals."""

    def start(program, *arguments, folder, stdout, stderr, **environ):
        with pytest.MonkeyPatch.context() as context:
            context.chdir(folder)
            for name, value in environ.items():
                context.setenv(name, value)
            if can_fork():
                return warm.popen(arguments, stdout, stderr, program)
            call = [sys.executable, *PROGRAMS[program], *arguments]
            return subprocess.Popen(call, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)

    return start


@pytest.fixture
def server(monkeypatch):
    """A server on loopback that answers as an LLM; its key is in HOUSE_KEY."""
    pytest.importorskip("openai", reason="comes with the extra llm")
    for name in SURROUNDINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOUSE_KEY", KEY)
    found = LlmServer()
    yield found
    found.close()
