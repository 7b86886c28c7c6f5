"""The rules of severity: read from TOML files, checked, and tried in order."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, Generic, TypeVar

from pytest_medfaith.errors import DataError, nearest
from pytest_medfaith.records.grades import CATEGORIES, OTHERWISE, RISKS, Category, Risk
from pytest_medfaith.severity.reading import Terms, TextRead, compiled_terms, read_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SHIPPED = Path(__file__).parent / "severity.toml"
ERRORS = ("refuted", "unsupported")  # the verdicts that have a severity
_GIVEN: Mapping[str, Sequence[str]] = {"category": CATEGORIES, "risk": RISKS}
_TEXTS = ("claim", "also", "either", "evidence", "clash", "not")
_CONDITIONS = ("verdict", "rules", "turned", *_TEXTS)
# Claims that have next to nothing in common: a rule that fits all of them fits everything.
_PROBES = (
    "Aspirin was first sold in 1899.",
    "Take 5 mg of apixaban twice a day.",
    "Most cysts need no surgery",
    "Fever lasts three days in children",
    "Gout usually begins at night",
    "Drivers should call an ambulance at once.",
)
Given = TypeVar("Given", bound=str)


@dataclass(frozen=True)
class ErrorRead:
    """An error as the rules see it.

    Attributes:
        verdict: "refuted" or "unsupported".
        findings: the names of the rules of the checker, and of safety, with a finding.
        claim: the claim.
        evidence: the sentence that decided; empty where no sentence did.
        clash: the words of claim and evidence that contradict each other, as far as a rule named them.
    """

    verdict: str
    findings: tuple[str, ...]
    claim: TextRead
    evidence: TextRead
    clash: TextRead


@dataclass(frozen=True)
class SeverityRule(Generic[Given]):
    """A rule that gives a category or a risk to errors that meet all of its conditions.

    Attributes:
        id: its id.
        gives: the category or the risk.
        verdict: the verdicts that it is for; () for both.
        rules: names of checker or safety rules, one of which must have a finding; () for no condition.
        turned: True if only one of claim and evidence may deny.
        terms: {"claim", "evidence", "not", ...: what must be in that text}.
    """

    id: str
    gives: Given
    verdict: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    turned: bool = False
    terms: Mapping[str, Terms] = field(default_factory=dict)

    def fits(self, error: ErrorRead) -> bool:
        """Returns whether `error` meets all conditions; a rule without conditions fits every error."""
        if self.verdict and error.verdict not in self.verdict:
            return False
        if self.rules and not any(
            name.split(".")[0] in self.rules or name in self.rules for name in error.findings
        ):
            return False
        if self.turned and not (error.evidence.text and error.claim.is_denial != error.evidence.is_denial):
            return False
        return all(self._holds(name, terms, error) for name, terms in self.terms.items())

    def _holds(self, name: str, terms: Terms, error: ErrorRead) -> bool:
        """Returns whether the texts that `name` means have `terms`; for "not", if the claim lacks them."""
        match name:
            case "either":
                return error.claim.holds(terms) or error.evidence.holds(terms)
            case "evidence":
                return error.evidence.holds(terms)
            case "clash":
                return error.clash.holds(terms)
            case "not":
                return not error.claim.holds(terms)
            case _:
                return error.claim.holds(terms)


@dataclass(frozen=True)
class SeverityRules:
    """The rules of severity.

    Attributes:
        categories: the rules that give a category, in the order in which they are tried.
        risks: the rules that give a risk, likewise.
        other_category: {verdict: category} where no rule fits.
        other_risk: {verdict: risk} where no rule fits.
        signature: 16 hexadecimal digits that change with any word of the files.
    """

    categories: tuple[SeverityRule[Category], ...]
    risks: tuple[SeverityRule[Risk], ...]
    other_category: Mapping[str, Category]
    other_risk: Mapping[str, Risk]
    signature: str = field(default="", compare=False)


@lru_cache(maxsize=8)
def load_severity(paths: tuple[Path, ...] = ()) -> SeverityRules:
    """Returns the rules of the files at `paths`, followed by the shipped rules.

    Raises:
        DataError: a file is missing or no TOML, a key or value is unknown, a rule has no conditions or
            matches everything, an id is used twice, or `off` names no rule. The message names file, rule, key
            and value.
    """
    found: dict[str, dict[str, SeverityRule[Any]]] = {kind: {} for kind in _GIVEN}
    other: dict[str, dict[str, Any]] = {kind: {} for kind in _GIVEN}
    off: set[str] = set()
    read = [(path, *_read(path)) for path in (*paths, SHIPPED)]
    for path, table, _ in read:
        for kind in _GIVEN:
            for rule in _rules(path, kind, table):
                if rule.id in found[kind]:
                    raise DataError(
                        f"{path}: another {kind} rule has the id {rule.id!r}; give your rule another id, and "
                        f"write off = [{rule.id!r}] to replace the shipped rule"
                    )
                found[kind][rule.id] = rule
            for verdict, given in _otherwise(path, kind, table).items():
                other[kind].setdefault(verdict, given)
    known = [name for rules in found.values() for name in rules]
    for path, table, _ in read:
        off |= _switched_off(path, table, known)
    kept = {
        kind: tuple(rule for rule in rules.values() if rule.id not in off) for kind, rules in found.items()
    }
    digits = hashlib.sha256("\x1f".join(text for _, _, text in read).encode()).hexdigest()[:16]
    return SeverityRules(kept["category"], kept["risk"], other["category"], other["risk"], digits)


def _read(path: Path) -> tuple[dict[str, Any], str]:
    """Returns (tables, text) of a file of rules.

    Raises:
        DataError: the file is missing or no TOML, or has an unknown key.
    """
    if not path.is_file():
        raise DataError(
            f"{path}: no such rules of severity; check the path, or create it with [[risk]] tables"
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
        table = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(
            f'{path}: not TOML ({error}); expected tables such as [[risk]] with id, risk = "high" and claim '
            f"= [...]"
        ) from None
    for key, value in table.items():
        if key not in (*_GIVEN, OTHERWISE, "off"):
            raise DataError(
                f"{path}: unknown key {key!r}{nearest(key, _GIVEN)}; expected [[category]], [[risk]], "
                f"[{OTHERWISE}] or off"
            )
        if key in _GIVEN and not (isinstance(value, list) and all(isinstance(row, dict) for row in value)):
            raise DataError(f"{path}: {key} is {value!r}, expected tables that begin with [[{key}]]")
    return table, text


def _rules(path: Path, kind: str, table: Mapping[str, Any]) -> list[SeverityRule[Any]]:
    """Returns the rules of a kind, "category" or "risk", in a file; raises DataError for an id used twice."""
    rules = [
        _rule(f"{path}: {kind} rule {row.get('id', f'number {number}')!r}", kind, row)
        for number, row in enumerate(table.get(kind, []), 1)
    ]
    for name in [rule.id for rule in rules]:
        if [rule.id for rule in rules].count(name) > 1:
            raise DataError(f"{path}: two {kind} rules have the id {name!r}; give each rule an id of its own")
    return rules


def _rule(place: str, kind: str, row: Mapping[str, Any]) -> SeverityRule[Any]:
    """Returns the rule of a table.

    Args:
        place: file and rule, for messages.
        kind: "category" or "risk".
        row: the table.

    Raises:
        DataError: an unknown key, a wrong value, or no condition.
    """
    allowed = ("id", kind, "why", *_CONDITIONS)
    for key in row:
        if key not in allowed:
            raise DataError(
                f"{place}: unknown key {key!r}{nearest(key, allowed)}; expected {', '.join(allowed)}"
            )
    name = row.get("id")
    if not isinstance(name, str) or not name.strip() or name == OTHERWISE:
        raise DataError(f"{place}: id is {name!r}, expected a text that names the rule")
    given = _one_of(place, kind, row.get(kind), _GIVEN[kind])
    if not set(row) & set(_CONDITIONS) - {"verdict", "turned"} and not row.get("turned"):
        raise DataError(
            f"{place}: it has no conditions, so it matches every error; give it one of "
            f"{', '.join(_CONDITIONS[1:])}, or say under [{OTHERWISE}] what holds where no rule fits"
        )
    for key in ("turned",):
        if not isinstance(row.get(key, True), bool):
            raise DataError(f"{place}: {key} is {row[key]!r}, expected true or false")
    verdicts = _texts(place, "verdict", row)
    for verdict in verdicts:
        _one_of(place, "verdict", verdict, ERRORS)
    rule = SeverityRule[Any](
        name,
        given,
        verdict=verdicts,
        rules=_texts(place, "rules", row),
        turned=bool(row.get("turned")),
        terms={key: _terms(place, key, row) for key in _TEXTS if key in row},
    )
    return _that_tells_apart(place, rule)


def _that_tells_apart(place: str, rule: SeverityRule[Any]) -> SeverityRule[Any]:
    """Returns `rule`. Raises DataError where it fits all of some claims that have nothing in common."""
    verdicts = rule.verdict or ERRORS
    nothing = read_text("")
    fits = [
        rule.fits(ErrorRead(verdict, (), read_text(claim), nothing, nothing))
        for verdict, claim in product(verdicts, _PROBES)
    ]
    if all(fits):
        raise DataError(
            f"{place}: it matches everything: {_PROBES[0]!r} as well as {_PROBES[1]!r}; give it words that "
            f"only the claims it is meant for hold, or say under [{OTHERWISE}] what holds where no rule fits"
        )
    return rule


def _otherwise(path: Path, kind: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Returns {verdict: category or risk} of `[otherwise]`, written as `risk = {refuted = "low"}`."""
    held = table.get(OTHERWISE, {})
    if not isinstance(held, dict) or set(held) - set(_GIVEN):
        raise DataError(
            f"{path}: {OTHERWISE} is {held!r}, expected a table [{OTHERWISE}] of {', '.join(_GIVEN)}"
        )
    given = held.get(kind, {})
    if not isinstance(given, dict) or set(given) - set(ERRORS):
        raise DataError(
            f"{path}: {OTHERWISE}.{kind} is {given!r}, expected as in {kind} = {{refuted = "
            f'"{_GIVEN[kind][1]}"}}'
        )
    return {
        verdict: _one_of(f"{path}: {OTHERWISE}", kind, value, _GIVEN[kind])
        for verdict, value in given.items()
    }


