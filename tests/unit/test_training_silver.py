"""The silver files that the repository ships are well formed; malformed files are refused with the place.

The place is file, line and field.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_medfaith.errors import DataError
from training.pairs import Pair, json_lines
from training.silver import claim_only_baseline, validate_clusters, validate_items

DATA = Path(__file__).parents[2] / "data"
FILES = [  # with the least number of items
    pytest.param(path, least, id=f"{folder}-{path.stem}")
    for folder, least in (("silver", 90), ("published", 90), ("turned", 60), ("kinds", 75))
    for path in sorted((DATA / folder).glob("*.jsonl"))
]
ITEM = {
    "id": "a",
    "topic": "t",
    "style": "s",
    "evidence": "It helps.",
    "alt_evidence": "It harms.",
    "claims": [{"text": "It is of use.", "label": "entail", "alt_label": "contradict", "kind": "direction"}],
}

PUBLISHED = {
    "id": "p",
    "text_crc32": 7,
    "edits": [{"start": 0, "end": 2, "text": "They"}],
    "claims": [{"text": "It is of use.", "label": "entail", "alt_label": "contradict", "sentences": [0]}],
}
CLUSTER = {
    "texts": [{"id": "p", "text_crc32": 7}, {"id": "q", "text_crc32": 8}],
    "claims": [{"text": "It is of use.", "labels": ["entail", "neutral"], "sentences": [[0], []]}],
}


@pytest.mark.parametrize(("path", "least"), FILES)
def test_shipped_files_are_valid_and_named_in_the_readme(path, least):
    assert validate_items(path) >= least
    assert f"{path.parent.name}/{path.name}" in (DATA / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"evidence": " "}, "field 'evidence'"),
        ({"alt_evidence": "It helps."}, "the same text"),
        ({"claims": []}, "field 'claims'"),
        ({"claims": [{"text": "x", "label": "supports", "alt_label": "entail"}]}, "expected text, and label"),
        (
            {"claims": [{"text": "x", "label": "entail", "alt_label": "entail"}]},
            "no claim of 'a' changes its label",
        ),
    ],
)
def test_a_malformed_item_is_refused(tmp_path, change, message):
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({**ITEM, "id": "b"}) + "\n" + json.dumps({**ITEM, **change}) + "\n")
    with pytest.raises(DataError, match=f"s.jsonl:2.*{message}"):
        validate_items(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": ""}, "field 'id'"),
        ({"text_crc32": "7"}, "field 'text_crc32'"),
        ({"edits": []}, "field 'edits'"),
        ({"edits": [{"start": 2, "end": 2, "text": "x"}]}, "field 'edits'"),
        (
            {"edits": [{"start": 0, "end": 5, "text": "x"}, {"start": 3, "end": 9, "text": "y"}]},
            "field 'edits'",
        ),
        (
            {"claims": [{"text": "x", "label": "entail", "alt_label": "neutral", "sentences": []}]},
            "the sentences that decide it",
        ),
    ],
)
def test_malformed_claims_on_a_published_text_are_refused(tmp_path, change, message):
    refuses(validate_items, tmp_path / "s.jsonl", PUBLISHED, change, message)


def refuses(
    validate: Callable[[Path], int],
    path: Path,
    item: dict[str, object],
    change: dict[str, object],
    message: str,
) -> None:
    """Asserts that a file with `item` passes, and that the changed item is refused with place and message."""
    path.write_text(json.dumps(item) + "\n")
    assert validate(path) == 1
    path.write_text(json.dumps({**item, **change}) + "\n")
    with pytest.raises(DataError, match=f"s.jsonl:1.*{message}"):
        validate(path)


@pytest.mark.parametrize("path", sorted(DATA.glob("clusters/*.jsonl")), ids=lambda path: path.stem)
def test_shipped_clusters_are_valid_and_named_in_the_readme(path):
    assert validate_clusters(path) >= 20
    assert f"{path.parent.name}/{path.name}" in (DATA / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(DATA.glob("answers/*.jsonl")), ids=lambda path: path.stem)
def test_shipped_answers_are_valid_have_questions_and_are_named_in_the_readme(path):
    assert validate_clusters(path) == len({item["question"] for item in json_lines(path)})
    assert f"{path.parent.name}/{path.name}" in (DATA / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"texts": CLUSTER["texts"][:1]}, "a list 'texts' of two or more"),
        ({"claims": []}, "a list 'claims' of one or more"),
        ({"question": ""}, "field 'question'"),
        ({"texts": [{"id": "p", "text_crc32": "7"}, CLUSTER["texts"][1]]}, "the number 'text_crc32'"),
        ({"texts": [CLUSTER["texts"][0]] * 2}, "text 'p' is used already"),
        ({"claims": [{**CLUSTER["claims"][0], "text": ""}]}, "field 'text'"),
        ({"claims": [{**CLUSTER["claims"][0], "labels": ["entail"]}]}, "expected 2 labels"),
        ({"claims": [{**CLUSTER["claims"][0], "sentences": [[0], [1]]}]}, "empty where neutral"),
        ({"claims": [{**CLUSTER["claims"][0], "labels": ["supports", "neutral"]}]}, "expected labels among"),
    ],
)
def test_a_malformed_cluster_is_refused(tmp_path, change, message):
    refuses(validate_clusters, tmp_path / "s.jsonl", CLUSTER, change, message)


def test_an_id_is_used_once(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text(2 * (json.dumps(ITEM) + "\n"))
    with pytest.raises(DataError, match=r"s\.jsonl:2.*'a' is used already"):
        validate_items(path)


def test_the_baseline_finds_labels_that_claims_give_away_and_no_others():
    pytest.importorskip("sklearn")
    telling = [
        Pair(
            "e",
            f"claim {n} is {'never' if n % 2 else 'always'} so",
            "contradict" if n % 2 else "entail",
            "s",
            str(n),
        )
        for n in range(60)
    ]
    silent = [
        Pair("e", f"claim {n // 2} is so", "contradict" if n % 2 else "entail", "s", str(n // 2))
        for n in range(60)
    ]
    assert claim_only_baseline(telling).accuracy > 0.95
    assert claim_only_baseline(silent).accuracy < 0.7
