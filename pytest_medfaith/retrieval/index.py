"""Dense indexes: built in shards beside their content hash, resumed after an interruption, reused when nothing changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval.bm25 import searchable_text
from pytest_medfaith.retrieval.encoders import Encoder
from pytest_medfaith.retrieval.ranking import Retriever, check_query, to_hits

SHARD = 256  # chunks encoded between two saves; an interruption loses at most this many


def corpus_hash(chunks: Sequence[Chunk]) -> str:
    """Returns 16 hexadecimal digits that change with any id, title, context, text or order of the corpus."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(f"{chunk.id}\x1f{searchable_text(chunk)}\x1e".encode())
    return digest.hexdigest()[:16]


def index_folder(cache: Path, chunks: Sequence[Chunk], encoder: Encoder) -> Path:
    """Returns where the index of these chunks under this encoder lives; another corpus or encoder lives elsewhere."""
    signature = hashlib.sha256(encoder.signature.encode()).hexdigest()[:16]
    return cache / "index" / f"{corpus_hash(chunks)}-{signature}"


def embed_corpus(chunks: Sequence[Chunk], encoder: Encoder, *, cache: Path, progress: Callable[[int, int], None] | None = None) -> Any:
    """Returns the embeddings of `chunks`, float32 (n, width), reading finished shards from `cache` and writing new ones.

    Args:
        chunks: the corpus.
        encoder: gives unit vectors.
        cache: folder for indexes; each shard is written whole or not at all.
        progress: told (chunks done, chunks in all) after each shard.
    """
    import numpy as np

    folder = index_folder(cache, chunks, encoder)
    folder.mkdir(parents=True, exist_ok=True)
    shards = []
    for start in range(0, len(chunks), SHARD):
        path = folder / f"shard-{start // SHARD:05d}.npy"
        part = chunks[start : start + SHARD]
        if not path.exists():
            _save(path, encoder.encode_documents([searchable_text(chunk) for chunk in part]))
        shards.append(np.load(path, allow_pickle=False))
        if progress:
            progress(start + len(part), len(chunks))
    return np.vstack(shards)


def _save(path: Path, vectors: Any) -> None:
    import numpy as np

    partial_file = path.with_name(f".{path.name}.{os.getpid()}.part")
    with partial_file.open("wb") as out:
        np.save(out, np.asarray(vectors, dtype=np.float32), allow_pickle=False)
    os.replace(partial_file, path)


def dense_retriever(
    chunks: Sequence[Chunk], encoder: Encoder, *, cache: Path, name: str = "dense", progress: Callable[[int, int], None] | None = None
) -> Retriever:
    """Returns a retriever by inner product of unit vectors (cosine) over an exact FAISS index."""
    import faiss

    vectors = embed_corpus(chunks, encoder, cache=cache, progress=progress)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return partial(_search, chunks, encoder, index, name)


def _search(chunks: Sequence[Chunk], encoder: Encoder, index: Any, name: str, query: str, *, top_k: int) -> list[Hit]:
    import numpy as np

    check_query(query, top_k=top_k, size=len(chunks))
    scores, positions = index.search(np.asarray(encoder.encode_queries([query]), dtype=np.float32), top_k)
    return to_hits(chunks, [int(i) for i in positions[0]], scores[0], name=name)
