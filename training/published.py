"""Training pairs on published texts, whose claims or labels a language model wrote: these lie in the repository, the texts in the data folder.

A line of a claims file is `{"id", "text_crc32", "edits", "claims"}`. `id` names a text of its data set, `text_crc32` the text itself, with
single spaces. `edits`, a list of `{"start", "end", "text"}`, makes the text's twin, in which a finding is turned round. A claim is
`{"text", "label", "alt_label", "sentences"}`: its label under the text and under the twin, and the sentences that decide it, or, of a
neutral claim, that come nearest.

A line of a labels file is `{"claim_crc32", "id", "text_crc32", "label", "sentences"}`: a claim of the data set itself, by the CRC-32 of its
words, set against a text that its authors did not set it against; `sentences` are those that decide, none where neutral. Where a language model
wrote the claim, `{"claim", "of"}` stand in place of the CRC-32: its words, and the id of the text that it was written on.

A line of a clusters file is `{"texts", "claims"}`: `{"id", "text_crc32"}` of a few texts on like matters, and claims written on them together,
`{"text", "labels", "sentences"}`, with one label and one list of deciding sentences a text.
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
from training.pairs import Pair, document_pairs, json_lines, overlap, part_of, two_turned
from training.texts import TEXTS

# The file of the claims that people wrote, and what keeps the pairs of a claim together.
CLAIMS = {"check_covid": ("train.json", "claim"), "scifact": ("claims_train.jsonl", "id")}
_WINDOW_SENTENCES = (2, 3, 4, 5)
_LONE = 0.4  # share of claims that are set against their deciding sentences alone
_WHOLE = 0.3  # share of a cluster's claims that are set against whole texts
_SENTENCES = 0.5  # share of a claim's proofs that are a sentence
_RIVALS = 2  # sentences of its own text, at most, that a sentence is set against
_OPEN = 2  # texts at most, of those that leave a cluster's claim open, that it is set against
_BESIDE = 0.4  # share of the claims that the edits turn round that are set against the likeliest of the other sentences too


@dataclass(frozen=True)
class Twins:
    """The sentences of a text and of its twin, side by side."""

    own: tuple[str, ...]
    twin: tuple[str, ...]

    @property
    def edited(self) -> frozenset[int]:
        """The numbers of the sentences that differ."""
        return frozenset(i for i, (a, b) in enumerate(zip(self.own, self.twin, strict=True)) if a != b)


@dataclass(frozen=True)
class Proof:
    """A claim, a text that decides it, and texts beside it that leave it open."""

    claim: str
    text: str
    rivals: tuple[str, ...]
    group: str


def read_published(path: Path, *, texts: Path, whole: bool = False) -> Iterator[Pair]:
    """Yields the claims of `path`, each against a part of its text and the same part of the twin.

    The part is what decides the claim alone, or a window of two to five sentences around it: what a checker reads of a long chunk. A
    share of the claims that the edits turn round comes a third time, neutral, against the likeliest of the sentences without an edit.

    Args:
        path: the claims; its name without the ending is that of a data set in `TEXTS`, and a number where the set has several files.
        texts: the file of that data set which holds the texts.
        whole: set every claim against the whole text and the whole twin instead, as a checker is given them.

    Raises:
        DataError: a text is missing, or another than the claims were written on.
    """
    for item, text, source in _items(path, texts):
        both = twins(text, item["edits"])
        yield from _whole_pairs(item, both, source) if whole else _item_pairs(item, both, source)


def read_published_elsewhere(path: Path, *, texts: Path) -> Iterator[Pair]:
    """Yields two claims a text of `path` against the likeliest sentence of another text: neutral.

    Drawn are claims that the edits turn round, since they rest on a finding of their own text. The other text is of the same tenth by
    crc32, so that a tenth held out or set apart for calibration takes both along. Arguments and errors as of `read_published`.
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
            for claim in two_turned(item, random.Random(item["id"])):
                words = content_words(claim)
                others = ((sentence, len(words & held)) for sentence, other, held in likely if other != group)
                sentence, shared = max(others, key=lambda row: row[1], default=("", 0))
                if shared:
                    yield Pair(sentence, claim, "neutral", path.stem, group)


