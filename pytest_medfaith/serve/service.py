"""What the server does with a request, without HTTP: settings, checker and retriever are loaded once."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_medfaith.answers.responses import BY_RETRIEVER, asserted_response
from pytest_medfaith.claims.limits import LimitedExtractor
from pytest_medfaith.claims.split import extract_claims, is_refusal
from pytest_medfaith.config import SliceSettings
from pytest_medfaith.errors import DataError
from pytest_medfaith.evaluation import Extractor, evaluate_case
from pytest_medfaith.records import Case, Claim, Hit, Report, Response
from pytest_medfaith.run.completing import completed
from pytest_medfaith.run.options import Options
from pytest_medfaith.run.resources import Resources
from pytest_medfaith.run.targets import Target, found_by, report_on
from pytest_medfaith.serve.asked import Asked, Told
from pytest_medfaith.serve.limits import Limits
from pytest_medfaith.serve.streamed import streamed

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker
    from pytest_medfaith.retrieval.ranking import Retriever

ANSWER = "answer"  # the id of the only case of a request


@dataclass
class Service:
    """Checks answers with the settings of a project.

    Attributes:
        root: of the project.
        slice_name: whose corpus, retriever, checker and k serve; "" for contexts that each request brings.
        checker_name: in place of the slice's checker.
        limits: of a request.
        options: as the command line has them.
    """

    root: Path
    slice_name: str = ""
    checker_name: str = ""
    limits: Limits = field(default_factory=Limits)
    options: Options = field(default_factory=Options)

    @cached_property
    def resources(self) -> Resources:
        """Loads what is asked for, once; no score is kept on disk for texts that hardly come again."""
        resources = Resources(root=self.root, options=self.options)
        resources.scores = None
        return resources

    @cached_property
    def settings(self) -> SliceSettings | None:
        """The settings of the served slice; None where each request brings its contexts.

        Raises:
            DataError: there is no such slice, or it has nothing to retrieve from.
        """
        if not self.slice_name:
            return None
        settings = self.resources.settings.slice(self.slice_name)
        if not self.resources.can_retrieve(settings):
            table = self.resources.settings.table(f"slices.{self.slice_name}")
            raise DataError(
                f"slice {self.slice_name!r} has nothing to retrieve from, so it cannot be served; set "
                f"corpus = [...] in {table}, or leave --slice out and send contexts with each answer"
            )
        return settings if settings.contexts_mode == "per-claim" else settings.with_contexts("retrieved")

    @cached_property
    def checker(self) -> Checker:
        """What judges claims."""
        slice_checker = self.settings.checker if self.settings else ""
        return self.resources.checker(*filter(None, [self.checker_name or slice_checker]))

    @cached_property
    def retriever(self) -> Retriever | None:
        """The retriever of the served slice."""
        return self.resources.retriever(self.settings) if self.settings else None

    def load(self) -> None:
        """Loads settings, checker, retriever, and judges a claim: an error comes now, not with a request."""
        if self.retriever and self.settings:
            self.retriever("warm up", top_k=1)
        self.check(Asked("Water boils at 100 degrees.", ["Water boils at 100 degrees."]), Told())

    def check(self, asked: Asked, told: Told) -> Report:
        """Returns the report that a run of pytest would make of the same answer and contexts.

        Raises:
            DataError: contexts are missing or malformed, or there are more of them or of claims than may be.
            Cancelled: nobody waits any more.
        """
        claims, extractor = self._claims(asked)
        told.claims(claims)
        case, checker = (
            Case(id=ANSWER, question=asked.question),
            streamed(self.checker, told.on_verdict, claims),
        )
        rules = self.resources.rules
        if asked.contexts is not None:
            response = asserted_response(asked.answer, asked.contexts)
            report = evaluate_case(case, response, checker=checker, extractor=extractor, **rules)
        else:
            target, hits = self._retrieved(case)
            report = report_on(
                target,
                Response(answer=asked.answer, case_id=ANSWER, contexts_from=BY_RETRIEVER),
                checker=checker,
                hits=hits,
                extractor=extractor,
                retriever=self.retriever,
                **rules,
            )
        return completed(self.resources, report)

    def predict(self, asked: Asked, told: Told) -> Report:
        """Returns the report on an answer; without one, the reference RAG answers from the served slice.

        Raises:
            DataError: as `check`, and where there is neither an answer nor a slice to answer from.
            TeacherError: the language model that should have answered did not.
        """
        if asked.answer:
            return self.check(asked, told)
        target, hits = self._retrieved(Case(id=ANSWER, question=asked.question))
        response = self.resources.reference_rag.answer(target.case.question, hits, case_id=ANSWER)
        return self.check(Asked(response.answer, response.contexts, asked.question), told)

    def _claims(self, asked: Asked) -> tuple[Sequence[Claim], Extractor]:
        """Returns the claims of an answer, and an extractor that makes the same claims of it."""
        if asked.contexts is not None and len(asked.contexts) > self.limits.contexts:
            raise DataError(
                f"there are {len(asked.contexts)} contexts; expected at most {self.limits.contexts}"
            )
        extractor = self.resources.extractor
        claims = () if is_refusal(asked.answer) else tuple(extractor(asked.answer, question=asked.question))
        if len(claims) > self.limits.claims:
            raise DataError(f"the answer makes {len(claims)} claims; expected at most {self.limits.claims}")
        if extractor is extract_claims:
            return claims, extractor
        if isinstance(extractor, LimitedExtractor):
            return claims, dataclasses.replace(extractor, extractor=self._once_read(extractor, asked))
        return claims, lambda *_, **__: list(claims)

    @staticmethod
    def _once_read(limited: LimitedExtractor, asked: Asked) -> Extractor:
        """Returns what gives all claims of an answer again, so that a teacher is not asked twice."""
        if limited.extractor is extract_claims or is_refusal(asked.answer):
            return limited.extractor
        found = limited.extractor(asked.answer, question=asked.question)
        return lambda *_, **__: list(found)

    def _retrieved(self, case: Case) -> tuple[Target, list[Hit]]:
        if self.settings is None or self.retriever is None:
            raise DataError(
                "contexts is missing; send the passages that the answer was based on, or serve a slice that "
                "has a corpus: medfaith serve --slice NAME"
            )
        target = Target(settings=self.settings, case=case)
        if not case.question.strip():
            raise DataError("question is empty; it is what the passages are searched for")
        return target, found_by(self.retriever, case.question, target)
