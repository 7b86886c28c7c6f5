"""Makes the folder of a trained student: int8 ONNX, tokenizer, thresholds, and a card of what was measured.

Thresholds are fitted on dev and figures measured on test, both with the exported model: what runs is what was
measured.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_medfaith.calibration.temperature import calibrate
from pytest_medfaith.cards.wording import counted
from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.checking.student import pair_row, score_with_student
from pytest_medfaith.claims.student import TAGGER, tagged_spans
from pytest_medfaith.claims.tagging import TAGS
from pytest_medfaith.distill.agreement import agree, agree_on_spans, agreement_card, agreement_facts
from pytest_medfaith.distill.files import SUMMARY, read_answers, read_pairs
from pytest_medfaith.distill.records import SilverPair
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_rows, write_text
from pytest_medfaith.records import LABELS
from training.export import export_classifier, export_tagger
from training.outliers import activation_ranges

_LOOKED_AT = 200  # pairs on which the ranges of activations are measured
_LEAST_FITTED = 10  # pairs of each label in dev; with fewer, fitted thresholds would mean little
_NOT_FITTED = "not fitted: dev has too few pairs of a label"
_SHARED = "Passages of the test pairs trained it, too: expect less on other passages."
_UNFITTED = {"temperature": 1.0, "entail_threshold": 0.5, "contradict_threshold": 0.5, "contradict_odds": 1.0}


def make_checker(
    training: Path, silver: Path, out: Path, *, max_tokens: int, seed: int = 0
) -> dict[str, Any]:
    """Exports a trained checker to the folder `out`, which `checker = "OUT"` can name; returns its card.

    Args:
        training: folder of a training by `train_silver_nli`.
        silver: folder of the rows that it learned from.
        out: folder to write; it must not exist.
        max_tokens: tokens of a pair, as in training.
        seed: of the intervals.

    Raises:
        DataError: `out` exists, the training is not finished, or the model is of a kind that cannot be
            exported.
    """
    best = _best(training, out)
    dev, test = read_pairs(silver, "dev"), read_pairs(silver, "test")
    tokenizer = best / "tokenizer.json"
    looked_at = [_row(row, max_tokens, tokenizer) for row in read_pairs(silver, "train")[:_LOOKED_AT]]
    model = export_classifier(best, out / "model.onnx", ranges=activation_ranges(best, looked_at))
    shutil.copy(tokenizer, out / "tokenizer.json")
    scored = score_with_student(model, max_tokens, [(row.evidence, row.claim) for row in dev])
    fitted, is_fitted = _fitted(scored, [row.label for row in dev])
    scoring = {"max_tokens": max_tokens, **fitted, "similarity_weight": 0.0, "similarity_even": 0.5}
    card: dict[str, Any] = {"scoring": scoring}
    _write_card(out, card)
    student = dataclasses.replace(
        load_checker(str(out)), name=out.name
    )  # a card must not show a folder of this machine
    found = agree(test, student, part="test", seed=seed)
    card |= {
        "fitted": f"fitted on {len(dev)} pairs of dev" if is_fitted else _NOT_FITTED,
        "trained_on": json.loads((silver / SUMMARY).read_text(encoding="utf-8")),
        "epochs": _epochs(training),
        "measured": agreement_facts(found) | {"int8": _int8(best, model, test, max_tokens)},
    }
    _write_card(out, card)
    write_text(out / "README.md", _checker_page(card, agreement_card(found)))
    return card


def _best(training: Path, out: Path) -> Path:
    """Returns the folder of the best weights; DataError if there is none, or if `out` exists."""
    if out.exists():
        raise DataError(f"{out} is there already; name another folder, or remove it")
    best = training / "best"
    if not (best / "config.json").is_file():
        raise DataError(f"{training} holds no finished training; expected a folder that a training wrote")
    return best


def _write_card(out: Path, card: Mapping[str, Any]) -> None:
    """Writes card.json into the folder `out`."""
    write_text(out / "card.json", json.dumps(card, indent=2, ensure_ascii=False) + "\n")


def _row(row: SilverPair, max_tokens: int, tokenizer: Path) -> tuple[list[int], list[int]]:
    """Returns (token ids, token types) of a pair; the claim may take half of the tokens."""
    half = max_tokens // 2
    return pair_row(row.evidence, row.claim, max_tokens=max_tokens, tokenizer=tokenizer, claim_tokens=half)


def _fitted(logits: Any, labels: Sequence[str]) -> tuple[dict[str, float], bool]:
    """Returns (temperature and thresholds, whether they were fitted to dev).

    They are not fitted where dev has fewer than 10 pairs of a label.
    """
    if min(list(labels).count(label) for label in LABELS) < _LEAST_FITTED:
        return dict(_UNFITTED), False
    found = calibrate(logits.tolist(), labels)
    return {name: round(float(getattr(found, name)), 4) for name in _UNFITTED}, True


def _epochs(training: Path) -> list[dict[str, Any]]:
    """Returns the lines of metrics.jsonl, one for each epoch."""
    return [row for _, row in read_rows(training / "metrics.jsonl")]


def _int8(best: Path, model: Path, rows: Sequence[SilverPair], max_tokens: int) -> dict[str, int]:
    """Returns for how many pairs the export keeps the likeliest label, as {"equal": ..., "of": ...}."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    before = AutoModelForSequenceClassification.from_pretrained(best).eval()
    tokenizer = AutoTokenizer.from_pretrained(best)
    after = score_with_student(model, max_tokens, [(row.evidence, row.claim) for row in rows])
    equal = 0
    for row, logits in zip(rows, after, strict=True):
        inputs = tokenizer(
            row.evidence, row.claim, truncation="only_first", max_length=max_tokens, return_tensors="pt"
        )
        with torch.inference_mode():
            equal += int(before(**inputs).logits[0].argmax()) == int(logits.argmax())
    return {"equal": equal, "of": len(rows)}