def read_crossed(path: Path, *, texts: Path, whole: bool = False) -> Iterator[Pair]:
    """Yields claims against texts of the same data set that search finds for them, read as proof, window and whole text.

    Args:
        path: the labels; its name without the ending is that of a data set in `TEXTS`.
        texts: the file of that data set which holds the texts, in one folder with the set's own claims.
        whole: the whole text alone.

    Raises:
        DataError: a claim or a text is missing, or a text is another than was labelled.
    """
    source, text_of = _texts_of(path, texts)
    claims = dict(_own_claims(source, texts))
    for row in json_lines(path):
        claim, group = (
            (row["claim"], f"{source}-{row['of']}")
            if "claim" in row
            else claims.get(row["claim_crc32"], ("", ""))
        )
        if not claim:
            raise DataError(
                f"{texts.parent}: no claim of {CLAIMS[source][0]} has the CRC-32 {row['claim_crc32']}, which {path} labels"
            )
        pairs = list(
            document_pairs(claim, sentences_of(text_of(row)), row["sentences"], row["label"], source, group)
        )
        yield from pairs[-1:] if whole else pairs


def read_clusters(path: Path, *, texts: Path, whole: bool = False) -> Iterator[Pair]:
    """Yields the claims of `path`, each against the texts of its cluster that decide it and the likeliest of those that leave it open.

    All texts of a claim are read in one way, so that length tells nothing: their deciding or likeliest sentences alone, a window
    around these, or whole. A claim's pairs are one bundle.

    Args:
        path: the clusters; its name without the ending is that of a data set in `TEXTS`.
        texts: the file of that data set which holds the texts.
        whole: set every claim against every text of its cluster, whole, as a checker is given them.

    Raises:
        DataError: a text is missing, or another than the claims were written on.
    """
    for claim, documents, source, group, bundle in _cluster_claims(path, texts):
        chosen = range(len(documents)) if whole else _decided_and_likely(claim, documents)
        read_whole = whole or random.Random(bundle).random() < _WHOLE
        for i in chosen:
            own = documents[i]
            deciding = set(claim["sentences"][i]) or {_likeliest(claim["text"], own)}
            part = range(len(own)) if read_whole else _part(deciding, len(own), random.Random(bundle))
            yield Pair(
                " ".join(own[j] for j in part), claim["text"], claim["labels"][i], source, group, bundle
            )


def read_proofs(path: Path, *, texts: Path) -> Iterator[Proof]:
    """Yields the claims of `path` with what decides them in each text that does, half of them a sentence, half a window or the whole text.

    Rivals of a sentence are its text's other likely sentences and those of the texts that leave the claim open; of more, these texts read alike.
    Arguments and errors as of `read_clusters`.
    """
    for claim, documents, _, group, bundle in _cluster_claims(path, texts):
        wanted = claim["text"]
        left_open = [
            document for document, label in zip(documents, claim["labels"], strict=True) if label == "neutral"
        ]
        for number, (own, deciding) in enumerate(zip(documents, claim["sentences"], strict=True)):
            if not deciding:
                continue
            seed = f"{bundle}-{number}"
            rng = random.Random(seed)
            if rng.random() < _SENTENCES:
                beside = sorted(
                    (one for i, one in enumerate(own) if i not in deciding),
                    key=lambda one: -overlap(wanted, one),
                )[:_RIVALS]
                elsewhere = [document[_likeliest(wanted, document)] for document in left_open]
                yield Proof(wanted, own[rng.choice(deciding)], (*beside, *elsewhere), group)
            else:
                read_whole = rng.random() < _WHOLE
                read = [
                    (own, set(deciding)),
                    *((document, {_likeliest(wanted, document)}) for document in left_open),
                ]
                parts = [
                    range(len(one)) if read_whole else _part(centre, len(one), random.Random(seed))
                    for one, centre in read
                ]
                text, *rivals = (
                    " ".join(one[j] for j in part) for (one, _), part in zip(read, parts, strict=True)
                )
                yield Proof(wanted, text, tuple(rivals), group)


def _cluster_claims(
    path: Path, texts: Path
) -> Iterator[tuple[Mapping[str, Any], list[list[str]], str, str, str]]:
    """Yields every claim of the clusters with its texts in sentences, its data set, its cluster's group and what names its pairs."""
    source, text_of = _texts_of(path, texts)
    for item in json_lines(path):
        group = _group(source, item["texts"][0]["id"])
        documents = [sentences_of(text_of(row)) for row in item["texts"]]
        for number, claim in enumerate(item["claims"]):
            yield claim, documents, source, group, f"{group}-clusters-{number}"


def _likeliest(claim: str, sentences: Sequence[str]) -> int:
    return max(range(len(sentences)), key=lambda i: overlap(claim, sentences[i]))


def label_together(labels: Iterable[str]) -> str | None:
    """Returns what texts with these labels say of a claim together: neutral where none decides it, None where they decide it both ways."""
    sides = set(labels) - {"neutral"}
    return None if len(sides) > 1 else sides.pop() if sides else "neutral"


