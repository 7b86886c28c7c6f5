"""Tiny students learn silver rows: stopped early, resumed to the step, exported as folders for a run."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tiny_models import tiny_encoder  # noqa: E402

from pytest_medfaith.checking.loading import load_checker  # noqa: E402
from pytest_medfaith.claims.student import folder_extractor  # noqa: E402
from pytest_medfaith.distill.files import write_silver  # noqa: E402
from pytest_medfaith.distill.gathering import Gathered  # noqa: E402
from pytest_medfaith.distill.records import Provenance, SilverAnswer, SilverClaim, SilverPair  # noqa: E402
from pytest_medfaith.distill.splitting import make_silver  # noqa: E402
from pytest_medfaith.errors import DataError  # noqa: E402
from training.epochs import EpochSettings, Lesson, train_epochs  # noqa: E402
from training.losses import silver_loss  # noqa: E402
from training.road import make_students  # noqa: E402
from training.silver_extractor import ExtractorSettings, train_tagger  # noqa: E402
from training.silver_nli import (  # noqa: E402
    NliSettings,
    epoch_batches,
    macro_f1,
    order_head,
    train_silver_nli,
)
from training.silver_writer import train_writer  # noqa: E402
from training.student import load_student  # noqa: E402

FROM = Provenance(run="r", checker="teacher", model="judge-7b")
WORDS = ("heart", "lung", "liver", "skin", "bone", "eye", "ear", "hand", "foot", "knee", "hip", "nose")
EVIDENCE = {"entail": "Good for the {}.", "neutral": "Near the {}.", "contradict": "Poison to the {}."}


def pair(label: str, word: str, number: int, **more) -> SilverPair:
    return SilverPair(
        id=f"{label}-{word}",
        case_id=f"case-{number}",
        claim=f"It helps the {word}.",
        label=label,
        evidence=EVIDENCE[label].format(word),
        overlap=number / 50,
        passage=f"{label}-{word}",
        provenance=FROM,
        **more,
    )


def answer(word: str, number: int) -> SilverAnswer:
    text = f"Hello there. Iron helps the {word}. Zinc harms it."
    spans = [(13, text.index(" Zinc") - 0), (text.index("Zinc"), len(text))]
    claims = tuple(SilverClaim(text=text[a:b], start=a, end=b) for a, b in spans)
    return SilverAnswer(
        id=word,
        case_id=f"case-{number}",
        question=f"What of the {word}?",
        answer=text,
        claims=claims,
        provenance=FROM,
    )


@pytest.fixture(scope="module")
def silver(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("silver")
    write_silver(folder, make_silver(gathered(entity_overlap=0.5), kept_out=0.17))
    return folder


def gathered(**more) -> Gathered:
    pairs = [pair(label, word, n, **more) for n, word in enumerate(WORDS) for label in EVIDENCE]
    return Gathered(pairs, [answer(word, n) for n, word in enumerate(WORDS)])


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("base"), width=24)


def nli(base: Path, **more) -> NliSettings:
    pace = {"epochs": 12, "rate": 3e-3, "patience": 0, "save_every": 8, **more.pop("pace", {})}
    return NliSettings(base=str(base), batch_tokens=150, max_tokens=64, epochs=EpochSettings(**pace), **more)


def quiet(_line: str) -> None:
    pass


def weights(folder: Path) -> dict:
    return load_student(folder)[0].state_dict()


def test_a_checker_learns_and_writes_a_line_for_each_epoch(silver, base, tmp_path):
    best = train_silver_nli(silver, tmp_path, nli(base), progress=quiet)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == list(range(1, 13))
    assert lines[-1]["loss"] < 0.7 * lines[0]["loss"]
    assert max(line["dev_macro_f1"] for line in lines) > 0.6
    (last_best,) = [line for line in lines if line["best"]][-1:]
    assert last_best["dev_macro_f1"] == max(line["dev_macro_f1"] for line in lines)
    assert best == tmp_path / "best"


def test_a_training_that_was_interrupted_within_an_epoch_ends_with_the_same_weights(silver, base, tmp_path):
    switches = {"soft": True, "curriculum": True, "entity_weight": 0.5}
    short = nli(base, **switches, pace={"epochs": 2, "save_every": 2})
    whole = train_silver_nli(silver, tmp_path / "whole", short, progress=quiet)
    train_silver_nli(silver, tmp_path / "cut", short, progress=quiet, stop_after=5)
    done = [
        json.loads(line)["steps"] for line in (tmp_path / "cut" / "metrics.jsonl").read_text().splitlines()
    ]
    assert done
    assert 5 not in done  # it was left within an epoch, a step behind its last saved state
    again = train_silver_nli(silver, tmp_path / "cut", short, progress=quiet)
    for name, tensor in weights(whole).items():
        assert torch.equal(tensor, weights(again)[name]), name
    lines = [(tmp_path / name / "metrics.jsonl").read_text() for name in ("whole", "cut")]
    without_times = [
        [{k: v for k, v in json.loads(line).items() if k != "seconds"} for line in text.splitlines()]
        for text in lines
    ]
    assert without_times[0] == without_times[1]


def test_a_folder_of_another_training_is_refused_and_a_finished_one_stays(silver, base, tmp_path):
    settings = nli(base, pace={"epochs": 1})
    best = train_silver_nli(silver, tmp_path, settings, progress=quiet)
    before = (best / "model.safetensors").stat().st_mtime_ns
    assert train_silver_nli(silver, tmp_path, settings, progress=quiet) == best
    assert (best / "model.safetensors").stat().st_mtime_ns == before
    with pytest.raises(DataError, match="holds a training of other rows or settings"):
        train_silver_nli(silver, tmp_path, nli(base, pace={"epochs": 2}), progress=quiet)


def lesson(scores, loss=None):
    model = torch.nn.Linear(1, 1)
    given = iter(scores)
    loss_of = loss or (lambda _: model(torch.ones(1, 1)).sum() ** 2)
    return model, Lesson(
        batches_of=lambda _: [0, 1],
        loss_of=loss_of,
        scores=lambda: {"score": next(given)},
        judged_by="score",
        of="x",
    )


def test_training_stops_when_dev_gets_no_better_and_keeps_the_best(tmp_path):
    model, what = lesson([0.1, 0.5, 0.4, 0.5, 0.9])
    saved = []
    settings = EpochSettings(epochs=5, patience=2)
    train_epochs(model, what, settings, tmp_path, save=saved.append, progress=quiet)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["best"] for line in lines] == [True, True, False, False]  # an equal score is no better
    assert len(saved) == 2


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_score_or_a_loss_that_is_no_number_ends_the_training(tmp_path, value):
    model, what = lesson([value])
    with pytest.raises(DataError, match=f"score of epoch 1 is {value}"):
        train_epochs(model, what, EpochSettings(epochs=1), tmp_path, save=quiet, progress=quiet)
    model, what = lesson([1.0], loss=lambda _: model(torch.ones(1, 1)).sum() * value)
    with pytest.raises(DataError, match="the loss of step 1 is"):
        train_epochs(model, what, EpochSettings(epochs=1), tmp_path / "b", save=quiet, progress=quiet)


def test_the_curriculum_begins_with_the_easiest_rows():
    settings = nli(Path("b"), curriculum=True, pace={"epochs": 4})
    seen = [
        sorted(i for batch in epoch_batches([8] * 20, epoch, settings) for i in batch) for epoch in range(4)
    ]
    assert seen == [list(range(10)), *[list(range(20))] * 3]
    single = nli(Path("b"), curriculum=True, pace={"epochs": 1})
    assert [i for batch in epoch_batches([8] * 20, 0, single) for i in batch] == list(range(20))
    plain = nli(Path("b"), pace={"epochs": 4})
    assert sorted(i for batch in epoch_batches([8] * 20, 0, plain) for i in batch) == list(range(20))


def test_the_losses_are_what_they_say():
    logits = torch.tensor([[2.0, 0.5, -1.0], [1.0, 0.0, 0.0]])
    logs = torch.log_softmax(logits, dim=1).numpy().astype(float)
    rows = [
        pair("entail", "eye", 1, probs=(0.7, 0.2, 0.1), entity_overlap=0.0),
        pair("neutral", "ear", 2, entity_overlap=0.25),
    ]
    hard = -(logs[0, 0] + logs[1, 1]) / 2
    assert silver_loss(logits, rows, soft=False, entity_weight=0).item() == pytest.approx(hard, abs=1e-5)
    taught = 0.7 * -(np.array([0.7, 0.2, 0.1]) @ logs[0]) + 0.3 * -logs[0, 0]
    soft = (taught - logs[1, 1]) / 2
    assert silver_loss(logits, rows, soft=True, entity_weight=0).item() == pytest.approx(soft, abs=1e-5)
    fine = 0.75 * np.exp(logs[1, 0]) / 2  # of the second row alone: the first is entailed
    assert silver_loss(logits, rows, soft=False, entity_weight=2.0).item() == pytest.approx(
        hard + 2 * fine, abs=1e-5
    )


@pytest.mark.parametrize(
    ("overlap", "said"),
    [
        (None, 'of 16 pairs of train that are not entailed, 0 name a concept; .*`linker = "none"`'),
        (1.0, "16 name a concept; in each of these the claim and the evidence name the same concepts"),
    ],
)
def test_an_entity_weight_that_would_do_nothing_is_refused(base, tmp_path, overlap, said):
    write_silver(tmp_path / "silver", make_silver(gathered(entity_overlap=overlap), kept_out=0.17))
    with pytest.raises(DataError, match=said):
        train_silver_nli(tmp_path / "silver", tmp_path / "out", nli(base, entity_weight=0.5), progress=quiet)
    assert not (tmp_path / "out").exists()


def test_the_rows_for_which_an_entity_weight_counts_are_told(silver, base, tmp_path):
    told = []
    pace = {"epochs": 1}
    train_silver_nli(silver, tmp_path, nli(base, entity_weight=0.5, pace=pace), progress=told.append)
    assert told[0] == "--entity-weight counts for 16 of 16 pairs of train that are not entailed"


def test_a_warm_start_of_another_order_of_labels_keeps_what_its_head_means(tmp_path):
    torch.manual_seed(0)
    labels = dict(enumerate(["CONTRADICTION", "NEUTRAL", "ENTAILMENT"]))
    config = transformers.BertConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        num_labels=3,
        id2label=labels,
        label2id={v: k for k, v in labels.items()},
    )
    model = transformers.BertForSequenceClassification(config)
    with torch.no_grad():
        model.classifier.bias.copy_(torch.tensor([3.0, 2.0, 1.0]))
    model.save_pretrained(tmp_path)
    order_head(model, tmp_path)
    assert model.classifier.bias.tolist() == [1.0, 2.0, 3.0]


def test_macro_f1_counts_labels_that_occur_or_are_predicted():
    assert macro_f1([0, 0, 1], [0, 0, 1]) == 1.0
    assert macro_f1([0, 0, 1], [0, 0, 2]) == pytest.approx(1 / 3)


def test_students_become_folders_that_a_run_takes_with_cards_of_what_was_measured(silver, base, tmp_path):
    cards = make_students(
        silver,
        tmp_path,
        base=str(base),
        extractor_base=str(base),
        max_tokens=64,
        epochs=2,
        rate=3e-3,
        progress=quiet,
    )
    checker = load_checker(str(tmp_path / "checker"))
    from pytest_medfaith.records import Chunk

    assert checker("It helps the knee.", [Chunk(id="a", text="Good for the knee.")]).label in (
        "supported",
        "unsupported",
        "refuted",
    )
    measured = cards["checker"]["measured"]
    assert (
        measured["pairs"]
        == measured["int8"]["of"]
        == sum(sum(row.values()) for row in measured["labels"].values())
    )
    assert cards["checker"]["fitted"] == "not fitted: dev has too few pairs of a label"
    page = (tmp_path / "checker" / "README.md").read_text()
    assert (
        f"the same likeliest label for {measured['int8']['equal']} of {measured['pairs']} test pairs" in page
    )
    extract, signature = folder_extractor(tmp_path / "extractor")
    assert signature.startswith("tagger|")
    claims = extract("Hello there. Iron helps the knee. Zinc harms it.", question="?")
    assert [claim.id for claim in claims] == [f"c{n}" for n in range(1, len(claims) + 1)]
    said = " ".join(claim.text for claim in claims)
    assert "Iron helps the knee" in said  # by the student or by the rules, nothing is lost
    assert "Zinc harms it" in said
    page = (tmp_path / "extractor" / "README.md").read_text()
    assert f"recall {cards['extractor']['measured']['recall']}" in page
    with pytest.raises(DataError, match="is there already"):
        make_students(
            silver,
            tmp_path,
            base=str(base),
            extractor_base=str(base),
            max_tokens=64,
            epochs=2,
            rate=3e-3,
            progress=quiet,
        )


def test_a_tagger_learns_where_claims_begin_and_end(silver, base, tmp_path, capfd):
    pace = EpochSettings(epochs=10, rate=8e-3, patience=0)
    settings = ExtractorSettings(base=str(base), max_tokens=64, batch_tokens=300, epochs=pace)
    train_tagger(silver, tmp_path, settings, progress=quiet)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert max(line["dev_span_f1"] for line in lines) > 0.8
    assert capfd.readouterr().err == ""  # no report of transformers on a head that is new


@pytest.mark.parametrize("named", ["no_such_model", "json", ".", "no_such.model", ""])
def test_a_base_that_is_no_model_is_one_message(silver, tmp_path, named, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="is neither a folder with a model"):
        train_tagger(silver, tmp_path / "out", ExtractorSettings(base=named), progress=quiet)


def tiny_t5(folder: Path, base: Path) -> Path:
    torch.manual_seed(0)
    config = transformers.T5Config(
        vocab_size=30_522,
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=1,
        num_heads=2,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=102,
    )
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        if (base / name).exists():
            shutil.copy(base / name, folder / name)
    return folder


def test_a_model_that_writes_is_trained_and_what_it_makes_up_is_no_claim(silver, base, tmp_path):
    t5 = tiny_t5(tmp_path / "t5", base)
    pace = EpochSettings(epochs=1, rate=1e-3)
    settings = ExtractorSettings(base=str(t5), max_tokens=64, batch_tokens=400, epochs=pace)
    best = train_writer(silver, tmp_path / "out", settings, progress=quiet)
    extract, signature = folder_extractor(best)
    assert signature.startswith("writer|")
    claims = extract("Iron helps the knee. Zinc harms it.", question="?")
    said = {claim.text for claim in claims}
    assert said == {
        "Iron helps the knee.",
        "Zinc harms it.",
    }  # by the rules: random weights write nothing of use
