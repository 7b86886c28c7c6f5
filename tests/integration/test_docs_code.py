"""The tests and fixtures that README and docs show, put into the project that they speak of, and run.

Code marked as runnable runs in tests/unit/test_docs.py, the tutorial's and the quickstart's own pages in
test_init.py.
"""

import re
from pathlib import Path

import pytest

from pytest_medfaith.commands.init_project import init_project

REPO = Path(__file__).parents[2]
PAGES = [REPO / "README.md", *sorted((REPO / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"^(?P<before>[^\n]*)\n```python(?: [^\n]*)?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
CONFTEST = """
import pytest
from pytest_medfaith.english.words import content_words
from pytest_medfaith.testing import scripted_checker

@pytest.fixture
def medfaith_checker():
    def label(evidence, claim):
        return "entail" if content_words(claim) <= content_words(evidence) else "neutral"

    return scripted_checker(label)
"""
# What the shown fixtures import: the reader's own application.
APPLICATION = """
PASSAGE = {"id": "iron", "text": "Iron tablets are absorbed best on an empty stomach.", "score": 1.0}

def answer(question):
    return PASSAGE["text"], [PASSAGE["text"]]

def search(query, *, limit):
    return [PASSAGE]

class connect:
    def ask(self, question):
        return {"text": PASSAGE["text"], "passages": [PASSAGE["text"]]}

class AsyncClient:
    async def ask(self, question):
        from types import SimpleNamespace
        return SimpleNamespace(text=PASSAGE["text"], passages=[PASSAGE["text"]])

def exported_rows():
    row = {"answer": PASSAGE["text"], "contexts": [PASSAGE["text"]]}
    return [row | {"case_id": "folic-acid"}, row | {"case_id": "paracetamol-dose"}]
"""
USES_THE_FIXTURES = """
import pytest

@pytest.mark.medfaith("samples", limit=2, k=1)
def test_report(medfaith_report, medfaith_retriever, medfaith_case):
    assert medfaith_report.verdicts or medfaith_report.abstained
    assert medfaith_retriever(medfaith_case.question, top_k=1)
"""
SLICE = (
    '\n[slices.{}]\ncases = "medfaith/gold.jsonl"\ncorpus = ["medfaith/corpus"]\nresponses = '
    '"medfaith/responses.jsonl"\nk = 3\n'
)


def shown(*, fixtures):
    """Returns {page-number: code} of the blocks that define tests, or of those that define fixtures alone."""
    found = {
        f"{page.stem.lower().replace('-', '_')}_{number}": block["body"]
        for page in PAGES
        for number, block in enumerate(BLOCK.finditer(f"\n{page.read_text(encoding='utf-8')}"))
        if not block["before"].startswith("<!-- ")
    }
    return {name: code for name, code in found.items() if ("def test_" not in code) == fixtures}


@pytest.fixture
def project(pytester):
    init_project(pytester.path)
    (pytester.path / "tests" / "test_medical_answers.py").unlink()
    (pytester.path / "conftest.py").write_text(CONFTEST)
    responses = pytester.path / "medfaith" / "responses.jsonl"
    responses.write_text(
        responses.read_text().replace("8 grams", "4 grams", 1)
    )  # the answer that is wrong on purpose
    for name in ("my_app", "my_service"):
        (pytester.path / f"{name}.py").write_text(APPLICATION)
    named = set(re.findall(r'mark\.medfaith\("([\w-]+)"', "".join(shown(fixtures=False).values())))
    with (pytester.path / "medfaith.toml").open("a") as settings:
        settings.writelines(SLICE.format(name) for name in sorted(named - {"samples"}))
    return pytester


def test_every_shown_test_runs(project, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for name, code in shown(fixtures=False).items():
        (project.path / "tests" / f"test_{name}.py").write_text(code)
    result = project.runpytest_subprocess("-q")
    failed = {line.split()[1] for line in result.outlines if line.startswith(("FAILED", "ERROR"))}
    assert failed == {
        "tests/test_readme_0.py::test_dose_is_backed",
        "tests/test_index_0.py::test_metformin_answer",
    }  # on purpose
    page = (REPO / "README.md").read_text(encoding="utf-8")
    output = re.search(r"```console\n\$ pytest -q\n(.*?)```", page, re.DOTALL)[1]
    patterns = [
        re.sub(r" score [<>]?[0-9.]+, threshold [0-9.]+", " score *, threshold *", line.replace("[", "[[]"))
        for line in output.splitlines()
    ]
    result.stdout.fnmatch_lines([pattern for pattern in patterns if pattern.strip("E ")])


def test_every_shown_fixture_serves_a_test(project):
    blocks = shown(fixtures=True)
    assert len(blocks) >= 4
    for name, code in blocks.items():
        folder = project.path / "tests" / name
        folder.mkdir()
        (folder / "conftest.py").write_text(code)
        (folder / f"test_{name}.py").write_text(USES_THE_FIXTURES)
    project.runpytest_subprocess("-q").assert_outcomes(passed=2 * len(blocks))
