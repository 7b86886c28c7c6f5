"""A small model ("student") as the extractor: it tags the tokens of claims, or writes the claims.

What it leaves out becomes a claim by the rules (`claims.covering`), so that a weak model hides nothing. A
claim that a writing model makes up is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from pytest_medfaith.claims.covering import completed, covers
from pytest_medfaith.claims.split import extract_claims
from pytest_medfaith.claims.tagging import TAGS, Span, spans_of_tags, stretches
from pytest_medfaith.claims.teacher import check_said, placed
from pytest_medfaith.english.grammar import read_clause
from pytest_medfaith.english.phrases import read_words
from pytest_medfaith.english.struck import without_struck
from pytest_medfaith.english.words import plain_words
from pytest_medfaith.errors import DataError
from pytest_medfaith.models.folders import model_signature
from pytest_medfaith.models.foreign import load_foreign
from pytest_medfaith.models.onnx import load_session, load_tokenizer, run_rows, weights_signature
from pytest_medfaith.records import Claim
from pytest_medfaith.teacher.replies import ReplyError

TAGGER = "tagger"  # the kind that card.json names
SEPARATOR = "|"  # between the claims that a model writes
PROMPT = "claims: "  # before the answer, as T5 names its tasks
_WRITTEN_TOKENS = 512  # most of the claims that a model writes
Extractor = Callable[..., list[Claim]]


def folder_extractor(folder: Path) -> tuple[Extractor, str]:
    """Returns (the extractor `(answer, *, question) -> claims` of a folder, what names its weights).

    Raises:
        DataError: the folder has neither a tagger nor a model that writes.
        MissingExtra: a model that writes, and transformers is not installed.
    """
    card = folder / "card.json"
    if card.is_file():
        most = _read_card(card)
        signature = f"{TAGGER}|{weights_signature(folder / 'model.onnx')}|{most}"
        return partial(student_claims, partial(_tagged, folder, most)), signature
    if _writes(folder):
        return partial(student_claims, partial(_written, folder)), f"writer|{model_signature(str(folder))}"
    raise DataError(
        f"the extractor {folder} is no model folder; expected a folder with card.json, model.onnx and "
        "tokenizer.json of a tagger, or config.json and safetensors of a model that writes (T5)"
    )


def _read_card(card: Path) -> int:
    """Returns how many tokens the tagger reads at a time.

    Raises:
        DataError: the card is not that of a tagger.
    """
    try:
        row = json.loads(card.read_text(encoding="utf-8"))
        kind, most, tags = row.get("kind"), row.get("max_tokens"), row.get("tags")
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise DataError(f"{card}: no usable card ({error!r}); expected JSON") from error
    if kind != TAGGER or tags != list(TAGS):
        raise DataError(
            f"{card}: kind is {kind!r} and tags are {tags!r}; expected {TAGGER!r} and {list(TAGS)} for an "
            f"extractor"
        )
    if not isinstance(most, int) or isinstance(most, bool) or most < 8:
        raise DataError(f"{card}: max_tokens is {most!r}, expected a whole number of 8 or more")
    return most


def _writes(folder: Path) -> bool:
    """Returns whether the folder has a model that writes text, by its config.json."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(config, dict) and bool(config.get("is_encoder_decoder"))


def student_claims(
    found_in: Callable[[str, Sequence[Claim], str], list[Claim]], answer: str, *, question: str | None = None
) -> list[Claim]:
    """Returns the claims of `answer` in the order of their spans, with ids c1, c2, ...

    If the rules find no claim, as in a refusal, the model is not asked.

    Args:
        found_in: (answer, claims by the rules, question) -> the model's claims.
        answer: any text.
        question: what it answers.
    """
    ruled = extract_claims(answer, question=question)
    if not ruled:
        return []
    found = [
        claim for claim in found_in(without_struck(answer), ruled, question or "") if _says(claim, ruled)
    ]
    # A claim that is written again and again, as weak models do, would outweigh the claims beside it.
    once = {plain_words(claim.text): claim for claim in reversed(found)}
    return completed(list(once.values())[::-1], ruled, alone=True)


def _says(claim: Claim, ruled: Sequence[Claim]) -> bool:
    """Returns whether a model's claim says something: it covers a claim by the rules, or has a verb.

    "Metformin" alone says nothing. All evidence on metformin has it, so it would raise every rate.
    """
    return any(covers([claim], each) for each in ruled) or read_clause(read_words(claim.text)) is not None


