"""The reference RAG: retrieves, writes an answer with numbered citations, verifies it, and may refuse.

The modes, each with what it adds to the mode above:

    plain            the draft as the generator wrote it; nothing retrieved is a refusal
    faithful         of the draft only what the passages support
    confident        a refusal where 0.5 faithfulness of the draft + 0.5 coverage of the question is too low
    confident-lite   the same, but by the fast checker, and with coverage by words alone

Coverage is the share of the question that the passages speak of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_medfaith.answers.turns import Turns
from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.claims.assignment import assign_citations
from pytest_medfaith.claims.history import standalone_question
from pytest_medfaith.claims.split import extract_claims, is_refusal
from pytest_medfaith.config import RagSettings
from pytest_medfaith.errors import TeacherError
from pytest_medfaith.rag.account import META, REFUSAL, Account, AssignedSentence, DroppedSentence
from pytest_medfaith.rag.coverage import passage_coverage, word_coverage
from pytest_medfaith.rag.quoting import Embed, quoted_answer
from pytest_medfaith.rag.verifying import Verifier, supported_part
from pytest_medfaith.records import Chunk, Hit, Response, Verdict
from pytest_medfaith.teacher.asking import Teacher
from pytest_medfaith.teacher.settings import TEACHER, asking_signature
from pytest_medfaith.teacher.writing import (
    GENERATE_PROMPT,
    REWRITE_PROMPT,
    generated_response,
    rewritten_answer,
)

EXTRACTIVE = "medfaith extractive"  # the `model` of answers that are quoted sentences
LITE = "confident-lite"
LITE_CHECKER = "fast"
_MARK = re.compile(r"\[(\d+)\]")
_NOTHING_FOUND = "the retriever found nothing"
_NOTHING_FITS = "no sentence of the passages fits the question"
_NOTHING_LEFT = "the passages support no sentence of the draft"


def rag_checker(settings: RagSettings) -> str:
    """Returns the name of the checker that verifies drafts; "" in the mode plain, which verifies nothing."""
    if settings.mode == "plain":
        return ""
    return LITE_CHECKER if settings.mode == LITE else settings.checker


def needs_teacher(settings: RagSettings) -> bool:
    """Returns whether the reference RAG asks the teacher (an LLM), as its generator or as its checker."""
    return TEACHER in (settings.generator, rag_checker(settings))


def shipped_vectors(texts: Sequence[str]) -> Any:
    """Returns the vectors of n texts under the shipped encoder: float32 (n, width), rows of length 1."""
    from pytest_medfaith.models.onnx import embed_texts

    return embed_texts(texts)


@dataclass(frozen=True)
class ReferenceRag:
    """Answers questions from passages that were retrieved for them.

    Attributes:
        settings: its mode, generator and threshold.
        verifier: checks the draft's claims; None in the mode plain.
        teacher: the LLM that writes drafts, where the generator is "teacher"; None elsewhere.
        embed: the sentence encoder.
    """

    settings: RagSettings
    verifier: Verifier | None = None
    teacher: Teacher | None = None
    embed: Embed = field(default=shipped_vectors, repr=False)

    def answer(self, question: str, hits: Sequence[Hit], *, case_id: str = "", turns: Turns = ()) -> Response:
        """Returns the answer to a question from `hits`, with how it came about in `meta`.

        Args:
            question: of the user.
            hits: retrieved for the question, or for what `standalone_question` makes of it and `turns`.
            case_id: id of the case; "" without a case.
            turns: earlier messages of a conversation. They say what the question means, but are no source.

        Raises:
            TeacherError: the teacher wrote or judged nothing that can be used.
        """
        contexts, question = [hit.chunk for hit in hits], standalone_question(question, turns)
        draft = self._draft(question, contexts, turns) if contexts else ""
        account = Account(
            mode=self.settings.mode,
            generator=self.settings.generator,
            signature=self.signature,
            draft=draft,
            checker=self.verifier.checker.name if self.verifier else "",
        )
        if not draft:
            refused = _NOTHING_FITS if contexts else _NOTHING_FOUND
            return self._response(REFUSAL, contexts, account.with_(refused=refused), case_id)
        if is_refusal(draft):
            told = account.with_(refused="the generator declined")
            return self._response(draft, contexts, told, case_id)
        answer, account = self._cited(draft, contexts, account)
        if self.verifier:
            answer, account = self._verified(question, answer, contexts, account)
        return self._response(answer, contexts, account, case_id)

    @property
    def signature(self) -> str:
        """Everything that decides an answer, apart from question and passages, joined by "|"."""
        from pytest_medfaith.scoring.similarity import encoder_signature

        given = self.settings
        parts = [given.mode, given.generator, f"sentences={given.sentences}", encoder_signature()]
        if self.verifier:
            parts += [self.verifier.checker.signature]
        if given.mode in ("confident", LITE):
            parts += [f"threshold={given.threshold:g}"]
        if given.generator == TEACHER and self.teacher:
            parts += [asking_signature(self.teacher.settings, GENERATE_PROMPT + REWRITE_PROMPT)]
        return "|".join(parts)

    def _draft(self, question: str, contexts: Sequence[Chunk], turns: Turns) -> str:
        """Returns the generator's draft; "" where no sentence of the passages fits the question."""
        if self.settings.generator != TEACHER:
            return quoted_answer(question, contexts, embed=self.embed, most=self.settings.sentences)
        if self.teacher is None:
            raise TeacherError(
                "the generator 'teacher' asks an LLM, which is set up in [tool.medfaith.llm]; expected a "
                "model and a base_url there"
            )
        return generated_response(self.teacher, question, contexts, turns=turns).answer

    def _cited(self, draft: str, contexts: Sequence[Chunk], account: Account) -> tuple[str, Account]:
        """Returns the draft with citations added, and the account with the sentences that got them.

        A sentence without a citation gets that of a neighbour, if the cited passage speaks of the same.
        """
        passages = {str(place): chunk.text for place, chunk in enumerate(contexts, start=1)}
        found = assign_citations(draft, passages, embed=self.embed)
        told = [
            AssignedSentence(text=draft[one.start : one.end], marker=one.marker, similarity=one.similarity)
            for one in found
        ]
        for one in reversed(found):
            end = one.end - 1 if draft[one.end - 1] in ".!" else one.end
            draft = f"{draft[:end].rstrip()} [{one.marker}]{draft[end:]}"
        return draft, account.with_(assigned=tuple(told))

    def _verified(
        self, question: str, answer: str, contexts: Sequence[Chunk], account: Account
    ) -> tuple[str, Account]:
        """Returns the supported part of the answer, or a refusal, and the account of how it came about."""
        verdicts = self._verdicts(question, answer, contexts)
        supported = sum(one.label == "supported" for one in verdicts)
        account = account.with_(claims=len(verdicts), supported=supported)
        if self.settings.mode in ("confident", LITE):
            coverage = self._coverage(question, contexts)
            confidence = 0.5 * (account.faithfulness or 0.0) + 0.5 * coverage
            threshold = self.settings.threshold
            account = account.with_(coverage=coverage, confidence=confidence, threshold=threshold)
            if confidence < threshold:
                why = f"the confidence {confidence:.3f} is below the threshold {threshold:g}"
                return REFUSAL, account.with_(refused=why)
        kept, dropped = self._faithful(question, answer, contexts, verdicts)
        account = account.with_(dropped=tuple(dropped))
        return (kept, account) if kept else (REFUSAL, account.with_(refused=_NOTHING_LEFT))

    def _coverage(self, question: str, contexts: Sequence[Chunk]) -> float:
        """Returns which share of the question the passages cover, 0 to 1."""
        if self.settings.mode == LITE:
            return word_coverage(question, contexts)
        return passage_coverage(question, contexts, embed=self.embed)

    def _faithful(
        self, question: str, answer: str, contexts: Sequence[Chunk], verdicts: Sequence[Verdict]
    ) -> tuple[str, list[DroppedSentence]]:
        """Returns (the supported part of the answer, the dropped sentences); "" where nothing is supported.

        The part is verified again, since a claim may read differently without its neighbours. A teacher may
        rewrite it; a rewrite with any unsupported claim is not used.
        """
        kept, dropped = supported_part(answer, verdicts)
        supported = [one.claim.text for one in verdicts if one.label == "supported"]
        if dropped and supported and self.settings.generator == TEACHER and self.teacher:
            rewritten = rewritten_answer(
                self.teacher, question, answer, statements=supported, contexts=contexts
            )
            if self._is_supported(question, rewritten, contexts):
                return rewritten, dropped
        while kept:
            again = self._verdicts(question, kept, contexts)
            shorter, more = supported_part(kept, again)
            if not more:
                return (kept if again else ""), dropped
            kept, dropped = shorter, [*dropped, *more]
        return "", dropped

    def _verdicts(self, question: str, answer: str, contexts: Sequence[Chunk]) -> list[Verdict]:
        return self.verifier.verdicts(answer, question, contexts) if self.verifier else []

    def _is_supported(self, question: str, answer: str, contexts: Sequence[Chunk]) -> bool:
        """Returns whether an answer makes claims and the passages support all of its sentences."""
        verdicts = self._verdicts(question, answer, contexts)
        return bool(verdicts) and not supported_part(answer, verdicts)[1]

    def _response(self, answer: str, contexts: Sequence[Chunk], account: Account, case_id: str) -> Response:
        """Returns the answer as a response, with the ids of the chunks that its markers [1], [2] cite."""
        marks = [int(mark) for mark in _MARK.findall(answer) if 1 <= int(mark) <= len(contexts)]
        model = self.teacher.settings.model if self.teacher and account.generator == TEACHER else EXTRACTIVE
        return Response(
            answer=answer,
            case_id=case_id,
            contexts=tuple(contexts),
            citations=tuple(dict.fromkeys(contexts[mark - 1].id for mark in marks)),
            model=model,
            meta={META: account.to_dict()},
        )


def reference_rag(
    settings: RagSettings,
    *,
    load_checker: Callable[[str], Any] = load_checker,
    extractor: Callable[..., Any] = extract_claims,
    teacher: Teacher | None = None,
) -> ReferenceRag:
    """Returns the reference RAG of `settings`.

    Args:
        settings: its mode, generator, checker and threshold.
        load_checker: function from a checker's name to the checker.
        extractor: makes claims of a draft.
        teacher: the LLM for the generator "teacher"; None where none is set up.
    """
    name = rag_checker(settings)
    verifier = Verifier(load_checker(name), extractor) if name else None
    return ReferenceRag(settings, verifier=verifier, teacher=teacher)
