"""Rows that teach a tagger where claims begin and end: answers with the spans of their claims.

They have three sources: claims that the shipped rules make (`ruled`), answers that a large language model
wrote and marked (`written`), and statements that physicians and annotators made of answers, matched to the
words that they are about (`people`).
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pytest_medfaith.claims.split import extract_claims
from pytest_medfaith.distill.files import write_silver
from pytest_medfaith.distill.records import PARTS, Provenance, Silver, SilverAnswer, SilverClaim
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_rows
from training.texts import TEXTS

Span = tuple[int, int]
WRITTEN = Path("data/claims/answers.jsonl")
FOLDS = 4  # parts of the answers of `people`; one can be left out of training, to decide on it
LEFT_OUT = "people, left out"
_MARK = re.compile(r"\[\[|\]\]")
_WORD = re.compile(r"[^\W_]+(?:[.,'-][^\W_]+)*")
_ARTICLES = frozenset({"a", "an", "the"})
_BREAK = re.compile(r"[.!?]\s|\n")
_LONGEST = 45  # words of a span, at most
_LEAST_F1 = 0.6  # F1 of the words of a span and a statement, as `bench/claim_extraction.py` matches them
_RULED = 150  # answers of each kind in `ruled`, the first by crc32 of their id
_WORDS = (40, 160)  # least and most words of an answer of MedQuAD in `ruled`


def read_marked(path: Path) -> Iterator[SilverAnswer]:
    """Yields the answers of a file in which claims are in double brackets: "[[Iron treats anaemia]].".

    Raises:
        DataError: a missing field, brackets that do not close, or a claim without a letter or digit.
    """
    for number, row in read_rows(path):
        place = f"{path}:{number}"
        for name in ("id", "question", "marked"):
            if not isinstance(row.get(name), str) or not row[name].strip():
                raise DataError(f"{place}: {name} is {row.get(name)!r}, expected text")
        text, spans = _unmarked(row["marked"], place)
        yield _answer(row["id"], row["question"], text, spans, "written")


def _unmarked(marked: str, place: str) -> tuple[str, list[Span]]:
    """Returns (text without brackets, (start, end) of each claim in it); DataError for wrong brackets."""
    text, spans, last, start = "", [], 0, None
    for mark in _MARK.finditer(marked):
        text += marked[last : mark.start()]
        last = mark.end()
        opens = mark[0] == "[["
        if opens == (start is not None):
            raise DataError(f"{place}: {mark[0]!r} at {mark.start()}, expected [[ and ]] in turn")
        if opens:
            start = len(text)
        elif start is not None:
            if not any(map(str.isalnum, text[start:])):
                raise DataError(f"{place}: the claim {text[start:]!r} holds no letter or digit")
            spans.append((start, len(text)))
            start = None
    if start is not None:
        raise DataError(f"{place}: the claim {text[start:]!r} is not closed, expected ]]")
    return text + marked[last:], spans


def read_ruled(data: Path, repo: Path) -> Iterator[SilverAnswer]:
    """Yields answers of `data/answers` and of MedQuAD, with the claims that the shipped rules make."""
    answers = [
        (f"{path.stem}/{number}", row["question"], " ".join(claim["text"] for claim in row["claims"]))
        for path in sorted((repo / "data/answers").glob("*.jsonl"))
        for number, row in read_rows(path)
    ]
    texts = TEXTS["medquad"](data / "medquad/medquad_xml.tar.gz")
    pages = [(id_, "", text) for id_, text in texts if _WORDS[0] <= len(text.split()) <= _WORDS[1]]
    for kind in (answers, pages):
        kind.sort(key=lambda answer: zlib.crc32(answer[0].encode()))
        yield from (_by_rules(*answer) for answer in kind[:_RULED])


def _by_rules(id_: str, question: str, text: str) -> SilverAnswer:
    """Returns an answer with the claims that the shipped rules make of it."""
    claims = extract_claims(text, question=question or None)
    return _answer(id_, question, text, [(claim.start, claim.end) for claim in claims], "rules")


def read_people(data: Path, *, fold: int | None = None) -> Iterator[SilverAnswer]:
    """Yields the development halves of K-QA and Factcheck-Bench, with the claims that people made of them.

    Args:
        data: folder with kqa/ and factcheck_bench/.
        fold: number of the quarter of answers that is marked as left out, 0 to FOLDS - 1; None leaves out
            none.
    """
    for id_, question, text, statements in _split_by_people(data):
        crc = zlib.crc32(id_.encode())
        if crc % 2 == 0:  # the halves of bench/claim_extraction.py
            source = LEFT_OUT if fold is not None and crc // 2 % FOLDS == fold else "people"
            yield _answer(id_, question, text, lay(statements, text), source)


def _split_by_people(data: Path) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yields (id, question, answer, statements that people made of it)."""
    for number, row in read_rows(data / "kqa/questions_w_answers.jsonl"):
        statements = [*row["Must_have"], *row["Nice_to_have"]]
        yield f"kqa:{number}", row["Question"], row["Free_form_answer"], statements
    for number, row in read_rows(data / "factcheck_bench/benchmark.jsonl"):
        statements = [claim for sentence in row["sentences"].values() for claim in sentence["claims"]]
        if statements:
            yield f"factcheck:{number}", row["prompt"], row["response"], statements


