"""Training pairs on published texts, whose claims or labels a language model wrote.

The claims and labels lie in the repository, the texts in the data folder.

A line of a claims file is `{"id", "text_crc32", "edits", "claims"}`. `id` names a text of its data set,
`text_crc32` the text itself, with single spaces. `edits`, a list of `{"start", "end", "text"}`, makes an
edited copy of the text, which reports the opposite of a finding. A claim is `{"text", "label", "alt_label",
"sentences"}`: its label under the text and under the edited copy, and the sentences that decide it. A
neutral claim has the sentences that are most similar to it.

A line of a labels file is `{"claim_crc32", "id", "text_crc32", "label", "sentences"}`: a claim of the data
set itself, by the CRC-32 of its words, set against a text that its authors did not set it against.
`sentences` are those that decide, none where neutral. Where a language model wrote the claim, the line has
`{"claim", "of"}` in place of the CRC-32: the claim's words, and the id of the text that it was written on.

A line of a clusters file is `{"texts", "claims"}`: `{"id", "text_crc32"}` of a few texts on like matters, and
claims written on them together. Such a claim is `{"text", "labels", "sentences"}`, with a label and a list of
deciding sentences for each text.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pytest_medfaith.english.sentences import sentence_spans, sentences_of
from pytest_medfaith.english.words import content_words
from pytest_medfaith.errors import DataError
from training.pairs import Pair, document_pairs, overlap, part_of, two_flipped_claims
from training.rows import json_lines
from training.texts import TEXTS

# The file of the claims that people wrote, and what keeps the pairs of a claim together.
CLAIMS = {"check_covid": ("train.json", "claim"), "scifact": ("claims_train.jsonl", "id")}
_WINDOW_SENTENCES = (2, 3, 4, 5)
_DECIDING_ALONE = 0.4  # share of claims that are set against their deciding sentences alone
_WHOLE = 0.3  # share of a cluster's claims that are set against whole texts
_SENTENCES = 0.5  # share of a claim's proofs that are a sentence
_RIVALS = 2  # most sentences of the same text that a deciding sentence is set against
_OPEN = 2  # most texts that leave a cluster's claim open which the claim is set against
_BESIDE = 0.4  # share of the flipped claims that are also set against the likeliest sentence without an edit


@dataclass(frozen=True)
class EditedText:
    """The sentences of a text and of its edited copy, side by side."""

    original: tuple[str, ...]
    copy: tuple[str, ...]

    @property
    def edited(self) -> frozenset[int]:
        """The numbers of the sentences that differ."""
        return frozenset(i for i, (a, b) in enumerate(zip(self.original, self.copy, strict=True)) if a != b)


@dataclass(frozen=True)
class Proof:
    """A claim, a text that decides it, and rival texts that leave it open."""

    claim: str
    text: str
    rivals: tuple[str, ...]
    group: str


def read_published(path: Path, *, texts: Path, whole: bool = False) -> Iterator[Pair]:
    """Yields the claims of `path`, each against a part of its text and the same part of the edited copy.

    The part is the deciding sentences alone, or a window of two to five sentences around them: what a
    checker reads of a long chunk. Some of the claims that the edits flip from entailed to refuted, or back,
    come a third time, neutral, against the likeliest sentences without an edit.

    Args:
        path: the claims; the file's name is that of a data set in `TEXTS`, with a number where the set has
            several files: `medquad_2.jsonl`.
        texts: the file of that data set which holds the texts.
        whole: set every claim against the whole text and the whole edited copy, as a checker is given them.

    Raises:
        DataError: a text is missing, or is not the text that the claims were written on.
    """
    for item, text, source in _items(path, texts):
        both = with_edited_copy(text, item["edits"])
        yield from _whole_pairs(item, both, source) if whole else _item_pairs(item, both, source)


def read_published_elsewhere(path: Path, *, texts: Path) -> Iterator[Pair]:
    """Yields neutral pairs: two claims of each text of `path` against the likeliest sentence of another text.

    The claims are among those that the edits flip, since these rest on a finding of the text that they were
    written on. Both texts are of the same tenth by crc32, so that a tenth held out, or set apart for
    calibration, takes both along. Arguments and errors as of `read_published`.
    """
    tenths: dict[int, list[tuple[Mapping[str, Any], str, list[str]]]] = {}
    for item, text, source in _items(path, texts):
        group = _group(source, item["id"])
        tenths.setdefault(part_of(group, parts=10), []).append((item, group, sentences_of(text)))
    for items in tenths.values():
        likely = [
            (sentence, group, content_words(sentence))
            for _, group, sentences in items
            for sentence in sentences
        ]
        for item, group, _ in items:
            for claim in two_flipped_claims(item, random.Random(item["id"])):
                words = content_words(claim)
                elsewhere = (
                    (sentence, len(words & held))
                    for sentence, its_group, held in likely
                    if its_group != group
                )
                sentence, shared = max(elsewhere, key=lambda row: row[1], default=("", 0))
                if shared:
                    yield Pair(sentence, claim, "neutral", path.stem, group)


def read_crossed(path: Path, *, texts: Path, whole: bool = False) -> Iterator[Pair]:
    """Yields claims against texts of the same data set that search finds for them.

    A text is read as proof, window and whole text, see `document_pairs`.

    Args:
        path: the labels; the file's name without the ending is that of a data set in `TEXTS`.
        texts: the file of that data set which holds the texts, beside the file of the data set's claims.
        whole: the whole text alone.

    Raises:
        DataError: a claim or a text is missing, or a text is not the text that was labelled.
    """
    source, text_of = _texts_of(path, texts)
    claims = dict(_claims_by_people(source, texts))
    for row in json_lines(path):
        if "claim" in row:
            claim, group = row["claim"], f"{source}-{row['of']}"
        else:
            claim, group = claims.get(row["claim_crc32"], ("", ""))
        if not claim:
            raise DataError(
                f"{texts.parent}: no claim of {CLAIMS[source][0]} has the CRC-32 {row['claim_crc32']}, "
                f"which {path} labels"
            )
        sentences = sentences_of(text_of(row))
        pairs = list(document_pairs(claim, sentences, row["sentences"], row["label"], source, group))
        yield from pairs[-1:] if whole else pairs


def read_clusters(path: Path, *, texts: Path, whole: bool = False) -> Iterator[Pair]:
    """Yields the claims of `path`, each against texts of its cluster.

    These are the texts that decide the claim, and the likeliest texts that leave it open. All texts of a
    claim are read in the same way, so that length tells nothing: their deciding or likeliest sentences
    alone, a window around these, or whole. A claim's pairs are one bundle.

    Args:
        path: the clusters; the file's name without the ending is that of a data set in `TEXTS`.
        texts: the file of that data set which holds the texts.
        whole: set every claim against every text of its cluster, whole, as a checker is given them.

    Raises:
        DataError: a text is missing, or is not the text that the claims were written on.
    """
    for claim, documents, source, group, bundle in _cluster_claims(path, texts):
        chosen = range(len(documents)) if whole else _decided_and_likely(claim, documents)
        read_whole = whole or random.Random(bundle).random() < _WHOLE
        for i in chosen:
            text = documents[i]
            deciding = set(claim["sentences"][i]) or {_likeliest(claim["text"], text)}
            part = range(len(text)) if read_whole else _part(deciding, len(text), random.Random(bundle))
            evidence = " ".join(text[j] for j in part)
            yield Pair(evidence, claim["text"], claim["labels"][i], source, group, bundle)


def read_proofs(path: Path, *, texts: Path) -> Iterator[Proof]:
    """Yields the claims of `path` with what decides them, for each text that does.

    Half of the proofs are a sentence, half are a window or the whole text. The rivals of a sentence are
    likely sentences, of the same text and of the texts that leave the claim open. The rivals of a window or
    a whole text are the texts that leave the claim open, read in the same way. Arguments and errors as of
    `read_clusters`.
    """
    for claim, documents, _, group, bundle in _cluster_claims(path, texts):
        wanted = claim["text"]
        left_open = [
            document for document, label in zip(documents, claim["labels"], strict=True) if label == "neutral"
        ]
        for number, (text, deciding) in enumerate(zip(documents, claim["sentences"], strict=True)):
            if not deciding:
                continue
            seed = f"{bundle}-{number}"
            rng = random.Random(seed)
            if rng.random() < _SENTENCES:
                beside = sorted(
                    (sentence for i, sentence in enumerate(text) if i not in deciding),
                    key=lambda sentence: -overlap(wanted, sentence),
                )[:_RIVALS]
                elsewhere = [document[_likeliest(wanted, document)] for document in left_open]
                yield Proof(wanted, text[rng.choice(deciding)], (*beside, *elsewhere), group)
            else:
                read_whole = rng.random() < _WHOLE
                likely = [(document, {_likeliest(wanted, document)}) for document in left_open]
                evidence = []
                for document, centre in [(text, set(deciding)), *likely]:
                    count = len(document)
                    part = range(count) if read_whole else _part(centre, count, random.Random(seed))
                    evidence.append(" ".join(document[j] for j in part))
                proof, *rivals = evidence
                yield Proof(wanted, proof, tuple(rivals), group)


def _cluster_claims(
    path: Path, texts: Path
) -> Iterator[tuple[Mapping[str, Any], list[list[str]], str, str, str]]:
    """Yields (claim, its texts in sentences, data set, group of the cluster, bundle) of every claim."""
    source, text_of = _texts_of(path, texts)
    for item in json_lines(path):
        group = _group(source, item["texts"][0]["id"])
        documents = [sentences_of(text_of(row)) for row in item["texts"]]
        for number, claim in enumerate(item["claims"]):
            yield claim, documents, source, group, f"{group}-clusters-{number}"


def _likeliest(claim: str, sentences: Sequence[str]) -> int:
    return max(range(len(sentences)), key=lambda i: overlap(claim, sentences[i]))


def label_together(labels: Iterable[str]) -> str | None:
    """Returns what texts with these labels say of a claim together.

    It is neutral where no text decides the claim, and None where texts decide it both ways.
    """
    sides = set(labels) - {"neutral"}
    return None if len(sides) > 1 else sides.pop() if sides else "neutral"


def _decided_and_likely(claim: Mapping[str, Any], documents: Sequence[Sequence[str]]) -> list[int]:
    """Returns the numbers of the texts that decide `claim`, and of the likeliest that leave it open."""
    left_open = [i for i, label in enumerate(claim["labels"]) if label == "neutral"]
    likely = sorted(left_open, key=lambda i: -overlap(claim["text"], " ".join(documents[i])))[:_OPEN]
    return [i for i in range(len(documents)) if i not in left_open or i in likely]


def _claims_by_people(source: str, texts: Path) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yields the CRC-32 of each claim that people wrote, the claim, and what keeps its pairs together."""
    if source in CLAIMS:
        name, group = CLAIMS[source]
        for row in json_lines(texts.with_name(name)):
            yield text_crc32(row["claim"]), (row["claim"], str(row[group]))


