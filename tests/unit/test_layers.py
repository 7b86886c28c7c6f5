"""Imports go downwards only; this file is the table."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "pytest_medfaith"
# The top layer's rooms build on each other in this order.
TOP_ORDER = ["run", "plugin", "commands", "cli"]
LAYERS = [
    {"plain"},
    {"errors"},
    {"frames", "records"},
    {"english", "jsonl", "models"},
    {"answers"},
    {"entities", "quantities"},
    {"corpus", "claims", "retrieval", "metrics", "config", "safety"},
    {"checking"},
    {"datasets", "evaluation", "audit", "unread"},
    {"gates", "cards"},
    {"asserts", "testing", "compare", "calibration"},
    set(TOP_ORDER),
]


def layer_of(room: str) -> int:
    return next(number for number, rooms in enumerate(LAYERS) if room in rooms)


def imports_of(path: Path) -> set[str]:
    """Returns the dotted names below the package that `path` imports anywhere, also inside functions; typing-only ones aside."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    found = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.ImportFrom)
            and (node.module or "").startswith("pytest_medfaith.")
            and id(node) not in typing_only
        ):
            found.add(node.module.removeprefix("pytest_medfaith."))
    return found


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_imports_go_downwards(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    if parts == ("__init__",):
        return
    room = parts[0]
    for name in imports_of(path):
        target = name.split(".")[0]
        if target == room:
            continue
        if room in TOP_ORDER and target in TOP_ORDER:
            assert TOP_ORDER.index(target) < TOP_ORDER.index(room), f"{path.name} imports {name}"
        else:
            assert layer_of(target) < layer_of(room), (
                f"{path.name} in layer {layer_of(room)} imports {name} of layer {layer_of(target)}"
            )


def test_every_room_has_a_layer():
    rooms = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in PACKAGE.rglob("*.py")} - {
        "__init__"
    }
    assert rooms == {room for rooms in LAYERS for room in rooms}
