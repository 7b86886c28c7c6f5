"""Each family of encoders is read as its authors declare, to the numbers that transformers gives by hand."""

import json
import warnings
from functools import cache

import numpy as np
import pytest

pytest.importorskip("torch", reason="comes with the extra models")
pytest.importorskip("sentence_transformers", reason="comes with the extra models")
import torch
import transformers
from tiny_models import tiny_encoder

from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval.dense import dense_retriever
from pytest_medfaith.retrieval.encoders import encoder_signature, load_encoder
from pytest_medfaith.retrieval.index import embed_corpus
from pytest_medfaith.retrieval.known_encoders import KNOWN_ENCODERS, known_as

QUESTION = "How much iron may an adult take, and for how long? " * 8  # more than 64 tokens
LONG = "Iron tablets are absorbed best on an empty stomach. " * 60  # more than 512 tokens
CHUNKS = [
    Chunk(id="a", title="Iron", text="Iron tablets treat iron deficiency."),
    Chunk(id="b", title="Zinc and copper", text=LONG),
    Chunk(id="c", text="No title here."),
]
BGE = "Represent this sentence for searching relevant passages: "
# Family -> architecture, pooling, question, document with and without a title, length 1, longest question.
DECLARED = {
    "specter": ("bert", "cls", "{}", ("{}[SEP]{}",), False, 512),
    "contriever": ("bert", "mean", "{}", ("{}. {}",), False, 512),
    "contriever-msmarco": ("bert", "mean", "{}", ("{}. {}",), False, 512),
    "biolinkbert": ("bert", "cls", "{}", ("{}. {}",), True, 512),
    "tas-b": ("distilbert", "cls", "{}", ("{}. {}",), False, 512),
    "e5-base": ("bert", "mean", "query: {}", ("passage: {}. {}",), True, 512),
    "multilingual-e5-base": ("xlm-roberta", "mean", "query: {}", ("passage: {}. {}",), True, 512),
    "bge-base": ("bert", "cls", BGE + "{}", ("{}. {}",), True, 512),
    "bge-m3": ("xlm-roberta", "cls", "{}", ("{}. {}",), True, 512),
    "gte-base": ("bert", "mean", "{}", ("{}. {}",), True, 512),
    "gte-modernbert": ("modernbert", "cls", "{}", ("{}. {}",), True, 512),
    "cls": ("bert", "cls", "{}", ("{}. {}",), True, 512),
    "mean": ("mpnet", "mean", "{}", ("{}. {}",), True, 512),
}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    made = {}

    def folder(architecture, **more):
        key = (architecture, *more.items())
        if key not in made:
            made[key] = tiny_encoder(tmp_path_factory.mktemp("encoder") / "model", architecture, **more)
        return made[key]

    return folder


@cache
def loaded(folder):
    """The model and the tokenizer of a tiny folder, whose weights no test changes."""
    model = transformers.AutoModel.from_pretrained(folder).eval()
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def by_hand(folder, texts, *, pooling, normalised, longest=512):
    """The vector of one text, or of a pair of texts, as transformers alone gives it."""
    model, tokenizer = loaded(folder)
    inputs = tokenizer(*texts, truncation=True, max_length=longest, return_tensors="pt")
    with torch.inference_mode():
        tokens = model(**inputs).last_hidden_state[0]
    vector = (tokens[0] if pooling == "cls" else tokens.mean(dim=0)).numpy()
    return vector / np.linalg.norm(vector) if normalised else vector


