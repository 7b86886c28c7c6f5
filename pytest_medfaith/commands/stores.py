"""`medfaith index --store`: loads a corpus into a vector store."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from pytest_medfaith import defaults
from pytest_medfaith.commands.parts import progress_bar, say

StoreOption = Annotated[
    str | None,
    typer.Option(
        help="Load the corpus into a store: qdrant+http://HOST:6333/NAME, "
        "pgvector://USER@HOST/DATABASE/NAME, opensearch+https://USER@HOST:9200/NAME, or env:VARIABLE that "
        "holds such an address."
    ),
]


def index_into_store(
    corpus: Sequence[Path], given: str, *, encoder: str, k1: float | None, b: float | None
) -> None:
    """Loads a corpus into the store at the address `given`, and prints how many chunks were new."""
    from pytest_medfaith.config import command_line_settings
    from pytest_medfaith.jsonl import iter_chunks
    from pytest_medfaith.retrieval.bm25 import check_parameters
    from pytest_medfaith.retrieval.encoders import load_encoder
    from pytest_medfaith.retrieval.stores.address import parse_address
    from pytest_medfaith.retrieval.stores.loading import load_store
    from pytest_medfaith.retrieval.stores.opening import open_store

    said = {"k1": defaults.K1, "b": defaults.B, **command_line_settings({"k1": k1, "b": b})}
    check_parameters(said["k1"], said["b"])
    store = open_store(parse_address(given))
    try:
        loaded = load_store(
            store,
            partial(iter_chunks, corpus),
            load_encoder(encoder),
            progress=progress_bar("chunks"),
            **said,
        )
    finally:
        store.close()
    state = loaded.state
    say(
        f"{store.address}: {state.chunks} chunks, {state.dimension} dimensions; {loaded.written} written, "
        f"{state.chunks - loaded.written} there already"
    )
