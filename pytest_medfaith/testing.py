"""Checkers for your tests that follow a script instead of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.english.words import content_words
from pytest_medfaith.records import LABELS

_SURE = 6.0  # a logit that gives its label a probability of 0.995


def scripted_checker(label_of: Callable[[str, str], str], *, name: str = "scripted") -> Checker:
    """Returns a checker whose pair labels are `label_of(evidence, claim)`: entail, neutral or contradict.

    The evidence is what a checker reads of a context: the sentence that fits the claim best, and where the
    two are similar, the sentences around it.

    Raises:
        ValueError: when scoring, if the script gives none of the three labels.
    """

    def score_texts(pairs: Sequence[tuple[str, str]]) -> Any:
        import numpy as np

        logits = np.zeros((len(pairs), len(LABELS)), dtype=np.float32)
        for row, (evidence, claim) in enumerate(pairs):
            label = label_of(evidence, claim)
            if label not in LABELS:
                raise ValueError(
                    f"the scripted checker was told {label!r} for {claim!r}; "
                    f"expected one of {', '.join(LABELS)}"
                )
            logits[row, LABELS.index(label)] = _SURE
        return logits

    return Checker(name, f"scripted:{name}", score_texts)


def containment_checker() -> Checker:
    """Returns a checker that says entail where the evidence holds a claim's content words, else neutral."""
    return scripted_checker(
        lambda evidence, claim: "entail" if content_words(claim) <= content_words(evidence) else "neutral",
        name="containment",
    )
