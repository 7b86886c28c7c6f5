"""Foreign classifiers, tried on tiny models made here."""

import numpy as np
import pytest

from pytest_medfaith.checking.classifier import label_columns, score_with_classifier
from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.errors import DataError, MissingExtra
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval.encoders import load_encoder

PAIRS = [
    ("iron helps", "iron helps"),
    ("iron helps the body in a long text about iron", "zinc"),
    ("", "iron"),
]
WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "iron",
    "zinc",
    "helps",
    "the",
    "body",
    "in",
    "a",
    "long",
    "text",
    "about",
]


@pytest.fixture
def model_folder(tmp_path):
    """Returns a maker of folders with a tiny BERT classifier whose labels are given."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")

    def make(labels):
        torch.manual_seed(0)
        config = transformers.BertConfig(
            vocab_size=len(WORDS),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            num_labels=len(labels),
            id2label=dict(enumerate(labels)),
            label2id={label: i for i, label in enumerate(labels)},
        )
        folder = tmp_path / "-".join(labels)
        transformers.BertForSequenceClassification(config).save_pretrained(folder)
        (folder / "vocab.txt").write_text("\n".join(WORDS))
        transformers.BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
        return str(folder)

    return make


@pytest.mark.parametrize(
    ("labels", "columns"),
    [
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], {"contradict": 0, "neutral": 1, "entail": 2}),
        (["entailment", "not_entailment"], {"entail": 0, "not_entail": 1}),
        (["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"], {"entail": 0, "contradict": 1, "neutral": 2}),
        (["consistent", "hallucinated"], {"entail": 0, "not_entail": 1}),
        (["NO_EVIDENCE", "SUPPORT", "CONTRADICT"], {"neutral": 0, "entail": 1, "contradict": 2}),
        (["SUPPORTS", "REFUTES", "NOTENOUGHINFO"], {"entail": 0, "contradict": 1, "neutral": 2}),
        (["consistent"], {"entail": 0}),
        (["hallucination"], {"not_entail": 0}),
    ],
)
def test_common_label_words_are_known(labels, columns):
    assert label_columns(dict(enumerate(labels))) == columns


def test_a_given_map_beats_a_guess():
    given = {"LABEL_0": "contradict", "LABEL_1": "neutral", "LABEL_2": "entail"}
    assert label_columns({0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, given=given) == {
        "contradict": 0,
        "neutral": 1,
        "entail": 2,
    }


@pytest.mark.parametrize(
    ("labels", "given", "message"),
    [
        (
            ["LABEL_0", "LABEL_1"],
            None,
            (
                r"label 'LABEL_0' is not known; its labels are LABEL_0, LABEL_1\. Say what each means with "
                r"label_map"
            ),
        ),
        (
            ["neutral", "contradiction"],
            None,
            r"expected entail, neutral and contradict, or entail and not_entail",
        ),
        (["a", "b", "c"], {"a": "entail", "b": "entail", "c": "neutral"}, r"one column each"),
        (
            ["LABEL_0"],
            None,
            r"a single output, 'LABEL_0', .*: a ranker and .*label_map = \{\"LABEL_0\" = \"entail\"\}",
        ),
        (["contradiction"], None, r"or for a single output entail or not_entail"),
    ],
)
def test_labels_that_say_nothing_are_named(labels, given, message):
    with pytest.raises(DataError, match=message):
        label_columns(dict(enumerate(labels)), given=given)


def test_logits_come_in_our_order_and_do_not_depend_on_the_batch(model_folder):
    plain = score_with_classifier(model_folder(["entailment", "neutral", "contradiction"]), None, 64, PAIRS)
    turned = score_with_classifier(model_folder(["contradiction", "neutral", "entailment"]), None, 64, PAIRS)
    assert plain.shape == (3, 3)
    assert np.allclose(plain, turned[:, ::-1])
    assert np.allclose(
        plain[1],
        score_with_classifier(model_folder(["entailment", "neutral", "contradiction"]), None, 64, PAIRS[1:2])[
            0
        ],
        atol=1e-6,
    )


def test_a_two_way_model_never_refutes(model_folder):
    logits = score_with_classifier(model_folder(["entailment", "not_entailment"]), None, 64, PAIRS)
    assert (logits[:, 2] < logits[:, :2].min(axis=1) - 10).all()
    named = load_checker(
        model_folder(["LABEL_0", "LABEL_1"]), label_map={"LABEL_0": "not_entail", "LABEL_1": "entail"}
    )
    assert named("iron helps", [Chunk(id="a", text="iron helps the body")]).label in (
        "supported",
        "unsupported",
    )


def test_a_sigmoid_head_gives_the_sigmoid_as_the_probability_of_entailment(model_folder):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = model_folder(["LABEL_0"])
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        wanted = torch.sigmoid(model(**tokenizer(*PAIRS[1], return_tensors="pt")).logits).item()
    for meaning, place in (("entail", 0), ("not_entail", 1)):
        logits = score_with_classifier(folder, {"LABEL_0": meaning}, 64, PAIRS)[1].astype(float)
        probs = np.exp(logits) / np.exp(logits).sum()
        assert probs[place] == pytest.approx(wanted, abs=1e-5), meaning
        assert probs[2] < 1e-6, meaning


def test_a_model_that_reads_the_claim_first_is_given_it_first(model_folder):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = model_folder(["SUPPORT", "NO_EVIDENCE", "CONTRADICT"])
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    long = ("iron helps the body " * 30, "zinc helps")
    with torch.no_grad():
        inputs = tokenizer(long[1], long[0], truncation="only_second", max_length=64, return_tensors="pt")
        wanted = model(**inputs).logits.numpy()[0]
    logits = score_with_classifier(folder, None, 64, [long], order="claim-evidence")[0]
    assert logits == pytest.approx(wanted, abs=1e-6)
    assert logits != pytest.approx(score_with_classifier(folder, None, 64, [long])[0], abs=1e-5)
    usual, turned = load_checker(folder), load_checker(folder, order="claim-evidence")
    assert turned.signature == f"{usual.signature}|claim-evidence"


@pytest.mark.parametrize(
    "given", [{"LABEL_0": "contradict", "LABEL_1": "neutral"}, {"LABEL_0": "entail", "LABEL_1": "entail"}]
)
def test_two_labels_that_cannot_say_entailed_or_not_are_an_error(model_folder, given):
    checker = load_checker(model_folder(["LABEL_0", "LABEL_1"]), label_map=given)
    with pytest.raises(
        DataError, match="expected entail, neutral and contradict, or entail and not_entail, one column each"
    ):
        checker("iron helps", [Chunk(id="a", text="iron helps")])


def test_a_folder_without_config_is_an_error(model_folder):
    from pathlib import Path

    folder = Path(model_folder(["entailment", "neutral", "contradiction"]))
    (folder / "config.json").unlink()
    with pytest.raises(
        DataError,
        match=r"cannot be loaded .*expected 'default', a model folder with config.json and safetensors",
    ):
        load_checker(str(folder))("iron helps", [Chunk(id="a", text="iron helps")])


def test_a_model_that_gives_nan_gives_no_verdict(model_folder):
    torch = pytest.importorskip("torch")
    from pathlib import Path

    from safetensors.torch import load_file, save_file

    path = Path(model_folder(["entailment", "neutral", "contradiction"])) / "model.safetensors"
    weights = {
        name: torch.full_like(values, float("nan")) if name == "classifier.bias" else values
        for name, values in load_file(path).items()
    }
    save_file(weights, path, metadata={"format": "pt"})
    verdict = load_checker(str(path.parent))("iron helps", [Chunk(id="a", text="iron helps")])
    assert (verdict.label, "no finite score" in verdict.reason) == ("unscored", True)


def test_a_claim_that_fills_what_the_model_reads_gives_no_verdict(model_folder):
    checker = load_checker(model_folder(["entailment", "neutral", "contradiction"]), max_tokens=32)
    chunks = [Chunk(id="a", text="iron helps the body " * 30)]
    assert checker("iron helps " * 20, chunks).label == "unscored"
    assert checker("iron helps", chunks).label != "unscored"


def test_a_folder_works_as_checker(model_folder):
    verdict = load_checker(model_folder(["entailment", "neutral", "contradiction"]))(
        "iron helps", [Chunk(id="a", text="iron helps the body")]
    )
    assert verdict.label in ("supported", "refuted", "unsupported")


def test_weights_that_could_run_code_are_not_loaded(model_folder):
    torch = pytest.importorskip("torch")
    from pathlib import Path

    folder = Path(model_folder(["entailment", "neutral", "contradiction"]))
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(DataError, match=r"has pytorch_model.bin alone\. Pickled weights can run code"):
        load_checker(str(folder))("iron helps", [Chunk(id="a", text="iron helps")])


def test_the_command_that_converts_pickled_weights_is_told_and_works(model_folder):
    torch = pytest.importorskip("torch")
    import re
    from pathlib import Path

    from safetensors.torch import load_file

    folder = Path(model_folder(["entailment", "neutral", "contradiction"]))
    wanted = score_with_classifier(str(folder), None, 64, PAIRS)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(DataError) as refused:
        score_with_classifier(f"{folder}/", None, 64, PAIRS)  # by a name that is not loaded yet
    (code,) = re.findall(r'python -c "(.*)"', str(refused.value))
    exec(code, {})  # noqa: S102 - what the message tells a user to run
    assert np.allclose(score_with_classifier(f"{folder}/", None, 64, PAIRS), wanted)


@pytest.mark.parametrize("name", ["no-such-folder-or-model", "./nowhere"])
def test_an_unknown_checker_is_named(name, monkeypatch):
    pytest.importorskip("transformers")
    monkeypatch.setattr(
        "huggingface_hub.constants.HF_HUB_OFFLINE", True
    )  # read from the environment once, and may be imported by now
    with pytest.raises(DataError, match=f"the checker '{name}' cannot be loaded"):
        load_checker(name)("iron helps", [Chunk(id="a", text="iron helps")])


def test_an_empty_name_is_named():
    with pytest.raises(DataError, match="the checker's name is empty"):
        load_checker(" ")


@pytest.mark.parametrize(
    ("module", "call"),
    [
        (
            "transformers",
            lambda: load_checker("some/model")("iron helps", [Chunk(id="a", text="iron helps")]),
        ),
        ("sentence_transformers", lambda: load_encoder("some/model")),
    ],
)
def test_a_missing_extra_is_an_error_with_the_install_line(module, call, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"pip install 'pytest-medfaith\[models\]'"):
        call()
