"""The linker in a checker's name, and the checker without any."""

import dataclasses

import pytest

from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.checking.rules import RULE_NAMES, apply_rules, linked_rules
from pytest_medfaith.checking.variant import split_linker, with_linker
from pytest_medfaith.config import SliceSettings
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk
from pytest_medfaith.run import axes as room
from pytest_medfaith.run.axes import checker_names, read_axes
from pytest_medfaith.testing import scripted_checker

ASPIRIN = ("Aspirin lowers the fever within hours.", "Ibuprofen lowers the fever within hours.")


def test_names_with_a_linker():
    assert split_linker("fast") == ("fast", None)
    assert split_linker("fast[linker=none]") == ("fast", "none")
    assert split_linker("rrf[encoder=x]") == ("rrf[encoder=x]", None)
    assert with_linker("fast[linker=none]", "scispacy:a:mesh") == "fast[linker=scispacy:a:mesh]"


def test_without_a_linker_no_rule_compares_names():
    assert [finding.rule for finding in apply_rules(*ASPIRIN)] == ["substitution"]
    assert apply_rules(*ASPIRIN, rules=linked_rules("none")) == []


@pytest.mark.parametrize(("linker", "label"), [("default", "unsupported"), ("none", "supported")])
def test_without_a_linker_grounding_knows_no_drugs(linker, label):
    checker = dataclasses.replace(
        scripted_checker(lambda *_: "entail"), rules=frozenset(RULE_NAMES), linker=linker
    )
    verdict = checker("Metformin lowers glucose.", [Chunk(id="a", text="It lowers glucose.")])
    assert verdict.label == label


def test_other_anchors_stay_without_a_linker():
    checker = dataclasses.replace(
        scripted_checker(lambda *_: "entail"), rules=frozenset(RULE_NAMES), linker="none"
    )
    assert checker("Give 50 mg at once.", [Chunk(id="a", text="Give it at once.")]).label == "unsupported"


def test_a_checker_is_loaded_with_the_linker_of_its_name():
    checker = load_checker("fast[linker=none]")
    assert (checker.name, checker.linker) == ("fast[linker=none]", "none")
    assert checker.signature == load_checker("fast").signature


def test_a_linker_that_does_not_exist_is_an_error():
    with pytest.raises(DataError, match="the linker 'nobody' is unknown"):
        load_checker("fast[linker=nobody]")


def test_a_callable_of_the_project_has_no_linker():
    with pytest.raises(
        DataError,
        match=r"no rule uses a linker on its verdicts; expected its name without a linker, 'json:loads'",
    ):
        load_checker("json:loads[linker=none]")


def slice_settings():
    return SliceSettings(name="mini", cases="cases.jsonl", checker="fast")


def test_the_axis_of_linkers_makes_a_checker_of_each():
    axes = read_axes({}, {"linker": ["default", "none"]}, place="ablation.mini")
    assert checker_names(axes, slice_settings()) == ["fast[linker=default]", "fast[linker=none]"]
    both = read_axes({}, {"checker": ["default", "fast"], "linker": ["none"]}, place="ablation.mini")
    assert checker_names(both, slice_settings()) == ["default[linker=none]", "fast[linker=none]"]
    assert checker_names(read_axes({}, {"k": ["1"]}, place="x"), slice_settings()) == []


def test_an_unknown_or_missing_linker_is_refused_before_anything_is_measured(monkeypatch):
    with pytest.raises(DataError, match="--linker: no such value: the linker 'nobody' is unknown"):
        read_axes({}, {"linker": ["nobody"]}, place="ablation.mini")
    monkeypatch.setattr("pytest_medfaith.entities.scispacy.find_spec", lambda _name: None)
    with pytest.raises(DataError, match=r"--linker: no such value: .*pytest-medfaith\[bio\]"):
        read_axes({}, {"linker": ["scispacy"]}, place="ablation.mini")
    assert "linker" in room.AXES
