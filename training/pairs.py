"""Training pairs of evidence and claim: a reader for each data set with a permissive licence."""

from __future__ import annotations

import itertools
import random
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_medfaith.calibration.rows import read_labelled_rows
from pytest_medfaith.english.sentences import sentences_of
from pytest_medfaith.errors import DataError, shown
from training.rows import Row, json_lines, label_word, table_rows


@dataclass(frozen=True)
class Pair:
    """An example with a label: does the evidence entail the claim, contradict it, or neither?

    Attributes:
        evidence: the text.
        claim: the statement.
        label: entail, neutral or contradict.
        source: name of the data set or file.
        group: pairs of the same group are never split between training and held-out data.
        bundle: names the minimal pairs of a claim (the claim with texts that differ in one spot); "" for a
            pair without any.
    """

    evidence: str
    claim: str
    label: str
    source: str
    group: str
    bundle: str = ""


def is_share(key: str, *, one_in: int, remainder: int = 0) -> bool:
    """Returns whether `key` is in part number `remainder` of `one_in` parts; see `part_of`."""
    return part_of(key, parts=one_in) == remainder


def part_of(key: str, *, parts: int) -> int:
    """Returns which of `parts` parts a key belongs to, from 0: crc32(key) modulo `parts`.

    It is the same in every run and on every machine.
    """
    return zlib.crc32(key.encode()) % parts


def claim_text(claim: Mapping[str, Any]) -> str:
    """Returns a written claim as a checker reads it, with what it needs from before it in brackets.

    Example: `[For adults.] Take two tablets.` A claim without such words has no brackets.
    """
    return f"[{claim['context']}] {claim['text']}" if claim.get("context") else str(claim["text"])


def read_written(path: Path) -> Iterator[Pair]:
    """Yields the claims of LLM-written items (JSON Lines), with the item's text, then with its edited copy.

    Each copy of a claim has its own label.

    Raises:
        DataError: a field is missing, no text or no known label; the message names file and line.
    """
    for item in json_lines(path):
        for text_key, label_key in (("evidence", "label"), ("alt_evidence", "alt_label")):
            for number, claim in enumerate(item["claims"]):
                yield Pair(
                    item.text(text_key),
                    claim_text(claim),
                    claim.label(label_key),
                    path.stem,
                    item.text("id"),
                    f"{item['id']}-{number}",
                )


def read_written_windows(path: Path) -> Iterator[Pair]:
    """Yields claims with the sentences around their item's edit, of the text and of its edited copy.

    Only claims whose label the edit changes are read. Items have long evidence and a single edit.
    """
    for item in json_lines(path):
        texts = [item["evidence"], item["alt_evidence"]]
        sentences = [sentences_of(text) for text in texts]
        edited = next((i for i, (a, b) in enumerate(zip(*sentences, strict=False)) if a != b), None)
        if edited is None:
            continue
        size = random.Random(item["id"]).choice((2, 3, 4))
        for text_sentences, label_key in zip(sentences, ("label", "alt_label"), strict=True):
            window = sentence_window(text_sentences, edited, size=size)
            for number, claim in enumerate(item["claims"]):
                if claim["label"] != claim["alt_label"]:
                    yield Pair(
                        window,
                        claim_text(claim),
                        claim[label_key],
                        path.stem,
                        item["id"],
                        f"{item['id']}-{number}",
                    )


def read_written_beside(path: Path) -> Iterator[Pair]:
    """Yields neutral pairs: claims with sentences of their item that the item's edit does not touch.

    A claim that the text entails and the edited copy contradicts, or the reverse, rests on what differs. The
    other sentences are about the same subject, often in the same words, but leave the claim open. Two claims
    are taken of an item, each with the most similar window of one to three sentences.
    """
    for item in json_lines(path):
        original, edited = (sentences_of(text) for text in (item["evidence"], item["alt_evidence"]))
        rng = random.Random(item["id"])
        for claim in two_flipped_claims(item, rng):
            size = rng.choice((1, 2, 3))
            windows = [original[i : i + size] for i in range(len(original) - size + 1)]
            same = [window for window in windows if all(sentence in edited for sentence in window)]
            if same:
                likeliest = max((" ".join(window) for window in same), key=lambda text: overlap(claim, text))
                yield Pair(likeliest, claim, "neutral", path.stem, item["id"])