def _checker_page(card: Mapping[str, Any], agreement: str) -> str:
    """Returns the model card in Markdown; all its figures are from `card`."""
    trained, scoring, int8 = card["trained_on"], card["scoring"], card["measured"]["int8"]
    counts, thresholds = trained["pairs"]["train"], [scoring[name] for name in _UNFITTED]
    temperature, entail, contradict, odds = thresholds
    unseen = [label for label, number in counts.items() if not number]
    rows = f"{sum(counts.values())} silver pairs ({_counted(counts)})"
    paragraphs = [
        agreement.rstrip(),
        "## Training",
        f"Trained on {rows}, labelled by {', '.join(trained['teachers'])}. {_pace(card, 'macro-F1')}",
        (
            f"Thresholds: entail {entail}, contradict {contradict}, odds {odds}, temperature {temperature}, "
            f"{card['fitted']}."
        ),
        *([f"It saw no pair that is {' or '.join(unseen)}, and never says it."] if unseen else []),
        *([_SHARED] if trained["passages_shared"] else []),
        f"int8 and fp32 give the same likeliest label for {int8['equal']} of {int8['of']} test pairs.",
        (
            "The rows may hold passages and answers that are not yours to publish: look at their licences "
            "before you share the weights."
        ),
    ]
    return "\n\n".join(paragraphs) + "\n"


def _pace(card: Mapping[str, Any], score: str) -> str:
    """Returns a sentence about when training stopped, and which epoch's weights were kept."""
    epochs = card["epochs"]
    best = max(int(line["epoch"]) for line in epochs if line["best"])
    return f"Stopped after epoch {len(epochs)}, by {score} on dev; the weights are those of epoch {best}."


def _counted(counts: Mapping[str, int]) -> str:
    """Returns "5 entail, 3 neutral, 2 contradict"."""
    return ", ".join(f"{number} {label}" for label, number in counts.items())


def make_tagger(training: Path, silver: Path, out: Path, *, max_tokens: int) -> dict[str, Any]:
    """Exports a trained tagger to the folder `out`, which `extractor = "OUT"` can name; returns its card.

    Arguments and errors are those of `make_checker`.
    """
    best = _best(training, out)
    export_tagger(best, out / "model.onnx")
    shutil.copy(best / "tokenizer.json", out / "tokenizer.json")
    card: dict[str, Any] = {"kind": TAGGER, "tags": list(TAGS), "max_tokens": max_tokens}
    _write_card(out, card)
    found = agree_on_spans(
        read_answers(silver, "test"), lambda row: tagged_spans(out, max_tokens, row.answer)
    )
    card |= {
        "trained_on": json.loads((silver / SUMMARY).read_text(encoding="utf-8")),
        "epochs": _epochs(training),
        "measured": found.to_dict(),
    }
    _write_card(out, card)
    write_text(out / "README.md", _tagger_page(out.name, card))
    return card


def _tagger_page(name: str, card: Mapping[str, Any]) -> str:
    """Returns the tagger's model card in Markdown; all its figures are from `card`."""
    trained, found = card["trained_on"], card["measured"]
    answers, teachers = trained["answers"]["train"], ", ".join(trained["teachers"])
    of = f"of runs that {teachers} judged" if teachers else f"of {', '.join(trained['sources'])}"
    counts = f"{found['found']} claims where the rows have {found['taught']}"
    scores = f"precision {found['precision']}, recall {found['recall']}, F1 {found['f1']}"
    paragraphs = [
        f"# {name}: an extractor of claims",
        f"Trained on {answers} answers {of}. {_pace(card, 'F1 of spans')}",
        (
            f"On {counted(found['answers'], 'test answer')} the exported model marks {counts}; "
            f"{found['equal']} have equal spans: {scores}."
        ),
        "What it leaves out becomes a claim by the shipped rules.",
    ]
    return "\n\n".join(paragraphs) + "\n"
