"""Makes both students, a checker and an extractor, from silver rows, for `medfaith distill run`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from training.epochs import EpochSettings
from training.silver_extractor import ExtractorSettings, train_tagger
from training.silver_nli import NliSettings, train_silver_nli
from training.student_folder import make_checker, make_tagger


def make_students(
    silver: Path,
    out: Path,
    *,
    base: str,
    extractor_base: str,
    max_tokens: int = 256,
    epochs: int = 3,
    rate: float = 5e-5,
    seed: int = 0,
    soft: bool = True,
    progress: Callable[[str], None] = print,
) -> dict[str, dict[str, Any]]:
    """Trains, exports and measures both students; returns {"checker": card, "extractor": card}.

    They are written to `out`/checker and `out`/extractor. An interrupted training goes on where it stopped.

    Args:
        silver: a folder that `medfaith distill silver` wrote.
        out: folder of trainings and students.
        base: model folder, or installed package with a model, that the checker starts from.
        extractor_base: the same for the extractor.
        max_tokens: tokens that a student reads at a time.
        epochs: passes over the rows at most, for each student.
        rate: peak learning rate of AdamW.
        seed: of both trainings.
        soft: True lets the checker learn the teacher's probabilities, where it gave some; False its labels.
        progress: called with a line now and then.
    """
    pace = EpochSettings(epochs=epochs, rate=rate, seed=seed)
    nli = NliSettings(base=base, soft=soft, curriculum=True, max_tokens=max_tokens, epochs=pace)
    train_silver_nli(silver, out / "training" / "checker", nli, progress=progress)
    tagging = ExtractorSettings(base=extractor_base, max_tokens=max_tokens, epochs=pace)
    train_tagger(silver, out / "training" / "extractor", tagging, progress=progress)
    cards = {
        "checker": make_checker(
            out / "training" / "checker", silver, out / "checker", max_tokens=max_tokens, seed=seed
        ),
        "extractor": make_tagger(
            out / "training" / "extractor", silver, out / "extractor", max_tokens=max_tokens
        ),
    }
    for name, card in cards.items():
        progress(f"{out / name}: {card['measured']}")
    return cards
