"""Writes into the pages what the code knows better: metrics, commands, public names, measured quality, files.

A page asks for a table with the comment `<!-- table: metrics claims -->` on a line, and the table ends with
`<!-- end of table -->`. The comment `<!-- file: examples/own_rag/my_rag.py -->` before a block of code makes
the block that file. The written pages are committed, so that a reader of the repository sees them whole. A
test holds them current:

    python docs/tables.py          # or: make pages
"""

# ruff: noqa: INP001, T201 - a script, no package; it says what it wrote
from __future__ import annotations

import dataclasses
import inspect
import json
import math
import re
import sys
import textwrap
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))
from picture import house_svg  # noqa: E402

_TABLE = re.compile(
    r"^(?P<marker><!-- table: (?P<name>[a-z-]+)(?: (?P<argument>\w+))? -->)$"
    r"(?:\n(?:(?!<!-- table: ).)*?^<!-- end of table -->$)?",
    re.MULTILINE | re.DOTALL,
)
_FILE = re.compile(
    r"^(?P<head><!-- file: (?P<path>\S+) -->\n(?P<fence>```)[a-z]+(?: [^\n]*)?\n)"
    r"(?:(?!```)[^\n]*\n)*(?P=fence)$",
    re.MULTILINE,
)
_CODE_WIDTH = 80
_SECTION = re.compile(r"^(Args|Attributes|Raises|Returns):\n((?:^[ ]{4}.*\n?|^\n)*)", re.MULTILINE)


def written(markdown: str) -> str:
    """Returns the page `markdown` with the tables and files that its comments ask for.

    A page that is current comes back unchanged.

    Raises:
        ValueError: a comment asks for something unknown.
    """

    def with_table(found: re.Match[str]) -> str:
        if found["name"] not in _TABLES:
            raise ValueError(
                f"{found['marker']!r} asks for an unknown table; expected one of {', '.join(_TABLES)}"
            )
        table = _TABLES[found["name"]](found["argument"] or "").strip("\n")
        return f"{found['marker']}\n\n{table}\n\n<!-- end of table -->"

    def with_file(found: re.Match[str]) -> str:
        text = (DOCS.parent / found["path"]).read_text(encoding="utf-8").strip("\n")
        return f"{found['head']}{text}\n{found['fence']}"

    return _FILE.sub(with_file, _TABLE.sub(with_table, markdown))


