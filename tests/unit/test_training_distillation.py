"""A strong checker's probabilities teach a tiny student, with and without labels.

An interrupted labelling goes on where it stopped.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from tiny_models import tiny_bert  # noqa: E402

from pytest_medfaith.checking.student import pair_row  # noqa: E402
from pytest_medfaith.errors import DataError  # noqa: E402
from pytest_medfaith.models.shipped import MINILM_TOKENIZER  # noqa: E402
from training.distillation import (  # noqa: E402
    SoftPair,
    found_pairs,
    label_softly,
    pairs_to_label,
    read_soft,
    soft_loss,
    train_fast,
)
from training.export import export_classifier  # noqa: E402
from training.pairs import Pair  # noqa: E402
from training.restore import restore_classifier  # noqa: E402
from training.student import load_student, logits_of  # noqa: E402

TEXTS = ("Good for the ear.", "Poison to the ear.", "Good for the eye.", "Poison to the eye.")
PAIRS = [(text, "It helps.", "entail" if "Good" in text else "contradict") for text in TEXTS]


@pytest.fixture(scope="module")
def student(tmp_path_factory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("student"))


@pytest.fixture(scope="module")
def teacher(student, tmp_path_factory) -> Path:
    out = export_classifier(student, tmp_path_factory.mktemp("teacher") / "model.onnx")
    (out.parent / "tokenizer.json").write_bytes(MINILM_TOKENIZER.read_bytes())
    return out


def logits(folder: Path) -> np.ndarray:
    model, _ = load_student(folder)
    with torch.no_grad():
        return logits_of(
            model.eval(), [pair_row(text, claim, max_tokens=64) for text, claim, _ in PAIRS]
        ).numpy()


def test_a_student_learns_from_logits_without_a_label(student, tmp_path):
    soft = [
        SoftPair(text, claim, None, (2.0, -1.0, -1.0) if label == "entail" else (-1.0, -1.0, 2.0))
        for text, claim, label in PAIRS
    ]
    folder = train_fast(
        student,
        soft * 4,
        tmp_path / "out",
        rate=5e-3,
        epochs=30,
        batch_tokens=200,
        progress=lambda _line: None,
    )
    found = logits(folder)
    assert found.argmax(1).tolist() == [0, 2, 0, 2]
    assert (
        np.abs((found - found.mean(1, keepdims=True)) - np.array([each.logits for each in soft])).max() < 1.0
    )  # as sure as the teacher, not surer


def test_the_loss_is_least_where_student_and_teacher_agree():
    wanted = torch.tensor([[2.0, 0.0, -1.0]])
    nobody = torch.tensor([-1])
    assert soft_loss(wanted, wanted, nobody).item() == pytest.approx(0, abs=1e-6)
    assert soft_loss(wanted + 5, wanted, nobody).item() == pytest.approx(
        0, abs=1e-6
    )  # a shift changes no probability
    assert soft_loss(-wanted, wanted, nobody).item() > 1
    both = soft_loss(wanted, wanted, torch.tensor([0])).item()
    assert both == pytest.approx(
        0.3 * torch.nn.functional.cross_entropy(wanted, torch.tensor([0])).item(), abs=1e-6
    )


def test_an_interrupted_labelling_ends_in_the_same_file(teacher, tmp_path):
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    assert label_softly(teacher, PAIRS, whole) == 4
    lines = whole.read_text().splitlines(keepends=True)
    cut.write_text("".join(lines[:2]) + lines[2][:30])
    assert label_softly(teacher, PAIRS, cut) == 4
    assert cut.read_bytes() == whole.read_bytes()
    assert [(pair.evidence, pair.claim, pair.label) for pair in read_soft(whole)] == PAIRS


def test_a_labelling_of_other_pairs_does_not_go_on_there(teacher, tmp_path):
    out = tmp_path / "soft.jsonl"
    label_softly(teacher, PAIRS[:2], out)
    before = out.read_bytes()
    for other in (PAIRS[1:], PAIRS[:1], []):
        with pytest.raises(DataError, match=r"soft\.jsonl:\d: holds another pair"):
            label_softly(teacher, other, out)
    assert out.read_bytes() == before


def test_a_claim_meets_texts_of_other_claims():
    pairs = [
        Pair(f"Iron {word} helps the heart.", f"Iron {word} helps.", "entail", "s", word)
        for word in ("alpha", "beta", "gamma")
    ]
    found = list(found_pairs(pairs, most=100))
    assert len(found) == 6
    assert all(claim.split()[1] not in evidence for evidence, claim in found)
    drawn = pairs_to_label(pairs, most=2, found=1)
    assert sorted(label or "none" for _, _, label in drawn) == ["entail", "entail", "none"]
    assert drawn == pairs_to_label(pairs, most=2, found=1)


@pytest.mark.parametrize(
    "line",
    [
        '{"evidence": "a", "claim": "b", "label": "yes", "logits": [1, 2, 3]}',
        '{"evidence": "a", "claim": "b", "logits": [1, NaN, 3]}',
        '{"evidence": "a", "claim": "b", "logits": [1, 2]}',
        '{"evidence": "a", "claim": "b", "logits": 3}',
        '{"claim": "b", "logits": [1, 2, 3]}',
        '{"evidence": "a", "claim',
    ],
)
def test_soft_labels_without_sense_are_refused(tmp_path, line):
    path = tmp_path / "soft.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(DataError, match=r"soft\.jsonl:1: "):
        read_soft(path)


def test_a_student_turns_back_into_weights(student, teacher, tmp_path):
    folder = restore_classifier(teacher.parent, student, tmp_path / "restored")
    assert np.abs(logits(folder) - logits(student)).max() < 0.02


def test_soft_labels_are_json(teacher, tmp_path):
    label_softly(teacher, [("Good for the ear.", "It helps.", None)], tmp_path / "soft.jsonl")
    assert set(json.loads((tmp_path / "soft.jsonl").read_text())) == {"evidence", "claim", "label", "logits"}
