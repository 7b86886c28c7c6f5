"""What stands below the card, and in which colour."""

from types import SimpleNamespace

import pytest
from gate_samples import slice_of, stored

from pytest_medfaith.gates.judging import judge_gates
from pytest_medfaith.run.finish import Finish
from pytest_medfaith.run.terminal import print_summary


class Terminal:
    """Takes the place of pytest's terminal, 80 columns wide, and keeps (line, colours)."""

    config = SimpleNamespace(get_terminal_writer=lambda: SimpleNamespace(fullwidth=80))

    def __init__(self, verbosity):
        self.verbosity, self.lines = verbosity, []

    def section(self, title):
        self.lines.append((title, {}))

    def write_line(self, line, **markup):
        self.lines.append((line, markup))


@pytest.mark.parametrize(("verbosity", "told"), [(0, 5), (1, 7)])
def test_a_failed_comparison_tells_the_claims_that_turned_worst_first(tmp_path, verbosity, told):
    names = [f"c{number}" for number in range(8)]
    baseline = stored(tmp_path, slice_of(dict.fromkeys(names, "srsss")))
    after = slice_of({name: "ursss" if name == "c7" else "srrss" for name in names})
    judged = judge_gates(["hallucination no worse than baseline"], after, baseline=baseline)
    terminal = Terminal(verbosity)
    print_summary(Finish((judged,), (baseline,), "failed"), terminal)
    lines = [line for line, _ in terminal.lines]
    place = lines.index("iron: 7 claims turned since the baseline, worst first")
    turned = [line for line in lines[place:] if line.startswith(("REFUTED", "UNSUPPORTED"))]
    assert [line.split(maxsplit=1) for line in turned[:2]] == [
        ["REFUTED", "c0 says thing 2."],
        ["REFUTED", "c1 says thing 2."],
    ]
    assert len(turned) == told
    assert ("... and 2 more (-v shows all)" in lines) == (
        told < 7
    )  # c7 has a claim that nothing supports, which is no hallucination
    assert next(markup for line, markup in terminal.lines if line.startswith("FAIL")) == {"red": True}


def test_below_a_failed_bound_a_case_with_earlier_turns_shows_them_and_another_is_as_it_was():
    plain, talked = slice_of({"a": "r", "b": "r"}).reports
    turn = {"role": "user", "content": "What is iron stored as?"}
    talked = talked.with_(case=talked.case.with_(history=(turn,)))
    judged = judge_gates(["hallucination <= 0.1"], slice_of({"a": "r", "b": "r"}))
    terminal = Terminal(0)
    print_summary(Finish((judged.with_(reports=(plain, talked)),), (None,), "failed"), terminal)
    lines = [line for line, _ in terminal.lines]
    place = lines.index("case a")
    assert lines[place + 1].startswith("REFUTED")
    place = next(at for at, line in enumerate(lines) if line.startswith("case b"))
    assert lines[place + 1 : place + 3] == ["  earlier turns:", "    user: What is iron stored as?"]
    assert lines[place + 3].startswith("REFUTED")
