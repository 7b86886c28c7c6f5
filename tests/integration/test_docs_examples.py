"""The examples of the docs that are files of a project: put where the page says, they do what it says.

The example of docs/reports.md runs in test_own_format.py, the files of examples/ in test_own_metric.py and
test_examples.py.
"""

import re
from pathlib import Path

import pytest

from pytest_medfaith.commands.init_project import init_project
from pytest_medfaith.models.shipped import FAST_CHECKER, MINILM_TOKENIZER

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = re.compile(
    r"^<!-- example: (?P<path>\S+) -->\n```\w+[^\n]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
SETTINGS = '[tool.pytest.ini_options]\npythonpath = ["."]\naddopts = "-p no:cacheprovider"\n\n'
RUNNABLE = re.compile(r"^<!-- runnable -->\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(page, heading):
    """Returns {path: text} of the examples in a section of a page."""
    section = re.split(r"\n##+ ", (DOCS / page).read_text(encoding="utf-8"))
    (found,) = [text for text in section if text.startswith(f"{heading}\n")]
    return {one["path"]: one["text"] for one in EXAMPLE.finditer(found)}


@pytest.fixture
def project(pytester):
    """The first suite, without its test and settings: the pages bring both."""
    init_project(pytester.path)
    for name in ("medfaith.toml", "pytest.ini", "tests/test_medical_answers.py"):
        (pytester.path / name).unlink()
    return pytester


def place(project, files):
    for path, text in files.items():
        target = project.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(SETTINGS + text if path == "pyproject.toml" else text)
        if target.suffix == ".py" and target.parent != project.path:
            (target.parent / "__init__.py").touch()


def run(project, test, *arguments):
    (project.path / "tests" / "test_shown.py").write_text(f"import pytest\n{test}")
    return project.runpytest_subprocess(*arguments)


def test_the_retriever_of_the_recipes_gets_its_setting(project):
    place(project, examples("recipes.md", "Your own retriever"))
    assert "most_words = 40\n" in (project.path / "pyproject.toml").read_text()
    result = run(
        project,
        """
@pytest.mark.medfaith("samples", limit=1)
def test_found(medfaith_hits):
    assert [len(hit.chunk.text.split()) for hit in medfaith_hits] == [38, 37]  # of five chunks up to 58 words
""",
    )
    result.assert_outcomes(passed=1)


def test_the_checker_of_the_recipes_judges(project):
    (judge, *_) = RUNNABLE.findall(
        (DOCS / "recipes.md").read_text(encoding="utf-8").partition("## Your own checker\n")[2]
    )
    place(project, {"conftest.py": judge})
    result = run(
        project,
        """
def test_judged(medfaith_check):
    contexts = ["Iron tablets can turn stools black."]
    assert medfaith_check("Iron tablets can turn stools black.", contexts=contexts).faithfulness == 1
    white = medfaith_check("Iron tablets can turn stools white.", contexts=contexts)
    assert white.metrics["unsupported"] == 1
""",
    )
    result.assert_outcomes(passed=1)


def test_the_rule_of_the_rules_page_overrules_the_model(project):
    place(project, examples("rules.md", "A rule of your project"))
    result = run(
        project,
        """
import dataclasses
from pytest_medfaith.testing import scripted_checker

@pytest.fixture
def medfaith_checker(medfaith_checker):
    supporting = scripted_checker(lambda evidence, claim: "entail")
    mine = medfaith_checker
    return dataclasses.replace(supporting, rules=mine.rules, added_rules=mine.added_rules)

def test_brand(medfaith_check):
    contexts = ["Iron tablets treat iron deficiency in adults and in children."]
    report = medfaith_check("Ferrokid tablets treat iron deficiency in children.", contexts=contexts)
    (verdict,) = report.verdicts
    assert (verdict.label, verdict.reason) == ("refuted", "decided by the rule no_brand_names")
""",
    )
    result.assert_outcomes(passed=1)


def test_the_card_of_the_checkers_page_makes_a_folder_a_checker(project):
    files = examples("checkers.md", "A student of your own")
    (path,) = files
    assert path.endswith("/card.json")
    place(project, files)
    folder = (project.path / path).parent
    (folder / "model.onnx").symlink_to(FAST_CHECKER / "model.onnx")
    (folder / "tokenizer.json").symlink_to(MINILM_TOKENIZER)
    (project.path / "pyproject.toml").write_text(
        f'{SETTINGS}[tool.medfaith.slices.samples]\ncases = "medfaith/gold.jsonl"\ncorpus = '
        f'["medfaith/corpus"]\n'
        'responses = "medfaith/responses.jsonl"\nk = 1\nchecker = "students/mine"\n'
    )
    result = run(
        project,
        """
@pytest.mark.medfaith("samples")
def test_reported(medfaith_report):
    assert medfaith_report.checker == "students/mine"
""",
        "-k",
        "paracetamol",
    )
    result.assert_outcomes(passed=1, deselected=4)
