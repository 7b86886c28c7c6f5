"""Distils the strong checker into the fast checker, which learns the strong one's probabilities.

Both models' logits are divided by a temperature, so that the student sees how likely the teacher finds each
wrong label (Hinton, Vinyals & Dean 2015, "Distilling the Knowledge in a Neural Network"). Pairs without a
label teach too: a claim and a text that search finds for it.
"""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_medfaith.checking.student import pair_row, score_with_student
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_rows
from pytest_medfaith.records import LABELS, Chunk
from pytest_medfaith.retrieval.bm25 import bm25_retriever
from training.batches import length_bucketed_batches
from training.loop import run_steps
from training.losses import soft_loss
from training.optimizers import optimizers_of
from training.pairs import Pair
from training.student import load_student, save_student

_READ_AT_ONCE = 256


@dataclass(frozen=True)
class SoftPair:
    """A pair with the teacher's logits.

    Attributes:
        evidence: the text.
        claim: the statement.
        label: entail, neutral or contradict; None where nobody labelled the pair.
        logits: the teacher's, for entail, neutral, contradict.
    """

    evidence: str
    claim: str
    label: str | None
    logits: tuple[float, float, float]  # entail, neutral, contradict


def found_pairs(
    pairs: Sequence[Pair], *, most: int, seed: int = 0, beside: int = 2
) -> Iterator[tuple[str, str]]:
    """Yields (evidence, claim) without a label: claims with texts that BM25 finds for them.

    The evidence of all pairs is searched. The evidence that a claim was written for is left out.

    Args:
        pairs: of one or several sources.
        most: how many pairs to yield at most.
        seed: of the order of claims.
        beside: texts for each claim, at most.
    """
    texts = list(dict.fromkeys(pair.evidence for pair in pairs))
    retrieve = bm25_retriever([Chunk(id=str(number), text=text) for number, text in enumerate(texts)])
    written_for: dict[str, set[str]] = {}
    for pair in pairs:
        written_for.setdefault(pair.claim, set()).add(pair.evidence)
    claims = sorted(written_for)
    random.Random(seed).shuffle(claims)
    yielded = 0
    for claim in claims:
        its_evidence = written_for[claim]
        top_k = min(beside + len(its_evidence), len(texts))
        found = [hit.chunk.text for hit in retrieve(claim, top_k=top_k)]
        for text in [text for text in found if text not in its_evidence][:beside]:
            if yielded == most:
                return
            yielded += 1
            yield text, claim


def pairs_to_label(
    pairs: Sequence[Pair], *, most: int, found: int, seed: int = 0
) -> list[tuple[str, str, str | None]]:
    """Returns (evidence, claim, label) of the pairs that the teacher should label, in random order.

    Args:
        pairs: training pairs.
        most: training pairs at most, with their labels.
        found: pairs at most of a claim and a text that search finds for it; their label is None.
        seed: of the draw.
    """
    rng = random.Random(seed)
    drawn = rng.sample(pairs, min(most, len(pairs)))
    chosen: list[tuple[str, str, str | None]] = [(pair.evidence, pair.claim, pair.label) for pair in drawn]
    chosen += [(evidence, claim, None) for evidence, claim in found_pairs(drawn, most=found, seed=seed)]
    rng.shuffle(chosen)
    return chosen


def label_softly(
    teacher: Path, pairs: Iterable[tuple[str, str, str | None]], out: Path, *, max_tokens: int = 240
) -> int:
    """Appends the teacher's logits of each pair to the file `out`; returns how many lines it has then.

    A run that was interrupted goes on behind the last whole line, if it is given the same pairs.

    Args:
        teacher: an exported classifier, model.onnx, with tokenizer.json beside it.
        pairs: (evidence, claim, label), in a fixed order.
        out: JSON Lines file to write or to go on with.
        max_tokens: tokens of a pair; evidence is cut.

    Raises:
        DataError: `out` holds pairs that are not the first of `pairs`.
    """
    waiting = iter(pairs)
    done = _whole_lines(out)
    for number, line in read_rows(out) if done else ():
        if (line.get("evidence"), line.get("claim"), line.get("label")) != next(waiting, None):
            raise DataError(
                f"{out}:{number}: holds another pair than those to label; "
                "give the same pairs again, or another file"
            )
    with out.open("a", encoding="utf-8") as file:
        while block := list(islice(waiting, _READ_AT_ONCE)):
            logits = score_with_student(
                teacher, max_tokens, [(evidence, claim) for evidence, claim, _ in block]
            )
            for (evidence, claim, label), row in zip(block, logits, strict=True):
                soft = [round(float(value), 3) for value in row]
                file.write(
                    json.dumps(
                        {"evidence": evidence, "claim": claim, "label": label, "logits": soft},
                        ensure_ascii=False,
                    )
                    + "\n"
                )
            file.flush()
            done += len(block)
    return done


