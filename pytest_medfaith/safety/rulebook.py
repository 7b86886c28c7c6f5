"""The safety rulebook: what no claim may advise.

It is read from TOML files, to which a project may add its own.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from pytest_medfaith.entities.linker import load_concepts
from pytest_medfaith.errors import DataError, nearest
from pytest_medfaith.quantities.quantity import Quantity
from pytest_medfaith.quantities.reader import read_quantities
from pytest_medfaith.safety.terms import TermIndex

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SHIPPED = Path(__file__).parent / "safety.toml"

_TERMS = ("drug", "condition", "with", "population", "signs", "together", "when", "unless")
_AMOUNTS = ("max_daily", "max_single")
_AGES = ("younger_than", "older_than")
LITRES_A_DAY = 1.44  # 1 mL/min in litres a day
_PERIODS: Mapping[str, float] = {"day": 1.0, "week": 7.0, "month": 365.25 / 12, "year": 365.25}
# {kind of rule: (keys that it must have, keys that it may have)}, beside id and source.
_KEYS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "dose": (
        ("drug",),
        (*_AMOUNTS, "not_more_often_than", "from_dose", "population", *_AGES, "when", "unless"),
    ),
    "contraindication": (("drug", "condition"), ("egfr_below", "when", "unless")),
    "interaction": (("drug", "with"), ("when", "unless")),
    "population": (("drug", "population"), (*_AGES, "when", "unless")),
    "triage": (("signs",), ("together", "younger_than", "unless")),
}


@dataclass(frozen=True, kw_only=True)
class SafetyRule:
    """A rule of the rulebook: at most 4 g of paracetamol a day, for example.

    Terms are phrases, or "@id" for a concept of the table of drugs and diseases.

    Attributes:
        kind: "dose", "contraindication", "interaction", "population" or "triage"; it decides which fields a
            rule has.
        id: its id.
        source: what it is taken from.
        drug: terms for the drug; for triage the signs of an emergency.
        against: terms for the condition, the second drug or the population that speak against the drug.
        when: the rule applies only where the text has one of these terms; () for always.
        unless: it does not apply where the text has one of these terms.
        max_daily: the largest amount a day; None for no limit, like the fields below.
        max_single: the largest single dose.
        gap: the least number of days between two doses of `from_dose` or more.
        from_dose: the least dose that `gap` counts.
        egfr_below: with a kidney function below this, in mL/min, the drug must not be given.
        younger_than: the drug is not for those younger than this, in days.
        older_than: the drug is not for those of this age, in days, and older.
    """

    kind: str
    id: str
    source: str
    drug: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    max_daily: Quantity | None = None
    max_single: Quantity | None = None
    gap: float | None = None
    from_dose: Quantity | None = None
    egfr_below: float | None = None
    younger_than: float | None = None
    older_than: float | None = None

    def excludes_age(self, age: Quantity) -> bool:
        """Returns whether everyone of this age is too young, or too old, for the drug."""
        young = (
            self.younger_than is not None
            and age.bound != "min"
            and (age.high < self.younger_than or (age.bound == "max" and age.high <= self.younger_than))
        )
        old = self.older_than is not None and age.bound != "max" and age.low >= self.older_than
        return young or old


# The names that switch off all rules, or those of a kind.
SWITCHES = ("safety", *(f"safety.{kind}" for kind in _KEYS))


@dataclass(frozen=True)
class Rulebook:
    """Safety rules, in the order of their files."""

    rules: tuple[SafetyRule, ...]

    @property
    def signature(self) -> str:
        """16 hexadecimal digits that change with any rule."""
        return hashlib.sha256(repr(self.rules).encode()).hexdigest()[:16]

    @cached_property
    def index(self) -> TermIndex:
        """An index of all terms of the rules, to find them in a text."""
        return TermIndex(
            term for rule in self.rules for term in (*rule.drug, *rule.against, *rule.when, *rule.unless)
        )

    @cached_property
    def _by_term(self) -> Mapping[str, Sequence[int]]:
        """{term: indices of the rules whose drug, sign or second drug it is}."""
        found: dict[str, list[int]] = {}
        for number, rule in enumerate(self.rules):
            for term in {*rule.drug, *(rule.against if rule.kind == "interaction" else ())}:
                found.setdefault(term, []).append(number)
        return found

    def about(self, terms: Iterable[str]) -> list[SafetyRule]:
        """Returns the rules whose drug, sign or (of an interaction) second drug is among a text's `terms`.

        They keep their order. No other rule can apply to the text.
        """
        numbers = {number for term in terms for number in self._by_term.get(term, ())}
        return [self.rules[number] for number in sorted(numbers)]

    def without(self, names: Collection[str]) -> Rulebook:
        """Returns the rulebook without the kinds of rules that `names` switch off.

        "safety" switches all kinds off, "safety.dose" the rules on doses.
        """
        kept = tuple(rule for rule in self.rules if not {"safety", f"safety.{rule.kind}"} & set(names))
        return self if kept == self.rules else Rulebook(kept)  # itself has its index already


@lru_cache(maxsize=8)
def load_rulebook(paths: tuple[Path, ...] = ()) -> Rulebook:
    """Returns the shipped rules and those of the files at `paths`, without those that a file switches off.

    Raises:
        DataError: a file is missing or no TOML, a kind or key is unknown, a key is missing, a value has a
            wrong form, an id is used twice, or `off` names no rule. The message names file, rule, key and
            value.
    """
    rules: dict[str, SafetyRule] = {}
    groups: dict[str, tuple[str, ...]] = {}
    off: set[str] = set()
    for path in (SHIPPED, *paths):
        table = _read(path)
        groups |= _groups(path, table, groups)
        for rule in _rules(path, table, groups):
            if rule.id in rules:
                raise DataError(
                    f"{path}: another rule has the id {rule.id!r}; give your rule another id, and write "
                    f"off = [{rule.id!r}] to replace that rule"
                )
            rules[rule.id] = rule
        off |= _switched_off(path, table, rules)
    return Rulebook(tuple(rule for rule in rules.values() if rule.id not in off))


def _read(path: Path) -> dict[str, Any]:
    """Returns the tables of a rulebook file.

    Raises:
        DataError: the file is missing or no TOML, or has a table of an unknown kind.
    """
    if not path.is_file():
        raise DataError(
            f"{path}: no such rulebook; check the path, or create it with [[dose]], [[interaction]], ... "
            "tables"
        )
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(
            f"{path}: not TOML ({error}); expected tables such as [[dose]] with id, drug, max_daily and "
            "source"
        ) from None
    for key, value in table.items():
        if key not in (*_KEYS, "off", "groups"):
            raise DataError(
                f"{path}: unknown kind of rule {key!r}{nearest(key, _KEYS)}; expected one of "
                f"{', '.join(_KEYS)}, groups or off"
            )
        if key in _KEYS and not (isinstance(value, list) and all(isinstance(row, dict) for row in value)):
            raise DataError(f"{path}: {key} is {value!r}, expected tables that begin with [[{key}]]")
    return table


def _groups(
    path: Path, table: Mapping[str, Any], known: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Returns {name: terms} of a file's `[groups]`.

    Rules of this and of later files refer to them as "$name".
    """
    groups = table.get("groups", {})
    if not isinstance(groups, dict):
        raise DataError(f"{path}: groups is {groups!r}, expected a table [groups] of lists of terms")
    return {name: _terms(f"{path}: [groups]", name, terms, known) for name, terms in groups.items()}


