"""What names a model: the files of a folder, or its name on a hub."""

import pytest

from pytest_medfaith.models.folders import model_signature
from pytest_medfaith.retrieval.encoders import encoder_signature


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling": "mean"}')
    return tmp_path


@pytest.mark.parametrize("changed", ["config.json", "model.safetensors", "1_Pooling/config.json"])
@pytest.mark.parametrize("signature", [model_signature, encoder_signature])
def test_another_file_is_another_model(folder, changed, signature):
    before = signature(str(folder))
    assert signature(str(folder)) == before
    (folder / changed).write_text("else")
    model_signature.cache_clear()
    assert signature(str(folder)) != before


def test_a_readme_does_not_make_another_model(folder):
    before = model_signature(str(folder))
    (folder / "README.md").write_text("A model.")
    model_signature.cache_clear()
    assert model_signature(str(folder)) == before


def test_a_model_on_a_hub_is_its_name():
    assert model_signature("some/model") == "some/model"
    assert encoder_signature("some/model") == "some/model|as the model declares"
