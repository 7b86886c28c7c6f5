"""Trains a tagger, which marks the claims of an answer token by token.

The tag B begins a claim, I goes on with it, O is outside.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pytest_medfaith.claims.tagging import TAGS, spans_of_tags, stretches, tags_of_spans
from pytest_medfaith.distill.agreement import agree_on_spans
from pytest_medfaith.distill.files import read_answers
from pytest_medfaith.distill.records import SilverAnswer
from pytest_medfaith.errors import DataError
from training.batches import length_bucketed_batches
from training.epochs import EpochSettings, Lesson, fix_seeds, train_epochs
from training.student import base_folder, best_device, quieten, save_student

_IGNORED = -100  # the target of a token that is not learned, as torch's cross-entropy has it


@dataclass(frozen=True, kw_only=True)
class ExtractorSettings:
    """How an extractor learns from silver answers.

    Attributes:
        base: a model folder, or an installed package with a model.
        max_tokens: tokens that the model reads at a time.
        batch_tokens: tokens of a step, at most.
        epochs: how long and how fast it learns.
    """

    base: str
    max_tokens: int = 256
    batch_tokens: int = 4096
    epochs: EpochSettings = field(default_factory=EpochSettings)


@dataclass(frozen=True)
class _Stretch:
    """Whole sentences of an answer as tokens.

    Attributes:
        ids: token ids.
        targets: index of each token's tag in `TAGS`; -100 for tokens that are not learned.
        offsets: (start, end) of each token in the answer, in characters.
    """

    ids: list[int]
    targets: list[int]
    offsets: list[tuple[int, int]]


def train_tagger(
    silver: Path,
    out: Path,
    settings: ExtractorSettings,
    *,
    progress: Callable[[str], None] = print,
    stop_after: int | None = None,
) -> Path:
    """Trains a model that marks where each claim of an answer begins and ends.

    Returns the folder of the weights with the best F1 of claim spans on dev, or `out` after `stop_after`.

    Args:
        silver: a folder that `medfaith distill silver` wrote; its split train is learned.
        out: the folder of the training. A training that was interrupted there goes on.
        settings: the base model, and how it learns.
        progress: is called with a line each epoch.
        stop_after: steps after which the training is left, as if it was interrupted; None for never.

    Raises DataError for malformed rows and a tokenizer without places of tokens, and as `train_epochs` does.
    """
    fix_seeds(settings.epochs.seed)
    train, dev = read_answers(silver, "train"), read_answers(silver, "dev")
    student = _loaded(base_folder(settings.base), settings)
    learned = [part for row in train for part in student.read(row)]
    lesson = Lesson(
        batches_of=lambda epoch: length_bucketed_batches(
            [len(part.ids) for part in learned],
            batch_tokens=settings.batch_tokens,
            seed=f"{settings.epochs.seed}-{epoch}",
        ),
        loss_of=lambda batch: student.loss_of([learned[i] for i in batch]),
        scores=lambda: student.scores(dev),
        judged_by="dev_span_f1",
        of=fingerprint("tagger", settings, [*train, *dev]),
    )
    return train_epochs(
        student.model,
        lesson,
        settings.epochs,
        out,
        save=partial(save_student, student.model, student.tokenizer),
        progress=progress,
        stop_after=stop_after,
    )


def fingerprint(kind: str, settings: ExtractorSettings, rows: Sequence[SilverAnswer]) -> str:
    """Returns a hash that names a training, 16 hexadecimal digits, by its kind, its settings and its rows."""
    digest = hashlib.sha256(repr((kind, asdict(settings))).encode())
    for row in rows:
        digest.update(repr((row.answer, row.claims)).encode())
    return digest.hexdigest()[:16]


def _loaded(base: Path, settings: ExtractorSettings) -> _Tagger:
    """Returns the tagger with a fresh head; DataError for a tokenizer without padding or offsets."""
    from transformers import AutoModelForTokenClassification, AutoTokenizer

    quieten()
    tokenizer = AutoTokenizer.from_pretrained(base)
    if not tokenizer.is_fast or tokenizer.pad_token_id is None:
        raise DataError(
            f"{base}: the tokenizer has no padding, or does not say where tokens are; expected tokenizer.json"
        )
    model = AutoModelForTokenClassification.from_pretrained(
        base,
        num_labels=len(TAGS),
        id2label=dict(enumerate(TAGS)),
        label2id={tag: i for i, tag in enumerate(TAGS)},
    )
    return _Tagger(model, tokenizer, min(settings.max_tokens, tokenizer.model_max_length))


@dataclass(frozen=True)
class _Tagger:
    """A token classifier in training.

    Attributes:
        model: of transformers.
        tokenizer: of transformers.
        most: tokens that it reads at a time.
    """

    model: Any
    tokenizer: Any
    most: int

    def read(self, row: SilverAnswer) -> list[_Stretch]:
        """Returns an answer in parts of whole sentences, as the extractor will read it, with their tags."""
        claims = [(claim.start, claim.end) for claim in row.claims]
        parts = []
        for start, end in stretches(row.answer, self.length_of, most=self.most):
            read = self.tokenizer(
                row.answer[start:end], truncation=True, max_length=self.most, return_offsets_mapping=True
            )
            offsets = [(start + first, start + last) for first, last in read["offset_mapping"]]
            targets = [
                TAGS.index(tag) if first < last else _IGNORED
                for tag, (first, last) in zip(tags_of_spans(offsets, claims), offsets, strict=True)
            ]
            parts.append(_Stretch(list(read["input_ids"]), targets, offsets))
        return parts

    def length_of(self, text: str) -> int:
        """Returns how many tokens `text` has, special tokens included."""
        return len(self.tokenizer(text)["input_ids"])

    def logits_of(self, parts: Sequence[_Stretch]) -> Any:
        """Returns logits (n, length, 3) of some parts, padded to the longest."""
        inputs = {"input_ids": [part.ids for part in parts]}
        return self.model(**self.tokenizer.pad(inputs, return_tensors="pt").to(best_device())).logits.float()

    def loss_of(self, parts: Sequence[_Stretch]) -> Any:
        """Returns the mean cross-entropy over the tokens of some parts."""
        import torch

        logits = self.logits_of(parts)
        width = logits.shape[1]
        targets = [part.targets + [_IGNORED] * (width - len(part.targets)) for part in parts]
        flat = torch.tensor(targets, device=logits.device).flatten()
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), flat, ignore_index=_IGNORED)

    def scores(self, rows: Sequence[SilverAnswer]) -> dict[str, float]:
        """Returns {"dev_span_f1": F1 of the claims' spans, "dev_claims": how many claims it found}."""
        self.model.eval()
        scored = agree_on_spans(rows, self._spans_of)
        return {"dev_span_f1": scored.f1, "dev_claims": float(scored.found)}

    def _spans_of(self, row: SilverAnswer) -> list[tuple[int, int]]:
        """Returns the (start, end) of each claim that the tagger finds in an answer."""
        import torch

        found = []
        for part in self.read(row):
            with torch.inference_mode():
                places = self.logits_of([part])[0].argmax(dim=1).tolist()
            found += spans_of_tags(part.offsets, [TAGS[place] for place in places[: len(part.offsets)]])
        return found
