def test_one_test_per_case_with_the_case_id(project):
    result = project.run("--collect-only", "-q")
    result.stdout.fnmatch_lines(
        [
            "test_suite.py::test_faithful[[]iron[]]",
            "test_suite.py::test_faithful[[]asthma[]]",
            "test_suite.py::test_faithful[[]gout[]]",
        ]
    )


def test_outcomes_and_card(project, workers):
    result = project.run(*workers)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*Slice*Retriever*K*Rec@K*nDCG@K*Faithful*Halluc*C-Recall*C-Prec*C-Util*",
            "*mini*bm25*2*1.00*1.00*0.75*0.25*",
        ]
    )


def test_a_failing_claim_is_shown_with_its_evidence(project):
    result = project.run("--medfaith-verbose")
    result.stdout.fnmatch_lines(
        [
            "*faithfulness is 0.500, expected at least 0.8*",
            "*Moonlight sets off asthma*",
            "*asthma-2*",
            "*https://example.org/asthma*",
            "*Cold air can set off asthma.*",
        ],
        consecutive=False,
    )


def test_a_list_of_retrievers_makes_a_matrix(project, workers):
    project.test(
        """
import pytest

@pytest.mark.medfaith("mini", retriever=["bm25", "rrf"], k=1)
def test_found(medfaith_report):
    assert medfaith_report.hits
"""
    )
    result = project.run("-v", *workers)
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["*test_found[[]bm25-iron[]]*", "*mini*bm25*1*", "*mini*rrf*1*"])


def test_bounds_of_the_marker_are_gates_over_the_slice(project, workers):
    project.test(
        """
import pytest

@pytest.mark.medfaith("mini", faithfulness_at_least=0.9, hallucination_at_most=0.3)
def test_reported(medfaith_report):
    pass
"""
    )
    result = project.run(*workers)
    result.assert_outcomes(passed=3)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*faithfulness >= 0.9*", "*hallucination <= 0.3*"])


def test_marker_arguments_that_are_wrong_are_named(project):
    project.test(
        """
import pytest

@pytest.mark.medfaith("mini", retreiver="bm25")
def test_reported(medfaith_report):
    pass
"""
    )
    result = project.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines(
        [
            (
                "*the marker medfaith got retreiver='bm25'; expected k, retriever, checker, contexts, limit, "
                "gates, or a bound*"
            )
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_the_marker_is_listed(project):
    project.run("--markers").stdout.fnmatch_lines(["@pytest.mark.medfaith(slice, k=, retriever=*"])
