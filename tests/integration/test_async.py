"""Async RAG callables and `async def` tests, with a plugin that runs them and without one."""

import importlib.util

import pytest

ASYNC_RAG = """
import asyncio

ANSWERS = {
    "What treats iron deficiency?": (
        "Iron tablets treat iron deficiency.", ["Iron tablets treat iron deficiency."]
    ),
    "What opens the airways in asthma?": (
        "Moonlight opens the airways in asthma.", ["A reliever inhaler opens the airways in asthma."]
    ),
    "What lowers uric acid in gout?": (
        "Allopurinol lowers uric acid in gout.", ["Allopurinol lowers uric acid in gout."]
    ),
}

class Client:
    queue = None

    async def answer(self, question):
        self.queue = self.queue or asyncio.Queue()
        asyncio.get_running_loop().call_soon(self.queue.put_nowait, ANSWERS[question])
        return await self.queue.get()

@pytest.fixture(scope="session")
def medfaith_rag():
    return Client().answer
"""
ASYNC_TEST = """
import pytest
from pytest_medfaith import assert_faithfulness

{mark}
@pytest.mark.medfaith("mini")
async def test_faithful(medfaith_report):
    assert_faithfulness(medfaith_report, at_least=0.8)
"""
ASYNC_CHECK = """
import asyncio
import pytest
from pytest_medfaith import assert_faithfulness

async def answer():
    await asyncio.sleep(0)
    return "Iron helps."

{mark}
async def test_right(medfaith_check):
    assert medfaith_check(answer(), ["Iron helps."]).faithfulness == 1.0

{mark}
async def test_wrong(medfaith_check):
    await asyncio.sleep(0)
    assert_faithfulness(medfaith_check(await answer(), ["Allopurinol lowers uric acid."]))
"""
# The arguments of a run, and the mark of its tests.
WITH_PLUGINS = {
    "none": ([], ""),
    "anyio": ([], "@pytest.mark.anyio"),
    "asyncio": (["-pasyncio"], "@pytest.mark.asyncio"),
    "asyncio-unmarked": (["-pasyncio"], ""),
    "asyncio-auto": (["-pasyncio", "--asyncio-mode=auto"], ""),
}


@pytest.fixture(params=WITH_PLUGINS)
def plugin(request, project):
    arguments, mark = WITH_PLUGINS[request.param]
    if "asyncio" in request.param and importlib.util.find_spec("pytest_asyncio") is None:
        pytest.skip("needs pytest-asyncio")
    if request.param == "anyio":
        (project.path / "pyproject.toml").write_text(project.CONFIGURATION.replace(" -p no:anyio", ""))
        with (project.path / "conftest.py").open("a") as conftest:
            conftest.write('\n@pytest.fixture\ndef anyio_backend():\n    return "asyncio"\n')
    return [*arguments, "-Wignore"], mark


def test_an_async_rag_is_asked(project, workers):
    (project.path / "conftest.py").write_text(project.CONFTEST + ASYNC_RAG)
    result = project.run(*workers)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*Moonlight opens the airways in asthma.*", "3 cases (0 abstained), 3 claims: 2 supported*"]
    )


def test_async_tests_of_a_slice(project, plugin):
    arguments, mark = plugin
    conftest = (project.path / "conftest.py").read_text()
    (project.path / "conftest.py").write_text(conftest + ASYNC_RAG)
    project.test(ASYNC_TEST.format(mark=mark))
    result = project.run(*arguments)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*Moonlight opens the airways in asthma.*", "3 cases (0 abstained), 3 claims: 2 supported*"]
    )


def test_async_tests_of_a_fixture(project, plugin):
    arguments, mark = plugin
    project.test(ASYNC_CHECK.format(mark=mark))
    result = project.run(*arguments)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*faithfulness is 0.000*", "FAILED *test_wrong*"])


def test_async_tests_that_ask_for_nothing_of_ours_are_left_to_others(project):
    project.test("async def test_plain():\n    assert False\n")
    result = project.run()
    result.stdout.no_fnmatch_line("*assert False*")
    result.stdout.fnmatch_lines(["*async def functions are not natively supported*"])


def test_an_async_retriever_is_awaited(project):
    (project.path / "conftest.py").write_text(
        project.CONFTEST
        + """
@pytest.fixture
def medfaith_retriever(medfaith_retriever):
    async def search(query, *, top_k):
        return medfaith_retriever(query, top_k=top_k)
    return search
"""
    )
    project.test(
        """
import pytest

@pytest.mark.medfaith("mini")
def test_found(medfaith_hits, medfaith_case):
    assert medfaith_hits[0].chunk.id in medfaith_case.references
"""
    )
    project.run().assert_outcomes(passed=3)


@pytest.mark.parametrize(
    ("rag", "said"),
    [
        (
            "async def pieces(question):\n        yield 'Iron'\n    return pieces",
            "*returned an async generator, which gives an answer in pieces*",
        ),
        (
            "async def broken(question):\n        raise KeyError('patient')\n    return broken",
            "*KeyError: 'patient'*",
        ),
        ("return 'Iron helps.'", "*the fixture medfaith_rag gives 'Iron helps.'; expected a callable*"),
    ],
)
def test_an_async_rag_that_gives_no_answer_fails(project, rag, said):
    (project.path / "conftest.py").write_text(
        f"{project.CONFTEST}\n@pytest.fixture\ndef medfaith_rag():\n    {rag}\n"
    )
    result = project.run("-k", "iron")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([said])
