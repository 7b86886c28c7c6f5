"""The checker: one shape `(claim, chunks) -> verdict`, and its batch form."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_medfaith import defaults
from pytest_medfaith.checking.acquittal import acquitted, restated
from pytest_medfaith.checking.cascade import Cascade, Reading, read_deciding_windows, score_readings
from pytest_medfaith.checking.joint import joined_parts
from pytest_medfaith.checking.overrule import overrule
from pytest_medfaith.checking.policy import Thresholds, decide
from pytest_medfaith.checking.readable import unusable_text
from pytest_medfaith.checking.rules import GROUNDING, RULE_NAMES, check_rule_names
from pytest_medfaith.checking.scoring import Progress, TextScorer, score_pairs
from pytest_medfaith.checking.similarity import MOVES_NOTHING, SimilarityShift, Vectors, encoder_signature
from pytest_medfaith.english.letters import plain_chunk, plain_claim
from pytest_medfaith.entities.scispacy import load_linker
from pytest_medfaith.errors import DataError
from pytest_medfaith.models.shipped import MODELS, default_weights
from pytest_medfaith.models.whole import whole
from pytest_medfaith.records import LABELS, Chunk, Claim, PairScore, Verdict

if TYPE_CHECKING:
    from pytest_medfaith.calibration.isotonic import Isotonic


@dataclass(frozen=True)
class Checker:
    """Judges claims against chunks.

    `signature` names the weights and everything else that decides a score; `score_texts` is the model; `rules` are the names of the
    medical rules that may overrule it, and `linker` finds the names that they compare. `isotonic` turns the probabilities at
    `temperature` into calibrated ones. `similarity` is how the sentence encoder has its say. A model that reads no other script is `latin_only`:
    what it would say of others has no sense. A strong model comes after a `fast` one, which reads everything, and reads what `cascade` allows.
    """

    name: str
    signature: str
    score_texts: TextScorer
    thresholds: Thresholds = field(default_factory=Thresholds)
    temperature: float = 1.0
    cache: Path | None = None
    rules: frozenset[str] = frozenset()
    linker: str = defaults.LINKER
    isotonic: Isotonic | None = None
    latin_only: bool = False
    similarity: SimilarityShift = MOVES_NOTHING
    fast: Checker | None = None
    cascade: Cascade = field(default_factory=Cascade)

    def __call__(self, claim: Claim | str, chunks: Sequence[Chunk]) -> Verdict:
        """Returns the verdict on one claim over `chunks`."""
        claim = Claim(id="claim", text=claim) if isinstance(claim, str) else claim
        scores = self.score([(claim, chunk) for chunk in chunks])
        return self.decide(claim, scores, chunks)

    def score(
        self, pairs: Sequence[tuple[Claim, Chunk]], *, progress: Progress | None = None
    ) -> list[PairScore]:
        """Returns one score per (claim, chunk) pair, in order; equal texts are scored once.

        Raises:
            ValueError: the model gave something else than three logits a pair.
        """
        pairs = [(plain_claim(claim), plain_chunk(chunk)) for claim, chunk in pairs]
        vectors = Vectors(self.cache)
        first = self.fast or self
        scores = score_pairs(
            pairs,
            partial(_three_columns, first.name, first.score_texts),
            signature=first.signature,
            temperature=first.temperature,
            similarity=first.similarity,
            cache=self.cache,
            vectors=vectors,
            progress=progress,
        )
        if self.fast:
            readings = self.read_strong(pairs, scores, vectors)
            scores = score_readings(
                pairs,
                scores,
                readings,
                temperature=self.temperature,
                similarity=self.similarity,
                fast_weight=self.cascade.fast_weight,
            )
        return [_meant(score, self.isotonic) for score in scores] if self.isotonic else scores

    def read_strong(
        self, pairs: Sequence[tuple[Claim, Chunk]], scores: Sequence[PairScore], vectors: Vectors
    ) -> dict[int, list[Reading]]:
        """Returns what this model reads of `pairs` after its fast student scored them, by the index of the pair."""
        if self.fast is None:
            raise ValueError(
                f"the checker {self.name!r} has no fast student before it; expected the strong model of a cascade"
            )
        return read_deciding_windows(
            pairs,
            scores,
            partial(_three_columns, self.name, self.score_texts),
            cascade=self.cascade,
            fast_thresholds=self.fast.thresholds,
            signature=self.signature,
            vectors=vectors,
        )

    def decide(self, claim: Claim, scores: Sequence[PairScore], chunks: Sequence[Chunk]) -> Verdict:
        """Returns the verdict on `claim` from the scores of its `chunks`.

        It is `unscored`, with the reason, where the claim cannot be judged, no chunk can be read, or the model gave no finite number for
        one that can be, and no other refutes the claim.
        Chunks that cannot be read count as if they were not there. Letters in other dress are read as plain ones; offsets stay.
        """
        return self._decide(plain_claim(claim), scores, [plain_chunk(chunk) for chunk in chunks]).with_(
            claim=claim
        )

    def _decide(self, claim: Claim, scores: Sequence[PairScore], chunks: Sequence[Chunk]) -> Verdict:
        unusable = {chunk.id: self.unusable(chunk.text, "evidence") for chunk in chunks}
        readable = [chunk for chunk in chunks if not unusable[chunk.id]]
        scored = [score for score in scores if score.logits is not None and not unusable.get(score.chunk_id)]
        reason = self.unusable(claim.text, "claim") or (
            "" if readable else next(filter(None, unusable.values()), "")
        )
        if reason or (scores and not scored):
            why = reason or "the model gave no finite score; it may be that the claim is longer than it reads"
            return Verdict(claim=claim, label="unscored", threshold=self.thresholds.entail, reason=why)
        verdict = decide(claim, scored, self.thresholds)
        lost = [
            score.chunk_id for score in scores if score.logits is None and not unusable.get(score.chunk_id)
        ]
        if lost and verdict.label != "refuted":  # what could not be scored may be what refutes it
            why = f"the model gave no finite score for {', '.join(lost[:3])}"
            return Verdict(claim=claim, label="unscored", threshold=self.thresholds.entail, reason=why)
        if verdict.label != "supported" and scored and GROUNDING in self.rules:
            verdict = self._restated(verdict, scored, readable) or verdict
        if verdict.label == "unsupported" and scored:
            verdict = self._joined(verdict, readable) or verdict
        verdict = overrule(verdict, scored, readable, rules=self.rules, linker=self.linker)
        if GROUNDING in self.rules:
            verdict = acquitted(verdict, scored, readable, self.thresholds)
        return verdict.with_(
            threshold=self.thresholds.contradict if verdict.label == "refuted" else self.thresholds.entail
        )

    def unusable(self, text: str, what: str) -> str:
        """Returns why this checker cannot judge `text`, a "claim" or "evidence", or an empty string."""
        return unusable_text(text, what, latin_only=self.latin_only)

    def _restated(
        self, verdict: Verdict, scores: Sequence[PairScore], chunks: Sequence[Chunk]
    ) -> Verdict | None:
        """Returns the verdict on the claim as its sentence writes its quantities, where the model supports that; None where it does not."""
        score = next((score for score in scores if score.chunk_id == verdict.chunk_id and score.span), None)
        chunk = next((chunk for chunk in chunks if chunk.id == verdict.chunk_id), None)
        if score is None or chunk is None:
            return None
        text = restated(verdict.claim.text, chunk.text[slice(*score.span)] if score.span else "")
        if text == verdict.claim.text:
            return None
        again = decide(verdict.claim, self.score([(verdict.claim.with_(text=text), chunk)]), self.thresholds)
        return again.with_(reason=f"read as: {text}") if again.label == "supported" else None

    def _joined(self, verdict: Verdict, chunks: Sequence[Chunk]) -> Verdict | None:
        """Returns the verdict over the sentences that cover the claim together, or None where they decide nothing either."""
        parts = joined_parts(verdict.claim.text, chunks)
        if not parts:
            return None
        read = Chunk(id=chunks[parts[0].chunk].id, text=" ".join(part.text for part in parts))
        joined = decide(verdict.claim, self.score([(verdict.claim, read)]), self.thresholds)
        if joined.label == "unsupported":
            return None
        sources = tuple(dict.fromkeys(chunks[part.chunk].id for part in parts))
        return joined.with_(
            joint=True,
            span=(parts[0].start, parts[0].end),
            supporting=sources if joined.label == "supported" and len(sources) == 1 else (),
            reason=f"{len(parts)} sentences of {' and '.join(sources)} read together",
        )


def _three_columns(name: str, score_texts: TextScorer, pairs: Sequence[tuple[str, str]]) -> Any:
    import numpy as np

    given = score_texts([(whole(evidence), whole(claim)) for evidence, claim in pairs])
    try:
        logits = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"the checker {name!r} gave a {type(given).__name__} that holds no table of numbers for {len(pairs)} pairs, expected logits of "
            f"shape ({len(pairs)}, {len(LABELS)}), in the order {', '.join(LABELS)}"
        ) from error
    if logits.shape != (len(pairs), len(LABELS)):
        raise ValueError(
            f"the checker {name!r} gave logits of shape {logits.shape} for {len(pairs)} pairs, expected ({len(pairs)}, {len(LABELS)}): one "
            f"row a pair, in the order {', '.join(LABELS)}"
        )
    return logits


def _meant(score: PairScore, isotonic: Isotonic) -> PairScore:
    if score.logits is None:
        return score
    probs = isotonic(score.probs)
    return score.with_(probs=probs, label=LABELS[probs.index(max(probs))])


def load_checker(
    name: str = defaults.CHECKER,
    *,
    label_map: Mapping[str, str] | None = None,
    thresholds: Thresholds | None = None,
    cache: Path | None = None,
    max_tokens: int = 512,
    rules_off: Collection[str] = (),
    linker: str = defaults.LINKER,
) -> Checker:
    """Returns the strong model for "default", the small student for "fast", else the model of that folder or hub name.

    A folder with `card.json` and `model.onnx` is an ONNX checker; any other folder, and a hub name, a Hugging Face classifier.

    Args:
        name: "default", "fast", a folder, or a hub name.
        label_map: what a foreign model's labels mean, where its config does not say.
        thresholds: instead of the model card's, or 0.5 for a foreign model.
        cache: SQLite file of kept logits.
        max_tokens: how much a foreign model reads of a pair.
        rules_off: names of medical rules that may not overrule the model; names of safety rules are allowed and change nothing here.
        linker: "default" (the concept table), or "scispacy", "scispacy:MODEL", "scispacy:MODEL:KNOWLEDGE_BASE" (extra: bio).

    Raises:
        DataError: an unknown checker, weights that are not installed, or a model without usable labels.
        MissingExtra: a foreign model, and transformers is not installed.
    """
    check_rule_names(rules_off)
    load_linker(linker)  # an unknown or missing one is said now, not at the first claim
    rules = frozenset(RULE_NAMES) - set(rules_off)
    folder = _onnx_folder(name)
    if folder:
        return _onnx_checker(name, folder, thresholds=thresholds, cache=cache, rules=rules, linker=linker)
    from pytest_medfaith.checking.classifier import score_with_classifier
    from pytest_medfaith.models.folders import model_signature

    if not name.strip():
        raise DataError(
            "the checker's name is empty; expected 'default', 'fast', a model folder, or a Hugging Face model name"
        )
    scorer = partial(score_with_classifier, name, label_map, max_tokens)
    signature = f"{model_signature(name)}|{sorted((label_map or {}).items())}|{max_tokens}"
    return Checker(
        name, signature, scorer, thresholds or Thresholds(), cache=cache, rules=rules, linker=linker
    )


def _onnx_folder(name: str) -> Path | None:
    """Returns the folder of a shipped checker, or of a user's own ONNX model; None for any other name."""
    if name == defaults.CHECKER:
        return default_weights()
    if name == "fast":
        return MODELS / "nli"
    own = Path(name)
    return own if all((own / part).is_file() for part in ("card.json", "model.onnx")) else None


def _onnx_checker(
    name: str,
    folder: Path,
    *,
    thresholds: Thresholds | None,
    cache: Path | None,
    rules: frozenset[str],
    linker: str,
) -> Checker:
    from pytest_medfaith.checking.student import read_card, score_with_student
    from pytest_medfaith.models.onnx import weights_signature

    card = read_card(folder)
    fast = load_checker("fast", cache=cache) if card.cascade else None
    parts = [
        weights_signature(folder / "model.onnx"),
        encoder_signature(),
        card.similarity_weight,
        card.similarity_even,
    ]
    if fast:
        parts += [fast.signature, card.cascade]
    return Checker(
        name,
        "|".join(map(str, parts)),
        partial(score_with_student, folder / "model.onnx", card.max_tokens),
        thresholds or card.thresholds,
        temperature=card.temperature,
        similarity=card.similarity,
        cache=cache,
        rules=rules,
        linker=linker,
        latin_only=True,
        fast=fast,
        cascade=card.cascade or Cascade(),
    )
