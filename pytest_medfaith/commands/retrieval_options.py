"""The settings of retrieval as options of commands, named and checked as in the settings file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Annotated, Any

import typer

RetrieverOption = Annotated[
    str,
    typer.Option(
        help="Such as bm25, dense, rrf or weighted; rrf+fast adds a reranker; store:ADDRESS asks a store; or "
        "a dotted name package.module:factory."
    ),
]
EncodersOption = Annotated[
    list[str] | None,
    typer.Option("--encoder", help="The encoder of dense retrieval; given again, several are fused."),
]
FuseOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fuse",
        help="A retriever that rrf and weighted fuse, in place of bm25 and dense; may be given again.",
    ),
]
K1Option = Annotated[float | None, typer.Option("--k1", help="Parameter k1 of BM25; 0.9 where not given.")]
BOption = Annotated[float | None, typer.Option("--b", help="Parameter b of BM25; 0.4 where not given.")]
RrfKOption = Annotated[
    int | None, typer.Option(help="The constant of reciprocal rank fusion; 100 where not given.")
]
WeightsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="NAME=X",
        help="The weight of a retriever in weighted fusion, such as dense=0.7; again for each.",
    ),
]
DenseIndexOption = Annotated[
    str | None,
    typer.Option(
        "--dense-index",
        help="flat, which is exact and the default; hnsw, ivfpq, sq8; or a factory string of FAISS.",
    ),
]
EfSearchOption = Annotated[
    int | None,
    typer.Option(help="How many neighbours a search of hnsw keeps in sight; 256 where not given."),
]
NprobeOption = Annotated[
    int | None, typer.Option(help="How many lists a search of ivfpq reads; 32 where not given.")
]
PoolOption = Annotated[
    int | None, typer.Option(help="How many candidates fusion takes of each retriever; 100 where not given.")
]
RerankPoolOption = Annotated[
    int | None, typer.Option(help="How many candidates a reranker reads; 20 where not given.")
]
ChunkContextOption = Annotated[
    str | None,
    typer.Option(
        metavar="KIND",
        help="What is read of a chunk before its text: path (title and section path), title, or none.",
    ),
]
FiltersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="FIELD=VALUE",
        help="Find only chunks of a source, a journal or years, as in year=2015-; may be given again.",
    ),
]
StopWordsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--stop-word",
        metavar="WORD",
        help="A word that BM25 leaves out of questions, or english for the usual words; may be given again.",
    ),
]

# Each option of retrieval: the name of the setting that it gives, and what typer needs.
_OPTIONS: Mapping[str, tuple[str, Any]] = {
    "encoder": ("encoders", EncodersOption),
    "fuse": ("fused", FuseOption),
    "k1": ("k1", K1Option),
    "b": ("b", BOption),
    "rrf_k": ("rrf_k", RrfKOption),
    "weight": ("weights", WeightsOption),
    "pool": ("pool", PoolOption),
    "rerank_pool": ("rerank_pool", RerankPoolOption),
    "dense_index": ("dense_index", DenseIndexOption),
    "ef_search": ("ef_search", EfSearchOption),
    "nprobe": ("nprobe", NprobeOption),
    "chunk_context": ("chunk_context", ChunkContextOption),
    "filters": ("filters", FiltersOption),
    "stop_words": ("stop_words", StopWordsOption),
}


def with_retrieval_options(
    command: Callable[..., None], *, without: Collection[str] = ()
) -> Callable[..., None]:
    """Returns `command` with an option for each setting of retrieval that is not in `without`.

    The command gets them as `retrieval`: {setting: checked value}, of those that were typed.
    """
    options = {name: option for name, option in _OPTIONS.items() if name not in without}

    @wraps(command)
    def called(**given: Any) -> None:
        asked = {setting: given.pop(name) for name, (setting, _) in options.items()}
        command(**given, retrieval=given_settings(asked))

    declared = inspect.signature(command, eval_str=True).parameters.values()
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, (_, kind) in options.items()
    ]
    parameters = [*(one for one in declared if one.name != "retrieval"), *added]
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def given_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns {setting: checked value} of the options of retrieval that were typed; {} for none.

    Raises:
        DataError: a value of the wrong type or out of its range.
    """
    from pytest_medfaith.config import command_line_settings

    return command_line_settings(options)