def _items(path: Path, texts: Path) -> Iterator[tuple[Mapping[str, Any], str, str]]:
    """Yields every line of `path` with its text and the name of its data set."""
    source, text_of = _texts_of(path, texts)
    for item in json_lines(path):
        yield item, text_of(item), source


def _texts_of(path: Path, texts: Path) -> tuple[str, Callable[[Mapping[str, Any]], str]]:
    """Returns the name of the data set that `path` is on, and a function from a row to its text.

    A row names its text by `id` and `text_crc32`.
    """
    source = re.sub(r"_\d+$", "", path.stem)
    known = _known_texts(source, texts)

    def text_of(row: Mapping[str, Any]) -> str:
        text = known.get(row["id"])
        if text is None or text_crc32(text) != row["text_crc32"]:
            raise DataError(
                f"{texts}: text {row['id']!r} is {'missing' if text is None else 'another'}; "
                f"{path} needs the text it was written on"
            )
        return text

    return source, text_of


@lru_cache(maxsize=8)  # all sets together hold some 150 MB, and several files are written on each
def _known_texts(source: str, texts: Path) -> Mapping[str, str]:
    """Returns the texts of the data set `source`, which lies at `texts`, by their ids."""
    return dict(TEXTS[source](texts))


def text_crc32(text: str) -> int:
    """Returns the CRC-32 of `text` in UTF-8."""
    return zlib.crc32(text.encode())


