"""How well answer relevancy tells the answer to a question from answers to other questions.

    python bench/answer_relevancy.py [--gold gold] [--responses fixtures/responses]

Each question of the samples is paired with its recorded answer and with the answers to all other questions.
Printed is the ROC-AUC of each value by kind of wrong answer: on another condition, on the same condition, and
the right answer followed by one on another condition. The 95 % intervals resample questions. Refusals are
left out. "whole" is the cosine of the question and the whole answer, for comparison.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from pytest_medfaith.checking.relevancy import relevancy_of
from pytest_medfaith.claims.split import extract_claims, is_refusal
from pytest_medfaith.metrics.bootstrap import percentile_interval, resampled_counts
from pytest_medfaith.metrics.label_statistics import point, roc_auc
from pytest_medfaith.scoring.similarity import Vectors

REPO = Path(__file__).parents[1]
SETS = ("medquad_nih", "bioasq_summary")


def read_answers(gold: Path, responses: Path) -> list[tuple[str, str, str]]:
    """Returns (condition, question, answer) of each answer that is no refusal."""
    found = []
    for name in SETS:
        cases = {row["id"]: row for row in rows_of(gold / f"{name}.jsonl")}
        for row in rows_of(responses / f"{name}.jsonl"):
            case = cases[row["case_id"]]
            if not is_refusal(row["answer"]):
                found.append((case["meta"]["condition"], case["question"], row["answer"]))
    return found


def rows_of(path: Path) -> list[dict]:
    """Returns the rows of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def values_of(answers: list[tuple[str, str, str]]) -> dict[str, np.ndarray]:
    """Returns {value's name: float (n questions, n + 1)}: each question against each answer.

    The last column is the question's right answer followed by one on another condition.
    """
    vectors, count = Vectors(), len(answers)
    claims = [extract_claims(answer, question=question) for _, question, answer in answers]
    padding = [
        next(
            place % count for place in range(number + 1, number + count) if answers[place % count][0] != name
        )
        for number, (name, _, _) in enumerate(answers)
    ]
    names = ("answer_relevancy", "answer_relevancy.questions", "whole")
    found = {name: np.zeros((count, count + 1)) for name in names}
    vectors.add(text for _, question, answer in answers for text in (question, answer))
    for row, (_, question, _) in enumerate(answers):
        padded = [*claims[row], *(one.with_(id=f"more {one.id}") for one in claims[padding[row]])]
        for column, said in enumerate([*claims, padded]):
            told = relevancy_of(question, "", said, vectors=vectors)
            found["answer_relevancy"][row, column] = told.agreement
            found["answer_relevancy.questions"][row, column] = np.mean(list(told.claims.values()) or [0.0])
        found["whole"][row, :count] = [vectors.cosine(question, answer) for _, _, answer in answers]
    vectors.add(f"{answers[row][2]} {answers[padding[row]][2]}" for row in range(count))
    for row, (_, question, answer) in enumerate(answers):
        found["whole"][row, count] = vectors.cosine(question, f"{answer} {answers[padding[row]][2]}")
    return found


def told_apart(matrix: np.ndarray, wrong: np.ndarray) -> str:
    """Returns, as a text, the ROC-AUC of right answers (the diagonal) against those that `wrong` marks."""
    count = len(matrix)
    rows = np.concatenate([np.arange(count), np.nonzero(wrong)[0]])
    scores = np.concatenate([np.diagonal(matrix), matrix[wrong]])
    statistic = roc_auc(np.arange(len(rows)) < count, scores)
    draws = np.concatenate([statistic(counts[:, rows]) for counts in resampled_counts(count, resamples=1000)])
    low, high = percentile_interval(draws)
    return f"{point(statistic, len(rows)):.3f} [{low:.3f}, {high:.3f}] of {len(rows) - count} pairs"


def main() -> None:
    """Prints, for each value, how well it tells right answers from each kind of wrong answer."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gold", type=Path, default=REPO / "gold")
    parser.add_argument("--responses", type=Path, default=REPO / "fixtures" / "responses")
    arguments = parser.parse_args()
    answers = read_answers(arguments.gold, arguments.responses)
    count, conditions = len(answers), np.array([name for name, _, _ in answers])
    same = conditions[:, None] == conditions[None]
    none = np.zeros((count, 1), dtype=bool)
    kinds = {
        "another condition": np.hstack([~same, none]),
        "the same condition": np.hstack([same & ~np.eye(count, dtype=bool), none]),
        "another answer behind it": np.hstack([np.zeros((count, count), dtype=bool), ~none]),
    }
    print(f"{count} questions with their answers, {len(set(conditions))} conditions")
    for name, matrix in values_of(answers).items():
        right = np.diagonal(matrix)
        low, high = np.quantile(right, [0.05, 0.95])
        print(f"{name}: right answers {right.mean():.2f}, nine of ten from {low:.2f} to {high:.2f}")
        for kind, wrong in kinds.items():
            print(f"  {kind}: {told_apart(matrix, wrong)}, mean {matrix[wrong].mean():.2f}", flush=True)


if __name__ == "__main__":
    main()
