"""Pairs of a question and a text that answers it, from data sets with permissive licences.

Some train the sentence encoder, others measure it. A document is written as retrieval reads it: its title, a
full stop, its text.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pytest_medfaith.datasets.kqa import read_kqa
from pytest_medfaith.datasets.medquad import read_medquad
from pytest_medfaith.datasets.pubmedqa import read_pubmedqa, read_pubmedqa_chunks
from pytest_medfaith.records import Chunk
from pytest_medfaith.retrieval.bm25 import searchable_text
from training.pairs import Pair, is_share, part_of, read_evidence_inference
from training.published import Proof, read_proofs, read_published
from training.rows import json_lines


@dataclass(frozen=True)
class RetrievalPair:
    """A question and a document that answers it.

    Attributes:
        query: the question, or a claim that the document decides.
        document: the text.
        page: where the document is from; all pairs of a page are drawn or left out together.
        group: documents of the same group may answer each other's questions, so they are never used as wrong
            answers.
        rivals: documents known not to answer the question; () where wrong answers must be searched for.
    """

    query: str
    document: str
    page: str
    group: str
    rivals: tuple[str, ...] = ()


@dataclass(frozen=True)
class Collection:
    """Questions and documents to measure retrieval on.

    Attributes:
        queries: the questions.
        documents: all documents to search.
        relevant: for each question, the places of its right documents in `documents`.
    """

    queries: tuple[str, ...]
    documents: tuple[str, ...]
    relevant: tuple[frozenset[int], ...]


def _pair(query: str, document: str, page: str) -> RetrievalPair:
    """Returns a pair whose page is also its group."""
    return RetrievalPair(query, document, page=page, group=page)


def collection_of(pairs: Iterable[RetrievalPair], without_query: Iterable[str] = ()) -> Collection:
    """Returns the collection of some pairs; a question's right documents are those of all its pairs.

    Questions and documents are in the order in which they first come; a text that comes twice is there once.
    `without_query` are documents that answer none of the questions; they follow the others.
    """
    places: dict[str, int] = {}
    relevant: dict[str, set[int]] = {}
    for pair in pairs:
        relevant.setdefault(pair.query, set()).add(places.setdefault(pair.document, len(places)))
    for text in without_query:
        places.setdefault(text, len(places))
    return Collection(tuple(relevant), tuple(places), tuple(map(frozenset, relevant.values())))


def read_medquad_pairs(path: Path, *, only: Sequence[str]) -> Iterator[RetrievalPair]:
    """Yields MedQuAD's questions with their answers, of the institutes `only`, such as ("NIDDK",).

    Each answer is a group of its own: every question of a page asks for another aspect.
    """
    for name, question, answer, institute in _medquad(path):
        if institute in only:
            yield RetrievalPair(question, answer, page=name.rpartition("-")[0], group=name)


@lru_cache(maxsize=1)
def _medquad(path: Path) -> list[tuple[str, str, str, str]]:
    """Returns (id, question, answer with its title, institute) of every case."""
    return [
        (
            case.id,
            case.question,
            _titled(case.meta["focus"], case.reference_answer or ""),
            case.meta["source"],
        )
        for case in read_medquad(path)
    ]


def _titled(title: str, text: str) -> str:
    """Returns title and text as retrieval reads them: "Iron. Once a day."."""
    return searchable_text(Chunk(id="", title=title.rstrip(". "), text=text))


def read_pubmedqa_pairs(path: Path) -> Iterator[RetrievalPair]:
    """Yields PubMedQA's questions with each section of their abstract; an abstract is a group."""
    contexts = {chunk.id: chunk.text for chunk in read_pubmedqa_chunks(path)}
    for case in read_pubmedqa(path):
        for name in case.references:
            yield _pair(case.question, contexts[name], case.id)


def read_check_covid_pairs(root: Path, *, split: str = "train") -> Iterator[RetrievalPair]:
    """Yields Check-COVID's claims with the abstract that supports or refutes them."""
    abstracts = _check_covid_abstracts(root)
    for row in json_lines(root / f"{split}.json"):
        if row["label"] != "NOTENOUGHINFO":
            yield _pair(row["claim"].strip(), abstracts[row["cord_id"]], row["cord_id"])


def _check_covid_abstracts(root: Path) -> dict[str, str]:
    """Returns {id: title and abstract}."""
    return {
        doc["cord_id"]: _titled(doc["title"], " ".join(doc["abstract"]))
        for doc in json_lines(root / "corpus.json")
    }


def read_kqa_pairs(path: Path) -> Iterator[RetrievalPair]:
    """Yields K-QA's patient questions with the physicians' answers."""
    for case in read_kqa(path):
        if case.reference_answer:
            yield _pair(case.question, case.reference_answer, case.id)


