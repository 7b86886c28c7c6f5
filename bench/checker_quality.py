"""Measures a checker on held-out data: macro-F1 and accuracy with 95 % intervals, for each data set.

    python bench/checker_quality.py --data DIR [--checker NAME | --model FOLDER | --student FOLDER]
                                    [--sets healthver written ...] [--raw]

None of these rows trained the shipped weights. HealthVer, NLI4CT and K-QA are never trained on. Held out are
a fixed fifth of SciFact's claims, a tenth of the items of the written pairs, the claims on published texts,
the clusters and the answers, and the authors' dev split of Check-COVID.

Abstracts are judged whole. `--beside 4` adds four other texts of the set to each text, those that BM25 finds
for the claim, as retrieval would. The label stays that of the row's text: if an added text decides the claim,
this counts as wrong. `--student` takes what `python -m training train-nli` wrote, in torch and fp32 (extra
train); beside the shipped model it shows what quantisation costs.
"""

import argparse
import csv
import dataclasses
import itertools
import json
import random
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from pytest_medfaith.answers.responses import read_responses
from pytest_medfaith.checking.card import read_card
from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.checking.rules import RULE_NAMES
from pytest_medfaith.checking.student import pair_row, score_with_student
from pytest_medfaith.datasets.kqa import read_kqa
from pytest_medfaith.english.words import content_words
from pytest_medfaith.jsonl import read_chunks, read_rows
from pytest_medfaith.metrics.checker_scores import score_checker
from pytest_medfaith.models.onnx import weights_signature
from pytest_medfaith.models.shipped import FAST_CHECKER, MINILM_TOKENIZER
from pytest_medfaith.records import Chunk, Claim, MetricValue, PairScore
from pytest_medfaith.retrieval.bm25 import bm25_retriever
from training.pairs import Pair, is_share, read_written
from training.published import label_together, read_clusters, read_crossed, read_published
from training.recipe import NLI, read_recipe

REPO = Path(__file__).parents[1]
LABEL_OF = {"supported": "entail", "refuted": "contradict", "unsupported": "neutral"}
RAW_TOKENS = 512  # tokens of a pair, for a model that may have no card yet
NEAR_COPY = 0.4  # two texts are near-copies if they share so much of the content words of both
Row = tuple[str, list[str], str]  # claim, evidence texts, label


def lines(path: Path) -> Iterator[dict]:
    """Yields the rows of a JSON Lines file."""
    for _, row in read_rows(path):
        yield row


def healthver(data: Path) -> Iterator[Row]:
    """HealthVer's dev claims with their evidence."""
    words = {"Supports": "entail", "Refutes": "contradict", "Neutral": "neutral"}
    with (data / "healthver" / "healthver_dev.csv").open(encoding="utf-8-sig", newline="") as rows:
        for row in csv.DictReader(rows):
            yield row["claim"], [row["evidence"]], words[row["label"].strip()]


def check_covid(data: Path) -> Iterator[Row]:
    """Check-COVID's dev claims with whole abstracts.

    Each of the 68 neutral rows has another label in a second row of the same texts.
    """
    words = {"SUPPORT": "entail", "REFUTE": "contradict", "NOTENOUGHINFO": "neutral"}
    corpus = {
        doc["cord_id"]: " ".join(doc["abstract"]) for doc in lines(data / "check_covid" / "corpus.json")
    }
    for row in lines(data / "check_covid" / "dev.json"):
        yield row["claim"], [corpus[row["cord_id"]]], words[row["label"]]


def check_covid_sentences(data: Path) -> Iterator[Row]:
    """Check-COVID's dev claims with the sentences for which their label was given."""
    corpus = {doc["cord_id"]: doc["abstract"] for doc in lines(data / "check_covid" / "corpus.json")}
    for row, (claim, _, label) in zip(
        lines(data / "check_covid" / "dev.json"), check_covid(data), strict=True
    ):
        chosen = sorted({part["sent_index"] for part in row["evidence_set"]})
        yield claim, [" ".join(corpus[row["cord_id"]][i] for i in chosen)], label


