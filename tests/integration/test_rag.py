"""The reference RAG as a user meets it: slices without answers, questions by hand, live runs, rescoring."""

import json

import pytest

from pytest_medfaith.cards.run_reading import read_run
from pytest_medfaith.cli import main

pytestmark = pytest.mark.usefixtures("word_vectors")
NO_RESPONSES = (
    '[tool.medfaith.slices.mini]\ncases = "gold.jsonl"\ncorpus = ["corpus"]\nretriever = "bm25"\nk = 2\n'
)
WARNING = "WARNING: the answers of 3 cases are by the reference RAG of medfaith (plain, extractive)"
CHECKER = """
from pytest_medfaith.testing import containment_checker
contained = containment_checker()
"""


@pytest.fixture
def here(plain_project, monkeypatch):
    """The small project without recorded answers, for commands in this process."""
    path = plain_project.path
    (path / "pyproject.toml").write_text(NO_RESPONSES)
    (path / "judges_of_rag.py").write_text(CHECKER)
    monkeypatch.chdir(path)
    monkeypatch.syspath_prepend(str(path))
    return plain_project


@pytest.fixture
def medfaith(capsys):
    """Runs a command in this process, and returns its exit status and what it told."""

    def call(*arguments):
        try:
            main([str(argument) for argument in arguments])
            status = 0
        except SystemExit as end:
            status = end.code or 0
        return status, "".join(capsys.readouterr())

    return call


JUDGE = ("--checker", "judges_of_rag:contained")


def run_slice(medfaith, *more, rag="plain", out="out"):
    return medfaith("run", "--dataset", "mini", "--rag", rag, "--out", out, *JUDGE, *more)


# Tests of a slice without answers.


def without_answers(project, more=""):
    (project.path / "pyproject.toml").write_text(
        project.CONFIGURATION.replace('responses = "responses.jsonl"\n', more)
    )


def test_a_slice_without_answers_is_answered_by_the_reference_rag_and_each_card_says_so(
    project, run_pytest, workers
):
    without_answers(project)
    ran = run_pytest(project.path, "--medfaith-report", "out", *workers)
    assert ran.returncode == 0, ran.stdout
    assert WARNING in ran.stdout
    for name in ("card.md", "card.html"):
        assert "by the reference RAG of medfaith" in (project.path / "out" / name).read_text(), name
    _, signature = read_run(project.path / "out")
    (told,) = signature["reference_rag"]["mini"]
    assert told.startswith("plain|extractive|")


def test_recorded_answers_and_a_rag_of_the_project_come_first(project, run_pytest):
    assert "reference RAG" not in run_pytest(project.path).stdout
    without_answers(project)
    with (project.path / "conftest.py").open("a") as file:
        file.write(
            "\n@pytest.fixture(scope='session')\ndef medfaith_rag():\n    return lambda _: 'Iron is a "
            "metal.'\n"
        )
    ran = run_pytest(project.path)
    assert ran.returncode == 1
    assert "reference RAG" not in ran.stdout


def test_without_a_corpus_there_is_still_no_answer(project, run_pytest):
    without_answers(project)
    text = (project.path / "pyproject.toml").read_text()
    (project.path / "pyproject.toml").write_text(text.replace('corpus = ["corpus"]\n', ""))
    ran = run_pytest(project.path)
    assert ran.returncode != 0
    assert "has no recorded responses" in ran.stdout + ran.stderr


def test_a_baseline_of_other_answers_is_not_compared_with_the_reference_rag(project, run_pytest):
    assert run_pytest(project.path, "--medfaith-update-baseline").returncode in (0, 1)
    without_answers(project, 'gates = ["faithfulness no worse than baseline by 0.5"]\n')
    ran = run_pytest(project.path)
    assert ran.returncode == 4, ran.stdout
    assert "reference_rag" in ran.stdout


# Questions by hand.


@pytest.mark.usefixtures("here")
def test_query_prints_the_answer_its_sources_and_how_it_came_about(medfaith):
    status, told = medfaith("query", "What treats iron deficiency?", "--k", "2")
    assert status == 0, told
    assert "Iron tablets treat iron deficiency [1]." in told
    assert "[1] iron-1: Iron https://example.org/iron" in told
    assert "mode plain, generator extractive, not verified" in told


