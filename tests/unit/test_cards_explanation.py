from card_samples import INVENTED, LETROZOLE, METFORMIN, REFUTED, SUPPORTED, UNSCORED, case_report, refusal

from pytest_medfaith.cards.explanation import explain_claim, explain_faithfulness, explain_recall
from pytest_medfaith.records import Response


def test_a_refuted_claim_shows_score_threshold_chunk_sentence_and_rule():
    lines = explain_claim(REFUTED, case_report(), width=120).splitlines()
    assert lines == [
        "REFUTED     Metformin raises insulin levels in women with PCOS",
        "    contradict score 0.97, threshold 0.50",
        "    evidence: site/pcos-04 · Medicines for PCOS",
        "    https://example.org/pcos#medicines",
        '    > "Metformin lowers insulin levels in women with PCOS."',
        '    rule direction: the claim says up, the evidence says down (claim "raises", evidence "lowers")',
        f"    conflict: supported by {LETROZOLE.id}",
    ]


def test_an_unsupported_claim_shows_the_nearest_chunk_and_why():
    text = explain_claim(INVENTED, case_report(), width=120)
    assert "entail score 0.04, threshold 0.50: no chunk entails or contradicts it" in text
    assert METFORMIN.text in text  # without a span the chunk itself is shown


def test_a_claim_without_contexts_names_no_evidence():
    report = case_report().with_(response=Response(answer="x"))
    verdict = INVENTED.with_(chunk_id="", reason="the answer came with no evidence")
    assert explain_claim(verdict, report).endswith("the answer came with no evidence")


def test_the_question_of_a_private_case_is_not_shown():
    report = case_report()
    hidden = report.with_(case=report.case.with_(meta={**report.case.meta, "private": True}))
    assert report.case.question in " ".join(explain_faithfulness([report], width=200).split())
    assert report.case.question not in " ".join(explain_faithfulness([hidden], width=200).split())
    assert f"case {report.case.id}" in explain_faithfulness([hidden], width=200)


def test_a_span_outside_its_chunk_shows_the_chunk():
    assert "Several medicines are used." in explain_claim(
        REFUTED.with_(span=(5, 10_000)), case_report(), width=200
    )


def test_an_unscored_claim_says_why():
    assert "no score: longer than the checker reads" in explain_claim(UNSCORED, case_report())


def test_lines_keep_to_the_width_but_for_urls():
    text = explain_faithfulness([case_report()], width=60)
    assert max(len(line) for line in text.splitlines() if "http" not in line) <= 60


def test_worst_first():
    sure = REFUTED.with_(score=0.99)
    far, near = INVENTED.with_(score=0.01), INVENTED.with_(score=0.45)
    text = explain_faithfulness(
        [case_report("a", verdicts=(near, REFUTED)), case_report("b", verdicts=(far, SUPPORTED, sure))],
        most=None,
    )
    scores = [line.split("score ")[1][:4] for line in text.splitlines() if "score 0" in line]
    assert scores == ["0.99", "0.97", "0.01", "0.45"]


def test_the_rest_is_counted():
    text = explain_faithfulness([case_report(str(i)) for i in range(4)], most=5)
    assert text.count("threshold") == 5
    assert text.endswith("... and 3 more (-v shows all)")
    assert "more" not in explain_faithfulness([case_report(str(i)) for i in range(4)], most=None)


def test_the_tally_counts_what_is_not_judged():
    text = explain_faithfulness([case_report(verdicts=(SUPPORTED, UNSCORED)), refusal()], width=120)
    assert (
        text == "0 of 2 claims not supported by the evidence: 0 refuted, 0 unsupported; 1 unscored; 1 refusal"
    )


def test_recall_names_the_key_claims_that_are_missing():
    text = explain_recall([case_report(), refusal()])
    assert text.startswith("2 of 2 key gold claims not in the answer")
    assert "MISSED      Metformin lowers insulin levels. (the evidence holds it)" in text
    assert "Letrozole starts" not in text  # optional
    assert explain_recall([case_report(str(i)) for i in range(3)], most=2).endswith(
        "... and 1 more (-v shows all)"
    )


def in_conversation(turns, **changes):
    report = case_report(verdicts=(REFUTED,))
    return report.with_(case=report.case.with_(history=tuple(turns), **changes))


def test_earlier_turns_are_shown_in_a_line_each_between_question_and_claim():
    long = "Is it safe?\n::error::" + " and with alcohol" * 20
    report = in_conversation(
        [{"role": "user", "content": long}, {"role": "assistant", "content": "Iron treats\x1b[31m it."}]
    )
    for width in (40, 100):
        lines = explain_faithfulness([report], width=width).splitlines()
        at = lines.index("  earlier turns:")
        assert lines[at + 1].startswith("    user: Is it safe? ::error::")
        assert lines[at + 1].endswith("…")
        assert len(lines[at + 1]) <= min(width, 84)
        assert lines[at + 2].startswith("    assistant: Iron treats")
        assert "\x1b" not in lines[at + 2]
        assert lines[at + 3].startswith("REFUTED")


def test_of_many_earlier_turns_the_last_are_shown():
    text = explain_faithfulness([in_conversation({"role": "user", "content": f"turn {n}"} for n in range(9))])
    assert "earlier turns, the last 4 of 9:" in text
    assert [f"turn {n}" in text for n in range(9)] == [False] * 5 + [True] * 4


def test_a_private_case_and_a_case_without_turns_show_no_turns():
    turns = [{"role": "user", "content": "I weigh 52 kg."}]
    assert "turns" not in explain_faithfulness([in_conversation(turns, meta={"private": True})])
    assert explain_faithfulness([in_conversation(())]) == explain_faithfulness(
        [case_report(verdicts=(REFUTED,))]
    )
