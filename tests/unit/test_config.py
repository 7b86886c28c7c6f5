import dataclasses
import re
from pathlib import Path

import pytest

from pytest_medfaith import defaults
from pytest_medfaith.commands.init_project import TEMPLATES
from pytest_medfaith.config import LlmSettings, Settings, SliceSettings, load_settings, settings_root
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Case
from pytest_medfaith.run.resources import Resources
from pytest_medfaith.run.targets import Target, report_on_recorded

SLICE = '[slices.iron]\ncases = "gold/iron.jsonl"\ncorpus = ["corpus"]\n'


def write(folder: Path, text: str) -> Path:
    (folder / "medfaith.toml").write_text(text)
    return folder


def test_no_configuration_is_the_defaults(tmp_path):
    settings = load_settings(tmp_path)
    assert (settings.slices, settings.cache, settings.encoders) == (
        {},
        tmp_path / ".medfaith_cache",
        ("default",),
    )


def test_paths_are_resolved_against_the_file(tmp_path):
    one = load_settings(write(tmp_path, SLICE)).slice("iron")
    assert (one.cases, one.corpus, one.responses) == (
        str(tmp_path / "gold/iron.jsonl"),
        (tmp_path / "corpus",),
        None,
    )


def test_an_adapter_stays_in_front_of_its_path(tmp_path):
    one = load_settings(write(tmp_path, '[slices.m]\ncases = "medquad:data/medquad"\n')).slice("m")
    assert one.cases == f"medquad:{tmp_path / 'data/medquad'}"


def test_pyproject_is_read_where_there_is_no_medfaith_toml(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.medfaith.slices.iron]\ncases = "x.jsonl"\nk = 3\n')
    assert load_settings(tmp_path).slice("iron").k == 3


