"""The encoder's training, on a BERT of a few weights and data of a few lines."""

import dataclasses
import io
import json
import tarfile

import numpy as np
import pytest

from training.contrastive import Example, allowed_documents, batches_of, may_answer, mine_negatives
from training.pairs import part_of
from training.published import text_crc32
from training.retrieval_pairs import (
    COLLECTIONS,
    READERS,
    RetrievalPair,
    abstract_text,
    check_covid_collection,
    collection_of,
    read_check_covid_pairs,
    read_evidence_inference_pairs,
    read_medquad_pairs,
    read_written_pairs,
    scifact_collection,
)
from training.train_encoder import (
    RECIPE,
    Leaks,
    Source,
    draw_pages,
    mixed,
    read_encoder_recipe,
    read_examples,
    train_encoder,
    with_negatives,
)

TOPICS = ("iron", "zinc", "folate", "iodine", "niacin", "biotin", "selenium", "copper")


def pair(query, document, group="g", page=None):
    return RetrievalPair(query, document, page=page or group, group=group)


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def data(tmp_path):
    """Data sets of a few rows in their publishers' layouts.

    Topics 0-3 of Check-COVID train, the others choose.
    """
    root = tmp_path / "data"
    docs = [
        {
            "cord_id": t,
            "title": f"A study of {t}.",
            "abstract": [f"We gave {t} to adults.", f"Low {t} was seen."],
        }
        for t in TOPICS
    ]
    write_lines(root / "check_covid" / "corpus.json", docs)
    rows = [
        {"claim": f"Adults took {t}.", "cord_id": t, "label": label}
        for t in TOPICS
        for label in ("SUPPORT", "NOTENOUGHINFO")
    ]
    write_lines(root / "check_covid" / "train.json", rows[:8])
    write_lines(root / "check_covid" / "dev.json", rows[8:])
    write_lines(
        root / "scifact" / "corpus.jsonl",
        [
            {"doc_id": i, "title": f"Trial {i}", "abstract": [f"The dose of {t} was low."]}
            for i, t in enumerate(TOPICS)
        ],
    )
    write_lines(
        root / "scifact" / "claims_train.jsonl",
        [{"id": 7, "claim": "Zinc was dosed low.", "evidence": {}, "cited_doc_ids": [1]}],
    )
    return root


RECIPE_TEXT = """
base = "{base}"
mix = [0.5, 1.0]
development = ["check_covid_dev"]
tests = ["scifact"]
max_tokens = 16
batch_pairs = 3
learning_rate = 1e-2
freeze = ["word_embeddings"]

[sources.covid]
reader = "check_covid"
path = "{{data}}/check_covid"
share = 1.0
ranks = [1, 3]
"""


def recipe_at(tmp_path, base, text=RECIPE_TEXT):
    path = tmp_path / "recipe.toml"
    path.write_text(text.format(base=base))
    return path


EVIDENCE = RECIPE.with_name("encoder_evidence.toml")


@pytest.mark.parametrize("path", [RECIPE, EVIDENCE], ids=lambda path: path.stem)
def test_a_recipe_of_the_package_names_readers_and_collections_that_exist(tmp_path, path):
    recipe = read_encoder_recipe(path, data=tmp_path / "d", repo=tmp_path / "r")
    assert recipe.sources["check_covid"].paths == (str(tmp_path / "d" / "check_covid"),)
    assert recipe.sources["written"].paths == (str(tmp_path / "r" / "data" / "silver"),)
    assert {source.reader for source in recipe.sources.values()} <= set(READERS)
    assert not set(recipe.tests) & set(recipe.development)
    assert set(recipe.tests) | set(recipe.development) == set(COLLECTIONS)
    assert not any(
        "scifact" in part
        for source in recipe.sources.values()
        for part in (source.reader, source.texts, *source.paths)
    )


def test_a_source_of_claims_names_its_files_and_the_texts_they_were_written_on(tmp_path):
    source = read_encoder_recipe(EVIDENCE, data=tmp_path / "d", repo=tmp_path / "r").sources[
        "clusters_check_covid"
    ]
    folders = tmp_path / "r" / "data"
    assert source.paths == (
        str(folders / "clusters" / "check_covid.jsonl"),
        str(folders / "answers" / "check_covid.jsonl"),
    )
    assert source.texts == str(tmp_path / "d" / "check_covid" / "corpus.json")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'reader = "check_covid"',
            'reader = "covid"',
            "no reader is named 'covid'; expected one of medquad, ",
        ),
        (
            'tests = ["scifact"]',
            'tests = ["scifacts"]',
            "no collection is named 'scifacts'; expected one of scifact, ",
        ),
    ],
)
def test_a_recipe_that_names_what_is_not_there_is_an_error(tmp_path, old, new, message):
    path = recipe_at(tmp_path, "x", RECIPE_TEXT.replace(old, new))
    with pytest.raises(ValueError, match=message):
        read_encoder_recipe(path, data=tmp_path, repo=tmp_path)


