"""The process that imports Ray: it reads a job from standard input, and writes results to standard output.

Anything else that is printed, as by Ray, goes to standard error, since it would break the messages.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pytest_medfaith.bulk.messages import receive, send
from pytest_medfaith.bulk.ray_bridge import LOCAL, QUIET, Job

if TYPE_CHECKING:
    from pytest_medfaith.bulk.work import Judge, Work

_STARTS = 3  # tries to start Ray, which gives up on itself after 30 seconds
_RETRIES = 1  # further tries of a block whose worker died; after that its rows are judged one by one


class BlockWorker:
    """Judges blocks in a worker of Ray Data, which keeps one of these, with its model, in each worker.

    A model that cannot be loaded does not raise here, since Ray would try again; each block then returns the
    error.

    Args:
        work: how to judge.
        feeder: gives the bytes of blocks.
        name: of the file, for messages.
    """

    def __init__(self, work: Work, feeder: Any, name: str) -> None:
        """Loads the model; an error is kept for `__call__`."""
        self._work, self._feeder, self._name = work, feeder, name
        self._judge: Judge | None = None
        self._error = ""
        try:
            self._judge = work.begin()
        except Exception as error:  # noqa: BLE001 - it ends the run, as a message instead of a trace of Ray
            self._error = str(error) or repr(error)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Returns the results of a block; `batch` and what is returned are columns with a single row.

        "error" is "" unless the worker cannot judge at all.
        """
        import ray

        from pytest_medfaith.bulk.work import judge_block

        (place,), (offset,), (length,), (line,) = (
            batch[key].tolist() for key in ("place", "offset", "length", "line")
        )
        if self._judge is None:
            return {"place": [place], "results": [b""], "error": [self._error]}
        data = ray.get(self._feeder.read.remote(offset, length))
        judged = judge_block(self._work, self._judge, data, line=line, name=self._name)
        return {"place": [place], "results": [judged.to_bytes()], "error": [""]}


class Feeder:
    """Reads bytes of the file on the machine that started the run, so other nodes do not need the file."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")

    def read(self, offset: int, length: int) -> bytes:
        """Returns `length` bytes of the file from `offset` on; fewer where the file ends before."""
        self._file.seek(offset)
        return self._file.read(length)


def main() -> None:
    """Runs the job that standard input holds, and writes its messages; stops if standard input is closed.

    It is closed when the process that started this one ends.
    """
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _, (job,), _ = receive(sys.stdin.buffer)
    threading.Thread(target=_end_with_input, daemon=True).start()
    os.environ.update(QUIET)
    send(out, *_last_message(job, out))
    out.close()


def _last_message(job: Job, out: IO[bytes]) -> tuple[str, ...]:
    """Runs the job and sends its messages; returns the last one, ("end",) or ("error", why)."""
    try:
        for kind, told, body in run_job(job):
            send(out, kind, told, body=body)
            if kind == "error":
                return ("end",)
    except Exception as error:  # noqa: BLE001 - whatever Ray raises is told as one message
        import traceback

        traceback.print_exc()
        said = (str(error) or repr(error)).strip().splitlines()[0]
        return "error", f"Ray could not run the blocks: {said}. Finished blocks are kept for the next run"
    return ("end",)


def _end_with_input() -> None:
    """Waits until standard input is closed, then ends this process at once."""
    sys.stdin.buffer.read()
    os._exit(1)


def run_job(job: Job) -> Iterator[tuple[str, Any, bytes]]:
    """Yields messages: ("said", line, b""), ("results", place of the block, bytes), ("error", why, b"").

    An error is the last message.
    """
    import ray

    _connect(job)
    cores = int(ray.cluster_resources().get("CPU", 0))
    nodes = sum(bool(node["Alive"]) for node in ray.nodes())
    workers = job.workers or max(1, cores)
    yield "said", f"Ray {ray.__version__}: up to {workers} workers on {nodes} nodes", b""
    for row in _judged(job, workers).iter_rows():
        if row["error"]:
            yield "error", row["error"], b""
            return
        yield "results", row["place"], row["results"]
    ray.shutdown()


def _connect(job: Job) -> None:
    """Connects to the cluster, or starts one on this machine, which may take a few tries when it is busy."""
    import ray

    told: dict[str, Any] = {"address": job.address, "log_to_driver": False, "logging_level": "ERROR"}
    if job.address != LOCAL:
        ray.init(**told)
        return
    for number in range(_STARTS):
        try:
            ray.init(**told, include_dashboard=False, num_cpus=job.workers)
        except Exception:  # noqa: PERF203 - as many tries as it takes
            ray.shutdown()
            if number == _STARTS - 1:
                raise
        else:
            return


def _judged(job: Job, workers: int) -> Any:
    """Returns Ray's data set of results, a row for each block, which is computed while it is read."""
    import ray
    import ray.data
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.max_errored_blocks = -1  # a block whose workers all died is judged row by row afterwards
    context.print_on_execution_start = False
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    feeder = ray.remote(num_cpus=0, scheduling_strategy=here)(Feeder).remote(job.path)
    items = [
        {"place": place, "offset": block.offset, "length": block.length, "line": block.line}
        for place, block in enumerate(job.blocks)
    ]
    workers = min(workers, len(items))
    # Where rows are judged one by one, a row must not wait in a worker that another row may end: it would be
    # taken for the culprit.
    waiting = {"max_tasks_in_flight_per_actor": 1} if all(block.rows == 1 for block in job.blocks) else {}
    return ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
        BlockWorker,
        fn_constructor_args=(job.work, feeder, job.name),
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=workers, initial_size=workers, **waiting),
        batch_size=1,
        num_cpus=1,
        max_restarts=-1,
        max_task_retries=_RETRIES,
    )


if __name__ == "__main__":
    main()
