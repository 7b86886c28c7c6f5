"""The docs name everything there is, and nothing that is not; their code runs, their links lead somewhere."""

import ast
import dataclasses
import importlib.util
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_medfaith
from pytest_medfaith import config, plugin
from pytest_medfaith.cards.json_card import report_schema
from pytest_medfaith.config import load_settings
from pytest_medfaith.datasets.registry import adapters
from pytest_medfaith.gates.expressions import parse_gate
from pytest_medfaith.metrics.audit import AUDIT_METRICS
from pytest_medfaith.metrics.checker_scores import LABEL_METRICS
from pytest_medfaith.metrics.corrected import CORRECTED_METRICS
from pytest_medfaith.metrics.project import declared_metrics
from pytest_medfaith.metrics.registry import METRICS
from pytest_medfaith.models.shipped import default_weights
from pytest_medfaith.records import Case, Chunk, PairScore, Response
from pytest_medfaith.run import marker

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

REPO = Path(__file__).parents[2]
DOCS = REPO / "docs"
RUNNABLE = "<!-- runnable -->"
FENCE = re.compile(
    r"^(?P<before>[^\n]*)\n```(?P<language>[a-z]+)(?: [^\n]*)?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)


def load_tables():
    spec = importlib.util.spec_from_file_location("docs_tables", DOCS / "tables.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


TABLES = load_tables()
COMMANDS = TABLES.commands()
SOURCES = {path.name: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))}
PAGES = SOURCES
README = (REPO / "README.md").read_text(encoding="utf-8")
EVERYTHING = "\n".join([*PAGES.values(), README])


@dataclasses.dataclass(frozen=True)
class Block:
    page: str
    language: str
    body: str
    runnable: bool


def blocks() -> Iterator[Block]:
    for page, text in {**SOURCES, "README.md": README}.items():
        for found in FENCE.finditer(f"\n{text}"):
            yield Block(page, found["language"], found["body"], found["before"].strip() == RUNNABLE)


def of_language(language):
    chosen = [block for block in blocks() if block.language == language]
    return pytest.mark.parametrize(
        "block", chosen, ids=[f"{block.page}-{number}" for number, block in enumerate(chosen)]
    )


class RecordedOptions:
    """Takes the place of pytest's parser and notes what the plugin adds."""

    def __init__(self):
        self.names = []

    def getgroup(self, *_, **__):
        return self

    def addoption(self, *names, **_):
        self.names += names

    def addini(self, name, *_, **__):
        self.names.append(name)


def plugin_options():
    parser = RecordedOptions()
    plugin.pytest_addoption(parser)
    return parser.names


FIXTURES = [name for name in vars(plugin) if name.startswith("medfaith_")]


def in_table(name, page):
    """Returns whether a row of a table in `page` begins with `name`, alone or in a list."""
    return any(
        re.search(rf"`{re.escape(name)}(?: [A-Z/]+)?`", row.split(" | ")[0])
        for row in PAGES[page].splitlines()
        if row.startswith("| ")
    )


@pytest.mark.parametrize("name", plugin_options())
def test_every_option_has_its_row(name):
    assert in_table(name, "options.md")


@pytest.mark.parametrize("name", FIXTURES)
def test_every_fixture_has_its_row(name):
    assert in_table(name, "fixtures.md")


@pytest.mark.parametrize("name", marker.KEYS)
def test_every_argument_of_the_marker_has_its_row(name):
    assert in_table(name, "options.md")


@pytest.mark.parametrize(
    "kind",
    [config.SliceSettings, config.Settings, config.LlmSettings, config.RagSettings],
    ids=lambda kind: kind.__name__,
)
def test_every_setting_has_its_row(kind):
    assert [field.name for field in dataclasses.fields(kind) if not in_table(field.name, "options.md")] == []


@pytest.mark.parametrize(
    "metric",
    [*METRICS.values(), *AUDIT_METRICS.values(), *CORRECTED_METRICS.values(), *LABEL_METRICS.values()],
    ids=lambda metric: metric.name,
)
def test_every_metric_has_its_row_with_definition_and_source(metric):
    row = next(line for line in PAGES["metrics.md"].splitlines() if line.startswith(f"| `{metric.name}` |"))
    assert metric.definition in row
    assert metric.source in row
    assert f"| {metric.direction} |" in row


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_section_and_explains_its_arguments(name):
    section = PAGES["commands.md"].split(f"\n## medfaith {name}\n")[1].split("\n## ")[0]
    assert section.strip()[0].isupper()
    assert [
        row for row in section.splitlines() if row.startswith("| `") and row.split(" | ")[1].strip() == ""
    ] == []