@pytest.mark.parametrize("family", DECLARED)
def test_a_family_is_read_as_declared(family, tiny, tmp_path):
    architecture, pooling, question, (document,), normalised, longest = DECLARED[family]
    folder = tiny(architecture)
    encoder = load_encoder(f"{family}={folder}")
    kind = {"pooling": pooling, "normalised": normalised}
    found = encoder.encode_queries([QUESTION, "Iron?"])
    assert found[0] == pytest.approx(
        by_hand(folder, [question.format(QUESTION)], longest=longest, **kind), abs=1e-5
    )
    assert found[1] == pytest.approx(by_hand(folder, [question.format("Iron?")], **kind), abs=1e-5)
    vectors = embed_corpus(CHUNKS, encoder, cache=tmp_path)
    prefix = document.partition("{}")[0]
    for chunk, vector in zip(CHUNKS, vectors, strict=True):
        text = document.format(chunk.title, chunk.text) if chunk.title else prefix + chunk.text
        assert vector == pytest.approx(by_hand(folder, [text], **kind), abs=1e-5)
    assert len({tuple(np.round(vector, 3)) for vector in vectors}) == 3


def test_medcpt_has_two_towers_and_reads_title_and_text_as_a_pair(tiny, tmp_path):
    queries, articles = tiny("bert", seed=1), tiny("bert", seed=2)
    encoder = load_encoder(f"medcpt={queries},{articles}")
    kind = {"pooling": "cls", "normalised": False}
    question = encoder.encode_queries([QUESTION])[0]
    assert question == pytest.approx(by_hand(queries, [QUESTION], longest=64, **kind), abs=1e-5)
    assert question != pytest.approx(by_hand(queries, [QUESTION], longest=512, **kind), abs=1e-2)
    vectors = embed_corpus(CHUNKS, encoder, cache=tmp_path)
    texts = [("Iron", CHUNKS[0].text), ("Zinc and copper", LONG), (CHUNKS[2].text,)]
    for vector, pair in zip(vectors, texts, strict=True):
        assert vector == pytest.approx(by_hand(articles, pair, **kind), abs=1e-5)
    assert vectors[0] != pytest.approx(by_hand(articles, [". ".join(texts[0])], **kind), abs=1e-2)
    expected = {chunk.id: float(question @ vector) for chunk, vector in zip(CHUNKS, vectors, strict=True)}
    hits = dense_retriever(CHUNKS, encoder, cache=tmp_path)(QUESTION, top_k=3)
    assert [(hit.chunk.id, hit.score) for hit in hits] == [
        (name, pytest.approx(score, rel=1e-4))
        for name, score in sorted(expected.items(), key=lambda item: -item[1])
        if score > 0
    ]


def test_specter_is_searched_by_distance(tiny, tmp_path):
    encoder = load_encoder(f"specter={tiny('bert')}")
    vectors = embed_corpus(CHUNKS, encoder, cache=tmp_path)
    distances = np.linalg.norm(vectors - encoder.encode_queries(["Iron tablets?"])[0], axis=1)
    hits = dense_retriever(CHUNKS, encoder, cache=tmp_path)("Iron tablets?", top_k=3)
    assert [hit.chunk.id for hit in hits] == [CHUNKS[i].id for i in np.argsort(distances)]
    assert [hit.score for hit in hits] == pytest.approx(list(1 / (1 + np.sort(distances))), rel=1e-4)
    itself = dense_retriever([CHUNKS[2]], encoder, cache=tmp_path)(CHUNKS[2].text, top_k=1)[0]
    assert itself.score == pytest.approx(1.0, abs=1e-2)


def test_a_context_of_the_chunking_is_read_with_the_title(tiny, tmp_path):
    chunk = Chunk(id="a", title="Iron", text="Once a day.", extra={"prefix": "Iron > Dose"})
    folder = tiny("bert")
    vectors = embed_corpus([chunk], load_encoder(f"specter={folder}"), cache=tmp_path)
    expected = by_hand(folder, ["Iron > Dose[SEP]Once a day."], pooling="cls", normalised=False)
    assert vectors[0] == pytest.approx(expected, abs=1e-5)


def test_every_family_is_declared_and_asked_for_by_its_models_name():
    assert DECLARED.keys() | {"medcpt"} <= KNOWN_ENCODERS.keys()
    for record in KNOWN_ENCODERS.values():
        if len(record.models) == 1:
            assert known_as(record.models[0]) is record
        assert record.source
    readings = {name: record.reading for name, record in KNOWN_ENCODERS.items()}
    assert readings["medcpt"].startswith("cls pooling, title and text as a pair, inner product, 64 and 512")
    assert readings["specter"] == "cls pooling, title before the separator, distance, 512 tokens"
    assert readings["e5-small"] == "mean pooling, prefix 'query: ' and 'passage: ', cosine, 512 tokens"


