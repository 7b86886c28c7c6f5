"""The strata of an audit on its card: groups of claims with errors as real answers make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pytest_medfaith.audit.results import Audit, Role, StratumClaim
from pytest_medfaith.cards.wording import NOTHING, clip, counted, metric_text
from pytest_medfaith.metrics.audit import BANK_STRATA, CAUGHT, DECIDED, FLAGGED, STRATA, in_stratum
from pytest_medfaith.records import MetricValue

STRATA_HEADER = ("Stratum", "Errors caught", "Faithful flagged", "Additions decided")
NOT_SHOWN = (
    (
        "The bank is not your corpus: a language model wrote its items for pytest-medfaith, and the "
        "trials and committees in them are made up."
    ),
    (
        "Of your corpus only passages on other matters stand beside an item. Passages near the matter, as"
        " your retriever finds them, are harder."
    ),
    (
        "Every wrong claim has a single change. Real answers also err in several things at once, leave "
        "conditions out and mix sources."
    ),
    (
        "The claims of two chunks are sentences of your corpus, lightly reworded and joined by 'and'. "
        "Real answers join facts more freely."
    ),
    (
        "The shares are of errors that were planted. They do not say how often your system errs, nor how "
        "grave its errors are."
    ),
    (
        "A stratum has few items, so read its interval. No stratum stands for kinds of error that have no"
        " row here."
    ),
)
_OUTCOMES: Mapping[Role, str] = MappingProxyType(
    {"error": "passed", "faithful": "flagged", "addition": "decided"}
)
_NOUNS: Mapping[Role, str] = MappingProxyType(
    {"error": "error", "faithful": "faithful claim", "addition": "addition"}
)
_WIDTH = 200  # characters of a line about a claim


def strata_rows(audit: Audit) -> list[list[str]]:
    """Returns a row for each stratum and for all: three shares with intervals and numbers of claims."""
    metrics = audit.metrics
    rows = [
        [title, *(_cell(metrics[in_stratum(name, key)]) for name in (CAUGHT, FLAGGED, DECIDED))]
        for key, title in STRATA.items()
    ]
    return [*rows, ["all", *(_cell(metrics[name]) for name in (CAUGHT, FLAGGED, DECIDED))]]


def _cell(value: MetricValue) -> str:
    return NOTHING if value.value is None else f"{metric_text(value, interval=True)} of {value.n}"


def strata_facts(audit: Audit) -> list[str]:
    """Returns what the table of strata was measured on, what it lacks, and what it does not show."""
    items = {claim.id.split("/")[1] for claim in audit.strata if claim.stratum in BANK_STRATA}
    facts = [
        (
            f"in the manner of real errors: {counted(len(items), 'item')} of the bank "
            "among passages of the corpus, and two chunks of the corpus"
        )
    ]
    if unscored := sum(claim.label == "unscored" for claim in audit.strata):
        facts.append(f"{counted(unscored, 'claim')} of the strata could not be scored, and count in nothing")
    filled = {claim.stratum for claim in audit.strata}
    if empty := [title for stratum, title in STRATA.items() if stratum not in filled]:
        facts.append(f"the corpus has no claim for: {', '.join(empty)}")
    return [*facts, "what the strata do not show:", *(f"- {line}" for line in NOT_SHOWN)]


def wrong_in_strata(audit: Audit, most: int | None) -> dict[str, list[str]]:
    """Returns the claims of the strata that were judged wrongly, as {heading: lines}.

    The headings are, for example, "3 errors passed", "1 faithful claim flagged" and "2 additions decided". A
    heading without claims is left out.

    Args:
        audit: the audit of a checker.
        most: the most claims below a heading; a last line says how many more audit.md holds. None shows all.
    """
    shown = {}
    for role, noun in _NOUNS.items():
        claims = [claim for claim in audit.strata if claim.role == role and claim.is_wrongly_judged]
        if claims:
            heading = f"{counted(len(claims), noun)} {_OUTCOMES[role]}"
            shown[heading] = first_lines([_line(claim) for claim in claims], most)
    return shown


def _line(claim: StratumClaim) -> str:
    """Returns for example "flagged: unit, unit-03, refuted by the rule numbers: ..."."""
    rule = f" by the rule {claim.rules[0]}" if claim.rules and claim.label != "supported" else ""
    item = claim.id.split("/", 1)[1].rsplit("/", 1)[0]
    verdict = "" if claim.role == "error" else f", {claim.label}{rule}"
    return f"{_OUTCOMES[claim.role]}: {STRATA[claim.stratum]}, {item}{verdict}: {claim.text}"


def first_lines(lines: Sequence[str], most: int | None) -> list[str]:
    """Returns the first `most` of `lines` (None: all), clipped, and how many more audit.md holds."""
    shown = [clip(line, _WIDTH) for line in lines[:most]]
    more = len(lines) - len(shown)
    return shown + [f"... and {more} more (audit.md tells all)"] * bool(more)
