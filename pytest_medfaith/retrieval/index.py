"""Dense indexes, kept in shards under a hash of corpus and encoder.

An interrupted build goes on with the next shard; an unchanged corpus is not encoded again.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_medfaith.english.letters import compatible
from pytest_medfaith.errors import CannotWrite, DataError
from pytest_medfaith.jsonl import write_text
from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval.bm25 import searchable_parts, searchable_text
from pytest_medfaith.retrieval.cost import sized, timed
from pytest_medfaith.retrieval.encoders import Encoder
from pytest_medfaith.retrieval.ranking import Retriever, check_query, to_hits

_SEAL = 32  # bytes of the check sum behind a shard
_MADE_OF = "index.json"  # in an index's folder: corpus, encoder and metric
SHARD = 256  # chunks encoded between two saves; an interruption loses at most this many


def corpus_hash(chunks: Sequence[Chunk]) -> str:
    """Returns 16 hexadecimal digits that change with any id, title, context, text or order of the corpus."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(f"{chunk.id}\x1f{encoded_text(chunk)}\x1e".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def encoded_text(chunk: Chunk) -> str:
    """Returns what an encoder reads of a chunk."""
    return compatible(searchable_text(chunk))


def index_folder(cache: Path, chunks: Sequence[Chunk], encoder: Encoder) -> Path:
    """Returns the folder of the index of `chunks` under `encoder`, another for each corpus and encoder."""
    signature = hashlib.sha256(encoder.signature.encode()).hexdigest()[:16]
    return cache / "index" / f"{corpus_hash(chunks)}-{signature}"


def embed_corpus(
    chunks: Sequence[Chunk],
    encoder: Encoder,
    *,
    cache: Path,
    progress: Callable[[int, int], None] | None = None,
) -> Any:
    """Returns the embeddings of `chunks`, float32 (n, width).

    Finished shards are read from `cache`, new shards are written there. A shard that is not as it was written
    (rows or bytes missing, numbers changed) is made again, with a warning.

    Args:
        chunks: the corpus.
        encoder: gives the vectors.
        cache: folder for indexes; each shard is written whole or not at all.
        progress: told (chunks done, chunks in all) after each shard.

    Raises:
        DataError: the encoder gives no finite vector for a text, or vectors of several widths; `cache` cannot
            be written, or holds the index of another corpus or encoder in the place of this one.
    """
    import numpy as np

    folder = index_folder(cache, chunks, encoder)
    _claim_folder(folder, chunks, encoder)
    shards, damaged = [], 0
    for start in range(0, len(chunks), SHARD):
        path, part = folder / f"shard-{start // SHARD:05d}.npy", chunks[start : start + SHARD]
        vectors = _load(path, rows=len(part))
        if vectors is None:
            damaged += path.exists()
            vectors = encoded_chunks(part, encoder)
            _save(path, vectors)
        shards.append(vectors)
        _check_width(shards, encoder, folder)
        if progress:
            progress(start + len(part), len(chunks))
    if damaged:  # only now: where warnings are errors, the next run finds all shards mended
        warnings.warn(
            f"{folder}: {damaged} of the {len(shards)} parts of the index were damaged, or of an earlier "
            "version, and were made again",
            stacklevel=2,
        )
    return np.vstack(shards)


def encoded_chunks(chunks: Sequence[Chunk], encoder: Encoder) -> Any:
    """Returns the vectors of `chunks`, float32 (n, width), each chunk read as the encoder reads documents."""
    documents = [_heads_and_text(chunk) if encoder.reads_heads else encoded_text(chunk) for chunk in chunks]
    return checked_vectors(encoder.encode_documents(documents), rows=len(chunks), encoder=encoder.name)


def _heads_and_text(chunk: Chunk) -> tuple[str, str]:
    head, text = searchable_parts(chunk)
    return compatible(head), compatible(text)


def _check_width(shards: Sequence[Any], encoder: Encoder, folder: Path) -> None:
    if shards[-1].shape[1] != shards[0].shape[1]:
        raise DataError(
            f"the encoder {encoder.name!r} gave vectors of {shards[0].shape[1]} and of "
            f"{shards[-1].shape[1]} numbers; expected the same width for all. Remove {folder} if the model "
            "was changed under its name"
        )