def _rules(path: Path, table: Mapping[str, Any], groups: Mapping[str, tuple[str, ...]]) -> list[SafetyRule]:
    """Returns the rules of a file's tables."""
    return [
        _rule(f"{path}: {kind} rule {row.get('id', f'number {number}')!r}", kind, row, groups)
        for kind in _KEYS
        for number, row in enumerate(table.get(kind, []), 1)
    ]


def _switched_off(path: Path, table: Mapping[str, Any], rules: Mapping[str, SafetyRule]) -> set[str]:
    """Returns the ids of a file's `off`. Raises DataError for an id that no rule has."""
    named = table.get("off", [])
    for name in named if isinstance(named, list) else [named]:
        if name not in rules:
            raise DataError(
                f"{path}: off names {name!r}, which is no rule of this or an earlier "
                f"file{nearest(name, rules)}"
            )
    return set(named)


def _rule(place: str, kind: str, row: Mapping[str, Any], groups: Mapping[str, tuple[str, ...]]) -> SafetyRule:
    """Returns the rule of a table, `row`.

    `place` is file and rule, for messages; `groups` are the terms of each "$name".

    Raises:
        DataError: a key is missing or unknown, or a value has a wrong form.
    """
    needed, allowed = _KEYS[kind]
    for key in ("id", *needed, "source"):
        if key not in row:
            raise DataError(
                f"{place}: key {key!r} is missing; a {kind} rule needs id, {', '.join(needed)} and source"
            )
    for key in row:
        if key not in ("id", "source", *needed, *allowed):
            raise DataError(
                f"{place}: unknown key {key!r}{nearest(key, (*needed, *allowed))}; expected "
                f"{', '.join((*needed, *allowed))}"
            )
    for key in ("id", "source"):
        if not isinstance(row[key], str) or not row[key].strip():
            raise DataError(f"{place}: {key} is {row[key]!r}, expected a text")
    terms = {key: _terms(place, key, row[key], groups) for key in _TERMS if key in row}
    if kind == "dose" and not any(key in row for key in (*_AMOUNTS, "not_more_often_than")):
        raise DataError(f"{place}: no limit is given; add max_daily, max_single or not_more_often_than")
    return SafetyRule(
        kind=kind,
        id=row["id"],
        source=row["source"],
        drug=terms.get("drug", ()) or terms.get("signs", ()),
        against=terms.get("condition") or terms.get("with") or terms.get("population") or (),
        when=terms.get("when") or terms.get("together") or (),
        unless=terms.get("unless", ()),
        max_daily=_amount(place, "max_daily", row),
        max_single=_amount(place, "max_single", row),
        gap=_gap(place, row),
        from_dose=_amount(place, "from_dose", row),
        egfr_below=_kidney_function(place, row),
        younger_than=_age(place, "younger_than", row),
        older_than=_age(place, "older_than", row),
    )


