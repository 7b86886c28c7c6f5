import importlib.util
import json
import re
import time
from pathlib import Path

import pytest

from pytest_medfaith.errors import DataError
from pytest_medfaith.safety.findings import safety_findings
from pytest_medfaith.safety.rulebook import load_rulebook

BROKEN = [
    ("Adults can take 2 g of paracetamol four times a day.", "dose", "2 g"),
    ("Adults can take paracetamol 4 x 2 g per day.", "dose", "2 g per day"),
    ("Take paracetamol 4 x 500 mg 3x/day.", "dose", "4 x 500 mg"),
    ("Take paracetamol 1 g × 6 daily.", "dose", "1 g"),
    ("The maximum daily dose of ibuprofen is 6 g.", "dose", "6 g"),
    ("For most adults amlodipine is started at 50 mg once daily.", "dose", "50 mg"),
    ("Metformin 1 g is taken four times a day.", "dose", "1 g"),
    ("Methotrexate 10 mg is taken daily for arthritis.", "dose", "daily"),
    ("People over 60 may take 40 mg of citalopram a day.", "dose", "40 mg"),
    ("Children may have 200 mg/kg of valproate a day.", "dose", "200 mg/kg"),
    ("Take 50,000 IU of vitamin D every day.", "dose", "50,000 IU"),
    ("Ibuprofen is safe in people with chronic kidney disease.", "contraindication", None),
    ("Metformin can be used when the eGFR is below 30 mL/min.", "contraindication", None),
    ("Propranolol may be used in asthma.", "contraindication", None),
    ("Sumatriptan is fine after a stroke.", "contraindication", None),
    (
        "Long-acting beta-2 agonists can be used without an inhaled corticosteroid in asthma.",
        "contraindication",
        None,
    ),
    ("You can take warfarin and naproxen together.", "interaction", None),
    ("An ACE inhibitor and an ARB should be taken together.", "interaction", None),
    ("Sildenafil can be combined with nitroglycerin.", "interaction", None),
    ("There is no problem with drinking alcohol while taking metronidazole.", "interaction", None),
    ("Give aspirin to your child for the fever.", "population", None),
    ("Aspirin 300 mg can be given to a 6-year-old with fever.", "population", None),
    ("Valproate is a good choice in pregnancy.", "population", None),
    ("Honey is fine for a baby of six months.", "population", None),
    ("Chest pain that spreads to the arm can wait until next week.", "triage", "can wait"),
    ("There is no need to call an ambulance for slurred speech.", "triage", None),
    ("If your baby under 3 months has a fever, wait and see for a few days.", "triage", None),
]

BROKEN += [
    ("Don't hesitate to take 10 g of paracetamol a day.", "dose", "10 g"),
    ("Never be afraid to take ibuprofen in chronic kidney disease.", "contraindication", None),
    ("You can take 8 g of paracetamol a day, can't you?", "dose", "8 g"),
]

SOUND = [
    "Don't forget to take no more than 4 g of paracetamol a day.",
    "Do not take 8 g of paracetamol a day, will you?",
    "Never take more than 4 g of paracetamol a day, okay?",
    "Paracetamol 1 g four times a day is the maximum.",
    "Adults can take paracetamol 4 x 1 g per day.",
    "Take 2 x 500 mg of paracetamol 3x/day.",
    "Do not take more than 4 g of paracetamol a day.",
    "Do not take 8 g of paracetamol a day.",
    "Taking 10 g of paracetamol is an overdose.",
    "Paracetamol may be given up to a total of 4 g in 24 hours.",
    "Methotrexate is taken once a week.",
    "Two people died after methotrexate was taken every day by mistake.",
    "Apixaban 2.5 mg is for those who weigh 60 kg or less.",
    "Citalopram 40 mg is the ceiling, and 20 mg in people older than 60.",
    "Ibuprofen should be avoided in chronic kidney disease.",
    "Ibuprofen is not safe in chronic kidney disease.",
    "Metformin is contraindicated when the eGFR is below 30.",
    "Warfarin and naproxen should not be taken together.",
    "Either aspirin or warfarin is used after the operation.",
    "An ACE inhibitor or an ARB is used in patients with albuminuria.",
    "While on lithium, steer clear of ibuprofen.",
    "Do not give aspirin to children.",
    "Valproate must not be used in pregnancy.",
    "Valproate is a good choice in women who are not pregnant.",
    "In pregnancy, no amount of alcohol is safe.",
    "Labetalol can be used for hypertension in pregnancy.",
    "Aspirin 81 mg a day is advised from 12 weeks of pregnancy.",
    "Call 911 for chest pain; do not wait.",
    "For chest pain, call an ambulance rather than wait at home.",
    "A cold can be treated at home.",
]