@pytest.mark.parametrize(
    ("file", "text", "table"),
    [
        ("medfaith.toml", "[slices.iron]\ncases = 'a.jsonl'\n", "[slices.iron]"),
        ("pyproject.toml", "[tool.medfaith.slices.iron]\ncases = 'a.jsonl'\n", "[tool.medfaith.slices.iron]"),
    ],
)
def test_messages_name_a_table_as_the_file_of_the_settings_does(tmp_path, file, text, table):
    (tmp_path / file).write_text(text)
    resources = Resources(root=tmp_path)
    with pytest.raises(DataError, match=f"in {re.escape(table)}, or define"):
        resources.responses(resources.settings.slice("iron"))
    target = Target(
        settings=resources.settings.slice("iron"), case=Case(id="a", question="?"), has_answer=False
    )
    with pytest.raises(DataError, match=re.escape(f"in {table}, or define")):
        report_on_recorded(resources, target)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            SLICE + "retreiver = 'bm25'\n",
            r"\[slices\.iron\]: key 'retreiver' is unknown; did you mean 'retriever'\?",
        ),
        (SLICE + "k = '5'\n", r"\[slices\.iron\] k is '5', expected a whole number"),
        (
            SLICE + "gates = 'faithfulness >= 0.8'\nk = true\n",
            r"\[slices\.iron\] k is True, expected a whole number",
        ),
        ("[slices.iron]\nk = 5\n", r"\[slices\.iron\]: key 'cases' is missing"),
        ("slices = 3\n", r"slices is 3, expected a table"),
        ("[slices.iron\n", r"medfaith\.toml: not TOML"),
        ("rrf_k = 1.5\n", r"medfaith\.toml: rrf_k is 1\.5, expected a whole number"),
        (SLICE + "k = 0\n", r"\[slices\.iron\] k is 0, expected a number of 1 or more"),
        (SLICE + "limit = -1\n", r"\[slices\.iron\] limit is -1, expected a number of 1 or more"),
        (
            "contradict_threshold = nan\n",
            r"contradict_threshold is nan, expected a number from 0\.01 to 0\.99",
        ),
        ("contradict_odds = 0\n", r"contradict_odds is 0\.0, expected a number from 0\.1 to 10"),
        ("entail_threshold = 0\n", r"entail_threshold is 0\.0, expected a number from 0\.01 to 0\.99"),
        ("b = 1.5\n", r"b is 1\.5, expected a number from 0 to 1"),
        ("weights = { bm25 = inf }\n", r"\[weights\] bm25 is inf, expected a number that is finite"),
        ("weights = { bm25 = 'x' }\n", r"\[weights\] bm25 is 'x', expected a number"),
        ("label_map = 3\n", r"label_map is 3, expected a table"),
        ("checker = 'fast'\n", r"key 'checker' is unknown here: it is a key of a slice; known keys: "),
    ],
)
def test_mistakes_are_named_with_their_place(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        load_settings(write(tmp_path, text))


@pytest.mark.parametrize("file", ["pyproject.toml", "medfaith.toml"])
@pytest.mark.parametrize(
    ("table", "line", "message"),
    [
        ("llm", "modle = 'judge'", ": key 'modle' is unknown; did you mean 'mode'?"),
        ("llm", "k1 = 0.9", ": key 'k1' is unknown here: it is a key of {top}"),
        ("llm", "token_budget = 'all'", " token_budget is 'all', expected a whole number"),
        ("rag", "model = 'judge'", ": key 'model' is unknown here: it is a key of [{above}llm]"),
        ("rag", "sentences = 0", " sentences is 0, expected a number from 1 to 50"),
        ("risk", "hih = 0.5", ": key 'hih' is unknown; did you mean 'high'?"),
        ("risk", "high = 2", ": the thresholds of risk are caution 0.3 and high 2.0"),
        ("slices.iron", "cases = 'a'\nroot = 'b'", ": key 'root' is unknown;"),
        ("slices.iron", "cases = 'a'\nname = 'zinc'", ": key 'name' is unknown;"),
        (
            "slices.iron",
            "cases = 'a'\ncorpus = ['b', 1]",
            " corpus[1] is 1, expected a path, written as text",
        ),
        ('slices."fe.3"', "k = 5", ": key 'cases' is missing"),
        ("ablation.iron", "k = [1, 2]", " is of no slice"),
    ],
)
def test_a_mistake_in_a_table_names_the_table_to_edit(tmp_path, file, table, line, message):
    above, top = ("", "the top of medfaith.toml")
    if file == "pyproject.toml":
        above, top = "tool.medfaith.", "[tool.medfaith]"
    (tmp_path / file).write_text(f"[{above}{table}]\n{line}\n")
    told = f"{file}: [{above}{table}]{message.format(top=top, above=above)}"
    with pytest.raises(DataError, match=re.escape(told)):
        load_settings(tmp_path)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("pyproject.toml", "tool = 3\n", "pyproject.toml: tool is 3, expected a table"),
        ("pyproject.toml", "[tool]\nmedfaith = 3\n", "[tool] medfaith is 3, expected a table"),
        ("pyproject.toml", "[tool.medfaith]\nllm = 3\n", "[tool.medfaith] llm is 3, expected a table"),
        (
            "pyproject.toml",
            "[tool.medfaith.slices]\na = 3\n",
            "[tool.medfaith.slices] a is 3, expected a table",
        ),
        ("pyproject.toml", "[tool.medfaith]\nroot = 'x'\n", "[tool.medfaith]: key 'root' is unknown"),
        (
            "pyproject.toml",
            "[tool.medfaith]\nmodel = 'judge'\n",
            "[tool.medfaith]: key 'model' is unknown here: it is a key of [tool.medfaith.llm]",
        ),
        (
            "medfaith.toml",
            "[tool.medfaith.llm]\nmodel = 'judge'\n",
            "medfaith.toml: key 'tool' is unknown here: it is a key of pyproject.toml; write [llm] here",
        ),
    ],
)
def test_what_is_no_table_or_in_the_wrong_table_is_named(tmp_path, file, text, message):
    (tmp_path / file).write_text(text)
    with pytest.raises(DataError, match=re.escape(message)):
        load_settings(tmp_path)


