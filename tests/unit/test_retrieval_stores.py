"""A corpus is loaded into a store once, whatever interrupts it, and searched as the built-in indexes are."""

import dataclasses
import itertools
import json
import sys

import pytest
from store_fakes import ADDRESS, NAME, Letters, MemoryStore, failing, put_in_place

from pytest_medfaith.cli import app
from pytest_medfaith.english.words import search_words
from pytest_medfaith.errors import DataError, MissingExtra
from pytest_medfaith.jsonl import iter_chunks, write_records
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval import build, encoders
from pytest_medfaith.retrieval.build import build_retriever
from pytest_medfaith.retrieval.dense import dense_retriever
from pytest_medfaith.retrieval.notes import notes_on
from pytest_medfaith.retrieval.settings import RetrievalSettings
from pytest_medfaith.retrieval.signature import retriever_signature
from pytest_medfaith.retrieval.stores import loading, searching
from pytest_medfaith.retrieval.stores.address import parse_address
from pytest_medfaith.retrieval.stores.base import Only, StoreFault
from pytest_medfaith.retrieval.stores.loading import load_store
from pytest_medfaith.retrieval.stores.opening import Patience, PatientStore, open_store
from pytest_medfaith.retrieval.stores.rows import contents_hash, query_words

CHUNKS = [
    Chunk(id="a", text="Iron tablets treat anaemia.", source="pubmed", year=2010, title="Iron"),
    Chunk(id="b", text="Zinc heals wounds.", source="pubmed", year=2020),
    Chunk(id="c", text="Rain is near Erin. \ud800 \0", source="books"),
    Chunk(id="d", text="Arsenic is an error.", source="books", year=2015, extra={"prefix": "Poisons"}),
    Chunk(id="e", text="Aznar ran.", source="web", year=2021),
]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(loading, "BATCH", 2)


@pytest.fixture
def store(monkeypatch):
    return put_in_place(monkeypatch, MemoryStore())


def opened():
    return open_store(parse_address(ADDRESS))


def load(encoder=None, chunks=CHUNKS, **more):
    return load_store(opened(), lambda: iter(chunks), encoder or Letters().encoder(), **more)


@pytest.fixture
def letters(monkeypatch):
    """The encoder of the settings is Letters."""
    encode = Letters()
    monkeypatch.setattr(searching, "encoder_signature", lambda _name: "letters")
    monkeypatch.setattr(searching, "load_encoder", lambda _name: encode.encoder())
    return encode


def test_a_second_load_writes_and_encodes_nothing(store):
    first = load()
    store.asked.clear()
    encode = Letters()
    second = load(encode.encoder(), chunks=CHUNKS[::-1])
    assert (first.written, second.written) == (5, 0)
    assert first.state == second.state
    assert encode.encoded == 0
    assert not {"upsert", "create", "write_state"} & set(store.asked)


def test_a_load_killed_at_any_request_is_gone_on_with(monkeypatch):
    whole = put_in_place(monkeypatch, MemoryStore())
    load()
    finished = 0
    for request in itertools.count(1):
        store = put_in_place(monkeypatch, MemoryStore())
        left = itertools.count(1)

        def killed(_method, left=left, request=request):
            if next(left) == request:
                raise KeyboardInterrupt

        store.before = killed
        try:
            load()
            finished = request
            break
        except KeyboardInterrupt:
            store.before = None
        assert not (store.held or {}).get("complete")
        there = len(store.rows)
        assert load().written == 5 - there
        assert store.rows == whole.rows
        assert store.held == whole.held
    assert finished > 10  # states, batches and the end were all cut short


