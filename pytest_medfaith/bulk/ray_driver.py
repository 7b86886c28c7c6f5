"""The process that imports Ray: it takes a job from standard input, and gives results to standard output.

Everything else that is written to standard output, as by Ray, goes to standard error.
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
_RETRIES = 1  # of a block whose worker died; then its rows are judged one by one


class BlockWorker:
    """Judges blocks; Ray Data keeps an instance in each worker, and each has a model."""

    def __init__(self, work: Work, feeder: Any, name: str) -> None:
        self._work, self._feeder, self._name = work, feeder, name
        self._judge: Judge | None = None
        self._error = ""
        try:
            self._judge = work.begin()
        except Exception as error:  # noqa: BLE001 - it ends the run, as a message instead of a trace of Ray
            self._error = str(error) or repr(error)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Returns the results of a block as its only row."""
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
    """Reads blocks on the machine that started the run; other nodes need not see the file."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")

    def read(self, offset: int, length: int) -> bytes:
        """Returns some bytes of the file."""
        self._file.seek(offset)
        return self._file.read(length)


def main() -> None:
    """Runs the job that standard input holds; ends with standard input, as when the asking process ends."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _, (job,), _ = receive(sys.stdin.buffer)
    threading.Thread(target=_end_with_input, daemon=True).start()
    os.environ.update(QUIET)
    send(out, *_last_message(job, out))
    out.close()


def _last_message(job: Job, out: IO[bytes]) -> tuple[str, ...]:
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
    sys.stdin.buffer.read()
    os._exit(1)


def run_job(job: Job) -> Iterator[tuple[str, Any, bytes]]:
    """Yields messages: ("said", line, b""), ("results", place, bytes), ("error", why, b"")."""
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
    """Connects to the cluster, or starts one here; on a busy machine its start may take some tries."""
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
    """Returns the data set of the results, which is computed as it is read."""
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
    # Where rows are judged one by one, none waits behind another in a worker that dies, and is not blamed.
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
