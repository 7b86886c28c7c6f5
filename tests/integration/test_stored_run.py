"""A run that keeps its reports in files: the same bytes, and never more than some reports in memory."""

from __future__ import annotations

import json
import weakref
from contextlib import nullcontext
from functools import partial

import pytest
from typer import Exit

from pytest_medfaith.commands.evaluate import show_end
from pytest_medfaith.records import stored
from pytest_medfaith.records.stored import Store
from pytest_medfaith.run import targets
from pytest_medfaith.run.options import Options
from pytest_medfaith.run.resources import Resources
from pytest_medfaith.run.slices import run_slice
from pytest_medfaith.run.targets import report_on_recorded, targets_of_slice

CASES = 24
FEW = 12  # reports: the five that a card explains, the one that is read, and what a generator still holds
JUDGE = """
def judge(claim, chunks):
    if "Moonlight" in claim.text:
        return "refuted"
    said = claim.text.rstrip(" []12.")
    return "supported" if any(said in chunk.text for chunk in chunks) else "unsupported"
"""


def evaluate(root, out, store, *, modes=("recorded", "retrieved"), measured=lambda: None):
    """Returns the end of a run of the slice, whose folder is `out`."""
    resources = Resources(root=root, options=Options(report=root / out, contexts=modes), store=store)
    selected = targets_of_slice(resources, "mini", {})

    def progress(done, of):
        if done == of:
            measured()

    return run_slice(resources, selected, measure=partial(report_on_recorded, resources), progress=progress)


@pytest.fixture
def many(plain_project, monkeypatch):
    root = plain_project.path
    for name, key in (("gold.jsonl", "id"), ("responses.jsonl", "case_id")):
        rows = [json.loads(line) for line in (root / name).read_text().splitlines()]
        again = ({**rows[n % 3], key: f"{rows[n % 3][key]}-{n}"} for n in range(CASES))
        (root / name).write_text("".join(json.dumps(row) + "\n" for row in again))
    (root / "judges_of_many.py").write_text(JUDGE)
    monkeypatch.syspath_prepend(root)
    monkeypatch.setattr(targets, "measured_steps", lambda: nullcontext({}))  # a report holds these times
    plain_project.configure(
        'checker = "judges_of_many:judge"\ngates = ["hallucination <= 0.1", "citation_support >= 0.9"]\n'
    )
    return root


def test_the_run_folder_is_that_of_a_run_in_memory(many, capsys):
    cards = []
    for out, store in (("memory", Store()), ("disk", Store(many / "cache"))):
        end = evaluate(many, out, store)
        with pytest.raises(Exit):  # a gate fails
            show_end(end, verbose=True)
        cards.append(capsys.readouterr().out)
    assert cards[0] == cards[1] != ""
    memory, disk = many / "memory", many / "disk"
    names = sorted(path.name for path in memory.iterdir())
    assert names == sorted(path.name for path in disk.iterdir())
    assert len(names) >= 10
    for name in set(names) - {"card.html", "signature.json", "history.jsonl"}:  # these hold the time
        assert (memory / name).read_bytes() == (disk / name).read_bytes(), name
    pages = [(folder / "card.html").read_text().partition('id="data"')[2] for folder in (memory, disk)]
    assert pages[0] == pages[1] != ""
    assert list((many / "cache").iterdir()) == []


def test_reports_that_were_read_are_let_go(many, monkeypatch):
    alive, most, reads = 0, 0, 0
    get = stored._Values.get

    def read(self, place):
        nonlocal alive, most, reads
        value = get(self, place)
        held = value[1] if isinstance(value, tuple) else value
        if type(held).__name__ == "Report":
            reads, alive = reads + 1, alive + 1
            most = max(most, alive)
            weakref.finalize(held, let_go)
        return value

    def let_go():
        nonlocal alive
        alive -= 1

    monkeypatch.setattr(stored._Values, "get", read)
    end = evaluate(many, "disk", Store(many / "cache"))
    assert reads > 10 * CASES  # it counts what it should
    assert most <= FEW
    assert sum(len(report.reports) for report in end.reports) == 2 * CASES
