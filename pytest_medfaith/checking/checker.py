"""The checker: does the evidence support or refute what a claim says, or does it leave the claim open?

A checker is called as `checker(claim, chunks)` and returns a verdict. For many claims it has two steps:
`score` lets the model read all pairs of claims and chunks, and `decide` makes a verdict of a claim's scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_medfaith import defaults
from pytest_medfaith.checking.acquittal import acquitted
from pytest_medfaith.checking.cascade import Cascade, Reader, score_deciding_windows
from pytest_medfaith.checking.grounding import grounded
from pytest_medfaith.checking.overrides.applied import overridden
from pytest_medfaith.checking.overrule import overrule
from pytest_medfaith.checking.policy import Thresholds, decide, entails, unscored
from pytest_medfaith.checking.quotation import quoting_chunk
from pytest_medfaith.checking.readable import unusable_text
from pytest_medfaith.checking.rejected import read_rejected
from pytest_medfaith.checking.rereading import read_joined, read_restated
from pytest_medfaith.checking.rules import GROUNDING, NEGATION, OVERRIDES, AddedRule, active_rules
from pytest_medfaith.checking.selective import Selective
from pytest_medfaith.english.letters import plain_chunk, plain_claim
from pytest_medfaith.entities.scispacy import NO_LINKER
from pytest_medfaith.records import Chunk, Claim, PairScore, Verdict
from pytest_medfaith.scoring.pairs import Model, Progress, TextScorer, recalibrated, score_pairs
from pytest_medfaith.scoring.reading import AS_SHIPPED, ReadingSettings
from pytest_medfaith.scoring.similarity import MOVES_NOTHING, SimilarityShift, Vectors

if TYPE_CHECKING:
    from pytest_medfaith.calibration.isotonic import Isotonic


@dataclass(frozen=True)
class Checker:
    """Judges claims against chunks: a model, then medical rules that may overrule it.

    Attributes:
        name: the name on cards, by which baselines tell checkers apart.
        signature: names the weights and everything else that decides a score.
        score_texts: the model: takes (evidence, claim) texts and returns three logits for each.
        thresholds: from which probability on a chunk supports or refutes.
        temperature: the logits are divided by it before the softmax.
        cache: the SQLite file of kept logits and vectors; None for none.
        rules: names of the medical rules that may overrule the model.
        linker: name of what finds the drugs and diseases that the rules compare.
        isotonic: turns the probabilities at `temperature` into calibrated ones; None for none.
        latin_only: True if the model reads Latin script only. Its scores of other scripts have no meaning.
        similarity: how the similarity of claim and chunk changes the logit of neutral.
        fast: the small model that reads everything first, for a strong model that reads only what may decide.
        cascade: how much the strong model reads.
        reading: how the evidence is read.
        added_rules: rules of the user's project, beside the shipped rules.
        judge: a callable that gives verdicts in the model's place, without scores: a plain callable of the
            user, which no rule overrules (see `as_checker`), or the teacher.
        selective: marks verdicts below a certified confidence as uncertain; None to leave all as they are.
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
    reading: ReadingSettings = AS_SHIPPED
    added_rules: tuple[AddedRule, ...] = ()
    judge: Callable[[Claim, Sequence[Chunk]], Verdict] | None = None
    selective: Selective | None = None

    def __call__(self, claim: Claim | str, chunks: Sequence[Chunk]) -> Verdict:
        """Returns the verdict on a claim, or on a text as a claim, over all `chunks`."""
        claim = Claim(id="claim", text=claim) if isinstance(claim, str) else claim
        return self.decide(claim, self.score([(claim, chunk) for chunk in chunks]), chunks)

    @property
    def model(self) -> Model:
        """The model without the rules, and how its logits become probabilities."""
        return Model(
            self.name, self.signature, self.score_texts, self.temperature, self.similarity, self.reading
        )

    @property
    def rule_signatures(self) -> list[str]:
        """The sorted names of the rules in use. A rule of the project has a digest of its source in its name.

        The rules of `overrides`, such as "future", are named only where they are switched off ("no future").
        So baselines of versions before these rules stay comparable.
        """
        if not self.compared:
            return sorted(self.rules)
        added = {rule.name: rule.signature for rule in self.added_rules}
        off = [f"no {name}" for name in OVERRIDES if name not in self.rules]
        return sorted([*(added.get(name, name) for name in self.compared), *off])

    @property
    def compared(self) -> frozenset[str]:
        """The names of the rules that compare the claim with its evidence: all but `OVERRIDES`."""
        return self.rules - frozenset(OVERRIDES)

    def score(
        self, pairs: Sequence[tuple[Claim, Chunk]], *, progress: Progress | None = None
    ) -> list[PairScore]:
        """Returns a score for each (claim, chunk) pair, in order; [] if a judge replaces the model.

        A judge with a method `prepare` is told here what it will be asked, so that it can ask for all at
        once.

        Args:
            pairs: the (claim, chunk) pairs.
            progress: is told how many pairs were read; None for silence.

        Raises:
            ValueError: the model did not give three logits for each pair.
        """
        if self.judge:
            prepare = getattr(self.judge, "prepare", None)
            if prepare:
                prepare(self._judged(pairs), progress=progress)
            return []
        pairs = [(plain_claim(claim), plain_chunk(chunk)) for claim, chunk in pairs]
        vectors = Vectors(self.cache)
        first = self.fast or self
        scores = score_pairs(pairs, first.model, vectors=vectors, progress=progress)
        if self.fast:
            reader = Reader(self.model, self.cascade, self.fast.thresholds, vectors)
            scores = score_deciding_windows(pairs, scores, reader)
        return [recalibrated(score, self.isotonic) for score in scores] if self.isotonic else scores

    def _judged(self, pairs: Sequence[tuple[Claim, Chunk]]) -> list[tuple[Claim, list[Chunk]]]:
        """Returns (claim, chunks) for each claim that can be judged, as `decide` gives them to a judge."""
        asked: dict[str, tuple[Claim, list[Chunk]]] = {}
        for claim, chunk in pairs:
            plain = plain_chunk(chunk)
            if not self.unusable(plain_claim(claim).text, "claim"):
                chunks = asked.setdefault(claim.id, (claim, []))[1]
                chunks += [] if self.unusable(plain.text, "evidence") else [plain]
        return list(asked.values())

    def decide(self, claim: Claim, scores: Sequence[PairScore], chunks: Sequence[Chunk]) -> Verdict:
        """Returns the verdict on `claim` from the scores of its `chunks`.

        The verdict is `unscored`, with the reason, if the claim or none of the chunks can be read. It is also
        unscored if the model gave no finite number for a readable chunk and no other chunk refutes the claim.
        Chunks that cannot be read count as if they were not there. Letters in other styles, such as
        full-width ones, are read as plain letters; offsets stay. A claim that cannot be true, such as one on
        a trial of a future year, is refuted whatever the evidence is.
        """
        verdict = self._compared(claim, scores, chunks)
        if not self.rules or self.unusable(plain_claim(claim).text, "claim"):
            return verdict
        return overridden(verdict, scores, chunks, rules=self.rules)

    def _compared(self, claim: Claim, scores: Sequence[PairScore], chunks: Sequence[Chunk]) -> Verdict:
        """Returns the verdict by the model and by the rules that compare the claim with its evidence."""
        plain, chunks = plain_claim(claim), [plain_chunk(chunk) for chunk in chunks]
        unusable = {chunk.id: self.unusable(chunk.text, "evidence") for chunk in chunks}
        chunks = [chunk for chunk in chunks if not unusable[chunk.id]]
        why = self.unusable(plain.text, "claim")
        if not (why or chunks):
            why = next(filter(None, unusable.values()), "")
        if self.judge and not why:
            return self._overruled(self.judge(claim, chunks), chunks)
        scores = [score for score in scores if not unusable.get(score.chunk_id)]
        scored = [score for score in scores if score.logits is not None]
        verdict = decide(plain, scored, self.thresholds)
        why = why or _unread(scores, verdict)
        if why:
            return unscored(claim, self.thresholds, why)
        grounding = GROUNDING in self.rules
        if grounding:
            verdict = read_restated(verdict, scored, chunks, self._says)
        if scored:
            verdict = read_joined(verdict, chunks, self._says, self.reading)
        if self.compared:
            quoting = quoting_chunk(plain.text, chunks)
            rules = active_rules(self.rules, linker=self.linker, added=self.added_rules)
            verdict = overrule(verdict, scored, chunks, rules=rules, quoting=quoting)
            if grounding and not quoting:
                verdict = grounded(verdict, scored, chunks, names=self.linker != NO_LINKER)
        if grounding:
            verdict = acquitted(verdict, scored, chunks, self.thresholds, doubt=self.reading.doubt)
        if NEGATION in self.rules:
            verdict = read_rejected(verdict.with_(claim=plain), chunks, self._says)
        deciding = self.thresholds.contradict if verdict.label == "refuted" else self.thresholds.entail
        return verdict.with_(claim=claim, threshold=deciding)

    def _overruled(self, verdict: Verdict, chunks: Sequence[Chunk]) -> Verdict:
        """Returns a judge's verdict after the rules; unchanged for a plain callable, which has no rules."""
        if not self.compared:
            return verdict
        from pytest_medfaith.checking.quoted import overruled

        rules = active_rules(self.rules, linker=self.linker, added=self.added_rules)
        names = self.linker != NO_LINKER
        return overruled(verdict, chunks, rules=rules, grounding=GROUNDING in self.rules, names=names)

    def _says(self, claim: Claim, chunk: Chunk) -> Verdict:
        """Returns the model's verdict on the claim by one chunk, without rules."""
        return decide(claim, self.score([(claim, chunk)]), self.thresholds)

    def selected(self, verdict: Verdict) -> Verdict:
        """Returns `verdict`, as uncertain if its confidence is below what `selective` certifies."""
        return self.selective.applied(verdict) if self.selective else verdict

    def entailed(self, claim: Claim, chunk: Chunk, score: PairScore | None) -> bool:
        """Returns whether `chunk` alone entails the claim, without the rules.

        Args:
            claim: the claim of the pair.
            chunk: the chunk of the pair.
            score: what `score` gave for the pair; None with a judge, which is then asked.

        Raises:
            ValueError: `score` is None, and the checker has no judge.
        """
        if self.judge:
            return self.judge(claim, [chunk]).label == "supported"
        if score is None:
            raise ValueError(
                f"the checker {self.name!r} gave no score for the claim {claim.id!r} and the chunk "
                f"{chunk.id!r}"
            )
        return bool(entails(score.probs, self.thresholds))

    def unusable(self, text: str, what: str) -> str:
        """Returns why this checker cannot read `text`, a "claim" or "evidence"; "" if it can."""
        return unusable_text(text, what, latin_only=self.latin_only)


def _unread(scores: Sequence[PairScore], verdict: Verdict) -> str:
    """Returns why scores without finite logits leave the claim unscored; "" if they do not."""
    lost = [score.chunk_id for score in scores if score.logits is None]
    if lost and len(lost) == len(scores):
        return "the model gave no finite score; it may be that the claim is longer than it reads"
    if lost and verdict.label != "refuted":  # what could not be scored may be what refutes it
        return f"the model gave no finite score for {', '.join(lost[:3])}"
    return ""