@pytest.mark.parametrize("name", pytest_medfaith.__all__)
def test_every_public_name_has_its_section(name):
    assert f"\n### `{name}`\n" in PAGES["api.md"]


@pytest.mark.parametrize("name", adapters())
def test_every_data_set_has_its_row(name):
    assert in_table(name, "recipes.md")


@pytest.mark.parametrize(
    ("section", "kind"), [("Chunk", Chunk), ("Case", Case), ("Response", Response), ("Pair", PairScore)]
)
def test_a_format_shows_every_field_in_a_line_that_reads_back(section, kind):
    text = SOURCES["formats.md"].split(f"\n## {section}\n")[1]
    row = json.loads(re.search(r"```json\n(.*?)\n```", text, re.DOTALL)[1])
    fields = {field.name for field in dataclasses.fields(kind)} - {"extra"}
    assert row.keys() == fields
    filled = (
        {**row, "contexts": [{**chunk, "text": "x"} for chunk in row["contexts"]]}
        if "contexts" in row
        else row
    )
    assert kind.from_dict(filled).extra == {}


def test_nothing_is_named_that_is_not_there():
    named = set(re.findall(r"--medfaith-[a-z-]*[a-z]", EVERYTHING))
    assert named <= set(plugin_options())
    fixtures = set(re.findall(r"(?<![.\w])medfaith_[a-z_]+\b", EVERYTHING))
    assert fixtures <= set(FIXTURES)
    typed = re.findall(r"(?:^\$ |`)medfaith ([a-z][^`\n]*)", EVERYTHING, re.MULTILINE)
    assert [line for line in typed if not any(f"{line} ".startswith(f"{name} ") for name in COMMANDS)] == []


def typed(program):
    """Returns the arguments of every call of `program` in the consoles that README and docs show."""
    consoles = re.findall(r"^```console\n(.*?)^```$", EVERYTHING, re.MULTILINE | re.DOTALL)
    lines = [line.removeprefix("$ ") for console in consoles for line in console.splitlines()]
    calls = [call.strip() for line in lines for call in line.split(" && ")]
    return [shlex.split(call, comments=True)[1:] for call in calls if call.partition(" ")[0] == program]


@pytest.mark.parametrize("arguments", typed("medfaith"), ids=" ".join)
def test_a_shown_command_is_one_that_the_command_line_takes(arguments):
    name = next(name for name in COMMANDS if " ".join(arguments[: len(name.split())]) == name)
    COMMANDS[name].make_context(name, arguments[len(name.split()) :])  # an error where it does not


def test_a_shown_script_is_there_and_has_the_options_shown():
    shown = re.findall(r"python (bench/\w+\.py)([^`\n]*)", EVERYTHING)
    assert len(shown) >= 5
    for script, arguments in shown:
        code = (REPO / script).read_text(encoding="utf-8")
        assert [
            option for option in re.findall(r"--[a-z-]+", arguments) if f'"{option}"' not in code
        ] == [], script


def test_a_shown_gate_parses():
    gates = [
        call[place + 1]
        for call in typed("pytest")
        for place, word in enumerate(call)
        if word == "--medfaith-gate"
    ]
    assert gates
    for gate in gates:
        assert parse_gate(gate).expression == gate


def test_a_marker_that_asks_for_nothing_known_is_an_error():
    with pytest.raises(
        ValueError,
        match=r"'<!-- table: metric claims -->' asks for an unknown table; expected one of .*metrics",
    ):
        TABLES.written("<!-- table: metric claims -->")
    with pytest.raises(ValueError, match="no metric is of the family 'claim'"):
        TABLES.written("<!-- table: metrics claim -->")


@pytest.mark.parametrize("page", sorted(SOURCES))
def test_a_page_is_committed_as_it_is_written(page):
    """A reader of the repository sees it whole; what differs is mended by `make pages`."""
    assert SOURCES[page] == TABLES.written(SOURCES[page])


def test_what_is_written_is_the_same_the_next_time_and_holds_what_was_asked_for():
    page = (
        "A\n\n<!-- table: metrics claims -->\n\nB\n\n<!-- file: docs/pages.css -->\n```css\n```\n\n<!-- "
        "runnable -->\n```python\nx = 1\n```\n"
    )
    first = TABLES.written(page)
    assert TABLES.written(first) == first
    assert "| `faithfulness` |" in first.partition("\nB\n")[0]
    assert (DOCS / "pages.css").read_text(encoding="utf-8").strip() in first
    assert first.endswith("```\n\n<!-- runnable -->\n```python\nx = 1\n```\n")
    stale = first.replace("| `faithfulness` |", "| `gone` |").replace("```css\n", "```css\nold\n")
    assert TABLES.written(stale) == first


