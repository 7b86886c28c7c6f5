"""Runs the shipped int8 ONNX models, a single text or pair in a run and as many runs as there are cores.

Dynamic int8 scales each activation tensor by its largest value. In a padded batch that value depends on the
neighbours, so scores would change with the batch size. A single row and a single thread for each run, with
one run on each core, is as fast here, needs no padding, and gives the same bits for every batch, number of
threads and worker.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

from pytest_medfaith.errors import DataError
from pytest_medfaith.models.pace import asked_threads
from pytest_medfaith.models.shipped import ENCODER, MINILM_TOKENIZER
from pytest_medfaith.models.whole import whole

ENCODER_TOKENS = 256  # what all-MiniLM-L6-v2 was trained to read


def worker_count() -> int:
    """Returns how many runs go in parallel: MEDFAITH_THREADS, else the setting `threads`, else all cores.

    Raises:
        ValueError: MEDFAITH_THREADS holds anything but a whole number above 0.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return asked_threads() or max(1, cores)


@lru_cache(maxsize=4)
def weights_signature(model: Path) -> str:
    """Returns 16 hexadecimal digits of the bytes of a model's weights.

    Raises:
        DataError: there is no such file.
    """
    if not model.is_file():
        raise DataError(
            f"{model}: no such model file; reinstall pytest-medfaith, or name a model folder that exists"
        )
    digest = hashlib.sha256(model.read_bytes())
    for beside in sorted(model.parent.glob("*.bin")):  # a large model has its weights in these files
        digest.update(beside.name.encode() + beside.read_bytes())
    return digest.hexdigest()[:16]


@lru_cache(maxsize=4)
def load_session(path: Path) -> Any:
    """Returns an onnxruntime session of the model at `path` with a single thread, loaded once in a process.

    Raises:
        DataError: the file is missing or is no ONNX model.
    """
    if not path.is_file():
        raise DataError(
            f"{path}: no such model file; reinstall pytest-medfaith, or name a model folder that exists"
        )
    onnxruntime = _silent_runtime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # On a CPU the fused operation takes three times as long as the two operations that it replaces.
    slower = ["SkipLayerNormFusion"]
    try:
        return onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"], disabled_optimizers=slower
        )
    except Exception as error:  # the classes that onnxruntime raises share no base but Exception
        raise DataError(
            f"{path}: cannot be read as an ONNX model ({error}); export it again with "
            "`python -m training export`"
        ) from error


def _silent_runtime() -> Any:
    """Returns onnxruntime with its telemetry switched off by an environment variable before it is imported.

    Version 1.32 keeps events under the home directory, on Linux too, and uploads them. If the process has
    imported it before, only what a call can switch off is off. A variable that is already set stays.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    if os.environ["ORT_DISABLE_TELEMETRY"] == "1":
        onnxruntime.disable_telemetry_events()
    return onnxruntime


@lru_cache(maxsize=8)
def load_tokenizer(path: Path = MINILM_TOKENIZER, *, max_tokens: int | None = None) -> Any:
    """Returns a tokenizer, loaded once in a process.

    Args:
        path: its file; by default MiniLM's, which the encoder, the chunker and the fast checker share.
        max_tokens: single texts are cut to this length; None cuts nothing.

    Raises:
        DataError: there is no such file.
    """
    from tokenizers import Tokenizer

    if not path.is_file():
        raise DataError(
            f"{path}: no such tokenizer file; a model folder holds tokenizer.json beside its weights"
        )
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    if max_tokens:
        tokenizer.enable_truncation(max_tokens)
    return tokenizer


@cache
def processor_kernel(cpu_information: Path = Path("/proc/cpuinfo")) -> str:
    """Returns which integer products onnxruntime uses on this processor: "AVX-512 VNNI", for example.

    The others are "AVX-512", "AVX2 VNNI" and "AVX2"; on other processors it is the machine's name.

    Products of 7-bit weights are exact under each of them. Floats differ in their last bit, which sometimes
    changes a rounding. So two kinds of processor may differ on a claim at its threshold.
    """
    import platform

    try:
        flags = set(
            re.findall(r"^flags\s*:(.*)$", cpu_information.read_text(encoding="utf-8"), re.MULTILINE)[
                0
            ].split()
        )
    except (OSError, IndexError, ValueError):
        return platform.machine() or "unknown"
    kernels = (
        ("avx512_vnni", "AVX-512 VNNI"),
        ("avx512bw", "AVX-512"),
        ("avx_vnni", "AVX2 VNNI"),
        ("avx2", "AVX2"),
    )
    return next((name for flag, name in kernels if flag in flags), platform.machine())


def embed_texts(texts: Sequence[str], *, model: Path = ENCODER, max_tokens: int = ENCODER_TOKENS) -> Any:
    """Returns the unit vectors of the first `max_tokens` tokens of each text: float32 (n, 384).

    Each text runs by itself, so its vector never depends on its neighbours.
    """
    import numpy as np

    if not texts:
        return np.zeros((0, 384), dtype=np.float32)
    session, tokenizer = load_session(model), load_tokenizer(max_tokens=max_tokens)
    rows = [(encoding.ids, encoding.type_ids) for encoding in tokenizer.encode_batch(list(map(whole, texts)))]
    with ThreadPoolExecutor(worker_count()) as workers:
        return np.vstack(list(workers.map(partial(run_rows, session), rows))).astype(np.float32)


def run_rows(session: Any, row: tuple[list[int], list[int]]) -> Any:
    """Returns the model's output (1, width) for a single row: (token ids, token types)."""
    import numpy as np

    ids = np.array([row[0]], dtype=np.int64)
    feed = {
        "input_ids": ids,
        "token_type_ids": np.array([row[1]], dtype=np.int64),
        "attention_mask": np.ones_like(
            ids
        ),  # a graph that transformers' exporters made masks what pads a batch
    }
    return session.run(None, {each.name: feed[each.name] for each in session.get_inputs()})[0]
