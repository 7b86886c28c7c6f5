"""The table of report formats, and what of a format that a project brings is refused before a run."""

import sys
from pathlib import Path
from types import ModuleType

import pytest
from card_samples import slice_sample

from pytest_medfaith.cards.formats import SHIPPED, FinishedRun, find_format
from pytest_medfaith.cards.run_begin import begin_run, check_report_folder
from pytest_medfaith.cards.run_folder import PREVIOUS, RUN_FILES, extra_formats, run_files, write_run
from pytest_medfaith.cards.run_reading import read_extra_files
from pytest_medfaith.config import Settings
from pytest_medfaith.errors import DataError

DOCS = Path(__file__).parents[2] / "docs"


def named(file_name):
    def write(slice_reports, *, signature, facts):
        return f"{len(slice_reports)} {signature} {facts}"

    write.file_name = file_name
    return write


@pytest.fixture
def module(monkeypatch):
    """Returns a module that formats may be put into, as if a project had it."""
    found = ModuleType("my_cards")
    monkeypatch.setitem(sys.modules, "my_cards", found)
    found.counts = named("counts.csv")
    return found


@pytest.fixture
def offered(tmp_path, monkeypatch):
    """Returns a function that offers formats as an installed package would."""

    def offer(entries):
        folder = tmp_path / "site" / "my_formats-1.0.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: my-formats\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(f"[medfaith.formats]\n{entries}\n")
        monkeypatch.syspath_prepend(str(tmp_path / "site"))

    return offer


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_format_makes_a_text_and_is_in_the_docs(name):
    run = FinishedRun([slice_sample(), slice_sample(retriever="bm25")], {"seed": 0}, {"date": "today"})
    assert "medquad-nih" in SHIPPED[name].make(run) or name in ("spans", "conversations")
    page = (DOCS / "reports.md").read_text(encoding="utf-8").replace("`--format ", "`")
    assert f"`{name}`" in page
    assert f"`{SHIPPED[name].file_name}`" in page


def test_no_two_shipped_formats_have_a_file_in_common():
    assert len({shipped.file_name for shipped in SHIPPED.values()}) == len(SHIPPED)


def test_a_shipped_format_may_be_asked_for_and_is_written_once():
    assert [one.name for one in extra_formats(["html", "junit", "svg", "junit"])] == ["junit", "svg"]


@pytest.mark.usefixtures("module")
def test_a_dotted_name_leads_to_its_callable():
    found = find_format("my_cards:counts")
    assert (found.file_name, found.make(FinishedRun([], {"a": 1}, {"b": "c"}))) == (
        "counts.csv",
        "0 {'a': 1} {'b': 'c'}",
    )


@pytest.mark.usefixtures("module")
def test_installed_formats_are_written_without_being_named(offered):
    offered("tally = my_cards:counts")
    assert [(one.name, one.file_name) for one in extra_formats([])] == [("tally", "counts.csv")]
    assert [one.name for one in extra_formats(["tally"])] == ["tally"]
    with pytest.raises(DataError, match=r"expected one of terminal, .*html, tally, or a dotted name"):
        find_format("sarif")


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (
            "html = my_cards:counts",
            r"offers my_cards:counts as the format 'html', the name of a shipped format",
        ),
        ("tally = my_cards:missing", r"the installed format 'tally', 'my_cards:missing' cannot be imported"),
        ("tally = no_such_module:x", r"cannot be imported \(No module named 'no_such_module'\)"),
    ],
)
def test_a_package_that_offers_something_wrong(offered, entries, said):
    offered(entries)
    with pytest.raises(DataError, match=said):
        extra_formats([])


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (named("card.md"), r"names the file 'card.md', which a run writes; expected another name"),
        (named("REPORT.JSON"), r"names the file 'REPORT.JSON', which a run writes"),
        (named("Audit.md"), r"which a run writes"),
        (named("history.jsonl"), r"which a run writes"),
        (named("previous"), r"which a run writes"),
        (
            named("Counts.csv"),
            r"'Counts.csv', which the format 'my_cards:counts' writes; expected another name",
        ),
        (named("../gold.jsonl"), r"'\.\./gold.jsonl'; expected a name within the run folder, such as"),
        (named("/etc/x"), r"expected a name within"),
        (named("a\\b"), r"expected a name within"),
        (named("c:x"), r"expected a name within"),
        (named(".."), r"expected a name within"),
        (named(".hidden"), r"expected a name within"),
        (named(""), r"expected a name within"),
        (named("a\n"), r"expected a name within"),
        (named(None), r"file name None; expected a callable .* wrong.file_name = \"counts.csv\""),
        (lambda *_, **__: "", r"file name None; expected a callable"),
        ("a text", r"is 'a text' with the file name None; expected a callable"),
    ],
)
def test_a_wrong_format_is_refused_before_the_run(module, tmp_path, found, said):
    module.wrong = found
    settings = Settings(root=tmp_path, formats=("my_cards:counts", "my_cards:wrong"))
    with pytest.raises(DataError, match=said):
        check_report_folder(tmp_path / "out", settings, baseline=tmp_path / "none.json")
    assert not (tmp_path / "out").exists()