def test_no_page_waits_for_a_build_to_be_whole():
    for name, text in PAGES.items():
        assert "--8<--" not in text, name
        assert text.count("<!-- table: ") == text.count("<!-- end of table -->"), name
        assert re.findall(r"^```[a-z]+[^\n]*\n```$", text, re.MULTILINE) == [], name


def test_the_checkers_figures_are_those_of_its_card():
    value = {"value": 0.71234, "low": 0.65, "high": 0.7561}
    table = TABLES.quality_table({"measured": {"healthver": {"n": 1917, "f1": value, "accuracy": value}}})
    assert (
        table.splitlines()[-1]
        == "| `healthver` | 1,917 | 0.712 [0.650, 0.756] | 0.712 [0.650, 0.756] | - | - |"
    )
    assert "holds no measured figures" in TABLES.quality_table({"scoring": {}})
    assert TABLES.checker_quality("") in PAGES["checkers.md"]
    assert TABLES.checker_quality("fast") in PAGES["checkers.md"]


def test_the_scoreboard_has_every_measured_set_of_both_cards_beside_published_figures():
    value = {"value": 0.71234, "low": 0.65, "high": 0.7561}
    strong = {
        "measured": {
            "healthver": {"n": 1917, "f1": value, "accuracy": value},
            "new": {"n": 5, "accuracy": value},
        }
    }
    fast = {
        "measured": {"healthver": {"n": 20, "f1": value, "accuracy": value}, "old": {"n": 7, "f1": value}}
    }
    lines = TABLES.scoreboard_table({"default": strong, "fast": fast}).splitlines()
    shown = "0.712 [0.650, 0.756]"
    split, published = TABLES.SPLITS["healthver"], TABLES.PUBLISHED["healthver"]
    assert (
        lines[2]
        == f"| `healthver` | {split} | 1,917 | {shown} | {shown} | 20 | {shown} | {shown} | {published} |"
    )
    assert lines[3] == f"| `new` | - | 5 | - | {shown} | - | - | - | - |"
    assert lines[4] == f"| `old` | - | - | - | - | 7 | {shown} | - | - |"
    assert "default" not in TABLES.scoreboard_table({"fast": fast})  # where the weights are absent


def test_the_scoreboard_page_is_that_of_the_cards_and_names_the_published_figures():
    page = PAGES["scoreboard.md"]
    assert TABLES.scoreboard("") in page
    card = json.loads((REPO / "pytest_medfaith/models/nli/card.json").read_text(encoding="utf-8"))
    assert [name for name in card["measured"] if f"\n| `{name}` | " not in page] == []
    assert card["measured"].keys() <= TABLES.SPLITS.keys()
    assert all(f"| {figures} |" in page for figures in TABLES.PUBLISHED.values())
    assert TABLES.PUBLISHED.keys() <= card["measured"].keys()


# The rows of the README's table of figures, by words of their first cell.
README_ROWS = {
    "SciFact": "scifact",
    "abstracts that BM25 finds": "scifact_found",
    "four texts": "clusters",
    "answers to questions": "answers",
    "LLM-written pairs": "written",
    "kinds of errors": "kinds",
    "LLM-written claims": "published",
    "other side": "turned",
    "Check-COVID dev, whole": "check_covid",
    "Check-COVID dev, the sentences": "check_covid_sentences",
    "HealthVer": "healthver",
    "NLI4CT": "nli4ct",
    "K-QA": "kqa",
    "LLM-written answers": "responses",
}


def test_the_readme_shows_the_figures_of_the_checkers_card():
    card = json.loads((default_weights() / "card.json").read_text(encoding="utf-8"))
    assert set(README_ROWS.values()) == card["measured"].keys()
    for words, name in README_ROWS.items():
        row = next(line for line in README.splitlines() if line.startswith("| ") and words in line)
        measured = card["measured"][name]
        expected = [
            measured[metric][end]
            for metric in ("f1", "accuracy")
            if metric in measured
            for end in ("value", "low", "high")
        ]
        assert [float(number) for number in re.findall(r"\d\.\d+", row)] == pytest.approx(
            expected, abs=0.00501
        ), row
        assert f"| {measured['n']:,} |" in row
    thresholds = re.findall(
        r"contradict score [<>]?[0-9.]+, threshold ([0-9.]+)", README + SOURCES["quickstart.md"]
    )
    assert {float(threshold) for threshold in thresholds} == {card["scoring"]["contradict_threshold"]}