def _terms(place: str, key: str, value: object, groups: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Returns a list of terms, with those of each "$name" in its place.

    Raises:
        DataError: no list of texts, an unknown "@id" or an unknown "$name".
    """
    if not (
        isinstance(value, list) and value and all(isinstance(term, str) and term.strip() for term in value)
    ):
        raise DataError(
            f"{place}: {key} is {value!r}, expected a list of phrases or of concept ids such as '@nsaid'"
        )
    known = load_concepts().by_id
    for term in value:
        if term.startswith("@") and term[1:] not in known:
            raise DataError(
                f"{place}: {key} names {term!r}, which is no id of "
                f"entities/concepts.jsonl{nearest(term[1:], known)}; write a phrase without @"
            )
        if term.startswith("$") and term[1:] not in groups:
            raise DataError(
                f"{place}: {key} names {term!r}, which is no list of [groups]{nearest(term[1:], groups)}; "
                "add it there"
            )
    return tuple(
        single for term in value for single in (groups[term[1:]] if term.startswith("$") else (term,))
    )


def _amount(place: str, key: str, row: Mapping[str, Any]) -> Quantity | None:
    """Returns the amount with a unit under `key`; None without it."""
    bare = ("count", "plain", "time", "frequency", "fraction")
    expected = "one amount with a unit, such as '4 g', '10000 IU' or '60 mg/kg'"
    return _quantity(place, key, row, lambda dimension: dimension not in bare, expected)


def _age(place: str, key: str, row: Mapping[str, Any]) -> float | None:
    """Returns the age under `key` in days; None without it."""
    age = _quantity(
        place, key, row, lambda dimension: dimension == "time", "an age such as '16 years' or '12 months'"
    )
    return age.low if age else None


def _gap(place: str, row: Mapping[str, Any]) -> float | None:
    """Returns the least number of days between two doses; None without the key."""
    key = "not_more_often_than"
    if isinstance(row.get(key), str) and row[key] in _PERIODS:
        return _PERIODS[row[key]]
    expected = f"one of {', '.join(_PERIODS)}, or a time such as '48 hours'"
    time = _quantity(place, key, row, lambda dimension: dimension == "time", expected)
    return time.low if time else None


def _kidney_function(place: str, row: Mapping[str, Any]) -> float | None:
    """Returns the kidney function under "egfr_below" in mL/min; None without it."""
    expected = "a kidney function such as '30 mL/min'"
    rate = _quantity(place, "egfr_below", row, lambda dimension: dimension == "volume/time", expected)
    return rate.low / LITRES_A_DAY if rate else None


def _quantity(
    place: str, key: str, row: Mapping[str, Any], fits: Callable[[str], bool], expected: str
) -> Quantity | None:
    """Returns the quantity that `row` has under `key`; None without the key.

    Args:
        place: file and rule, for messages.
        key: the key.
        row: the table.
        fits: whether a dimension is the right one.
        expected: what the message names as expected.

    Raises:
        DataError: the text has no quantity or several, or its dimension does not fit.
    """
    if key not in row:
        return None
    read = read_quantities(row[key]) if isinstance(row[key], str) else ()
    if len(read) != 1 or not fits(read[0].dimension):
        raise DataError(f"{place}: {key} is {row[key]!r}, expected {expected}")
    return read[0]
