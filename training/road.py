"""From silver rows to students: both trained, exported and measured. `medfaith distill run` calls it."""

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
    """Writes `out`/checker and `out`/extractor, and returns their cards by these names.

    A training that was interrupted goes on where it was.

    Args:
        silver: a folder that `medfaith distill silver` wrote.
        out: the folder of trainings and students.
        base: the model folder, or the package, that the checker starts from.
        extractor_base: likewise, of the tagger.
        max_tokens: that a student reads at a time.
        epochs: at most, of each.
        rate: peak rate of AdamW.
        seed: of both trainings.
        soft: whether the checker learns the teacher's probabilities, where it gave some.
        progress: receives a line now and then.
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
