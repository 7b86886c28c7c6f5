import json

import pytest

from pytest_medfaith.audit.results import UNCHANGED, Audit, AuditClaim, StratumClaim
from pytest_medfaith.cards.audit_card import audit_card, audit_json, audit_markdown, write_audits


def claim(kind, label, number=0, **changes):
    text = "Metformin does not lower blood glucose."
    return AuditClaim(
        id=f"{kind}/{number}",
        kind=kind,
        chunk_id=f"chunk-{number}",
        sentence="Metformin lowers blood glucose.",
        text=text,
        start=10,
        end=24,
        label=label,
        **changes,
    )


@pytest.fixture
def audit():
    claims = [
        claim("negation", "refuted", number, model_supports=number > 0, rules=("negation",))
        for number in range(8)
    ]
    claims += [
        claim("negation", "supported", 8, model_supports=True),
        claim("direction", "unsupported"),
        claim("dose_up", "unscored"),
    ]
    claims += [claim(UNCHANGED, "supported", number, model_supports=True) for number in range(19)]
    claims += [claim(UNCHANGED, "refuted", 19, model_supports=True, rules=("numbers",))]
    return Audit(checker="default", seed=3, limit=9, claims=tuple(claims))


def test_the_card_says_per_kind_how_many_were_caught_and_by_what(audit):
    lines = audit_card(audit, title="mini").splitlines()
    assert lines[0] == "audit of default on mini, seed 3"
    cells = {
        line.partition("|")[0].strip(): [cell.strip() for cell in line.split("|")[1:]]
        for line in lines
        if "|" in line
    }
    assert cells["negation"] == ["9", "0.89 [0.57, 0.98]", "8", "0", "1"]
    assert cells["direction"] == ["1", "1.00 [0.21, 1.00]", "0", "1", "1"]
    assert cells["drug swap"] == ["0", "-", "-", "-", "-"]
    assert cells["all"][:2] == ["11", "0.90 [0.60, 0.98]"]


def test_the_card_says_in_words_what_the_table_cannot(audit):
    card = audit_card(audit)
    assert (
        "false alarms: 0.05 [0.01, 0.24] of 20 unchanged claims, 1 refuted, 0 unsupported; "
        "0 by the model alone" in card
    )
    assert "refuted: 8 of the 11 claims that say the opposite of the evidence" in card
    assert "1 claim could not be scored" in card
    assert (
        "the corpus has no sentence for: drug swap, dose /10, unit swap, population, "
        "invented year, other document" in card
    )
    assert "missed: negation, chunk-8: Metformin [does not lower] blood glucose." in card
    assert (
        "wrongly flagged: refuted by the rule numbers, chunk-19: Metformin does not lower blood glucose."
        in card
    )


def test_only_the_first_missed_claims_are_told_and_files_hold_all(audit):
    many = audit.with_(claims=tuple(claim("negation", "supported", number) for number in range(9)))
    assert audit_card(many).count("missed:") == 5
    assert "... and 4 more (audit.md tells all)" in audit_card(many)
    assert audit_markdown({"mini": many}).count("missed:") == 9


def test_foreign_text_cannot_move_the_cursor_or_break_the_table(audit):
    rude = audit.with_(
        claims=(
            claim("negation", "supported").with_(
                chunk_id="a\x1b[2J\nb", text="x\x1b[1mnot y", start=0, end=1
            ),
        )
    )
    assert "\x1b" not in audit_card(rude)
    assert "\x1b" not in audit_markdown({"a|b": rude})


def test_the_files_hold_every_claim_and_are_the_same_again(audit, tmp_path):
    paths = write_audits(tmp_path / "new", {"mini": audit})
    assert [path.name for path in paths] == ["audit.json", "audit.md"]
    row = json.loads(paths[0].read_text())["audits"][0]
    assert (row["title"], row["checker"], row["seed"], row["limit"]) == ("mini", "default", 3, 9)
    assert row["metrics"]["audit.recall.negation"]["value"] == pytest.approx(8 / 9)
    assert row["counts"]["negation"] == {
        "claims": 9,
        "flagged": 8,
        "refuted": 8,
        "unsupported": 0,
        "unscored": 0,
        "by_model": 1,
    }
    assert [AuditClaim.from_dict(one) for one in row["claims"]] == list(audit.claims)
    assert paths[0].read_text() == audit_json({"mini": audit})