def test_a_module_that_cannot_be_imported_is_one_message(tmp_path, monkeypatch):
    (tmp_path / "half_written.py").write_text("def counts(:\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(DataError, match=r"'half_written:counts' cannot be imported \(SyntaxError"):
        find_format("half_written:counts")


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (KeyError("k"), "raised KeyError: 'k' "),
        (SystemExit(3), "raised SystemExit: 3 "),
        ("\ud800", "surrogates"),
    ],
)
def test_what_goes_wrong_in_a_format_is_a_message_and_no_other_file_is_lost(module, tmp_path, raised, said):
    def wrong(*_, **__):
        if isinstance(raised, BaseException):
            raise raised
        return raised

    wrong.file_name = "wrong.txt"
    module.wrong = wrong
    extra = extra_formats(["my_cards:wrong", "my_cards:counts"])
    (told,) = write_run(tmp_path, [slice_sample()], signature={}, extra=extra)
    assert said in told
    assert f"medfaith report {tmp_path} --format my_cards:wrong --out wrong.txt" in told
    assert {path.name for path in tmp_path.iterdir()} >= {"signature.json", "card.md", "counts.csv"}
    assert not (tmp_path / "wrong.txt").exists()
    assert read_extra_files(tmp_path) == ["counts.csv"]


@pytest.mark.usefixtures("module")
def test_files_of_formats_go_with_their_run(tmp_path):
    extra = extra_formats(["my_cards:counts"])
    write_run(tmp_path, [slice_sample()], signature={"n": 1}, extra=extra)
    assert run_files(tmp_path) == [*RUN_FILES, "counts.csv"]
    begin_run(tmp_path)
    assert not (tmp_path / "counts.csv").exists()
    assert "'n': 1" in (tmp_path / PREVIOUS / "counts.csv").read_text()
    write_run(tmp_path, [slice_sample()], signature={"n": 2}, extra=extra)
    assert not (tmp_path / PREVIOUS).exists()
    assert "'n': 2" in (tmp_path / "counts.csv").read_text()
    write_run(tmp_path, [slice_sample()], signature={"n": 3})
    assert not (tmp_path / "counts.csv").exists()


def test_a_signature_that_names_a_file_elsewhere_moves_nothing(tmp_path):
    folder, gold = tmp_path / "out", tmp_path / "gold.jsonl"
    gold.write_text("mine\n")
    write_run(folder, [slice_sample()], signature={})
    text = (folder / "signature.json").read_text()
    (folder / "signature.json").write_text(text.replace("{", '{"files": {"x": "../gold.jsonl", "y": 3},', 1))
    begin_run(folder)
    write_run(folder, [slice_sample()], signature={})
    assert gold.read_text() == "mine\n"


@pytest.mark.usefixtures("module")
def test_a_file_of_something_else_is_not_replaced(tmp_path):
    (tmp_path / "counts.csv").write_text("mine\n")
    settings = Settings(root=tmp_path, formats=("my_cards:counts",))
    with pytest.raises(DataError, match=r"holds counts.csv, which no run wrote"):
        check_report_folder(tmp_path, settings, baseline=tmp_path / "none.json")
    assert (tmp_path / "counts.csv").read_text() == "mine\n"