@pytest.mark.usefixtures("here")
def test_query_tells_what_was_dropped_and_why(medfaith, monkeypatch):
    monkeypatch.setattr(
        "pytest_medfaith.rag.reference.quoted_answer",
        lambda *_, **__: (
            "Iron tablets treat iron deficiency [1]. Moonlight cures \x1b[31miron deficiency [1]."
        ),
    )
    status, told = medfaith("query", "What treats iron deficiency?", "--mode", "faithful", *JUDGE)
    assert status == 0, told
    assert told.startswith("Iron tablets treat iron deficiency [1].\n")
    assert "dropped: Moonlight cures [31miron deficiency [1]." in told
    assert "unsupported: " in told
    assert "\x1b" not in told


@pytest.mark.usefixtures("here")
def test_query_as_json_holds_the_whole_response(medfaith):
    status, told = medfaith("query", "What treats iron deficiency?", "--mode", "confident", *JUDGE, "--json")
    assert status == 0, told
    row = json.loads(told)
    assert row["citations"] == ["iron-1"]
    assert row["meta"]["reference_rag"]["mode"] == "confident"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["", "--k", "2"], "the query is ''"),
        (["Iron?", "--mode", "certain"], "expected one of plain, faithful, confident, confident-lite"),
        (["Iron?", "--threshold", "7"], "threshold is 7.0, expected a number from 0 to 1"),
        (["Iron?", "--slice", "minni"], "did you mean 'mini'?"),
        (["Iron?", "--slice", "mini", "--corpus", "corpus"], "give one of them"),
        (["Iron?", "--corpus", "nowhere"], "nowhere"),
        (["Iron?", "--generator", "teacher"], "the teacher has no model"),
    ],
)
@pytest.mark.usefixtures("here")
def test_query_says_what_is_wrong_in_a_message(medfaith, arguments, said):
    status, told = medfaith("query", *arguments)
    assert status == 2, told
    assert said in told
    assert "Traceback" not in told


def asked(monkeypatch, medfaith, lines):
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO(lines) if isinstance(lines, str) else lines)
    return medfaith("interactive")


@pytest.mark.usefixtures("here")
def test_interactive_answers_each_line_until_the_end_of_the_input(medfaith, monkeypatch):
    status, told = asked(
        monkeypatch, medfaith, "What treats iron deficiency?\n\n   \nWhat lowers uric acid in gout?"
    )
    assert status == 0, told
    assert "Iron tablets treat iron deficiency [1]." in told
    assert "Allopurinol lowers uric acid in gout [1]." in told
    assert told.count("mode plain") == 2  # an empty line asks nothing


@pytest.mark.usefixtures("here")
def test_interactive_reads_a_line_after_the_lines_before_it_and_an_empty_line_begins_anew(
    medfaith, monkeypatch
):
    first = "What lowers uric acid in gout?"
    status, told = asked(monkeypatch, medfaith, f"{first}\nWhat does it lower?\n\nWhat does it lower?\n")
    assert status == 0, told
    answers = told.split("mode plain")
    assert "Allopurinol lowers uric acid in gout [1]." in answers[1]
    assert "Allopurinol" not in answers[2]  # nothing was said before it


@pytest.mark.usefixtures("here")
def test_interactive_goes_on_after_an_error_and_ends_with_a_status_that_says_so(medfaith, monkeypatch):
    drafts = iter(["", "Iron tablets treat iron deficiency [1]."])

    def quoted(*_, **__):
        draft = next(drafts)
        if not draft:
            raise ValueError("no such thing \x1b[2J")
        return draft

    monkeypatch.setattr("pytest_medfaith.rag.reference.quoted_answer", quoted)
    status, told = asked(
        monkeypatch, medfaith, "What treats iron deficiency?\nWhat treats iron deficiency?\n"
    )
    assert status == 1, told
    assert "medfaith: no such thing" in told
    assert "Iron tablets treat iron deficiency [1]." in told
    assert "\x1b" not in told


