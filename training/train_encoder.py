"""Trains the sentence encoder from a recipe, in steps; each step can be resumed.

The steps are: draw pairs, find hard negatives (similar but wrong documents), train once over all pairs, and
mix the weights with those of another encoder.
"""

from __future__ import annotations

import dataclasses
import json
import random
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.jsonl import read_rows, write_records, write_text
from pytest_medfaith.metrics.retrieval import ndcg
from training import contrastive
from training.contrastive import Example, encode, load_encoder_student, same_text
from training.optimizers import learning_rate
from training.retrieval_pairs import COLLECTIONS, READERS, Collection, RetrievalPair
from training.student import base_folder, half_precision, save_student

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RECIPE = Path(__file__).parent / "recipes" / "encoder.toml"
LOG_EVERY = 20
CUT_OFF = 10  # the share of trained weights is chosen by nDCG at this rank
OPENING = 80  # a document is in a test if its first so many characters are


@dataclass(frozen=True)
class Source:
    """A data set of a recipe.

    Attributes:
        reader: name of its reader, in `READERS`.
        paths: its files or folders.
        share: share of its pages that trains, 0 to 1.
        ranks: first and last rank from which hard negatives are drawn.
        only: what the reader is limited to, such as institutes of MedQuAD; () for no limit.
        texts: file of the texts that the pairs are on; "" where the reader needs none.
    """

    reader: str
    paths: tuple[str, ...]
    share: float
    ranks: tuple[int, int]
    only: tuple[str, ...] = ()
    texts: str = ""

    def pairs(self) -> list[RetrievalPair]:
        """Returns all pairs of the data set."""
        options: dict[str, Any] = {"only": self.only} if self.only else {}
        if self.texts:
            options["texts"] = Path(self.texts)
        return [pair for path in self.paths for pair in READERS[self.reader](Path(path), **options)]


@dataclass(frozen=True)
class EncoderRecipe:
    """Everything that decides the weights, apart from the data files.

    Attributes:
        base: model folder, or installed package with a model, that training starts from.
        sources: by name.
        mix: shares of trained weights to try, 0 to 1; 0 is always tried.
        development: names of the collections on which the share is chosen.
        tests: names of the collections that measure the encoder; their texts never train it.
        seed: of all random choices.
        max_tokens: tokens of a text.
        batch_pairs: pairs of a batch, at most.
        scale: cosines are multiplied by it in the loss.
        across: weight of the loss across questions, see `across_queries`; 0 leaves it out.
        learning_rate: peak rate of AdamW.
        freeze: weights whose names hold one of these texts do not train.
    """

    base: str
    sources: dict[str, Source]
    mix: tuple[float, ...]
    development: tuple[str, ...]
    tests: tuple[str, ...]
    seed: int = 13
    max_tokens: int = 128
    batch_pairs: int = 48
    scale: float = 20.0
    across: float = 0.0
    learning_rate: float = 2e-5
    freeze: list[str] = field(default_factory=list)


def read_encoder_recipe(path: Path, *, data: Path, repo: Path) -> EncoderRecipe:
    """Returns the recipe in the TOML file `path`, with `{data}` and `{repo}` replaced by folders.

    Raises:
        ValueError: an unknown reader or collection.
    """
    table = tomllib.loads(path.read_text(encoding="utf-8"))

    def filled(text: str) -> str:
        return text.format(data=data, repo=repo)

    sources = {}
    for name, row in table.pop("sources").items():
        paths = tuple(map(filled, row.pop("paths", None) or [row.pop("path")]))
        sources[name] = Source(
            **{**row, "paths": paths, "texts": filled(row.get("texts", "")), "ranks": tuple(row["ranks"])}
        )
    recipe = EncoderRecipe(sources=sources, **table)
    _check_names("reader", [source.reader for source in sources.values()], READERS, path)
    _check_names("collection", [*recipe.development, *recipe.tests], COLLECTIONS, path)
    return recipe


def _check_names(what: str, names: Iterable[str], known: Mapping[str, Any], path: Path) -> None:
    """Refuses a name that is not in `known` (ValueError)."""
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        raise ValueError(f"{path}: no {what} is named {unknown!r}; expected one of {', '.join(known)}")


