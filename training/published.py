"""Training pairs on published texts, with claims or labels that a language model wrote.

The claims and labels are in the repository, the texts in the data folder.

A line of a claims file is `{"id", "text_crc32", "edits", "claims"}`. `id` names a text of its data set,
`text_crc32` is the CRC-32 of the text with single spaces. `edits`, a list of `{"start", "end", "text"}`,
makes an edited copy of the text, which reports the opposite of a finding. A claim is `{"text", "label",
"alt_label", "sentences"}`: its label under the text and under the edited copy, and the numbers of the
sentences that decide it. A neutral claim has the sentences that are most similar to it.

A line of a labels file is `{"claim_crc32", "id", "text_crc32", "label", "sentences"}`: a claim of the data
set, named by the CRC-32 of its words, and a text with which its authors did not pair it. `sentences` are
those that decide, none where neutral. If a language model wrote the claim, the line has `{"claim", "of"}` in
place of the CRC-32: the claim's words, and the id of the text that it was written on.

A line of a clusters file is `{"texts", "claims"}`: a few texts on similar subjects, each `{"id",
"text_crc32"}`, and claims written on them together. Such a claim is `{"text", "labels", "sentences"}`, with a
label and a list of deciding sentences for each text.
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

# {data set: (file of the claims that people wrote, field whose value keeps pairs in the same part)}.
CLAIMS = {"check_covid": ("train.json", "claim"), "scifact": ("claims_train.jsonl", "id")}
_WINDOW_SENTENCES = (2, 3, 4, 5)
_DECIDING_ALONE = 0.4  # share of claims that are paired with their deciding sentences only
_WHOLE = 0.3  # share of a cluster's claims that are paired with whole texts
_SENTENCES = 0.5  # share of a claim's proofs that are a single sentence
_RIVALS = 2  # sentences of the same text that are rivals of a deciding sentence, at most
_OPEN = 2  # texts that leave a cluster's claim open and are paired with it, at most
_BESIDE = 0.4  # share of the flipped claims that are also paired with the most similar unedited sentence


@dataclass(frozen=True)
class EditedText:
    """A text and its edited copy, sentence by sentence.

    Attributes:
        original: the sentences of the text.
        copy: the same sentences after the edits.
    """

    original: tuple[str, ...]
    copy: tuple[str, ...]

    @property
    def edited(self) -> frozenset[int]:
        """Numbers of the sentences that differ, from 0."""
        return frozenset(i for i, (a, b) in enumerate(zip(self.original, self.copy, strict=True)) if a != b)


@dataclass(frozen=True)
class Proof:
    """A claim with a text that decides it.

    Attributes:
        claim: the statement.
        text: the deciding sentence, the sentences around it, or a whole text.
        rivals: similar texts that leave the claim open.
        group: what is held out together.
    """

    claim: str
    text: str
    rivals: tuple[str, ...]
    group: str


def read_published(path: Path, *, texts: Path, whole: bool = False) -> Iterator[Pair]:
    """Yields the claims of a file, each with a part of its text, and with the same part of the edited copy.

    The part is the deciding sentences, or a window of two to five sentences around them, as a checker reads
    long chunks. Some claims whose label the edits turn around come a third time, as neutral, with the most
    similar sentences that are not edited.

    Args:
        path: a claims file, see the module. Its name is that of a data set in `TEXTS`, and a number where the
            data set has several files: `medquad_2.jsonl`.
        texts: the file of that data set that holds the texts.
        whole: True takes the whole text and the whole copy as evidence.

    Raises:
        DataError: a text is missing, or differs from the text that the claims were written on.
    """
    for item, text, source in _items(path, texts):
        both = with_edited_copy(text, item["edits"])
        yield from _whole_pairs(item, both, source) if whole else _item_pairs(item, both, source)


def read_published_elsewhere(path: Path, *, texts: Path) -> Iterator[Pair]:
    """Yields neutral pairs: two claims of each text, each with the most similar sentence of another text.

    Claims are chosen whose label the edits turn around, since these rest on a finding of their own text. Both
    texts are in the same tenth by crc32, so holding a tenth out, or calibrating on it, takes both along.
    Arguments and errors are those of `read_published`.
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
    """Yields claims with texts of the same data set that search found for them, and their labels.

    A text gives up to three pairs: its deciding sentences, a window, and the whole text, see
    `document_pairs`.

    Args:
        path: a labels file, see the module; its name without the ending is that of a data set in `TEXTS`.
        texts: the file of that data set that holds the texts, beside the file of its claims.
        whole: True takes only the whole text.

    Raises:
        DataError: a claim or a text is missing, or a text differs from the text that was labelled.
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
    """Yields the claims of clusters, each with several texts of its cluster.

    These are the texts that decide the claim, and the most similar texts that leave it open. All texts of a
    claim are cut in the same way, so that length does not give the label away: to their deciding or most
    similar sentences, to a window around these, or not at all. A claim's pairs are one bundle (minimal
    pairs).

    Args:
        path: a clusters file, see the module; its name without the ending is that of a data set in `TEXTS`.
        texts: the file of that data set that holds the texts.
        whole: True pairs each claim with all texts of its cluster, uncut.

    Raises:
        DataError: a text is missing, or differs from the text that the claims were written on.
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
    """Yields the claims of clusters with each text that decides them, and rivals that do not.

    About half of the proofs are a single sentence; its rivals are similar sentences of the same text, and of
    texts that leave the claim open. The others are a window or a whole text; their rivals are the texts that
    leave the claim open, cut in the same way. Arguments and errors are those of `read_clusters`.
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
    """Yields (claim, its texts as sentences, data set, group of the cluster, bundle) of every claim."""
    source, text_of = _texts_of(path, texts)
    for item in json_lines(path):
        group = _group(source, item["texts"][0]["id"])
        documents = [sentences_of(text_of(row)) for row in item["texts"]]
        for number, claim in enumerate(item["claims"]):
            yield claim, documents, source, group, f"{group}-clusters-{number}"


def _likeliest(claim: str, sentences: Sequence[str]) -> int:
    """Returns the number of the sentence that shares the most words with the claim."""
    return max(range(len(sentences)), key=lambda i: overlap(claim, sentences[i]))


def label_together(labels: Iterable[str]) -> str | None:
    """Returns what texts with these labels say of a claim together.

    It is the label of those that decide, "neutral" if none decides, and None if they contradict each other.
    """
    sides = set(labels) - {"neutral"}
    return None if len(sides) > 1 else sides.pop() if sides else "neutral"


def _decided_and_likely(claim: Mapping[str, Any], documents: Sequence[Sequence[str]]) -> list[int]:
    """Returns the numbers of the texts that decide `claim`, and of the most similar that leave it open."""
    left_open = [i for i, label in enumerate(claim["labels"]) if label == "neutral"]
    likely = sorted(left_open, key=lambda i: -overlap(claim["text"], " ".join(documents[i])))[:_OPEN]
    return [i for i in range(len(documents)) if i not in left_open or i in likely]


def _claims_by_people(source: str, texts: Path) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yields (CRC-32 of a claim that people wrote, (the claim, its group))."""
    if source in CLAIMS:
        name, group = CLAIMS[source]
        for row in json_lines(texts.with_name(name)):
            yield text_crc32(row["claim"]), (row["claim"], str(row[group]))


