"""Applies the medical rules to a judge, such as an LLM, by the sentences that its support rests on.

Example: an LLM supports "Take 25 mg a day" by the quote "take 2.5 mg a day". The rule `numbers` refutes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_medfaith.checking.grounding import grounded
from pytest_medfaith.checking.overrule import overrule
from pytest_medfaith.checking.quotation import quoting_chunk
from pytest_medfaith.checking.rules import Rule
from pytest_medfaith.english.letters import plain_claim
from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.records import Chunk, PairScore, Verdict
from pytest_medfaith.scoring.windows import shared_words

Span = tuple[int, int]


def overruled(
    verdict: Verdict,
    chunks: Sequence[Chunk],
    *,
    rules: Mapping[str, Rule],
    grounding: bool,
    names: bool = True,
) -> Verdict:
    """Returns a judge's verdict after the rules. They can only take support back.

    A claim that a chunk quotes word for word stays supported.

    Args:
        verdict: the judge's verdict.
        chunks: the chunks that the claim was judged by.
        rules: the rules in use, by name.
        grounding: whether each number and name of the claim must be in the evidence.
        names: whether that goes for names of drugs.
    """
    plain = plain_claim(verdict.claim)
    if verdict.label != "supported" or quoting_chunk(plain.text, chunks):
        return verdict
    scores = [
        _score(verdict, chunk) for chunk in chunks if chunk.id in {*verdict.supporting, verdict.chunk_id}
    ]
    left = overrule(verdict.with_(claim=plain), scores, chunks, rules=rules)
    if grounding:
        left = grounded(left, scores, chunks, names=names)
    return left.with_(claim=verdict.claim)


def _score(verdict: Verdict, chunk: Chunk) -> PairScore:
    """Returns a score that names the sentence by which a chunk supports the claim.

    It is the sentence around the judge's quote, else the one that shares most words with the claim.
    """
    quote = verdict.span if chunk.id == verdict.chunk_id else None
    return PairScore(
        claim_id=verdict.claim.id,
        chunk_id=chunk.id,
        probs=(verdict.score, 1 - verdict.score, 0.0),
        label="entail",
        span=_around(quote, chunk.text) if quote else _nearest(verdict.claim.text, chunk.text),
    )


def _around(quote: Span, text: str) -> Span:
    """Returns the span from the first to the last sentence that a quote touches."""
    start, end = quote
    touched = [span for span in sentence_spans(text) if span[0] < end and start < span[1]]
    return min([start, *(span[0] for span in touched)]), max([end, *(span[1] for span in touched)])


def _nearest(claim: str, text: str) -> Span:
    """Returns the span of the sentence that shares most words with the claim; without sentences, of all."""
    spans = sentence_spans(text) or [(0, len(text))]
    return max(spans, key=lambda span: shared_words(claim, text[slice(*span)]))
