"""Indexes of FAISS: built once for a corpus, kept beside its vectors, and read memory-mapped.

Two files make an index: hnsw.faiss, and hnsw.json with its corpus and encoder, its check sum and its recall.
The second file is written last, so an index whose build was killed is not taken for whole.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.errors import CannotWrite, DataError
from pytest_medfaith.jsonl import atomic_binary_writer, write_text
from pytest_medfaith.records import Chunk, VectorIndex
from pytest_medfaith.retrieval.encoders import Encoder
from pytest_medfaith.retrieval.index import checked_vectors, claimed_folder, embed_corpus, fingerprint
from pytest_medfaith.retrieval.index_kinds import (
    FLAT,
    SHORT_NAMES,
    IndexChoice,
    factory_string,
    search_parameters,
)
from pytest_medfaith.retrieval.index_recall import measure_recall, sampled_queries
from pytest_medfaith.retrieval.known_encoders import Metric
from pytest_medfaith.retrieval.parts import in_words

_BLOCK = 1 << 20
_MOST_FOR_A_CENTROID = (
    64  # vectors to train each centroid: FAISS asks for 39 and takes 256, which is four times as slow
)
_FLOAT = 4  # bytes of a number

Progress = Callable[[int, int], None] | None


@dataclass(frozen=True, kw_only=True)
class OpenIndex:
    """An index that can be searched.

    Attributes:
        index: the object of FAISS.
        width: numbers of each of its vectors.
        size: its size in bytes.
        told: what a card says of an approximate index, with its recall; None for exact search.
    """

    index: Any
    width: int
    size: int
    told: VectorIndex | None


def open_index(
    chunks: Sequence[Chunk],
    encoder: Encoder,
    *,
    cache: Path,
    choice: IndexChoice,
    progress: Progress = None,
) -> OpenIndex:
    """Returns the index of `chunks` under `encoder`, read from `cache` or built.

    It is built where it is missing, damaged, or made by another version of FAISS. The recall of an
    approximate index is measured once for each setting of its search.

    Args:
        chunks: the corpus, at least one chunk.
        encoder: gives the vectors.
        cache: folder for indexes, see `embed_corpus`.
        choice: kind of index and how thoroughly it is searched.
        progress: called with (chunks done, chunks in all) while chunks are encoded.

    Raises:
        DataError: see `embed_corpus`; a factory string that FAISS does not know, or cannot train on the
            corpus; files of another corpus or encoder in this index's place.
    """
    folder = claimed_folder(cache, chunks, encoder)
    path = folder / f"{re.sub(r'[^A-Za-z0-9]+', '-', choice.kind) or '-'}.faiss"
    wanted = {
        **fingerprint(chunks, encoder),
        "index": choice.kind,
        "faiss": faiss_version(),
        "seed": defaults.SEED,
    }
    held, is_damaged = _kept(path, wanted, size=len(chunks))
    if held is None:
        held = _built(path, chunks, encoder, choice, wanted, cache=cache, progress=progress)
    if is_damaged:  # only now: where warnings are errors, the next run finds a whole index
        warnings.warn(f"{path}: the index was damaged or cut short, and was made again", stacklevel=3)
    index = _read(path, held["factory"])
    told = _told(path, held, index, chunks, encoder, choice, cache=cache)
    exact = held["factory"] == FLAT
    size = index.ntotal * index.d * _FLOAT if exact else path.stat().st_size
    return OpenIndex(index=index, width=index.d, size=size, told=told)


def _kept(path: Path, wanted: Mapping[str, Any], *, size: int) -> tuple[dict[str, Any] | None, bool]:
    """Returns (what hnsw.json says, whether the index is damaged); (None, ...) where it must be built.

    Args:
        path: of the index.
        wanted: corpus, encoder, metric, kind and version that it must be of.
        size: number of chunks.

    Raises:
        DataError: it is of another corpus or encoder.
    """
    beside = path.with_suffix(".json")
    if not beside.is_file() or not path.is_file():
        return None, False
    try:
        held = json.loads(beside.read_text(encoding="utf-8"))
        found, seal, factory = dict(held["of"]), str(held["sha256"]), str(held["factory"])
        recall = {
            under: {"queries": row["queries"], **{depth: float(value) for depth, value in row.items()}}
            for under, row in held["recall"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None, True
    if any(found.get(key) != wanted[key] for key in ("corpus", "encoder", "metric")):
        raise DataError(
            f"{path} is an index of {in_words(found)}, where {in_words(wanted)} is needed; the file was "
            f"copied. Remove it and {beside.name}, and it is built anew"
        )
    width = found.pop("dimension", None)
    if found != wanted or factory != factory_string(found["index"], size=size, width=width):
        return None, False  # another version of FAISS, or of this package, built it
    if seal != _check_sum(path):
        return None, True
    of = {**found, "dimension": width}
    return {"of": of, "factory": factory, "sha256": seal, "recall": recall}, False


def _built(
    path: Path,
    chunks: Sequence[Chunk],
    encoder: Encoder,
    choice: IndexChoice,
    wanted: Mapping[str, Any],
    *,
    cache: Path,
    progress: Progress,
) -> dict[str, Any]:
    """Builds an index, writes it to `path` and its .json, and returns what the .json says."""
    import faiss

    if choice.kind not in SHORT_NAMES:  # a wrong string is refused before hours of encoding
        _made(choice.kind, encoder.encode_queries(["width"]).shape[1], encoder.metric)
    vectors = embed_corpus(chunks, encoder, cache=cache, progress=progress)
    rows, width = vectors.shape
    factory = factory_string(choice.kind, size=rows, width=width)
    index = _filled(_made(factory, width, encoder.metric), vectors, factory)
    digest = hashlib.sha256()
    path.with_suffix(".json").unlink(missing_ok=True)
    with atomic_binary_writer(path) as out:

        def write(block: bytes) -> None:
            digest.update(block)
            out.write(block)

        writer = faiss.PyCallbackIOWriter(write)  # type: ignore[attr-defined] # which its stubs leave out
        faiss.write_index(index, writer)
    held = {
        "of": {**wanted, "dimension": width},
        "factory": factory,
        "sha256": digest.hexdigest(),
        "recall": {},
    }
    write_text(path.with_suffix(".json"), json.dumps(held, indent=1) + "\n")
    return held


def _made(factory: str, width: int, metric: Metric) -> Any:
    """Returns an empty index.

    Raises:
        DataError: FAISS does not know the factory string, or it does not suit the width or the metric.
    """
    import faiss

    number = faiss.METRIC_L2 if metric == "l2" else faiss.METRIC_INNER_PRODUCT
    try:
        return faiss.index_factory(width, factory, number)
    except RuntimeError as error:
        raise DataError(
            f"the index {factory!r} cannot be made for vectors of {width} numbers, metric {metric} "
            f"({_reason(error)}); expected {', '.join(SHORT_NAMES)}, or a factory string of FAISS such as "
            f"HNSW32"
        ) from None


def _filled(index: Any, vectors: Any, factory: str) -> Any:
    """Returns `index` with all vectors added, after training it on them where its kind needs that.

    It runs in a single thread: several threads link the neighbours of a graph in a different order each time.

    Raises:
        DataError: FAISS cannot train or fill it, as with too few vectors.
    """
    import faiss

    lists = faiss.try_extract_index_ivf(index)
    for trained in filter(None, (lists, getattr(lists, "pq", None), getattr(index, "pq", None))):
        trained.cp.seed = defaults.SEED
        trained.cp.max_points_per_centroid = _MOST_FOR_A_CENTROID
        trained.cp.min_points_per_centroid = 1  # FAISS would print its doubts; the recall is measured
    try:
        with _single_thread():
            if not index.is_trained:
                index.train(vectors)
            index.add(vectors)
    except RuntimeError as error:
        raise DataError(
            f"the index {factory!r} cannot be built over {len(vectors)} chunks ({_reason(error)}); name flat "
            "or hnsw, which need no training, or fewer centroids"
        ) from None
    return index


@contextmanager
def _single_thread() -> Iterator[None]:
    """Lets FAISS use a single thread in the block, and as many as before afterwards."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def _reason(error: RuntimeError) -> str:
    """Returns FAISS's message in an error, without the line of its source code."""
    return re.split(r"failed: |\.(?:cpp|h):\d+: ", str(error))[-1].strip()


