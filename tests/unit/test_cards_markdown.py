import re

from card_samples import METFORMIN, REFUTED, SUPPORTED, case_report, slice_sample

from pytest_medfaith.cards.markdown import escaped, markdown_card


def test_the_card_of_a_pull_request():
    card = markdown_card([slice_sample()])
    assert card.startswith("### medfaith: 1 of 3 gates failed, 1 of 3 inconclusive\n")
    table = [line for line in card.splitlines() if line.startswith("|")]
    assert [cell.strip() for cell in table[0].strip("|").split("|")][:6] == [
        "Slice",
        "Retriever",
        "K",
        "Rec@K",
        "nDCG@K",
        "Faithful",
    ]
    assert "0.82 [0.76, 0.88]" in table[2]
    assert "- ❌ **fail** hallucination <= 0.001: hallucination is 0.004; wanted at most 0.001" in card
    assert "3 cases (1 abstained)" in card
    assert "6 gold claims: 3 clinician, 3 llm-written" in card
    assert "1201 records skipped while the cases were read: 1,200 empty answer, 1 id used before" in card
    assert "<details><summary>2 claims not supported by the evidence</summary>" in card
    assert "-v shows all" not in card


def test_passing_gates_and_no_gates():
    passed = slice_sample(gates=slice_sample().gates[:1])
    assert markdown_card([passed]).startswith("### medfaith: 1 gate passed\n")
    assert markdown_card([slice_sample(gates=())]).startswith("### medfaith\n")


def test_a_clean_slice_has_nothing_to_unfold():
    assert "<details>" not in markdown_card([slice_sample(reports=(case_report(verdicts=(SUPPORTED,)),))])


def test_rows_of_an_ablation_are_titled():
    card = markdown_card([slice_sample(), slice_sample(retriever="bm25")])
    assert "**medquad-nih / bm25 / k=10**" in card


def test_names_cannot_break_the_table_or_start_markup():
    row = markdown_card([slice_sample(retriever="a|b<script>")]).splitlines()[4]
    assert len(re.findall(r"(?<!\\)\|", row)) == 11
    assert r"a\|b\<script>" in row
    assert escaped("claim_recall *x* [a](b) _y_") == r"claim_recall \*x\* [a\](b) \_y\_"


def test_a_fence_in_a_chunk_does_not_end_the_block():
    report = case_report(verdicts=(REFUTED.with_(span=None),))
    chunk = METFORMIN.with_(text="```` </details> ````")
    report = report.with_(response=report.response.with_(contexts=(chunk,)))
    card = markdown_card([slice_sample(reports=(report,))])
    assert "\n`````text\n" in card


def test_no_slice():
    assert "No slice was evaluated" in markdown_card([])
