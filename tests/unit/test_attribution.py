"""What is said of citations, claim by claim, as a user meets it: answers as assistants write them."""

import json

import numpy as np
import pytest

from pytest_medfaith import Chunk, Response, assert_cited, check_answer
from pytest_medfaith.attribution import attributed, read_definitions
from pytest_medfaith.cards.citations import citation_text, explain_citations
from pytest_medfaith.english.words import content_words
from pytest_medfaith.records import Attribution, Claim, Verdict
from pytest_medfaith.testing import scripted_checker

IRON = Chunk(
    id="nih-1",
    title="Iron tablets at home",
    url="https://ods.od.nih.gov/iron#dose",
    text="Iron tablets raise haemoglobin.",
)
TEA = Chunk(id="nih-2", title="Tea and iron", pmid="31535829", text="Tea lowers absorption.")
NOT_MILK = Chunk(id="nih-3", text="Milk never cures gout.", url="https://doi.org/10.1056/NEJMoa1908655")
CONTEXTS = [IRON, TEA, NOT_MILK]


def label_of(evidence, claim):
    if content_words(claim) <= content_words(evidence):
        return "contradict" if "never" in evidence else "entail"
    return "neutral"


CHECKER = scripted_checker(label_of)


def report_of(answer, contexts=CONTEXTS, **said):
    return check_answer(answer, contexts=contexts, checker=CHECKER, **said)


def statuses(answer, contexts=CONTEXTS):
    report = report_of(answer, contexts)
    return [verdict.attribution and verdict.attribution.status for verdict in report.verdicts]


STATUSES = {
    "by its number": ("Iron tablets raise haemoglobin [1].", ["supported"]),
    "by its id": ("Iron tablets raise haemoglobin [nih-1].", ["supported"]),
    "by its title": ("Iron tablets raise haemoglobin [Iron tablets at home].", ["supported"]),
    "by its address": ("Iron tablets raise haemoglobin ([NIH](https://ods.od.nih.gov/iron)).", ["supported"]),
    "by its PMID": ("Tea lowers absorption (PMID 31535829).", ["supported"]),
    "by a bare PMID": ("Tea lowers absorption [31535829].", ["supported"]),
    "by its DOI": ("Milk cures gout (doi:10.1056/nejmoa1908655).", ["contradicted"]),
    "by a raised figure": ("Tea lowers absorption.²", ["supported"]),
    "by a round number": ("Tea lowers absorption (2).", ["supported"]),
    "another context says it": ("Iron tablets raise haemoglobin [2].", ["misattributed"]),
    "no context says it": ("Zinc shortens colds [2].", ["unsupported"]),
    "the cited context says the opposite": ("Milk cures gout [3].", ["contradicted"]),
    "another context says the opposite": ("Milk cures gout [1].", ["unsupported"]),
    "a number beyond the contexts": ("Iron tablets raise haemoglobin [7].", ["nonexistent"]),
    "an invented PMID": ("Iron tablets raise haemoglobin (PMID 99999999).", ["nonexistent"]),
    "an invented id": ("Iron tablets raise haemoglobin [nih-9].", ["nonexistent"]),
    "an invented address": (
        "Iron tablets raise haemoglobin ([study](https://example.org/made-up)).",
        ["nonexistent"],
    ),
    "an invented source beside a real one": ("Iron tablets raise haemoglobin [1, 7].", ["nonexistent"]),
    "no citation beside a citation": (
        "Iron tablets raise haemoglobin [1]. Tea lowers absorption.",
        ["supported", "uncited"],
    ),
    "no citation at all": ("Iron tablets raise haemoglobin.", [None]),
    "two of them, and one would do": ("Iron tablets raise haemoglobin [1, 2].", ["supported"]),
}


@pytest.mark.parametrize(("answer", "expected"), STATUSES.values(), ids=STATUSES)
def test_a_claim_has_the_status_of_its_citation(answer, expected):
    assert statuses(answer) == expected


def test_a_misattributed_claim_names_the_context_that_says_it():
    report = report_of("Iron tablets raise haemoglobin [2].")
    assert citation_text(report.verdicts[0], report) == (
        "cites [2] nih-2, which does not say so; [1] nih-1 says it"
    )