def test_a_collection_takes_all_documents_of_a_query_as_relevant():
    made = collection_of([pair("q1", "a"), pair("q2", "b"), pair("q1", "c"), pair("q2", "b")], ["b", "d"])
    assert made.queries == ("q1", "q2")
    assert made.documents == ("a", "b", "c", "d")
    assert made.relevant == (frozenset({0, 2}), frozenset({1}))


def test_check_covid_pairs_claims_with_decided_labels_and_titles_end_in_one_stop(data):
    pairs = list(read_check_covid_pairs(data / "check_covid"))
    assert [pair.group for pair in pairs] == list(TOPICS[:4])
    assert pairs[0].document == "A study of iron. We gave iron to adults. Low iron was seen."
    made = check_covid_collection(data)
    assert (len(made.queries), len(made.documents)) == (4, 8)
    assert next(made.documents[i] for i in made.relevant[0]).startswith("A study of niacin.")


def test_scifact_is_searched_whole(data):
    made = scifact_collection(data)
    assert len(made.documents) == len(TOPICS)
    assert [made.documents[i] for i in made.relevant[0]] == ["Trial 1. The dose of zinc was low."]


def test_written_items_give_entailed_claims_without_the_held_out_items(tmp_path):
    claims = [
        {"text": "It helps.", "label": "entail", "alt_label": "neutral"},
        {"text": "No.", "label": "neutral", "alt_label": "entail"},
    ]
    rows = [{"id": f"i{n}", "evidence": f"Text {n}.", "claims": claims} for n in range(40)]
    write_lines(tmp_path / "short.jsonl", rows)
    pairs = list(read_written_pairs(tmp_path))
    assert 30 <= len(pairs) < 40
    assert {pair.query for pair in pairs} == {"It helps."}


def test_claims_on_texts_that_the_checker_is_measured_or_calibrated_on_do_not_train(tmp_path):
    texts, text, edit = (
        tmp_path / "corpus.json",
        "Tea is old. Tea shortens sleep.",
        {"start": 16, "end": 24, "text": "lengthens"},
    )
    names = [f"t{n}" for n in range(60)]
    write_lines(texts, [{"cord_id": name, "abstract": [text]} for name in names])
    claims = [
        {"text": "Tea cuts sleep.", "label": "entail", "alt_label": "contradict", "sentences": [1]},
        {"text": "Tea lengthens sleep in some.", "label": "neutral", "alt_label": "entail", "sentences": [1]},
    ]
    of_text = [{"id": name, "text_crc32": text_crc32(text)} for name in names]
    write_lines(
        tmp_path / "published" / "check_covid.jsonl",
        [row | {"edits": [edit], "claims": claims} for row in of_text],
    )
    clustered = [{"text": "Tea cuts sleep.", "labels": ["entail", "neutral"], "sentences": [[1], []]}]
    pairs_of = zip(of_text[::2], of_text[1::2], strict=True)
    write_lines(
        tmp_path / "clusters" / "check_covid.jsonl",
        [{"texts": list(pair), "claims": clustered} for pair in pairs_of],
    )
    published = list(READERS["published"](tmp_path / "published" / "check_covid.jsonl", texts=texts))
    clusters = list(READERS["clusters"](tmp_path / "clusters" / "check_covid.jsonl", texts=texts))
    trains = [name for name in names if part_of(f"check_covid-{name}", parts=10) > 1]
    assert 0 < len(trains) < len(names)
    assert [(pair.query, pair.group) for pair in published] == [
        ("Tea cuts sleep.", f"check_covid-{name}") for name in trains
    ]
    # What the edited copy decides is not true of the text.
    assert not any("lengthens" in pair.document for pair in published)
    assert [pair.group for pair in clusters] == [
        f"check_covid-{name}" for name in trains if name in names[::2]
    ]
    assert all(pair.rivals for pair in clusters)