def of_stratum(stratum, role, label, number, **changes):
    name = f"{stratum}/{stratum}-{number:02d}/{role}"
    return StratumClaim(
        id=name,
        stratum=stratum,
        role=role,
        chunk_ids=("a", "b"),
        text=f"A claim, {role} {number}.",
        label=label,
        **changes,
    )


@pytest.fixture
def with_strata(audit):
    strata = [of_stratum("number", "error", "refuted", number) for number in range(8)]
    strata += [
        of_stratum("number", "error", "supported", 8, rules=("equal",)),
        of_stratum("number", "error", "unscored", 9),
    ]
    strata += [
        of_stratum("number", "faithful", "supported", 0),
        of_stratum("number", "faithful", "unsupported", 1, rules=("grounding",)),
    ]
    strata += [
        of_stratum("route", "addition", label, number)
        for number, label in enumerate(("supported", "refuted", "unsupported"))
    ]
    return audit.with_(strata=tuple(strata))


def test_the_card_says_per_stratum_what_was_caught_flagged_and_decided_and_of_how_many(with_strata):
    table = audit_card(with_strata).split("\nStratum ")[1]
    cells = {
        line.partition("|")[0].strip(): [cell.strip() for cell in line.split("|")[1:]]
        for line in table.splitlines()
        if "|" in line
    }
    assert cells["number"] == ["0.89 [0.57, 0.98] of 9", "0.50 [0.09, 0.91] of 2", "-"]
    assert cells["route"] == ["-", "-", "0.67 [0.21, 0.94] of 3"]
    assert cells["two chunks"] == ["-", "-", "-"]
    assert cells["all"] == ["0.89 [0.57, 0.98] of 9", "0.50 [0.09, 0.91] of 2", "0.67 [0.21, 0.94] of 3"]


def test_the_card_says_what_the_strata_do_not_show(with_strata, audit):
    for card in (audit_card(with_strata), audit_markdown({"mini": with_strata})):
        assert "The bank is not your corpus: a language model wrote its items for pytest-medfaith" in card
        assert "Every wrong claim has a single change." in card
        assert "1 claim of the strata could not be scored" in card
        assert "the corpus has no claim for: unit, duration" in card
    assert "Stratum" not in audit_card(audit)
    assert "Stratum" not in audit_markdown({"mini": audit})
    assert len(json.loads(audit_json({"mini": with_strata}))["audits"][0]["strata_do_not_show"]) >= 4


def test_the_card_tells_wrong_verdicts_of_the_strata(with_strata):
    card = audit_card(with_strata)
    assert "passed: number, number-08: A claim, error 8." in card
    assert "flagged: number, number-01, unsupported by the rule grounding: A claim, faithful 1." in card
    assert "decided: route, route-00, supported: A claim, addition 0." in card
    assert "decided: route, route-01, refuted: A claim, addition 1." in card
    assert "<summary>2 additions decided</summary>" in audit_markdown({"mini": with_strata})
    many = with_strata.with_(
        strata=tuple(of_stratum("unit", "error", "supported", number) for number in range(9))
    )
    assert audit_card(many).count("passed: unit") == 5
    assert audit_markdown({"mini": many}).count("passed: unit") == 9


def test_the_files_hold_every_claim_of_the_strata(with_strata):
    row = json.loads(audit_json({"mini": with_strata}))["audits"][0]
    assert [StratumClaim.from_dict(one) for one in row["strata"]] == list(with_strata.strata)
    assert row["metrics"]["audit.caught.number"] == {
        "value": pytest.approx(8 / 9),
        "low": pytest.approx(0.565, abs=0.001),
        "high": pytest.approx(0.980, abs=0.001),
        "n": 9,
    }
    assert row["metrics"]["audit.decided"]["value"] == pytest.approx(2 / 3)