def test_the_command_loads_a_store_and_searches_it_without_a_corpus(
    store, letters, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(encoders, "load_encoder", lambda _name: letters.encoder())
    write_records(tmp_path / "corpus.jsonl", [chunk for chunk in CHUNKS if chunk.id != "c"])
    index = ["index", "--corpus", str(tmp_path / "corpus.jsonl"), "--store", ADDRESS]
    shown = []
    for arguments in (index, index, ["retrieve", "iron", "--retriever", NAME, "--k", "1"]):
        app(arguments, standalone_mode=False)
        shown.append(capsys.readouterr().out)
    assert shown[0] == f"{ADDRESS}: 4 chunks, 6 dimensions; 4 written, 0 there already\n"
    assert shown[1] == f"{ADDRESS}: 4 chunks, 6 dimensions; 0 written, 4 there already\n"
    assert f"({NAME} 1 at " in shown[2]
    assert store.held["complete"]


def test_ids_that_two_corpora_share_are_refused_before_anything_is_asked(store, tmp_path):
    for name in ("one", "two"):
        write_records(tmp_path / f"{name}.jsonl", CHUNKS[:1])
    with pytest.raises(
        DataError, match=r"two\.jsonl: chunk id 'a' is used in another file of this corpus too"
    ):
        load_store(opened(), lambda: iter_chunks([tmp_path]), Letters().encoder())
    assert store.asked == []


def test_progress_is_told_after_each_batch(store):  # noqa: ARG001 - in place
    told = []
    load(progress=lambda done, total: told.append((done, total)))
    assert told == [(2, 5), (4, 5), (5, 5)]


def test_a_changed_or_lost_row_is_written_again(store):
    load()
    first, second = list(store.rows)[:2]
    store.rows[first] = dataclasses.replace(store.rows[first], digest="0" * 32)
    del store.rows[second]
    assert load().written == 2


@pytest.mark.parametrize(
    ("changed", "there", "here"),
    [
        ({"chunks": CHUNKS[:4]}, r"corpus [0-9a-f]{16} \(5 chunks\)", r"corpus [0-9a-f]{16} \(4 chunks\)"),
        ({"chunks": [CHUNKS[0].with_(year=2011), *CHUNKS[1:]]}, "corpus ", "corpus "),
        ({"encoder": Letters().encoder("others")}, "encoder letters", "encoder others"),
        ({"encoder": Letters(4).encoder("short")}, "6 dimensions", "4 dimensions"),
        ({"encoder": Letters().encoder(metric="l2")}, "dimensions, ip", "dimensions, l2"),
        ({"k1": 1.2}, "k1 0.9 and b 0.4 there", "1.2 and 0.4 here"),
    ],
)
def test_another_corpus_or_encoder_is_refused_with_both_fingerprints(store, changed, there, here):
    load()
    before = dict(store.rows)
    with pytest.raises(DataError, match=f"holds .*{there}.*{here}.*load this corpus under another name"):
        load(**changed)
    assert store.rows == before


def test_an_encoder_whose_width_changed_under_its_name_is_refused(store):
    load()
    del store.rows[next(iter(store.rows))]
    with pytest.raises(DataError, match=r"gave vectors of 4 numbers, and the store .* holds vectors of 6"):
        load(Letters(4).encoder())


def test_a_corpus_that_changes_while_it_is_loaded_is_not_complete(store):
    readings = iter([CHUNKS, CHUNKS[:1], [*CHUNKS[:4], CHUNKS[4].with_(text="Take 100 mg.")]])
    with pytest.raises(DataError, match="the corpus changed while it was loaded into the store"):
        load_store(opened(), lambda: iter(next(readings)), Letters().encoder())
    assert store.held["complete"] is False


def test_a_user_who_may_only_search_sees_no_size(store, letters):  # noqa: ARG001 - the encoder
    load()

    def refused():
        raise StoreFault("refuses the user (status 403)")

    store.index_bytes = refused
    assert build_retriever(NAME, []).index_bytes() is None


def test_rows_of_something_else_keep_a_load_from_being_complete(store):
    store.before = lambda method: (
        method == "count" and store.rows.update(other=next(iter(store.rows.values())))
    )
    with pytest.raises(DataError, match="holds 6 chunks after loading, and the corpus 5"):
        load()
    assert store.held["complete"] is False


@pytest.mark.parametrize(
    "held", [{}, {"format": 0}, [], {"format": 1, "corpus": 3}, {"format": 1, "chunks": True}, "half"]
)
def test_a_collection_of_something_else_is_refused(store, held):
    load()
    store.held = {**store.held, **held} if isinstance(held, dict) and held else held
    for ask in (load, lambda: build_retriever(NAME, [])):
        with pytest.raises(DataError, match="holds something that medfaith index did not write"):
            ask()


@pytest.mark.usefixtures("letters")
@pytest.mark.parametrize("metric", ["ip", "l2"])
def test_hits_are_those_of_the_exact_index(store, tmp_path, monkeypatch, metric):  # noqa: ARG001
    encoder = Letters().encoder(metric=metric)
    monkeypatch.setattr(searching, "load_encoder", lambda _name: encoder)
    load(encoder)
    exact = dense_retriever(CHUNKS, encoder, cache=tmp_path, name=NAME)
    for given in ([], CHUNKS):
        found = build_retriever(NAME, given)
        for query in ("iron", "near rain", "zzz"):
            expected, hits = exact(query, top_k=5), found(query, top_k=5)
            assert [hit.chunk for hit in hits] == [hit.chunk for hit in expected]
            assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected], abs=1e-6)
            assert [(hit.rank, hit.ranks) for hit in hits] == [(hit.rank, hit.ranks) for hit in expected]
            assert all(hit.scores == {NAME: hit.score} for hit in hits)
            assert dict(hits[0].chunk.extra) == dict(expected[0].chunk.extra)
        assert len(found("iron", top_k=50)) == 5
        assert found.index_bytes() == 1000


