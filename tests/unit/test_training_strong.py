"""A tiny MPNet learns its pairs stage by stage, and goes on after an interruption as if there were none."""

import json

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from pytest_medfaith.errors import DataError  # noqa: E402
from training import train_strong as strong  # noqa: E402
from training.pairs import Pair, read_written  # noqa: E402

PARTS = ["heart", "lung", "liver", "skin", "bone", "eye", "ear", "hand"]
WORDS = [*PARTS, "good", "poison", "for", "the", "to", "it", "helps", "."]
LINES = {
    "sources": 'base = "b"\nphases = []\n[sources]\nshort = { reader = "written", path = '
    '"{repo}/short.jsonl" }\n'
}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    folder = tmp_path_factory.mktemp("base")
    vocabulary = {
        word: number for number, word in enumerate(["<s>", "<pad>", "</s>", "[UNK]", "iron", *WORDS])
    }
    config = transformers.MPNetConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
    )
    torch.manual_seed(0)
    transformers.MPNetModel(config).save_pretrained(folder)
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "[UNK]", "pad_token": "<pad>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
    return folder


@pytest.fixture
def repo(tmp_path):
    claims = [{"text": "It helps.", "label": "entail", "alt_label": "contradict"}]
    items = [
        {
            "id": word,
            "evidence": f"Good for the {word}.",
            "alt_evidence": f"Poison to the {word}.",
            "claims": claims,
        }
        for word in PARTS
    ]
    (tmp_path / "short.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    (tmp_path / "nli.toml").write_text(LINES["sources"])
    return tmp_path


def recipe_of(repo, stages):
    return strong.StrongRecipe(sources=repo / "nli.toml", stages=[strong.Stage(**stage) for stage in stages])


STAGES = [
    {"name": "one", "pairs": {"short": 48}, "max_words": 20, "max_tokens": 32, "batch": 8},
    {"name": "two", "pairs": {"sh*": 32}, "max_words": 20, "max_tokens": 32, "batch": 8, "decay": True},
]


def test_a_strong_checker_learns_its_pairs(base, repo, tmp_path, monkeypatch):
    monkeypatch.setattr(strong, "PEAK", 5e-3)
    stages = [STAGES[0] | {"pairs": {"short": 480}}, STAGES[1]]
    lines = []
    recipe = strong.dataclasses.replace(recipe_of(repo, stages), warm_up=5)
    folder = strong.train_strong(recipe, base, tmp_path / "out", data=repo, repo=repo, progress=lines.append)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    said = [
        int(model(**tokenizer(text, "It helps.", return_tensors="pt")).logits.argmax())
        for text in ("Good for the ear.", "Poison to the ear.")
    ]
    assert said == [0, 2]
    assert lines[0].startswith("one: step 50 of 60, loss ")


def test_an_interrupted_training_ends_as_one_that_was_not(base, repo, tmp_path, monkeypatch):
    monkeypatch.setattr(strong, "SAVE_EVERY", 2)
    whole = strong.train_strong(recipe_of(repo, STAGES), base, tmp_path / "whole", data=repo, repo=repo)

    class Interrupted(Exception):
        pass

    step, steps = strong.Trainer.step, []

    def interrupted(self, batch, *, rate):
        steps.append(rate)
        if len(steps) == 4:
            raise Interrupted
        return step(self, batch, rate=rate)

    monkeypatch.setattr(strong.Trainer, "step", interrupted)
    with pytest.raises(Interrupted):
        strong.train_strong(recipe_of(repo, STAGES), base, tmp_path / "parts", data=repo, repo=repo)
    monkeypatch.setattr(strong.Trainer, "step", step)
    again = strong.train_strong(recipe_of(repo, STAGES), base, tmp_path / "parts", data=repo, repo=repo)
    models = [
        transformers.AutoModelForSequenceClassification.from_pretrained(each).state_dict()
        for each in (whole, again)
    ]
    assert all(torch.equal(models[0][name], models[1][name]) for name in models[0])


def test_word_embeddings_stay_as_the_base_has_them(base, repo, tmp_path):
    folder = strong.train_strong(recipe_of(repo, STAGES[:1]), base, tmp_path / "out", data=repo, repo=repo)
    before, after = (transformers.AutoModel.from_pretrained(each).state_dict() for each in (base, folder))
    words, query = "embeddings.word_embeddings.weight", "encoder.layer.0.attention.attn.q.weight"
    assert torch.allclose(before[words], after[words], atol=1e-3)  # bf16 on the way
    assert not torch.equal(before[query], after[query])


def test_a_stage_draws_whole_bundles_of_short_evidence_and_repeats_what_is_too_few(repo):
    train = {
        "short": [*read_written(repo / "short.jsonl"), Pair("word " * 30, "c", "neutral", "short", "long")]
    }
    bundles = strong.stage_pairs(strong.Stage("s", {"short": 40}, max_words=20, max_tokens=32), train, seed=1)
    assert sum(map(len, bundles)) == 40
    assert {len(bundle) for bundle in bundles} == {2}
    assert (
        strong.stage_pairs(strong.Stage("s", {"short": 40}, max_words=20, max_tokens=32), train, seed=1)
        == bundles
    )
    with pytest.raises(DataError, match="stage 's': no pair of 'shrot' has up to 20 words"):
        strong.stage_pairs(strong.Stage("s", {"shrot": 4}, max_words=20, max_tokens=32), train, seed=1)


def test_a_batch_holds_at_most_so_many_pairs_and_tokens(base, repo):
    stage = strong.Stage("s", {"short": 160}, max_words=20, max_tokens=32, batch=6, batch_tokens=70)
    bundles = strong.stage_pairs(stage, {"short": list(read_written(repo / "short.jsonl"))}, seed=1)
    batches = strong.stage_batches(stage, bundles, tokenizer=base / "tokenizer.json", seed=1)
    assert sum(len(batch.rows) for batch in batches) == 160
    assert max(len(batch.rows) for batch in batches) <= 6
    assert max(len(batch.rows) * max(map(len, batch.rows)) for batch in batches) <= 70
    half = strong.stage_batches(
        strong.dataclasses.replace(stage, part=0.5), bundles, tokenizer=base / "tokenizer.json", seed=1
    )
    assert half == batches[: round(len(batches) / 2)]


def test_the_rate_warms_up_stays_and_falls_where_the_stage_says_so():
    rates = [
        strong.learning_rate(steps, share=share, decay=decay, warm_up=50)
        for steps, share, decay in ((0, 0, False), (50, 0.9, False), (50, 1.0, True))
    ]
    assert rates == pytest.approx([strong.PEAK / 50, strong.PEAK, 0.03 * strong.PEAK])


def test_a_recipe_without_stages_is_refused(tmp_path):
    path = tmp_path / "strong.toml"
    path.write_text('sources = "nli.toml"\n[[stages]]\nname = "one"\n')
    with pytest.raises(DataError, match="no usable recipe"):
        strong.read_strong_recipe(path)


def test_a_claim_is_read_after_what_stood_before_it(tmp_path):
    claims = [{"text": "It helps.", "context": "About iron.", "label": "entail", "alt_label": "contradict"}]
    (tmp_path / "w.jsonl").write_text(
        json.dumps({"id": "a", "evidence": "x", "alt_evidence": "y", "claims": claims})
    )
    assert [pair.claim for pair in read_written(tmp_path / "w.jsonl")] == ["[About iron.] It helps."] * 2
