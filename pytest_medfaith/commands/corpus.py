"""`medfaith chunk`, `medfaith index` and `medfaith retrieve`: pages are cut, indexed and searched."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pytest_medfaith import defaults
from pytest_medfaith.commands.parts import LlmOption, RootOption, end_teacher, progress_bar, say, teacher_for
from pytest_medfaith.commands.retrieval_options import (
    BOption,
    ChunkContextOption,
    DenseIndexOption,
    EfSearchOption,
    K1Option,
    NprobeOption,
    RetrieverOption,
    given_settings,
    with_retrieval_options,
)
from pytest_medfaith.commands.stores import StoreOption, index_into_store
from pytest_medfaith.errors import DataError
from pytest_medfaith.plain import one_line, plain_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_medfaith.records import Chunk, Hit
    from pytest_medfaith.retrieval.matches import Match
    from pytest_medfaith.retrieval.settings import RetrievalSettings

_SHOWN = 160  # characters of a text

JsonOption = Annotated[bool, typer.Option("--json", help="Print a JSON object for each hit instead of text.")]
CorpusOption = Annotated[
    list[Path], typer.Option("--corpus", help="A folder or file of chunks in JSON Lines; may be given again.")
]
OptionalCorpusOption = Annotated[
    list[Path] | None,
    typer.Option("--corpus", help="As of index; a store has its own corpus, and is then searched by itself."),
]
EncoderOption = Annotated[
    str,
    typer.Option(
        help="default (shipped), a family such as medcpt or e5-base, a folder, FAMILY=FOLDER, a "
        "sentence-transformers name, or openai=MODEL."
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
        help="Cut by characters, across sections: chunks of at most N, up to 1,000, which share a fifth with "
        "the next. --size, --stride and sentences do not count then.",
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
    store: StoreOption = None,
    k1: K1Option = None,
    b: BOption = None,
) -> None:
    """Build the dense index of a corpus ahead of time, or load the corpus into a store.

    The command builds the index of an unchanged corpus only once, and goes on with an interrupted build. A
    store takes k1 and b where it searches words.

    Example: medfaith index --corpus corpus_samples
    """
    given = {
        "dense_index": dense_index,
        "ef_search": ef_search,
        "nprobe": nprobe,
        "chunk_context": chunk_context,
    }
    if any(one is not None for one in (given.values() if store else (k1, b))):
        raise DataError(
            "--k1 and --b are for --store; --dense-index, --ef-search, --nprobe and --chunk-context for an "
            "index of FAISS"
        )
    if store is not None:
        index_into_store(corpus, store, encoder=encoder, k1=k1, b=b)
    else:
        _index_by_faiss(corpus, encoder, cache, given)


def _index_by_faiss(corpus: list[Path], encoder: str, cache: Path, given: Mapping[str, Any]) -> None:
    from pytest_medfaith.cards.wording import index_text
    from pytest_medfaith.jsonl import read_chunks
    from pytest_medfaith.retrieval.context import contextual_chunks
    from pytest_medfaith.retrieval.encoders import load_encoder
    from pytest_medfaith.retrieval.faiss_index import open_index
    from pytest_medfaith.retrieval.index import index_folder
    from pytest_medfaith.retrieval.notes import size_notes
    from pytest_medfaith.retrieval.settings import RetrievalSettings

    settings = RetrievalSettings(**given_settings(given))
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
    corpus: OptionalCorpusOption = None,
    k: DepthOption = 5,  # fits on a screen; a slice asks for more
    retriever: RetrieverOption = defaults.RETRIEVER,
    cache: IndexesOption = Path(defaults.CACHE),
    as_json: JsonOption = False,
    root: RootOption = Path(),
    llm: LlmOption = None,
    *,
    retrieval: Mapping[str, Any],
) -> None:
    """Show what a retriever finds for a question, and why.

    Each hit has the rank and the score that every retriever gave it, the words of the question that it holds,
    and the sentence that matched best.

    Example: medfaith retrieve "first-line drug for type 2 diabetes" --corpus corpus_samples
    """
    from pytest_medfaith.retrieval.settings import RetrievalSettings
    from pytest_medfaith.retrieval.stores.address import split_reranker

    teacher = teacher_for(split_reranker(retriever)[1], root, llm)
    settings = RetrievalSettings(cache=cache, teacher=teacher, **retrieval)
    chunks = _chunks_for(retriever, corpus or [], settings)
    for hit, match in _matched_hits(query, chunks, retriever, settings, k=k):
        if as_json:
            _give_hit(hit, match)
        else:
            _say_hit(hit, match)
    end_teacher(teacher)


def _chunks_for(retriever: str, corpus: list[Path], settings: RetrievalSettings) -> list[Chunk]:
    """Returns the chunks that a retriever searches; [] for one that asks only stores, where none is given."""
    from pytest_medfaith.jsonl import read_chunks
    from pytest_medfaith.retrieval.build import needs_chunks

    if not corpus and needs_chunks(retriever, settings):
        raise DataError(f"the retriever {retriever!r} needs a corpus; add --corpus FOLDER")
    return read_chunks(corpus) if corpus else []


def _matched_hits(
    query: str, chunks: Sequence[Chunk], retriever: str, settings: RetrievalSettings, *, k: int
) -> list[tuple[Hit, Match]]:
    """Returns the hits for a question, each with the words and the sentence of it that matched."""
    from pytest_medfaith.retrieval.build import build_retriever, dense_names
    from pytest_medfaith.retrieval.encoders import load_encoder
    from pytest_medfaith.retrieval.matches import find_matches
    from pytest_medfaith.retrieval.notes import notes_on
    from pytest_medfaith.retrieval.ranking import check_query

    check_query(query, top_k=1, size=len(chunks) or 1)  # before an index is built for it
    search = build_retriever(retriever, chunks, settings=settings, progress=progress_bar("chunks"))
    for note in [*notes_on(retriever, settings, size=len(chunks)), *_depth_note(k, len(chunks))]:
        say(note, err=True)
    hits = search(query, top_k=min(k, len(chunks)) if chunks else k)
    encoders = {name: load_encoder(given) for name, given in dense_names(retriever, settings).items()}
    return list(zip(hits, find_matches(query, hits, chunks, encoders=encoders), strict=True))


def _depth_note(k: int, size: int) -> list[str]:
    if k <= size or not size:
        return []
    return [f"k is {k} and the corpus holds {size} chunks: all that match are given"]


def _give_hit(hit: Hit, match: Match) -> None:
    row = hit.to_dict() | match.to_dict(hit.chunk)
    typer.echo(plain_json(json.dumps(row, ensure_ascii=False)))


def _say_hit(hit: Hit, match: Match) -> None:
    from pytest_medfaith.cards.wording import clip

    say(f"{hit.rank:>3}  {hit.score:.4f}  {one_line(hit.chunk.id)}  ({_by_retriever(hit)})")
    say(f"     {one_line(hit.chunk.title)}: {clip(hit.chunk.text, _SHOWN)}")
    if match.words:
        say(f"     words: {one_line(', '.join(match.words))}")
    found_by: dict[tuple[int, int], list[str]] = {}
    for name, span in match.sentences.items():
        found_by.setdefault(span, []).append(name)
    for (start, end), names in found_by.items():
        say(f"     sentence ({one_line(', '.join(names))}): {clip(hit.chunk.text[start:end], _SHOWN)}")


def _by_retriever(hit: Hit) -> str:
    """Returns each retriever's rank and score of a hit, as in "bm25 1 at 7.2, dense 3 at 0.61"."""
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

    A chunk never crosses a section, unless it is cut by characters. Its span cuts the same text out of the
    page again.

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
    """Returns how chunks are compared to find repeats: "minhash", an embedding function, or None for not."""
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
