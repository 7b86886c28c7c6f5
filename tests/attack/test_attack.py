"""Every kind of attack gives the counts that docs/soundness.md says.

Each kind can tell a right result from a wrong result.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "unit")]
import hostile
import interrupted
import unanswered
from kinds import ENTAILS, GATES, KINDS, TRUE, _baseline, _gate, _passes, _unjudged
from openings import CONTENTS, OPENINGS
from table import counts_on_page, failures

from pytest_medfaith.checking.quotation import quotes
from pytest_medfaith.gates.baseline import read_baseline
from pytest_medfaith.gates.expressions import BoundGate, parse_gate

pytestmark = pytest.mark.attack


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name.replace(" ", "-"))
def test_an_attack_fails_as_often_as_the_page_says(kind):
    tries, wrong = failures(kind)
    assert (tries, len(wrong)) == counts_on_page().get(kind.name), (
        f"{len(wrong)} of {tries} tries of {kind.name!r} went wrong, docs/soundness.md says otherwise. More: "
        f"mend the hole; fewer: run python tests/attack/table.py. First: {wrong[:5]}"
    )


def test_the_page_names_the_kinds_and_no_others():
    assert list(counts_on_page()) == [kind.name for kind in KINDS]


def test_there_are_enough_openings_and_gates():
    assert len(set(OPENINGS)) == len(OPENINGS) >= 200
    assert len(CONTENTS) >= 5
    assert GATES >= 5_000


def test_an_assertion_that_passes_is_told():
    assert _passes(TRUE, [TRUE], ENTAILS) == "faithfulness passes, no hallucination passes"


def test_a_claim_that_is_supported_is_told():
    assert _unjudged(TRUE)


def test_a_plain_quotation_counts():
    assert quotes("Aspirin can be given to children.", "Aspirin is old. Aspirin can be given to children.")


def test_an_unedited_baseline_is_read(tmp_path):
    path = tmp_path / "baseline.json"
    path.write_text(_baseline(), encoding="utf-8")
    assert read_baseline(path).slices


def test_a_gate_that_nothing_fails_is_told(monkeypatch):
    gate = BoundGate(expression="", metric="hallucination", at_least=False, bound=1.0)
    monkeypatch.setattr("kinds.parse_gate", lambda _: gate)
    assert _gate("hallucination <= 1") == "a gate that nothing fails"


def test_what_is_read_and_written_in_peace_is_told(monkeypatch):
    monkeypatch.setitem(hostile.CONTENTS, "sound", b'{"case_id": "a", "answer": "x"}\n')
    assert hostile.read_wrongly(("responses", "sound")) == "is read"
    assert hostile.written_wrongly(("text", "a file")) == "says nothing"


def test_a_green_of_less_than_everything_is_told(tmp_path):
    interrupted.make_project(tmp_path)
    assert interrupted.wrong(tmp_path, 0) == "exit status 0 without a whole report"
    assert interrupted.wrong(tmp_path, -9) == ""
    (tmp_path / "medfaith-baseline.json").write_text("{")
    assert interrupted.wrong(tmp_path, -9).startswith("the baseline is broken")


def test_an_ablation_that_is_sound_is_green(monkeypatch):
    assert unanswered.sound_run() == 0
    monkeypatch.setitem(unanswered.TRIES, "sound", (["evaluate", "--retrieval-only"], unanswered.GOOD, None))
    assert unanswered.green("sound") == "is green"


def test_some_random_gates_parse():
    gates = next(kind for kind in KINDS if kind.name == "gate text").tries()
    assert sum(_parses(text) for text in gates) >= 100


def _parses(text):
    try:
        parse_gate(text)
    except ValueError:
        return False
    return True
