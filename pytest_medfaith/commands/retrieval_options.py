"""Settings of retrieval as options of the commands; they are called and checked as in the settings file."""

from __future__ import annotations

from typing import Annotated

import typer

RetrieverOption = Annotated[
    str,
    typer.Option(
        help="Such as bm25, dense, rrf or weighted, with a reranker rrf+fast, or a dotted name package.module:factory."
    ),
]
EncodersOption = Annotated[
    list[str] | None, typer.Option("--encoder", help="Of dense retrieval; again to fuse several.")
]
FuseOption = Annotated[
    list[str] | None,
    typer.Option("--fuse", help="What rrf and weighted fuse: bm25 and dense; may be given again."),
]
K1Option = Annotated[float | None, typer.Option("--k1", help="Of BM25; 0.9 where not given.")]
BOption = Annotated[float | None, typer.Option("--b", help="Of BM25; 0.4 where not given.")]
RrfKOption = Annotated[int | None, typer.Option(help="The constant of reciprocal rank fusion; 100.")]
WeightsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="NAME=X",
        help="Of a retriever in weighted fusion, such as dense=0.7; again for each.",
    ),
]
PoolOption = Annotated[int | None, typer.Option(help="Candidates that fusion takes of each retriever; 100.")]
RerankPoolOption = Annotated[int | None, typer.Option(help="Candidates that a reranker reads; 20.")]
