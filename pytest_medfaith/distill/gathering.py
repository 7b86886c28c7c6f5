"""Turns the claims of a run into silver rows: claim, evidence, and the label of the teacher's verdict.

A supported claim gives a row "entail" with each passage that its verdict names, a refuted claim "contradict"
with the passage that decides, an unsupported claim "neutral" with every passage. Other pairs give no row: a
verdict does not say what they are.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from pytest_medfaith.distill.records import Label, Provenance, SilverAnswer, SilverClaim, SilverPair
from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.english.words import content_keys, share
from pytest_medfaith.entities.linker import Mention
from pytest_medfaith.records import Chunk, PairScore, Report, SliceReport, Verdict

WINDOW_WORDS = 150  # words of evidence, some 220 tokens: as much as small models read well
_VOTES = re.compile(r"(\d+) (entail|neutral|contradict)\b")
_OF_SAMPLES = re.compile(r"of \d+ samples ")
_LABELS: Mapping[str, Label] = {"supported": "entail", "refuted": "contradict", "unsupported": "neutral"}
Linker = Callable[[str], Sequence[Mention]]


@dataclass
class Gathered:
    """Rows of one or several runs.

    Attributes:
        pairs: claims with evidence.
        answers: answers with claims.
        left_out: {reason: how many claims, pairs or answers became no row}.
    """

    pairs: list[SilverPair] = field(default_factory=list)
    answers: list[SilverAnswer] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def gather(
    run: str, slices: Iterable[SliceReport], *, linker: Linker, window_words: int = WINDOW_WORDS
) -> Gathered:
    """Returns the silver rows of a run, in the order of its cases.

    Args:
        run: its name, which each row keeps.
        slices: what `read_run` returns.
        linker: finds the medical concepts that a text names.
        window_words: words of evidence at most; longer passages are cut around the words that decide.
    """
    gathered = Gathered()
    for one in slices:
        for report in one.reports:
            _gather_case(
                f"{one.slice}/{report.case.id}", run, one.slice, report, gathered, linker, window_words
            )
    return gathered


def _gather_case(
    case: str, run: str, name: str, report: Report, gathered: Gathered, linker: Linker, window_words: int
) -> None:
    """Adds the rows of a case to `gathered`; `case` is "slice/id" and `name` the slice."""
    if not report.has_answer or report.abstained or not report.verdicts:
        gathered.left_out["answers without a claim"] += 1
        return
    provenance = Provenance(
        run=run,
        slice=name,
        checker=report.checker,
        model=str(report.llm.get("model", "")),
        answered_by=report.response.model,
    )
    gathered.answers.append(_answer(f"{run}/{case}", case, report, provenance))
    chunks = {chunk.id: chunk for chunk in report.response.contexts}
    scores = {(pair.claim_id, pair.chunk_id): pair for pair in report.pairs}
    for verdict in report.verdicts:
        judged_by = report.retrieval.claims.get(verdict.claim.id, chunks)  # or all chunks
        its_chunks = {id_: chunks[id_] for id_ in judged_by if id_ in chunks}
        for chunk, label in _labelled(verdict, its_chunks, gathered.left_out):
            evidence = _window(verdict, chunk, label, most=window_words)
            if evidence is None:
                gathered.left_out["long passages whose deciding words are not known"] += 1
                continue
            id_ = verdict.claim.id
            row = SilverPair(
                id=f"{run}/{case}/{id_}/{chunk.id}",
                case_id=case,
                claim=verdict.claim.in_context,
                evidence=evidence,
                label=label,
                probs=_probs(verdict, scores.get((id_, chunk.id)), label),
                passage=hashlib.sha256(normal(chunk.text).encode()).hexdigest()[:16],
                provenance=provenance.with_(claim_id=id_, chunk_id=chunk.id),
            )
            gathered.pairs.append(_measured(row, linker))


def _answer(id_: str, case: str, report: Report, provenance: Provenance) -> SilverAnswer:
    """Returns the silver row of an answer with its claims."""
    claims = [verdict.claim for verdict in report.verdicts]
    return SilverAnswer(
        id=id_,
        case_id=case,
        question=report.case.question,
        answer=report.response.answer,
        claims=tuple(SilverClaim(text=one.text, start=one.start, end=one.end) for one in claims),
        provenance=provenance,
    )


def _measured(row: SilverPair, linker: Linker) -> SilverPair:
    """Returns the row with the shares of words and concepts that claim and evidence have in common."""
    shared = share(content_keys(row.claim), content_keys(row.evidence))
    return row.with_(overlap=round(shared, 4), entity_overlap=entity_overlap(row.claim, row.evidence, linker))


def _labelled(
    verdict: Verdict, chunks: Mapping[str, Chunk], left_out: Counter[str]
) -> Iterator[tuple[Chunk, Label]]:
    """Yields (passage, label) for the passages about which a verdict says something.

    Claims that say nothing certain are counted in `left_out`: unscored, in conflict, or decided only by
    several passages together.
    """
    reason = (
        "claims that were not scored"
        if verdict.label not in _LABELS
        else "claims that passages entail and contradict"
        if verdict.conflict
        else "claims that only several passages together decide"
        if verdict.joint
        else ""
    )
    if reason:
        left_out[reason] += 1
        return
    label = _LABELS[verdict.label]
    named = {
        "entail": dict.fromkeys((verdict.chunk_id, *verdict.supporting)),
        "contradict": dict.fromkeys([verdict.chunk_id]),
        "neutral": dict.fromkeys(chunks),
    }[label]
    known = [chunks[id_] for id_ in named if id_ in chunks]
    if not known:
        left_out["claims without a passage that decides"] += 1
    for chunk in known:
        yield chunk, label


def _window(verdict: Verdict, chunk: Chunk, label: Label, *, most: int) -> str | None:
    """Returns the evidence: the passage, or of a long passage the sentences around the words that decide.

    A passage that leaves a claim open does so everywhere; its sentence most similar to the claim is taken.
    None where a long passage decides, and the verdict does not say by which words.
    """
    if len(chunk.text.split()) <= most:
        return chunk.text
    sentences = sentence_spans(chunk.text)
    if label == "neutral":
        wanted = content_keys(verdict.claim.text)
        texts = [chunk.text[start:end] for start, end in sentences]
        first = last = max(range(len(texts)), key=lambda i: share(wanted, content_keys(texts[i])))
    elif verdict.span and verdict.chunk_id == chunk.id:
        touched = [i for i, (a, b) in enumerate(sentences) if a < verdict.span[1] and verdict.span[0] < b]
        if not touched:
            return None
        first, last = touched[0], touched[-1]
    else:
        return None
    return _grown(chunk.text, sentences, first, last, most=most)


def _grown(text: str, sentences: Sequence[tuple[int, int]], first: int, last: int, *, most: int) -> str:
    """Returns sentences `first` to `last` of `text`, with neighbours on both sides up to `most` words."""

    def words(start: int, end: int) -> int:
        return len(text[sentences[start][0] : sentences[end][1]].split())

    grows = True
    while grows:
        grows = False
        if last + 1 < len(sentences) and words(first, last + 1) <= most:
            last, grows = last + 1, True
        if first and words(first - 1, last) <= most:
            first, grows = first - 1, True
    return text[sentences[first][0] : sentences[last][1]]


def _probs(verdict: Verdict, score: PairScore | None, label: Label) -> tuple[float, float, float] | None:
    """Returns the teacher's probabilities of entail, neutral, contradict.

    None where it gave none, or where `label` is not the most probable: then a medical rule changed the
    verdict, and the probabilities would teach the mistake that it mended. They are a model's for the pair, or
    the shares of an LLM's votes.
    """
    if score is not None and score.logits is not None:
        return score.probs if score.label == label else None
    said = _OF_SAMPLES.search(verdict.reason)
    votes = (
        {name: int(number) for number, name in _VOTES.findall(verdict.reason[said.end() :])} if said else {}
    )
    if not votes or max(votes, key=lambda name: votes[name]) != label:
        return None
    total = sum(votes.values())
    shares = [round(votes.get(name, 0) / total, 6) for name in ("entail", "neutral", "contradict")]
    return shares[0], shares[1], shares[2]


def entity_overlap(claim: str, evidence: str, linker: Linker) -> float | None:
    """Returns the Jaccard index of the concepts that two texts name, 0 to 1; None where neither names any."""
    first, second = (_concepts(text, linker) for text in (claim, evidence))
    return round(len(first & second) / len(first | second), 4) if first | second else None


@lru_cache(maxsize=4096)
def _concepts(text: str, linker: Linker) -> frozenset[str]:
    """Returns the concepts that a text names."""
    return frozenset(mention.concept for mention in linker(text))


def normal(text: str) -> str:
    """Returns the words of `text` in lower case without punctuation; texts equal in this count as the same.

    Example: "iron helps" for "Iron helps.".
    """
    return " ".join(re.findall(r"\w+", text.lower()))