def lay(statements: Sequence[str], text: str) -> list[Span]:
    """Returns, in order, the (start, end) of the words in `text` that each statement is about.

    Example: "Iron treats anaemia." is laid on "iron can treat anaemia" in an answer. A span lies within a
    sentence, and its words are the most similar to the statement. The most similar pairs are placed first, no
    two spans overlap, and a statement that is similar to no words has none.
    """
    words = [(match.start(), match.end(), match[0].lower()) for match in _WORD.finditer(text)]
    ends = {i for i in range(1, len(words)) if _BREAK.search(text[words[i - 1][1] : words[i][0]])}
    candidates = [
        (score, -first, last, number)
        for number, statement in enumerate(statements)
        for score, first, last in _similar(_counted(statement), words, ends)
    ]
    used: set[int] = set()
    taken: set[int] = set()
    spans: list[Span] = []
    for _, before, last, number in sorted(candidates, reverse=True):
        place = range(-before, last + 1)
        if number not in used and taken.isdisjoint(place):
            used.add(number)
            taken.update(place)
            spans.append((words[-before][0], words[last][1]))
    return sorted(spans)


def _similar(
    statement: Counter[str], words: Sequence[tuple[int, int, str]], ends: set[int]
) -> Iterator[tuple[float, int, int]]:
    """Yields (similarity, first word, last word) of runs of words in a sentence that are similar enough."""
    for first in range(len(words)):
        seen: Counter[str] = Counter()
        for last in range(first, min(len(words), first + _LONGEST)):
            if last > first and last in ends:
                break
            if words[last][2] not in _ARTICLES:
                seen[words[last][2]] += 1
            score = 2 * (seen & statement).total() / max(1, seen.total() + statement.total())
            if score >= _LEAST_F1:
                yield score, first, last


def _counted(text: str) -> Counter[str]:
    """Returns how often each word is in `text`, in lower case and without articles."""
    return Counter(word for word in _WORD.findall(text.lower()) if word not in _ARTICLES)


def _answer(id_: str, question: str, text: str, spans: Iterable[Span], source: str) -> SilverAnswer:
    """Returns a silver row; `source` is kept as its run."""
    return SilverAnswer(
        id=id_,
        case_id=id_,
        question=question,
        answer=text,
        claims=tuple(SilverClaim(text=text[start:end], start=start, end=end) for start, end in spans),
        provenance=Provenance(run=source),
    )


def write_claim_rows(
    out: Path, sources: Sequence[str], *, data: Path, repo: Path, fold: int | None = None
) -> dict[str, int]:
    """Writes the answers of `sources` as rows for `train-extractor`; returns {part: how many answers}.

    A tenth of `ruled` and of `written` is test and two tenths are dev, by crc32 of their ids. `people` are
    all train, except the fold that is left out, which is dev.

    Args:
        out: folder to write.
        sources: any of "ruled", "written", "people".
        data: folder of the public data sets.
        repo: this repository.
        fold: see `read_people`.

    Raises:
        DataError: an unknown source, a fold that does not exist, or a fold without `people`.
    """
    readers = {
        "ruled": lambda: read_ruled(data, repo),
        "written": lambda: read_marked(repo / WRITTEN),
        "people": lambda: read_people(data, fold=fold),
    }
    if unknown := next((name for name in sources if name not in readers), None):
        raise DataError(f"the source {unknown!r} is unknown; expected {', '.join(readers)}")
    if fold is not None and (fold not in range(FOLDS) or "people" not in sources):
        raise DataError(f"the fold is {fold}; expected 0 to {FOLDS - 1}, with the source people")
    answers: dict[str, list[SilverAnswer]] = {part: [] for part in PARTS}
    for row in (row for name in sources for row in readers[name]()):
        answers[_part(row)].append(row)
    silver = Silver(pairs={part: [] for part in PARTS}, answers=answers, facts={"sources": list(sources)})
    write_silver(out, silver)
    return {part: len(rows) for part, rows in answers.items()}


def _part(row: SilverAnswer) -> str:
    """Returns the part that an answer belongs to: train, dev or test."""
    if row.provenance.run == LEFT_OUT:
        return "dev"
    if row.provenance.run == "people":
        return "train"
    return {0: "test", 1: "dev", 2: "dev"}.get(zlib.crc32(row.id.encode()) % 10, "train")