def _decided_and_likely(claim: Mapping[str, Any], documents: Sequence[Sequence[str]]) -> list[int]:
    """Returns which texts decide `claim`, and which of the others hold most of its words."""
    left_open = [i for i, label in enumerate(claim["labels"]) if label == "neutral"]
    likely = sorted(left_open, key=lambda i: -overlap(claim["text"], " ".join(documents[i])))[:_OPEN]
    return [i for i in range(len(documents)) if i not in left_open or i in likely]


def _own_claims(source: str, texts: Path) -> Iterator[tuple[int, tuple[str, str]]]:
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
    """Returns the name of the data set that `path` is on, and what returns the text that a row names by `id` and `text_crc32`."""
    source = re.sub(r"_\d+$", "", path.stem)
    known = _known_texts(source, texts)

    def text_of(row: Mapping[str, Any]) -> str:
        text = known.get(row["id"])
        if text is None or text_crc32(text) != row["text_crc32"]:
            raise DataError(
                f"{texts}: text {row['id']!r} is {'missing' if text is None else 'another'}; {path} needs the one it was written on"
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


def twins(text: str, edits: Sequence[Mapping[str, Any]]) -> Twins:
    """Returns the sentences of `text`, and those of its twin: each edit is made in the sentence it begins in."""
    spans = sentence_spans(text)
    twin = [text[start:end] for start, end in spans]
    for edit in sorted(edits, key=lambda edit: -int(edit["start"])):
        place = max(i for i, (start, _) in enumerate(spans) if start <= edit["start"])
        begins, ends = edit["start"] - spans[place][0], edit["end"] - spans[place][0]
        twin[place] = twin[place][:begins] + edit["text"] + twin[place][ends:]
    return Twins(tuple(text[start:end] for start, end in spans), tuple(twin))


def _whole_pairs(item: Mapping[str, Any], text: Twins, source: str) -> Iterator[Pair]:
    for sentences, key in ((text.own, "label"), (text.twin, "alt_label")):
        for number, claim in enumerate(item["claims"]):
            group = _group(source, item["id"])
            yield Pair(
                " ".join(sentences),
                claim["text"],
                claim[key],
                source,
                group,
                f"{source}-{item['id']}-{number}",
            )


def _group(source: str, text: str) -> str:
    """Returns what is held out together: a text, or the article of a passage, with its abstract in the other file."""
    return (
        f"evidence_inference-{text.partition('/')[0]}"
        if source == "evidence_inference_articles"
        else f"{source}-{text}"
    )


def _item_pairs(item: Mapping[str, Any], text: Twins, source: str) -> Iterator[Pair]:
    rng = random.Random(item["id"])
    group = _group(source, item["id"])
    for number, claim in enumerate(item["claims"]):
        labels = claim["label"], claim["alt_label"]
        deciding = set(claim["sentences"])
        if labels[0] != labels[1] and not deciding & text.edited:
            deciding.add(min(text.edited, key=lambda i: min(abs(i - j) for j in deciding)))
        chosen = _part(deciding, len(text.own), rng)
        own, twin = (" ".join(sentences[i] for i in chosen) for sentences in (text.own, text.twin))
        yield Pair(own, claim["text"], labels[0], source, group, f"{source}-{item['id']}-{number}")
        if twin != own:
            yield Pair(twin, claim["text"], labels[1], source, group, f"{source}-{item['id']}-{number}")
        if set(labels) == {"entail", "contradict"} and rng.random() < _BESIDE:
            others = _windows(text.own, without=deciding | text.edited, size=rng.choice((1, 2, 3)))
            if others:
                yield Pair(
                    max(others, key=lambda window: overlap(claim["text"], window)),
                    claim["text"],
                    "neutral",
                    source,
                    group,
                )


def _windows(sentences: Sequence[str], *, without: set[int] | frozenset[int], size: int) -> list[str]:
    places = [range(start, start + size) for start in range(len(sentences) - size + 1)]
    return [" ".join(sentences[i] for i in place) for place in places if not without.intersection(place)]


def _part(deciding: set[int], count: int, rng: random.Random) -> Sequence[int]:
    """Returns which of `count` sentences the model reads: the deciding ones alone, or a window that holds them where one can."""
    size, widest = rng.choice(_WINDOW_SENTENCES), max(deciding) - min(deciding) + 1
    if rng.random() < _LONE or widest > max(_WINDOW_SENTENCES):
        return sorted(deciding)
    size = min(max(size, widest), count)
    first = rng.randint(max(0, max(deciding) - size + 1), min(*deciding, count - size))
    return range(first, first + size)