def _read(path: Path, factory: str) -> Any:
    """Returns the index at `path`, mapped into memory: parts that no search needs are not read.

    Raises:
        DataError: FAISS cannot read it.
    """
    import faiss

    flag = (
        faiss.IO_FLAG_MMAP if "IVF" in factory else faiss.IO_FLAG_MMAP_IFC
    )  # lists have a reader of their own
    try:
        return faiss.read_index(str(path), flag)
    except RuntimeError as error:
        raise DataError(f"{path}: FAISS cannot read the index ({_reason(error)}); remove it") from None


def _check_sum(path: Path) -> str:
    """Returns the SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as held:
        while block := held.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _told(
    path: Path,
    held: dict[str, Any],
    index: Any,
    chunks: Sequence[Chunk],
    encoder: Encoder,
    choice: IndexChoice,
    *,
    cache: Path,
) -> VectorIndex | None:
    """Sets the parameters of the search, and returns what a card says of the index; None for exact search.

    Recall that was measured under these parameters before is read from `held`, else measured and kept.
    """
    import faiss

    factory = held["factory"]
    if factory == FLAT:
        return None
    parameters = search_parameters(choice, factory)
    for name, value in parameters.items():
        faiss.ParameterSpace().set_index_parameter(index, name, value)
    under = ",".join(f"{name}={value}" for name, value in parameters.items())
    if under not in held["recall"]:
        held["recall"][under] = _recall(index, chunks, encoder, cache=cache)
        with suppress(CannotWrite):  # a cache that cannot be written: recall is then measured each time
            write_text(path.with_suffix(".json"), json.dumps(held, indent=1) + "\n")
    recall = dict(held["recall"][under])
    queries = int(recall.pop("queries"))
    return VectorIndex(factory=factory, search=parameters, recall=recall, queries=queries)


def _recall(index: Any, chunks: Sequence[Chunk], encoder: Encoder, *, cache: Path) -> dict[str, float]:
    """Returns the recall of an index as it is set now: {"10": 0.98, "100": 0.95, "queries": 200}."""
    texts, vectors = sampled_queries(chunks), embed_corpus(chunks, encoder, cache=cache)
    found = encoder.encode_queries(texts)
    queries = checked_vectors(found, rows=len(texts), encoder=encoder.name, width=vectors.shape[1])
    recall = measure_recall(index, vectors, queries, by_distance=encoder.metric == "l2")
    return {**recall, "queries": len(texts)}


def faiss_version() -> str:
    """Returns the version of FAISS, which decides how an index is built and searched."""
    try:
        return version("faiss-cpu")
    except PackageNotFoundError:  # where another build of it is installed, as conda has it
        import faiss

        return str(faiss.__version__)
