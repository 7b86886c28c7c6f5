"""Model folders that want to run code or are damaged: one message each, no question, no traceback.

No head of a model gets random weights.
"""

import builtins
import json
import pickle
from pathlib import Path

import pytest

from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval.encoders import load_encoder

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
safetensors = pytest.importorskip("safetensors.torch")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "iron", "zinc", "helps", "the", "body"]
LABELS = ["entailment", "neutral", "contradiction"]
CODE = (
    "from pathlib import Path\nPath(__file__).with_name('ran').touch()\nPath({ran!r}).touch()\nclass "
    "Thing:\n    pass\n"
)


class _Bomb:
    def __reduce__(self):
        return (builtins.exec, ("raise SystemExit('a pickle ran')",))


@pytest.fixture
def folder(tmp_path):
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        num_labels=3,
        id2label=dict(enumerate(LABELS)),
        label2id={label: i for i, label in enumerate(LABELS)},
    )
    folder = tmp_path / "model"
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    transformers.BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


@pytest.fixture(autouse=True)
def no_question(monkeypatch):
    def asked(*_):
        raise AssertionError("a question was asked")

    monkeypatch.setattr(builtins, "input", asked)


def edit(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def with_code(folder, **changes):
    (folder / "modeling_thing.py").write_text(CODE.format(ran=str(folder.parent / "ran")))
    edit(folder / "config.json", **changes)


def save(folder, change):
    path = folder / "model.safetensors"
    safetensors.save_file(change(safetensors.load_file(path)), path, metadata={"format": "pt"})


def _unknown_type(folder):
    maps = {
        "AutoConfig": "modeling_thing.Thing",
        "AutoModelForSequenceClassification": "modeling_thing.Thing",
    }
    with_code(folder, model_type="thing", architectures=["Thing"], auto_map=maps)


def _unknown_type_alone(folder):
    edit(folder / "config.json", model_type="thing", architectures=["Thing"])


def _code_tokenizer(folder):
    (folder / "tokenization_thing.py").write_text(CODE.format(ran=str(folder.parent / "ran")))
    maps = {"AutoTokenizer": ["tokenization_thing.Thing", None]}
    edit(folder / "tokenizer_config.json", tokenizer_class="ThingTokenizer", auto_map=maps)
    for name in ("tokenizer.json", "vocab.txt"):
        (folder / name).unlink(missing_ok=True)
    edit(folder / "config.json", model_type="thing", auto_map={"AutoConfig": "tokenization_thing.Thing"})


def _code_elsewhere(folder):
    with_code(folder, model_type="thing", auto_map={"AutoConfig": "someone/else--modeling_thing.Thing"})


BROKEN = {
    "code for an unknown type": (_unknown_type, "never run"),
    "code of another repository": (_code_elsewhere, "never run"),
    "code for the tokenizer": (_code_tokenizer, "never run|cannot be loaded"),
    "an unknown type": (_unknown_type_alone, "cannot be loaded"),
    "safetensors of noise": (
        lambda folder: (folder / "model.safetensors").write_bytes(b"\xff" * 200),
        "cannot be loaded",
    ),
    "safetensors cut short": (
        lambda folder: (folder / "model.safetensors").write_bytes(
            (folder / "model.safetensors").read_bytes()[:-100]
        ),
        "cannot be loaded",
    ),
    "empty safetensors": (lambda folder: (folder / "model.safetensors").write_bytes(b""), "cannot be loaded"),
    "a pickle by that name": (
        lambda folder: (folder / "model.safetensors").write_bytes(pickle.dumps(_Bomb())),
        "cannot be loaded",
    ),
    "a torch pickle by that name": (
        lambda folder: torch.save({"a": torch.ones(1)}, folder / "model.safetensors"),
        "cannot be loaded",
    ),
    "an html page by that name": (
        lambda folder: (folder / "model.safetensors").write_text("<html>"),
        "cannot be loaded",
    ),
    "a pointer of git-lfs": (
        lambda folder: (folder / "model.safetensors").write_text(
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"
        ),
        "cannot be loaded",
    ),
    "a head of another size": (
        lambda folder: save(
            folder,
            lambda held: {**held, "classifier.weight": torch.ones(2, 16), "classifier.bias": torch.ones(2)},
        ),
        "the weights have other sizes than config.json says",
    ),
    "more labels than the head has": (
        lambda folder: edit(
            folder / "config.json", id2label=dict(enumerate([*LABELS, "other"])), label2id={}
        ),
        "the weights have other sizes than config.json says",
    ),
    "no head": (
        lambda folder: save(
            folder,
            lambda held: {name: one for name, one in held.items() if not name.startswith("classifier")},
        ),
        r"lacks weights \(classifier.bias, classifier.weight\), so its verdicts would be random",
    ),
    "a layer missing": (
        lambda folder: save(
            folder, lambda held: {name: one for name, one in held.items() if "layer.0.output" not in name}
        ),
        "lacks weights",
    ),
    "a config of noise": (lambda folder: (folder / "config.json").write_text("{"), "cannot be loaded"),
    "a config that is a list": (lambda folder: (folder / "config.json").write_text("[]"), "cannot be loaded"),
    "an index of shards that are not there": (
        lambda folder: [
            (folder / "model.safetensors").unlink(),
            (folder / "model.safetensors.index.json").write_text(
                json.dumps({"metadata": {}, "weight_map": {"a": "b.safetensors"}})
            ),
        ],
        "cannot be loaded",
    ),
    "a tokenizer of noise": (lambda folder: (folder / "tokenizer.json").write_text("{"), "cannot be loaded"),
}


@pytest.mark.parametrize(("damage", "message"), BROKEN.values(), ids=BROKEN)
def test_a_checker_that_cannot_be_trusted_is_one_message(folder, damage, message, capfd):
    damage(folder)
    with pytest.raises(DataError, match=message) as caught:
        load_checker(str(folder))("iron helps", [Chunk(id="a", text="iron helps")])
    said = str(caught.value)
    assert said.startswith(f"the checker {str(folder)!r}")
    assert "expected 'default', a model folder" in said
    assert "\n" not in said
    assert "trust_remote_code" not in said
    assert not list(folder.parent.rglob("ran"))
    assert capfd.readouterr().err == ""


def test_the_whole_folder_works(folder):
    assert load_checker(str(folder))("iron helps", [Chunk(id="a", text="iron helps")]).label != "unscored"


def test_code_beside_a_known_type_is_not_run(folder):
    with_code(folder, auto_map={"AutoModelForSequenceClassification": "modeling_thing.Thing"})
    load_checker(str(folder))("iron helps", [Chunk(id="a", text="iron helps")])
    assert not list(folder.parent.rglob("ran"))


ENCODERS = {
    name: BROKEN[name]
    for name in (
        "code for an unknown type",
        "safetensors of noise",
        "a pickle by that name",
        "a config of noise",
    )
}


@pytest.mark.parametrize(("damage", "message"), ENCODERS.values(), ids=ENCODERS)
def test_an_encoder_that_cannot_be_trusted_is_one_message(folder, damage, message):
    pytest.importorskip("sentence_transformers")
    damage(folder)
    with pytest.raises(DataError, match=message) as caught:
        load_encoder(str(folder))
    assert "\n" not in str(caught.value)
    assert not list(folder.parent.rglob("ran"))


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        (
            [{"idx": 0, "name": "0", "path": "", "type": "modeling_thing.Thing"}],
            "is built of 'modeling_thing.Thing', code from elsewhere",
        ),
        ([{"idx": 0, "name": "0", "path": "", "type": "os.system"}], "never run"),
        ([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformersx.models"}], "never run"),
        ({"type": "a"}, "cannot be read"),
        (["a"], "cannot be read"),
    ],
)
def test_an_encoder_of_foreign_modules_is_refused(folder, modules, message):
    pytest.importorskip("sentence_transformers")
    with_code(folder)
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(DataError, match=message):
        load_encoder(str(folder))
    assert not Path(folder.parent, "ran").exists()
