"""Checkers for tests that judge by a function of yours, or by words, in place of a model.

Example: `scripted_checker(lambda evidence, claim: "entail")` supports every claim, in no time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.english.words import content_words
from pytest_medfaith.records import LABELS

_SURE = 6.0  # a logit that gives its label a probability of 0.995


def scripted_checker(label_of: Callable[[str, str], str], *, name: str = "scripted") -> Checker:
    """Returns a checker whose label for a pair of texts is what `label_of(evidence, claim)` returns.

    Args:
        label_of: returns "entail", "neutral" or "contradict". Its evidence is what any checker reads of a
            context, not the whole: the sentence that fits the claim best, and the sentences around it where
            they are similar, too.
        name: of the checker, as cards show it.

    Raises:
        ValueError: when texts are scored, if `label_of` returns something else.
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
    """Returns a checker that says entail where the evidence holds all content words of a claim, else neutral.

    Content words are those that carry meaning: "iron" and "anaemia", not "the". It never says contradict.
    """
    return scripted_checker(
        lambda evidence, claim: "entail" if content_words(claim) <= content_words(evidence) else "neutral",
        name="containment",
    )
