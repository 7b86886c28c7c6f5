"""`medfaith chunk`, `medfaith index` and `medfaith retrieve`: from pages to hits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pytest_medfaith import defaults
from pytest_medfaith.commands.parts import progress_bar, say
from pytest_medfaith.commands.retrieval_options import (
    ChunkContextOption,
    DenseIndexOption,
    EfSearchOption,
    NprobeOption,
    RetrieverOption,
    given_settings,
    with_retrieval_options,
)
from pytest_medfaith.errors import DataError
from pytest_medfaith.plain import one_line, plain_json

if TYPE_CHECKING:
    from pytest_medfaith.records import Hit

JsonOption = Annotated[bool, typer.Option("--json", help="Print a JSON object for each hit instead of text.")]
CorpusOption = Annotated[
    list[Path], typer.Option("--corpus", help="A folder or file of chunks in JSON Lines; may be given again.")
]
EncoderOption = Annotated[
    str,
    typer.Option(
        help="default (shipped), a family such as medcpt or e5-base, a folder, FAMILY=FOLDER, a sentence-transformers name, or openai=MODEL."
    ),
]
IndexesOption = Annotated[
    Path, typer.Option("--cache", help="Where indexes live, each under the hash of its corpus.")
]
QueryArgument = Annotated[str, typer.Argument(help="A question or keywords.")]
DepthOption = Annotated[int, typer.Option(min=1, help="How many chunks.")]
PagesArgument = Annotated[
    Path,
    typer.Argument(
        help="A page, a folder or an archive (.tar.*, .zip) of .md, .txt, .html, .xml, .nxml, .jsonl, .pdf, "
        ".docx."
    ),
]
SourceOption = Annotated[str, typer.Option(help="Name of the corpus, such as statpearls; ids begin with it.")]
ChunksOption = Annotated[
    Path, typer.Option(help="Folder for the chunks, such as corpus/NAME/chunk; not inside SRC.")
]
SizeOption = Annotated[int, typer.Option(help="The most tokens of a chunk; 400 to 700 suit most encoders.")]
StrideOption = Annotated[int, typer.Option(help="Tokens that neighbouring chunks share, in whole sentences.")]
FewestOption = Annotated[
    int, typer.Option(help="The fewest sentences of a chunk, where its section has as many.")
]
MostOption = Annotated[int, typer.Option(help="The most sentences of a chunk.")]
CharactersOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Cut by characters, across sections: chunks of at most N, up to 1,000, which share a fifth with the next. --size, --stride and sentences do not count then.",
    ),
]
PrefixOption = Annotated[
    str | None,
    typer.Option(help="title: keep title and section path beside the text, for retrieval to read."),
]
DedupOption = Annotated[
    str | None, typer.Option(help="minhash (extra: dedup) or cosine: drop near-duplicates and list them.")
]
SimilarityOption = Annotated[
    float | None,
    typer.Option(
        help=f"Similarity from which a chunk is dropped: {defaults.MINHASH_SIMILARITY} for minhash, "
        f"{defaults.COSINE_SIMILARITY} for cosine."
    ),
]
WorkersOption = Annotated[int, typer.Option(min=1, help="Processes; the result is the same for any number.")]


def index(
    corpus: CorpusOption,
    encoder: EncoderOption = defaults.ENCODER,
    cache: IndexesOption = Path(defaults.CACHE),
    chunk_context: ChunkContextOption = None,
    dense_index: DenseIndexOption = None,
    ef_search: EfSearchOption = None,
    nprobe: NprobeOption = None,
) -> None:
    """Build the dense index of a corpus ahead of time.

    The command builds the index of an unchanged corpus only once, and goes on with an interrupted build.

    Example: medfaith index --corpus corpus_samples
    """
    from pytest_medfaith.cards.wording import index_text
    from pytest_medfaith.jsonl import read_chunks
    from pytest_medfaith.retrieval.build import RetrievalSettings, size_notes
    from pytest_medfaith.retrieval.context import contextual_chunks
    from pytest_medfaith.retrieval.encoders import load_encoder
    from pytest_medfaith.retrieval.faiss_index import open_index
    from pytest_medfaith.retrieval.index import index_folder

    given = {"dense_index": dense_index, "ef_search": ef_search, "nprobe": nprobe}
    settings = RetrievalSettings(**given_settings({**given, "chunk_context": chunk_context}))
    chunks = contextual_chunks(read_chunks(corpus), settings.chunk_context)
    loaded = load_encoder(encoder)
    for note in size_notes("dense", settings, size=len(chunks)):
        say(note, err=True)
    held = open_index(chunks, loaded, cache=cache, choice=settings.choice, progress=progress_bar("chunks"))
    folder = index_folder(cache, chunks, loaded)
    reading = f", read by {loaded.reading}" if loaded.reading else ""
    say(f"{folder}: {len(chunks)} chunks, {held.width} dimensions, {held.size} bytes{reading}")
    if held.told:
        say(index_text(held.told))


@with_retrieval_options
def retrieve(
    query: QueryArgument,
    corpus: CorpusOption,
    k: DepthOption = 5,  # fits on a screen; a slice asks for more
    retriever: RetrieverOption = defaults.RETRIEVER,
    cache: IndexesOption = Path(defaults.CACHE),
    as_json: JsonOption = False,
    *,
    retrieval: Mapping[str, Any],
) -> None:
    """Show what a retriever finds for a question.

    Example: medfaith retrieve "first-line drug for type 2 diabetes" --corpus corpus_samples
    """
    from pytest_medfaith.cards.wording import clip
    from pytest_medfaith.jsonl import read_chunks
    from pytest_medfaith.retrieval.build import RetrievalSettings, build_retriever, size_notes

    chunks, settings = read_chunks(corpus), RetrievalSettings(cache=cache, **retrieval)
    for note in size_notes(retriever, settings, size=len(chunks)):
        say(note, err=True)
    search = build_retriever(retriever, chunks, settings=settings, progress=progress_bar("chunks"))
    for hit in search(query, top_k=k):
        if as_json:
            typer.echo(plain_json(json.dumps(hit.to_dict(), ensure_ascii=False)))
        else:
            say(f"{hit.rank:>3}  {hit.score:.4f}  {one_line(hit.chunk.id)}  ({_by_retriever(hit)})")
            say(f"     {one_line(hit.chunk.title)}: {clip(hit.chunk.text, 160)}")


def _by_retriever(hit: Hit) -> str:
    """Returns the rank and the score that each retriever gave a hit, as in "bm25 1 at 7.2, dense 3 at 0.61"."""
    scores = {name: f" at {score:.3g}" for name, score in hit.scores.items()}
    return ", ".join(f"{one_line(name)} {rank}{scores.get(name, '')}" for name, rank in hit.ranks.items())


def chunk(
    src: PagesArgument,
    source: SourceOption,
    out: ChunksOption,
    size: SizeOption = defaults.SIZE,
    stride: StrideOption = defaults.STRIDE,
    min_sent: FewestOption = defaults.MIN_SENTENCES,
    max_sent: MostOption = defaults.MAX_SENTENCES,
    characters: CharactersOption = None,
    prefix: PrefixOption = None,
    dedup: DedupOption = None,
    dedup_threshold: SimilarityOption = None,
    workers: WorkersOption = 1,
) -> None:
    """Cut pages into chunks of whole sentences.

    A chunk never crosses a section, unless it is cut by characters. Its span cuts the same text out of the page
    again.

    Example: medfaith chunk pages/ --source clinic --out corpus/clinic/chunk
    """
    from pytest_medfaith.corpus.chunk import chunk_source
    from pytest_medfaith.corpus.windows import CharacterSize, WindowSize

    if prefix not in (None, "title"):
        raise DataError(f"--prefix is {prefix!r}; expected title")
    summary = chunk_source(
        src,
        source=source,
        out=out,
        shape=CharacterSize(size=characters, stride=characters // 5)
        if characters is not None
        else WindowSize(size=size, stride=stride, min_sent=min_sent, max_sent=max_sent),
        prefix=prefix,  # type: ignore[arg-type]
        dedup=_dedup_method(dedup, dedup_threshold),
        dedup_threshold=dedup_threshold,
        workers=workers,
        progress=progress_bar("bytes"),
    )
    say(str(summary))


def _dedup_method(dedup: str | None, threshold: float | None) -> Any:
    """Returns what chunk_source compares chunks by: None, "minhash" or an embedding function."""
    if dedup not in (None, "minhash", "cosine"):
        raise DataError(f"--dedup is {dedup!r}; expected minhash or cosine")
    if threshold is not None and dedup is None:
        raise DataError(
            "--dedup-threshold says when two chunks are near-duplicates, but nothing looks for them; "
            "add --dedup minhash or cosine"
        )
    if dedup != "cosine":
        return dedup
    from pytest_medfaith.retrieval.encoders import load_encoder

    return load_encoder().encode_documents