@pytest.mark.usefixtures("here")
def test_interactive_ends_at_once_where_it_is_interrupted(medfaith, monkeypatch):
    class Interrupted:
        def isatty(self):
            return False

        def readline(self):
            raise KeyboardInterrupt

    status, told = asked(monkeypatch, medfaith, Interrupted())
    assert status == 130, told
    assert "Traceback" not in told


# Live runs.


def test_a_live_run_writes_a_run_folder_with_the_answers(here, medfaith):
    status, told = run_slice(medfaith)
    assert status == 0, told
    assert WARNING in told
    (row,), _ = read_run(here.path / "out")
    assert {one.case.id: one.response.answer for one in row.reports}[
        "gout"
    ] == "Allopurinol lowers uric acid in gout [1]."
    assert not (here.path / "out" / "answers.jsonl").exists()


APP = """
asked = []
def answer(question):
    asked.append(question)
    if "asthma" in question:
        raise RuntimeError("no \\x1b[31mdatabase")
    return {"answer": "Iron tablets treat iron deficiency [1]." if "iron" in question else
            "Allopurinol lowers uric acid in gout.", "contexts": ["Iron tablets treat iron deficiency.",
            "Allopurinol lowers uric acid in gout."]}
"""


def test_a_crash_of_the_rag_is_a_failed_case_and_the_run_goes_on(here, medfaith):
    (here.path / "app_of_rag.py").write_text(APP)
    status, told = run_slice(medfaith, rag="app_of_rag:answer")
    assert status == 1, told
    assert "FAILED: case 'asthma': the RAG raised RuntimeError" in told
    assert "\x1b" not in told
    assert "reference RAG" not in told
    assert "2 supported" in told
    (row,), _ = read_run(here.path / "out")
    assert [gate.outcome for gate in row.gates] == ["fail"]
    assert "1 of 3 cases failed: asthma (the RAG raised RuntimeError" in row.gates[0].message


def test_an_interrupted_run_goes_on_with_its_answers_and_asks_failed_cases_again(here, medfaith, monkeypatch):
    code = APP.replace("raise RuntimeError", "raise KeyboardInterrupt")
    (here.path / "stopped_app.py").write_text(code)
    assert run_slice(medfaith, rag="stopped_app:answer")[0] != 0
    held = here.path / "out" / "answers.jsonl"
    assert len(held.read_text().splitlines()) == 1  # iron; asthma stopped the run
    held.write_bytes(held.read_bytes() + b"torn")
    assert "UNFINISHED" in (here.path / "out" / "card.md").read_text()
    import stopped_app

    stopped_app.asked.clear()
    monkeypatch.setattr(stopped_app, "answer", lambda q: (stopped_app.asked.append(q), APP_ANSWER)[1])
    status, told = run_slice(medfaith, rag="stopped_app:answer")
    assert "1 answers are of an interrupted run" in told
    assert "1 kept answers were damaged" in told
    assert len(stopped_app.asked) == 2
    assert status in (0, 1)
    stopped_app.asked.clear()
    run_slice(medfaith, rag="stopped_app:answer")
    assert len(stopped_app.asked) == 3  # the run was finished, so the next run asks anew


APP_ANSWER = ("Iron tablets treat iron deficiency.", ["Iron tablets treat iron deficiency."])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--dataset", "nothing"], "no slice of"),
        (["--dataset", "mini", "--rag", "faithfull"], "expected package.module:callable, or one of plain"),
        (["--dataset", "mini", "--rag", "nowhere:answer"], "cannot be imported"),
        (["--dataset", "mini", "--rag", "app_of_rag:asked"], "expected a callable"),
        (
            ["--dataset", "mini", "--rag", "app_of_rag:answer", "--threshold", "0.5"],
            "are of the reference RAG",
        ),
        (["--dataset", "gold.jsonl"], "the reference RAG needs something to retrieve from"),
        (["--dataset", "mini", "--gate", "faithful > 1"], "faithful"),
    ],
)
def test_a_live_run_says_what_is_wrong_before_it_asks(here, medfaith, arguments, said):
    (here.path / "app_of_rag.py").write_text(APP)
    status, told = medfaith("run", *arguments, "--out", "out", *JUDGE)
    assert status == 2, told
    assert said in told
    assert not (here.path / "out").exists()


