"""Has the workers of a Ray cluster judge blocks, through a second process that imports Ray.

Ray ends the process that imported it if the cluster goes away. So `ray_driver.py` runs in a process of its
own, and sends the results through a pipe. If it ends early, the user gets a single clear error.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from pytest_medfaith.bulk.blocks import Block
from pytest_medfaith.bulk.messages import receive, send
from pytest_medfaith.bulk.work import Work
from pytest_medfaith.errors import DataError, MissingExtra

TESTED = (2, 60)  # the version of Ray that the tests run with
LOCAL = "local"  # the address of a cluster that the run starts on this machine, and ends
# Set before Ray is imported, whatever the environment says: nothing is ever reported to Ray's makers.
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_USAGE_STATS_PROMPT_ENABLED": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_COLOR_PREFIX": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
# Set before Ray is imported, unless the environment sets them.
_DEFAULTS = {
    "RAY_gcs_rpc_server_reconnect_timeout_s": "30",  # seconds to wait for the cluster's head if it goes away
    "RAY_worker_niceness": "0",  # with Ray's 15, workers get next to nothing of a busy machine
}
_REACH = 5.0  # seconds to reach an address
_PATIENCE = 15.0  # seconds for the process to end


@dataclass(frozen=True, kw_only=True)
class Job:
    """What the process that imports Ray is asked to do.

    Attributes:
        address: of the cluster; `LOCAL` starts one on this machine.
        workers: at most so many; None for as many as the cluster has cores.
        work: how workers judge rows.
        path: of the file.
        name: of the file, for messages.
        blocks: of the file.
    """

    address: str
    workers: int | None
    work: Work
    path: Path
    name: str
    blocks: Sequence[Block]


@dataclass(frozen=True, kw_only=True)
class RayBridge:
    """A callable that has the workers of a Ray cluster judge blocks of a file (see `engine.Bridge`).

    Attributes:
        address: of the cluster: "host:port", or "auto" for a cluster that Ray finds by itself. `LOCAL` starts
            a cluster on this machine, and ends it with the run.
        workers: at most so many at a time; None for as many as the cluster has cores.
        work: how workers judge rows.
        name: of the file, for messages.
        log: file for what Ray prints; it is overwritten.
        say: called with each line for the user, such as "Ray 2.60.0: up to 8 workers on 2 nodes".
    """

    address: str
    workers: int | None
    work: Work
    name: str
    log: Path
    say: Callable[[str], None]

    def __call__(self, path: Path, blocks: Sequence[Block]) -> Generator[tuple[int, bytes], None, None]:
        """Yields (place of a block among `blocks`, its results) as workers finish.

        Raises:
            DataError: the cluster cannot be reached or went away, or a node would judge differently.
        """
        job = Job(
            address=self.address,
            workers=self.workers,
            work=self.work,
            path=path.resolve(),
            name=self.name,
            blocks=blocks,
        )
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "pytest_medfaith.bulk.ray_driver"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment(),
                start_new_session=True,  # Ctrl-C must end only this process, which then ends the other
            )
            try:
                yield from self._messages(process, job)
            finally:
                _end(process)

    def _messages(
        self, process: subprocess.Popen[bytes], job: Job
    ) -> Generator[tuple[int, bytes], None, None]:
        """Sends the job, and yields (place, results) from the messages that come back."""
        assert process.stdin  # noqa: S101 - asked for
        assert process.stdout  # noqa: S101 - asked for
        with suppress(BrokenPipeError):  # the process ended; its messages, or their lack, tell why
            send(process.stdin, "job", job)
        while True:
            try:
                kind, told, body = receive(process.stdout)
            except EOFError:
                raise DataError(self._gone(process)) from None
            if kind == "results":
                yield told[0], body
            elif kind == "said":
                self.say(told[0])
            elif kind == "error":
                raise DataError(told[0])
            else:
                return

    def _gone(self, process: subprocess.Popen[bytes]) -> str:
        """Returns the message for a process that ended before all blocks were judged."""
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
        cluster = "the Ray of this machine" if self.address == LOCAL else f"the Ray cluster at {self.address}"
        return (
            f"{cluster} went away before all blocks were judged (status {process.returncode}); what Ray said "
            f"is in {self.log}. Finished blocks are kept: start the cluster, and run the same command again "
            "to go on"
        )


def environment() -> dict[str, str]:
    """Returns the environment of the process that imports Ray: no telemetry, and this Python's paths."""
    paths = [str(Path(one or ".").resolve()) for one in sys.path]
    return _DEFAULTS | os.environ | QUIET | {"PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the process, and with it its work on the cluster."""
    assert process.stdin  # noqa: S101 - asked for
    assert process.stdout  # noqa: S101 - asked for
    with suppress(BrokenPipeError):
        process.stdin.close()  # the process ends when its input is closed
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


def check_ray() -> str:
    """Returns a warning if the installed Ray is newer than the tested version; "" otherwise.

    Raises:
        MissingExtra: Ray Data is not installed.
        DataError: Ray is older than the tested version, and works differently.
    """
    try:
        found = version("ray")
    except PackageNotFoundError:
        raise MissingExtra("--engine ray", "ray") from None
    if find_spec("pandas") is None or find_spec("pyarrow") is None:  # Ray Data imports both
        raise MissingExtra("--engine ray", "ray")
    tested = ".".join(map(str, TESTED))
    numbers = tuple(int(part) if part.isdecimal() else 0 for part in found.split(".")[:2])
    if numbers < TESTED:
        raise DataError(
            f"Ray {found} is installed, expected {tested} or newer; run: pip install 'pytest-medfaith[ray]'"
        )
    if numbers > TESTED:
        return f"Ray {found} is untested; this version was tested with Ray {tested}"
    return ""


def check_address(address: str) -> None:
    """Checks that something listens at the address of a cluster, which is faster than waiting for Ray.

    Raises:
        DataError: the address is not host:port or "auto", is of a Ray Client, or nobody listens there.
    """
    if address in (LOCAL, "auto"):
        return
    if address.startswith("ray://"):
        raise DataError(
            f"--address is {address}, of a Ray Client, which cannot read files here; start the command on a "
            "machine of the cluster, with --address auto or host:port of its head"
        )
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isascii() and port.isdecimal() and 0 < int(port) < 2**16):
        raise DataError(f"--address is {address!r}; expected host:port of the head of a Ray cluster, or auto")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_REACH).close()
    except OSError as error:
        raise DataError(
            f"--address is {address}: nobody answers there ({error.strerror or error}); expected the head of "
            "a Ray cluster, such as ray start --head prints it"
        ) from None
