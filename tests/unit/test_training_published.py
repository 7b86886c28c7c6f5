"""Claims on published texts: pairs of a part of the text and of its edited copy, and texts of wrong words."""

from __future__ import annotations

import io
import json
import os
import re
import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from pytest_medfaith.errors import DataError
from pytest_medfaith.records import LABELS
from training.pairs import Pair, part_of
from training.published import (
    label_together,
    read_clusters,
    read_crossed,
    read_proofs,
    read_published,
    read_published_elsewhere,
    text_crc32,
    with_edited_copy,
)
from training.recipe import load_sources, read_recipe
from training.texts import TEXTS

TEXT = (
    "We asked who sleeps. Fifty people took part. The tea shortened sleep by an hour. Nobody fell ill. Tea "
    "costs sleep."
)
EDITS = [{"start": TEXT.index("shortened"), "end": TEXT.index(" sleep by"), "text": "did not shorten"}]
CLAIMS = [
    {"text": "With tea, people slept less.", "label": "entail", "alt_label": "contradict", "sentences": [2]},
    {"text": "Coffee does the same.", "label": "neutral", "alt_label": "neutral", "sentences": [4]},
]


def written(folder: Path, **change: object) -> tuple[Path, Path]:
    """Returns (claims, texts) files of Check-COVID's layout."""
    folder.mkdir(exist_ok=True)
    claims, texts = folder / "check_covid.jsonl", folder / "corpus.json"
    claims.write_text(
        json.dumps({"id": "t1", "text_crc32": text_crc32(TEXT), "edits": EDITS, "claims": CLAIMS, **change})
        + "\n"
    )
    texts.write_text(json.dumps({"cord_id": "t1", "abstract": TEXT.split("  ")}) + "\n")
    return claims, texts


def test_each_edit_is_made_in_its_sentence():
    both = with_edited_copy(
        TEXT, [*EDITS, {"start": TEXT.index("costs"), "end": TEXT.index("costs") + 5, "text": "spares"}]
    )
    assert both.edited == {2, 4}
    assert (both.copy[2], both.copy[4]) == ("The tea did not shorten sleep by an hour.", "Tea spares sleep.")
    assert [both.copy[i] == both.original[i] for i in range(5)] == [True, True, False, True, False]


def test_articles_are_read_by_paragraph_and_abstract(tmp_path):
    article = (
        "TITLE.\nTea and sleep\n\n\nABSTRACT.AIM.\nWe asked who sleeps.\n\nABSTRACT.RESULTS.\nTea shortened "
        "sleep.\n\n"
        "BODY.INTRODUCTION.\nSleep is good.  Tea is old. It is drunk hot.\n\nBODY.\nNobody fell ill.\n"
    )
    with tarfile.open(tmp_path / "abstracts.tar.gz", "w:gz") as archive:
        info = tarfile.TarInfo("abstracts/PMC1.abst")
        info.size = len(article)
        archive.addfile(info, io.BytesIO(article.encode()))
    passages = dict(TEXTS["evidence_inference_articles"](tmp_path / "abstracts.tar.gz"))
    assert passages == {
        "PMC1/1": "Sleep is good.",
        "PMC1/2": "Tea is old. It is drunk hot.",
        "PMC1/3": "Nobody fell ill.",
        "PMC1/abstract": "We asked who sleeps. Tea shortened sleep.",
    }
    item = {
        "id": "PMC1/3",
        "text_crc32": text_crc32("Nobody fell ill."),
        "edits": [{"start": 0, "end": 6, "text": "Everybody"}],
        "claims": [{**CLAIMS[0], "sentences": [0]}],
    }
    (tmp_path / "evidence_inference_articles.jsonl").write_text(json.dumps(item) + "\n")
    pairs = list(
        read_published(tmp_path / "evidence_inference_articles.jsonl", texts=tmp_path / "abstracts.tar.gz")
    )
    # A passage is kept out with its article's abstract.
    assert {pair.group for pair in pairs} == {"evidence_inference-PMC1"}


def test_a_claim_meets_what_decides_it_in_the_text_and_in_its_edited_copy(tmp_path):
    claims, texts = written(tmp_path)
    pairs = list(read_published(claims, texts=texts))
    flipped = [pair for pair in pairs if pair.claim == CLAIMS[0]["text"] and pair.bundle]
    assert [pair.label for pair in flipped] == ["entail", "contradict"]
    assert "shortened sleep" in flipped[0].evidence
    assert flipped[1].evidence == flipped[0].evidence.replace("shortened", "did not shorten")
    assert len({pair.bundle for pair in flipped}) == 1
    same = [pair for pair in pairs if pair.claim == CLAIMS[1]["text"]]
    assert {pair.label for pair in same} == {"neutral"}
    assert len(same) == (2 if "shortened" in same[0].evidence else 1)
    assert {pair.group for pair in pairs} == {"check_covid-t1"}


