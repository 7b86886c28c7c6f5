"""Limits of a server: sizes of a request, how many requests wait, how long a check may take."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of a server; each is above 0.

    Attributes:
        body_bytes: bytes of a request's body, at most.
        body_seconds: seconds in which the whole body must arrive.
        claims: claims of an answer, at most.
        contexts: contexts of a request, at most.
        waiting: requests that may wait while another is judged; any more get status 429.
        seconds: seconds in which an answer must be judged, waiting included.

    Raises:
        ValueError: a limit is not a finite number above 0.
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