def scifact(data: Path) -> Iterator[Row]:
    """SciFact's held-out claims with each abstract that they cite."""
    words = {"SUPPORT": "entail", "CONTRADICT": "contradict"}
    corpus = {doc["doc_id"]: " ".join(doc["abstract"]) for doc in lines(data / "scifact" / "corpus.jsonl")}
    for row in lines(data / "scifact" / "claims_train.jsonl"):
        if is_share(str(row["id"]), one_in=5):
            for doc in row["cited_doc_ids"]:
                found = row["evidence"].get(str(doc), [])
                yield row["claim"], [corpus[doc]], words[found[0]["label"]] if found else "neutral"


def scifact_found(data: Path) -> Iterator[Row]:
    """SciFact's held-out claims with up to four abstracts that BM25 finds and the authors do not cite.

    The labels are by a language model.
    """
    for pair in read_crossed(
        REPO / "data" / "crossed" / "scifact.jsonl", texts=data / "scifact" / "corpus.jsonl", whole=True
    ):
        if is_share(pair.group, one_in=5):
            yield pair.claim, [pair.evidence], pair.label


def written(_data: Path) -> Iterator[Row]:
    """LLM-written pairs of the held-out tenth of items."""
    for path in sorted((REPO / "data" / "silver").glob("*.jsonl")):
        for pair in read_written(path):
            if is_share(pair.group, one_in=10):
                yield pair.claim, [pair.evidence], pair.label


def kinds(_data: Path) -> Iterator[Row]:
    """Pairs written in the kinds of errors found in answers, of the held-out tenth of items."""
    for path in sorted((REPO / "data" / "kinds").glob("*.jsonl")):
        for pair in read_written(path):
            if is_share(pair.group, one_in=10):
                yield pair.claim, [pair.evidence], pair.label


def held_out(data: Path, reader: str, folder: str, read: Callable[..., Iterator[Pair]]) -> Iterator[Pair]:
    """Yields the pairs on whole texts that the recipe holds out, of sources with this reader and folder."""
    for source in read_recipe(NLI, data=data, repo=REPO).sources.values():
        for path in map(Path, source["paths"]):
            if source["reader"] == reader and path.parent.name == folder:
                yield from (
                    pair
                    for pair in read(path, **source["options"], whole=True)
                    if is_share(pair.group, one_in=source["held_out_one_in"])
                )


def published(data: Path, *, folder: str = "published") -> Iterator[Row]:
    """Claims on the held-out tenth of published texts, with the whole text and with its edited copy."""
    for pair in held_out(data, "published", folder, read_published):
        yield pair.claim, [pair.evidence], pair.label


def turned(data: Path) -> Iterator[Row]:
    """Findings told from the other side ("A is worse than B" for "B is better"), on held-out texts."""
    yield from published(data, folder="turned")


def clusters(data: Path, *, folder: str = "clusters") -> Iterator[Row]:
    """Claims of held-out clusters, each with all four texts of its cluster.

    Claims that one text entails and another contradicts are left out.
    """
    by_bundle = itertools.groupby(
        held_out(data, "clusters", folder, read_clusters), key=lambda pair: pair.bundle
    )
    for _, bundle in by_bundle:
        pairs = list(bundle)
        label = label_together(pair.label for pair in pairs)
        if label:
            yield pairs[0].claim, [pair.evidence for pair in pairs], label


def answers(data: Path) -> Iterator[Row]:
    """Sentences of held-out answers, each with the four texts from which the answer was written."""
    yield from clusters(data, folder="answers")


def nli4ct(data: Path) -> Iterator[Row]:
    """NLI4CT's dev statements with the section of the clinical trial, or trials, that they are about."""
    words = {"Entailment": "entail", "Contradiction": "contradict"}
    rows = json.loads((data / "nli4ct" / "dev.json").read_text()).values()
    with tarfile.open(data / "nli4ct" / "CT_json.tar.gz") as archive:
        trials = {Path(name).stem: name for name in archive.getnames()}
        for row in rows:
            texts = []
            for who, name in (("primary", row["Primary_id"]), ("secondary", row.get("Secondary_id"))):
                if name:
                    trial = json.load(archive.extractfile(trials[name]))
                    section = "\n".join(line.strip() for line in trial[row["Section_id"]])
                    texts.append(f"In the {who} trial: {section}")
            yield row["Statement"], ["\n".join(texts)], words[row["Label"]]


def kqa(data: Path) -> Iterator[Row]:
    """Statements that physicians made of an answer to a patient, with this answer: all are entailed."""
    for case in read_kqa(data / "kqa" / "questions_w_answers.jsonl"):
        for claim in case.gold_claims:
            yield claim.text, [case.reference_answer], "entail"