def test_a_claim_beside_its_proof_is_neutral_and_never_meets_an_edit(tmp_path):
    claims, texts = written(tmp_path, claims=CLAIMS[:1] * 40)
    beside = [pair for pair in read_published(claims, texts=texts) if not pair.bundle]
    assert 8 < len(beside) < 32
    assert {pair.label for pair in beside} == {"neutral"}
    assert not any("tea shortened" in pair.evidence for pair in beside)


def test_a_data_set_may_have_several_files(tmp_path):
    claims, texts = written(tmp_path)
    second = claims.rename(tmp_path / "check_covid_2.jsonl")
    assert {(pair.source, pair.group) for pair in read_published(second, texts=texts)} == {
        ("check_covid", "check_covid-t1")
    }


def test_whole_texts_are_what_a_checker_is_given(tmp_path):
    claims, texts = written(tmp_path)
    pairs = list(read_published(claims, texts=texts, whole=True))
    edited_copy = TEXT.replace("shortened", "did not shorten")
    assert [(pair.evidence, pair.label) for pair in pairs] == [
        (TEXT, "entail"),
        (TEXT, "neutral"),
        (edited_copy, "contradict"),
        (edited_copy, "neutral"),
    ]


def test_a_claim_elsewhere_meets_the_likeliest_sentence_of_another_text_of_its_tenth(tmp_path):
    ids = [f"t{number}" for number in range(200)]
    tenth = [name for name in ids if part_of(f"check_covid-{name}", parts=10) == 3][:2]
    texts = {
        tenth[0]: TEXT,
        tenth[1]: "Coffee is hot. People slept well with milk. Milk is white.",
        ids[0]: "With tea, people slept less.",
    }
    claims, corpus = written(tmp_path)
    rows = [
        {"id": name, "text_crc32": text_crc32(text), "edits": EDITS, "claims": CLAIMS}
        for name, text in texts.items()
    ]
    claims.write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus.write_text(
        "".join(json.dumps({"cord_id": name, "abstract": [text]}) + "\n" for name, text in texts.items())
    )
    pairs = list(read_published_elsewhere(claims, texts=corpus))
    assert ids[0] not in tenth
    assert [(pair.claim, pair.evidence, pair.label) for pair in pairs if pair.group.endswith(tenth[0])] == [
        (CLAIMS[0]["text"], "People slept well with milk.", "neutral")
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "t2"}, "text 't2' is missing; .*check_covid.jsonl needs"),
        ({"text_crc32": 1}, "text 't1' has changed; .*check_covid.jsonl needs"),
    ],
)
def test_a_text_that_the_claims_were_not_written_on_is_refused(tmp_path, change, message):
    claims, texts = written(tmp_path, **change)
    with pytest.raises(DataError, match=message):
        list(read_published(claims, texts=texts))


def crossed(folder: Path, **change: object) -> tuple[Path, Path]:
    """Returns (labels, texts) files of Check-COVID's layout: one claim against one text."""
    labels, texts = written(folder)
    (folder / "train.json").write_text(json.dumps({"claim": "Tea shortens sleep.", "cord_id": "t9"}) + "\n")
    row = {
        "claim_crc32": text_crc32("Tea shortens sleep."),
        "id": "t1",
        "text_crc32": text_crc32(TEXT),
        "label": "entail",
        "sentences": [2],
    }
    labels.write_text(json.dumps(row | change) + "\n")
    return labels, texts


def test_a_claim_of_the_set_meets_another_of_its_texts_as_proof_window_and_whole(tmp_path):
    labels, texts = crossed(tmp_path)
    proof, window, whole = read_crossed(labels, texts=texts)
    assert (proof.evidence, whole.evidence) == ("The tea shortened sleep by an hour.", TEXT)
    assert proof.evidence in window.evidence
    assert {(pair.claim, pair.label, pair.group) for pair in (proof, window, whole)} == {
        ("Tea shortens sleep.", "entail", "Tea shortens sleep.")
    }
    labels, texts = crossed(tmp_path, label="neutral", sentences=[])
    assert [pair.label for pair in read_crossed(labels, texts=texts)] == ["neutral", "neutral"]


