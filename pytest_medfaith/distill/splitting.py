"""Splits silver rows into train, dev and test, which share no case, question, answer, claim or passage."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence

from pytest_medfaith.distill.gathering import Gathered, normal
from pytest_medfaith.distill.records import PARTS, Silver, SilverAnswer, SilverPair
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import LABELS

KEPT_OUT = 0.1  # share of the groups of cases in dev, and the same share in test
BALANCE = 2.0  # a label has at most so many times the rows of the rarest label
_LEAST_GROUPS = 3  # one each for train, dev and test


def make_silver(
    gathered: Gathered,
    *,
    kept_out: float = KEPT_OUT,
    balance: float | None = BALANCE,
    seed: int = 0,
    passages_shared: bool = False,
) -> Silver:
    """Returns the rows by part, each text once.

    Rows of train are balanced by label, and ordered from easy to hard; those of dev and test are neither.

    Args:
        gathered: rows of one or several runs.
        kept_out: share of the groups of cases in dev, and the same share in test; below 0.5.
        balance: a label has at most so many times the rows of the rarest label; None balances nothing.
        seed: decides the parts, and which rows the balance takes out.
        passages_shared: True lets parts share passages, as cannot be avoided with a small corpus.

    Raises:
        DataError: no pair, a part without rows, or fewer than three groups of cases (linked by a question or
            an answer that they share).
    """
    left_out = Counter(gathered.left_out)
    pairs = _once(gathered.pairs, left_out)
    answers = list({(row.case_id, normal(row.answer)): row for row in gathered.answers}.values())
    if not pairs:
        raise DataError("no pair of a claim and a passage has a label; expected a run with judged answers")
    part_of = _parts(pairs, answers, kept_out=kept_out, seed=seed)
    by_part = {part: [row for row in pairs if part_of[row.case_id] == part] for part in PARTS}
    _remove_measured(by_part, left_out, passages_shared=passages_shared)
    labels = {part: _counts(rows) for part, rows in by_part.items()}
    by_part["train"] = in_order_of_learning(_balanced(by_part["train"], balance, seed, left_out))
    return Silver(
        pairs=by_part,
        answers={part: [row for row in answers if part_of[row.case_id] == part] for part in PARTS},
        left_out={reason: count for reason, count in sorted(left_out.items()) if count},
        facts={
            "seed": seed,
            "kept_out": kept_out,
            "balance": balance,
            "passages_shared": passages_shared,
            "labels_before_balance": labels,
        },
    )


def _counts(rows: Iterable[SilverPair]) -> dict[str, int]:
    """Returns {label: how many rows have it}, labels without rows included."""
    found = Counter(row.label for row in rows)
    return {label: found[label] for label in LABELS}  # type: ignore[index]


def _once(pairs: Sequence[SilverPair], left_out: Counter[str]) -> list[SilverPair]:
    """Returns each pair of texts once; texts that got two different labels are dropped."""
    kept: dict[tuple[str, str], SilverPair] = {}
    clashing: set[tuple[str, str]] = set()
    for row in pairs:
        key = normal(row.claim), normal(row.evidence)
        if key in kept:
            left_out["repeated pairs"] += 1
            if kept[key].label != row.label:
                clashing.add(key)
        kept.setdefault(key, row)
    left_out["pairs of two labels"] += len(clashing)
    return [row for key, row in kept.items() if key not in clashing]


def _parts(
    pairs: Sequence[SilverPair], answers: Sequence[SilverAnswer], *, kept_out: float, seed: int
) -> Mapping[str, str]:
    """Returns {case: part}; cases that share a question or an answer are in the same part.

    Raises:
        DataError: fewer than three groups of such cases, or none left to train on.
    """
    shared: dict[Hashable, list[str]] = defaultdict(list)
    for row in pairs:
        shared["case", row.case_id].append(row.case_id)
    for answer in answers:
        shared["answer", normal(answer.answer)].append(answer.case_id)
        shared["question", normal(answer.question)].append(answer.case_id)
    groups = _joined(shared.values())
    if len(groups) < _LEAST_GROUPS:
        raise DataError(
            f"the cases form {len(groups)} group(s), linked by questions or answers that they share; "
            f"expected {_LEAST_GROUPS} or more, for train, dev and test. Add cases"
        )
    ordered = sorted(groups, key=lambda group: hashlib.sha256(f"{seed}-{group[0]}".encode()).digest())
    each = max(1, round(kept_out * len(ordered)))
    names = ["test"] * each + ["dev"] * each
    parts = [*names, *["train"] * (len(ordered) - len(names))]
    if "train" not in parts:
        raise DataError(f"--kept-out {kept_out} leaves no case to train on; expected a share below 0.5")
    return {case: part for group, part in zip(ordered, parts, strict=True) for case in group}


def _joined(sets: Iterable[Sequence[str]]) -> list[list[str]]:
    """Returns groups of cases, each sorted; cases in one set, or linked by a chain of sets, are a group."""
    parents: dict[str, str] = {}

    def root(case: str) -> str:
        while parents.setdefault(case, case) != case:
            parents[case] = parents[parents[case]]
            case = parents[case]
        return case

    for cases in sets:
        for case in cases:
            parents[root(case)] = root(cases[0])
    groups: dict[str, list[str]] = defaultdict(list)
    for case in sorted(parents):
        groups[root(case)].append(case)
    return list(groups.values())


def _remove_measured(
    by_part: dict[str, list[SilverPair]], left_out: Counter[str], *, passages_shared: bool
) -> None:
    """Removes from dev the pairs whose claim or passage is in test, and from train those in dev or test.

    Cases cannot be grouped by these: many share a claim such as "See a doctor." or a passage, so all cases
    would be a single group.

    Raises:
        DataError: no pair is left in a part.
    """
    measured: set[tuple[str, str]] = set()
    for part in ("test", "dev", "train"):
        rows = by_part[part]
        held = {row.id: _texts(row, passages_shared=passages_shared) for row in rows}
        by_part[part] = [row for row in rows if not held[row.id] & measured]
        left_out[f"pairs of {part} whose claim or passage is measured on elsewhere"] += len(rows) - len(
            by_part[part]
        )
        measured |= {text for row in by_part[part] for text in held[row.id]}
        if not by_part[part]:
            raise DataError(
                f"no pair is left in {part}: each has a claim or passage that another part measures on. Add "
                "cases, keep out fewer with --kept-out, or use --passages-shared if the corpus is small"
            )


def _texts(row: SilverPair, *, passages_shared: bool) -> set[tuple[str, str]]:
    """Returns what no other part may hold too: the pair's claim, and its passage unless these are shared."""
    texts = {("claim", normal(row.claim))}
    return texts if passages_shared else texts | {("passage", row.passage)}


