"""Which labels of verdicts are in no average."""

from __future__ import annotations

OPEN = ("uncertain", "unscored")  # claims that are counted and never averaged in