def responses(_data: Path) -> Iterator[Row]:
    """Sentences of the recorded responses with their contexts; no checker was fitted to their labels."""
    chunks = read_chunks([REPO / "corpus_samples"])
    for name in ("medquad_nih", "bioasq_summary"):
        answers = read_responses(REPO / "fixtures" / "responses" / f"{name}.jsonl", chunks)
        for row in lines(REPO / "fixtures" / "labels" / f"{name}.jsonl"):
            contexts = [chunk.text for chunk in answers[row["case_id"]].contexts]
            for sentence in row["sentences"]:
                if sentence["label"] in LABEL_OF:
                    yield sentence["text"], contexts, LABEL_OF[sentence["label"]]


SETS = {
    f.__name__: f
    for f in (
        healthver,
        check_covid,
        check_covid_sentences,
        scifact,
        scifact_found,
        clusters,
        answers,
        published,
        turned,
        written,
        kinds,
        nli4ct,
        kqa,
        responses,
    )
}


def with_neighbours(rows: Sequence[Row], most: int) -> list[Row]:
    """Returns `rows`, each with the `most` texts of other rows that BM25 finds for its claim.

    Edited copies and near-copies of the row's texts are left out.
    """
    all_texts = sorted({text for _, texts, _ in rows for text in texts})
    search = bm25_retriever([Chunk(id=str(i), text=text) for i, text in enumerate(all_texts)])
    with_others = []
    for claim, texts, label in rows:
        found = [hit.chunk.text for hit in search(claim, top_k=20 + most)]
        with_others.append((claim, [*texts, *_without_copies(found, texts)[:most]], label))
    return with_others