def write_pages() -> list[Path]:
    """Writes every page anew, and the picture of the house, and returns those that were not current."""
    changed = []
    for path in sorted(DOCS.glob("*.md")):
        before = path.read_text(encoding="utf-8")
        after = written(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            changed.append(path)
    house, drawn = DOCS / "house.svg", house_svg((DOCS / "architecture.md").read_text(encoding="utf-8"))
    if not house.is_file() or house.read_text(encoding="utf-8") != drawn:
        house.write_text(drawn, encoding="utf-8")
        changed.append(house)
    return changed


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def metrics(family: str) -> str:
    """Returns the table of the metrics of `family`."""
    from pytest_medfaith.metrics.registry import METRICS

    return _metric_table([metric for metric in METRICS.values() if metric.family == family], family)


def audit_metrics(_: str) -> str:
    """Returns the table of what an audit measures."""
    from pytest_medfaith.metrics.audit import AUDIT_METRICS

    return _metric_table(list(AUDIT_METRICS.values()), "audit")


def corrected_metrics(_: str) -> str:
    """Returns the table of the rates that labels correct."""
    from pytest_medfaith.metrics.corrected import CORRECTED_METRICS

    return _metric_table(list(CORRECTED_METRICS.values()), "corrected")


def label_metrics(_: str) -> str:
    """Returns the table of what a checker is scored by against labels."""
    from pytest_medfaith.metrics.checker_scores import LABEL_METRICS

    return _metric_table(list(LABEL_METRICS.values()), "labels")


def _metric_table(found: Sequence[Any], family: str) -> str:
    if not found:
        raise ValueError(f"no metric is of the family {family!r}")
    rows = [
        (
            f"`{one.name}`",
            f"{one.definition}<br><small>{one.source}</small>",
            one.direction,
            _range(one.range),
        )
        for one in found
    ]
    return _table(("name", "definition and source", "better", "range"), rows)


def _range(bounds: tuple[float, float]) -> str:
    low, high = bounds
    return f"{low:g} and up" if math.isinf(high) else f"{low:g} to {high:g}"


def checker_quality(name: str) -> str:
    """Returns the measured quality of the shipped checker `name`, as its model card holds it.

    An empty `name` is "default". A card without figures gives a sentence that says so. The `measured` of a
    card is {set: {"n": rows, metric: {"value", "low", "high"}}}, with the metrics of `LABEL_METRICS`.
    """
    from pytest_medfaith.models.shipped import MODELS, default_weights

    folder = MODELS / "nli" if name == "fast" else default_weights()
    return quality_table(json.loads((folder / "card.json").read_text(encoding="utf-8")))


def quality_table(card: Mapping[str, Any]) -> str:
    """Returns the table of a card's `measured`."""
    measured = card.get("measured")
    if not measured:
        return "The model card of this version holds no measured figures, so none are given here."
    shown = ("f1", "accuracy", "ece", "roc_auc")
    rows = [
        (f"`{name}`", f"{row['n']:,}", *(_interval(row.get(metric)) for metric in shown))
        for name, row in measured.items()
    ]
    return _table(("set", "n", "macro-F1", "accuracy", "ECE", "ROC-AUC"), rows)


def _interval(value: Mapping[str, float] | None) -> str:
    return "-" if value is None else f"{value['value']:.3f} [{value['low']:.3f}, {value['high']:.3f}]"


# Which part of which data a measured set is.
SPLITS: Mapping[str, str] = {
    "healthver": "HealthVer, development split",
    "responses": "recorded answers of this repository, sentences against all contexts",
    "check_covid_sentences": "Check-COVID, development split, the labelled sentences",
    "scifact": "SciFact, a fifth of the training claims kept out, whole abstracts",
    "kinds": "`data/kinds`, a tenth kept out",
    "scifact_found": "the same SciFact claims, abstracts that BM25 finds",
    "check_covid": "Check-COVID, development split, whole abstracts",
    "nli4ct": "NLI4CT, development split",
    "published": "`data/published`, a tenth kept out",
    "written": "`data/silver`, a tenth kept out",
    "turned": "`data/turned`, a tenth kept out",
    "kqa": "K-QA, all statements of physicians",
    "answers": "`data/answers`, a tenth kept out",
    "clusters": "`data/clusters`, a tenth kept out",
}
# Published macro-F1, by the measured set that is most similar; docs/scoreboard.md says where each figure is
# from and what differs.
PUBLISHED: Mapping[str, str] = {
    "healthver": "test split: frontier LLM asked plainly 0.551, with grounded decomposition 0.634",
    "scifact": "frontier LLM 0.80 to 0.84; dev split: DeBERTa-v3-base, fine-tuned, 0.786",
}


def scoreboard(_: str) -> str:
    """Returns the table of every measured set: figures of the shipped checkers' cards, and published ones."""
    cards = {
        "default": DOCS.parent / "weights" / "pytest_medfaith_weights" / "default" / "card.json",
        "fast": DOCS.parent / "pytest_medfaith" / "models" / "nli" / "card.json",
    }
    return scoreboard_table(
        {name: json.loads(path.read_text(encoding="utf-8")) for name, path in cards.items() if path.is_file()}
    )


def scoreboard_table(cards: Mapping[str, Mapping[str, Any]]) -> str:
    """Returns the table of every set that a card holds; where the card of a checker lacks it is a dash.

    Args:
        cards: {checker: its model card}.
    """
    measured = {checker: card.get("measured", {}) for checker, card in cards.items()}
    names = dict.fromkeys(name for sets in measured.values() for name in sets)
    header = [
        "set",
        "data and split",
        *(f"`{checker}`: {what}" for checker in measured for what in ("n", "macro-F1", "accuracy")),
        "published macro-F1",
    ]
    rows = [
        (
            f"`{name}`",
            SPLITS.get(name, "-"),
            *(cell for sets in measured.values() for cell in _scores(sets.get(name))),
            PUBLISHED.get(name, "-"),
        )
        for name in names
    ]
    return _table(header, rows)


def _scores(row: Mapping[str, Any] | None) -> tuple[str, str, str]:
    return (
        ("-", "-", "-")
        if row is None
        else (f"{row['n']:,}", _interval(row.get("f1")), _interval(row.get("accuracy")))
    )


def encoder_quality(_: str) -> str:
    """Returns how well sentence encoders retrieve, as the card of the shipped one holds it.

    Its `measured` is {set: {"queries", "documents", "encoders"}}; `encoders` is
    {name: {measure: {"value", "low", "high"}}}.
    """
    from pytest_medfaith.models.shipped import ENCODER

    measured = json.loads(ENCODER.with_name("card.json").read_text(encoding="utf-8"))["measured"]
    shown = ("nDCG@10", "difference", "R@10", "R@100")
    rows = [
        (
            f"`{name}`",
            f"{found['queries']:,} / {found['documents']:,}",
            encoder,
            *(_interval(row.get(measure)) for measure in shown),
        )
        for name, found in measured.items()
        for encoder, row in found["encoders"].items()
    ]
    return _table(
        (
            "set",
            "queries / documents",
            "encoder",
            "nDCG@10",
            "its difference, paired",
            "recall@10",
            "recall@100",
        ),
        rows,
    )


def datasets(_: str) -> str:
    """Returns the public data sets that a slice can name, with what is read and under which terms."""
    from pytest_medfaith.datasets.registry import adapters

    rows = [(f"`{one.name}`", one.reads, one.licence, f"[page]({one.url})") for one in adapters().values()]
    return _table(("name", "what is read", "licence", "where it is from"), rows)


def encoders(_: str) -> str:
    """Returns the families of encoders with the values that their authors declare."""
    from pytest_medfaith.retrieval.known_encoders import KNOWN_ENCODERS

    rows = [
        (
            f"`{record.name}`",
            "<br>".join(f"`{model}`" for model in record.models) or "the model that you name",
            record.reading,
            record.source,
        )
        for record in KNOWN_ENCODERS.values()
    ]
    return _table(("family", "models", "read by", "source"), rows)


def command_sections(_: str) -> str:
    """Returns a section for every command: what it does, its arguments and its options."""
    return "\n\n".join(f"## medfaith {name}\n\n{_command_text(found)}" for name, found in commands().items())


def _command_text(found: Any) -> str:
    paragraphs = (found.help or "").strip().split("\n\n")
    texts = [
        f"```console\n$ {part.removeprefix('Example:').strip()}\n```"
        if part.startswith("Example:")
        else re.sub(r"\s+", " ", part)
        for part in paragraphs
    ]
    rows = [_parameter_row(parameter) for parameter in found.params if parameter.name != "help"]
    return "\n\n".join(
        [*texts, *([_table(("argument", "what it is", "where left out"), rows)] if rows else [])]
    )


def commands() -> dict[str, Any]:
    """Returns the commands by what is typed after `medfaith`: "check", "baseline list"."""
    import typer

    from pytest_medfaith.cli import app

    return dict(_commands(typer.main.get_command(app), ""))


def _commands(group: Any, before: str) -> Iterator[tuple[str, Any]]:
    for name, found in group.commands.items():
        if hasattr(found, "commands"):
            yield from _commands(found, f"{before}{name} ")
        else:
            yield f"{before}{name}", found


def _parameter_row(parameter: Any) -> tuple[str, str, str]:
    is_argument = parameter.param_type_name == "argument"
    name = (
        (parameter.metavar or parameter.name.upper())
        if is_argument
        else ", ".join([*parameter.opts, *parameter.secondary_opts])
    )
    default = parameter.default
    shown = (
        "must be given"
        if parameter.required
        else ""
        if default is None or default is False or default in ("", [])
        else f"`{default}`"
    )
    return f"`{name}`", getattr(parameter, "help", None) or "", shown


def api(name: str) -> str:
    """Returns the signature and the description of a public name."""
    import pytest_medfaith

    found = getattr(pytest_medfaith, name)
    head = f"### `{name}`\n\n```text\n{_signature(found)}\n```"
    if dataclasses.is_dataclass(found) and name != "Checker":
        return "\n\n".join([head, _described(found), _field_table(found)])
    methods = [
        f"**`{name}.{method}`**: {_described(getattr(found, method))}" for method in _METHODS.get(name, ())
    ]
    return "\n\n".join([head, _described(found), *methods])


def keys(kind: str) -> str:
    """Returns the table of the keys under which a `kind` is read, and of the tools that write each key.

    A `kind` is question, reference, answer or contexts.
    """
    from pytest_medfaith.answers import given, row_keys

    tables = {
        "question": row_keys.QUESTION_KEYS,
        "reference": row_keys.REFERENCE_KEYS,
        "answer": given.ANSWER_KEYS,
        "contexts": given.CONTEXT_KEYS,
    }
    return _table(["key", "who writes it"], [(f"`{key}`", who) for key, who in tables[kind].items()])


_METHODS = {"Checker": ("__call__", "score", "decide")}


def _signature(found: Any) -> str:
    """Returns the call with its arguments, one a line where they do not fit on one."""
    arguments = list(_arguments(found))
    line = f"{found.__name__}({', '.join(arguments)})"
    return (
        line
        if len(line) <= _CODE_WIDTH
        else "\n".join([f"{found.__name__}(", *(f"    {argument}," for argument in arguments), ")"])
    )


def _arguments(found: Any) -> Iterator[str]:
    if dataclasses.is_dataclass(found):
        yield from (field.name for field in _fields(found))
        return
    star = False
    for parameter in inspect.signature(found).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            star = True
            yield "*"
        text = str(parameter.replace(annotation=parameter.empty))
        yield re.sub(r"<function (\w+) at 0x[0-9a-f]+>", r"\1", text)


def _fields(found: Any) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(found) if field.name != "extra"]


