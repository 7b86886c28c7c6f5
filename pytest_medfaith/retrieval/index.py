"""Vectors of a corpus: encoded once and kept on disk, in files of 256 chunks each (shards).

The folder's name is a hash of corpus and encoder. An interrupted build goes on with the next shard; an
unchanged corpus is not encoded again.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pytest_medfaith.english.letters import compatible
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import write_text
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval.bm25 import searchable_parts, searchable_text
from pytest_medfaith.retrieval.encoders import Encoder
from pytest_medfaith.retrieval.parts import (
    Fingerprint,
    Part,
    in_words,
    load_part,
    remove_stale,
    save_part,
)

_MADE_OF = "index.json"  # the file in an index's folder that names its corpus, encoder and metric
SHARD = 256  # chunks encoded between two saves; an interruption loses at most this many


def corpus_hash(chunks: Sequence[Chunk]) -> str:
    """Returns a hash of a corpus: 16 hexadecimal digits.

    It changes with the id, title, context or text of any chunk, and with the order of the chunks.
    """
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(f"{chunk.id}\x1f{encoded_text(chunk)}\x1e".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def encoded_text(chunk: Chunk) -> str:
    """Returns the text of a chunk that an encoder gets: title, context and text, in normalised letters.

    Example: "Iron > Dose. Once a day.".
    """
    return compatible(searchable_text(chunk))


def index_folder(cache: Path, chunks: Sequence[Chunk], encoder: Encoder) -> Path:
    """Returns the folder in `cache` for the index of these chunks under this encoder.

    Each pair of corpus and encoder has its own folder, as in `cache/index/3f0a...-77b1...`. The folder need
    not exist.
    """
    signature = hashlib.sha256(encoder.signature.encode()).hexdigest()[:16]
    return cache / "index" / f"{corpus_hash(chunks)}-{signature}"


def embed_corpus(
    chunks: Sequence[Chunk],
    encoder: Encoder,
    *,
    cache: Path,
    progress: Callable[[int, int], None] | None = None,
) -> Any:
    """Returns the vector of each chunk, in order: float32 (n, width). Vectors in `cache` are not made again.

    Shards that are missing are encoded and written there. A shard that is damaged (rows or bytes missing,
    numbers changed), or belongs to another corpus or encoder, is made again, with a warning.

    Args:
        chunks: the corpus.
        encoder: gives the vectors.
        cache: folder for indexes; each shard is written whole or not at all.
        progress: called with (chunks done, chunks in all) after each shard.

    Raises:
        DataError: the encoder gives a vector that is not finite, or vectors of several widths; `cache` cannot
            be written; or its folder for this index says that it holds another one.
    """
    import numpy as np

    folder = claimed_folder(cache, chunks, encoder)
    wanted = fingerprint(chunks, encoder)
    shards: list[Any] = []
    refused: list[Part] = []
    for start in range(0, len(chunks), SHARD):
        number, texts = start // SHARD, chunks[start : start + SHARD]
        path, of = folder / f"shard-{number:05d}.npy", {**wanted, "part": number}
        held = load_part(path, of, rows=len(texts))
        if held.vectors is None:
            refused += [held] * path.exists()
            held = Part(_made(path, texts, encoder, of))
        shards.append(held.vectors)
        _check_width(shards, encoder, folder)
        if progress:
            progress(start + len(texts), len(chunks))
    remove_stale(folder)
    if refused:  # only now: where warnings are errors, the next run finds all shards mended
        warnings.warn(_refusal(folder, refused, len(shards), wanted), stacklevel=2)
    return np.vstack(shards)


def _made(path: Path, chunks: Sequence[Chunk], encoder: Encoder, of: Fingerprint) -> Any:
    """Encodes a shard's chunks, writes the vectors to `path`, and returns them: float32 (n, width)."""
    vectors = encoded_chunks(chunks, encoder)
    save_part(path, vectors, of)
    return vectors