def _items(path: Path, texts: Path) -> Iterator[tuple[Mapping[str, Any], str, str]]:
    """Yields (line, its text, name of the data set) for every line of a claims file."""
    source, text_of = _texts_of(path, texts)
    for item in json_lines(path):
        yield item, text_of(item), source


def _texts_of(path: Path, texts: Path) -> tuple[str, Callable[[Mapping[str, Any]], str]]:
    """Returns (name of the data set of `path`, function from a row to its text).

    A row names its text by `id` and `text_crc32`; the function raises DataError if they do not fit.
    """
    source = re.sub(r"_\d+$", "", path.stem)
    known = _known_texts(source, texts)

    def text_of(row: Mapping[str, Any]) -> str:
        """Returns the text that a row names; DataError if it is missing or has changed."""
        text = known.get(row["id"])
        if text is None or text_crc32(text) != row["text_crc32"]:
            raise DataError(
                f"{texts}: text {row['id']!r} {'is missing' if text is None else 'has changed'}; "
                f"{path} needs the text that its claims were written on"
            )
        return text

    return source, text_of


@lru_cache(maxsize=8)  # all sets together hold some 150 MB, and several files are written on each
def _known_texts(source: str, texts: Path) -> Mapping[str, str]:
    """Returns {id: text} of the data set `source`, whose texts are in the file `texts`."""
    return dict(TEXTS[source](texts))