def test_answers_of_one_medquad_page_may_be_negatives_for_each_other(tmp_path):
    answers = "".join(
        f'<QAPair pid="{n}"><Question qid="{n}" qtype="t">{q}</Question><Answer>{a}</Answer></QAPair>'
        for n, (q, a) in enumerate(
            [("What is gout?", "A disease."), ("What treats gout?", "Colchicine.")], start=1
        )
    )
    for source in ("NIDDK", "GARD"):
        text = (
            f'<Document id="1" source="{source}" url="u"><Focus>Gout</Focus><QAPairs>{answers}</QAPairs></Doc'
            f"ument>"
        )
        (tmp_path / f"{source}.xml").write_text(text)
    first, second = read_medquad_pairs(tmp_path, only=("GARD",))
    assert (first.query, first.document) == ("What is gout?", "Gout. A disease.")
    assert first.page == second.page
    assert not may_answer(second, first)


@pytest.mark.parametrize(
    ("article", "expected"),
    [
        (
            (
                "TITLE.\nA trial\n\nABSTRACT.BACKGROUND:.\nWe asked.\n\nABSTRACT.RESULTS:.\nIt "
                "fell.\n\nBODY.\nLong."
            ),
            "A trial. We asked. It fell.",
        ),
        ("TITLE: \nA trial\n\n\nIt fell. (P < 0.1).\n", "A trial. It fell. (P < 0.1)."),
        ("TITLE.\nA trial\n\nBODY.METHODS.\nLong.", ""),
    ],
)
def test_an_abstract_is_found_in_both_layouts(article, expected):
    assert abstract_text(article) == expected