@pytest.mark.usefixtures("here")
def test_a_gold_file_with_a_corpus_is_a_data_set(medfaith):
    status, told = medfaith(
        "run",
        "--dataset",
        "gold.jsonl",
        "--corpus",
        "corpus",
        "--retrievers",
        "bm25",
        "--k",
        "2",
        "--out",
        "out",
        *JUDGE,
    )
    assert status == 0, told
    assert "gold" in told


@pytest.mark.usefixtures("here")
def test_the_judge_that_dropped_what_it_does_not_support_says_nothing_of_the_answers(medfaith):
    status, told = run_slice(medfaith, "--rag-checker", "judges_of_rag:contained", rag="faithful")
    assert status == 0, told
    assert "WARNING: the checker judges_of_rag:contained judges answers of which it had dropped" in told


# A run judged again.


def test_rescoring_takes_other_gold_without_answering_again(here, medfaith, monkeypatch):
    run_slice(medfaith)
    gold = [json.loads(line) for line in (here.path / "gold.jsonl").read_text().splitlines()]
    for row in gold:
        row["gold_claims"].append({"id": "g2", "text": "Moonlight is bright.", "key": True})
    (here.path / "new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    monkeypatch.setattr("pytest_medfaith.rag.reference.ReferenceRag.answer", None)
    monkeypatch.setattr("pytest_medfaith.run.resources.Resources.retriever", None)
    status, told = medfaith("rescore", "out", "--gold", "new.jsonl", "--out", "again")
    assert status == 0, told
    (before,), old = read_run(here.path / "out")
    (after,), new = read_run(here.path / "again")
    assert (before.metrics["claim_recall"].value, after.metrics["claim_recall"].value) == (1.0, 0.5)
    assert before.faithfulness == after.faithfulness
    assert old["corpora"] == new["corpora"]
    assert [one.response for one in before.reports] == [one.response for one in after.reports]
    assert [one.hits for one in before.reports] == [one.hits for one in after.reports]


def test_rescoring_takes_another_checker_and_judges_gates(here, medfaith):
    run_slice(medfaith)
    (here.path / "never_judge.py").write_text("def judge(claim, chunks):\n    return 'unsupported'\n")
    status, told = medfaith(
        "rescore", "out", "--checker", "never_judge:judge", "--gate", "faithfulness >= 0.5"
    )
    assert status == 1, told
    assert "0 supported" in told


@pytest.mark.parametrize("mode", ["retrieved", "per-claim"])
def test_rescoring_without_a_change_gives_the_same_numbers(here, medfaith, mode):
    run_slice(medfaith, "--contexts", mode)
    status, told = medfaith("rescore", "out", "--out", "again")
    assert status == 0, told
    (before,), _ = read_run(here.path / "out")
    (after,), _ = read_run(here.path / "again")
    assert before.metrics == after.metrics
    assert [one.response for one in before.reports] == [one.response for one in after.reports]


def test_a_failed_case_stays_failed_and_a_lost_case_stays_lost(here, medfaith):
    (here.path / "app_of_rag.py").write_text(APP)
    run_slice(medfaith, rag="app_of_rag:answer")
    status, told = medfaith("rescore", "out")
    assert status == 1, told
    assert "1 of 3 cases failed: asthma (the RAG raised RuntimeError" in told


@pytest.mark.parametrize("change", ["gone", "question"])
def test_gold_that_does_not_fit_the_answers_is_refused(here, medfaith, change):
    run_slice(medfaith)
    rows = [json.loads(line) for line in (here.path / "gold.jsonl").read_text().splitlines()]
    if change == "gone":
        rows.pop()
    else:
        rows[2]["question"] = "What raises uric acid?"
    (here.path / "new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    status, told = medfaith("rescore", "out", "--gold", "new.jsonl")
    assert status == 2, told
    assert ("holds no case 'gout'" if change == "gone" else "case 'gout' asks another question") in told


@pytest.mark.usefixtures("here")
def test_a_run_is_not_written_over_by_its_rescoring(medfaith):
    run_slice(medfaith)
    status, told = medfaith("rescore", "out", "--out", "out/../out")
    assert status == 2
    assert "give another folder" in told
    assert medfaith("rescore", "nowhere")[0] == 2


@pytest.mark.usefixtures("here")
def test_evaluating_a_slice_without_answers_names_the_command_that_answers_it(medfaith):
    status, told = medfaith("evaluate", "mini", *JUDGE)
    assert status == 2
    command = "medfaith run --dataset mini --rag plain --out runs/mini"
    assert command in " ".join(told.split())
    assert medfaith(*command.split()[1:], *JUDGE)[0] == 0
    assert medfaith("rescore", "runs/mini")[0] == 0


# Conversations.

FOLLOW_UP = {
    "id": "iron-2",
    "history": [
        {"role": "user", "content": "What treats iron deficiency?"},
        {"role": "assistant", "content": "Iron tablets treat iron deficiency."},
    ],
    "question": "And in pregnancy?",
}
IN_PREGNANCY = [
    {"id": "inhaler", "text": "An inhaler in pregnancy."},
    {"id": "tablets", "text": "Iron tablets treat iron deficiency in pregnancy."},
]


def conversation(path, more=""):
    (path / "gold.jsonl").write_text(json.dumps(FOLLOW_UP) + "\n")
    (path / "corpus" / "chunks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in IN_PREGNANCY))
    (path / "pyproject.toml").write_text(NO_RESPONSES.replace("k = 2", f"k = 1\n{more}"))


def answered(path):
    (row,), _ = read_run(path / "out")
    (report,) = row.reports
    return report.response.answer, [hit.chunk.id for hit in report.hits]


TABLETS = "Iron tablets treat iron deficiency in pregnancy [1]."


def test_a_follow_up_retrieves_with_the_topic_of_the_turn_before(here, medfaith):
    conversation(here.path)
    assert run_slice(medfaith)[0] == 0
    assert answered(here.path) == (TABLETS, ["tablets"])
    conversation(here.path, 'history = "ignore"')
    run_slice(medfaith)
    assert answered(here.path)[1] == ["inhaler"]


@pytest.mark.parametrize("contexts", ["recorded", "retrieved"])
def test_a_follow_up_of_a_suite_is_answered_and_judged_by_what_was_retrieved_for_it(
    project, run_pytest, contexts
):
    conversation(project.path, f'contexts = "{contexts}"')
    project.test('import pytest\n@pytest.mark.medfaith("mini")\ndef test_it(medfaith_report): pass')
    ran = run_pytest(project.path, "--medfaith-report", "out")
    assert ran.returncode == 0, ran.stdout
    assert answered(project.path) == (TABLETS, ["tablets"])


# The teacher writes.


def taught(here, server, more=""):
    (here.path / "pyproject.toml").write_text(
        f'{NO_RESPONSES}{more}\n[tool.medfaith.rag]\ngenerator = "teacher"\n[tool.medfaith.llm]\nmodel = '
        f'"judge-7b"\n'
        f'base_url = "{server.url}"\nkey_env = "HOUSE_KEY"\nretries = 0\n'
    )


def test_the_teacher_writes_and_the_card_says_what_that_took(here, medfaith, server):
    taught(here, server)
    status, told = run_slice(medfaith, "--llm", "live")
    assert status == 0, told
    assert "(plain, teacher)" in told
    assert "teacher judge-7b: 3 requests" in told


def test_judge_and_generator_of_one_model_are_told_on_the_card(here, medfaith, server):
    taught(here, server)
    _, told = medfaith("run", "--dataset", "mini", "--out", "out", "--checker", "teacher", "--llm", "live")
    assert "WARNING: the judge judge-7b is of the family of judge-7b" in told


@pytest.mark.parametrize("fault", ["500", "html", "empty"])
def test_a_teacher_that_does_not_answer_is_never_a_pass(here, medfaith, server, fault):
    taught(here, server)
    server.faults, server.always = [fault], True
    status, told = run_slice(medfaith, "--llm", "live")
    assert status == 2, told
    assert "the teacher gave no usable generator" in told
    assert medfaith("query", "What treats iron deficiency?", "--llm", "live")[0] != 0


# The sweep of the threshold.


def confident_run(here, medfaith, confidences, more=""):
    """Runs a RAG with these confidences: the answer on iron is supported, on asthma not, on gout refused."""
    (here.path / "sure_app.py").write_text(
        f"C = {confidences!r}\n"
        "def answer(question):\n"
        "    name = next(one for one in ('iron', 'asthma', 'gout') if one in question)\n"
        "    said = {'iron': 'Iron tablets treat iron deficiency.', 'asthma': 'Moonlight sets off asthma.',\n"
        "            'gout': 'I could not find this in the documents provided.'}[name]\n"
        "    told = {} if C.get(name) is None else {'confidence': C[name]}\n"
        "    return {'answer': said, 'contexts': ['Iron tablets treat iron deficiency.'], 'meta': told}\n"
        + more
    )
    import sys

    sys.modules.pop("sure_app", None)
    return run_slice(medfaith, "--fresh", rag="sure_app:answer")


def test_a_sweep_shows_what_each_threshold_gains_and_loses(here, medfaith):
    confident_run(here, medfaith, {"iron": 0.9, "asthma": 0.6})
    status, told = medfaith("sweep", "out", "--plot", "sweep.svg")
    assert status == 0, told
    rows = {line.split()[0]: line.split() for line in told.splitlines() if line[:2] in ("0.", "1.")}
    assert len(rows) == 21
    assert rows["0.60"][1:5] == ["2", "of", "3", "0.33"]  # gout refuses at each threshold
    assert rows["0.60"][5] == "0.50"
    assert (rows["0.65"][1], rows["0.65"][4], rows["0.65"][5]) == ("1", "0.67", "1.00")
    assert (rows["0.95"][1], rows["0.95"][4], rows["0.95"][5]) == ("0", "1.00", "-")
    plot = (here.path / "sweep.svg").read_text()
    assert plot.count("<circle") == 21 + 19  # without an answer there is no faithfulness
    assert "nan" not in plot.lower()


@pytest.mark.usefixtures("here")
def test_a_sweep_of_the_reference_rag_warns_that_no_other_rag_was_measured(medfaith):
    assert run_slice(medfaith, "--threshold", "0", rag="confident-lite")[0] in (0, 1)
    status, told = medfaith("sweep", "out")
    assert status == 0, told
    assert "WARNING: the answers of " in told
    assert "no RAG of yours was measured" in told


@pytest.mark.parametrize(
    ("confidences", "said"),
    [
        ({"iron": 0.9}, "case 'asthma' has the confidence None"),
        ({"iron": 0.9, "asthma": 7}, "case 'asthma' has the confidence 7"),
        ({"iron": 0.9, "asthma": "high"}, "expected a number from 0 to 1"),
        ({"iron": 0.9, "asthma": True}, "case 'asthma' has the confidence True"),
    ],
)
def test_a_sweep_without_every_confidence_is_refused(here, medfaith, confidences, said):
    confident_run(here, medfaith, confidences)
    status, told = medfaith("sweep", "out")
    assert status == 2, told
    assert said in told


def test_a_sweep_of_a_run_with_a_failed_case_is_refused(here, medfaith):
    (here.path / "app_of_rag.py").write_text(APP)
    run_slice(medfaith, rag="app_of_rag:answer")
    status, told = medfaith("sweep", "out")
    assert status == 2, told
    assert "1 of 3 cases failed: asthma" in told


@pytest.mark.usefixtures("here")
def test_answers_that_the_run_withheld_leave_out_the_rows_below_its_threshold(medfaith):
    status, told = run_slice(
        medfaith, "--rag-checker", "judges_of_rag:contained", "--threshold", "0.93", rag="confident"
    )
    assert "withheld below the confidence threshold" in told, told
    status, told = medfaith("sweep", "out")
    assert status == 0, told
    assert "run it with --threshold 0" in told
    assert "0.90 " not in told
    assert "0.95 " in told