def two_flipped_claims(item: Mapping[str, Any], rng: random.Random) -> list[str]:
    """Returns up to two claims that the edit turns from entailed to contradicted, or the reverse."""
    flipped = [
        claim_text(claim)
        for claim in item["claims"]
        if {claim["label"], claim["alt_label"]} == {"entail", "contradict"}
    ]
    return rng.sample(flipped, min(2, len(flipped)))


def read_written_elsewhere(path: Path) -> Iterator[Pair]:
    """Yields neutral pairs: a claim of an LLM-written item with the evidence of an earlier item of the file.

    Each item gives a pair, but for the first of each tenth by crc32 of the ids, which has no item before it.

    Most chunks with which a claim is compared are about something else. A model that has only seen related
    evidence takes sides there too. Both items are in the same tenth by crc32, so holding a tenth out, or
    calibrating on it, takes both texts along.
    """
    tenths: dict[int, list[Row]] = {}
    for item in json_lines(path):
        tenths.setdefault(part_of(item["id"], parts=10), []).append(item)
    for items in tenths.values():
        for number, item in enumerate(items[1:], start=1):
            rng = random.Random(item["id"])
            other_item = items[rng.randrange(number)]
            claim = claim_text(rng.choice(item["claims"]))
            yield Pair(other_item["evidence"], claim, "neutral", path.stem, item["id"])


def read_labelled(path: Path) -> Iterator[Pair]:
    """Yields the rows of a file of `{"claim", "evidence", "label"}`, as `medfaith calibrate` reads them.

    Several texts of evidence are joined. A group is a case if the rows name theirs, else all rows that share
    a claim or a text of evidence.

    Raises:
        DataError: a field that is missing, blank, or of another type.
    """
    for row, labelled in zip(json_lines(path), read_labelled_rows(path), strict=True):
        claim, evidence = row.text("claim"), " ".join(labelled.evidence)
        if not evidence.strip():
            raise DataError(f"{row.place}: field 'evidence' is {shown(row['evidence'])}, expected text")
        yield Pair(evidence, claim, labelled.label, path.stem, f"{path.stem}-{labelled.group}")


def read_snli(root: Path) -> Iterator[Pair]:
    """Yields SNLI's dev and test pairs (CC BY-SA 4.0), without those on which annotators disagree."""
    for split in ("dev", "test"):
        columns = [
            (root / f"{name}.{split}").read_text("utf-8").splitlines() for name in ("s1", "s2", "labels")
        ]
        for premise, hypothesis, label in zip(*columns, strict=True):
            word = label_word(label)
            if word:
                yield Pair(premise, hypothesis, word, "snli", premise)


def read_table(path: Path, *, source: str, delimiter: str, columns: tuple[str, str, str]) -> Iterator[Pair]:
    """Yields the pairs of a delimited table; `columns` names its columns of evidence, claim and label.

    Rows without a known label, evidence or claim are left out.
    """
    evidence, claim, label = columns
    for row in table_rows(path, delimiter):
        word = label_word(row[label] or "")
        if word and row[evidence] and row[claim]:
            yield Pair(row[evidence], row[claim], word, source, row[evidence])


def read_fever_symmetric(root: Path) -> Iterator[Pair]:
    """Yields the pairs of FEVER-Symmetric, of all *.jsonl files in `root` in the order of their names.

    Their claims alone do not give the label away.
    """
    for path in sorted(root.glob("*.jsonl")):
        for row in json_lines(path):
            yield Pair(
                row["sentence1"],
                row["sentence2"],
                row.label("gold_label"),
                "fever",
                row["sentence1"],
            )


