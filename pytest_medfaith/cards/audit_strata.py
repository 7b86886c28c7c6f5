"""The strata of an audit as a card shows them: errors in the manner of real ones, and what they do not show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pytest_medfaith.audit.results import Audit, Role, StratumClaim
from pytest_medfaith.cards.wording import NOTHING, clip, counted, metric_text
from pytest_medfaith.metrics.audit import BANK_STRATA, CAUGHT, DECIDED, FLAGGED, STRATA, in_stratum
from pytest_medfaith.records import MetricValue

STRATA_HEADER = ("Stratum", "Errors caught", "Faithful flagged", "Additions decided")
NOT_SHOWN = (
    "The bank is not your corpus: a language model wrote its items for pytest-medfaith, and the trials and committees in them are made up.",
    "Of your corpus only passages on other matters stand beside an item. Passages near the matter, as your retriever finds them, are harder.",
    "Every wrong claim has a single change. Real answers also err in several things at once, leave conditions out and mix sources.",
    "The claims of two chunks are sentences of your corpus, lightly reworded and joined by 'and'. Real answers join facts more freely.",
    "The shares are of errors that were planted. They do not say how often your system errs, nor how grave its errors are.",
    "A stratum has few items, so read its interval. No stratum stands for kinds of error that have no row here.",
)
_NAMES: Mapping[Role, str] = MappingProxyType(
    {"error": "passed", "faithful": "flagged", "addition": "decided"}
)
_NOUNS: Mapping[Role, str] = MappingProxyType(
    {"error": "error", "faithful": "faithful claim", "addition": "addition"}
)
_WIDTH = 200  # characters of a told claim


def strata_rows(audit: Audit) -> list[list[str]]:
    """Returns a row a stratum and one of all of them: three shares, each with its interval and the claims that it is of."""
    metrics = audit.metrics
    rows = [
        [title, *(_cell(metrics[in_stratum(name, key)]) for name in (CAUGHT, FLAGGED, DECIDED))]
        for key, title in STRATA.items()
    ]
    return [*rows, ["all", *(_cell(metrics[name]) for name in (CAUGHT, FLAGGED, DECIDED))]]


def _cell(value: MetricValue) -> str:
    return NOTHING if value.value is None else f"{metric_text(value, interval=True)} of {value.n}"


def strata_facts(audit: Audit) -> list[str]:
    """Returns what the table of strata is of, what it lacks, and what it does not show."""
    items = {claim.id.split("/")[1] for claim in audit.strata if claim.stratum in BANK_STRATA}
    unscored = sum(claim.label == "unscored" for claim in audit.strata)
    empty = [
        title
        for stratum, title in STRATA.items()
        if not any(claim.stratum == stratum for claim in audit.strata)
    ]
    facts = [
        f"in the manner of real errors: {counted(len(items), 'item')} of the bank among passages of the corpus, and two chunks of the corpus"
    ]
    facts += [f"{counted(unscored, 'claim')} of the strata could not be scored, and count in nothing"] * bool(
        unscored
    )
    facts += [f"the corpus has no claim for: {', '.join(empty)}"] * bool(empty)
    return [*facts, "what the strata do not show:", *(f"- {line}" for line in NOT_SHOWN)]


def told_strata(audit: Audit, most: int | None) -> dict[str, list[str]]:
    """Returns the wrong verdicts in words, at most `most` of a role, by a line that counts them; None tells all."""
    wrong = {
        role: [claim for claim in audit.strata if claim.role == role and claim.is_wrongly_judged]
        for role in _NAMES
    }
    return {
        f"{counted(len(claims), _NOUNS[role])} {_NAMES[role]}": _told(claims, most)
        for role, claims in wrong.items()
        if claims
    }


def _told(claims: Sequence[StratumClaim], most: int | None) -> list[str]:
    shown = claims if most is None else claims[:most]
    lines = [clip(_line(claim), _WIDTH) for claim in shown]
    return lines + [f"... and {len(claims) - len(shown)} more (audit.md tells all)"] * (
        len(shown) < len(claims)
    )


def _line(claim: StratumClaim) -> str:
    """Returns for example "flagged: unit, unit-03, refuted by the rule numbers: ..."."""
    rule = f" by the rule {claim.rules[0]}" if claim.rules and claim.label != "supported" else ""
    item = claim.id.split("/", 1)[1].rsplit("/", 1)[0]
    outcome = "" if claim.role == "error" else f", {claim.label}{rule}"
    return f"{_NAMES[claim.role]}: {STRATA[claim.stratum]}, {item}{outcome}: {claim.text}"