def _balanced(
    rows: Sequence[SilverPair], balance: float | None, seed: int, left_out: Counter[str]
) -> list[SilverPair]:
    """Returns rows of which no label has more than `balance` times as many as the rarest label."""
    if balance is None or not rows:
        return list(rows)
    of_label: dict[str, list[SilverPair]] = defaultdict(list)
    for row in rows:
        of_label[row.label].append(row)
    most = max(1, int(balance * min(map(len, of_label.values()))))
    kept: list[SilverPair] = []
    for label in LABELS:
        drawn = sorted(of_label[label], key=lambda row: hashlib.sha256(f"{seed}-{row.id}".encode()).digest())
        kept += drawn[:most]
    left_out["pairs of frequent labels, for the balance"] += len(rows) - len(kept)
    return kept


def in_order_of_learning(rows: Iterable[SilverPair]) -> list[SilverPair]:
    """Returns rows from easy to hard: claims in the evidence's own words first, paraphrases last.

    Each label is spread evenly over the order, so that no stretch teaches a single label.
    """
    of_label: dict[str, list[SilverPair]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (-row.overlap, row.id)):
        of_label[row.label].append(row)
    places = [
        ((number + 0.5) / len(found), LABELS.index(label), row)
        for label, found in of_label.items()
        for number, row in enumerate(found)
    ]
    return [row for _, _, row in sorted(places, key=lambda place: place[:2])]
