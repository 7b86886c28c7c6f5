"""A tiny MPNet classifier exports to int8 ONNX that agrees with it, relative positions included.

The folder of the export is a checker.
"""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from pytest_medfaith.checking.card import read_card  # noqa: E402
from pytest_medfaith.checking.loading import load_checker  # noqa: E402
from pytest_medfaith.checking.student import pair_row, score_with_student  # noqa: E402
from pytest_medfaith.errors import DataError  # noqa: E402
from pytest_medfaith.records import Chunk  # noqa: E402
from training import export, onnx_files  # noqa: E402
from training.export import export_classifier  # noqa: E402
from training.outliers import activation_ranges, outlying, ranges_on_pairs  # noqa: E402
from training.restore import restore_classifier  # noqa: E402

WORDS = (
    "iron zinc helps harms the heart lung liver skin bone eye ear hand in adults and children with a cold"
).split()
PAIRS = [
    ("iron helps the heart in adults", "iron helps"),
    ("zinc harms the skin " * 12, "zinc helps the skin and bone"),
]
SCORING = {
    "temperature": 1.0,
    "entail_threshold": 0.4,
    "contradict_threshold": 0.4,
    "contradict_odds": 1.0,
    "similarity_weight": 0.0,
    "similarity_even": 0.4,
    "max_tokens": 128,
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A random MPNet classifier whose relative positions matter, and its tokenizer."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folder = tmp_path_factory.mktemp("mpnet")
    torch.manual_seed(0)
    vocabulary = {word: number for number, word in enumerate(["<s>", "<pad>", "</s>", "[UNK]", *WORDS])}
    config = transformers.MPNetConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=200,
        num_labels=3,
        initializer_range=0.3,
    )
    model = transformers.MPNetForSequenceClassification(config).eval()
    with torch.no_grad():
        model.mpnet.encoder.relative_attention_bias.weight.normal_(0, 2)
    model.save_pretrained(folder)
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder, model


@pytest.fixture
def exported(trained, tmp_path):
    folder, _model = trained
    out = export_classifier(folder, tmp_path / "checker" / "model.onnx")
    (out.parent / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    (out.parent / "card.json").write_text(json.dumps({"scoring": SCORING}))
    return out.parent


def logits_of(model, folder, pairs):
    rows = [pair_row(*pair, max_tokens=128, tokenizer=folder / "tokenizer.json")[0] for pair in pairs]
    with torch.no_grad():
        return np.vstack([model(input_ids=torch.tensor([row])).logits.numpy() for row in rows])


def test_the_graph_agrees_with_the_model(trained, exported):
    folder, model = trained
    expected = logits_of(model, folder, PAIRS)
    assert np.abs(score_with_student(exported / "model.onnx", 128, PAIRS) - expected).max() < 0.25


def test_the_graph_holds_the_relative_positions(trained, exported):
    """Without its position bias the model is another model: a fusion that dropped it would not pass here."""
    folder, model = trained
    with_bias = logits_of(model, folder, PAIRS)
    kept = model.mpnet.encoder.relative_attention_bias.weight.detach().clone()
    try:
        with torch.no_grad():
            model.mpnet.encoder.relative_attention_bias.weight.zero_()
        without = logits_of(model, folder, PAIRS)
    finally:
        with torch.no_grad():
            model.mpnet.encoder.relative_attention_bias.weight.copy_(kept)
    found = score_with_student(exported / "model.onnx", 128, PAIRS)
    assert np.abs(with_bias - without).max() > 0.3
    assert np.abs(found - with_bias).max() < np.abs(found - without).max() / 3


def test_a_pair_is_framed_as_the_models_tokenizer_frames_it(trained):
    folder, _ = trained
    ids, _types = pair_row("iron helps", "zinc harms", max_tokens=64, tokenizer=folder / "tokenizer.json")
    word = {each: number for number, each in enumerate(["<s>", "<pad>", "</s>", "[UNK]", *WORDS])}
    assert ids == [0, word["iron"], word["helps"], 2, 2, word["zinc"], word["harms"], 2]


def test_large_weights_lie_in_files_of_their_own(trained, exported, tmp_path, monkeypatch):
    folder, _ = trained
    monkeypatch.setattr(onnx_files, "_ALONE", 0)
    monkeypatch.setattr(onnx_files, "_LARGE", 100)
    out = export_classifier(folder, tmp_path / "split" / "model.onnx")
    (out.parent / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    assert {path.name for path in out.parent.glob("*.bin")} == {"embeddings.bin", "layers.bin"}
    assert np.array_equal(
        score_with_student(out, 128, PAIRS), score_with_student(exported / "model.onnx", 128, PAIRS)
    )


def test_a_file_that_no_repository_may_hold_is_refused(trained, tmp_path, monkeypatch):
    monkeypatch.setattr(onnx_files, "MAX_BYTES", 1000)
    with pytest.raises(ValueError, match=r"model.onnx would be \d+ bytes, more than the 1000"):
        export_classifier(trained[0], tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_card_graph_and_tokenizer_is_a_checker(trained, exported):
    checker = load_checker(str(exported))
    claim, text = "iron helps", "iron helps the heart in adults"
    verdict = checker(claim, [Chunk(id="a", text=text)])
    expected = logits_of(trained[1], trained[0], [(text, claim)])[0]
    assert verdict.label == ["supported", "unsupported", "refuted"][int(expected.argmax())]
    assert checker.thresholds.entail == 0.4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"temperature": "hot"}, "temperature is 'hot', expected a number"),
        ({"temperature": None}, "temperature is None, expected a number"),
        ({"entail_threshold": 1.5}, "expected numbers between 0 and 1"),
        ({"windows": -1}, "expected windows and words of 1 or more"),
    ],
)
def test_a_card_without_sense_is_refused(exported, change, message):
    (exported / "card.json").write_text(json.dumps({"scoring": SCORING | change}))
    with pytest.raises(DataError, match=message):
        read_card(exported)