def test_a_claim_that_was_written_on_one_text_meets_another(tmp_path):
    labels, texts = crossed(tmp_path, claim="Tea is harmless.", of="t7", label="neutral", sentences=[])
    assert {(pair.claim, pair.label, pair.group) for pair in read_crossed(labels, texts=texts)} == {
        ("Tea is harmless.", "neutral", "check_covid-t7")
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"claim_crc32": 1}, r"no claim of train.json has the CRC-32 1, which .*check_covid.jsonl labels"),
        ({"id": "t2"}, "text 't2' is missing"),
        ({"text_crc32": 1}, "text 't1' has changed"),
    ],
)
def test_a_label_whose_claim_or_text_is_another_is_refused(tmp_path, change, message):
    labels, texts = crossed(tmp_path, **change)
    with pytest.raises(DataError, match=message):
        list(read_crossed(labels, texts=texts))


ABSTRACTS = {
    "a": "Tea is old. Tea shortened sleep by an hour. It was drunk hot.",
    "b": "Coffee is older. Tea did not change how long people slept. Nobody fell ill.",
    "c": "Milk is white. Sleep is good for the heart. Children sleep longest.",
    "d": "Rats were fed oats. Their weight was taken. No rat fell ill.",
    "e": "Tea is grown on hills. Sleep was not asked about. Leaves are dried.",
}


def clustered(folder: Path, count: int = 1, **change: object) -> tuple[Path, Path]:
    """Returns (clusters, texts) files of Check-COVID's layout: five texts and a claim, `count` times.

    The first text entails the claim, the second refutes it.
    """
    claim = {
        "text": "Tea shortens sleep.",
        "labels": ["entail", "contradict", "neutral", "neutral", "neutral"],
        "sentences": [[1], [1], [], [], []],
    }
    item = {
        "texts": [{"id": name, "text_crc32": text_crc32(text)} for name, text in ABSTRACTS.items()],
        "claims": [claim | change] * count,
    }
    clusters, texts = folder / "check_covid_2.jsonl", folder / "corpus.json"
    clusters.write_text(json.dumps(item) + "\n")
    texts.write_text(
        "".join(json.dumps({"cord_id": name, "abstract": [text]}) + "\n" for name, text in ABSTRACTS.items())
    )
    return clusters, texts


def test_a_claim_meets_the_texts_of_its_cluster_that_decide_it_and_the_likeliest_open_ones(tmp_path):
    clusters, texts = clustered(tmp_path, count=60)
    bundles: dict[str, list] = {}
    for pair in read_clusters(clusters, texts=texts):
        bundles.setdefault(pair.bundle, []).append(pair)
    assert len(bundles) == 60
    lengths = set()
    for pairs in bundles.values():
        assert [pair.label for pair in pairs] == ["entail", "contradict", "neutral", "neutral"]
        assert ["hour" in pairs[0].evidence, "slept" in pairs[1].evidence] == [True, True]
        assert not any("oats" in pair.evidence for pair in pairs)  # shares fewest words with the claim
        sizes = {len(pair.evidence.split(". ")) for pair in pairs}
        assert len(sizes) == 1  # all texts of a claim are read in one way
        lengths |= sizes
        assert {pair.group for pair in pairs} == {"check_covid-a"}
    assert lengths == {1, 2, 3}


def test_a_cluster_is_measured_on_every_text_whole(tmp_path):
    clusters, texts = clustered(tmp_path)
    pairs = list(read_clusters(clusters, texts=texts, whole=True))
    assert [(pair.evidence, pair.label) for pair in pairs] == list(
        zip(ABSTRACTS.values(), ["entail", "contradict", "neutral", "neutral", "neutral"], strict=True)
    )


def test_a_proof_is_set_against_what_stands_beside_it_and_against_texts_that_leave_the_claim_open(tmp_path):
    clusters, texts = clustered(tmp_path, count=60)
    proofs = list(read_proofs(clusters, texts=texts))
    assert len(proofs) == 120  # two texts decide each claim
    assert {proof.group for proof in proofs} == {"check_covid-a"}
    elsewhere = ("Sleep is good for the heart.", "Rats were fed oats.", "Tea is grown on hills.")
    of_sentence = {proof.rivals for proof in proofs if proof.text == "Tea shortened sleep by an hour."}
    assert of_sentence == {
        ("Tea is old.", "It was drunk hot.", *elsewhere),
        elsewhere,
    }  # drawn as a sentence, or as a part that is no more
    sizes = {
        (len(re.findall(r"\.", proof.text)), *(len(re.findall(r"\.", rival)) for rival in proof.rivals[-3:]))
        for proof in proofs
    }
    assert sizes == {(size,) * 4 for size in (1, 2, 3)}  # read alike, so that length tells nothing
    assert proofs == list(read_proofs(clusters, texts=texts))


