"""The teacher: sends items to an LLM, or reads its answers from a cassette, and returns the values.

An item is asked once, and once more if its reply cannot be used; then it counts as failed. A request that the
cassette lacks, a wrong key and an unknown model are errors at once, since every item would meet them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pytest_medfaith.errors import TeacherError
from pytest_medfaith.teacher.budget import (
    Budget,
    BudgetSpent,
    Pace,
    Tokens,
    price,
    share_of_worker,
    tokens_of,
)
from pytest_medfaith.teacher.cassette import Cassette
from pytest_medfaith.teacher.client import Endpoint, Unanswered
from pytest_medfaith.teacher.exchange import Answer, Request, request_of
from pytest_medfaith.teacher.replies import ReplyError
from pytest_medfaith.teacher.settings import LlmSettings, Mode, check_settings, mode_of
from pytest_medfaith.teacher.tally import Tally
from pytest_medfaith.teacher.use import LlmUse

T = TypeVar("T")
GIVES_UP = 5  # failures in a row; waiting for a server that is gone would cost minutes for every item
_LONGEST_BAD = 4000  # characters of an unusable reply that the model is shown again
_case: ContextVar[str] = ContextVar("medfaith_asking_for", default="")


@contextmanager
def asking_for(case: str) -> Iterator[None]:
    """Names what the requests in the block are for, such as a case id, so that errors can say it."""
    token = _case.set(case)
    try:
        yield
    finally:
        _case.reset(token)


@dataclass(frozen=True)
class Item(Generic[T]):
    """Something to ask the LLM.

    Attributes:
        role: what it is for, such as "judge".
        messages: (role, content) pairs, as in ("system", "You check ...").
        read: function from a reply to its value; raises ReplyError for a reply that cannot be used.
        about: the subject, for messages, such as "claim 'c1'".
        sample: number of the repeat, from 0; each has another seed.
        as_json: whether the reply must be a JSON object.
        temperature: of the request; None takes that of the settings.
    """

    role: str
    messages: tuple[tuple[str, str], ...]
    read: Callable[[str], T]
    about: str = ""
    sample: int = 0
    as_json: bool = True
    temperature: float | None = None


@dataclass(frozen=True)
class Settled(Generic[T]):
    """The result of an item.

    Attributes:
        value: what the reply says; None where there is no usable reply.
        why: why there is none; "" where there is.
    """

    value: T | None
    why: str = ""


class Teacher:
    """Asks an LLM as the settings say; the same request is sent only once in a process.

    Attributes:
        settings: the share of this process, where several workers run.
        mode: off, replay, record or live.
        tally: counts what is asked.
    """

    def __init__(self, settings: LlmSettings, *, mode: Mode | None = None) -> None:
        """Sends nothing yet; `mode` beats the mode of the settings."""
        self.settings = share_of_worker(settings)
        self.mode: Mode = mode or mode_of(settings)
        self.tally = Tally(settings)
        self._cassette = Cassette(settings.cassette)
        self._budget = Budget(self.settings)
        self._pace = Pace(self.settings.requests_per_minute)
        self._endpoint: Endpoint | None = None
        self._answers: dict[str, Answer | Unanswered] = {}
        self._in_a_row, self._stopped, self._fatal = 0, "", ""
        self._guard = threading.Lock()

    def check_ready(self) -> None:
        """Refuses to go on if items cannot be asked; it is called before the first item.

        Raises:
            TeacherError: no model is named, the mode is off, there is no cassette to replay, or no key.
            MissingExtra: the endpoint is to be asked, and the package openai is not installed.
            DataError: the settings do not fit together, see `check_settings`.
        """
        check_settings(self.settings)
        if not self.settings.model:
            raise TeacherError(
                'the teacher has no model; name one in [tool.medfaith.llm]: model = "llama3.1:70b", base_url '
                '= "http://localhost:11434/v1"'
            )
        if self.mode == "off":
            raise TeacherError(
                "the teacher may not be asked: the mode of the LLM is off, as it is in CI without a "
                f"cassette. Record {self.settings.cassette} with --medfaith-llm record and commit it, or ask "
                "with --medfaith-llm live"
            )
        if self.mode == "replay":
            if not self.settings.cassette.is_file():
                raise TeacherError(
                    f"there is no cassette {self.settings.cassette} to replay; record it with --medfaith-llm "
                    "record"
                )
        elif self._endpoint is None:
            self._endpoint = Endpoint(self.settings)

    def ask(
        self, items: Sequence[Item[T]], *, progress: Callable[[int, int], None] | None = None
    ) -> list[Settled[T]]:
        """Returns the result of each item, in order; several are asked at a time. [] for no item.

        Args:
            items: to ask.
            progress: called with (items done, items in all), perhaps from several threads.

        Raises:
            TeacherError: as in `check_ready`; or the cassette lacks a request, or the endpoint refuses the
                key or the model.
        """
        if not items:
            return []
        self.check_ready()
        case, done = _case.get(), 0

        def settle(item: Item[T]) -> Settled[T]:
            nonlocal done
            settled = self._settled(item, case)
            with self._guard:
                done += 1
            if progress:
                progress(done, len(items))
            return settled

        if self.mode == "replay" or len(items) == 1:
            return [settle(item) for item in items]
        pool = ThreadPoolExecutor(self.settings.concurrency, thread_name_prefix="medfaith-teacher")
        try:
            futures = [pool.submit(settle, item) for item in items]
            wait(futures, return_when=FIRST_EXCEPTION)
            return [future.result() for future in futures if future.done()]
        finally:
            pool.shutdown(cancel_futures=True)

    def ask_one(self, item: Item[T]) -> T:
        """Returns the value of an item.

        Raises:
            TeacherError: there is none, or as in `ask`.
        """
        (settled,) = self.ask([item])
        if settled.value is None:
            raise TeacherError(f"{_named(_case.get())}the teacher gave no usable {item.role}: {settled.why}")
        return settled.value

    def take_use(self) -> LlmUse:
        """Returns what was asked since the last call, with tokens, money and failures."""
        return self.tally.take(not_taken=self._endpoint.dropped if self._endpoint else ())

    def save(self) -> None:
        """Writes new answers of the LLM into the cassette, a file that later runs replay them from.

        Without new answers nothing is written.

        Raises:
            DataError: see `Cassette.save`.
        """
        self._cassette.save()

    def _settled(self, item: Item[T], case: str) -> Settled[T]:
        """Returns the result of an item, after a second try where the first reply cannot be used."""
        messages = item.messages
        for is_last in (False, True):
            request = self._request(item, messages)
            try:
                answer = self._exchange(item, request, case)
            except (Unanswered, BudgetSpent) as error:
                return self._failed(request.key, str(error))
            try:
                return Settled(item.read(answer.text))
            except ReplyError as error:
                if is_last:
                    return self._failed(request.key, f"its replies cannot be used, last because {error}")
                self.tally.repaired(request.key)
                messages = (*item.messages, *_repair(answer.text, error))
        raise AssertionError  # the second round returns

    def _failed(self, key: str, why: str) -> Settled[Any]:
        """Counts an item as failed, and returns that as its result."""
        self.tally.failed(key, why)
        return Settled(None, why)

    def _request(self, item: Item[Any], messages: tuple[tuple[str, str], ...]) -> Request:
        """Returns the request for an item, with the parameters of the settings."""
        settings = self.settings
        parameters: dict[str, Any] = {
            "temperature": settings.temperature if item.temperature is None else item.temperature,
            "seed": settings.seed + item.sample,
            "max_tokens": settings.reply_tokens,
        }
        if item.as_json:
            parameters["response_format"] = {"type": "json_object"}
        return request_of(settings.model, messages, parameters, key_env=settings.key_env)

    def _exchange(self, item: Item[Any], request: Request, case: str) -> Answer:
        """Returns the answer to a request: known already, from the cassette, or from the endpoint.

        Raises:
            TeacherError: the cassette is replayed and lacks the request.
            Unanswered: the endpoint did not answer.
            BudgetSpent: the request does not fit in the budget.
        """
        known = self._answers.get(request.key)
        if isinstance(known, Answer):
            return known
        if known is not None:
            raise known
        recorded = self._cassette.answer(request) if self.mode in ("replay", "record") else None
        if recorded is not None:
            self._note(request, recorded)
        elif self.mode == "replay":
            raise TeacherError(
                f"{_named(case)}the cassette {self.settings.cassette} holds no answer to this request of the "
                f"{item.role}{f' on {item.about}' if item.about else ''} (key {request.key}): the case, its "
                "contexts, the model or the settings changed. Record it with --medfaith-llm record, and "
                "commit the file"
            )
        else:
            recorded = self._sent(request)
            if self.mode == "record":
                self._cassette.add(item.role, request, recorded)
        self._answers[request.key] = recorded
        return recorded

    def _note(self, request: Request, answer: Answer, ms: float | None = None) -> Tokens:
        """Counts an answer, and returns its tokens; `ms` is None where a cassette gave it."""
        tokens = tokens_of(request, answer)
        self.tally.answered(tokens, price(self.settings, tokens.into, tokens.out), ms=ms)
        return tokens

    def _sent(self, request: Request) -> Answer:
        """Returns the endpoint's answer.

        Raises:
            BudgetSpent: the request does not fit in the rest of the budget.
            Unanswered: the endpoint did not answer, or is given up after five failures in a row.
            TeacherError: the endpoint refuses the key or the model, now or before.
        """
        if self._fatal:
            raise TeacherError(self._fatal)
        if self._stopped:
            raise Unanswered(self._stopped)
        aside, taken = self._budget.set_aside(request), None
        try:
            self._pace.wait()
            begun = time.perf_counter()
            answer = self._endpoint.send(request)  # type: ignore[union-attr]  # check_ready has made it
            taken = self._note(request, answer, ms=1000 * (time.perf_counter() - begun))
            self._in_a_row = 0
        except Unanswered as error:
            with self._guard:
                self._in_a_row += not error.is_refusal
                if self._in_a_row >= GIVES_UP:
                    self._stopped = (
                        f"{GIVES_UP} requests in a row failed, and no more were sent (last: {error})"
                    )
            self._answers[request.key] = error
            raise
        except TeacherError as error:  # it would come again for every item
            self._fatal = str(error)
            raise
        finally:
            self._budget.settle(aside, taken)
        return answer


def _repair(reply: str, error: ReplyError) -> tuple[tuple[str, str], ...]:
    """Returns the messages that tell the model what is wrong with its reply, and ask again."""
    return (
        ("assistant", reply[:_LONGEST_BAD] or "(empty)"),
        (
            "user",
            (
                f"Your reply cannot be used: {error}. Reply again, in the form that was asked for and "
                f"nothing else."
            ),
        ),
    )


def _named(case: str) -> str:
    """Returns "case 'iron': " for messages; "" without a case."""
    return f"case {case!r}: " if case else ""
