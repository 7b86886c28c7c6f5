"""The page on which people label claims: one HTML file that asks nothing of the network.

A reader sees no verdict of the checker. The export needs the verdicts, so the file holds them in base64,
where nobody reads them by accident.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_medfaith.cards.html import render_page
from pytest_medfaith.cards.page_data import chunk_row, script_json, script_span
from pytest_medfaith.labels.rows import checker_fingerprint, judged_contexts
from pytest_medfaith.labels.sampling import DrawnClaim


def review_page(claims: Sequence[DrawnClaim], *, signature: Mapping[str, Any]) -> str:
    """Returns the page for `claims`, in their order.

    Args:
        claims: at least one.
        signature: of the run; the checker's part is hashed into each label.

    Raises:
        MissingExtra: jinja2 is not installed.
    """
    rows = json.dumps([_row(claim, signature) for claim in claims], separators=(",", ":"))
    return render_page(
        "review.html.j2",
        count=len(claims),
        data=script_json({"fingerprint": hashlib.sha256(rows.encode()).hexdigest()[:16], **_shown(claims)}),
        rows=base64.b64encode(rows.encode()).decode(),
    )


def _row(drawn: DrawnClaim, signature: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the label row of a claim without its label, severity and reviewer."""
    return {
        "slice": drawn.slice,
        "case_id": drawn.report.case.id,
        "claim": drawn.verdict.claim.text,
        "key": drawn.key,
        "verdict": drawn.verdict.label,
        "checker": checker_fingerprint(drawn.report.checker, signature),
        "stratum": drawn.stratum,
        "weight": drawn.weight,
    }


def _shown(claims: Sequence[DrawnClaim]) -> dict[str, Any]:
    """Returns what the page shows: claims, the answers that they are in, and each text of evidence once."""
    answers: dict[int, int] = {}
    chunks: dict[str, int] = {}
    shown: dict[str, list[dict[str, Any]]] = {"claims": [], "answers": [], "chunks": []}
    for drawn in claims:
        report, claim = drawn.report, drawn.verdict.claim
        if id(report) not in answers:
            answers[id(report)] = len(answers)
            shown["answers"].append({"question": report.case.question, "answer": report.response.answer})
        places = []
        for chunk in judged_contexts(report, claim):
            row = chunk_row(chunk)
            text = json.dumps(row)
            if text not in chunks:
                chunks[text] = len(chunks)
                shown["chunks"].append(row)
            places.append(chunks[text])
        shown["claims"].append(
            {
                "text": claim.text,
                "context": claim.context,
                "span": script_span(report.response.answer, (claim.start, claim.end)),
                "answer": answers[id(report)],
                "contexts": places,
            }
        )
    return shown
