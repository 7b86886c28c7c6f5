import dataclasses

import pytest

from pytest_medfaith.checking.rules import RULE_NAMES
from pytest_medfaith.english.letters import plain_letters
from pytest_medfaith.records import Chunk
from pytest_medfaith.safety.findings import safety_findings
from pytest_medfaith.testing import containment_checker, scripted_checker

DRESSED = [
    ("Ｔａｋｅ １０ ｇ", "Take 10 g"),
    ("𝐓𝐚𝐤𝐞 𝟏𝟎 𝐠", "Take 10 g"),
    ("𝒕𝒂𝒌𝒆", "take"),
    ("𝓽𝓪𝓴𝓮", "take"),
    ("𝔱𝔞𝔨𝔢", "take"),
    ("𝕥𝕒𝕜𝕖", "take"),
    ("𝖙𝖆𝖐𝖊", "take"),
    ("𝗍𝖺𝗄𝖾", "take"),
    ("𝚝𝚊𝚔𝚎", "take"),
    ("ⓣⓐⓚⓔ", "take"),
    ("🄰🄺", "AK"),
    ("９５％", "95%"),
    ("ℓ and ℎ", "l and h"),
    ("10² mg, H₂O, ① one", "10² mg, H₂O, ① one"),
    ("β2-agonist, 5 µg, naïve", "β2-agonist, 5 µg, naïve"),
    ("二甲双胍", "二甲双胍"),
]


@pytest.mark.parametrize(("text", "plain"), DRESSED)
def test_letters_in_other_dress_become_plain_ones_at_their_place(text, plain):
    assert plain_letters(text) == plain
    assert len(plain) == len(text)


def test_a_claim_in_mathematical_letters_is_judged_and_shown_as_it_was_written():
    checker = dataclasses.replace(containment_checker(), rules=frozenset(RULE_NAMES), latin_only=True)
    claim = "𝐋𝐞𝐭𝐫𝐨𝐳𝐨𝐥𝐞 𝐢𝐬 𝐬𝐭𝐚𝐫𝐭𝐞𝐝 𝐚𝐭 𝟐𝟓 𝐦𝐠."
    verdict = checker(claim, [Chunk(id="c", text="Women take it. Letrozole is started at 2.5 mg.")])
    assert (verdict.label, verdict.claim.text) == ("refuted", claim)
    (finding,) = verdict.findings
    assert claim[slice(*finding.claim_span)] == "𝟐𝟓 𝐦𝐠"


def test_spans_point_into_the_evidence_as_it_was_written():
    text = "Ｗｏｍｅｎ ｔａｋｅ ｉｔ. Ｌｅｔｒｏｚｏｌｅ is started at ２．５ mg."
    checker = dataclasses.replace(
        scripted_checker(lambda _evidence, _claim: "entail"), rules=frozenset(RULE_NAMES)
    )
    verdict = checker("Letrozole is started at 25 mg.", [Chunk(id="c", text=text)])
    (finding,) = verdict.findings
    assert text[slice(*finding.evidence_span)] == "２．５ mg"


def test_safety_rules_read_plain_letters():
    assert [finding.rule for finding in safety_findings("𝐓𝐚𝐤𝐞 𝟏𝟎 𝐠 𝐨𝐟 𝐩𝐚𝐫𝐚𝐜𝐞𝐭𝐚𝐦𝐨𝐥 𝐚 𝐝𝐚𝐲.")] == ["safety.dose"]