def with_edited_copy(text: str, edits: Sequence[Mapping[str, Any]]) -> EditedText:
    """Returns the sentences of `text` and of its edited copy.

    Each edit is made in the sentence that it begins in.
    """
    spans = sentence_spans(text)
    copy = [text[start:end] for start, end in spans]
    for edit in sorted(edits, key=lambda edit: -int(edit["start"])):
        place = max(i for i, (start, _) in enumerate(spans) if start <= edit["start"])
        begins, ends = edit["start"] - spans[place][0], edit["end"] - spans[place][0]
        copy[place] = copy[place][:begins] + edit["text"] + copy[place][ends:]
    return EditedText(tuple(text[start:end] for start, end in spans), tuple(copy))


def _whole_pairs(item: Mapping[str, Any], text: EditedText, source: str) -> Iterator[Pair]:
    group = _group(source, item["id"])
    for sentences, key in ((text.original, "label"), (text.copy, "alt_label")):
        for number, claim in enumerate(item["claims"]):
            bundle = f"{source}-{item['id']}-{number}"
            yield Pair(" ".join(sentences), claim["text"], claim[key], source, group, bundle)


def _group(source: str, text: str) -> str:
    """Returns the name of what is held out together: a text, or a whole article.

    The passages of an article and its abstract, which lie in different files, go together.
    """
    return (
        f"evidence_inference-{text.partition('/')[0]}"
        if source == "evidence_inference_articles"
        else f"{source}-{text}"
    )