@pytest.mark.parametrize(
    ("marks", "said"), [("[1]", "cites [1] nih-1, which says it"), ("[1, 2]", ": [1] nih-1 says it")]
)
def test_a_supported_claim_names_what_says_it_once(marks, said):
    report = report_of(f"Iron tablets raise haemoglobin {marks}.")
    assert citation_text(report.verdicts[0], report).endswith(said)


def test_a_contradicted_claim_names_the_context_that_says_it():
    contexts = [*CONTEXTS, Chunk(id="yes", text="Milk cures gout.")]
    report = report_of("Milk cures gout [3].", contexts)
    told = report.verdicts[0].attribution
    assert (told.status, told.elsewhere) == ("contradicted", ("yes",))


METRICS = {
    # ALCE: of three citations of a supported claim, those that do not support it alone are not needed.
    "one of two helps": ("Iron tablets raise haemoglobin [1, 2].", 1 / 2, 1.0, 0.0),
    "each helps": ("Iron tablets raise haemoglobin [1]. Tea lowers absorption [2].", 1.0, 1.0, 0.0),
    "claims of a sentence share their citations": (
        "Iron tablets raise haemoglobin and tea lowers absorption [1, 2].",
        1.0,
        1.0,
        0.0,
    ),
    "an uncited claim is not recalled": (
        "Iron tablets raise haemoglobin [1]. Tea lowers absorption.",
        1.0,
        1 / 2,
        0.0,
    ),
    "a citation of nothing helps nobody": ("Iron tablets raise haemoglobin [1, 9].", 1 / 2, 1.0, 0.0),
    "the wrong one": ("Iron tablets raise haemoglobin [2].", 0.0, 0.0, 1.0),
}


@pytest.mark.parametrize(("answer", "precision", "recall", "misattributed"), METRICS.values(), ids=METRICS)
def test_metrics_follow_their_definitions(answer, precision, recall, misattributed):
    metrics = report_of(answer).metrics
    assert metrics["citation_precision"] == pytest.approx(precision)
    assert metrics["citation_recall"] == pytest.approx(recall)
    assert metrics["misattribution"] == pytest.approx(misattributed)


def test_an_answer_without_citations_has_no_precision_and_recalls_nothing():
    metrics = report_of("Iron tablets raise haemoglobin.").metrics
    assert "citation_precision" not in metrics
    assert "misattribution" not in metrics
    assert metrics["citation_recall"] == 0


def joint(claim, chunks):
    """Supports a claim only where both contexts are there."""
    both = {chunk.id for chunk in chunks} >= {"nih-1", "nih-2"}
    return Verdict(claim=claim, label="supported" if both else "unsupported", joint=both)


@pytest.mark.parametrize(
    ("citations", "status", "helping"),
    [
        (("1", "2"), "supported", ("nih-1", "nih-2")),
        (("1", "2", "3"), "supported", ("nih-1", "nih-2")),
        (("1",), "unsupported", ()),
    ],
)
def test_contexts_that_support_only_together_all_help(citations, status, helping):
    claim = Claim(id="c1", text="Tea after iron tablets is no good.", citations=citations)
    (verdict,) = attributed(
        [joint(claim, CONTEXTS)], Response(answer="x", contexts=tuple(CONTEXTS)), judge=joint
    )
    assert (verdict.attribution.status, verdict.attribution.helping) == (status, helping)


def test_a_footnote_means_what_its_line_says():
    answer = (
        "Iron tablets raise haemoglobin.[^1] Tea lowers absorption.[^2]\n\n"
        "[^1]: Tea and iron, PMID 31535829\n[^2]: NIH, https://ods.od.nih.gov/iron#dose"
    )
    assert statuses(answer) == ["misattributed", "misattributed"]
    assert statuses(answer.replace("[^1]: Tea and iron, PMID 31535829", "[^1]: Iron tablets at home"))[0] == (
        "supported"
    )


def test_a_list_of_references_renumbers_the_contexts():
    answer = "Tea lowers absorption [1].\n\n## References\n1. Tea and iron. 2019. PMID: 31535829.\n"
    assert statuses(answer) == ["supported"]
    assert statuses(answer.replace("31535829", "11111111").replace("Tea and iron", "Coffee")) == [
        "nonexistent"
    ]


