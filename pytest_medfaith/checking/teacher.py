"""The checker "teacher": an LLM judges each claim by all its chunks, and quotes the sentences that decide.

The LLM is asked several times (samples), and the verdict is the label of most samples. A claim is unscored if
a sample gives no usable judgement, for example if its quotes are not in the evidence: the teacher's word
alone is no proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.errors import TeacherError
from pytest_medfaith.records import Chunk, Claim, Verdict, VerdictLabel
from pytest_medfaith.scoring.pairs import no_scores
from pytest_medfaith.teacher.asking import Settled, Teacher
from pytest_medfaith.teacher.judging import JUDGE_PROMPT, Judgement, Quote, judge_item
from pytest_medfaith.teacher.settings import TEACHER, asking_signature

Pair = tuple[str, tuple[str, ...]]  # a claim and the texts that it is judged by
_VERDICTS: Mapping[str, VerdictLabel] = {
    "entail": "supported",
    "contradict": "refuted",
    "neutral": "unsupported",
}
_MOST_CAREFUL = ("contradict", "neutral", "entail")  # a tie of votes goes to the first of these
THRESHOLD = 0.5  # share of the votes


def teacher_checker(teacher: Teacher | None) -> Checker:
    """Returns the checker that asks `teacher`, without rules; `load_checker` adds those that overrule it.

    Raises:
        TeacherError: `teacher` is None.
    """
    if teacher is None:
        raise TeacherError(
            "the checker 'teacher' asks an LLM, which is set up in [tool.medfaith.llm]; expected a model and "
            "a base_url there, and a run or a command that reads these settings"
        )
    signature = asking_signature(teacher.settings, JUDGE_PROMPT)
    return Checker(TEACHER, signature, no_scores, judge=TeacherJudge(teacher))


@dataclass(frozen=True)
class TeacherJudge:
    """A callable `(claim, chunks) -> verdict` that asks the teacher; `prepare` asks for many claims at once.

    Attributes:
        teacher: the LLM.
    """

    teacher: Teacher
    _votes: dict[Pair, list[Settled[Judgement]]] = field(default_factory=dict, repr=False)

    @cached_property
    def _samples(self) -> range:
        """The numbers of the samples: how often each claim is asked about."""
        return range(self.teacher.settings.samples)

    def prepare(
        self,
        asked: Sequence[tuple[Claim, Sequence[Chunk]]],
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Asks for the judgements on several claims, each by its chunks, except those that are known.

        Args:
            asked: (claim, chunks) of each.
            progress: is called with (done, all) while it asks; None for silence.
        """
        names = {_pair(claim, chunks): claim.id for claim, chunks in asked if chunks}
        missing = [pair for pair in names if pair not in self._votes]
        items = [
            judge_item(*pair, about=f"claim {names[pair]!r}", sample=sample)
            for pair in missing
            for sample in self._samples
        ]
        settled = self.teacher.ask(items, progress=progress)
        for number, pair in enumerate(missing):
            votes = settled[number * len(self._samples) :][: len(self._samples)]
            self._votes[pair] = votes
            if len(votes) > 1 and all(vote.value for vote in votes):
                _, share = _majority([vote.value for vote in votes if vote.value])
                self.teacher.tally.agreed(share)

    def __call__(self, claim: Claim, chunks: Sequence[Chunk]) -> Verdict:
        """Returns the verdict on a claim over its chunks; unsupported without chunks.

        It is unscored if a sample gave no usable judgement.
        """
        if not chunks:
            return Verdict(claim=claim, label="unsupported", reason="the answer came with no evidence")
        self.prepare([(claim, chunks)])
        votes = self._votes[_pair(claim, chunks)]
        lost = next((vote for vote in votes if vote.value is None), None)
        if lost:
            why = f"the teacher gave no usable judgement: {lost.why}"
            return Verdict(claim=claim, label="unscored", reason=why, threshold=THRESHOLD)
        return _verdict(claim, chunks, [vote.value for vote in votes if vote.value])


def _pair(claim: Claim, chunks: Sequence[Chunk]) -> Pair:
    """Returns the claim with its context, and the texts of the chunks below their titles."""
    texts = (f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text for chunk in chunks)
    return claim.in_context, tuple(texts)


def _majority(judgements: Sequence[Judgement]) -> tuple[str, float]:
    """Returns the label of most judgements and its share, 0 to 1; in a tie the more careful label."""
    votes = Counter(judgement.label for judgement in judgements)
    label = max(_MOST_CAREFUL, key=lambda one: (votes[one], -_MOST_CAREFUL.index(one)))  # type: ignore[index]
    return label, votes[label] / len(judgements)  # type: ignore[index]


def _verdict(claim: Claim, chunks: Sequence[Chunk], judgements: Sequence[Judgement]) -> Verdict:
    """Returns the verdict by the majority of `judgements`; its evidence is the first deciding quote."""
    label, share = _majority(judgements)
    deciding = next(judgement for judgement in judgements if judgement.label == label)
    entailing, refuting = deciding.of("entail"), deciding.of("contradict")
    quotes = refuting if label == "contradict" else [*entailing, *deciding.of("part")]
    first = next(iter(quotes), None)
    return Verdict(
        claim=claim,
        label=_VERDICTS[label],
        score=share if label != "neutral" else 0.0,
        threshold=THRESHOLD,
        chunk_id=chunks[first.passage].id if first else "",
        span=_span(first, chunks) if first else None,
        reason=_spread(judgements),
        conflict=bool(entailing and refuting),
        joint=label == "entail" and not entailing,
        supporting=tuple(dict.fromkeys(chunks[quote.passage].id for quote in entailing)),
    )


def _span(quote: Quote, chunks: Sequence[Chunk]) -> tuple[int, int] | None:
    """Returns the quote's span in the text of its chunk; None where the quote begins in the title."""
    chunk = chunks[quote.passage]
    shift = len(chunk.title) + 1 if chunk.title else 0
    start, end = quote.span[0] - shift, quote.span[1] - shift
    return (start, end) if start >= 0 else None


def _spread(judgements: Sequence[Judgement]) -> str:
    """Returns how the samples voted, "of 5 samples 4 entail, 1 neutral"; "" for a single sample."""
    if len(judgements) < 2:
        return ""
    votes = Counter(judgement.label for judgement in judgements).most_common()
    return f"of {len(judgements)} samples {', '.join(f'{number} {label}' for label, number in votes)}"
