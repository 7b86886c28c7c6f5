"""A plain callable `(claim, chunks) -> verdict` in place of a checker: an LLM, a service, models that vote.

    def judge(claim, chunks):
        return "supported" if any(claim.text in chunk.text for chunk in chunks) else "unsupported"

The callable's verdict is final: no medical rule overrules it. It gives no pair scores, so a report has none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pytest_medfaith.answers.awaiting import awaited
from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.checking.source import callable_name, callable_signature, raised
from pytest_medfaith.errors import DataError, MedfaithError, shown
from pytest_medfaith.records import Chunk, Claim, Verdict, VerdictLabel
from pytest_medfaith.scoring.pairs import no_scores

AnyChecker = Checker | Callable[[Claim, Sequence[Chunk]], Any]
_LABELS = tuple(
    label for label in get_args(VerdictLabel) if label != "uncertain"
)  # which a calibration makes


def as_checker(given: AnyChecker, *, name: str = "") -> Checker:
    """Returns `given` as a `Checker`: a checker as it is, a plain callable in the place of a checker's model.

    Args:
        given: a `Checker`, or a callable that takes a `Claim` and a list of `Chunk`. It returns a `Verdict`,
            a label (supported, refuted, unsupported, unscored) or (label, score) with a score from 0 to 1. It
            may be async.
        name: the name for cards and baselines; the callable's own name where empty.

    Raises:
        DataError: `given` is neither.
    """
    if isinstance(given, Checker):
        return given
    if not callable(given) or isinstance(given, type):
        raise DataError(
            f"the checker is {shown(given)}; expected a Checker, as load_checker returns it, or a callable "
            "(claim, chunks) -> verdict"
        )
    name = name or callable_name(given)
    return Checker(name, callable_signature(given), no_scores, judge=Judge(name, given))


@dataclass(frozen=True)
class Judge:
    """A callable that gives verdicts, with a check of what it returns.

    Attributes:
        name: the name for messages.
        called: the callable: (claim, chunks) -> verdict, label or (label, score).
    """

    name: str
    called: Callable[[Claim, Sequence[Chunk]], Any]

    def __call__(self, claim: Claim, chunks: Sequence[Chunk]) -> Verdict:
        """Returns the callable's verdict. Without chunks the claim is unsupported.

        Where the callable supports a claim by several chunks and does not name them in `supporting`, it is
        asked about each chunk alone: metrics of the contexts need to know which of them support the claim.

        Raises:
            DataError: the callable raised an error, or returned something that is no verdict.
        """
        if not chunks:  # nothing passes by default
            return Verdict(claim=claim, label="unsupported", reason="the answer came with no evidence")
        verdict = self._asked(claim, chunks)
        if len(chunks) == 1 and not verdict.chunk_id:
            verdict = verdict.with_(chunk_id=chunks[0].id)
        if verdict.label != "supported" or verdict.supporting:
            return verdict
        alone = (
            chunks
            if len(chunks) == 1
            else [chunk for chunk in chunks if self._asked(claim, [chunk]).label == "supported"]
        )
        supporting = tuple(chunk.id for chunk in alone)
        return verdict.with_(supporting=supporting, chunk_id=verdict.chunk_id or next(iter(supporting), ""))

    def _asked(self, claim: Claim, chunks: Sequence[Chunk]) -> Verdict:
        """Returns the callable's answer as a verdict. Raises DataError where the callable raises an error."""
        try:
            given = awaited(self.called(claim, list(chunks)), f"the verdict of {self.name!r}")
        except MedfaithError:
            raise
        except Exception as error:
            raise DataError(
                f"the checker {self.name!r} {raised(error)} for the claim {shown(claim.text)}"
            ) from error
        return self._verdict(given, claim, chunks)

    def _verdict(self, given: Any, claim: Claim, chunks: Sequence[Chunk]) -> Verdict:
        """Returns what the callable gave as a verdict: a `Verdict`, a label or (label, score).

        A label alone has the score 1 if it is "supported" or "refuted", else 0.

        Raises:
            DataError: an unknown label or chunk id, or a score outside 0 to 1.
        """
        if isinstance(given, Verdict):
            unknown = {given.chunk_id, *given.supporting} - {"", *(chunk.id for chunk in chunks)}
            if unknown:
                raise self._refusal(
                    given, f"names the chunk {min(unknown)!r}", "ids of the chunks that it was given"
                )
            verdict = given.with_(claim=claim)
        else:
            label, score = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
            if score is None:  # a label alone is meant for certain
                score = 1.0 if label in ("supported", "refuted") else 0.0
            verdict = Verdict(claim=claim, label=label, score=score)
        if verdict.label not in _LABELS:
            raise self._refusal(
                given, "is no verdict", f"a Verdict, one of {', '.join(_LABELS)}, or (label, score)"
            )
        try:
            score = float(verdict.score)  # numbers of numpy and torch too
        except (TypeError, ValueError):
            score = math.nan
        if isinstance(verdict.score, (bool, str)) or not 0 <= score <= 1:
            raise self._refusal(given, f"has the score {verdict.score!r}", "a number from 0 to 1")
        reason = verdict.reason or ("the checker says so" if verdict.label == "unscored" else "")
        return verdict.with_(score=score, reason=reason)

    def _refusal(self, given: Any, what: str, expected: str) -> DataError:
        """Returns the error on what the callable returned: "..., which `what`; expected `expected`"."""
        return DataError(
            f"the checker {self.name!r} returned {shown(given)}, which {what}; expected {expected}"
        )