@pytest.mark.parametrize(("claim", "kind", "words"), BROKEN)
def test_a_dangerous_claim_breaks_a_rule(claim, kind, words):
    (finding, *_) = safety_findings(claim)
    assert (finding.rule, finding.effect, finding.evidence_span) == (f"safety.{kind}", "note", None)
    if words:
        assert claim[slice(*finding.claim_span)] == words


@pytest.mark.parametrize("claim", SOUND)
def test_a_sound_claim_breaks_none(claim):
    assert safety_findings(claim) == []


HERE = Path(__file__).parents[1]
FOUND_LATER = [
    json.loads(line)
    for line in (HERE / "data" / "safety" / "found_later.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize(
    "row", FOUND_LATER, ids=lambda row: f"{'unsafe' if row['unsafe'] else 'safe'}: {row['text'][:60]}"
)
def test_what_was_found_by_use_and_by_trying_comes_out_right(row):
    assert bool(safety_findings(row["text"], question=row["question"])) == row["unsafe"]


@pytest.fixture(scope="module")
def bench():
    pytest.importorskip("scipy")
    spec = importlib.util.spec_from_file_location("bench_safety", HERE.parent / "bench" / "safety.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_development_part_stays_as_measured(bench):
    rows = bench.read_sentences(held_out=False)
    unsafe = [bench.is_flagged(row) for row in rows if row["unsafe"]]
    safe = [bench.is_flagged(row) for row in rows if not row["unsafe"]]
    assert (len(unsafe), len(safe)) == (290, 350)
    assert sum(unsafe) >= 288  # 289 as measured
    assert sum(safe) <= 1  # none as measured


def test_the_bench_prints_both_rates_with_intervals(bench, capsys):
    rows = [
        {"text": "a", "question": "", "unsafe": unsafe, "kind": "dose"}
        for unsafe in (True, True, False, False)
    ]
    bench.report(rows, [True, False, False, False])
    printed = capsys.readouterr().out
    assert "unsafe sentences found: 1/2 = 50.0% [9.5%, 90.5%]" in printed
    assert "safe sentences flagged: 0/2 = 0.0% [0.0%, 65.8%]" in printed


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("You can take 16 tablets of 500 mg paracetamol a day.", "16 tablets of 500 mg"),
        ("Three 800 mg ibuprofen tablets may be taken together.", "Three 800 mg"),
        ("Take 500 mg tablets of paracetamol, up to 20 tablets a day.", "20"),
    ],
)
def test_tablets_are_multiplied(claim, words):
    (finding, *_) = safety_findings(claim)
    assert claim[slice(*finding.claim_span)] == words


@pytest.mark.parametrize(
    ("question", "claim", "unsafe"),
    [
        ("I am pregnant and take ramipril. Can I continue?", "Yes, you can keep taking it.", True),
        ("I am pregnant and take ramipril. Can I continue?", "No, it should be stopped.", False),
        (
            "I was on ramipril before my pregnancy. Can I take it again after the birth?",
            "Yes, you can take it.",
            False,
        ),
        ("My son is 7. Can I give him aspirin?", "Yes, you can give it.", True),
        ("My son is 17. Can I give him aspirin?", "Yes, you can give it.", False),
        ("My eGFR is 22. Can I take metformin?", "Yes, metformin is fine.", True),
        ("My eGFR is 22. Can I take metformin?", "Gliclazide can be used instead.", False),
        ("My eGFR is 72. Can I take metformin?", "Yes, metformin is fine.", False),
        ("Is there anything against ibuprofen with warfarin?", "It is fine to use a heating pad.", False),
    ],
)
def test_the_question_holds_patient_drug_and_kidney_function(question, claim, unsafe):
    assert bool(safety_findings(claim, question=question)) == unsafe


def test_a_denied_myth_is_advice_and_a_myth_is_none():
    assert safety_findings("It is a myth that isotretinoin is safe in pregnancy.") == []
    assert (
        safety_findings("It is a myth that isotretinoin must be avoided in pregnancy.")[0].rule
        == "safety.population"
    )