@pytest.mark.parametrize(
    ("labels", "together"),
    [
        (["neutral", "entail", "entail"], "entail"),
        (["contradict", "neutral"], "contradict"),
        (["neutral", "neutral"], "neutral"),
        (["entail", "neutral", "contradict"], None),
    ],
)
def test_texts_decide_a_claim_together_unless_they_clash(labels, together):
    assert label_together(labels) == together


def test_a_cluster_on_another_text_is_refused(tmp_path):
    clusters, texts = clustered(tmp_path)
    texts.write_text(texts.read_text().replace("Milk", "Cream"))
    with pytest.raises(DataError, match="text 'c' has changed"):
        list(read_clusters(clusters, texts=texts))


def test_a_recipe_names_the_texts_beside_the_claims(tmp_path):
    written(tmp_path / "claims")
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        'base = "b"\nphases = []\n[sources.tea]\nreader = "published"\npath = '
        '"{repo}/claims/check_covid.jsonl"\ntexts = "{data}/corpus.json"\n'
    )
    train = load_sources(read_recipe(recipe, data=tmp_path / "claims", repo=tmp_path)).train
    assert {pair.source for pair in train["tea"]} == {"check_covid"}


FIXTURES = Path(__file__).parents[2] / "data"
PUBLISHED = {
    "check_covid": "check_covid/corpus.json",
    "evidence_inference": "evidence_inference/abstracts.tar.gz",
    "evidence_inference_articles": "evidence_inference/abstracts.tar.gz",
    "medquad": "medquad/medquad_xml.tar.gz",
    "pubmedqa": "pubmedqa/ori_pqal.json",
    "scifact": "scifact/corpus.jsonl",
}  # file of the published texts, by data set


def with_texts(folder: str, *names: str) -> list[tuple[Path, str]]:
    """Returns each file of a folder of the fixtures, or those of these names.

    Beside each file is the file of its texts below the data folder.
    """
    paths = [path for path in sorted((FIXTURES / folder).glob("*.jsonl")) if not names or path.stem in names]
    return [(path, PUBLISHED[re.sub(r"_\d+$", "", path.stem)]) for path in paths]


def shipped_pairs(read: Callable[..., Iterable[Pair]], path: Path, texts: str) -> list[Pair]:
    """Returns the pairs of a shipped file on the published texts; skips where there are none."""
    if "MEDFAITH_DATA" not in os.environ:
        pytest.skip("MEDFAITH_DATA names no folder with the public data sets")
    return list(read(path, texts=Path(os.environ["MEDFAITH_DATA"]) / texts))


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("path", "texts"),
    [*with_texts("published"), *with_texts("turned")],
    ids=lambda value: "-".join(value.parts[-2:]) if isinstance(value, Path) else "",
)
def test_the_shipped_claims_fit_the_published_texts(path, texts):
    labels = [pair.label for pair in shipped_pairs(read_published, path, texts)]
    assert len(labels) > 1500
    assert min(labels.count(label) for label in set(labels)) > len(labels) / 5


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("path", "texts"),
    with_texts("crossed", "check_covid", "scifact"),
    ids=lambda value: getattr(value, "stem", ""),
)
def test_the_shipped_labels_fit_the_published_claims_and_texts(path, texts):
    pairs = shipped_pairs(read_crossed, path, texts)
    assert len(pairs) > 3000
    assert {pair.label for pair in pairs} == set(LABELS)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("path", "texts", "least"),
    [(*row, least) for folder, least in (("clusters", 500), ("answers", 100)) for row in with_texts(folder)],
    ids=lambda value: "-".join(value.parts[-2:]) if isinstance(value, Path) else "",
)
def test_the_shipped_clusters_and_answers_fit_the_published_texts(path, texts, least):
    labels = [pair.label for pair in shipped_pairs(read_clusters, path, texts)]
    assert len(labels) > least
    assert min(labels.count(label) for label in LABELS) > len(labels) / 20
