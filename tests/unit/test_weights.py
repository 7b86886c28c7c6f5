"""The weights of the checker "default" are a separate distribution: data only, pinned, files hosts take."""

import importlib.util
import sys
from pathlib import Path

import pytest

from pytest_medfaith.checking.card import read_card
from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.errors import DataError
from pytest_medfaith.models.shipped import default_weights

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

REPO = Path(__file__).parents[2]
WEIGHTS = REPO / "weights"


@pytest.fixture
def hook(monkeypatch):
    """What hatch_build.py makes of the dependencies, from the folder that the test names."""
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", REPO / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.delenv("MEDFAITH_RELEASE", raising=False)

    def dependencies(root):
        metadata = {}
        module.Dependencies(str(root), {"dependencies": ["pytest>=8"]}).update(metadata)
        return metadata["dependencies"]

    dependencies.version = module.WEIGHTS
    return dependencies


def test_a_clone_takes_the_weights_that_lie_beside_the_code(hook):
    assert hook(REPO) == ["pytest>=8", f"pytest-medfaith-weights @ {WEIGHTS.as_uri()}"]


def test_a_release_pins_the_weights(hook, tmp_path, monkeypatch):
    pinned = ["pytest>=8", f"pytest-medfaith-weights=={hook.version}"]
    assert hook(tmp_path) == pinned  # an sdist, without the folder
    monkeypatch.setenv("MEDFAITH_RELEASE", "1")
    assert hook(REPO) == pinned


def test_the_pinned_version_is_that_of_the_weights(hook):
    assert tomllib.loads((WEIGHTS / "pyproject.toml").read_text())["project"]["version"] == hook.version


def test_every_file_is_one_that_code_hosts_take():
    sizes = {path.name: path.stat().st_size for path in WEIGHTS.rglob("*") if path.is_file()}
    assert {name for name, size in sizes.items() if size >= 100_000_000} == set()
    assert {"card.json", "model.onnx", "layers.bin", "embeddings.bin", "tokenizer.json"} <= sizes.keys()


def test_the_weights_hold_data_and_no_code():
    assert [path.name for path in WEIGHTS.rglob("*.py")] == ["__init__.py"]
    assert not [
        path for path in WEIGHTS.rglob("*") if path.suffix in {".pkl", ".pickle", ".pt", ".pth", ".so"}
    ]


def test_the_default_checker_is_a_strong_model_after_the_fast_one():
    checker, card = load_checker(), read_card(default_weights())
    assert (checker.fast.name, checker.cascade, checker.thresholds) == ("fast", card.cascade, card.thresholds)
    assert checker.signature != load_checker("fast").signature
    assert checker.fast.signature in checker.signature


def test_missing_weights_are_said_with_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(DataError, match=r"pip install \./weights.*name the checker 'fast'"):
        default_weights()