def test_the_schema_of_the_report_is_published_whole():
    schemas = [
        json.loads(block.body) for block in blocks() if block.language == "json" and "$schema" in block.body
    ]
    assert schemas == [report_schema()]


@of_language("python")
def test_python_compiles(block):
    ast.parse(block.body)


@pytest.mark.parametrize(
    "block", [block for block in blocks() if block.runnable], ids=lambda block: block.page
)
def test_runnable_python_runs(block, tmp_path, monkeypatch, request):
    assert block.language == "python"
    if "audit_checker" in block.body:
        request.getfixturevalue("word_vectors")
    monkeypatch.chdir(tmp_path)
    exec(compile(block.body, block.page, "exec"), {"__name__": "docs"})  # noqa: S102 - that is what is tested


def test_a_marker_of_runnable_code_stands_right_before_code():
    for page, text in {**SOURCES, "README.md": README}.items():
        assert len(re.findall(rf"^{RUNNABLE}$", text, re.MULTILINE)) == sum(
            block.runnable for block in blocks() if block.page == page
        ), page


@of_language("toml")
def test_toml_is_read_by_the_code_that_reads_it(block, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(
        REPO / "examples" / "own_metric"
    )  # whose settings name the metric of the example
    table = tomllib.loads(block.body)
    if "medfaith" in table.get("tool", {}):
        (tmp_path / "pyproject.toml").write_text(block.body)
        settings = load_settings(tmp_path)
        assert list(settings.slices) == list(table["tool"]["medfaith"].get("slices", {}))
        declared = declared_metrics(settings.metrics)
        assert all(parse_gate(gate, declared) for one in settings.slices.values() for gate in one.gates)


@of_language("json")
def test_json_parses(block):
    json.loads(block.body)


@of_language("yaml")
def test_yaml_parses(block):
    yaml = pytest.importorskip("yaml", reason="comes with the extra docs")
    assert yaml.safe_load(block.body)


def anchors(page):
    """Returns the anchors of a page's headings, as Python-Markdown's toc makes them."""
    text = re.sub(r"^```.*?^```$", "", PAGES[page], flags=re.MULTILINE | re.DOTALL)
    headings = [
        re.sub(r"[^\w\s-]", "", heading).strip().lower()
        for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    ]
    return {re.sub(r"[-\s]+", "-", heading) for heading in headings}


def links(text):
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    return [
        target for target in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"https?:|mailto:", target)
    ]


@pytest.mark.parametrize("page", PAGES)
def test_links_between_pages_lead_somewhere(page):
    for target in links(PAGES[page]):
        file, _, anchor = target.partition("#")
        assert (file or page) in PAGES or ((DOCS / file).suffix == ".svg" and (DOCS / file).is_file()), target
        assert not anchor or anchor in anchors(file or page), target


def test_links_of_the_readme_lead_somewhere():
    for target in links(README):
        file, _, anchor = target.partition("#")
        assert (REPO / file).exists(), target
        assert not anchor or not file.startswith("docs/") or anchor in anchors(file.removeprefix("docs/")), (
            target
        )


def test_every_page_is_in_the_navigation():
    named = re.findall(r"([\w-]+\.md)$", (REPO / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(named) == sorted(PAGES)


def test_the_site_builds_strictly_and_asks_nothing_of_other_hosts(tmp_path):
    pytest.importorskip("mkdocs", reason="comes with the extra docs")
    pytest.importorskip("material", reason="comes with the extra docs")
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--site-dir",
        str(tmp_path),
    ]  # quiet, it would count no warning
    built = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[-2000:]
    for path in tmp_path.rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|img|link)\b[^>]*?\b(?:src|href)=[\"']?(https?:[^\"'\s>]+)",
            path.read_text(encoding="utf-8"),
        )
        assert [address for address in loaded if "canonical" not in address] == [], path.name


def test_the_picture_of_the_house_shows_every_room_and_is_current():
    drawn = TABLES.house_svg(PAGES["architecture.md"])
    rooms = {
        path.stem for path in (REPO / "pytest_medfaith").iterdir() if path.is_dir() or path.suffix == ".py"
    }
    assert rooms - {"__init__", "__pycache__", "py"} <= set(re.findall(r">(\w+)</text>", drawn))
    assert (DOCS / "house.svg").read_text(encoding="utf-8") == drawn, "python docs/tables.py draws it anew"