@pytest.mark.usefixtures("letters", "store")
@pytest.mark.parametrize(("query", "k", "message"), [("", 1, "query is ''"), ("a", 0, "k is 0")])
def test_wrong_questions_are_refused(query, k, message):
    load()
    with pytest.raises(ValueError, match=message):
        build_retriever(NAME, [])(query, top_k=k)


FILTERS = [
    ("source=pubmed", {"a", "b"}),
    ("source=pubmed&source=web", {"a", "b", "e"}),
    ("from=2015", {"b", "d", "e"}),
    ("to=2015", {"a", "d"}),
    ("from=2015&to=2020", {"b", "d"}),
    ("source=books&from=1900", {"d"}),
    ("source=nothing", set()),
    ("from=2022", set()),
]


@pytest.mark.usefixtures("letters", "store")
@pytest.mark.parametrize(("asked", "expected"), FILTERS)
def test_sources_and_years_are_filters_and_nothing_left_is_a_note(asked, expected):
    load()
    name = f"{NAME}?{asked}"
    found = {hit.chunk.id for hit in build_retriever(name, [])("iron", top_k=5)}
    assert found == expected == {one.id for one in CHUNKS if parse_address(name).only.holds(one)}
    notes = notes_on(name, RetrievalSettings(), size=0)
    assert bool(notes) == (not expected)
    assert not notes or f"is of {Only.__str__(parse_address(name).only)}, so no question" in notes[0]


@pytest.mark.usefixtures("letters", "store")
def test_stores_are_fused_and_reranked(monkeypatch):
    load()
    words = f"{NAME}?search=words"
    settings = RetrievalSettings(fused=(NAME, words))
    hit = build_retriever("rrf", [], settings=settings)("iron tablets", top_k=1)[0]
    assert (hit.chunk.id, set(hit.ranks)) == ("a", {NAME, words})
    settings = RetrievalSettings(fused=("bm25", words))
    hits = build_retriever("weighted", CHUNKS, settings=settings)("iron tablets", top_k=5)
    assert (hits[0].chunk.id, hits[0].ranks) == ("a", {"bm25": 1, words: 1})
    with pytest.raises(ValueError, match="the corpus holds no chunk"):
        build_retriever("weighted", [], settings=settings)
    reranker = build.load_reranker("fast")
    monkeypatch.setattr(
        build,
        "load_reranker",
        lambda _name, **_: dataclasses.replace(reranker, score=lambda _q, t: [1.0] * len(t)),
    )
    assert build_retriever(f"{NAME}+fast", [])("iron", top_k=2)[0].ranks == {NAME: 1, "fast": 1}