def test_an_unknown_slice_names_the_nearest(tmp_path):
    with pytest.raises(
        DataError, match=r"slice 'irn' is unknown; did you mean 'iron'\?; slices configured here: iron"
    ):
        load_settings(write(tmp_path, SLICE)).slice("irn")


def test_an_unknown_slice_names_the_table_and_the_file_that_are_read(tmp_path):
    with pytest.raises(DataError, match=r"Add \[slices\.zinc\] with cases .*medfaith\.toml$"):
        load_settings(write(tmp_path, SLICE)).slice("zinc")
    (tmp_path / "medfaith.toml").unlink()
    with pytest.raises(DataError, match=r"Add \[tool\.medfaith\.slices\.zinc\] with .*pyproject\.toml$"):
        load_settings(tmp_path).slice("zinc")


def test_settings_are_found_from_where_pytest_was_started(tmp_path):
    project = tmp_path / "project"
    (project / "tests").mkdir(parents=True)
    (project / "medfaith.toml").write_text('[slices.iron]\ncases = "gold.jsonl"\n')
    assert settings_root(tmp_path, project / "tests") == project
    assert settings_root(project, tmp_path) == project
    assert settings_root(tmp_path / "empty", tmp_path) == tmp_path / "empty"
    (tmp_path / "medfaith.toml").write_text('[slices.zinc]\ncases = "gold.jsonl"\n')
    assert settings_root(tmp_path, project) == tmp_path  # the root's own settings hold


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('api_key = "sk-house"', r"\[llm\]: key 'api_key' is unknown"),
        ("samples = 0", r"\[llm\] samples is 0, expected a number from 1 to 25"),
        ("temperature = 2.5", r"\[llm\] temperature is 2\.5, expected a number from 0 to 2"),
        ("token_budget = 0", r"\[llm\] token_budget is 0, expected a number of 1 or more"),
        ('mode = "aloud"', r"\[llm\] mode is 'aloud', expected one of off, replay, record, live"),
        ("retries = true", r"\[llm\] retries is True, expected a whole number"),
    ],
)
def test_the_teachers_settings_are_checked_and_a_key_in_them_is_not_repeated(tmp_path, line, message):
    (tmp_path / "medfaith.toml").write_text(f"[llm]\n{line}\n")
    with pytest.raises(DataError, match=message) as caught:
        load_settings(tmp_path)
    assert "sk-house" not in str(caught.value)


def test_the_cassette_is_beside_the_settings_and_an_address_is_not_shown(tmp_path):
    (tmp_path / "medfaith.toml").write_text('[llm]\nmodel = "m"\nbase_url = "http://me:secret@h/v1"\n')
    settings = load_settings(tmp_path)
    assert settings.llm.cassette == tmp_path / "medfaith-llm.jsonl"
    assert "secret" not in repr(settings)


@pytest.mark.parametrize(
    ("heading", "kind"), [("slice", SliceSettings), ("project", Settings), ("teacher", LlmSettings)]
)
def test_the_documented_defaults_are_those_of_the_code(heading, kind):
    page = (Path(__file__).parents[2] / "docs" / "options.md").read_text(encoding="utf-8")
    table = page.split(f"| key of {'a' if heading == 'slice' else 'the'} {heading} |")[1].split("\n\n")[0]
    told = {}
    for names, given in re.findall(r"^\| (`[^|]+) \| (`[^|]+) \|", table, re.MULTILINE):
        told |= dict(zip(re.findall(r"`(\w+)`", names), re.findall(r"`([^`]+)`", given), strict=True))
    set_to = {f.name: f.default for f in dataclasses.fields(kind)}
    plain = {name: value.strip('"[]') for name, value in told.items()}
    assert plain == {
        name: (", " if name == "temperatures" else '", "').join(
            one if isinstance(one, str) else f"{one:g}" for one in set_to[name]
        )
        if isinstance(set_to[name], tuple)
        else str(set_to[name]).replace("False", "false")
        for name in told
    }
    assert len(told) >= 4


def test_the_workflows_keep_the_default_cache():
    for name in ("github.yml", "gitlab.yml"):
        assert defaults.CACHE in (TEMPLATES / name).read_text(encoding="utf-8")