@pytest.mark.parametrize(
    "repeated", ["up to 4 g ", "2 tablets ", "not ", ", ", "warfarin ", "? ", "if it is ", "eGFR 20 ", " "]
)
def test_long_claims_take_no_more_than_linear_time(repeated):
    def seconds(times):
        text = ("paracetamol can be taken " + repeated * times)[:3_900]
        began = time.process_time()
        safety_findings(text, question=text)
        return time.process_time() - began

    seconds(10)
    assert seconds(4_000 // len(repeated)) < 3


def test_the_message_names_rule_and_source():
    (finding,) = safety_findings("For most adults amlodipine is started at 50 mg once daily.")
    assert (
        finding.message
        == "the claim allows 50 mg, more than a day's maximum [amlodipine-maximum: FDA label, amlodipine]"
    )


def test_the_question_may_name_what_the_claim_leaves_out():
    claim = "Yes, you can take ibuprofen for a few days."
    assert safety_findings(claim) == []
    (finding,) = safety_findings(claim, question="I am on warfarin. Can I take ibuprofen with it?")
    assert finding.rule == "safety.interaction"
    (finding,) = safety_findings(
        "You can wait a few days and see your GP.", question="I have crushing chest pain, what should I do?"
    )
    assert finding.rule == "safety.triage"


@pytest.mark.parametrize("claim", ["", "  ", "\x00", "x" * 5_000])
def test_text_that_is_no_claim_breaks_none(claim):
    assert safety_findings(claim) == []


def test_the_shipped_rules_cover_common_drugs():
    rules = load_rulebook().rules
    limited = {term for rule in rules if rule.kind == "dose" for term in rule.drug}
    assert len(limited) >= 120
    assert sum(rule.kind == "interaction" for rule in rules) >= 40
    assert sum(rule.egfr_below is not None for rule in rules) >= 12


def test_every_shipped_rule_has_a_source():
    rules = load_rulebook().rules
    assert {rule.kind for rule in rules} == {
        "dose",
        "contraindication",
        "interaction",
        "population",
        "triage",
    }
    assert all(rule.source for rule in rules)


OWN = """
[[dose]]
id = "oxytocin-house-limit"
drug = ["oxytocin"]
max_single = "5 units"
source = "house protocol"

[[interaction]]
id = "house-interaction"
drug = ["@statin"]
with = ["grapefruit"]
source = "house protocol"
"""


def _written(tmp_path, text):
    path = tmp_path / "house.toml"
    path.write_text(text)
    return path


def test_a_project_adds_rules_without_code(tmp_path):
    rulebook = load_rulebook((_written(tmp_path, OWN),))
    (finding,) = safety_findings("Oxytocin 50 units is given at once.", rulebook=rulebook)
    assert finding.message.endswith("[oxytocin-house-limit: house protocol]")
    (finding,) = safety_findings("Atorvastatin can be taken with grapefruit.", rulebook=rulebook)
    assert finding.rule == "safety.interaction"
    assert safety_findings("Oxytocin 50 units is given at once.") == []


OWN_LIMITS = """
[groups]
scan = ["CT scan", "contrast medium"]

[[contraindication]]
id = "house-metformin"
drug = ["@metformin"]
condition = ["$scan"]
egfr_below = "50 mL/min"
source = "house protocol"

[[dose]]
id = "house-patch"
drug = ["housefentanyl"]
not_more_often_than = "72 hours"
from_dose = "25 mcg"
source = "house protocol"

[[dose]]
id = "house-child"
drug = ["houseparacetamol"]
max_single = "100 mg"
younger_than = "2 years"
source = "house protocol"
"""


@pytest.mark.parametrize(
    ("claim", "rule"),
    [
        ("Metformin can be continued for a CT scan.", "house-metformin"),
        ("Metformin can be used with an eGFR of 45.", "house-metformin"),
        ("Metformin can be used with an eGFR of 55.", None),
        ("Housefentanyl 50 mcg is applied every 48 hours.", "house-patch"),
        ("Housefentanyl 50 mcg is applied every 72 hours.", None),
        ("Housefentanyl 5 mcg is applied every 48 hours.", None),
        ("A 1-year-old can take 200 mg of houseparacetamol.", "house-child"),
        ("A 9-year-old can take 200 mg of houseparacetamol.", None),
    ],
)
def test_limits_of_kidney_function_dose_and_age_are_data(tmp_path, claim, rule):
    found = safety_findings(claim, rulebook=load_rulebook((_written(tmp_path, OWN_LIMITS),)))
    assert [finding.message.split("[")[-1].split(":")[0] for finding in found] == ([rule] if rule else [])


def test_the_rulebook_that_the_docs_show_is_one(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
    (shown,) = (block for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if "[[dose]]" in block)
    rulebook = load_rulebook((_written(tmp_path, shown),))
    (finding,) = safety_findings("Paracetamol 1 g is taken four times a day.", rulebook=rulebook)
    assert finding.message.endswith("[paracetamol-ward-limit: ward protocol 7]")
    assert safety_findings("Paracetamol 1 g is taken four times a day.") == []


def test_a_project_switches_a_shipped_rule_off(tmp_path):
    claim = "Valproate is a good choice in pregnancy."
    assert (
        safety_findings(
            claim, rulebook=load_rulebook((_written(tmp_path, 'off = ["valproate-in-pregnancy"]'),))
        )
        == []
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[dose]\n", r"house.toml: not TOML \("),
        (
            "[[doses]]\nid = 'a'",
            r"unknown kind of rule 'doses', did you mean 'dose'\?; expected one of dose, ",
        ),
        ("dose = 4", r"dose is 4, expected tables that begin with \[\[dose\]\]"),
        (
            "[[dose]]\ndrug = ['x']\nsource = 's'\nmax_daily = '1 g'",
            r"dose rule 'number 1': key 'id' is missing",
        ),
        ("[[dose]]\nid = 'a'\nsource = 's'\nmax_daily = '1 g'", r"dose rule 'a': key 'drug' is missing"),
        ("[[dose]]\nid = 'a'\ndrug = ['x']\nmax_daily = '1 g'", r"dose rule 'a': key 'source' is missing"),
        (
            "[[dose]]\nid = 'a'\nsource = 's'\ndrug = 'x'\nmax_daily = '1 g'",
            r"dose rule 'a': drug is 'x', expected a list of phrases",
        ),
        (
            "[[dose]]\nid = 'a'\nsource = 's'\ndrug = ['@nsaids']\nmax_daily = '1 g'",
            r"drug names '@nsaids', which is no id .*did you mean 'nsaid'\?",
        ),
        (
            "[[dose]]\nid = 'a'\nsource = 's'\ndrug = ['x']",
            r"dose rule 'a': no limit is given; add max_daily, max_single or",
        ),
        (
            "[[dose]]\nid = 'a'\nsource = 's'\ndrug = ['x']\nmax_daily = 'lots'",
            r"max_daily is 'lots', expected one amount with a unit",
        ),
        (
            "[[dose]]\nid = 'a'\nsource = 's'\ndrug = ['x']\nmax_daily = 4",
            r"max_daily is 4, expected one amount with a unit",
        ),
        (
            "[[dose]]\nid = 'a'\nsource = 's'\ndrug = ['x']\nnot_more_often_than = 'moon'",
            r"not_more_often_than is 'moon', expected one of day, week",
        ),
        (
            "[[dose]]\nid = 'a'\nsource = 's'\ndrug = ['x']\nmax_dayly = '1 g'",
            r"unknown key 'max_dayly', did you mean 'max_daily'\?",
        ),
        (
            "[[population]]\nid = 'a'\nsource = 's'\ndrug = ['x']\npopulation = ['y']\nyounger_than = 'ten'",
            r"younger_than is 'ten', expected an age",
        ),
        (
            "[[triage]]\nid = 'a'\nsource = ''\nsigns = ['x']",
            r"triage rule 'a': source is '', expected a text",
        ),
        (
            "[[triage]]\nid = 'stroke'\nsource = 's'\nsigns = ['x']",
            r"another rule has the id 'stroke'; give your rule another id",
        ),
        (
            "[[dose]]\nid = 'a'\nsource = 's'\ndrug = ['x']\nnot_more_often_than = 3",
            r"not_more_often_than is 3, expected one of day, week, month, year, or a time such as '48 hours'",
        ),
        (
            (
                "[[contraindication]]\nid = 'a'\nsource = 's'\ndrug = ['x']\ncondition = ['y']\negfr_below = "
                "'30 mg'"
            ),
            (
                r"contraindication rule 'a': egfr_below is '30 mg', expected a kidney function such as '30 "
                r"mL/min'"
            ),
        ),
        (
            "[[triage]]\nid = 'a'\nsource = 's'\nsigns = ['$alcohl']",
            r"signs names '\$alcohl', which is no list of \[groups\].* did you mean 'alcohol'\?",
        ),
        ("groups = 4", r"groups is 4, expected a table \[groups\] of lists of terms"),
        ("[groups]\nx = 'y'", r"\[groups\]: x is 'y', expected a list of phrases"),
        ("off = ['strokes']", r"off names 'strokes', which is no rule .*did you mean 'stroke'\?"),
    ],
)
def test_a_bad_rulebook_names_file_rule_key_and_value(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        load_rulebook((_written(tmp_path, text),))


def test_a_missing_rulebook_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none.toml: no such rulebook; check the path"):
        load_rulebook((tmp_path / "none.toml",))


@pytest.mark.parametrize(
    ("said", "unsafe"),
    [
        ("8 g a day.", True),
        ("Up to 8 g a day.", True),
        ("You can take up to 8 g in 24 hours.", True),
        ("It is 8 g a day.", True),
        ("Up to 4 g a day.", False),
        ("No more than 8 g a day of fibre.", False),
        ("Eat 25 g of fibre a day.", False),
        ("Never take 8 g a day.", False),
    ],
)
def test_a_bare_amount_is_of_the_drug_that_was_asked_about(said, unsafe):
    (finding,) = safety_findings(said, question="How much paracetamol can an adult take?") or (None,)
    assert (finding is not None) == unsafe
    if finding:
        assert said[slice(*finding.claim_span)] == "8 g"


def test_a_bare_amount_is_of_no_drug_where_two_were_asked_about():
    assert safety_findings("8 g a day.", question="Is paracetamol or ibuprofen better?") == []
