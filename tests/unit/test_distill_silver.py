"""The silver files that the repository ships are well formed; malformed ones are refused with file, line and field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_medfaith.distill.pairs import Pair
from pytest_medfaith.distill.silver import claim_only_baseline, validate_items
from pytest_medfaith.errors import DataError

SILVER = Path(__file__).parents[2] / "fixtures" / "silver"
ITEM = {
    "id": "a",
    "topic": "t",
    "style": "s",
    "evidence": "It helps.",
    "alt_evidence": "It harms.",
    "claims": [{"text": "It is of use.", "label": "entail", "alt_label": "contradict", "kind": "direction"}],
}


@pytest.mark.parametrize("path", sorted(SILVER.glob("*.jsonl")), ids=lambda path: path.stem)
def test_shipped_files_are_valid_and_named_in_the_readme(path):
    assert validate_items(path) >= 90
    assert path.name in (SILVER / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"evidence": " "}, "field 'evidence'"),
        ({"alt_evidence": "It helps."}, "the same text"),
        ({"claims": []}, "field 'claims'"),
        ({"claims": [{"text": "x", "label": "supports", "alt_label": "entail"}]}, "expected text, and label"),
        ({"claims": [{"text": "x", "label": "entail", "alt_label": "entail"}]}, "no claim of 'a' changes its label"),
    ],
)
def test_a_malformed_item_is_refused(tmp_path, change, message):
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({**ITEM, "id": "b"}) + "\n" + json.dumps({**ITEM, **change}) + "\n")
    with pytest.raises(DataError, match=f"s.jsonl:2.*{message}"):
        validate_items(path)


def test_an_id_is_used_once(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text(2 * (json.dumps(ITEM) + "\n"))
    with pytest.raises(DataError, match=r"s\.jsonl:2.*'a' is used already"):
        validate_items(path)


def test_the_baseline_finds_labels_that_claims_give_away_and_no_others():
    pytest.importorskip("sklearn")
    telling = [
        Pair("e", f"claim {n} is {'never' if n % 2 else 'always'} so", "contradict" if n % 2 else "entail", "s", str(n)) for n in range(60)
    ]
    silent = [Pair("e", f"claim {n // 2} is so", "contradict" if n % 2 else "entail", "s", str(n // 2)) for n in range(60)]
    assert claim_only_baseline(telling).accuracy > 0.95
    assert claim_only_baseline(silent).accuracy < 0.7
