"""Checks the answer of a request, apart from HTTP; settings, checker and retriever are loaded once."""

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
        root: folder of the project.
        slice_name: slice whose corpus, retriever, checker and k are used; "" if each request brings contexts.
        checker_name: checker to use in place of the slice's; "" for the slice's or the default.
        limits: of a request.
        options: of the command line.
    """

    root: Path
    slice_name: str = ""
    checker_name: str = ""
    limits: Limits = field(default_factory=Limits)
    options: Options = field(default_factory=Options)

    @cached_property
    def resources(self) -> Resources:
        """The project's settings and models, loaded when first used.

        Scores are not kept on disk, since texts of requests hardly come twice.
        """
        resources = Resources(root=self.root, options=self.options)
        resources.scores = None
        return resources

    @cached_property
    def settings(self) -> SliceSettings | None:
        """The settings of the slice; None where each request brings contexts.

        Raises:
            DataError: there is no such slice, or it has no corpus to search.
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
        """The checker that judges claims."""
        slice_checker = self.settings.checker if self.settings else ""
        return self.resources.checker(*filter(None, [self.checker_name or slice_checker]))

    @cached_property
    def retriever(self) -> Retriever | None:
        """The retriever of the slice; None where each request brings contexts."""
        return self.resources.retriever(self.settings) if self.settings else None

    def load(self) -> None:
        """Loads everything and judges a claim, so that errors show at the start, not with a request."""
        if self.retriever and self.settings:
            self.retriever("warm up", top_k=1)
        self.check(Asked("Water boils at 100 degrees.", ["Water boils at 100 degrees."]), Told())

    def check(self, asked: Asked, told: Told) -> Report:
        """Returns the report on an answer, the same that a run of pytest would make.

        Args:
            asked: the answer, and its contexts or question.
            told: is told of claims and verdicts as they are made.

        Raises:
            DataError: contexts are missing or malformed, or there are more contexts or claims than allowed.
            Cancelled: nobody waits for the result any more.
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
        """Returns the report on an answer.

        Without an answer, the reference RAG answers from the slice's corpus.

        Raises:
            DataError: as in `check`; or there is neither an answer nor a slice to answer from.
            TeacherError: the language model that should answer did not.
        """
        if asked.answer:
            return self.check(asked, told)
        target, hits = self._retrieved(Case(id=ANSWER, question=asked.question))
        response = self.resources.reference_rag.answer(target.case.question, hits, case_id=ANSWER)
        return self.check(Asked(response.answer, response.contexts, asked.question), told)

    def _claims(self, asked: Asked) -> tuple[Sequence[Claim], Extractor]:
        """Returns (the claims of an answer, an extractor that gives the same claims again).

        Raises:
            DataError: there are more contexts or claims than allowed.
        """
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
        """Returns an extractor that repeats the claims of an answer, so that a teacher is not asked twice."""
        if limited.extractor is extract_claims or is_refusal(asked.answer):
            return limited.extractor
        found = limited.extractor(asked.answer, question=asked.question)
        return lambda *_, **__: list(found)

    def _retrieved(self, case: Case) -> tuple[Target, list[Hit]]:
        """Returns (the target of a case, what was retrieved for its question).

        Raises:
            DataError: no slice is served, or the question is empty.
        """
        if self.settings is None or self.retriever is None:
            raise DataError(
                "contexts is missing; send the passages that the answer was based on, or serve a slice that "
                "has a corpus: medfaith serve --slice NAME"
            )
        target = Target(settings=self.settings, case=case)
        if not case.question.strip():
            raise DataError("question is empty; it is what the passages are searched for")
        return target, found_by(self.retriever, case.question, target)