def _field_table(found: Any) -> str:
    hints = typing.get_type_hints(found)
    rows = [(f"`{field.name}`", f"`{_type(hints[field.name])}`", _default(field)) for field in _fields(found)]
    return _table(("field", "type", "where left out"), rows)


def _type(kind: Any) -> str:
    text = kind.__name__ if isinstance(kind, type) and not typing.get_args(kind) else str(kind)
    return re.sub(r"(?:typing|collections\.abc|pytest_medfaith\.records)\.", "", text)


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f"`{field.default!r}`"
    return "must be given" if field.default_factory is dataclasses.MISSING else "empty"


def _described(found: Any) -> str:
    """Returns a docstring in Google's style as Markdown: its text, then arguments and errors as lists."""
    text = inspect.getdoc(found) or ""
    listed = _SECTION.sub(lambda section: f"\n{_listed(section[1], section[2])}", f"{text}\n").strip()
    return re.sub(r"\n{3,}", "\n\n", listed)


_TITLES = {"Args": "Arguments", "Attributes": "Fields", "Returns": "Returns", "Raises": "Raises"}


def _listed(title: str, body: str) -> str:
    items = re.split(r"\n(?=\S)", textwrap.dedent(body).strip())
    entries = [re.sub(r"\s+", " ", item).partition(": ") for item in items]
    return (
        f"{_TITLES[title]}:\n\n"
        + "\n".join(f"- `{name}`: {what}" if what else f"- {name}" for name, _, what in entries)
        + "\n"
    )


_TABLES: dict[str, Callable[[str], str]] = {
    "api": api,
    "audit-metrics": audit_metrics,
    "checker-quality": checker_quality,
    "commands": command_sections,
    "corrected-metrics": corrected_metrics,
    "datasets": datasets,
    "encoder-quality": encoder_quality,
    "encoders": encoders,
    "keys": keys,
    "label-metrics": label_metrics,
    "metrics": metrics,
    "scoreboard": scoreboard,
}


if __name__ == "__main__":
    for page in write_pages():
        print(f"{page}: written")