def read_mpe(root: Path) -> Iterator[Pair]:
    """Yields the multiple-premise pairs of all *.csv files in `root`, in the order of their names.

    The four captions of a picture are joined to one text of evidence. Marks of files in them are dropped.
    """
    for path in sorted(root.glob("*.csv")):
        for row in table_rows(path, ","):
            evidence = ". ".join(filter(None, re.split(r"\s*\b\d+jpg\d", row["premise"])))
            yield Pair(evidence, row["hypothesis"], row.label("label"), "mpe", row["premise"])


def read_factcheck(path: Path) -> Iterator[Pair]:
    """Yields the pairs of Factcheck-Bench: a claim, evidence, and whether it supports the claim.

    The field `stance` gives the label: "completely-support" is entail, "refute" is contradict, "irrelevant"
    is neutral. A row with "partially-support" is left out, because no single label fits it, as is a row with
    an unknown stance.

    Args:
        path: a JSON Lines file with the fields `claim`, `evidence` and `stance`.

    Raises:
        DataError: no such file, a line that is no JSON object, or a field that is missing.
    """
    for row in json_lines(path):
        stance = row.text("stance").replace("-", "_").lower()
        word = label_word(stance)
        if word:
            yield Pair(row["evidence"], row["claim"], word, "factcheck", row["claim"])


def read_wice(path: Path) -> Iterator[Pair]:
    """Yields WiCE's claims with their oracle chunk: a passage that holds the sentences that decide."""
    for row in json_lines(path):
        yield Pair(" ".join(row["evidence"]), row["claim"], row.label("label"), "wice", row["claim"])


def overlap(claim: str, sentence: str) -> float:
    """Returns the share of the claim's words that the sentence holds, 0 to 1.

    Only words of three letters or more count.
    """
    words = set(re.findall(r"[a-z0-9]{3,}", claim.lower()))
    found = words & set(re.findall(r"[a-z0-9]{3,}", sentence.lower()))
    return len(found) / (len(words) or 1)


