"""Readers of training pairs on small files in each format, and the split that keeps a group on one side."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from pytest_medfaith.errors import DataError
from training.batches import length_bucketed_batches
from training.pairs import (
    Pair,
    is_share,
    read_check_covid,
    read_evidence_inference,
    read_factcheck,
    read_mpe,
    read_scifact,
    read_written,
    read_written_beside,
    read_written_elsewhere,
    read_written_windows,
)
from training.recipe import Phase, Recipe, load_sources, read_recipe
from training.train_nli import phase_batches, phase_bundles

ABSTRACT = [
    f"Sentence number {n} reports a measurement of the {word}."
    for n, word in enumerate(("heart", "lung", "liver", "skin", "bone", "eye"))
]
ITEM = {
    "id": "x-1",
    "topic": "t",
    "style": "s",
    "evidence": "One thing holds. The drug helps. Another thing holds. A last one too.",
    "alt_evidence": "One thing holds. The drug harms. Another thing holds. A last one too.",
    "claims": [
        {"text": "The drug is of use.", "label": "entail", "alt_label": "contradict", "kind": "direction"},
        {"text": "One thing is so.", "label": "entail", "alt_label": "entail", "kind": "same"},
    ],
}


def write_lines(path: Path, *rows: dict) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_both_texts_of_a_written_item_are_read(tmp_path):
    pairs = list(read_written(write_lines(tmp_path / "short.jsonl", ITEM)))
    assert [(pair.evidence == ITEM["evidence"], pair.label) for pair in pairs] == [
        (True, "entail"),
        (True, "entail"),
        (False, "contradict"),
        (False, "entail"),
    ]
    assert {(pair.source, pair.group) for pair in pairs} == {("short", "x-1")}


def test_claims_meet_evidence_of_another_item_of_their_tenth_as_neutral(tmp_path):
    ids = [f"x-{n}" for n in range(60)]
    path = write_lines(
        tmp_path / "short.jsonl", *({**ITEM, "id": id_, "evidence": f"Evidence of {id_}."} for id_ in ids)
    )
    pairs = list(read_written_elsewhere(path))
    assert len(pairs) == 50  # of each tenth all but its first item
    for pair in pairs:
        other = pair.evidence.removeprefix("Evidence of ").rstrip(".")
        assert other != pair.group
        assert is_share(other, one_in=10) == is_share(pair.group, one_in=10)
        assert pair.label == "neutral"


def test_claims_meet_the_sentences_around_what_decides_them_as_neutral(tmp_path):
    path = write_lines(tmp_path / "short.jsonl", *({**ITEM, "id": f"x-{n}"} for n in range(20)))
    pairs = list(read_written_beside(path))
    assert {(pair.claim, pair.label) for pair in pairs} == {("The drug is of use.", "neutral")}
    assert {pair.evidence for pair in pairs} == {"One thing holds.", "Another thing holds. A last one too."}


def test_captions_of_a_picture_are_one_evidence_without_their_marks(tmp_path):
    (tmp_path / "dev.csv").write_text(
        "premise,hypothesis,label\n12jpg0A boy runs 12jpg1A child plays,A child moves,entailment\n"
    )
    (pair,) = read_mpe(tmp_path)
    assert (pair.evidence, pair.claim, pair.label) == ("A boy runs. A child plays", "A child moves", "entail")


def test_windows_hold_the_edited_spot_and_only_claims_it_turns(tmp_path):
    pairs = list(read_written_windows(write_lines(tmp_path / "chunk.jsonl", ITEM)))
    assert [(pair.claim, pair.label) for pair in pairs] == [
        ("The drug is of use.", "entail"),
        ("The drug is of use.", "contradict"),
    ]
    assert "The drug helps." in pairs[0].evidence
    assert "The drug harms." in pairs[1].evidence


def test_scifact_gives_rationale_window_and_whole_abstract(tmp_path):
    write_lines(tmp_path / "corpus.jsonl", {"doc_id": 7, "abstract": ABSTRACT})
    write_lines(
        tmp_path / "claims_train.jsonl",
        {
            "id": 1,
            "claim": "The liver was measured.",
            "cited_doc_ids": [7],
            "evidence": {"7": [{"label": "SUPPORT", "sentences": [2]}]},
        },
        {"id": 2, "claim": "The bone was not measured.", "cited_doc_ids": [7], "evidence": {}},
    )
    proven, open_ = ([pair for pair in read_scifact(tmp_path) if pair.group == group] for group in "12")
    assert [pair.label for pair in proven] == ["entail"] * 3
    assert proven[0].evidence == ABSTRACT[2]
    assert ABSTRACT[2] in proven[1].evidence
    assert proven[2].evidence == " ".join(ABSTRACT)
    assert [pair.label for pair in open_] == ["neutral"] * 2
    assert ABSTRACT[4] in open_[0].evidence


def test_check_covid_reads_undecided_claims_against_their_listed_sentences_alone(tmp_path):
    write_lines(tmp_path / "corpus.json", {"cord_id": "c", "abstract": ABSTRACT})
    undecided = {
        "claim": "The skin was hot.",
        "cord_id": "c",
        "label": "NOTENOUGHINFO",
        "evidence_set": [{"sent_index": 3}],
    }
    write_lines(
        tmp_path / "train.json",
        undecided,
        {**undecided, "label": "REFUTE", "evidence_set": [{"sent_index": 5}]},
    )
    first, *refuted = read_check_covid(tmp_path)
    assert first == Pair(ABSTRACT[3], undecided["claim"], "neutral", "check_covid", undecided["claim"])
    assert [pair.label for pair in refuted] == ["contradict"] * 3
    assert refuted[2].evidence == " ".join(ABSTRACT)


def test_partial_support_names_no_label(tmp_path):
    stances = ["completely-support", "partially-support", "refute", "irrelevant"]
    rows = [{"claim": f"c{n}", "evidence": "e", "stance": stance} for n, stance in enumerate(stances)]
    assert [pair.label for pair in read_factcheck(write_lines(tmp_path / "f.jsonl", *rows))] == [
        "entail",
        "contradict",
        "neutral",
    ]


def test_evidence_inference_states_the_true_direction_a_false_one_and_an_unnamed_outcome(tmp_path):
    span = (
        "Mean systolic pressure fell by nine millimetres with drug A and by two with placebo, a clear "
        "difference between arms."
    )
    prompts = [
        {
            "PromptID": "1",
            "PMCID": "9",
            "Outcome": "systolic pressure",
            "Intervention": "drug A",
            "Comparator": "placebo",
        },
        {
            "PromptID": "2",
            "PMCID": "9",
            "Outcome": "hospital stay",
            "Intervention": "drug A",
            "Comparator": "placebo",
        },
    ]
    notes = [
        {
            "PromptID": "1",
            "PMCID": "9",
            "Label": "significantly decreased",
            "Valid Label": "True",
            "Annotations": span,
        }
    ]
    for name, rows in (("prompts_merged.csv", prompts), ("v2_annotations.csv", notes)):
        with (tmp_path / name).open("w", newline="") as out:
            writer = csv.DictWriter(out, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    (tmp_path / "splits").mkdir()
    (tmp_path / "splits" / "train_article_ids.txt").write_text("9\n")
    pairs = list(read_evidence_inference(tmp_path))
    assert [pair.label for pair in pairs] == ["entail", "contradict", "neutral"]
    assert "hospital stay" in pairs[2].claim.lower()
    (tmp_path / "splits" / "train_article_ids.txt").write_text("8\n")
    assert list(read_evidence_inference(tmp_path)) == []


def recipe_of(path: Path, **shares: int) -> Recipe:
    return Recipe(
        base="", sources={"short": {"reader": "written", "paths": [str(path)], **shares}}, phases=[]
    )


def test_groups_are_split_whole_between_training_calibration_and_holding_out(tmp_path):
    path = write_lines(tmp_path / "short.jsonl", *({**ITEM, "id": f"x-{n}"} for n in range(300)))
    sources = load_sources(recipe_of(path, held_out_one_in=10, calibration_one_in=10))
    parts = [
        {pair.group for pair in part["short"]}
        for part in (sources.train, sources.calibration, sources.held_out)
    ]
    assert sum(map(len, parts)) == len(set.union(*parts)) == 300
    assert all(20 <= len(part) <= 45 for part in parts[1:])
    assert all(is_share(group, one_in=10) for group in parts[2])


def test_a_source_may_be_several_files(tmp_path):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        'base = "b"\nphases = []\n[sources]\n'
        'one = { reader = "written", path = "{repo}/one.jsonl" }\n'
        'both = { reader = "written", paths = ["{repo}/one.jsonl", "{repo}/two.jsonl"] }\n'
    )
    for name in ("one", "two"):
        write_lines(tmp_path / f"{name}.jsonl", {**ITEM, "id": name})
    train = load_sources(read_recipe(recipe, data=tmp_path, repo=tmp_path)).train
    assert [pair.group for pair in train["one"]] == ["one"] * 4
    assert [pair.group for pair in train["both"]] == ["one"] * 4 + ["two"] * 4


def test_without_shares_everything_trains(tmp_path):
    path = write_lines(tmp_path / "short.jsonl", *({**ITEM, "id": f"x-{n}"} for n in range(30)))
    sources = load_sources(recipe_of(path))
    assert len(sources.train["short"]) == 120
    assert sources.held_out["short"] == sources.calibration["short"] == []


def test_a_share_above_one_repeats_and_below_one_samples_without_repeating():
    train = {"a": [Pair("e", f"c{n}", "neutral", "a", str(n)) for n in range(10)]}
    phase = Phase("p", 1, 1e-4, {"a": 1.5})
    chosen = phase_bundles(phase, train, epoch=0, seed=1)
    counts = Counter(pair.claim for bundle in chosen for pair in bundle)
    assert len(chosen) == 15
    assert set(counts.values()) == {1, 2}
    assert chosen == phase_bundles(phase, train, epoch=0, seed=1)
    assert chosen != phase_bundles(phase, train, epoch=1, seed=1)


def test_minimal_pairs_of_a_claim_are_drawn_together_into_the_same_batch():
    minimal_pairs = [
        Pair(f"The drug {word} pain. " * (n % 7), f"claim {n}", label, "a", str(n), f"{n}")
        for n in range(40)
        for word, label in (("eased", "entail"), ("did not ease", "contradict"))
    ]
    alone = [Pair("The drug eased pain.", f"claim {n}", "neutral", "b", str(n)) for n in range(40)]
    recipe = Recipe(base="", sources={}, phases=[], batch_tokens=200)
    phase = Phase("p", 1, 1e-4, {"a": 0.5, "b": 1.0})
    batches = list(phase_batches(recipe, phase, {"a": minimal_pairs, "b": alone}))
    assert len(batches) > 5
    sizes = [size for batch in batches for size in Counter(batch.bundles).values()]
    assert Counter(sizes) == {2: 20, 1: 40}
    for batch in batches:
        by_bundle = {}
        for bundle, target in zip(batch.bundles, batch.targets, strict=True):
            by_bundle.setdefault(bundle, []).append(target)
        assert {tuple(targets) for targets in by_bundle.values()} <= {(0, 2), (1,)}
        assert max(len(row[0]) for row in batch.rows) * len(batch.rows) <= 200 or len(set(batch.bundles)) == 1


@pytest.mark.parametrize("batch_tokens", [64, 500])
def test_batches_hold_every_row_once_and_keep_to_their_tokens(batch_tokens):
    lengths = [3 + (7 * n) % 60 for n in range(200)]
    batches = length_bucketed_batches(lengths, batch_tokens=batch_tokens, seed="s")
    assert sorted(i for batch in batches for i in batch) == list(range(200))
    assert all(
        len(batch) == 1 or max(lengths[i] for i in batch) * len(batch) <= batch_tokens for batch in batches
    )


def recipe_with(reader, path):
    return Recipe(base="b", sources={"mine": {"reader": reader, "paths": [str(path)]}}, phases=[])


ROW = {"claim": "Iron helps.", "evidence": "Iron is of use.", "label": "entail"}


def test_rows_of_claim_evidence_and_label_are_read_and_keep_what_they_share_together(tmp_path):
    rows = [
        ROW,
        {**ROW, "evidence": ["Zinc.", "Iron."], "label": "neutral"},
        {**ROW, "claim": "Copper.", "evidence": "Z."},
    ]
    path = write_lines(tmp_path / "mine.jsonl", *rows)
    pairs = load_sources(recipe_with("rows", path)).train["mine"]
    assert [(pair.claim, pair.evidence, pair.label) for pair in pairs] == [
        ("Iron helps.", "Iron is of use.", "entail"),
        ("Iron helps.", "Zinc. Iron.", "neutral"),
        ("Copper.", "Z.", "entail"),
    ]
    assert pairs[0].group == pairs[1].group != pairs[2].group


@pytest.mark.parametrize(
    ("reader", "row", "message"),
    [
        ("rows", {"claim": "c", "label": "entail"}, r":2: field 'evidence' is None, expected text"),
        ("rows", {**ROW, "evidence": "  "}, r":2: field 'evidence' is '  ', expected text"),
        ("rows", {**ROW, "claim": ""}, r":2: field 'claim' is '', expected text"),
        ("rows", {**ROW, "label": "yes"}, r":2: field 'label' is 'yes', expected one of entail, neutral"),
        (
            "factcheck",
            {"claim": "c", "evidence": "e"},
            r":2: field 'stance' is missing; .* 'claim', 'evidence'",
        ),
        (
            "factcheck",
            {"claim": "c", "evidence": "e", "stance": 3},
            r":2: field 'stance' is 3, expected text",
        ),
        (
            "wice",
            {"claim": "c", "evidence": ["e"], "label": "perhaps"},
            r":2: field 'label' is 'perhaps', expected",
        ),
        (
            "written",
            {**ITEM, "claims": [{"text": "t", "label": "entail"}]},
            r":2: field 'alt_label' is missing",
        ),
        ("written", {"id": "x", "claims": []}, None),
        ("written", {**ITEM, "claims": 3}, r"mine.jsonl: the reader 'written' cannot read it"),
    ],
)
def test_a_malformed_row_is_one_message_with_file_line_and_field(tmp_path, reader, row, message):
    good = {"written": ITEM, "factcheck": {**ROW, "stance": "support"}}.get(reader, ROW)
    good = {**ROW, "evidence": ["e"], "label": "supported"} if reader == "wice" else good
    path = write_lines(tmp_path / "mine.jsonl", good, row)
    if message is None:  # no claims, nothing to read
        assert load_sources(recipe_with(reader, path)).train["mine"]
        return
    with pytest.raises(DataError, match=message):
        load_sources(recipe_with(reader, path))


def test_a_line_that_is_no_json_and_an_unknown_reader_are_named(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text('{"claim": \n')
    with pytest.raises(DataError, match=r"mine.jsonl:1: not JSON"):
        load_sources(recipe_with("factcheck", path))
    with pytest.raises(DataError, match=r"source 'mine' names the reader 'raws'; expected one of rows, "):
        load_sources(recipe_with("raws", path))