def read_evidence_inference_pairs(root: Path) -> Iterator[RetrievalPair]:
    """Yields true claims made from Evidence Inference's training articles, each with title and abstract.

    The abstracts are in `root`/abstracts.tar.gz; an article without an abstract there is left out.
    """
    with tarfile.open(root / "abstracts.tar.gz") as archive:
        abstracts = {
            Path(member.name).stem: abstract_text(stream.read().decode("utf-8"))
            for member in archive
            if member.isfile() and (stream := archive.extractfile(member)) is not None
        }
    for pair in read_evidence_inference(root):
        abstract = abstracts.get(f"PMC{pair.group}", "")
        if pair.label == "entail" and abstract:
            yield _pair(pair.claim, abstract, pair.group)


def abstract_text(article: str) -> str:
    """Returns title and abstract of an article in Evidence Inference's layout; "" where it has no abstract.

    Each part follows a line such as `ABSTRACT.RESULTS:.`; in some files the abstract follows the title
    without such a line.
    """
    lines = [line.strip() for line in re.split(r"^BODY\b", article, flags=re.MULTILINE)[0].splitlines()]
    texts = [line for line in lines if line and not re.fullmatch(r"(?:TITLE|ABSTRACT)\b[^a-z]*[.:]", line)]
    return _titled(texts[0], " ".join(texts[1:])) if len(texts) > 1 else ""


def read_written_pairs(folder: Path) -> Iterator[RetrievalPair]:
    """Yields each entailed claim of the LLM-written items in `folder` (*.jsonl, by name) with its passage.

    A tenth of the items, by their ids, is held out and skipped.
    """
    for path in sorted(folder.glob("*.jsonl")):
        for item in json_lines(path):
            if not is_share(item["id"], one_in=10):
                for claim in item["claims"]:
                    if claim["label"] == "entail":
                        yield _pair(claim["text"], item["evidence"], item["id"])


def read_cluster_pairs(path: Path, *, texts: Path) -> Iterator[RetrievalPair]:
    """Yields each claim of a cluster with each text of it that decides the claim.

    A cluster is a few texts on similar subjects. A text decides a claim if it entails or contradicts it. The
    claim is the query. The document is the deciding sentence, the sentences around it, or the whole text. The
    rivals are similar passages that do not decide the claim. Clusters that are held out are skipped.

    Args:
        path: a clusters file, as `training/published.py` describes it. Its name without the ending is the
            name of a data set, such as `medquad`.
        texts: the file of this data set that holds the texts.

    Raises:
        DataError: a text is missing, or differs from the text that the claims were written on.
    """
    for proof in filter(_trains, read_proofs(path, texts=texts)):
        yield RetrievalPair(proof.claim, proof.text, page=proof.group, group=proof.group, rivals=proof.rivals)


def read_published_pairs(path: Path, *, texts: Path) -> Iterator[RetrievalPair]:
    """Yields claims on published texts, each with the part of its text that decides it.

    Claims on the edited copies of texts are left out. Arguments and errors are those of `read_cluster_pairs`.
    """
    seen = {""}
    for pair in filter(_trains, read_published(path, texts=texts)):
        if pair.bundle not in seen and pair.label != "neutral":
            yield _pair(pair.claim, pair.evidence, pair.group)
        seen.add(pair.bundle)  # the next pair of the bundle is on the edited copy


def _trains(pair: Pair | Proof) -> bool:
    """Returns whether the checkers train on the pair's text: it is not held out, nor for calibration."""
    return part_of(pair.group, parts=10) > 1


def scifact_collection(data: Path) -> Collection:
    """Returns SciFact's training claims over its whole corpus; a claim's cited abstracts are relevant.

    No text of SciFact trains the encoder.
    """
    root = data / "scifact"
    corpus = {
        doc["doc_id"]: _titled(doc["title"], " ".join(doc["abstract"]))
        for doc in json_lines(root / "corpus.jsonl")
    }
    claims = json_lines(root / "claims_train.jsonl")
    pairs = (_pair(row["claim"], corpus[doc], str(doc)) for row in claims for doc in row["cited_doc_ids"])
    return collection_of(pairs, corpus.values())


def check_covid_collection(data: Path) -> Collection:
    """Returns Check-COVID's development claims over the abstracts of all its splits."""
    root = data / "check_covid"
    return collection_of(read_check_covid_pairs(root, split="dev"), _check_covid_abstracts(root).values())


def medquad_collection(data: Path, institute: str) -> Collection:
    """Returns the questions and answers of one institute in MedQuAD."""
    return collection_of(read_medquad_pairs(data / "medquad" / "medquad_xml.tar.gz", only=(institute,)))


READERS: dict[str, Callable[..., Iterable[RetrievalPair]]] = {
    "medquad": read_medquad_pairs,
    "pubmedqa": read_pubmedqa_pairs,
    "check_covid": read_check_covid_pairs,
    "kqa": read_kqa_pairs,
    "evidence_inference": read_evidence_inference_pairs,
    "written": read_written_pairs,
    "clusters": read_cluster_pairs,
    "published": read_published_pairs,
}
COLLECTIONS: dict[str, Callable[[Path], Collection]] = {
    "scifact": scifact_collection,
    "medquad_niddk": lambda data: medquad_collection(data, "NIDDK"),
    "check_covid_dev": check_covid_collection,
    "medquad_nhlbi": lambda data: medquad_collection(data, "NHLBI"),
}
