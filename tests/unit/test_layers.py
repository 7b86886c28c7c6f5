"""The house is as docs/architecture.md draws it: imports go downwards only, in no circle, in short chains."""

import ast
from functools import cache, lru_cache
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
PACKAGE = REPO / "pytest_medfaith"
LONGEST_CHAIN = 11  # modules that import each other in a row when they are loaded
LONGEST_MODULE, LONGEST_FUNCTION = 400, 45  # lines, docstrings and comments among them


def floors_of(page: str) -> list[set[str]]:
    """Returns the rooms of each floor, from the ground up, by the table of the page `architecture.md`."""
    rows = [
        line.strip("| \n").split("|") for line in page.splitlines() if line[:3] == "| *" or line[:4] == "| **"
    ]
    return [{cell.strip().strip("`") for cell in row[1].split(",")} for row in reversed(rows)]


FLOORS = floors_of((REPO / "docs" / "architecture.md").read_text(encoding="utf-8"))


@lru_cache
def modules() -> dict[str, Path]:
    """Returns the file of every module by its dotted name; a package is named after its folder."""
    paths = [*PACKAGE.rglob("*.py"), *(REPO / "training").glob("*.py")]
    names = {".".join(path.relative_to(REPO).with_suffix("").parts): path for path in paths}
    return {name.removesuffix(".__init__"): path for name, path in names.items()}


def is_typing_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports_of(name: str, *, at_load: bool = False) -> frozenset[str]:
    """Returns the modules that a module imports, without imports for type checkers.

    With `at_load` the imports inside functions are left out too.
    """
    left_out = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda) if at_load else ()
    found: set[str] = set()
    waiting: list[ast.AST] = [tree_of(modules()[name])]
    while waiting:
        node = waiting.pop()
        if is_typing_only(node):
            waiting += node.orelse  # type: ignore[attr-defined]
            continue
        if isinstance(node, left_out):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports relatively; the map names modules whole"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in modules() else str(node.module))
        waiting += ast.iter_child_nodes(node)
    return frozenset(found & modules().keys()) - {name, "pytest_medfaith"}


def room_of(name: str) -> str:
    return name.split(".")[1]


OURS = sorted(name for name in modules() if name.startswith("pytest_medfaith."))


def test_every_room_has_a_floor():
    rooms = {room_of(name) for name in OURS}
    assert sorted(room for floor in FLOORS for room in floor) == sorted(rooms)


def test_imports_go_downwards():
    floor = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
    upwards = [
        f"{name} imports {target}, which is not below it"
        for name in OURS
        for target in imports_of(name)
        if target.startswith("pytest_medfaith.")
        and room_of(target) != room_of(name)
        and floor[room_of(target)] >= floor[room_of(name)]
    ]
    assert upwards == []


def test_no_module_is_imported_by_what_it_imports():
    done: set[str] = set()

    def visit(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, f"a circle: {' > '.join((*way[way.index(name) :], name))}"
        if name not in done:
            for target in imports_of(name):
                visit(target, (*way, name))
            done.add(name)

    for name in modules():
        visit(name, ())


def test_chains_of_imports_are_short():
    @cache
    def longest(name: str) -> tuple[str, ...]:
        return (
            name,
            *max((longest(target) for target in imports_of(name, at_load=True)), key=len, default=()),
        )

    chain = max(map(longest, OURS), key=len)
    assert len(chain) <= LONGEST_CHAIN, " > ".join(chain)


def test_modules_and_functions_are_short():
    functions, too_long = (ast.FunctionDef, ast.AsyncFunctionDef), {}
    for name, path in modules().items():
        text = path.read_text(encoding="utf-8")
        if len(text.splitlines()) > LONGEST_MODULE:
            too_long[name] = len(text.splitlines())
        found = [node for node in ast.walk(tree_of(path)) if isinstance(node, functions)]
        lengths = {node.name: (node.end_lineno or node.lineno) - node.lineno + 1 for node in found}
        too_long |= {f"{name}.{one}": length for one, length in lengths.items() if length > LONGEST_FUNCTION}
    assert too_long == {}


def test_nothing_of_the_package_imports_training():
    for name in OURS:
        assert not [target for target in imports_of(name) if target.split(".")[0] == "training"], name


def test_importing_the_map_finds_what_a_circle_or_an_upward_import_would_be(tmp_path, monkeypatch):
    """The tests above can fail: a module that imports its importer, by either form of import, is seen."""
    (tmp_path / "pytest_medfaith").mkdir()
    low, high = tmp_path / "pytest_medfaith" / "low.py", tmp_path / "pytest_medfaith" / "high.py"
    low.write_text("def later():\n    from pytest_medfaith import high\n    return high\n")
    high.write_text("import pytest_medfaith.low\n")
    found = {"pytest_medfaith.low": low, "pytest_medfaith.high": high}
    monkeypatch.setattr(f"{__name__}.modules", lambda: found)
    imports_of.cache_clear()
    try:
        assert imports_of("pytest_medfaith.low") == {"pytest_medfaith.high"}
        assert imports_of("pytest_medfaith.low", at_load=True) == frozenset()
        assert imports_of("pytest_medfaith.high", at_load=True) == {"pytest_medfaith.low"}
        with pytest.raises(AssertionError, match="a circle"):
            test_no_module_is_imported_by_what_it_imports()
    finally:
        imports_of.cache_clear()


def test_nothing_reads_a_pickle():
    """A pickle runs whatever code is in it; records, messages, weights and vectors are kept otherwise."""
    forbidden = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
    found = {name: imports_of(name) & forbidden for name in modules()}
    assert {name: kinds for name, kinds in found.items() if kinds} == {}