def test_a_plain_folder_is_read_by_the_mean_and_says_so(tiny):
    folder = tiny("bert")
    with pytest.warns(UserWarning, match=rf"does not declare its pooling, .* write mean={folder} to say so"):
        plain = load_encoder(str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mean, cls = load_encoder(f"mean={folder}"), load_encoder(f"cls={folder}")
    vectors = [encoder.encode_documents(["Iron helps."])[0] for encoder in (plain, mean, cls)]
    assert vectors[0] == pytest.approx(
        by_hand(folder, ["Iron helps."], pooling="mean", normalised=True), abs=1e-5
    )
    assert np.array_equal(vectors[0], vectors[1])
    assert vectors[2] != pytest.approx(vectors[1], abs=1e-2)
    assert plain.reading == "mean pooling, cosine, 512 tokens"


def test_each_way_of_reading_has_an_index_of_its_own(tiny):
    folder = tiny("bert")
    names = [str(folder), *(f"{family}={folder}" for family in ("cls", "mean", "specter", "e5-base"))]
    assert len({encoder_signature(name) for name in names}) == len(names)
    assert load_encoder(names[1]).signature == encoder_signature(names[1])


def as_sentence_transformer(folder, *, pooling="cls", prompts=None, similarity=None):
    """Adds to a folder of transformers what makes it a model of sentence-transformers."""
    kinds = ("sentence_transformers.models.Transformer", "sentence_transformers.models.Pooling")
    modules = [
        {"idx": i, "name": str(i), "path": ["", "1_Pooling"][i], "type": kind} for i, kind in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    mode = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens"}[pooling]
    held = {"word_embedding_dimension": 16, mode: True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(held))
    config = {"prompts": prompts or {}, "default_prompt_name": None, "similarity_fn_name": similarity}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(config))
    return folder


def test_a_sentence_transformers_model_is_read_as_it_declares(tmp_path):
    folder = as_sentence_transformer(
        tiny_encoder(tmp_path / "model", "mpnet"),
        prompts={"query": "ask: ", "document": "tell: "},
        similarity="dot",
    )
    encoder = load_encoder(str(folder))
    kind = {"pooling": "cls", "normalised": False}
    assert encoder.encode_queries(["Iron?"])[0] == pytest.approx(
        by_hand(folder, ["ask: Iron?"], **kind), abs=1e-5
    )
    assert encoder.encode_documents(["Iron."])[0] == pytest.approx(
        by_hand(folder, ["tell: Iron."], **kind), abs=1e-5
    )
    assert (encoder.metric, encoder.reading) == ("ip", "as the model declares, dot")


@pytest.mark.parametrize(
    ("similarity", "metric", "normalised"), [(None, "ip", True), ("euclidean", "l2", False)]
)
def test_its_similarity_decides_how_vectors_are_compared(tmp_path, similarity, metric, normalised):
    folder = as_sentence_transformer(tiny_encoder(tmp_path / "model"), pooling="mean", similarity=similarity)
    encoder = load_encoder(str(folder))
    assert encoder.metric == metric
    expected = by_hand(folder, ["Iron?"], pooling="mean", normalised=normalised)
    assert encoder.encode_queries(["Iron?"])[0] == pytest.approx(expected, abs=1e-5)


def test_a_similarity_that_no_index_has_is_refused(tmp_path):
    folder = as_sentence_transformer(tiny_encoder(tmp_path / "model"), similarity="manhattan")
    with pytest.raises(DataError, match="compares vectors by 'manhattan'; expected one of cosine, dot"):
        load_encoder(str(folder))


def named(tiny, tmp_path, name, origin=""):
    """A copy of a tiny model in a folder of this name, which calls itself `origin`."""
    import shutil

    folder = tmp_path / name
    shutil.copytree(tiny("bert"), folder)
    if origin:
        config = folder / "config.json"
        config.write_text(json.dumps({**json.loads(config.read_text()), "_name_or_path": origin}))
    return folder


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "ncbi/MedCPT-Article-Encoder",
            "is the tower of 'medcpt' that reads documents only; expected 'medcpt'",
        ),
        ("ncbi/MedCPT-Query-Encoder", "is the tower of 'medcpt' that reads questions only"),
        (
            "medcpt=ncbi/MedCPT-Article-Encoder,ncbi/MedCPT-Query-Encoder",
            "was given for questions; expected medcpt=",
        ),
        ("medcpt=ncbi/MedCPT-Article-Encoder", "was given alone; expected medcpt=QUERY_MODEL,ARTICLE_MODEL"),
        ("cls=ncbi/MedCPT-Article-Encoder", "was given alone"),
        ("medcpt=a/b", r"was given 1 model\(s\), a/b; expected 2"),
        ("e5-base=a/b,a/c", r"was given 2 model\(s\), a/b, a/c; expected 1"),
        ("e6-base=a/b", "asks for the family 'e6-base', which is not known; expected one of specter"),
        ("cls", "names no model; expected cls=FOLDER"),
        ("cls=", "names no model"),
        ("medcpt=a/b,", "names no model"),
    ],
)
def test_a_name_that_leads_to_wrong_numbers_is_refused_before_anything_is_loaded(name, message):
    for use in (load_encoder, encoder_signature):
        with pytest.raises(DataError, match=message):
            use(name)


