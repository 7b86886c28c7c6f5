"""Starts pytest, medfaith and short scripts in fresh processes that have the slow imports behind them.

The tests start pytest some four hundred times, and each start would import numpy, the tokenizers and the
readers of English anew: two seconds on a slow core. `python tests/warm.py` imports them once and then forks a
process for each run that it is asked for. A run sees what a new process sees: its folder, its environment and
its arguments; what it changes ends with it. The plugin, its hooks and the assertions are imported in each run
anew, because the plugin asks whether they are loaded. The workers that pytest-xdist starts are forked
likewise.

Where a process cannot be forked, or with MEDFAITH_TESTS_FORK=0, each run is a new Python.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import inspect
import io
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from typing import Any, NoReturn

import pytest

IMPORTED = (
    "pytest_medfaith.cards.html",
    "pytest_medfaith.checking.judge",
    "pytest_medfaith.checking.loading",
    "pytest_medfaith.cli",
    "pytest_medfaith.evaluation",
    "pytest_medfaith.frames",
    "pytest_medfaith.retrieval.bm25",
    "pytest_medfaith.retrieval.matches",
    "pytest_medfaith.retrieval.notes",
    "pytest_medfaith.retrieval.signature",
    "pytest_medfaith.run.answering",
    "pytest_medfaith.run.collected",
    "pytest_medfaith.run.finish",
    "pytest_medfaith.run.options",
    "pytest_medfaith.run.resources",
    "pytest_medfaith.run.sharding",
    "pytest_medfaith.run.targets",
    "pytest_medfaith.run.terminal",
    "pytest_medfaith.testing",
    "rank_bm25",
    "scipy.stats",  # what judges gates
    "tabulate",
)
WRITTEN = os.O_WRONLY | os.O_TRUNC | os.O_NOCTTY
# What the plugin takes for a sign that a run uses it.
LEFT_OUT = ("pytest_medfaith.asserts", "pytest_medfaith.run.collection")


class Warm:
    """A process that forks pytest runs, started when the first run is asked for."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def popen(self, arguments: tuple[str, ...], stdout: Any, stderr: Any, program: str = "pytest") -> Run:
        """Starts a program in the current folder and environment: "pytest", "medfaith" or "python".

        Python is given `-c` and a script. `stdout` and `stderr` are open files, pipes or terminals, which may
        be closed at once. The folder is on the path as Python puts it there: for `python -m pytest` and for
        `python -c`, not for the installed script medfaith.
        """
        self._process = self._process or subprocess.Popen(
            # -E: the first run's PYTHONPATH must not stay the path of all the others.
            [sys.executable, "-E", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        folder = os.getcwd()  # noqa: PTH109 - as Pytester reads it
        paths = filter(None, (folder if program == "pytest" else "", os.environ.get("PYTHONPATH")))
        asked = {
            "program": program,
            "arguments": arguments,
            "cwd": folder,
            "umask": _umask(),
            "environment": {**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            "stdout": f"/proc/{os.getpid()}/fd/{stdout.fileno()}",
            "stderr": f"/proc/{os.getpid()}/fd/{stderr.fileno()}",
        }
        return Run(self, self.ask(asked))

    def ask(self, asked: dict[str, Any]) -> int:
        """Returns the number that the process answers."""
        assert self._process
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(asked, default=str) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """Ends the process."""
        if self._process:
            self._process.communicate()


class Run:
    """A run, with what tests and `Pytester.run` ask of a `subprocess.Popen`."""

    stdin = None

    def __init__(self, warm: Warm, pid: int) -> None:
        self._warm, self.pid = warm, pid
        self._status: int | None = None

    def wait(self) -> int:
        """Returns the exit status once the run has ended; it is negative where a signal ended it."""
        if self._status is None:
            self._status = self._warm.ask({"wait": self.pid})
        return self._status

    def kill(self) -> None:
        """Ends the run at once."""
        if self._status is None:
            os.kill(self.pid, signal.SIGKILL)


def can_fork() -> bool:
    """Returns whether a run may be forked here."""
    return sys.platform == "linux" and os.environ.get("MEDFAITH_TESTS_FORK") != "0"


def _umask() -> int:
    os.umask(umask := os.umask(0))  # there is no way to read it that does not set it
    return umask


def _serve() -> None:
    from _pytest.config import _prepareconfig

    # Modules of a plugin are rewritten on import; a module that was not would be warned about in each run.
    # Nothing of the folder that the first run is started in may reach the next runs.
    with tempfile.TemporaryDirectory() as empty:
        os.chdir(empty)
        _prepareconfig(["--noconftest", f"--rootdir={empty}", "-pno:cacheprovider"])._ensure_unconfigure()
        os.chdir(os.path.sep)
    for name in IMPORTED:
        __import__(name)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads would be lost in a fork
    rows = Rows()
    _judge_an_answer()
    inspect.getmodule(_serve.__code__)  # the files of all modules, which a test that fails is looked up in
    loaded = [name for name in LEFT_OUT if name in sys.modules]
    if loaded:
        sys.exit(f"tests/warm.py imports {', '.join(loaded)}, whose import changes what a run does")
    # What is here already is no garbage of a run: pytest collects garbage twice, and would copy each page.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        asked = json.loads(line)
        if "wait" in asked:
            answer = os.waitstatus_to_exitcode(os.waitpid(asked["wait"], 0)[1])
            rows.learn()
        else:
            streams = _streams(asked)
            if (answer := os.fork()) == 0:
                _run(asked, streams)
            for stream in streams:
                os.close(stream)
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


class Rows:
    """The outputs of the encoder and of the checker "fast", which the runs share: they read the same texts.

    A model reads each row of tokens by itself, so its output is the same in any run. A run appends the rows
    that are new to a file, and the process that forks the runs reads them before it forks the next.
    """

    def __init__(self) -> None:
        from pytest_medfaith.models import onnx
        from pytest_medfaith.models.shipped import ENCODER, FAST_CHECKER

        # A session runs on one thread, so it starts none that a fork would lose.
        self._sessions = [onnx.load_session(path) for path in (ENCODER, FAST_CHECKER / "model.onnx")]
        self._outputs: dict[tuple[int, str], Any] = {}
        self._compute = onnx.run_rows
        self._file = tempfile.TemporaryFile("ab+", buffering=0)  # noqa: SIM115 - open as long as the process
        self._read = 0
        onnx.run_rows = self.run_rows

    def run_rows(self, session: Any, row: tuple[list[int], list[int]]) -> Any:
        """Returns what `onnx.run_rows` returns, from memory where a run has computed it before."""
        number = next((i for i, loaded in enumerate(self._sessions) if loaded is session), None)
        # A model of the run's own, or a test that asks whether runs say the same.
        if number is None or os.environ.get("MEDFAITH_TESTS_SHARE") == "0":
            return self._compute(session, row)
        key = (number, repr(row))
        if key not in self._outputs:
            output = self._outputs[key] = self._compute(session, row)
            self._file.write(pickle.dumps((key, output)))  # at once, and whole: other processes append, too
        return self._outputs[key].copy()

    def learn(self) -> None:
        """Reads what the last run computed."""
        at, end = self._read, os.fstat(self._file.fileno()).st_size
        appended = io.BytesIO(os.pread(self._file.fileno(), end - at, at))
        with contextlib.suppress(EOFError, pickle.UnpicklingError):  # a worker appends still
            while appended.tell() < end - at:
                key, output = pickle.load(appended)  # noqa: S301 - what runs of these tests wrote
                self._outputs[key] = output
                self._read = at + appended.tell()


class Worker:
    """A forked worker of pytest-xdist, with what execnet asks of a `subprocess.Popen`."""

    def __init__(self, nursery: socket.socket) -> None:
        its_input, stdin = os.pipe()
        stdout, its_output = os.pipe()
        self._end, its_end = socket.socketpair()
        given = (its_input, its_output, its_end.detach())
        socket.send_fds(nursery, [b"fork"], given)
        for descriptor in given:
            os.close(descriptor)
        self.pid = int(self._end.recv(32))
        self.stdin, self.stdout = os.fdopen(stdin, "wb", 0), os.fdopen(stdout, "rb", 0)

    def wait(self) -> int:
        """Returns when the worker has closed its end of the socket, as its death does."""
        self._end.recv(1)
        return 0

    def kill(self) -> None:
        """Ends the worker at once."""
        os.kill(self.pid, signal.SIGKILL)


def _fork_workers() -> None:
    """Lets pytest-xdist fork its workers from a copy of this process, made before pytest has changed it."""
    import execnet.gateway_io as gateway

    nursery, its_end = socket.socketpair()
    if os.fork() == 0:
        nursery.close()
        _serve_workers(its_end)
    its_end.close()

    def start(self: Any, _: list[str], execmodel: Any) -> None:
        self.popen = Worker(nursery)
        super(gateway.Popen2IOMaster, self).__init__(self.popen.stdin, self.popen.stdout, execmodel=execmodel)

    gateway.Popen2IOMaster.__init__ = start  # type: ignore[method-assign]


def _serve_workers(requests: socket.socket) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a dead worker leaves no zombie
    while True:
        message, given, _, _ = socket.recv_fds(requests, 16, 3)
        if not message:  # the run has ended
            os._exit(0)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            requests.close()
            _work(*given)
        for descriptor in given:
            os.close(descriptor)


def _work(stdin: int, stdout: int, end: int) -> NoReturn:
    os.dup2(stdin, 0)
    os.dup2(stdout, 1)
    os.close(stdin)
    os.close(stdout)
    os.write(end, str(os.getpid()).encode())
    sys.argv[:] = ["-c"]
    sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
    try:
        # The line is a program of execnet, which starts a worker so.
        exec(eval(sys.stdin.readline()), {"__name__": "__main__"})  # noqa: S102, S307
    finally:
        _end(0)


def _judge_an_answer() -> None:
    """Reads the tables and compiles the patterns that any answer needs."""
    from pytest_medfaith.checking.loading import load_checker
    from pytest_medfaith.evaluation import evaluate_case
    from pytest_medfaith.records import Case, Chunk, Response
    from pytest_medfaith.safety.rulebook import load_rulebook
    from pytest_medfaith.severity.rules import load_severity

    load_rulebook(())  # as the settings of a project without rules of its own call them
    load_severity(())
    text = "Metformin 500 mg twice daily, e.g. 5 mg. daily, lowers glucose in adults. It is not for children."
    response = Response(case_id="warm", answer=text, contexts=(Chunk(id="a", text=text),))
    evaluate_case(Case(id="warm", question="Who takes it?"), response, checker=load_checker("fast"))


def _streams(asked: dict[str, Any]) -> list[int]:
    """Opens what a run reads and writes, so that who asks for the run may close it at once."""
    paths = [os.devnull, asked["stdout"], asked["stderr"]]
    return [os.open(path, os.O_RDWR if path == os.devnull else WRITTEN) for path in paths]


def _run(asked: dict[str, Any], streams: list[int]) -> NoReturn:
    status = 70  # what a process ends with that fails in its software
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        if asked["stdout"] == asked["stderr"]:
            os.dup2(1, 2)
        os.environ.clear()
        os.environ.update(asked["environment"])
        os.umask(asked["umask"])
        os.chdir(asked["cwd"])
        # Hypothesis asks the garbage collector who holds trio's random numbers. It does not see what is
        # frozen.
        asked["held"] = getattr(sys.modules.get("trio._core._run"), "_r", None)
        sys.path[:0] = filter(None, os.environ["PYTHONPATH"].split(os.pathsep))
        sys.argv[:] = [asked["program"], *asked["arguments"]]
        if "-n" in asked["arguments"]:
            _fork_workers()
        status = PROGRAMS[asked["program"]]()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - the process ends here, as Python's main would end it
        traceback.print_exc()
    _end(status)


def _command() -> int:
    from pytest_medfaith.cli import main

    main()  # it ends with a SystemExit where the status is not 0
    return 0


def _script() -> int:
    _, _, code, *arguments = sys.argv
    sys.path.insert(0, "")
    sys.argv[:] = ["-c", *arguments]
    exec(code, {"__name__": "__main__"})  # noqa: S102
    return 0


PROGRAMS = {"pytest": lambda: int(pytest.main()), "medfaith": _command, "python": _script}


def _end(status: int) -> NoReturn:
    with contextlib.suppress(Exception):
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this file, which no run sees
    _serve()
