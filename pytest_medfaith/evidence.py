"""Whose contexts judge the claims of an answer: recorded, retrieved for the question, or for each claim.

Example: three retrievers are compared on recorded answers. Judged by the recorded contexts, all three get the
same faithfulness; judged by what each retriever finds, they differ.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_medfaith.answers.contexts import as_chunks
from pytest_medfaith.answers.responses import BY_RETRIEVER
from pytest_medfaith.answers.turns import USER, Turns, as_turns
from pytest_medfaith.claims.questions import is_question
from pytest_medfaith.english.sentences import sentences_of
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Case, Chunk, Claim, ContextsMode, HistoryMode, Hit, Response, Retrieval

Search = Callable[[str], Sequence[Hit]]
UNTOLD = Retrieval()
CONVERSATION = "conversation"  # the source of chunks that hold what the user said before
FOR_CLAIMS = f"{BY_RETRIEVER}, claim by claim"  # what `contexts_from` says where each claim is a query


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Decides by which contexts the claims of an answer are judged.

    Attributes:
        mode: "recorded" takes those that came with the answer, "retrieved" what the retriever finds for the
            question, "per-claim" what it finds for each claim.
        search: query -> hits; needed in the mode "per-claim".
        cost: time and size of the retrieval for the question, for the report.
        history: what earlier turns of the conversation are, see `records.HistoryMode`.
    """

    mode: ContextsMode = "recorded"
    search: Search | None = None
    cost: Retrieval = UNTOLD
    history: HistoryMode = "context"

    def judged_response(
        self,
        response: Response,
        claims: Sequence[Claim],
        hits: Sequence[Hit] | None,
        *,
        case: str,
        turns: Turns = (),
    ) -> tuple[Response, dict[str, list[Chunk]]]:
        """Returns `response` with the contexts that judge its claims, and {claim id: chunks found for it}.

        The second is empty except in the mode "per-claim".

        With the history "evidence", what the user said before is added behind the contexts. It never takes
        their place: an answer without contexts gets none. What the assistant said is not added, because an
        error of an answer would then support its repetition.

        Args:
            response: as recorded, or as the RAG answered.
            claims: of the response.
            hits: what the retriever found for the question; None where no retriever was asked.
            case: the id of the case, for messages.
            turns: earlier turns of the conversation.

        Raises:
            DataError: the mode needs a retriever and there is none, or it gave two texts under one id.
        """
        response, found = self._judged(response, claims, hits, case)
        known = {chunk.id for chunk in response.contexts}  # a run that is judged again has them already
        wanted = turn_chunks(turns) if self.history == "evidence" and known else []
        said = [chunk for chunk in wanted if chunk.id not in known]
        if not said:
            return response, found
        told = response.with_(contexts=(*response.contexts, *said))
        return told, {name: [*chunks, *said] for name, chunks in found.items()}

    def _judged(
        self, response: Response, claims: Sequence[Claim], hits: Sequence[Hit] | None, case: str
    ) -> tuple[Response, dict[str, list[Chunk]]]:
        """Returns what `judged_response` returns, without turns of the user."""
        if self.mode == "recorded":
            return response, {}
        found: dict[str, list[Chunk]] = {}
        if self.mode == "per-claim" and self.search:
            found = {claim.id: [hit.chunk for hit in self.search(query_of(claim))] for claim in claims}
            chunks, by = [chunk for of_claim in found.values() for chunk in of_claim], FOR_CLAIMS
        elif self.mode == "retrieved" and hits is not None:
            chunks, by = [hit.chunk for hit in hits], BY_RETRIEVER
        else:
            raise DataError(
                f"case {case!r}: its claims are to be judged by {self.mode} contexts, and there is no "
                "retriever; give the slice a corpus, or define the fixture medfaith_retriever"
            )
        replaced = response.contexts_from
        given_by = by if replaced in ("", BY_RETRIEVER) else f"{by}, in place of {replaced}"
        try:
            contexts = tuple(as_chunks(chunks))
        except DataError as error:
            raise DataError(
                f"case {case!r}: the retriever gave chunks that no answer can have: {error}"
            ) from None
        return response.with_(contexts=contexts, contexts_from=given_by), found

    def turns(self, case: Case) -> Turns:
        """Returns the earlier turns of a case; () where the history is "ignore"."""
        return () if self.history == "ignore" else as_turns(case.history)


RECORDED = Evidence()


def checked_mode(mode: HistoryMode) -> HistoryMode:
    """Returns `mode`, or raises ValueError where it is no known mode of the history.

    A misspelled mode would otherwise count as the default.
    """
    known = typing.get_args(HistoryMode)
    if mode not in known:
        raise ValueError(f"history_mode is {mode!r}; expected one of {', '.join(known)}")
    return mode


def turn_chunks(turns: Turns) -> list[Chunk]:
    """Returns a chunk for each turn of the user: its sentences that state something, without questions.

    The ids, "conversation:3", have the place of the turn among all turns, from 1. A turn that states nothing
    gives no chunk.
    """
    chunks = []
    for number, turn in enumerate(turns, start=1):
        stated = [one for one in sentences_of(turn["content"]) if not (is_question(one) or one.endswith("?"))]
        if turn["role"] == USER and stated:
            title, text = f"The user, in message {number}", " ".join(stated)
            chunks.append(Chunk(id=f"conversation:{number}", title=title, text=text, source=CONVERSATION))
    return chunks


def query_of(claim: Claim) -> str:
    """Returns what a retriever is asked for a claim: the sentence that names its "it", and the claim."""
    return f"{claim.context} {claim.text}".strip()