def test_a_bert_encoder_is_no_mpnet(trained, tmp_path):
    with pytest.raises(
        DataError, match="a model of type 'mpnet'; only models of type bert are exported here"
    ):
        export.export_encoder(trained[0], tmp_path / "model.onnx")


@pytest.fixture
def lopsided(trained, tmp_path):
    """The same model with one channel of the residual stream fifty times as large as the others."""
    folder, _model = trained
    copied = transformers.MPNetForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        for layer in copied.mpnet.encoder.layer:
            layer.attention.LayerNorm.bias[5] = 50.0
    copied.save_pretrained(tmp_path / "lopsided")
    (tmp_path / "lopsided" / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    return tmp_path / "lopsided", copied


def test_channels_far_larger_than_the_others_stay_in_float(lopsided, tmp_path):
    folder, model = lopsided
    pairs = tmp_path / "pairs.jsonl"
    claims = [{"text": claim, "label": "neutral", "alt_label": "neutral"} for _, claim in PAIRS]
    pairs.write_text(
        json.dumps({"id": "a", "evidence": PAIRS[0][0], "alt_evidence": PAIRS[1][0], "claims": claims})
    )
    ranges = ranges_on_pairs(folder, pairs)
    entering = "mpnet.encoder.layer.0.intermediate.dense"
    assert outlying(ranges[entering]).tolist() == [5]
    expected, error = logits_of(model, folder, PAIRS), {}
    for name, given in (("all", None), ("apart", ranges)):
        out = export_classifier(folder, tmp_path / name / "model.onnx", ranges=given)
        (out.parent / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
        error[name] = np.abs(score_with_student(out, 128, PAIRS) - expected).max()
    assert error["apart"] < error["all"] / 3


@pytest.mark.parametrize("apart", [False, True])
def test_an_export_turns_back_into_weights(trained, lopsided, tmp_path, monkeypatch, apart):
    """Seven bits of a weight are kept, and the channels that lie apart whole."""
    folder, model = lopsided if apart else trained
    rows = [pair_row(*pair, max_tokens=128, tokenizer=folder / "tokenizer.json") for pair in PAIRS]
    ranges = activation_ranges(folder, rows) if apart else None
    out = export_classifier(folder, tmp_path / "exported" / "model.onnx", ranges=ranges)
    monkeypatch.setattr(
        "transformers.AutoTokenizer.from_pretrained",
        lambda _: transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json")),
    )
    restored = transformers.MPNetForSequenceClassification.from_pretrained(
        restore_classifier(out.parent, folder, tmp_path / "restored")
    ).eval()
    assert np.abs(logits_of(restored, folder, PAIRS) - logits_of(model, folder, PAIRS)).max() < 0.2
    for name, weight in model.state_dict().items():
        if (
            "position_embeddings" not in name and "relative" not in name
        ):  # rows that no text is long enough for are not exported
            assert (restored.state_dict()[name] - weight).abs().max() <= weight.abs().max() / 120, name


def test_pairs_without_a_pair_are_refused(trained, tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(DataError, match="holds no pair"):
        ranges_on_pairs(trained[0], tmp_path / "empty.jsonl")