def sentence_window(sentences: list[str], centre: int, *, size: int) -> str:
    """Returns `size` neighbouring sentences as a text, the sentence at `centre` among them.

    Near an end of the document the window moves inwards, so that it keeps its size. A document of fewer
    sentences gives all of them. Blanks join the sentences.

    Args:
        sentences: of the document.
        centre: the index of a sentence.
        size: at least 1.
    """
    start = max(0, min(centre - size // 2, len(sentences) - size))
    return " ".join(sentences[start : start + size])


def document_pairs(
    claim: str, sentences: list[str], rationale: list[int], label: str, source: str, group: str
) -> Iterator[Pair]:
    """Yields up to three pairs of a claim with parts of a document, all with the same label.

    The parts are the sentences that decide (the rationale), if known; a window around one of them, or around
    the most similar sentence; and the whole text.

    Args:
        claim: the statement.
        sentences: of the document.
        rationale: numbers of the deciding sentences; [] if not known.
        label: of the claim.
        source: name of the data set.
        group: see `Pair`.
    """
    rng = random.Random(group + claim)
    if not sentences:
        return
    if rationale:
        proof = " ".join(sentences[i] for i in rationale if i < len(sentences))
        yield Pair(proof, claim, label, source, group)
        centre = rng.choice(rationale)
    else:
        centre = max(range(len(sentences)), key=lambda i: overlap(claim, sentences[i]))
    yield Pair(sentence_window(sentences, centre, size=rng.choice((2, 3, 4, 5))), claim, label, source, group)
    yield Pair(" ".join(sentences), claim, label, source, group)


def read_scifact(root: Path) -> Iterator[Pair]:
    """Yields SciFact's training claims with each abstract that they cite; a claim is a group."""
    corpus = {doc["doc_id"]: doc["abstract"] for doc in json_lines(root / "corpus.jsonl")}
    for row in json_lines(root / "claims_train.jsonl"):
        for doc_id in row["cited_doc_ids"]:
            found = row["evidence"].get(str(doc_id), [])
            label = found[0].label("label") if found else "neutral"
            rationale = found[0]["sentences"] if found else []
            yield from document_pairs(
                row["claim"], corpus[doc_id], rationale, label, "scifact", str(row["id"])
            )


def read_check_covid(root: Path, split: str = "train") -> Iterator[Pair]:
    """Yields Check-COVID's claims with parts of their abstract.

    A claim labelled NOTENOUGHINFO is paired only with its listed sentences. These do not decide it, but
    another row says that their abstract does, so the whole abstract would have two labels.
    """
    corpus = {doc["cord_id"]: doc["abstract"] for doc in json_lines(root / "corpus.json")}
    for row in json_lines(root / f"{split}.json"):
        rationale = [e["sent_index"] for e in row["evidence_set"]]
        label = row.label("label")
        pairs = document_pairs(
            row["claim"], corpus[row["cord_id"]], rationale, label, "check_covid", row["claim"]
        )
        yield from itertools.islice(pairs, 1 if label == "neutral" else None)


_DIRECTION_CLAIMS = {
    "significantly increased": (
        "{i} led to higher {o} than {c}.",
        "Compared with {c}, {i} significantly increased {o}.",
        "{o} was significantly greater with {i} than with {c}.",
    ),
    "significantly decreased": (
        "{i} led to lower {o} than {c}.",
        "Compared with {c}, {i} significantly reduced {o}.",
        "{o} was significantly lower with {i} than with {c}.",
    ),
    "no significant difference": (
        "{i} and {c} did not differ significantly in {o}.",
        "There was no significant difference in {o} between {i} and {c}.",
        "{o} was similar with {i} and with {c}.",
    ),
}


def read_evidence_inference(root: Path) -> Iterator[Pair]:
    """Yields claims made from Evidence Inference 2.0's training articles.

    They are worded from its prompts (intervention, comparator, outcome); the annotated span is the evidence.
    Each prompt gives a claim with the true direction of the effect, and one with a false direction. If the
    article has an outcome that the span does not mention, a claim about that is neutral.
    """
    prompts = {row["PromptID"]: row for row in table_rows(root / "prompts_merged.csv", ",")}
    outcomes: dict[str, list[str]] = {}
    for row in prompts.values():
        outcomes.setdefault(row["PMCID"], []).append(row["Outcome"].strip())
    for row, span in _first_spans(root, prompts):
        rng, true = random.Random(row["PromptID"]), row["Label"]
        columns = {"i": "Intervention", "c": "Comparator", "o": "Outcome"}
        names = {key: prompts[row["PromptID"]][column].strip() for key, column in columns.items()}
        false = rng.choice([label for label in _DIRECTION_CLAIMS if label != true])
        for direction, label in ((true, "entail"), (false, "contradict")):
            claim = _direction_claim(rng, direction, names)
            yield Pair(span, claim, label, "evidence_inference", row["PMCID"])
        unnamed = {
            outcome
            for outcome in outcomes[row["PMCID"]]
            if overlap(outcome, span) == 0 and len(outcome.split()) < 10
        }
        if unnamed:
            direction, names["o"] = rng.choice(list(_DIRECTION_CLAIMS)), rng.choice(sorted(unnamed))
            claim = _direction_claim(rng, direction, names)
            yield Pair(span, claim, "neutral", "evidence_inference", row["PMCID"])


def _first_spans(root: Path, prompts: Mapping[str, Any]) -> Iterator[tuple[Row, str]]:
    """Yields (annotation, its span) for each prompt's first valid annotation in the training articles."""
    train = set((root / "splits" / "train_article_ids.txt").read_text().split())
    seen: set[str] = set()
    for row in table_rows(root / "v2_annotations.csv", ","):
        span = " ".join((row["Annotations"] or "").split())
        valid = row["PMCID"] in train and row["Label"] in _DIRECTION_CLAIMS and row["Valid Label"] == "True"
        new = row["PromptID"] in prompts and row["PromptID"] not in seen
        if valid and new and 12 <= len(span.split()) <= 120:
            seen.add(row["PromptID"])
            yield row, span


def _direction_claim(rng: random.Random, direction: str, names: dict[str, str]) -> str:
    """Returns a claim such as "X led to lower Y than Z.", worded at random."""
    text = rng.choice(_DIRECTION_CLAIMS[direction]).format(**names)
    return text[0].upper() + text[1:]