def _whole_lines(path: Path) -> int:
    """Returns how many lines a file has, after cutting off a last line without an end; 0 for no file."""
    if not path.exists():
        return 0
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        partial = path.with_name(path.name + ".part")
        partial.write_bytes(whole)
        os.replace(partial, path)
    return whole.count(b"\n")


def read_soft(path: Path) -> list[SoftPair]:
    """Returns the pairs that `label_softly` wrote.

    Raises:
        DataError: a line lacks a field, has an unknown label, or has no three finite logits; or no line.
    """
    pairs = []
    for number, line in read_rows(path):
        label = line.get("label")
        logits: Any = line.get("logits")
        texts = all(isinstance(line.get(key), str) and line[key].strip() for key in ("evidence", "claim"))
        if not texts or label not in (None, *LABELS) or not _is_row_of_logits(logits):
            raise DataError(
                f"{path}:{number}: expected evidence, claim, "
                f"label (one of {', '.join(LABELS)} or null) and three logits"
            )
        pairs.append(SoftPair(line["evidence"], line["claim"], label, tuple(logits)))
    if not pairs:
        raise DataError(f"{path}: holds no pair")
    return pairs


def _is_row_of_logits(value: Any) -> bool:
    """Returns whether `value` is a list of three finite numbers."""
    return (
        isinstance(value, list)
        and len(value) == len(LABELS)
        and all(isinstance(each, int | float) and math.isfinite(each) for each in value)
    )


def train_fast(
    start: Path,
    pairs: Sequence[SoftPair],
    out: Path,
    *,
    rate: float = 6e-5,
    epochs: int = 1,
    batch_tokens: int = 4096,
    max_tokens: int = 240,
    seed: int = 0,
    progress: Callable[[str], None] = print,
) -> Path:
    """Trains the student in the folder `start` on the teacher's logits, writes it to `out` and returns `out`.

    Args:
        start: model folder of transformers, with a head of three labels or without.
        pairs: what `read_soft` returns.
        out: folder to write; it must not exist.
        rate: peak rate of AdamW, see `learning_rate`.
        epochs: passes over the pairs.
        batch_tokens: tokens of a step, after padding.
        max_tokens: tokens of a pair; evidence is cut at its end.
        seed: of the order.
        progress: called with a line now and then.
    """
    import torch

    torch.manual_seed(seed)
    model, tokenizer = load_student(start, freeze=["word_embeddings"])
    row_of = partial(pair_row, max_tokens=max_tokens, claim_tokens=max_tokens // 2)
    rows = [row_of(pair.evidence, pair.claim) for pair in pairs]
    batched = partial(length_bucketed_batches, [len(row[0]) for row in rows], batch_tokens=batch_tokens)
    run_steps(
        model,
        [batch for epoch in range(epochs) for batch in batched(seed=f"{seed}-{epoch}")],
        rows_of=lambda batch: [rows[i] for i in batch],
        loss_of=lambda logits, batch: _loss_of(logits, [pairs[i] for i in batch]),
        optimizers=optimizers_of(model, rate=rate),
        name="fast",
        progress=progress,
    )
    return save_student(model, tokenizer, out)


def _loss_of(logits: Any, pairs: Sequence[SoftPair]) -> tuple[Any, float]:
    """Returns (the loss to lower, its value for progress) of a batch."""
    import torch

    targets = torch.tensor([-1 if pair.label is None else LABELS.index(pair.label) for pair in pairs])
    loss = soft_loss(logits, torch.tensor([pair.logits for pair in pairs]), targets)
    return loss, float(loss.item())