def _item_pairs(item: Mapping[str, Any], text: EditedText, source: str) -> Iterator[Pair]:
    rng = random.Random(item["id"])
    group = _group(source, item["id"])
    for number, claim in enumerate(item["claims"]):
        labels = claim["label"], claim["alt_label"]
        deciding = set(claim["sentences"])
        if labels[0] != labels[1] and not deciding & text.edited:
            deciding.add(min(text.edited, key=lambda i: min(abs(i - j) for j in deciding)))
        chosen = _part(deciding, len(text.original), rng)
        original, copy = (" ".join(sentences[i] for i in chosen) for sentences in (text.original, text.copy))
        bundle = f"{source}-{item['id']}-{number}"
        yield Pair(original, claim["text"], labels[0], source, group, bundle)
        if copy != original:
            yield Pair(copy, claim["text"], labels[1], source, group, bundle)
        if set(labels) == {"entail", "contradict"} and rng.random() < _BESIDE:
            unedited = _windows(text.original, without=deciding | text.edited, size=rng.choice((1, 2, 3)))
            if unedited:
                likeliest = max(unedited, key=lambda window: overlap(claim["text"], window))
                yield Pair(likeliest, claim["text"], "neutral", source, group)


def _windows(sentences: Sequence[str], *, without: set[int] | frozenset[int], size: int) -> list[str]:
    places = [range(start, start + size) for start in range(len(sentences) - size + 1)]
    return [" ".join(sentences[i] for i in place) for place in places if not without.intersection(place)]


def _part(deciding: set[int], count: int, rng: random.Random) -> Sequence[int]:
    """Returns which of `count` sentences the model reads.

    It reads the deciding sentences alone, or a window that holds them all where such a window is short
    enough.
    """
    size, widest = rng.choice(_WINDOW_SENTENCES), max(deciding) - min(deciding) + 1
    if rng.random() < _DECIDING_ALONE or widest > max(_WINDOW_SENTENCES):
        return sorted(deciding)
    size = min(max(size, widest), count)
    first = rng.randint(max(0, max(deciding) - size + 1), min(*deciding, count - size))
    return range(first, first + size)
