"""An audit of a checker as the terminal, Markdown and JSON show it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pytest_medfaith.audit.results import UNCHANGED, Audit, AuditClaim, StratumClaim, count_claims
from pytest_medfaith.cards.audit_strata import (
    NOT_SHOWN,
    STRATA_HEADER,
    strata_facts,
    strata_rows,
    told_strata,
)
from pytest_medfaith.cards.json_card import dumps
from pytest_medfaith.cards.markdown import escaped, folded, markdown_table
from pytest_medfaith.cards.terminal import set_table
from pytest_medfaith.cards.wording import NOTHING, clip, counted, metric_text
from pytest_medfaith.jsonl import write_text
from pytest_medfaith.metrics.audit import AUDIT_KINDS, CONTRADICTING, FALSE_ALARMS, RECALL, recall_of
from pytest_medfaith.plain import one_line, plain_lines
from pytest_medfaith.records import MetricValue

FORMAT_VERSION = 1
_HEADER = ("Change", "Claims", "Caught", "Refuted", "Unsupported", "By model")
_SHOWN = 5  # claims told below the table; files hold all of them
_WIDTH, _BEFORE = 200, 70  # characters of a told claim, and of what stands before the change in it


def audit_card(audit: Audit, *, title: str = "", most: int | None = _SHOWN) -> str:
    """Returns the card of an audit: a row a kind of change, the false alarms, a row a stratum, and claims that went wrong.

    Args:
        audit: as `audit_checker` returns it.
        title: what was audited, for the first line.
        most: how many missed and how many wrongly flagged claims are told, and as many of each role in the strata; None tells all.
    """
    head = one_line(f"audit of {audit.checker}{f' on {title}' if title else ''}, seed {audit.seed}")
    blocks = [head, set_table(_HEADER, _rows(audit)), "\n".join(_facts(audit))]
    blocks += ["\n".join(_told(name, claims, most)) for name, claims in _wrong(audit).items() if claims]
    if audit.strata:
        blocks += [set_table(STRATA_HEADER, strata_rows(audit)), "\n".join(strata_facts(audit))]
        blocks += ["\n".join(lines) for lines in told_strata(audit, most).values()]
    return plain_lines("\n\n".join(blocks))


def audit_markdown(audits: Mapping[str, Audit], *, most: int | None = None) -> str:
    """Returns the cards of audits as Markdown; arguments as of `audit_card`, `audits` by title."""
    blocks = []
    for title, audit in audits.items():
        blocks += [
            f"### medfaith audit: {escaped(title)}",
            markdown_table(_HEADER, _rows(audit)),
            "  \n".join(map(escaped, _facts(audit))),
        ]
        blocks += [
            folded(f"{counted(len(claims), 'claim')} {name}", "\n".join(_told(name, claims, most)))
            for name, claims in _wrong(audit).items()
            if claims
        ]
        blocks += _strata_markdown(audit, most) if audit.strata else []
        blocks.append(
            f"<sub>checker: {escaped(audit.checker)}; seed {audit.seed}; Wilson intervals at 95 %</sub>"
        )
    return "\n\n".join(blocks) + "\n"


def _strata_markdown(audit: Audit, most: int | None) -> list[str]:
    told = [folded(title, "\n".join(lines)) for title, lines in told_strata(audit, most).items()]
    return [
        markdown_table(STRATA_HEADER, strata_rows(audit)),
        "  \n".join(map(escaped, strata_facts(audit))),
        *told,
    ]


def audit_json(audits: Mapping[str, Audit]) -> str:
    """Returns audits as JSON: metrics, counts by kind, and every claim with its verdict; the same audits give the same bytes."""
    return dumps(
        {
            "format_version": FORMAT_VERSION,
            "audits": [{"title": title, **_audit_row(one)} for title, one in audits.items()],
        },
        "the audit",
    )


AUDIT_FILES: Mapping[str, Callable[[Mapping[str, Audit]], str]] = MappingProxyType(
    {"audit.json": audit_json, "audit.md": audit_markdown}
)


def write_audits(folder: Path, audits: Mapping[str, Audit]) -> list[Path]:
    """Writes audit.json and audit.md to `folder`, each whole or not at all, and returns their paths."""
    written = {folder / name: text_of(audits) for name, text_of in AUDIT_FILES.items()}
    for path, text in written.items():
        write_text(path, text)
    return list(written)


def _audit_row(audit: Audit) -> dict[str, Any]:
    return {
        "checker": audit.checker,
        "seed": audit.seed,
        "limit": audit.limit,
        "metrics": {
            name: {"value": one.value, "low": one.low, "high": one.high, "n": one.n}
            for name, one in audit.metrics.items()
        },
        "counts": {
            kind: dataclasses.asdict(count_claims(audit.of(kind))) for kind in (*AUDIT_KINDS, UNCHANGED)
        },
        "claims": [_plain(claim) for claim in audit.claims],
        "strata": [_plain(claim) for claim in audit.strata],
        "strata_do_not_show": list(NOT_SHOWN),
    }


def _plain(claim: AuditClaim | StratumClaim) -> dict[str, Any]:
    return {name: value for name, value in dataclasses.asdict(claim).items() if name != "extra"}


def _rows(audit: Audit) -> list[list[str]]:
    metrics = audit.metrics
    groups = {title: (audit.of(kind), metrics[recall_of(kind)]) for kind, title in AUDIT_KINDS.items()}
    return [
        _row(title, claims, value)
        for title, (claims, value) in {**groups, "all": (audit.mutated, metrics[RECALL])}.items()
    ]


def _row(title: str, claims: Sequence[AuditClaim], value: MetricValue) -> list[str]:
    counts = count_claims(claims)
    if not claims:
        return [title, "0", *[NOTHING] * (len(_HEADER) - 2)]
    return [
        title,
        str(counts.claims),
        metric_text(value, interval=True),
        str(counts.refuted),
        str(counts.unsupported),
        str(counts.by_model),
    ]


def _facts(audit: Audit) -> list[str]:
    """Returns in words what the table does not say: false alarms, refuted contradictions, claims that could not be scored, empty kinds."""
    true, opposed = (
        count_claims(audit.of(UNCHANGED)),
        count_claims([claim for claim in audit.claims if claim.kind in CONTRADICTING]),
    )
    alarms = metric_text(audit.metrics[FALSE_ALARMS], interval=True)
    flagged = (
        f"false alarms: {alarms} of {counted(true.claims, 'unchanged claim')}, {true.refuted} refuted, {true.unsupported} unsupported; "
        f"{true.by_model} by the model alone"
    )
    facts = [
        flagged,
        f"refuted: {opposed.refuted} of the {counted(opposed.claims, 'claim')} that say the opposite of the evidence",
    ]
    unscored = count_claims(audit.claims).unscored
    empty = [title for kind, title in AUDIT_KINDS.items() if not audit.of(kind)]
    facts += [f"{counted(unscored, 'claim')} could not be scored, and count in nothing"] * bool(unscored)
    return facts + [f"the corpus has no sentence for: {', '.join(empty)}"] * bool(empty)


def _wrong(audit: Audit) -> dict[str, list[AuditClaim]]:
    return {
        "missed": [claim for claim in audit.mutated if claim.label == "supported"],
        "wrongly flagged": [
            claim for claim in audit.of(UNCHANGED) if claim.label in ("refuted", "unsupported")
        ],
    }


def _told(name: str, claims: Sequence[AuditClaim], most: int | None) -> list[str]:
    shown = claims if most is None else claims[:most]
    lines = [
        clip(
            f"{name}: {AUDIT_KINDS.get(claim.kind, claim.label)}{_by(claim)}, {claim.chunk_id}: {_marked(claim)}",
            _WIDTH,
        )
        for claim in shown
    ]
    return lines + [f"... and {len(claims) - len(shown)} more (audit.md tells all)"] * (
        len(shown) < len(claims)
    )


def _by(claim: AuditClaim) -> str:
    return f" by the rule {claim.rules[0]}" if claim.rules else ""


def _marked(claim: AuditClaim) -> str:
    """Returns the claim with what was changed in it in brackets; of a long text before it only the end."""
    if claim.kind == UNCHANGED:
        return claim.text
    before = claim.text[: claim.start]
    before = before if len(before) <= _BEFORE else "…" + before[-_BEFORE:]
    return f"{before}[{claim.text[claim.start : claim.end]}]{claim.text[claim.end :]}"
