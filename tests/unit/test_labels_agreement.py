"""Agreement of reviewers against published examples."""

import pytest

from pytest_medfaith.labels.agreement import agreements, cohen_kappa, krippendorff_alpha


def pairs_of(table):
    """Returns the pairs of labels that a square table counts."""
    return [
        (str(i), str(j)) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)
    ]


def units_of(*reviewers):
    """Returns the labels of each unit; "*" means that a reviewer gave none."""
    return [
        [label for label in unit if label != "*"] for unit in zip(*map(str.split, reviewers), strict=True)
    ]


@pytest.mark.parametrize(
    ("table", "kappa"),
    [
        # Fleiss, Cohen and Everitt, Psychological Bulletin 72(5), 1969: kappa .429.
        ([[53, 5, 2], [11, 14, 5], [1, 6, 3]], 0.429),
        ([[10, 0], [0, 5]], 1),
        ([[25, 25], [25, 25]], 0),
    ],
)
def test_kappa_is_that_of_published_tables(table, kappa):
    assert cohen_kappa(pairs_of(table)) == pytest.approx(kappa, abs=0.0005)


@pytest.mark.parametrize(
    ("units", "alpha"),
    [
        # Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011: examples A (binary, two observers),
        # B (nominal, two observers) and C (nominal, four observers, missing labels).
        (units_of("0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0"), 0.095),
        (units_of("a a b b d c c c e d d a", "b a b b b c c c e d d d"), 0.692),
        (
            units_of(
                "1 2 3 3 2 1 4 1 2 * * *",
                "1 2 3 3 2 2 4 1 2 5 * 3",
                "* 3 3 3 2 3 4 2 2 5 1 *",
                "1 2 3 3 2 4 4 1 2 5 1 *",
            ),
            0.743,
        ),
    ],
)
def test_alpha_is_that_of_published_examples(units, alpha):
    assert krippendorff_alpha(units) == pytest.approx(alpha, abs=0.0005)


def test_labels_of_one_kind_or_of_one_reviewer_have_no_agreement():
    assert cohen_kappa([("a", "a")] * 5) is None
    assert cohen_kappa([]) is None
    assert krippendorff_alpha([["a", "a", "a"], ["a", "a"]]) is None
    assert krippendorff_alpha([["a"], ["b"]]) is None
    assert agreements([{"A": "refuted"}, {"A": "supported"}]) == []


def test_two_reviewers_have_a_kappa_and_three_an_alpha_and_each_pair_a_kappa():
    two = [{"A": "x", "B": "x"}, {"A": "y", "B": "y"}, {"A": "x", "B": "y"}, {"A": "x"}]
    (pair,) = agreements(two)
    assert str(pair) == "A and B: equal labels for 2 of 3 claims, Cohen's kappa 0.40"
    alpha, *pairs = agreements([*two, {"C": "x", "A": "x"}])
    assert (alpha.measure, alpha.claims, alpha.equal) == ("Krippendorff's alpha", 4, 3)
    assert [str(one) for one in pairs] == [
        "A and B: equal labels for 2 of 3 claims, Cohen's kappa 0.40",
        "A and C: equal labels for 1 of 1 claims, Cohen's kappa is undefined, since all labels are equal",
        "B and C: no claim that two of them labelled",
    ]