def _tagged(folder: Path, most: int, answer: str, ruled: Sequence[Claim], _question: str) -> list[Claim]:
    """Returns the spans that the tagger in `folder` marks, as claims."""
    return [_spanned(answer, span, ruled) for span in tagged_spans(folder, most, answer)]


def tagged_spans(folder: Path, most: int, answer: str) -> list[Span]:
    """Returns the spans of the claims that the tagger in `folder` marks, from first to last letter or digit.

    Args:
        folder: has model.onnx and tokenizer.json.
        most: how many tokens it reads at a time.
        answer: any text.

    Raises:
        DataError: the model does not give three logits for each token.
    """
    session, tokenizer = load_session(folder / "model.onnx"), load_tokenizer(folder / "tokenizer.json")
    frame = tokenizer.num_special_tokens_to_add(is_pair=False)
    spans: list[Span] = []
    for start, end in stretches(answer, lambda text: len(tokenizer.encode(text).ids), most=most):
        text = answer[start:end]
        encoding = tokenizer.encode(text)
        if len(encoding.ids) > most:  # what is behind becomes a claim by the rules
            whole = tokenizer.encode(text, add_special_tokens=False)
            encoding = tokenizer.encode(text[: whole.offsets[most - frame][0]])
        logits = run_rows(session, (encoding.ids, encoding.type_ids))[0]
        if logits.shape != (len(encoding.ids), len(TAGS)):
            raise DataError(
                f"{folder}: the model gave an output of shape {logits.shape} for {len(encoding.ids)} tokens; "
                f"expected {len(TAGS)} logits a token"
            )
        tags = [TAGS[place] for place in logits.argmax(axis=1)]
        found = spans_of_tags(encoding.offsets, tags)
        spans += [(start + first, start + last) for first, last in found]
    return [span for span in (_trimmed(answer, *span) for span in spans) if span[0] < span[1]]


def _trimmed(text: str, start: int, end: int) -> Span:
    """Returns the span from the first to the last letter, digit, "%" or bracket; an empty span for none."""
    places = [i for i in range(start, end) if text[i].isalnum() or text[i] in "%)]"]
    return (places[0], places[-1] + 1) if any(text[i].isalnum() for i in places) else (start, start)


def _spanned(answer: str, span: Span, ruled: Sequence[Claim]) -> Claim:
    """Returns the words at `span` as a claim.

    A part of a claim by the rules has that claim as its context.
    """
    start, end = span
    near = max(ruled, key=lambda claim: (min(end, claim.end) - max(start, claim.start), -claim.start))
    touches = near.start < end and start < near.end
    part = touches and near.start < start
    context = (near.text if part else near.context) if touches else ""
    return Claim(
        id="", text=answer[start:end], start=start, end=end, context=context,
        citations=near.citations if touches else (),
    )  # fmt: skip


def _written(folder: Path, answer: str, ruled: Sequence[Claim], question: str) -> list[Claim]:
    """Returns the claims that the model in `folder` writes, without those that the answer does not make."""
    claims = []
    for text in written_claims(folder, answer):
        try:
            check_said([text], answer=answer, question=question)
        except ReplyError:  # it makes this up; what the answer says in its place is a claim by the rules
            continue
        claims.append(placed(text, answer, ruled))
    return claims


def written_claims(folder: Path, answer: str) -> list[str]:
    """Returns the claims that the model in `folder` writes for `answer`, by the likeliest tokens.

    They are in the order written; [] for none. A long answer is cut to what the model reads. It writes at
    most 512 tokens.
    """
    model, tokenizer, torch = _load_writer(str(folder))
    inputs = tokenizer(PROMPT + answer, truncation=True, return_tensors="pt")
    inputs = {name: inputs[name] for name in ("input_ids", "attention_mask")}
    with torch.inference_mode():
        ids = model.generate(**inputs, max_new_tokens=_WRITTEN_TOKENS, num_beams=1, do_sample=False)
    text = str(tokenizer.decode(ids[0], skip_special_tokens=True))
    return [claim.strip() for claim in text.split(SEPARATOR) if claim.strip()]


@lru_cache(maxsize=1)
def _load_writer(folder: str) -> tuple[Any, Any, Any]:
    """Returns (model, tokenizer, torch) of the folder; the last is kept."""
    return load_foreign(
        folder,
        f"the extractor {folder!r}",
        kind="AutoModelForSeq2SeqLM",
        expected="a folder with a T5 model and its tokenizer",
        gives="its claims",
    )