def test_evidence_inference_pairs_true_claims_with_their_abstract(tmp_path):
    (tmp_path / "splits").mkdir()
    (tmp_path / "splits" / "train_article_ids.txt").write_text("11\n")
    (tmp_path / "prompts_merged.csv").write_text(
        "PromptID,PMCID,Outcome,Intervention,Comparator\n1,11,pain,drug A,placebo\n"
    )
    span = "Pain fell more with drug A than with placebo over the twelve weeks of the trial."
    (tmp_path / "v2_annotations.csv").write_text(
        f"PromptID,PMCID,Valid Label,Label,Annotations\n1,11,True,significantly decreased,{span}\n"
    )
    article = b"TITLE.\nDrug A for pain\n\nABSTRACT.\nPain fell.\n"
    with tarfile.open(tmp_path / "abstracts.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("abstracts/PMC11.abst")
        member.size = len(article)
        archive.addfile(member, io.BytesIO(article))
    (found,) = read_evidence_inference_pairs(tmp_path)
    assert found.document == "Drug A for pain. Pain fell."
    assert "drug A" in found.query or "Drug A" in found.query


def test_what_may_answer_a_query_never_competes():
    gout, pica = pair("What is gout?", "Gout. A disease.", "a"), pair("What is pica?", "Eating clay.", "d")
    same_group, same_text = pair("Who gets gout?", "Men.", "a"), pair("Is it bad?", "gout: a DISEASE", "b")
    same_question = pair("What is gout", "Crystals.", "c")
    assert allowed_documents([gout, pica], [same_group, same_text, same_question]) == [
        [True, True, False, False, False],
        [True, True, True, True, True],
    ]


def test_batches_hold_every_example_once_and_never_two_of_a_group_or_question():
    examples = [Example(pair(f"q{n % 25}", f"d{n}", group=f"g{n % 7}"), None) for n in range(50)]
    batches = list(batches_of(examples, size=4, seed="s"))
    for batch in batches:
        assert 2 <= len(batch) <= 4
        assert (
            len({example.pair.group for example in batch})
            == len({example.pair.query for example in batch})
            == len(batch)
        )
    placed = [example for batch in batches for example in batch]
    assert len(placed) == len(set(placed)) >= 49
    assert batches == list(batches_of(examples, size=4, seed="s"))
    assert batches != list(batches_of(examples, size=4, seed="t"))


def test_a_hard_negative_is_near_and_answers_nothing():
    pairs = [
        pair("q0", "d0", "a"),
        pair("q1", "d1", "b"),
        pair("q2", "d2", "a"),
        pair("q3", "d3", "c"),
        pair("q4", "d0", "d"),
    ]
    documents = np.array([[1.0, 0], [0.99, 0.1], [0.8, 0.6], [0.6, 0.8], [1.0, 0]], dtype=np.float32)
    queries = np.tile(np.array([1.0, 0], dtype=np.float32), (5, 1))
    found = mine_negatives(pairs, queries, documents, ranks=(1, 5), seed=1)
    # d0 is the right document of q0 and of q4, d1 scores as high as d0, d2 is of the same group: d3 is left.
    assert found[0] == pairs[3]
    assert found[3] is None  # every candidate scores higher than the right document


def test_a_claim_is_set_against_a_rival_of_its_own_where_it_has_some(tmp_path):
    recipe = read_encoder_recipe(recipe_at(tmp_path, "x"), data=tmp_path, repo=tmp_path)
    rivalled, alone = pair("q0", "d0", "a"), pair("q1", "d1", "b")
    first, second = with_negatives(
        recipe, "covid", [dataclasses.replace(rivalled, rivals=("r1", "r2")), alone], model=None
    )
    assert first.pair == rivalled
    assert first.negative.document in {"r1", "r2"}
    assert not may_answer(first.negative, rivalled)
    assert second == Example(alone, None)


def test_texts_of_tests_and_of_development_do_not_train(data):
    tests, development = [scifact_collection(data)], [check_covid_collection(data)]
    leaks = Leaks.of(tests, development)
    assert leaks.has(pair("zinc was dosed LOW", "Other."))
    assert leaks.has(
        pair("Other?", "The dose of copper was low.")
    )  # a passage of a document that no query asks for
    assert leaks.has(pair("Other?", "A study of niacin. We gave niacin to adults."))
    assert not leaks.has(
        pair("Other?", "A study of iron. We gave iron to adults.")
    )  # in the corpus, relevant to no query of it
    assert [leaks.has(pair) for pair in read_check_covid_pairs(data / "check_covid")] == [False] * 4


def test_a_sentence_of_a_test_does_not_train_wherever_it_stands():
    sentence = "Twelve weeks of walking lowered the blood pressure of older adults."
    leaks = Leaks.of([collection_of([pair("q", f"A trial. {sentence} It was small.")])], [])
    assert leaks.has(pair("Other?", f"Nobody knew before. {sentence}"))
    assert leaks.has(
        dataclasses.replace(pair("Other?", "Nobody knew before."), rivals=(f"Nobody knew. {sentence}",))
    )
    assert not leaks.has(
        pair(
            "Other?", "Nobody knew before. Twelve weeks of walking raised the blood pressure of older adults."
        )
    )


def test_pages_are_drawn_whole():
    pairs = [pair(f"q{n}", f"d{n}", group=f"g{n}", page=f"p{n // 3}") for n in range(30)]
    drawn = draw_pages(pairs, share=0.4, seed="s")
    assert len(drawn) == 12
    assert len({pair.page for pair in drawn}) == 4
    assert drawn == draw_pages(pairs, share=0.4, seed="s")


def test_a_source_reads_only_what_it_names(monkeypatch):
    monkeypatch.setitem(READERS, "medquad", lambda path, only=(): [(str(path), only)])
    assert Source("medquad", ("x", "y"), 1.0, (1, 8), only=("GARD",)).pairs() == [
        ("x", ("GARD",)),
        ("y", ("GARD",)),
    ]


@pytest.fixture
def base(tmp_path):
    """A BERT of one narrow layer with the shipped vocabulary, as a base model's folder."""
    torch = pytest.importorskip("torch", reason="comes with the extra train")
    transformers = pytest.importorskip("transformers", reason="comes with the extra train")
    from pytest_medfaith.models.shipped import MINILM_TOKENIZER

    torch.manual_seed(0)
    config = transformers.BertConfig(
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=512,
    )
    folder = tmp_path / "base"
    transformers.BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    transformers.PreTrainedTokenizerFast(tokenizer_file=str(MINILM_TOKENIZER)).save_pretrained(folder)
    return folder


def test_training_moves_the_weights_and_goes_on_where_it_stopped(tmp_path, data, base):
    from training.contrastive import encode, load_encoder_student

    recipe = read_encoder_recipe(recipe_at(tmp_path, base), data=data, repo=tmp_path)
    lines = []
    folder = train_encoder(recipe, tmp_path / "out", data=data, progress=lines.append)
    assert lines[0].startswith("covid: 4 of 4 pairs, ")
    mix = json.loads((tmp_path / "out" / "mix.json").read_text())
    assert list(mix["development"]) == ["0.0", "0.5", "1.0"]
    assert mix["share"] in (0.0, 0.5, 1.0)
    tuned, original = (load_encoder_student(path).state_dict() for path in (tmp_path / "out" / "tuned", base))
    moved = {name for name in original if not tuned[name].equal(original[name])}
    assert any("attention" in name for name in moved)
    assert not any("word_embeddings" in name for name in moved)
    kept = load_encoder_student(folder).state_dict()
    assert all(
        kept[name].allclose(weights) for name, weights in mixed(original, tuned, share=mix["share"]).items()
    )

    drawn = tmp_path / "out" / "examples" / "covid.jsonl"
    assert {example.pair.group for example in read_examples(drawn)} == set(TOPICS[:4])
    again = tmp_path / "again"
    (again / "examples").mkdir(parents=True)
    drawn.rename(again / "examples" / "covid.jsonl")
    resumed = []
    train_encoder(recipe, again, data=data, progress=resumed.append)
    assert not any(line.startswith("covid") for line in resumed)
    vectors = [
        encode(load_encoder_student(out / "tuned").eval(), ["iron"], max_tokens=8)
        for out in (tmp_path / "out", again)
    ]
    assert np.array_equal(*vectors)
    finished = []
    train_encoder(dataclasses.replace(recipe, sources={}), again, data=data, progress=finished.append)
    assert finished == []


def test_trained_weights_are_mixed_with_those_of_another_run(tmp_path, data, base):
    from training.contrastive import load_encoder_student

    recipe = read_encoder_recipe(recipe_at(tmp_path, base), data=data, repo=tmp_path)
    first = train_encoder(
        dataclasses.replace(recipe, mix=(1.0,)), tmp_path / "first", data=data, progress=list
    )
    second = train_encoder(
        dataclasses.replace(recipe, seed=14), tmp_path / "second", data=data, mix_with=first, progress=list
    )
    mix_of = {name: json.loads((tmp_path / name / "mix.json").read_text()) for name in ("first", "second")}
    share = mix_of["second"]["share"]
    assert (
        mix_of["second"]["development"]["0.0"]
        == mix_of["first"]["development"][str(mix_of["first"]["share"])]
    )
    other, tuned, kept = (
        load_encoder_student(path).state_dict() for path in (first, tmp_path / "second" / "tuned", second)
    )
    assert all(kept[name].allclose(weights) for name, weights in mixed(other, tuned, share=share).items())


def test_the_loss_counts_only_documents_that_compete():
    torch = pytest.importorskip("torch", reason="comes with the extra train")
    from training.contrastive import info_nce

    queries = torch.eye(2)
    documents = torch.tensor([[1.0, 0], [0, 1.0], [1.0, 0]])
    everything = torch.ones(2, 3, dtype=torch.bool)
    without = everything.clone()
    without[0, 2] = False
    assert info_nce(queries, documents, everything, scale=20.0).item() == pytest.approx(
        0.5 * np.log(2), abs=1e-6
    )
    assert info_nce(queries, documents, without, scale=20.0).item() == pytest.approx(0.0, abs=1e-6)


def test_the_order_across_queries_counts_every_pair_that_stands_wrong():
    torch = pytest.importorskip("torch", reason="comes with the extra train")
    from training.contrastive import across_queries

    right, negative = torch.tensor([0.9, 0.3]), torch.tensor([0.5])
    # 0.5 is 0.4 below the first cosine and 0.2 above the second.
    expected = (np.log1p(np.exp(-0.4 * 20)) + np.log1p(np.exp(0.2 * 20))) / 2
    assert across_queries(right, negative, scale=20.0).item() == pytest.approx(expected, abs=1e-6)


def test_the_loss_adds_the_order_across_queries_of_those_with_a_negative(base):
    pytest.importorskip("torch", reason="comes with the extra train")
    from training.contrastive import across_queries, batch_loss, load_encoder_student, vectors_of

    model = load_encoder_student(base).eval()
    batch = [
        Example(pair("iron", "iron tablets", "a"), None),
        Example(pair("zinc", "zinc cream", "b"), pair("", "copper pipe", "")),
    ]
    plain, both = (
        batch_loss(model, batch, max_tokens=8, scale=20.0, across=across).item() for across in (0.0, 0.5)
    )
    queries, documents = (
        vectors_of(model, texts, max_tokens=8)
        for texts in (["iron", "zinc"], ["iron tablets", "zinc cream", "copper pipe"])
    )
    right, negative = (queries * documents[:2]).sum(1), (queries[1:] * documents[2:]).sum(1)
    assert both - plain == pytest.approx(0.5 * across_queries(right, negative, scale=20.0).item(), abs=1e-5)


def test_padding_does_not_change_a_vector(base):
    from training.contrastive import encode, load_encoder_student

    model = load_encoder_student(base).eval()
    texts = ["iron", "iron tablets treat iron deficiency in adults", "zinc"]
    together, alone = (
        encode(model, texts, max_tokens=16),
        np.vstack([encode(model, [text], max_tokens=16) for text in texts]),
    )
    assert together == pytest.approx(alone, abs=1e-6)
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(3), abs=1e-6)
