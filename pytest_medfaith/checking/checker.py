"""The checker: one shape `(claim, chunks) -> verdict`, and its batch form."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pytest_medfaith.checking.joint import joined_parts
from pytest_medfaith.checking.overrule import overrule
from pytest_medfaith.checking.policy import Thresholds, decide
from pytest_medfaith.checking.rules import RULES
from pytest_medfaith.checking.scoring import Progress, TextScorer, score_pairs
from pytest_medfaith.errors import DataError
from pytest_medfaith.records import Chunk, Claim, PairScore, Verdict

MODELS = Path(__file__).parent.parent / "models"
MAX_CHARACTERS = 20_000  # of one claim; longer is no claim, and costs minutes


@dataclass(frozen=True)
class Checker:
    """Judges claims against chunks.

    `signature` names the weights and everything else that decides a score; `score_texts` is the model; `rules` are the names of the
    medical rules that may overrule it.
    """

    name: str
    signature: str
    score_texts: TextScorer
    thresholds: Thresholds = field(default_factory=Thresholds)
    temperature: float = 1.0
    cache: Path | None = None
    rules: frozenset[str] = frozenset()

    def __call__(self, claim: Claim | str, chunks: Sequence[Chunk]) -> Verdict:
        """Returns the verdict on one claim over `chunks`."""
        claim = Claim(id="claim", text=claim) if isinstance(claim, str) else claim
        scores = self.score([(claim, chunk) for chunk in chunks])
        return self.decide(claim, scores, chunks)

    def score(self, pairs: Sequence[tuple[Claim, Chunk]], *, progress: Progress | None = None) -> list[PairScore]:
        """Returns one score per (claim, chunk) pair, in order; equal texts are scored once."""
        return score_pairs(
            pairs, self.score_texts, signature=self.signature, temperature=self.temperature, cache=self.cache, progress=progress
        )

    def decide(self, claim: Claim, scores: Sequence[PairScore], chunks: Sequence[Chunk]) -> Verdict:
        """Returns the verdict on `claim` from the scores of its `chunks`; `unscored` where the model gave no numbers."""
        unusable = unusable_text(claim.text, "claim")
        if unusable:
            return Verdict(claim=claim, label="unscored", threshold=self.thresholds.entail, reason=unusable)
        if scores and all(score.logits is None for score in scores):
            return Verdict(claim=claim, label="unscored", threshold=self.thresholds.entail, reason="the model gave no finite score")
        scored = [score for score in scores if score.logits is not None]
        verdict = decide(claim, scored, self.thresholds)
        if verdict.label == "unsupported" and scored:
            verdict = self._joined(verdict, chunks) or verdict
        return overrule(verdict, scored, chunks, rules=self.rules)

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


def unusable_text(text: str, what: str) -> str:
    """Returns why `text` cannot be judged, or an empty string: no word in it, or more than MAX_CHARACTERS (for a claim)."""
    if not any(character.isalnum() for character in text):
        return f"the {what} holds no word"
    if what == "claim" and len(text) > MAX_CHARACTERS:
        return f"the claim has {len(text)} characters, more than {MAX_CHARACTERS}"
    return ""


def load_checker(
    name: str = "default",
    *,
    label_map: Mapping[str, str] | None = None,
    thresholds: Thresholds | None = None,
    cache: Path | None = None,
    max_tokens: int = 512,
    rules_off: Collection[str] = (),
) -> Checker:
    """Returns the shipped student for "default", else the Hugging Face classifier of that name or folder.

    Args:
        name: "default", a folder, or a hub name.
        label_map: what a foreign model's labels mean, where its config does not say.
        thresholds: instead of the model card's, or 0.5 for a foreign model.
        cache: SQLite file of kept logits.
        max_tokens: how much a foreign model reads of a pair.
        rules_off: names of medical rules that may not overrule the model.

    Raises:
        DataError: an unknown checker, or a model without usable labels.
        MissingExtra: a foreign model, and transformers is not installed.
    """
    unknown = sorted(set(rules_off) - RULES.keys())
    if unknown:
        raise DataError(f"no rule is named {unknown[0]!r}; the rules that can be switched off are {', '.join(RULES)}")
    rules = frozenset(RULES.keys() - set(rules_off))
    if name == "default":
        return _student(MODELS / "nli", thresholds=thresholds, cache=cache, rules=rules)
    from pytest_medfaith.checking.classifier import score_with_classifier

    if not name.strip():
        raise DataError("the checker's name is empty; expected 'default', a model folder, or a Hugging Face model name")
    scorer = partial(score_with_classifier, name, label_map, max_tokens)
    signature = f"{name}|{sorted((label_map or {}).items())}|{max_tokens}"
    return Checker(name, signature, scorer, thresholds or Thresholds(), cache=cache, rules=rules)


def _student(folder: Path, *, thresholds: Thresholds | None, cache: Path | None, rules: frozenset[str]) -> Checker:
    from pytest_medfaith.checking.student import read_card, score_with_student, weights_signature

    card = read_card(folder)
    return Checker(
        "default",
        weights_signature(folder / "model.onnx"),
        partial(score_with_student, folder / "model.onnx", card.max_tokens),
        thresholds or Thresholds(entail=card.entail_threshold, contradict=card.contradict_threshold),
        temperature=card.temperature,
        cache=cache,
        rules=rules,
    )
