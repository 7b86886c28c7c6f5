"""The labels that a verdict can have, and what earlier turns of a conversation can count for."""

from __future__ import annotations

from typing import Literal

VERDICTS = ("supported", "refuted", "unsupported", "uncertain", "unscored")
VerdictLabel = Literal["supported", "refuted", "unsupported", "uncertain", "unscored"]
OPEN = ("uncertain", "unscored")  # claims that are counted and never averaged in
# What earlier turns of a conversation are: words that say what "it" is; evidence, too; or nothing.
HistoryMode = Literal["context", "evidence", "ignore"]
