"""Settings of retrieval as options of the commands; they are called and checked as in the settings file."""

from __future__ import annotations

from typing import Annotated

import typer

RetrieverOption = Annotated[
    str,
    typer.Option(
        help="Such as bm25, dense, rrf or weighted; rrf+fast adds a reranker; store:ADDRESS asks a store; or a dotted name package.module:factory."
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
