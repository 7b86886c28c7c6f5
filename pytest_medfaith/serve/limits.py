"""What a server takes at most: sizes of a request, requests that wait, seconds of a check."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of a server; each is above 0.

    Attributes:
        body_bytes: of a request.
        body_seconds: until the whole body of a request must have come.
        claims: of an answer.
        contexts: of a request.
        waiting: requests that wait for the one that is judged; more are refused with status 429.
        seconds: until an answer must have been judged, waiting included.
    """

    body_bytes: int = 1_000_000
    body_seconds: float = 30.0
    claims: int = 200
    contexts: int = 100
    waiting: int = 16
    seconds: float = 120.0

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if not 0 < value < float("inf"):
                raise ValueError(f"the limit {field.name} is {value!r}; expected a number above 0")