def text_crc32(text: str) -> int:
    """Returns the CRC-32 of `text` in UTF-8, by which a changed text is detected."""
    return zlib.crc32(text.encode())


def with_edited_copy(text: str, edits: Sequence[Mapping[str, Any]]) -> EditedText:
    """Returns the sentences of `text` and of its copy with the edits made.

    An edit changes the sentence in which it begins.
    """
    spans = sentence_spans(text)
    copy = [text[start:end] for start, end in spans]
    for edit in sorted(edits, key=lambda edit: -int(edit["start"])):
        place = max(i for i, (start, _) in enumerate(spans) if start <= edit["start"])
        begins, ends = edit["start"] - spans[place][0], edit["end"] - spans[place][0]
        copy[place] = copy[place][:begins] + edit["text"] + copy[place][ends:]
    return EditedText(tuple(text[start:end] for start, end in spans), tuple(copy))


def _whole_pairs(item: Mapping[str, Any], text: EditedText, source: str) -> Iterator[Pair]:
    """Yields each claim with the whole text, and with the whole edited copy."""
    group = _group(source, item["id"])
    for sentences, key in ((text.original, "label"), (text.copy, "alt_label")):
        for number, claim in enumerate(item["claims"]):
            bundle = f"{source}-{item['id']}-{number}"
            yield Pair(" ".join(sentences), claim["text"], claim[key], source, group, bundle)


def _group(source: str, text: str) -> str:
    """Returns the name of what is held out together: a text, or an article.

    The passages of an article and its abstract, which are in different files, go together.
    """
    return (
        f"evidence_inference-{text.partition('/')[0]}"
        if source == "evidence_inference_articles"
        else f"{source}-{text}"
    )


def _item_pairs(item: Mapping[str, Any], text: EditedText, source: str) -> Iterator[Pair]:
    """Yields each claim with a part of the text, and with the same part of the edited copy."""
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
    """Returns all windows of `size` neighbouring sentences that hold none of `without`."""
    places = [range(start, start + size) for start in range(len(sentences) - size + 1)]
    return [" ".join(sentences[i] for i in place) for place in places if not without.intersection(place)]


def _part(deciding: set[int], count: int, rng: random.Random) -> Sequence[int]:
    """Returns the numbers of the sentences that become the evidence.

    They are the deciding sentences, or a window of up to five sentences that holds them all.

    Args:
        deciding: numbers of the deciding sentences.
        count: how many sentences the text has.
        rng: of chance.
    """
    size, widest = rng.choice(_WINDOW_SENTENCES), max(deciding) - min(deciding) + 1
    if rng.random() < _DECIDING_ALONE or widest > max(_WINDOW_SENTENCES):
        return sorted(deciding)
    size = min(max(size, widest), count)
    first = rng.randint(max(0, max(deciding) - size + 1), min(*deciding, count - size))
    return range(first, first + size)