def _claim_folder(folder: Path, chunks: Sequence[Chunk], encoder: Encoder) -> None:
    """Writes into an index's folder what it is made of, or compares it with what stands there.

    A folder of an earlier version says nothing of it, and is taken by its name.

    Raises:
        DataError: the folder says that it is of another corpus or encoder, or cannot be written.
    """
    path = folder / _MADE_OF
    made_of = {"corpus": corpus_hash(chunks), "encoder": encoder.signature, "metric": encoder.metric}
    if not path.is_file():
        write_text(path, json.dumps(made_of, indent=1) + "\n")
        return
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        found = None
    if found != made_of:
        raise DataError(
            f"{folder} is the index of {_fingerprint(found)}, where {_fingerprint(made_of)} is needed; the "
            "folder was copied or renamed. Remove it, and it is built anew"
        )


def _fingerprint(made_of: Any) -> str:
    if not isinstance(made_of, dict):
        return f"an unknown corpus ({_MADE_OF} cannot be read)"
    return ", ".join(f"{key} {value}" for key, value in made_of.items())


def checked_vectors(vectors: Any, *, rows: int, encoder: str, width: int | None = None) -> Any:
    """Returns `vectors` as float32 (rows, width).

    Args:
        vectors: what the encoder gave.
        rows: how many texts it got.
        encoder: its name.
        width: of the index that they are compared with; None where there is none yet.

    Raises:
        DataError: they have another shape, or hold a number that is not finite.
    """
    import numpy as np

    found = np.asarray(vectors, dtype=np.float32)
    if found.ndim != 2 or found.shape[0] != rows or found.shape[1] == 0:
        raise DataError(
            f"the encoder {encoder!r} gave an array of shape {found.shape} for {rows} texts; "
            f"expected ({rows}, width)"
        )
    if not np.isfinite(found).all():
        raise DataError(
            f"the encoder {encoder!r} gave a number that is not finite; expected finite numbers for every text"
        )
    if width and found.shape[1] != width:
        raise DataError(
            f"the encoder {encoder!r} gave a question {found.shape[1]} numbers, and its documents {width}; "
            "expected the same width. Name two towers that belong together, as in medcpt=QUERY_MODEL,ARTICLE_MODEL"
        )
    return found


def _load(path: Path, *, rows: int) -> Any:
    """Returns the vectors of a shard; None where there is no shard, or it is not as `_save` wrote it."""
    import numpy as np

    if not path.exists():
        return None
    try:
        held = path.read_bytes()
        if hashlib.sha256(held[:-_SEAL]).digest() == held[-_SEAL:]:
            vectors = np.load(io.BytesIO(held), allow_pickle=False)
            if vectors.ndim == 2 and len(vectors) == rows:
                return vectors
    except (OSError, ValueError):
        pass
    return None


def _save(path: Path, vectors: Any) -> None:
    """Writes a shard and behind it a check sum of its bytes, whole or not at all."""
    import numpy as np

    buffer = io.BytesIO()
    np.save(buffer, vectors, allow_pickle=False)
    body = buffer.getvalue()
    partial_file = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial_file.write_bytes(body + hashlib.sha256(body).digest())
        os.replace(partial_file, path)
    except OSError as error:
        with suppress(OSError):
            partial_file.unlink(missing_ok=True)
        raise CannotWrite(path, error) from error


def dense_retriever(
    chunks: Sequence[Chunk],
    encoder: Encoder,
    *,
    cache: Path,
    name: str = "dense",
    progress: Callable[[int, int], None] | None = None,
) -> Retriever:
    """Returns a retriever over an exact FAISS index, by the encoder's metric.

    Scores are inner products, which for unit vectors are cosines; of the metric l2 they are 1 / (1 +
    distance).

    Args:
        chunks: the corpus, at least one chunk.
        encoder: gives the vectors.
        cache: folder for indexes, see `embed_corpus`.
        name: under which its hits note their rank and score.
        progress: told (chunks done, chunks in all) after each shard.

    Raises:
        DataError: see `embed_corpus`; a question whose vector is not finite, or not as wide as the index.
    """
    import faiss
    import numpy as np

    vectors = embed_corpus(chunks, encoder, cache=cache, progress=progress)
    width = vectors.shape[1]
    index = faiss.IndexFlatL2(width) if encoder.metric == "l2" else faiss.IndexFlatIP(width)
    index.add(vectors)

    def search(query: str, *, top_k: int) -> list[Hit]:
        check_query(query, top_k=top_k, size=len(chunks))
        with timed("encode"):
            encoded = encoder.encode_queries([compatible(query)])
            vector = checked_vectors(encoded, rows=1, encoder=encoder.name, width=width)
        with timed("search"):
            scores, positions = index.search(vector, top_k)
        if encoder.metric == "l2":  # FAISS gives squared distances, in floats maybe a little below 0
            scores = 1 / (1 + np.sqrt(np.maximum(scores, 0)))
        return to_hits(chunks, [int(i) for i in positions[0]], scores[0], name=name)

    return sized(search, int(vectors.nbytes))
