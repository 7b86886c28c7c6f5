"""Merges the labels of several reviewers into one label a claim, after checking that they fit the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_medfaith.errors import DataError
from pytest_medfaith.labels.agreement import Agreement, agreements
from pytest_medfaith.labels.rows import SEVERITIES, LabelRow, read_labels
from pytest_medfaith.labels.sampling import Draw, DrawnClaim

JOINED = "+"  # between the initials of reviewers who agree
UNNAMED = "without initials"

Known = Mapping[tuple[str, str], DrawnClaim]  # (fingerprint of the checker, key) -> claim of the run


@dataclass(frozen=True, kw_only=True)
class Merged:
    """The labels that reviewers agree on, and those that they do not.

    Attributes:
        rows: one label for each claim with a majority, in the order of the files.
        disputed: for each claim without a majority, all its labels.
        resolved: how many claims had different labels, decided by a majority.
        agreement: of the reviewers; () where there is a single reviewer.
    """

    rows: tuple[LabelRow, ...]
    disputed: tuple[tuple[LabelRow, ...], ...]
    resolved: int
    agreement: tuple[Agreement, ...]


def read_reviews(paths: Iterable[Path]) -> list[LabelRow]:
    """Returns the labels of all files that pages of `medfaith review` exported, in their order.

    A label that is in two files is returned once. Capitals in initials do not count: "ab" is "AB".

    Raises:
        DataError: no label, a broken file, labels that are merged already, labels without initials in two
            files, or two different labels of a claim by the same reviewer.
    """
    rows: dict[tuple[str, str, str], tuple[Path, LabelRow]] = {}
    unnamed = set()
    for path in dict.fromkeys(paths):
        for row in read_labels(path):
            reviewer = row.reviewer.strip().upper()
            if JOINED in reviewer:
                raise DataError(
                    f"{path}: the labels of {row.reviewer!r} are merged already; import the files that the "
                    "pages exported, so that no reviewer counts twice"
                )
            if not reviewer:
                unnamed.add(path)
            known, first = rows.setdefault((row.checker, row.key, reviewer), (path, row))
            if (first.label, first.severity) != (row.label, row.severity):
                raise DataError(
                    f"{path}: reviewer {row.reviewer!r} labelled the claim {row.key} {row.label!r}"
                    f"{_graded(row)}, and {first.label!r}{_graded(first)} in {known}; keep one of the labels"
                )
    if len(unnamed) > 1:
        raise DataError(
            f"labels without initials are in {len(unnamed)} files ({', '.join(sorted(map(str, unnamed)))}); "
            "give each reviewer initials on the page, and export again, so that reviewers are told apart"
        )
    if not rows:
        raise DataError(
            "the files hold no label; label claims on the page of medfaith review, and export them"
        )
    return [row for _, row in rows.values()]


def _graded(row: LabelRow) -> str:
    """Returns " of severity 'high'" for a label with a severity, for messages; "" without."""
    return f" of severity {row.severity!r}" if row.severity else ""


def claims_of_run(draws: Mapping[str, Draw]) -> Known:
    """Returns all claims of a run: {(checker's fingerprint, claim's key): claim}.

    Args:
        draws: {checker's fingerprint: all claims that it judged, as `draw_claims` returns them}.
    """
    return {(checker, claim.key): claim for checker, draw in draws.items() for claim in draw.claims}


def check_labels(rows: Sequence[LabelRow], draws: Mapping[str, Draw], *, run: str) -> None:
    """Refuses labels that do not belong to the run.

    Args:
        rows: the labels.
        draws: as for `claims_of_run`.
        run: name of the run, for messages.

    Raises:
        DataError: labels of another checker, of claims or evidence that the run does not hold, with another
            verdict or stratum than the run has, or with a weight that cannot be; or labels of two draws. The
            message counts each kind.
    """
    known = claims_of_run(draws)
    causes: dict[int, str] = {}
    for place, row in enumerate(rows):
        cause = _misfit(row, known.get((row.checker, row.key)), draws.get(row.checker))
        if cause:
            causes[place] = cause
    if causes:
        counted = ", ".join(f"{count} {cause}" for cause, count in Counter(causes.values()).items())
        first = rows[next(iter(causes))]
        raise DataError(
            f"{len(causes)} of {len(rows)} labels do not fit the run {run}: {counted}; the first has the key "
            f"{first.key!r}. Nothing was written; import labels against the run that their page was made of"
        )
    _check_one_draw(rows, draws)


def _misfit(row: LabelRow, claim: DrawnClaim | None, draw: Draw | None) -> str:
    """Returns why a label does not belong to the run; "" where it does."""
    if draw is None:
        return "of another checker, or of other thresholds or rules of it"
    if claim is None:
        return "of a claim, or with evidence, that the run does not hold"
    if (row.slice, row.case_id, row.claim) != (claim.slice, claim.report.case.id, claim.verdict.claim.text):
        return "with a slice, case or claim that is not that of the key"
    if (row.verdict, row.stratum) != (claim.verdict.label, claim.stratum):
        return "with another verdict or stratum than the claim has in the run"
    drawn = draw.population[row.stratum] / row.weight
    if round(drawn) < 1 or abs(drawn - round(drawn)) > 1e-6 or row.weight < 1:
        return "with a weight that no draw of the run gives"
    return ""


def _check_one_draw(rows: Iterable[LabelRow], draws: Mapping[str, Draw]) -> None:
    """Refuses labels of pages with different draws: their weights do not hold together (DataError)."""
    weights: dict[tuple[str, str], float] = {}
    keys: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        stratum = (row.checker, row.stratum)
        keys.setdefault(stratum, set()).add(row.key)
        drawn = round(draws[row.checker].population[row.stratum] / row.weight)
        if weights.setdefault(stratum, row.weight) != row.weight or len(keys[stratum]) > drawn:
            raise DataError(
                f"the labels are of pages with different draws, seen in the stratum {row.stratum!r}; merge "
                "labels of pages that were made with the same --count and --seed"
            )


def merge_labels(rows: Iterable[LabelRow]) -> Merged:
    """Returns one label for each claim: that of more than half of its reviewers.

    Its severity is the median of those who gave this label. Of two middle ones it is the higher, since
    missing a severe error costs more than looking twice.

    Args:
        rows: labels, at most one of a claim by each reviewer.
    """
    claims: dict[tuple[str, str], list[LabelRow]] = {}
    for row in rows:
        claims.setdefault((row.checker, row.key), []).append(row)
    merged, disputed, resolved = [], [], 0
    for labels in claims.values():
        (label, votes), *others = Counter(row.label for row in labels).most_common()
        if 2 * votes <= len(labels):
            disputed.append(tuple(labels))
            continue
        resolved += bool(others)
        merged.append(_joined([row for row in labels if row.label == label]))
    told = [{reviewer_of(row): str(row.label) for row in labels} for labels in claims.values()]
    return Merged(
        rows=tuple(merged), disputed=tuple(disputed), resolved=resolved, agreement=tuple(agreements(told))
    )


def reviewer_of(row: LabelRow) -> str:
    """Returns a reviewer's initials in capitals; "without initials" for a reviewer who gave none."""
    return row.reviewer.strip().upper() or UNNAMED


def _joined(rows: Sequence[LabelRow]) -> LabelRow:
    """Returns one label for several equal ones, with all initials, as in "AB+CD", and the median severity."""
    severities = sorted((row.severity for row in rows if row.severity), key=SEVERITIES.index)
    return rows[0].with_(
        severity=severities[len(severities) // 2] if severities else None,
        reviewer=JOINED.join(sorted({row.reviewer.strip().upper() for row in rows} - {""})),
    )


def claims_to_look_at_again(merged: Merged, known: Known) -> list[DrawnClaim]:
    """Returns the disputed claims, with the weights of their labels, for a page of a third reviewer."""
    return [
        replace(known[labels[0].checker, labels[0].key], weight=labels[0].weight)
        for labels in merged.disputed
    ]
