"""The options of the command line. They beat the marker, and the marker beats the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from pytest_medfaith.config import JudgedContexts
    from pytest_medfaith.run.shards import Shard
    from pytest_medfaith.teacher.settings import Mode


# Settings of retrieval that the command line may say, and their options without --medfaith-.
_RETRIEVAL = {
    "k1": "k1",
    "b": "b",
    "rrf_k": "rrf-k",
    "weights": "weight",
    "fused": "fuse",
    "pool": "pool",
    "rerank_pool": "rerank-pool",
    "encoders": "encoder",
    "chunk_context": "chunk-context",
    "filters": "filter",
    "stop_words": "stop-word",
    "dense_index": "dense-index",
    "ef_search": "ef-search",
    "nprobe": "nprobe",
}


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options --medfaith-*; None and empty mean that the command line does not give it.

    `retrieval` is {setting of retrieval: value}, as in {"k1": 1.2}. `llm` says what the teacher may do.
    `kept_baseline` is the number of a kept copy of the baseline. `retrieval_only` is an option of `medfaith
    evaluate` alone; a test says it by the fixtures that it takes.
    """

    slices: tuple[str, ...] = ()
    k: tuple[int, ...] = ()
    retriever: tuple[str, ...] = ()
    checker: tuple[str, ...] = ()
    contexts: tuple[JudgedContexts, ...] = ()
    retrieval_only: bool = False
    limit: int | None = None
    retrieval: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    gates: tuple[str, ...] = ()
    rules_off: tuple[str, ...] = ()
    report: Path | None = None
    baseline: Path | None = None
    kept_baseline: int | None = None
    update_baseline: bool = False
    audit: bool = False
    verbose: bool = False
    llm: Mode | None = None
    shard: Shard | None = None


def options_of(config: pytest.Config) -> Options:
    """Returns the options on pytest's command line; paths are relative to where pytest was started.

    Raises:
        UsageError: the baseline to write is a kept copy, or a setting is out of its range.
    """
    from pytest_medfaith.run.shards import parse_shard

    option = config.getoption
    file, number = _baseline(config)
    retrieval = {name: option(f"--medfaith-{flag}") for name, flag in _RETRIEVAL.items()}
    return Options(
        slices=tuple(option("--medfaith-slice")),
        k=(option("--medfaith-k"),) if option("--medfaith-k") else (),
        retriever=tuple(option("--medfaith-retriever")),
        checker=tuple(option("--medfaith-checker")),
        contexts=tuple(option("--medfaith-contexts")),
        limit=option("--medfaith-limit"),
        retrieval=_checked(retrieval),
        seed=option("--medfaith-seed"),
        gates=tuple(option("--medfaith-gate")),
        rules_off=tuple(option("--medfaith-rules-off")),
        report=report_folder(config) if option("--medfaith-report") else None,
        baseline=file,
        kept_baseline=number,
        update_baseline=option("--medfaith-update-baseline"),
        audit=option("--medfaith-audit"),
        verbose=option("--medfaith-verbose"),
        llm=option("--medfaith-llm"),
        shard=parse_shard(option("--medfaith-shard")) if option("--medfaith-shard") else None,
    )


def _checked(retrieval: Mapping[str, Any]) -> Mapping[str, Any]:
    from pytest_medfaith.config import command_line_settings
    from pytest_medfaith.errors import DataError

    try:
        return command_line_settings(retrieval)
    except DataError as error:
        import pytest

        raise pytest.UsageError(str(error)) from None


def report_folder(config: pytest.Config) -> Path:
    """Returns the folder of --medfaith-report, from where pytest was started."""
    return Path(config.invocation_params.dir, config.getoption("--medfaith-report"))


def _baseline(config: pytest.Config) -> tuple[Path | None, int | None]:
    """Returns (file, number) of --medfaith-baseline, of which one is None.

    "0007" is the number of a kept copy, unless a file has this name.
    """
    given = config.getoption("--medfaith-baseline")
    file = Path(config.invocation_params.dir, given) if given else None
    if file is None or not (given.isascii() and given.isdecimal()) or file.exists():
        return file, None
    if config.getoption("--medfaith-update-baseline"):
        import pytest

        raise pytest.UsageError(
            f"--medfaith-baseline is {given}, a kept copy, which is never written over; leave it out, or "
            "give a file for --medfaith-update-baseline"
        )
    return None, int(given)