def _switched_off(path: Path, table: Mapping[str, Any], known: Sequence[str]) -> set[str]:
    """Returns the ids of a file's `off`. Raises DataError for an id that no rule has."""
    named = table.get("off", [])
    for name in named if isinstance(named, list) else [named]:
        if name not in known:
            raise DataError(f"{path}: off names {name!r}, which is no rule of severity{nearest(name, known)}")
    return set(named)


def _terms(place: str, key: str, row: Mapping[str, Any]) -> Terms:
    """Returns the terms under `key`, compiled. Raises DataError for a wrong term."""
    try:
        return compiled_terms(_texts(place, key, row))
    except ValueError as error:
        raise DataError(f"{place}: {key}: {error}") from None


def _texts(place: str, key: str, row: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the texts under `key`; () without the key.

    Raises DataError for anything but a list of texts.
    """
    value = row.get(key)
    if value is None:
        return ()
    if not (isinstance(value, list) and value and all(isinstance(one, str) and one.strip() for one in value)):
        raise DataError(f"{place}: {key} is {value!r}, expected a list of texts")
    return tuple(value)


def _one_of(place: str, key: str, value: object, known: Sequence[str]) -> Any:
    """Returns `value`. Raises DataError if it is not in `known`."""
    if value not in known:
        raise DataError(
            f"{place}: {key} is {value!r}{nearest(value, known)}; expected one of {', '.join(known)}"
        )
    return value