@pytest.mark.usefixtures("letters", "store")
def test_a_store_that_does_not_hold_the_corpus_here_is_refused():
    load()
    with pytest.raises(
        DataError, match=r"holds the corpus \w{16} \(5 chunks\), and the corpus here is \w{16} \(4 chunks\)"
    ):
        build_retriever(NAME, CHUNKS[:4])


@pytest.mark.usefixtures("store")
def test_a_store_of_another_encoder_is_refused_with_both_signatures(monkeypatch):
    monkeypatch.setattr(searching, "encoder_signature", lambda name: f"of {name}")
    load()
    with pytest.raises(
        DataError,
        match=r"with the encoder letters, and the settings name 'e5' \(of e5\) and 'bge' \(of bge\)",
    ):
        build_retriever(NAME, [], settings=RetrievalSettings(encoders=("e5", "bge")))


@pytest.mark.usefixtures("letters", "store")
def test_words_are_searched_by_the_parameters_of_the_load(monkeypatch):
    load()
    with pytest.raises(DataError, match=r"with k1 0.9 and b 0.4, and the settings say 1.5 and 0.4"):
        build_retriever(f"{NAME}?search=words", [], settings=RetrievalSettings(k1=1.5))
    assert build_retriever(f"{NAME}?search=words", [])("?!", top_k=1) == []
    monkeypatch.setattr(MemoryStore, "searches", ("vector",))
    with pytest.raises(DataError, match="does not search words by BM25; OpenSearch does"):
        build_retriever(f"{NAME}?search=words", [])


@pytest.mark.usefixtures("letters")
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda store: setattr(store, "held", None), "there is no store .*; load it: medfaith index"),
        (
            lambda store: store.held.update(complete=False),
            "not loaded to its end; run medfaith index --store again",
        ),
        (lambda store: store.rows.pop(next(iter(store.rows))), "loaded with 5 chunks and holds 4 now"),
    ],
)
def test_a_store_that_is_not_whole_is_not_searched(store, damage, message):
    load()
    damage(store)
    with pytest.raises(DataError, match=message):
        build_retriever(NAME, [])


def _other_text(row):
    return {"chunk": json.dumps({**json.loads(row.chunk), "text": "Take 100 times as much."})}


@pytest.mark.usefixtures("letters")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_other_text, "gave a row that is not as it was loaded; something else wrote into it"),
        (lambda _row: {"digest": "None"}, "gave a row that is not as it was loaded"),
        (lambda _row: {"chunk": None}, "gave a row that is not as it was loaded"),
    ],
)
def test_a_row_that_was_changed_in_the_store_is_no_evidence(store, change, message):
    load()
    for key, row in store.rows.items():
        store.rows[key] = dataclasses.replace(row, **change(row))
    with pytest.raises(DataError, match=message):
        build_retriever(NAME, [])("iron", top_k=1)


@pytest.mark.usefixtures("letters")
def test_a_chunk_given_twice_is_no_answer(store, monkeypatch):
    load()
    monkeypatch.setattr(store, "_best", lambda *_: MemoryStore._best(store, lambda _row: 1.0, 1, Only()) * 2)
    with pytest.raises(DataError, match="gave a chunk twice"):
        build_retriever(NAME, [])("iron", top_k=2)


def test_a_fault_that_passes_is_waited_for(store):
    store.before = failing("is starting", times=3)
    assert load().written == 5
    assert [one for one in store.asked if not isinstance(one, str)] == [0.25, 0.5, 1.0]


