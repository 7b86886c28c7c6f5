"""TREC 2017 LiveQA, medical task: questions sent to the National Library of Medicine, with reference answers.

| field | becomes |
|---|---|
| `SUBJECT`, `MESSAGE` | `question`: both, since messages speak of "the above medicine" |
| `NIST-PARAPHRASE`, `SUBJECT` | `meta.paraphrase`, `meta.subject` |
| `ReferenceAnswer` or `RefAnswer` | the first is `reference_answer`; all are chunks, listed in `references` |
| `FOCUS`, `TYPE` | `meta.focus`, `meta.type` |

A subject that the message repeats is left out of the question.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from pytest_medfaith.datasets.cleaning import one_line, plain_text
from pytest_medfaith.datasets.files import xml_elements
from pytest_medfaith.datasets.skips import Skips, without_repeats
from pytest_medfaith.records import Case, Chunk

_ANSWERS = ("ReferenceAnswer", "RefAnswer")  # the published test set uses both


def read_liveqa(path: Path, *, skips: Skips | None = None) -> Iterator[Case]:
    """Yields a case for each question of the test set's XML file (or of a folder or archive of such files).

    Raises:
        DataError: nothing to read, XML that is not well-formed, ends early or declares entities.
    """
    skips = Skips() if skips is None else skips
    return without_repeats(_cases(path, skips), skips)


def read_liveqa_chunks(path: Path, *, skips: Skips | None = None) -> Iterator[Chunk]:
    """Yields each reference answer as a page chunk with the address it was taken from."""
    skips = Skips() if skips is None else skips
    asked = _questions(path)
    found = ((place, chunk) for place, name, question in asked for chunk in _chunks(name, question))
    return without_repeats(found, skips)


def _questions(path: Path) -> Iterator[tuple[str, str, Element]]:
    for number, (file, question) in enumerate(xml_elements(path, "NLM-QUESTION"), start=1):
        yield file.place, question.get("qid") or str(number), question


def _cases(path: Path, skips: Skips) -> Iterator[tuple[str, Case]]:
    for place, name, question in _questions(path):
        subject, message = _text(question, "SUBJECT"), _text(question, "MESSAGE")
        repeated = subject.casefold() in message.casefold()
        text = message if repeated else f"{subject}: {message}" if message else subject
        answers = list(_chunks(name, question))
        if not text or not answers:
            skips.add("empty question" if not text else "no reference answer", f"{place}, id {name!r}")
        else:
            yield place, _case(name, text, answers, question)


def _case(name: str, text: str, answers: list[Chunk], question: Element) -> Case:
    meta = {
        "paraphrase": _text(question, "NIST-PARAPHRASE"),
        "subject": _text(question, "SUBJECT"),
        "focus": [one_line(focus.text or "") for focus in question.iter("FOCUS")],
        "type": [one_line(kind.text or "") for kind in question.iter("TYPE")],
    }
    return Case(
        id=f"liveqa/{name}",
        slice="liveqa",
        question=text,
        reference_answer=answers[0].text,
        references=tuple(answer.id for answer in answers),
        meta={key: value for key, value in meta.items() if value},
    )


def _chunks(name: str, question: Element) -> Iterator[Chunk]:
    answers = [element for element in question.iter() if element.tag in _ANSWERS]
    for number, element in enumerate(answers, start=1):
        answer = element.find("ANSWER")
        text = plain_text("".join((element if answer is None else answer).itertext()))
        if text:
            yield Chunk(
                id=f"liveqa/{element.get('aid') or f'{name}A{number}'}",
                text=text,
                url=one_line(element.findtext("AnswerURL", "")),
                title=_text(question, "SUBJECT"),
                source="liveqa",
            )


def _text(question: Element, tag: str) -> str:
    return one_line("".join(part for element in question.iter(tag) for part in element.itertext()))
