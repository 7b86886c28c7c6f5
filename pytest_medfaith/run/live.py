"""Answers a slice live, outside pytest: each answer is kept at once, and a crash is a failed case.

A run that is killed leaves its answers in `answers.jsonl` of the run folder, and the same command goes on
with them. Once the run is written, its answers are in responses.jsonl, and the next run asks anew.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_medfaith.answers.responses import BY_RETRIEVER
from pytest_medfaith.answers.sampling import asked_samples, sampled_response
from pytest_medfaith.errors import DataError, MedfaithError
from pytest_medfaith.metrics.failed import WHY_FAILED
from pytest_medfaith.records import Hit, Report, Response
from pytest_medfaith.retrieval.cost import measured_steps
from pytest_medfaith.run.sealed import append_sealed, digest, read_sealed
from pytest_medfaith.run.targets import Target, found_by, reference_response, report_on, retrieval_cost
from pytest_medfaith.teacher.asking import asking_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_medfaith.run.resources import Resources

ANSWERS = "answers.jsonl"  # in the run folder, while the run is on


@dataclass
class LiveAnswers:
    """Called with a target, asks the RAG and returns the report; kept answers are not asked for again.

    Attributes:
        resources: of the run.
        rag: `question -> answer`; None asks the reference RAG.
        name: of the RAG, by which kept answers are found.
        path: the file of kept answers; None keeps none.
        asked: how many questions were asked.
        kept: how many answers came from an interrupted run.
        failed: {case id: why it has no answer}.
        damaged: how many kept answers were not as they were written; they are asked for again.
    """

    resources: Resources
    rag: Callable[[str], Any] | None
    name: str
    path: Path | None = None
    asked: int = 0
    kept: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    damaged: int = 0
    _known: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Reads the answers of an interrupted run."""
        if self.path:
            self._known, self.damaged = read_sealed(self.path)

    def __call__(self, target: Target) -> Report:
        """Returns the report on the answer to a target's question; a crash of the RAG is the answer ""."""
        resources, settings = self.resources, target.settings
        retriever = resources.retriever(settings) if resources.can_retrieve(settings) else None
        with measured_steps() as steps:
            query = target.standalone if self.rag is None else target.case.question
            hits = found_by(retriever, query, target) if retriever else None
        response = self._response(target, hits or [])
        return report_on(
            target,
            response,
            checker=resources.checker(settings.checker),
            hits=hits,
            **resources.rules,
            extractor=resources.extractor,
            retriever=retriever,
            cost=retrieval_cost(target, retriever, steps),
        )

    def _response(self, target: Target, hits: Sequence[Hit]) -> Response:
        """Returns the answer to a target's question: kept, or asked for now and then kept.

        Contexts that the retriever gave are not kept but put in again from `hits`.
        """
        key = self._key(target)
        if key in self._known:
            self.kept += 1
            response = Response.from_dict(json.loads(self._known[key]))
        else:
            response = self._asked(target, hits)
            told = response.with_(contexts=()) if response.contexts_from == BY_RETRIEVER else response
            if not response.answer and WHY_FAILED in response.meta:
                return response  # the next run asks again
            self._known[key] = json.dumps(told.to_dict(), ensure_ascii=False, allow_nan=False)
            if self.path:
                append_sealed(self.path, key, self._known[key])
        if response.contexts_from == BY_RETRIEVER:
            response = response.with_(contexts=tuple(hit.chunk for hit in hits))
        return response

    def _key(self, target: Target) -> str:
        """Returns a digest of what decides an answer: RAG, question, for the reference RAG its retrieval."""
        asked: dict[str, Any] = {"rag": self.name, "case": target.case.id, "question": target.case.question}
        asked |= {"history": list(target.turns), "temperatures": list(self.resources.temperatures)}
        if self.rag is None:
            settings = target.settings
            asked |= {
                "signature": self.resources.reference_rag.signature,
                "retriever": settings.retriever,
                "k": settings.k,
                "corpus": [str(path) for path in settings.corpus],
            }
        return digest(asked)

    def _asked(self, target: Target, hits: Sequence[Hit]) -> Response:
        """Returns the RAG's answer with its latency in ms; where the RAG raises, "" with the reason."""
        case, begun = target.case, time.perf_counter()
        self.asked += 1
        try:
            if self.rag is None:
                response = reference_response(self.resources, target, hits)
            else:
                with asking_for(case.id):
                    sampled = self.resources.temperatures
                    answers = asked_samples(self.rag, case.question, sampled, history=target.turns)
                response = sampled_response(answers, case_id=case.id, hits=hits)
            _check_plain(response)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a RAG may raise anything
            why = str(error) if isinstance(error, MedfaithError) else f"the RAG raised {error!r}"
            self.failed[case.id] = why
            return Response(answer="", case_id=case.id, meta={WHY_FAILED: why})
        taken = 1000 * (time.perf_counter() - begun) / (1 + len(response.samples))  # the mean of all samples
        return response if response.latency_ms is not None else response.with_(latency_ms=round(taken, 1))


def _check_plain(response: Response) -> None:
    """Raises DataError where an answer cannot be written as JSON, as with an object in its `meta`."""
    try:
        json.dumps(response.to_dict(), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise DataError(f"the answer holds what JSON cannot: {error}") from error