def test_a_fault_that_stays_is_one_error_and_further_requests_do_not_wait(store):
    store.before = failing("cannot be reached (refused)", times=99)
    patient = opened()
    with pytest.raises(DataError) as caught:
        patient.count()
    assert str(caught.value) == (
        f"the store {ADDRESS} cannot be reached (refused) after 4 tries; start it, or name another address"
    )
    store.asked.clear()
    with pytest.raises(DataError, match="refused"):
        patient.count()
    assert store.asked == ["count"]
    store.before = None
    patient.count()
    store.before, _ = failing("is down", times=3), store.asked.clear()
    patient.count()
    assert store.asked == ["count", 0.25, "count", 0.5, "count", 1.0, "count"]


def test_nonsense_is_not_asked_for_again(store):
    store.before = failing("gave an answer that is not Qdrant's (ValidationError)", times=99, may_pass=False)
    with pytest.raises(
        DataError, match=r"is not Qdrant's .*; check that the address is that of such a store"
    ):
        opened().count()
    assert store.asked == ["count"]


@pytest.mark.parametrize("name", ["QDRANT_API_KEY", "PGPASSWORD", "OPENSEARCH_PASSWORD", "IN_THE_ADDRESS"])
def test_no_message_tells_a_password(monkeypatch, name):
    monkeypatch.setenv(name, "pa-s3cret")
    monkeypatch.setenv(
        "WHERE", "pgvector://me:pa-s3cret@h/rag/drugs" if name == "IN_THE_ADDRESS" else ADDRESS
    )
    store = MemoryStore()
    store.before = failing("refused me:pa-s3cret@h " + "x" * 500, times=9)
    patient = PatientStore(store, parse_address("env:WHERE"), Patience(retries=0))
    with pytest.raises(DataError, match=r"refused me:\*\*\*@h x+…; start it") as caught:
        patient.count()
    assert "pa-s3cret" not in str(caught.value)


@pytest.mark.usefixtures("store", "letters")
def test_the_signature_of_a_run_says_what_the_store_holds(monkeypatch):
    load()
    monkeypatch.setenv("WHERE", ADDRESS.replace("//", "//me:pa-s3cret@"))
    found = retriever_signature("store:env:WHERE", RetrievalSettings(), size=0)
    corpus, _ = contents_hash(CHUNKS)
    assert found == {
        "packages": {},
        "stores": {"store:env:WHERE": f"corpus {corpus} (5 chunks), encoder letters, 6 dimensions, ip"},
    }


@pytest.mark.parametrize("name", ["store:qdrant+http://me:pa-s3cret@h/n", "rrf"])
def test_a_password_in_a_retrievers_name_is_refused(name):
    settings = RetrievalSettings(fused=("bm25", "store:qdrant+http://me:pa-s3cret@h/n"))
    with pytest.raises(ValueError, match="holds a password") as caught:
        build_retriever(name, CHUNKS, settings=settings)
    assert "pa-s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "module", "extra"),
    [
        ("qdrant+http://h/n", "qdrant_client", "qdrant"),
        ("qdrant+file:///tmp/q/n", "qdrant_client", "qdrant"),
        ("pgvector://h/rag/n", "psycopg", "pgvector"),
        ("opensearch+http://h/n", "opensearchpy", "opensearch"),
    ],
)
def test_without_its_client_the_extra_is_named(monkeypatch, address, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"pip install 'pytest-medfaith\[{extra}\]'"):
        open_store(parse_address(address))


def test_a_word_with_a_space_stays_a_word():
    assert query_words("Give 5 mg of HER2, IL-6.").split() == [
        word.replace(" ", "_") for word in search_words("Give 5 mg of HER2, IL-6.")
    ]
    assert "5_mg" in query_words("Give 5 mg")


def test_the_hash_of_a_corpus_changes_with_anything_but_the_order():
    corpus, size = contents_hash(CHUNKS)
    assert (corpus, size) == contents_hash(CHUNKS[::-1])
    for change in ({"year": 1}, {"source": "x"}, {"text": "x"}, {"id": "x"}, {"extra": {"prefix": "x"}}):
        assert contents_hash([*CHUNKS[:3], CHUNKS[3].with_(**change), CHUNKS[4]])[0] != corpus
    assert contents_hash([*CHUNKS, CHUNKS[0]])[0] != corpus
