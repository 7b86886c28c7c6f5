"""Coroutines are awaited, with a running loop around them and without one, and never judged."""

import asyncio
import contextvars
import threading

import pytest

from pytest_medfaith import assert_faithfulness, assert_no_safety_errors, check_answer
from pytest_medfaith.answers.awaiting import awaited
from pytest_medfaith.answers.responses import as_response, ask
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Response
from pytest_medfaith.testing import containment_checker

IRON = "Iron tablets treat iron deficiency."
CHECKER = containment_checker()


async def answer(question="What?"):
    await asyncio.sleep(0)
    return IRON if question else ""


class Rag:
    """A RAG whose instances are called, and that keeps something of the loop it was first called on."""

    def __init__(self):
        self.lock = None

    async def __call__(self, question):
        self.lock = self.lock or asyncio.Lock()
        async with self.lock:
            waiter = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().call_soon(waiter.set_result, question)
            await waiter
        return {"answer": IRON, "contexts": [IRON]}


class Later:
    def __await__(self):
        yield from asyncio.sleep(0).__await__()
        return IRON


def test_what_is_none_comes_back_as_it_is():
    assert [awaited(value) for value in (IRON, None, 5, [IRON])] == [IRON, None, 5, [IRON]]


@pytest.mark.parametrize("make", [answer, Later])
def test_an_answer_to_come_is_awaited(make):
    assert awaited(make()) == IRON
    assert as_response(make(), case_id="a").answer == IRON
    assert as_response({"answer": make(), "contexts": [IRON]}, case_id="a").answer == IRON
    assert_faithfulness(make(), [IRON], checker=CHECKER)
    assert_faithfulness(Response(answer=make(), contexts=(IRON,)), checker=CHECKER)
    assert_no_safety_errors(make())
    assert check_answer(make(), [IRON], checker=CHECKER).faithfulness == 1.0


def test_contexts_to_come_are_awaited():
    async def retrieve():
        return [IRON]

    assert_faithfulness(IRON, contexts=retrieve(), checker=CHECKER)
    with pytest.raises(AssertionError, match="faithfulness is"):
        assert_faithfulness("Allopurinol lowers uric acid.", contexts=retrieve(), checker=CHECKER)


def test_a_wrong_answer_to_come_is_no_pass():
    async def wrong():
        return "Allopurinol lowers uric acid."

    with pytest.raises(AssertionError, match="faithfulness is"):
        assert_faithfulness(wrong(), [IRON], checker=CHECKER)


def test_inside_a_running_loop():
    async def test():
        assert_faithfulness(answer(), [IRON], checker=CHECKER)
        assert_faithfulness(await answer(), [IRON], checker=CHECKER)
        return as_response(ask(Rag(), "What?"), case_id="a").answer

    assert asyncio.run(test()) == IRON


def test_inside_a_loop_of_trio():
    trio = pytest.importorskip("trio", reason="needs trio")

    async def test():
        return awaited(answer())

    assert trio.run(test) == IRON


def test_a_client_keeps_its_loop_from_answer_to_answer():
    rag = Rag()
    assert [ask(rag, "What?")["answer"] for _ in range(3)] == [IRON] * 3


def test_it_is_awaited_in_the_thread_that_asks():
    async def thread():
        return threading.current_thread()

    assert awaited(thread()) is threading.current_thread()


def test_context_variables_go_along():
    tenant = contextvars.ContextVar("tenant")

    async def read():
        return tenant.get()

    async def test():
        tenant.set("b")
        return awaited(read())

    tenant.set("a")
    assert (awaited(read()), asyncio.run(test())) == ("a", "b")


def test_an_answer_that_was_awaited_already():
    coroutine = answer()
    assert awaited(coroutine) == IRON
    with pytest.raises(
        DataError,
        match=r"^the answer is a coroutine that was awaited before; a coroutine gives its result once",
    ):
        awaited(coroutine)


def test_a_task_of_the_running_loop():
    async def test():
        task = asyncio.ensure_future(answer())
        with pytest.raises(
            DataError, match=r"^the answer is a Task of the event loop that is running.*write await before it"
        ):
            awaited(task)
        await task
        return awaited(task)

    assert asyncio.run(test()) == IRON


def test_something_of_another_loop_is_said():
    async def test():
        waiter = asyncio.get_running_loop().create_future()

        async def wait():
            return await waiter

        with pytest.raises(
            DataError,
            match=r"uses something of another event loop .*; in an async test write await before it",
        ):
            awaited(wait())

    asyncio.run(test())


@pytest.mark.parametrize("is_inside", [False, True])
def test_its_errors_are_its_own(is_inside):
    async def broken():
        raise KeyError("patient")

    async def test():
        awaited(broken())

    with pytest.raises(KeyError, match="patient"):
        asyncio.run(test()) if is_inside else awaited(broken())


def test_an_interrupt_cancels_and_the_next_answer_comes():
    cancelled = []

    async def interrupted():
        try:
            asyncio.get_running_loop().call_soon(_interrupt)
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    def _interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        awaited(interrupted())
    assert cancelled == [True]
    assert awaited(answer()) == IRON


@pytest.mark.parametrize("rag", [None, 5, IRON, [IRON]])
def test_a_rag_is_a_callable(rag):
    with pytest.raises(
        DataError, match=r"^the fixture medfaith_rag gives .*; expected a callable that takes the question"
    ):
        ask(rag, "What?")


def test_a_fixture_that_nobody_ran():
    coroutine = answer()
    with pytest.raises(
        DataError, match=r"gives a coroutine; expected a callable .*async def fixture needs a plugin"
    ):
        ask(coroutine, "What?")
    coroutine.close()