def train_encoder(
    recipe: EncoderRecipe,
    out: Path,
    *,
    data: Path,
    mix_with: Path | None = None,
    progress: Callable[[str], None] = print,
) -> Path:
    """Trains the encoder and returns the folder of its weights (safetensors, tokenizer, config).

    Each step writes its result below `out`, and is skipped if that exists: `examples` (pairs and hard
    negatives, a file for each source), `tuned` (trained weights), `encoder` (mixed weights) and `mix.json`
    (what each share scored).

    Args:
        recipe: data and hyper-parameters.
        out: folder for the steps.
        data: folder of the data sets, for the development collections.
        mix_with: folder of the encoder with which the trained weights are mixed; None takes the base.
        progress: called with a line now and then.
    """
    if not (out / "tuned" / "config.json").exists():
        files = {name: out / "examples" / f"{name}.jsonl" for name in recipe.sources}
        missing = {name: path for name, path in files.items() if not path.exists()}
        if missing:
            _draw(recipe, missing, data, progress)
        _tune(recipe, {name: read_examples(path) for name, path in files.items()}, out / "tuned", progress)
    if not (out / "encoder" / "config.json").exists():
        development = {name: COLLECTIONS[name](data) for name in recipe.development}
        _mix(recipe, development, out, mix_with or base_folder(recipe.base), progress)
    return out / "encoder"


def _draw(
    recipe: EncoderRecipe, files: Mapping[str, Path], data: Path, progress: Callable[[str], None]
) -> None:
    """Writes the examples of each source in `files`: drawn pairs without leaks, with hard negatives."""
    model = load_encoder_student(base_folder(recipe.base)).eval()
    leaks = Leaks.of(
        [COLLECTIONS[name](data) for name in recipe.tests],
        [COLLECTIONS[name](data) for name in recipe.development],
    )
    for name, path in files.items():
        pairs = recipe.sources[name].pairs()
        drawn = draw_pages(pairs, share=recipe.sources[name].share, seed=f"{recipe.seed}-{name}")
        examples = with_negatives(recipe, name, [pair for pair in drawn if not leaks.has(pair)], model)
        found = sum(example.negative is not None for example in examples)
        progress(f"{name}: {len(examples)} of {len(pairs)} pairs, {found} with a hard negative")
        write_records(path, map(dataclasses.asdict, examples))


def with_negatives(
    recipe: EncoderRecipe, name: str, pairs: Sequence[RetrievalPair], model: Any
) -> list[Example]:
    """Returns `pairs` as examples, each with a hard negative if there is one.

    If pairs have rivals, the negative is drawn from these; else `model` finds it among `pairs`.

    Args:
        recipe: for seed and ranks.
        name: of the source.
        pairs: of the source.
        model: the encoder that finds negatives.
    """
    if any(pair.rivals for pair in pairs):
        rng = random.Random(recipe.seed)
        return [
            Example(
                dataclasses.replace(pair, rivals=()),
                RetrievalPair("", rng.choice(pair.rivals), "", "") if pair.rivals else None,
            )
            for pair in pairs
        ]
    with half_precision(model.device.type):
        queries = encode(model, [pair.query for pair in pairs], max_tokens=recipe.max_tokens)
        documents = encode(model, [pair.document for pair in pairs], max_tokens=recipe.max_tokens)
    negatives = contrastive.mine_negatives(
        pairs, queries, documents, ranks=recipe.sources[name].ranks, seed=recipe.seed
    )
    return list(map(Example, pairs, negatives))


@dataclass(frozen=True)
class Leaks:
    """Texts that measure the encoder or choose its weights, and must not train it.

    Attributes:
        queries: the questions.
        documents: all documents, joined.
        sentences: their longer sentences.
    """

    queries: frozenset[str]
    documents: str
    sentences: frozenset[str]

    @classmethod
    def of(cls, tests: Sequence[Collection], development: Sequence[Collection]) -> Leaks:
        """Returns the texts of these collections that must not train the encoder.

        These are all questions, all documents of `tests`, and the right documents of `development`.
        """
        queries = {same_text(query) for collection in [*tests, *development] for query in collection.queries}
        texts = [document for collection in tests for document in collection.documents]
        texts += [
            collection.documents[i]
            for collection in development
            for places in collection.relevant
            for i in places
        ]
        texts = list(dict.fromkeys(texts))
        sentences = (sentence for text in texts for sentence in _sentences(text))
        return cls(frozenset(queries), "\n".join(map(same_text, texts)), frozenset(sentences))

    def has(self, pair: RetrievalPair) -> bool:
        """Returns whether the pair holds a text that must not train the encoder.

        It does if its question is one of these, its document begins like a passage of their documents, or its
        document or a rival shares a sentence with them.
        """
        if same_text(pair.query) in self.queries or same_text(pair.document)[:OPENING] in self.documents:
            return True
        return any(
            sentence in self.sentences
            for text in (pair.document, *pair.rivals)
            for sentence in _sentences(text)
        )


def _sentences(text: str) -> list[str]:
    """Returns the longer sentences of `text` (40 letters or more), in the form of `same_text`."""
    text = " ".join(text.split())
    return [
        words
        for start, end in sentence_spans(text)
        if len(words := same_text(text[start:end])) >= OPENING // 2
    ]


