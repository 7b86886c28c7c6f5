"""A project tries its student by naming a folder: card, weights and tokenizer, nothing in the package."""

import json

import pytest

from pytest_medfaith.models.shipped import FAST_CHECKER, MINILM_TOKENIZER


@pytest.fixture
def student(project):
    """A folder as an export leaves it: the weights of the fast checker with a card and a tokenizer."""
    folder = project.path / "students" / "mine"
    folder.mkdir(parents=True)
    (folder / "model.onnx").symlink_to(FAST_CHECKER / "model.onnx")
    (folder / "tokenizer.json").write_bytes(MINILM_TOKENIZER.read_bytes())
    scoring = json.loads((FAST_CHECKER / "card.json").read_text())["scoring"]
    (folder / "card.json").write_text(json.dumps({"scoring": scoring}))
    (project.path / "conftest.py").write_text("")
    project.configure('checker = "students/mine"\n')
    project.test(
        """
import pytest
from pytest_medfaith.run.signature import checker_signature

@pytest.mark.medfaith("mini", limit=1)
def test_reported(medfaith_report, medfaith_checker):
    print(medfaith_report.checker, [verdict.label for verdict in medfaith_report.verdicts])
    print("read as", sorted(pair.label for pair in medfaith_report.pairs))
    print("signature", checker_signature(medfaith_checker)["weights"])
"""
    )
    return project


def change_card(project, **changes):
    path = project.path / "students" / "mine" / "card.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def entailed(result):
    (line,) = (line for line in result.outlines if "read as" in line)
    return line.count("'entail'")


def signature(result):
    return next(line for line in result.outlines if line.startswith("signature "))


def test_a_folder_is_a_checker(student):
    result = student.run("-s")
    result.assert_outcomes(passed=1)
    assert "students/mine ['supported', 'supported']" in result.stdout.str()


def test_every_constant_of_the_card_decides_and_is_part_of_the_signature(student):
    first = student.run("-s")
    first.stdout.fnmatch_lines(["read as *'entail'*"])
    change_card(
        student, reading={"unread_logits": [-1.0, 1.0, -1.0], "long_words": 1, "least_similarity": 1.0}
    )
    result = student.run("-s")
    # A text that equals the claim has similarity 1.0 and is read; every other text is left unread.
    assert 0 < entailed(result) < entailed(first)
    assert signature(result) == (
        f"{signature(first)}|long_words=1|least_similarity=1.0|unread_logits=(-1.0, 1.0, -1.0)"
    )


def test_the_folder_is_found_from_a_folder_below(student, monkeypatch):
    (student.path / "below").mkdir()
    monkeypatch.chdir(student.path / "below")
    result = student.run("-s", "--rootdir", "..", "..")
    assert "students/mine ['supported', 'supported']" in result.stdout.str()


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        ("tokenizer.json", "no tokenizer.json; expected the model's tokenizer beside its weights*"),
        ("card.json", "holds model.onnx alone; expected card.json, model.onnx and*"),
        ("model.onnx", "holds card.json alone; expected card.json, model.onnx and*"),
    ],
)
def test_a_file_that_is_missing_is_named(student, lost, message):
    (student.path / "students" / "mine" / lost).unlink()
    result = student.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*students/mine{'' if lost == 'tokenizer.json' else ' '}*{message}"])


def test_a_card_may_name_the_shipped_tokenizer(student):
    (student.path / "students" / "mine" / "tokenizer.json").unlink()
    change_card(student, tokenizer="minilm")
    student.run().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scoring": {"temperature": 1.0}}, "KeyError('max_tokens')"),
        ({"reading": {"long_wrods": 9}}, "reading holds 'long_wrods', expected an object of long_words"),
        ({"reading": {"sentence_share": 2}}, "sentence_share is 2, expected a share from 0 to 1"),
        ({"latin_only": "yes"}, "latin_only is 'yes', expected true or false"),
    ],
)
def test_a_card_without_sense_names_the_key(student, changes, message):
    change_card(student, **changes)
    result = student.run()
    result.assert_outcomes(errors=1)
    assert message in result.stdout.str()