def test_a_list_without_addresses_leaves_the_order():
    contexts = [Chunk(id="a", text=IRON.text), Chunk(id="b", text=TEA.text)]
    answer = "Tea lowers absorption [2].\n\n## References\n[1] Smith J. 2019. PMID 5.\n[2] Lee K. PMID 6.\n"
    assert read_definitions(answer, contexts) == {}
    assert statuses(answer, contexts) == ["supported"]


def test_a_numbered_step_defines_no_citation():
    answer = "Iron tablets raise haemoglobin [2].\n\n1. Tea lowers absorption (PMID 31535829).\n2. Rest."
    assert read_definitions(answer, CONTEXTS) == {}


def test_ids_that_are_numbers_count_before_the_order():
    contexts = [Chunk(id="2", text=TEA.text), Chunk(id="1", text=IRON.text)]
    assert statuses("Iron tablets raise haemoglobin [1].", contexts) == ["supported"]


def test_an_uncited_claim_is_assigned_to_the_more_similar_neighbour():
    verdicts = report_of(
        "Iron tablets raise haemoglobin [1]. Tea lowers absorption. Zinc shortens colds [2]."
    ).verdicts
    bare = [verdict.with_(attribution=None) for verdict in verdicts]
    response = Response(answer="", contexts=tuple(CONTEXTS))
    for first, expected in ((0.9, ("nih-1",)), (0.1, ("nih-2",))):
        vectors = np.array([[1.0, 0.0], [first, 0.0], [0.5, 0.0]], dtype=np.float32)
        made = attributed(bare, response, judge=None, embed=lambda _, found=vectors: found)
        assert made[1].attribution.assigned == expected
        assert made[1].attribution.status == "uncited"


def test_what_a_neighbour_cites_counts_as_no_citation():
    report = report_of("Iron tablets raise haemoglobin [1]. Iron tablets raise haemoglobin a lot.")
    assert report.metrics["citation_coverage"] == 1 / 2
    assert report.metrics["citation_recall"] == 1 / 2
    assert report.verdicts[1].attribution.assigned == ("nih-1",)


class TestAssertCited:
    def test_passes_by_contexts_given_by_name(self):
        assert_cited("Iron tablets raise haemoglobin [1].", contexts=CONTEXTS, checker=CHECKER)

    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            (
                "Iron tablets raise haemoglobin [2].",
                (
                    r"MISATTRIBUTED Iron tablets raise haemoglobin\.\n    cites \[2\] nih-2, which does not "
                    r"say so; \[1\] nih-1"
                ),
            ),
            ("Iron tablets raise haemoglobin [1, 9].", r"cites 9, which is none of the contexts"),
            ("Milk cures gout [3].", r"CONTRADICTED"),
            ("Iron tablets raise haemoglobin.", r"UNCITED"),
        ],
    )
    def test_a_failure_names_what_is_wrong(self, answer, said):
        with pytest.raises(AssertionError, match=said):
            assert_cited(answer, contexts=CONTEXTS, checker=CHECKER)

    def test_an_invented_source_may_be_allowed(self):
        assert_cited(
            "Iron tablets raise haemoglobin [1, 9].",
            contexts=CONTEXTS,
            checker=CHECKER,
            nonexistent_at_most=1,
        )


def test_a_callable_judge_is_asked_no_more_than_before():
    asked = []

    def judge(claim, chunks):
        asked.append(claim.text)
        return "supported" if any(claim.text in chunk.text for chunk in chunks) else "unsupported"

    for answer in ("Iron tablets raise haemoglobin.", "Iron tablets raise haemoglobin [2]."):
        asked.clear()
        report = check_answer(answer, contexts=CONTEXTS, checker=judge)
        assert len(asked) == 1 + len(CONTEXTS)
        told = report.verdicts[0].attribution
    assert told.status == "misattributed"


def test_an_attribution_goes_to_plain_values_and_back():
    told = Attribution(status="misattributed", cited={"2": ("nih-2",)}, elsewhere=("nih-1",), sentence=3)
    verdict = Verdict(claim=Claim(id="c1", text="x"), label="supported", attribution=told)
    assert Verdict.from_dict(json.loads(json.dumps(verdict.to_dict()))) == verdict


def test_hostile_ids_reach_the_explanation_as_one_line():
    contexts = [Chunk(id="a\n::error::b-1", text=IRON.text), TEA]
    assert "\n::error" not in explain_citations([report_of("Iron tablets raise haemoglobin [2].", contexts)])