def draw_pages(pairs: Sequence[RetrievalPair], *, share: float, seed: str) -> list[RetrievalPair]:
    """Returns the pairs of a random share (0 to 1) of the pages, in their order; the same for a seed."""
    pages = list(dict.fromkeys(pair.page for pair in pairs))
    kept = set(random.Random(seed).sample(pages, round(share * len(pages))))
    return [pair for pair in pairs if pair.page in kept]


def read_examples(path: Path) -> list[Example]:
    """Returns the examples of a source from the file that `train_encoder` wrote."""
    rows = [row for _, row in read_rows(path)]
    return [
        Example(RetrievalPair(**row["pair"]), RetrievalPair(**row["negative"]) if row["negative"] else None)
        for row in rows
    ]


def training_batches(recipe: EncoderRecipe, examples: Mapping[str, Sequence[Example]]) -> list[list[Example]]:
    """Returns all batches in random order; the examples of a batch are from the same source."""
    batches = [
        batch
        for name, of_source in examples.items()
        for batch in contrastive.batches_of(of_source, size=recipe.batch_pairs, seed=f"{recipe.seed}-{name}")
    ]
    random.Random(recipe.seed).shuffle(batches)
    return batches


def _tune(
    recipe: EncoderRecipe,
    examples: Mapping[str, Sequence[Example]],
    finished: Path,
    progress: Callable[[str], None],
) -> None:
    """Trains the base on the examples, once over all, and writes the weights to `finished`."""
    import torch
    from transformers import AutoTokenizer

    torch.manual_seed(recipe.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    # In evaluation mode there is no dropout, which costs a fifth of the time.
    model = load_encoder_student(base_folder(recipe.base)).to(device).eval()
    for name, parameter in model.named_parameters():
        parameter.requires_grad = not any(frozen in name for frozen in recipe.freeze)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], weight_decay=0.01)
    batches = training_batches(recipe, examples)
    losses: list[float] = []
    began = time.monotonic()
    for done, batch in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(done, len(batches), recipe.learning_rate)
        loss = contrastive.batch_loss(
            model, batch, max_tokens=recipe.max_tokens, scale=recipe.scale, across=recipe.across
        )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        if len(losses) % LOG_EVERY == 0:
            recent, seconds = sum(losses[-LOG_EVERY:]) / LOG_EVERY, time.monotonic() - began
            progress(f"tuning: step {len(losses)} of {len(batches)}, loss {recent:.3f}, {seconds:.0f} s")
    save_student(model.cpu(), AutoTokenizer.from_pretrained(base_folder(recipe.base)), finished)


def _mix(
    recipe: EncoderRecipe,
    development: Mapping[str, Collection],
    out: Path,
    base: Path,
    progress: Callable[[str], None],
) -> None:
    """Writes the encoder with the share of trained weights that is best on the development collections.

    Shares are compared by their mean nDCG over the collections; of two equal shares the smaller wins.
    """
    from transformers import AutoTokenizer

    original, tuned = (load_encoder_student(folder).state_dict() for folder in (base, out / "tuned"))
    model = load_encoder_student(base).eval()
    scores: dict[float, dict[str, float]] = {}
    for share in (0.0, *recipe.mix):
        model.load_state_dict(mixed(original, tuned, share=share))
        scores[share] = {name: collection_ndcg(model, collection) for name, collection in development.items()}
        figures = (f"{name} nDCG@{CUT_OFF} {value:.4f}" for name, value in scores[share].items())
        progress(f"share {share}: " + ", ".join(figures))
    best = max(scores, key=lambda share: (round(sum(scores[share].values()), 6), -share))
    write_text(out / "mix.json", json.dumps({"share": best, "development": scores}, indent=1) + "\n")
    model.load_state_dict(mixed(original, tuned, share=best))
    save_student(model, AutoTokenizer.from_pretrained(base), out / "encoder")


def mixed(original: Mapping[str, Any], tuned: Mapping[str, Any], *, share: float) -> dict[str, Any]:
    """Returns (1 - share) times the original weights plus `share` times the tuned weights.

    Sources: WiSE-FT and model soups, both Wortsman et al. (2022).
    """
    return {
        name: weights + share * (tuned[name] - weights) if weights.is_floating_point() else weights
        for name, weights in original.items()
    }


def collection_ndcg(model: Any, collection: Collection) -> float:
    """Returns the mean nDCG@10 over the questions of a collection, 0 to 1."""
    import numpy as np

    from pytest_medfaith.models.onnx import ENCODER_TOKENS

    with half_precision(model.device.type):
        queries, documents = (
            encode(model, texts, max_tokens=ENCODER_TOKENS)
            for texts in (collection.queries, collection.documents)
        )
    values = []
    for query, relevant in zip(queries, collection.relevant, strict=True):
        ranking = np.argsort(-(documents @ query), kind="stable")[:CUT_OFF]
        values.append(ndcg([float(i in relevant) for i in ranking], [1.0] * len(relevant), CUT_OFF))
    return sum(values) / len(values)
