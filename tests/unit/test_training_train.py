"""A tiny student learns its pairs, resumes at finished phases, and exports to ONNX that agrees with it."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from pytest_medfaith.models.shipped import MINILM_TOKENIZER

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from tiny_models import tiny_bert  # noqa: E402

from pytest_medfaith.checking.student import pair_row, score_with_student  # noqa: E402
from training.export import export_classifier  # noqa: E402
from training.losses import contrast_loss  # noqa: E402
from training.optimizers import learning_rate, muon_in_fp32, optimizers_of  # noqa: E402
from training.recipe import Phase, Recipe, load_sources, read_recipe  # noqa: E402
from training.student import halved, load_student, logits_of  # noqa: E402
from training.train_nli import phase_batches, train_nli  # noqa: E402


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def pairs(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "short.jsonl"
    words = ["heart", "lung", "liver", "skin", "bone", "eye", "ear", "hand"]
    claims = [{"text": "It helps.", "label": "entail", "alt_label": "contradict"}]
    items = [
        {"id": w, "evidence": f"Good for the {w}.", "alt_evidence": f"Poison to the {w}.", "claims": claims}
        for w in words
    ]
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    return path


def recipe_of(base: Path, pairs: Path) -> Recipe:
    phases = [Phase("one", 30, 5e-3, {"short": 1.0}), Phase("two", 1, 1e-4, {"short": 1.0})]
    return Recipe(
        base=str(base),
        sources={"short": {"reader": "written", "paths": [str(pairs)]}},
        phases=phases,
        batch_tokens=200,
    )


def test_a_student_learns_resumes_and_exports(base, pairs, tmp_path):
    folder = train_nli(recipe_of(base, pairs), tmp_path / "out", progress=lambda _line: None)
    assert folder == tmp_path / "out" / "two"
    rows = [
        pair_row(text, "It helps.", max_tokens=64) for text in ("Good for the ear.", "Poison to the ear.")
    ]
    model, _ = load_student(folder)
    with torch.no_grad():
        expected = logits_of(model.eval(), rows).numpy()
    assert expected.argmax(1).tolist() == [0, 2]

    first = (tmp_path / "out" / "one" / "model.safetensors").stat().st_mtime_ns
    (folder / "config.json").unlink()
    (folder / "model.safetensors").unlink()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    lines: list[str] = []
    train_nli(recipe_of(base, pairs), tmp_path / "out", progress=lines.append)
    assert (tmp_path / "out" / "one" / "model.safetensors").stat().st_mtime_ns == first
    assert (folder / "model.safetensors").exists()

    onnx = export_classifier(tmp_path / "out" / "two", tmp_path / "student.onnx")
    shutil.copy(MINILM_TOKENIZER, onnx.parent / "tokenizer.json")
    scored = score_with_student(
        onnx, 64, [("Good for the ear.", "It helps."), ("Poison to the ear.", "It helps.")]
    )
    assert np.abs(scored - expected).max() < 0.25
    assert scored.argmax(1).tolist() == [0, 2]


def test_a_phase_can_leave_the_mean_of_its_weights_and_earlier_ones(base, pairs, tmp_path):
    def trained(**options):
        phases = [Phase("one", 2, 5e-3, {"short": 1.0}), Phase("two", 2, 5e-3, {"short": 1.0}, **options)]
        recipe = Recipe(**{**recipe_of(base, pairs).__dict__, "phases": phases})
        out = tmp_path / str(len(options))
        train_nli(recipe, out, progress=lambda _line: None)
        return (load_student(out / name)[0].state_dict() for name in ("one", "two"))

    (first, second), (_, mean) = trained(), trained(average=("one",))
    for name in first:
        assert torch.allclose(mean[name], (first[name] + second[name]) / 2, atol=1e-5), name


def test_a_source_may_read_the_files_of_another(tmp_path):
    path = tmp_path / "recipe.toml"
    rows = (
        'beside = { reader = "written_beside", like = "written" }\nwritten = { reader = "written", path = '
        '"{repo}/w.jsonl", held_out_one_in = 10 }\n'
    )
    path.write_text(f'base = "b"\nphases = []\n[sources]\n{rows}')
    beside = read_recipe(path, data=tmp_path, repo=tmp_path).sources["beside"]
    assert (beside["reader"], beside["paths"], beside["held_out_one_in"]) == (
        "written_beside",
        [f"{tmp_path}/w.jsonl"],
        10,
    )
    path.write_text(
        'base = "b"\nphases = []\n[sources]\nbeside = { reader = "written_beside", like = "wirtten" }\n'
    )
    with pytest.raises(ValueError, match="a source is like 'wirtten'; expected one of beside"):
        read_recipe(path, data=tmp_path, repo=tmp_path)


def test_a_phase_may_take_the_shares_of_an_earlier_one(tmp_path):
    path = tmp_path / "recipe.toml"
    first = '[[phases]]\nname = "one"\nepochs = 1\nlearning_rate = 1e-4\nshares = { a = 1.0, b = 0.5 }\n'
    second = (
        '[[phases]]\nname = "two"\nlike = "one"\ntimes = 0.5\nepochs = 1\nlearning_rate = 1e-4\nshares = { b '
        "= 0.1, c = 2.0 }\n"
    )
    path.write_text(f'base = "b"\n[sources]\n{first}{second}')
    assert read_recipe(path, data=tmp_path, repo=tmp_path).phases[1].shares == {"a": 0.5, "b": 0.1, "c": 2.0}
    path.write_text(f'base = "b"\n[sources]\n{second}{first}')
    with pytest.raises(
        ValueError, match="phase 'two' is like, or averages with, one; expected phases that come before"
    ):
        read_recipe(path, data=tmp_path, repo=tmp_path)


def test_a_recipe_that_averages_with_a_later_phase_is_refused(tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text(
        'base = "b"\n[sources]\n[[phases]]\nname = "one"\nepochs = 1\nlearning_rate = 1e-4\nshares = '
        '{}\naverage = ["two"]\n'
    )
    with pytest.raises(
        ValueError, match="phase 'one' is like, or averages with, two; expected phases that come before"
    ):
        read_recipe(path, data=tmp_path, repo=tmp_path)


def test_frozen_weights_do_not_move(base, pairs, tmp_path):
    recipe = Recipe(
        **{
            **recipe_of(base, pairs).__dict__,
            "freeze": ["word_embeddings"],
            "phases": [Phase("one", 1, 5e-3, {"short": 1.0})],
        }
    )
    before = load_student(base)[0].state_dict()
    after = load_student(train_nli(recipe, tmp_path, progress=lambda _line: None))[0].state_dict()
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert "bert.embeddings.word_embeddings.weight" not in moved
    assert "bert.encoder.layer.0.attention.self.query.weight" in moved


def test_a_phase_can_move_the_matrices_of_its_layers_by_muon(base, pairs, tmp_path):
    phase = Phase("one", 30, 5e-3, {"short": 1.0}, matrix_rate=5e-3, batch_tokens=100)
    recipe = Recipe(**{**recipe_of(base, pairs).__dict__, "phases": [phase]})
    adamw, muon = optimizers_of(load_student(base)[0], rate=5e-3, matrix_rate=5e-3)
    of = {
        name: {id(p) for group in o.param_groups for p in group["params"]}
        for name, o in (("adamw", adamw), ("muon", muon))
    }
    assert (
        len(of["muon"]) == 2 * 6
    )  # of each layer query, key, value, output and the two of the feed-forward part
    assert not of["adamw"] & of["muon"]
    lines: list[str] = []
    model, _ = load_student(train_nli(recipe, tmp_path, progress=lines.append))
    with torch.no_grad():
        logits = logits_of(
            model.eval(),
            [
                pair_row(text, "It helps.", max_tokens=64)
                for text in ("Good for the ear.", "Poison to the ear.")
            ],
        )
    assert logits.argmax(1).tolist() == [0, 2]


@pytest.mark.parametrize("shape", [(8, 24), (24, 8)])
def test_muon_in_fp32_steps_as_torch_does_but_for_rounding(shape):
    torch.manual_seed(0)
    weights, gradient = torch.randn(shape), torch.randn(shape)

    def stepped() -> torch.Tensor:
        matrix = torch.nn.Parameter(weights.clone())
        matrix.grad = gradient.clone()
        torch.optim.Muon([matrix], lr=0.1, weight_decay=0.01, adjust_lr_fn="match_rms_adamw").step()
        return matrix.detach() - weights

    before = stepped()
    with muon_in_fp32():
        after = stepped()
    assert torch.equal(stepped(), before)  # and that of torch again afterwards
    assert not torch.equal(after, before)
    assert torch.cosine_similarity(after.flatten(), before.flatten(), dim=0) > 0.999
    assert after.norm() == pytest.approx(float(before.norm()), rel=0.02)


def test_halved_weights_give_the_same_logits_but_for_rounding_and_their_gradients_reach_the_whole_ones(base):
    model, _ = load_student(base)
    rows = [pair_row("Good for the ear.", "It helps.", max_tokens=64)]
    whole, half = logits_of(model, rows), logits_of(model, rows, weights=halved(model))
    assert (whole.dtype, half.dtype) == (torch.float32, torch.bfloat16)
    assert half.detach().float().numpy() == pytest.approx(whole.detach().numpy(), abs=0.02)
    half.sum().backward()
    query = model.bert.encoder.layer[0].attention.self.query.weight
    assert query.dtype == query.grad.dtype == torch.float32
    assert query.grad.abs().sum() > 0


def test_a_phases_own_batch_size_goes_before_the_recipes(base, pairs):
    recipe, phase = recipe_of(base, pairs), Phase("one", 1, 5e-3, {"short": 1.0})
    train = load_sources(recipe).train
    few, many = (
        list(phase_batches(recipe, dataclasses.replace(phase, batch_tokens=size), train))
        for size in (None, 40)
    )
    assert len(many) > len(few)
    assert sum(len(batch.rows) for batch in many) == sum(len(batch.rows) for batch in few) == 16


def test_minimal_pairs_that_score_alike_pay_log_two_and_told_apart_nothing():
    blind = torch.zeros(2, 3)
    sure = torch.tensor([[9.0, 0.0, 0.0], [0.0, 0.0, 9.0]])
    targets, bundles = torch.tensor([0, 2]), torch.tensor([7, 7])
    assert contrast_loss(blind, targets, bundles).item() == pytest.approx(np.log(2))
    assert contrast_loss(sure, targets, bundles).item() == pytest.approx(0, abs=1e-3)
    assert contrast_loss(sure.flip(0), targets, bundles).item() > 8


def test_only_minimal_pairs_with_different_labels_are_contrasted():
    logits = torch.tensor([[2.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 5.0, 0.0]], requires_grad=True)
    alone = contrast_loss(logits, torch.tensor([0, 2, 1]), torch.tensor([0, 1, 2]))
    alike = contrast_loss(logits, torch.tensor([0, 0, 0]), torch.tensor([0, 0, 0]))
    assert alone.item() == alike.item() == 0
    contrast_loss(logits, torch.tensor([0, 2, 1]), torch.tensor([0, 0, 1])).backward()
    assert logits.grad[:2].abs().sum() > 0
    assert logits.grad[2].abs().sum() == 0


def test_a_phase_learns_by_contrast(base, tmp_path):
    """In the edited copy a single word changes the label; the claim alone says nothing."""
    path = tmp_path / "short.jsonl"
    claims = [{"text": "It helps.", "label": "entail", "alt_label": "contradict"}]
    items = [
        {
            "id": f"i{n}",
            "evidence": f"Good for part {n}.",
            "alt_evidence": f"Bad for part {n}.",
            "claims": claims,
        }
        for n in range(8)
    ]
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    recipe = Recipe(
        **{**recipe_of(base, path).__dict__, "phases": [Phase("one", 30, 5e-3, {"short": 1.0}, contrast=1.0)]}
    )
    model, _ = load_student(train_nli(recipe, tmp_path / "out", progress=lambda _line: None))
    with torch.no_grad():
        logits = logits_of(
            model.eval(),
            [pair_row(f"{word} for part 3.", "It helps.", max_tokens=64) for word in ("Good", "Bad")],
        )
    assert logits.argmax(1).tolist() == [0, 2]


def test_the_rate_warms_up_and_falls_to_a_twentieth():
    rates = [learning_rate(step, 100, 1.0) for step in range(100)]
    assert rates[0] == pytest.approx(0.2)
    assert max(rates) == rates[5] == 1.0
    assert rates[-1] == pytest.approx(0.05, abs=0.01)
