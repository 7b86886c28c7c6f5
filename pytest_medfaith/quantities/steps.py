"""How a number takes part in a change: "fell by 30", "fell to 30" and "fell from 30" say three things."""

from __future__ import annotations

import re
from typing import Literal

from pytest_medfaith.english.sentences import sentence_at
from pytest_medfaith.quantities.quantity import Quantity

# "by": the size of the change; "from": the value before it; "to": the value after it.
Step = Literal["by", "from", "to"]

_CHANGE = re.compile(
    r"\b(?:f[ae]ll(?:s|en|ing)?|r[iao]se(?:s|n)?|rising|drop(?:s|ped|ping)?|declin\w+|decreas\w+|increas\w+|"
    r"reduc\w+|lower(?:s|ed|ing)?|rais(?:e|es|ed|ing)|cuts?|cutting|titrat\w+|climb\w*|gr[eo]w(?:s|n|ing)?|"
    r"(?:go|goes|went|gone|going|bring|brings|brought|step|steps|stepped|turn|turned) (?:\w+ )?(?:up|down)|"
    r"shorten\w*|lengthen\w*|prolong\w*|extend\w*|improv\w+|worsen\w*|double[sd]?|chang\w+)\b",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"\b(?P<step>by|from|to|reach(?:es|ed|ing)?)\s+(?:(?:about|around|approximately|roughly|nearly|almost|"
    r"only|just|a further|an extra|another|as much as|at least|at most|more than|less than|over|under|up to|"
    r"between|an?|(?:a )?(?:maximum|minimum|total) of)\s+){0,2}$",
    re.IGNORECASE,
)
_SIZE_BEFORE = re.compile(
    r"\b(?:steps?|increments?|reductions?|drops?|falls?|rises?|cuts?) of\s+$", re.IGNORECASE
)
_STEPS: tuple[Step, ...] = ("by", "from", "to")
_LOOK_BACK = 48  # characters


def step_of(quantity: Quantity, text: str) -> Step | None:
    """Returns how `quantity` takes part in the change that its sentence tells; None where it takes none.

    In "the dose goes up to 20 mg" the step of 20 mg is "to"; in "in steps of 5 mg" the step of 5 mg is "by".

    Args:
        quantity: read from `text`.
        text: what the quantity stands in; the words just ahead of the quantity tell its step.
    """
    ahead = text[max(0, quantity.start - _LOOK_BACK) : quantity.start]
    if _SIZE_BEFORE.search(ahead):
        return "by"
    found = _STEP.search(ahead)
    if not found or not _CHANGE.search(sentence_at(text, quantity.start)):
        return None
    step: Step = next((step for step in _STEPS if step == found["step"].lower()), "to")
    return None if step == "from" and quantity.low < quantity.high else step