def test_a_wrong_tower_is_known_by_its_folder_and_by_what_it_calls_itself(tiny, tmp_path):
    article = named(tiny, tmp_path, "MedCPT-Article-Encoder")
    query = named(tiny, tmp_path, "my-model", "ncbi/MedCPT-Query-Encoder")
    load_encoder(f"medcpt={query},{article}")
    with pytest.raises(DataError, match="reads documents only, and was given for questions"):
        load_encoder(f"medcpt={article},{query}")
    for alone in (query, article):
        with pytest.raises(DataError, match="only, and was given alone"):
            load_encoder(str(alone))


def test_towers_of_two_widths_are_refused_at_the_first_question(tiny, tmp_path):
    encoder = load_encoder(f"medcpt={tiny('bert', width=8)},{tiny('bert')}")
    search = dense_retriever(CHUNKS, encoder, cache=tmp_path)
    with pytest.raises(
        DataError, match="gave a question 8 numbers, and its documents 16; expected the same width"
    ):
        search("Iron?", top_k=1)


def test_a_model_without_its_weights_is_refused(tiny, tmp_path):
    import safetensors.torch

    path = named(tiny, tmp_path, "model") / "model.safetensors"
    held = {name: one for name, one in safetensors.torch.load_file(path).items() if "layer.1" not in name}
    safetensors.torch.save_file(held, path, metadata={"format": "pt"})
    with pytest.raises(DataError, match=r"lacks weights \(encoder.layer.1"):
        load_encoder(f"cls={path.parent}")


def test_weights_without_a_pooler_are_whole(tiny, tmp_path):
    import safetensors.torch

    path = named(tiny, tmp_path, "model") / "model.safetensors"
    held = {name: one for name, one in safetensors.torch.load_file(path).items() if "pooler" not in name}
    safetensors.torch.save_file(held, path, metadata={"format": "pt"})
    found = load_encoder(f"cls={path.parent}").encode_documents(["Iron."])[0]
    assert found == pytest.approx(by_hand(tiny("bert"), ["Iron."], pooling="cls", normalised=True), abs=1e-5)


@pytest.mark.parametrize("text", ["", "\ud800 iron", "\0", "薬" * 3000])
def test_strange_texts_have_finite_vectors(tiny, text):
    encoder = load_encoder(f"e5-base={tiny('bert')}")
    assert np.isfinite(encoder.encode_queries([text])).all()
    assert np.isfinite(encoder.encode_documents([text, "Iron."])).all()