def _refusal(folder: Path, refused: Sequence[Part], shards: int, wanted: Fingerprint) -> str:
    """Returns the warning about shards that were made again: how many were damaged or foreign, and of what.

    Args:
        folder: of the index.
        refused: the shards as they were found.
        shards: how many the index has in all.
        wanted: the fingerprint that each was to have.
    """
    said = (
        f"{folder}: {len(refused)} of the {shards} parts of the index were damaged, or of an earlier "
        "version, and were made again"
    )
    foreign = next((part.found for part in refused if part.found is not None), None)
    if foreign is None:
        return said
    return f"{said}. A part is of {in_words(foreign)}, where {in_words(wanted)} is needed"


def encoded_chunks(chunks: Sequence[Chunk], encoder: Encoder) -> Any:
    """Returns the vector of each chunk: float32 (n, width).

    An encoder with `reads_heads` gets pairs (title and context, text), any other encoder a single text.

    Raises:
        DataError: see `checked_vectors`.
    """
    documents = [_heads_and_text(chunk) if encoder.reads_heads else encoded_text(chunk) for chunk in chunks]
    return checked_vectors(encoder.encode_documents(documents), rows=len(chunks), encoder=encoder.name)


def _heads_and_text(chunk: Chunk) -> tuple[str, str]:
    """Returns head and text of a chunk in normalised letters: ("Iron > Dose", "Once a day.")."""
    head, text = searchable_parts(chunk)
    return compatible(head), compatible(text)


def _check_width(shards: Sequence[Any], encoder: Encoder, folder: Path) -> None:
    """Refuses the last shard if its vectors are not as wide as those of the first shard (DataError)."""
    if shards[-1].shape[1] != shards[0].shape[1]:
        raise DataError(
            f"the encoder {encoder.name!r} gave vectors of {shards[0].shape[1]} and of "
            f"{shards[-1].shape[1]} numbers; expected the same width for all. Remove {folder} if the model "
            "was changed under its name"
        )


def fingerprint(chunks: Sequence[Chunk], encoder: Encoder) -> dict[str, Any]:
    """Returns what decides the vectors of an index.

    That is {"corpus": hash, "encoder": signature, "metric": "ip" or "l2"}.
    """
    return {"corpus": corpus_hash(chunks), "encoder": encoder.signature, "metric": encoder.metric}


def claimed_folder(cache: Path, chunks: Sequence[Chunk], encoder: Encoder) -> Path:
    """Returns the folder of an index, after writing into its index.json which corpus and encoder it is for.

    A folder without that file gets one: versions before it wrote none. A folder with it is compared.

    Raises:
        DataError: index.json names another corpus or encoder, or the folder cannot be written.
    """
    folder, made_of = index_folder(cache, chunks, encoder), fingerprint(chunks, encoder)
    path = folder / _MADE_OF
    if not path.is_file():
        write_text(path, json.dumps(made_of, indent=1) + "\n")
        return folder
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        found = None
    if found != made_of:
        held = (
            in_words(found) if isinstance(found, dict) else f"an unknown corpus ({_MADE_OF} cannot be read)"
        )
        raise DataError(
            f"{folder} is the index of {held}, where {in_words(made_of)} is needed; the "
            "folder was copied or renamed. Remove it, and it is built anew"
        )
    return folder


def checked_vectors(vectors: Any, *, rows: int, encoder: str, width: int | None = None) -> Any:
    """Returns an encoder's vectors as float32 (rows, width), after checking shape and numbers.

    Args:
        vectors: what the encoder gave.
        rows: how many texts it got.
        encoder: its name, for messages.
        width: numbers that each vector must have, so as to be compared with an index; None allows any width.

    Raises:
        DataError: another shape, or a number that is not finite.
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
            f"the encoder {encoder!r} gave a number that is not finite; expected finite numbers for every "
            f"text"
        )
    if width and found.shape[1] != width:
        raise DataError(
            f"the encoder {encoder!r} gave a question {found.shape[1]} numbers, and its documents {width}; "
            "expected the same width. Name two models that belong together, as in "
            "medcpt=QUERY_MODEL,ARTICLE_MODEL"
        )
    return found
