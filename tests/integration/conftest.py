"""A small project under test: three cases, five chunks, recorded answers, a checker that needs no model."""

import json
from types import SimpleNamespace

import pytest
import scipy.stats  # noqa: F401 - what a test loads, pytester forgets, and numpy loads once in a process

CHUNKS = [
    {
        "id": "iron-1",
        "title": "Iron",
        "text": "Iron tablets treat iron deficiency. They are taken on an empty stomach.",
        "url": "https://example.org/iron",
    },
    {
        "id": "iron-2",
        "title": "Iron",
        "text": "Vitamin C helps the body take up iron.",
        "url": "https://example.org/iron",
    },
    {
        "id": "asthma-1",
        "title": "Asthma",
        "text": "A reliever inhaler opens the airways in asthma.",
        "url": "https://example.org/asthma",
    },
    {
        "id": "asthma-2",
        "title": "Asthma",
        "text": "Cold air can set off asthma.",
        "url": "https://example.org/asthma",
    },
    {
        "id": "gout-1",
        "title": "Gout",
        "text": "Allopurinol lowers uric acid in gout.",
        "url": "https://example.org/gout",
    },
]
CASES = [
    {
        "id": "iron",
        "question": "What treats iron deficiency?",
        "gold_claims": [{"id": "g1", "text": "Iron tablets treat iron deficiency.", "key": True}],
        "references": ["iron-1"],
    },
    {
        "id": "asthma",
        "question": "What opens the airways in asthma?",
        "gold_claims": [{"id": "g1", "text": "A reliever inhaler opens the airways in asthma.", "key": True}],
        "references": ["asthma-1"],
    },
    {
        "id": "gout",
        "question": "What lowers uric acid in gout?",
        "gold_claims": [{"id": "g1", "text": "Allopurinol lowers uric acid in gout.", "key": True}],
        "references": ["gout-1"],
    },
]
RESPONSES = [
    {
        "case_id": "iron",
        "answer": "Iron tablets treat iron deficiency [1]. Vitamin C helps the body take up iron [2].",
        "contexts": [{"id": "iron-1"}, {"id": "iron-2"}],
    },
    {
        "case_id": "asthma",
        "answer": "A reliever inhaler opens the airways in asthma [1]. Moonlight sets off asthma [2].",
        "contexts": [{"id": "asthma-1"}, {"id": "asthma-2"}],
    },
    {
        "case_id": "gout",
        "answer": "I could not find this in the documents provided.",
        "contexts": [{"id": "iron-1"}],
    },
]
CONFIGURATION = """
[tool.pytest.ini_options]
addopts = "--strict-markers -p no:cacheprovider -p no:randomly -p no:rerunfailures -p no:hypothesispytest \
-p no:anyio -p no:asyncio"

[tool.medfaith.slices.mini]
cases = "gold.jsonl"
corpus = ["corpus"]
responses = "responses.jsonl"
retriever = "bm25"
k = 2
"""
CONFTEST = """
import pytest
from pytest_medfaith.testing import scripted_checker
from pytest_medfaith.english.words import content_words

def label(evidence, claim):
    if "Moonlight" in claim and "Cold air" in evidence:
        return "contradict"
    return "entail" if content_words(claim) <= content_words(evidence) else "neutral"

@pytest.fixture
def medfaith_checker():
    return scripted_checker(label)
"""
TEST = """
import pytest
from pytest_medfaith import assert_faithfulness

@pytest.mark.medfaith("mini")
def test_faithful(medfaith_report):
    assert_faithfulness(medfaith_report, at_least=0.8)
"""


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


class Project:
    CONFIGURATION, CONFTEST, TEST = CONFIGURATION, CONFTEST, TEST

    def __init__(self, pytester):
        self.pytester = pytester
        self.path = pytester.path
        (self.path / "corpus").mkdir()
        (self.path / "corpus" / "chunks.jsonl").write_text(jsonl(CHUNKS))
        (self.path / "gold.jsonl").write_text(jsonl(CASES))
        (self.path / "responses.jsonl").write_text(jsonl(RESPONSES))
        (self.path / "pyproject.toml").write_text(CONFIGURATION)
        (self.path / "conftest.py").write_text(CONFTEST)
        self.test(TEST)

    def test(self, code):
        (self.path / "test_suite.py").write_text(code)

    def configure(self, text):
        (self.path / "pyproject.toml").write_text(CONFIGURATION + text)

    def run(self, *arguments):
        return self.pytester.runpytest_subprocess(*arguments)


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch):
    """Runs of the tests look the same on a CI service, where the card is shorter."""
    for name in ("CI", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def project(pytester):
    return Project(pytester)


@pytest.fixture(scope="session")
def project_at():
    """Makes the small project in a folder, for what several tests share."""
    return lambda folder: Project(SimpleNamespace(path=folder))


@pytest.fixture
def plain_project(tmp_path, project_at):
    """The small project for commands that run in this process, whose modules pytester would unload."""
    return project_at(tmp_path)


@pytest.fixture(params=[(), ("-n", "2")], ids=["one-process", "two-workers"])
def workers(request):
    """The arguments of a run in this process, and of one on two workers: everything must hold for both."""
    return request.param