def _without_copies(found: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Returns the texts of `found` that are no near-copies of any of `texts`."""
    known = [content_words(text) for text in texts]

    def is_copy(text: str) -> bool:
        words = content_words(text)
        return any(len(words & held) >= NEAR_COPY * len(words | held) for held in known)

    return [text for text in found if not is_copy(text)]


def model_checker(folder: Path, *, raw: bool) -> Checker:
    """Returns the checker in a folder with model.onnx, without rules; with `raw` it needs no card."""
    if not raw:
        return load_checker(str(folder), rules_off=RULE_NAMES)
    model = folder / "model.onnx"
    return Checker(
        str(folder),
        weights_signature(model),
        partial(score_with_student, model, RAW_TOKENS, tokenizer=_tokenizer(folder)),
    )


def _tokenizer(folder: Path) -> Path:
    """Returns the folder's tokenizer, or MiniLM's if the folder has none yet."""
    beside = folder / "tokenizer.json"
    return beside if beside.is_file() else MINILM_TOKENIZER


def torch_checker(folder: Path, *, raw: bool) -> Checker:
    """Returns a checker with trained weights in fp32, before their export.

    Temperature and thresholds are those of the shipped card.
    """
    import torch

    from training.batches import length_bucketed_batches
    from training.student import load_student, logits_of

    model = load_student(folder)[0].eval()
    shipped, max_tokens = model_checker(FAST_CHECKER, raw=raw), read_card(FAST_CHECKER).max_tokens

    def score(pairs: list[tuple[str, str]]) -> np.ndarray:
        rows = [pair_row(*pair, max_tokens=max_tokens) for pair in pairs]
        logits = np.zeros((len(rows), 3), dtype=np.float32)
        for batch in length_bucketed_batches([len(row[0]) for row in rows], batch_tokens=4096, seed="0"):
            with torch.no_grad():
                logits[batch] = logits_of(model, [rows[i] for i in batch]).numpy()
        return logits

    return dataclasses.replace(shipped, name=str(folder), signature=str(folder), score_texts=score)


def decide(
    checker: Checker, row: Row, scores: list[PairScore], *, raw: bool
) -> tuple[str, tuple[float, float, float]]:
    """Returns (the label, the probabilities of the evidence that decided it).

    `raw` takes the likeliest label.
    """
    if raw:
        best = max(scores, key=lambda score: max(score.probs[0], score.probs[2]))
        return best.label, best.probs
    verdict = checker.decide(
        claim_of("claim", row[0]), scores, [Chunk(id=str(j), text=text) for j, text in enumerate(row[1])]
    )
    return LABEL_OF[verdict.label], next(
        score.probs for score in scores if score.chunk_id == verdict.chunk_id
    )


def claim_of(name: str, text: str) -> Claim:
    """Returns the claim of a text, with the context that may be in brackets before it.

    Example: "[For adults.] Take two." has the context "For adults.".
    """
    context, _, rest = text[1:].partition("] ") if text.startswith("[") else ("", "", text)
    return Claim(id=name, text=rest, context=context) if rest else Claim(id=name, text=text)


def scores_by_row(
    rows: Sequence[Row], score: Callable[[list[tuple[Claim, Chunk]]], list[PairScore]]
) -> list[list[PairScore]]:
    """Returns the scores of the evidence texts of each row."""
    pairs = [
        (claim_of(str(i), claim), Chunk(id=str(j), text=text))
        for i, (claim, texts, _) in enumerate(rows)
        for j, text in enumerate(texts)
    ]
    found: dict[str, list[PairScore]] = {}
    for pair_score in score(pairs):
        found.setdefault(pair_score.claim_id, []).append(pair_score)
    return [found[str(i)] for i in range(len(rows))]


def measured(
    checker: Checker, rows: Sequence[Row], scored: Sequence[list[PairScore]], *, raw: bool = False
) -> tuple[Mapping[str, MetricValue], list[str]]:
    """Returns (metrics of the labels that the checker decides for by its scores, these labels)."""
    decided = [decide(checker, row, scores, raw=raw) for row, scores in zip(rows, scored, strict=True)]
    predicted = [word for word, _ in decided]
    values = score_checker(
        [row[2] for row in rows],
        [probs for _, probs in decided],
        predicted=predicted,
        groups=[row[0] for row in rows],
    )
    return values, predicted


def main() -> None:
    """Prints the figures of the checker on each set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--checker", default="default")
    parser.add_argument("--model", type=Path, help="a folder with model.onnx, instead of a checker's name")
    parser.add_argument(
        "--student", type=Path, help="a folder of trained torch weights, instead of a checker's name"
    )
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--rules-off", action="store_true", help="the model alone")
    parser.add_argument(
        "--raw", action="store_true", help="the likeliest class instead of the card's thresholds"
    )
    parser.add_argument(
        "--beside",
        type=int,
        default=0,
        metavar="N",
        help="put N other texts of the set beside each, those that BM25 finds for the claim",
    )
    parser.add_argument("--most", type=int, help="rows of each set, drawn at random")
    parser.add_argument("--measured", type=Path, help="write the figures there, as a model card holds them")
    parser.add_argument("--scores", type=Path, help="write every row's probabilities there, as JSON Lines")
    arguments = parser.parse_args()
    checker = (
        model_checker(arguments.model, raw=arguments.raw)
        if arguments.model
        else torch_checker(arguments.student, raw=arguments.raw)
        if arguments.student
        else load_checker(arguments.checker, rules_off=RULE_NAMES if arguments.rules_off else ())
    )
    out = arguments.scores.open("w") if arguments.scores else None
    for name in arguments.sets:
        rows = list(SETS[name](arguments.data))
        if arguments.most and arguments.most < len(rows):
            rows = random.Random(0).sample(rows, arguments.most)
        if arguments.beside:
            rows = with_neighbours(rows, arguments.beside)
        scored = scores_by_row(rows, checker.score)
        values, predicted = measured(checker, rows, scored, raw=arguments.raw)
        keys = (
            ("f1", "accuracy", "ece", "roc_auc") if len({row[2] for row in rows}) > 1 else ("accuracy", "ece")
        )
        shown = ", ".join(
            f"{key} {values[key].value:.3f} [{values[key].low:.3f}, {values[key].high:.3f}]" for key in keys
        )
        said, true = dict(Counter(predicted)), dict(Counter(row[2] for row in rows))
        print(f"{name}: n {len(rows)}, {shown}, said {said}, true {true}", flush=True)
        if arguments.measured:
            figures = {
                key: {end: round(getattr(values[key], end), 3) for end in ("value", "low", "high")}
                for key in keys
            }
            known = json.loads(arguments.measured.read_text()) if arguments.measured.is_file() else {}
            arguments.measured.write_text(json.dumps(known | {name: {"n": len(rows), **figures}}, indent=1))
        if out:
            for row, scores in zip(rows, scored, strict=True):
                line = {"set": name, "label": row[2], "logits": [score.logits for score in scores]}
                out.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
