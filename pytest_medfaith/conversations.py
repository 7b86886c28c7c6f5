"""Checks a conversation: each answer of the assistant by its contexts, read with the turns before it.

Example: after "What is metformin?", the answer "It lowers glucose." is read as a claim about metformin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_medfaith.answers.contexts import as_chunks
from pytest_medfaith.answers.turns import ASSISTANT, USER, Turn, as_turns
from pytest_medfaith.claims.split import extract_claims
from pytest_medfaith.evaluation import evaluate_case, slice_report
from pytest_medfaith.evidence import Evidence, checked_mode
from pytest_medfaith.metrics.base import Metric
from pytest_medfaith.metrics.registry import METRICS
from pytest_medfaith.records import Case, Claim, HistoryMode, Response, SliceReport, SliceRun
from pytest_medfaith.safety.rulebook import Rulebook

if TYPE_CHECKING:
    from pytest_medfaith.checking.judge import AnyChecker


def check_conversation(
    messages: Sequence[Any],
    contexts: Sequence[Iterable[Any] | None] | None = None,
    *,
    checker: AnyChecker | None = None,
    extractor: Callable[..., list[Claim]] = extract_claims,
    rulebook: Rulebook | None = None,
    declared: Mapping[str, Metric] = METRICS,
    history_mode: HistoryMode = "context",
    name: str = "conversation",
) -> SliceReport:
    """Returns a report on a conversation: `reports` has one for each answer, `metrics` the values over all.

    Args:
        messages: mappings with `role` ("user" or "assistant") and `content`, the earliest first, as chat
            clients take them.
        contexts: for each message of the assistant a list of what it was based on, or None for "nothing, on
            purpose". Where `contexts` itself is None, each such message must have the key `contexts`.
        checker: judges the claims, as in `check_answer`; the shipped checker where None.
        extractor: splits answers into claims.
        rulebook: the safety rules; the shipped rules where None.
        declared: the metrics by name.
        history_mode: what earlier turns are: "context" says only what "it" is, "evidence" also supports
            claims by what the user said, "ignore" leaves them out.
        name: of the conversation, as the report shows it.

    Raises:
        ValueError: messages without an answer, an answer without contexts, or an unknown mode.
        DataError: a message or a context in no known form.
    """
    from pytest_medfaith.checking.judge import as_checker
    from pytest_medfaith.checking.loading import load_checker

    evidence, answers = Evidence(history=checked_mode(history_mode)), list(_answers(messages, name))
    given = _contexts(messages, answers, contexts)
    judge = load_checker() if checker is None else as_checker(checker)
    check = partial(evaluate_case, checker=judge, extractor=extractor, rulebook=rulebook, declared=declared)
    reports = [
        check(case, _response(case, answer, chunks), evidence=evidence).with_(
            contexts_optional=chunks is None
        )
        for (case, answer, _), chunks in zip(answers, given, strict=True)
    ]
    run = SliceRun(slice=name, retriever="", checker=judge.name, k=0)
    return slice_report(run, reports, declared=declared)


def _response(case: Case, answer: str, chunks: Iterable[Any] | None) -> Response:
    return Response(answer=answer, case_id=case.id, contexts=tuple(as_chunks(chunks or ())))


def _answers(messages: Sequence[Any], name: str) -> Iterable[tuple[Case, str, int]]:
    """Yields (case, answer, place among `messages`) of each message of the assistant.

    The question of a case is the user's message before it; all other earlier messages are its history.
    """
    turns: list[Turn] = []
    asked = ""
    for place, message in enumerate(messages):
        for turn in as_turns([message], f"messages, after {place} of them,"):
            if turn["role"] == ASSISTANT:
                number = sum(one["role"] == ASSISTANT for one in turns) + 1
                last = max((n for n, one in enumerate(turns) if one["role"] == USER), default=None)
                history = tuple(one for n, one in enumerate(turns) if n != last)
                case = Case(id=f"turn-{number:02}", question=asked, history=history, conversation=name)
                yield case, turn["content"], place
            else:
                asked = turn["content"]
            turns.append(turn)


def _contexts(
    messages: Sequence[Any],
    answers: Sequence[tuple[Case, str, int]],
    contexts: Sequence[Iterable[Any] | None] | None,
) -> Sequence[Iterable[Any] | None]:
    """Returns the contexts of each answer; None for an answer that has none on purpose."""
    if not answers:
        raise ValueError("messages holds no answer of the assistant, so there is nothing to check")
    if contexts is not None:
        if len(contexts) != len(answers):
            raise ValueError(
                f"contexts is for {len(contexts)} answers, and messages holds {len(answers)}; expected a "
                "list of chunks, or None, for each message of the assistant"
            )
        return contexts
    for case, _, place in answers:
        message = messages[place]
        if not (isinstance(message, Mapping) and "contexts" in message):
            raise ValueError(
                f"the answer of {case.id} has no contexts; expected contexts=[...] with a list for each "
                f"answer, or "
                'the key "contexts" in each message of the assistant'
            )
    return [messages[place]["contexts"] for _, _, place in answers]
