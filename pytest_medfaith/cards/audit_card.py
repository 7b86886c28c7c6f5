"""Shows an audit of a checker (were planted errors caught?) in the terminal, as Markdown and as JSON."""

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
    first_lines,
    strata_facts,
    strata_rows,
    wrong_in_strata,
)
from pytest_medfaith.cards.json_card import dumps, metric_rows
from pytest_medfaith.cards.markdown import escaped, folded, markdown_table
from pytest_medfaith.cards.terminal import set_table
from pytest_medfaith.cards.wording import NOTHING, counted, metric_text
from pytest_medfaith.jsonl import write_text
from pytest_medfaith.metrics.audit import AUDIT_KINDS, CONTRADICTING, FALSE_ALARMS, RECALL, recall_of
from pytest_medfaith.plain import one_line, plain_lines

FORMAT_VERSION = 1
_HEADER = ("Change", "Claims", "Caught", "Refuted", "Unsupported", "By model")
_SHOWN = 5  # claims shown below the table; the files hold all of them
_BEFORE = 70  # characters of a claim shown before what was changed in it


def audit_card(audit: Audit, *, title: str = "", most: int | None = _SHOWN) -> str:
    """Returns the card of an audit: what was caught by kind of error and by stratum, and wrong verdicts.

    Args:
        audit: as `audit_checker` returns it.
        title: what was audited, for the first line.
        most: how many missed claims, wrongly flagged claims, and claims of each role in the strata are shown;
            None shows all.
    """
    head = one_line(f"audit of {audit.checker}{f' on {title}' if title else ''}, seed {audit.seed}")
    blocks = [head, set_table(_HEADER, _rows(audit)), "\n".join(_facts(audit))]
    blocks += ["\n".join(_lines(name, claims, most)) for name, claims in _wrong(audit).items() if claims]
    if audit.strata:
        blocks += [set_table(STRATA_HEADER, strata_rows(audit)), "\n".join(strata_facts(audit))]
        blocks += ["\n".join(lines) for lines in wrong_in_strata(audit, most).values()]
    return plain_lines("\n\n".join(blocks))


def audit_markdown(audits: Mapping[str, Audit], *, most: int | None = None) -> str:
    """Returns the cards of several audits as Markdown, one after the other, claims in folded blocks.

    Args:
        audits: {title: audit}; a title says what was audited.
        most: how many claims of each list are shown; None shows all.
    """
    blocks = []
    for title, audit in audits.items():
        blocks += [
            f"### medfaith audit: {escaped(title)}",
            markdown_table(_HEADER, _rows(audit)),
            "  \n".join(map(escaped, _facts(audit))),
        ]
        blocks += [
            folded(f"{counted(len(claims), 'claim')} {name}", "\n".join(_lines(name, claims, most)))
            for name, claims in _wrong(audit).items()
            if claims
        ]
        if audit.strata:
            blocks += [
                markdown_table(STRATA_HEADER, strata_rows(audit)),
                "  \n".join(map(escaped, strata_facts(audit))),
            ]
            wrong = wrong_in_strata(audit, most)
            blocks += [folded(heading, "\n".join(lines)) for heading, lines in wrong.items()]
        made = f"checker: {escaped(audit.checker)}; seed {audit.seed}; Wilson intervals at 95 %"
        blocks.append(f"<sub>{made}</sub>")
    return "\n\n".join(blocks) + "\n"


def audit_json(audits: Mapping[str, Audit]) -> str:
    """Returns audits as JSON: metrics, counts and every claim; equal audits give equal bytes."""
    rows = [{"title": title, **_audit_row(audit)} for title, audit in audits.items()]
    return dumps({"format_version": FORMAT_VERSION, "audits": rows}, "the audit")


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
    kinds = (*AUDIT_KINDS, UNCHANGED)
    return {
        "checker": audit.checker,
        "seed": audit.seed,
        "limit": audit.limit,
        "metrics": metric_rows(audit.metrics),
        "counts": {kind: dataclasses.asdict(count_claims(audit.of(kind))) for kind in kinds},
        "claims": [_claim_row(claim) for claim in audit.claims],
        "strata": [_claim_row(claim) for claim in audit.strata],
        "strata_do_not_show": list(NOT_SHOWN),
    }


def _claim_row(claim: AuditClaim | StratumClaim) -> dict[str, Any]:
    return {name: value for name, value in dataclasses.asdict(claim).items() if name != "extra"}


def _rows(audit: Audit) -> list[list[str]]:
    metrics = audit.metrics
    groups = {title: (audit.of(kind), metrics[recall_of(kind)]) for kind, title in AUDIT_KINDS.items()}
    rows = []
    for title, (claims, caught) in {**groups, "all": (audit.mutated, metrics[RECALL])}.items():
        counts = count_claims(claims)
        numbers = [str(number) for number in (counts.refuted, counts.unsupported, counts.by_model)]
        if claims:
            rows.append([title, str(counts.claims), metric_text(caught, interval=True), *numbers])
        else:
            rows.append([title, "0", *[NOTHING] * (len(_HEADER) - 2)])
    return rows


def _facts(audit: Audit) -> list[str]:
    """Returns what the table leaves out, such as false alarms and unscored claims, a line for each."""
    true = count_claims(audit.of(UNCHANGED))
    opposed = count_claims([claim for claim in audit.claims if claim.kind in CONTRADICTING])
    alarms = metric_text(audit.metrics[FALSE_ALARMS], interval=True)
    facts = [
        (
            f"false alarms: {alarms} of {counted(true.claims, 'unchanged claim')}, {true.refuted} refuted, "
            f"{true.unsupported} unsupported; {true.by_model} by the model alone"
        ),
        (
            f"refuted: {opposed.refuted} of the {counted(opposed.claims, 'claim')} "
            "that say the opposite of the evidence"
        ),
    ]
    if unscored := count_claims(audit.claims).unscored:
        facts.append(f"{counted(unscored, 'claim')} could not be scored, and count in nothing")
    if empty := [title for kind, title in AUDIT_KINDS.items() if not audit.of(kind)]:
        facts.append(f"the corpus has no sentence for: {', '.join(empty)}")
    return facts


def _wrong(audit: Audit) -> dict[str, list[AuditClaim]]:
    """Returns {"missed": planted errors that passed, "wrongly flagged": true sentences that did not}."""
    return {
        "missed": [claim for claim in audit.mutated if claim.label == "supported"],
        "wrongly flagged": [
            claim for claim in audit.of(UNCHANGED) if claim.label in ("refuted", "unsupported")
        ],
    }


def _lines(name: str, claims: Sequence[AuditClaim], most: int | None) -> list[str]:
    """Returns lines such as "missed: negation by the rule negation, chunk-3: Iron [does not help]."."""
    lines = []
    for claim in claims:
        kind = AUDIT_KINDS.get(claim.kind, claim.label)
        rule = f" by the rule {claim.rules[0]}" if claim.rules else ""
        lines.append(f"{name}: {kind}{rule}, {claim.chunk_id}: {_with_change_marked(claim)}")
    return first_lines(lines, most)


def _with_change_marked(claim: AuditClaim) -> str:
    """Returns a claim with its change in brackets, "Iron [does not help]."; long beginnings are cut."""
    if claim.kind == UNCHANGED:
        return claim.text
    before = claim.text[: claim.start]
    before = before if len(before) <= _BEFORE else "…" + before[-_BEFORE:]
    return f"{before}[{claim.text[claim.start : claim.end]}]{claim.text[claim.end :]}"
