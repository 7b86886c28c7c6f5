"""The RAGChecker metrics against its formulas written out with plain loops."""

import random

import pytest

from pytest_medfaith.metrics.ragchecker import ragchecker_metrics


def written_out(a, b, r, g, *, chunks):
    m, n = len(a), len(b)
    relevant = [any(g[j][k] for j in range(n)) for k in range(chunks)]
    faithful = [any(r[i][k] for k in range(chunks)) for i in range(m)]
    covered = [any(g[j][k] for k in range(chunks)) for j in range(n)]
    from_relevant = [any(relevant[k] and r[i][k] for k in range(chunks)) for i in range(m)]
    from_irrelevant = [any(not relevant[k] and r[i][k] for k in range(chunks)) for i in range(m)]
    precision, recall = sum(a) / m, sum(b) / n
    used = [covered[j] and b[j] for j in range(n)]
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0,
        "claim_recall": sum(covered) / n,
        "context_precision": sum(relevant) / chunks,
        "context_utilization": sum(used) / sum(covered) if any(covered) else None,
        "noise_sensitivity_in_relevant": sum(from_relevant[i] and not a[i] for i in range(m)) / m,
        "noise_sensitivity_in_irrelevant": sum(
            from_irrelevant[i] and not from_relevant[i] and not a[i] for i in range(m)
        )
        / m,
        "hallucination": sum(not faithful[i] and not a[i] for i in range(m)) / m,
        "self_knowledge": sum(not faithful[i] and a[i] for i in range(m)) / m,
        "faithfulness": sum(faithful) / m,
    }


@pytest.mark.parametrize("density", [0.05, 0.2, 0.5, 0.9])
def test_the_eleven_metrics_are_their_formulas(density):
    generator = random.Random(int(density * 100))

    def flags(size):
        return [generator.random() < density for _ in range(size)]

    for _ in range(200):
        m, n, k = (generator.randint(1, 9) for _ in range(3))
        a, b, r, g = flags(m), flags(n), [flags(k) for _ in range(m)], [flags(k) for _ in range(n)]
        ours = ragchecker_metrics(
            answer_entails_claims=a, response_entails_gold=b, chunks_entail_claims=r, chunks_entail_gold=g
        )
        assert ours == pytest.approx(written_out(a, b, r, g, chunks=k), abs=1e-12)
