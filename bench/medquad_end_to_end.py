"""The whole way on real data: examples/own_rag answers MedQuAD's questions, and the answers are checked.

    python bench/medquad_end_to_end.py --medquad ARCHIVE [--cases 50]

First the questions' pages are chunked and indexed. Then the answers are checked as they are, and again with a
fact changed in every third sentence: a number times ten, a negation added or removed, a drug or disease
swapped for another case's. The printed card must show the difference.
"""

import argparse
import re
import sys
import tempfile
import time
from pathlib import Path

from pytest_medfaith.cards.terminal import result_card
from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.corpus.chunk import chunk_source
from pytest_medfaith.datasets.registry import find_adapter
from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.evaluation import evaluate_case, slice_report
from pytest_medfaith.jsonl import read_chunks, write_records
from pytest_medfaith.records import Response, SliceRun
from pytest_medfaith.retrieval.build import build_retriever
from pytest_medfaith.retrieval.settings import RetrievalSettings

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "own_rag"))
from my_rag import answer_question

NEGATIONS = [
    (" is ", " is not "),
    (" are ", " are not "),
    (" can ", " cannot "),
    (" may ", " may never "),
    (" does ", " does not "),
    (" has ", " has no "),
]


def change_number(sentence: str, _other: str) -> str:
    """Returns the sentence with its first number times ten, citations apart; unchanged without a number."""
    return re.sub(r"(?<![\[\d.])(\d+)(?![\d\]])", lambda match: str(int(match[1]) * 10), sentence, count=1)


def change_negation(sentence: str, _other: str) -> str:
    """Returns the sentence with a negation removed or, if it has none, added: "is" to "is not"."""
    for plain, negated in NEGATIONS:
        if negated in sentence:
            return sentence.replace(negated, plain, 1)
    for plain, negated in NEGATIONS:
        if plain in sentence:
            return sentence.replace(plain, negated, 1)
    return sentence


def change_subject(sentence: str, other: str) -> str:
    """Returns the sentence with its longest word of nine letters or more replaced by `other`."""
    names = sorted(set(re.findall(r"\b[A-Za-z]{9,}\b", sentence)), key=lambda word: (-len(word), word))
    return sentence.replace(names[0], other) if names else sentence


CHANGES = {"dose": change_number, "negation": change_negation, "entity": change_subject}


def changed(answer: str, start: int, other: str) -> tuple[str, int]:
    """Returns (the answer with every third sentence changed, how many sentences changed).

    Args:
        answer: to change.
        start: how many sentences the answers before it have, so that thirds are counted over all answers.
        other: a word of a different case, to put in place of a drug or disease.
    """
    sentences = [answer[a:b] for a, b in sentence_spans(answer)]
    count = 0
    for i, sentence in enumerate(sentences):
        if (start + i) % 3 == 0:
            for kind in [list(CHANGES)[(start + i) // 3 % 3], *CHANGES]:
                new = CHANGES[kind](sentence, other)
                if new != sentence:
                    sentences[i] = new
                    count += 1
                    break
    return " ".join(sentences), count


def main() -> None:
    """Prints the card of the answers as they are, and of the changed answers."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--medquad", type=Path, required=True)
    parser.add_argument("--cases", type=int, default=50)
    arguments = parser.parse_args()
    adapter = find_adapter("medquad")
    cases = list(adapter.read_with_gold(arguments.medquad, limit=arguments.cases, seed=1))
    wanted = {reference for case in cases for reference in case.references}
    pages = [page for page in adapter.read_chunks(arguments.medquad) if page.id in wanted]
    with tempfile.TemporaryDirectory() as folder:
        write_records(Path(folder) / "pages.jsonl", pages)
        chunk_source(Path(folder) / "pages.jsonl", source="medquad", out=Path(folder) / "chunks")
        chunks = read_chunks([Path(folder) / "chunks"])
        retriever = build_retriever("rrf", chunks, settings=RetrievalSettings(cache=Path(folder)))
        checker = load_checker()
        answers = {case.id: answer_question(case.question, retriever) for case in cases}
        total, start, changes = 0, 0, {}
        for number, case in enumerate(cases):
            other_question = cases[(number + 7) % len(cases)].question
            names = re.findall(r"\b[A-Za-z]{7,}\b", other_question)[-1:] or ["measles"]
            response = answers[case.id]
            text, count = changed(response.answer, start, names[0])
            changes[case.id] = response.with_(answer=text)
            total += count
            start += len(sentence_spans(response.answer))
        rows = []
        for name, responses in (("medquad-real", answers), ("medquad-changed", changes)):
            began = time.perf_counter()
            run = SliceRun(slice=name, retriever="rrf", checker="default", k=5)
            reports = [evaluate(case, responses[case.id], checker, retriever) for case in cases]
            rows.append(slice_report(run, reports))
            print(f"{name}: {time.perf_counter() - began:.1f} s")
    sizes = f"{len(cases)} questions, {len(pages)} pages, {len(chunks)} chunks"
    print(f"{sizes}, {start} sentences, {total} of them changed\n")
    print(result_card(rows, verbose=True))


def evaluate(case, response: Response, checker, retriever):
    """Returns the report on a response, with the five chunks that were retrieved for the question."""
    hits = retriever(case.question, top_k=5)
    return evaluate_case(case, response, checker=checker, hits=hits, retriever="rrf", k=5)


if __name__ == "__main__":
    main()
