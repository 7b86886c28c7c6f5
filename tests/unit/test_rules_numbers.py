import pytest

from pytest_medfaith.checking.rules.numbers import numbers

# claim, evidence, the clashing words of the claim, of the evidence
CLASHES = [
    (
        "Amoxicillin is given at 500 mg three times daily.",
        "Amoxicillin is given at 50 mg three times daily.",
        "500 mg",
        "50 mg",
    ),
    (  # the evidence states the amount of the claim, of something else
        "Adults take sumatriptan 500 mg at the start of an attack.",
        (
            "Adults take sumatriptan 50 mg at the start of an attack. Naproxen 500 mg is bought without a "
            "prescription."
        ),
        "500 mg",
        "50 mg",
    ),
    (  # "plus" before a second drug is no "or more"
        "Fluticasone is given as 1000 micrograms twice daily with terbutaline as needed.",
        "Fluticasone is given as 100 micrograms twice daily plus terbutaline as needed.",
        "1000 micrograms",
        "100 micrograms",
    ),
    (  # a ceiling does not state the dose
        "Adults start metformin at 2500 mg with dinner.",
        "Adults usually start on 500 mg of metformin, taken with dinner; the maximum is 2,550 mg.",
        "2500 mg",
        "500 mg",
    ),
    (  # 280 is 40 times 7, but the claim names no total
        "In an asthma attack adults get 280 mg of prednisone.",
        "Adults with an attack of asthma get prednisone 40 mg for 7 days.",
        "280 mg",
        "40 mg",
    ),
    (  # the words of another quantity are between the number and what it is of
        "Enalapril is started at 25 mg once a day by mouth in heart failure.",
        "Enalapril is started at 2.5 mg once daily by mouth in heart failure, captopril at 25 mg.",
        "25 mg",
        "2.5 mg",
    ),
    (
        "Amoxicillin is given at 5 g three times daily.",
        "Amoxicillin is given at 500 mg three times daily.",
        "5 g",
        "500 mg",
    ),
    (
        "Letrozole is started at 25 mg once a day for five days.",
        ("Letrozole is started at 2.5 mg once a day for five days."),
        "25 mg",
        "2.5 mg",
    ),
    (
        "Letrozole is taken for five weeks in each cycle.",
        "Letrozole is taken for five days in each cycle.",
        "five weeks",
        "five days",
    ),
    (
        "Prednisone is continued for 14 days after discharge.",
        ("Prednisone is continued for 5 days after discharge."),
        "14 days",
        "5 days",
    ),
    (
        "Apixaban 10 mg twice daily is the usual dose.",
        "Apixaban 5 mg twice daily is the usual dose.",
        "10 mg",
        "5 mg",
    ),
    (
        "The usual dose of ramipril is 10 mg a day.",
        "The usual dose of ramipril is 10 mg twice a day.",
        "10 mg",
        "10 mg",
    ),
    (
        "The maximum of paracetamol is 4 g per dose.",
        "The maximum of paracetamol is 4 g per day.",
        "4 g",
        "4 g",
    ),
    (
        "Children get amoxicillin at 40 mg/kg per day.",
        "Children get amoxicillin at 40 mg/kg per dose.",
        ("40 mg/kg"),
        "40 mg/kg",
    ),
    (
        "Methotrexate 15 mg is taken every day by mouth.",
        "Methotrexate 15 mg is taken every week by mouth.",
        "15 mg",
        "15 mg",
    ),
    (
        "The inhaler is rinsed every two hours after use.",
        "The inhaler is rinsed every two weeks after use.",
        "every two hours",
        "every two weeks",
    ),
    (
        "Ferritin is checked monthly during treatment.",
        "Ferritin is checked weekly during treatment.",
        ("monthly"),
        ("weekly"),
    ),
    (
        "Cough affects 30% of people taking enalapril.",
        "Cough affects 10% of people taking enalapril.",
        "30%",
        "10%",
    ),
    (
        "Cough affects one in five people taking enalapril.",
        "Cough affects 2% of people taking enalapril.",
        ("one in five"),
        "2%",
    ),
    (
        "Half of people with the rash recover within a month.",
        ("One in ten people with the rash recover within a month."),
        "Half",
        "One in ten",
    ),
    (
        "Fewer than a third of patients recovered hearing.",
        "In all, 90% of patients recovered hearing.",
        ("a third"),
        "90%",
    ),
    (
        "The target for hemoglobin is 9 to 10 g/dL in pregnancy.",
        ("The target for hemoglobin is 11 to 12 g/dL in pregnancy."),
        "9 to 10 g/dL",
        ("11 to 12 g/dL"),
    ),
    (
        "Keep the INR between 3 and 4 on this valve.",
        "Keep the INR between 2 and 3 on this valve.",
        "3 and 4",
        "2 and 3",
    ),
    (
        "Take up to six tablets of codeine in a day.",
        "Take up to eight tablets of codeine in a day.",
        "six",
        "eight",
    ),
    (
        "Screening starts at age 30 for women at average risk.",
        ("Screening starts at age 45 for women at average risk."),
        "30",
        "45",
    ),
    (
        "The vaccine is advised for adults aged 50 or older.",
        ("The vaccine is advised for adults aged 75 or older."),
        "50",
        "75",
    ),
    (
        "Blood pressure should stay below 150/90 mm Hg.",
        "Blood pressure should stay below 130/80 mm Hg.",
        ("150/90 mm Hg"),
        "130/80 mm Hg",
    ),
    (
        "Fever means a temperature of 37 °C or more.",
        "Fever means a temperature of 38 °C or more.",
        "37 °C",
        "38 °C",
    ),
    ("Store the pen at 86 °F after opening.", "Store the pen at 4 °C after opening.", "86 °F", "4 °C"),
    (
        "The trial enrolled 4,300 adults with gout.",
        "The trial enrolled 430 adults with gout.",
        "4,300",
        "430",
    ),
    (
        "Children get 15 mg/kg of ceftriaxone per day.",
        "Children get 50 mg/kg of ceftriaxone per day.",
        ("15 mg/kg"),
        "50 mg/kg",
    ),
    (
        "Metformin is stopped when the eGFR falls below 60 mL/min.",
        ("Metformin is stopped when the eGFR falls below 30 mL/min."),
        "60 mL/min",
        ("30 mL/min"),
    ),
    (
        "Twins occur in 5% to 80% of such pregnancies.",
        "Twins occur in 5% to 8% of such pregnancies.",
        ("5% to 80%"),
        "5% to 8%",
    ),
    (
        "Babies need 4000 IU of vitamin D daily.",
        "Babies need 400 IU of vitamin D daily.",
        "4000 IU",
        "400 IU",
    ),
    (
        "The half-life of the drug is about 12 hours.",
        "The half-life of the drug is about 40 hours.",
        ("12 hours"),
        ("40 hours"),
    ),
    (
        "An ejection fraction of 40% or less is normal.",
        "An ejection fraction above 40% is normal.",
        "40%",
        ("40%"),
    ),
    (
        "Vitamin B12 is injected every 3 weeks.",
        "Vitamin B12 is injected every 4 weeks.",
        "every 3 weeks",
        ("every 4 weeks"),
    ),
    (
        "Ustekinumab 45 mg is given every 12 weeks.",
        "Ustekinumab 90 mg is given every 3 months.",
        "45 mg",
        ("90 mg"),
    ),
    (
        "Adults take 15\u00a0000 mg of calcium a day.",
        "Adults take 1,500 mg of calcium a day.",
        ("15\u00a0000 mg"),
        ("1,500 mg"),
    ),
    (
        "Platelets below 50 000 per microlitre are low.",
        "Platelets below 150,000 per microlitre are low.",
        ("50 000 per microlitre"),
        "150,000 per microlitre",
    ),
    (
        "The usual dose of digoxin is 50 mg twice daily.",
        "The usual dose of digoxin is .5 mg twice daily.",
        ("50 mg"),
        ".5 mg",
    ),
    (
        "Symptoms improved within 2 weeks of treatment.",
        "Symptoms improved over 12 weeks of treatment.",
        ("2 weeks"),
        "12 weeks",
    ),
    (
        "Treatment lasted more than 6 weeks after surgery.",
        "Treatment lasted less than 6 weeks after surgery.",
        "6 weeks",
        "6 weeks",
    ),
    (
        "Treatment lasted for over 6 weeks in adults.",
        "Treatment lasted for under 6 weeks in adults.",
        ("6 weeks"),
        ("6 weeks"),
    ),
    (
        "The pill is given before 10 weeks of pregnancy.",
        "The pill is given after 10 weeks of pregnancy.",
        ("10 weeks"),
        "10 weeks",
    ),
    ("The vaccine is given to women over 50.", "The vaccine is given to women under 50.", "50", "50"),
    (
        "The trial enrolled 2000 patients with asthma.",
        "The trial enrolled 200 patients with asthma.",
        "2000",
        "200",
    ),
    (
        "There were 1990 participants in the trial.",
        "There were 1900 participants in the trial.",
        "1990",
        ("1900"),
    ),
    (
        "Men are half as likely as women to have migraine.",
        "Men are twice as likely as women to have migraine.",
        "half",
        "twice",
    ),
    (
        "After ten years on the pill, cancer risk is doubled.",
        ("The pill halves the risk of cancer after ten years."),
        "doubled",
        "halves",
    ),
    (
        "The vaccine raises body temperature by about 3 °F.",
        ("The vaccine raises body temperature by about 0.5 °C."),
        "3 °F",
        "0.5 °C",
    ),
    (
        "Survival rose from 20% to 60% when patients got rituximab.",
        ("Rituximab raised survival from 20% to 40%."),
        "20% to 60%",
        "20% to 40%",
    ),
    (
        "The dose is from 5 mg to 40 mg daily.",
        "The dose is 5 mg to 10 mg daily.",
        "5 mg to 40 mg",
        ("5 mg to 10 mg"),
    ),
    (
        "Women are screened at an interval of 1 to 10 years.",
        ("Women are screened at an interval of 1 to 3 years."),
        "1 to 10 years",
        "1 to 3 years",
    ),
    (  # clauses in another order
        (
            "When norepinephrine at 0.25 mcg/kg/min is still required, hydrocortisone 2000 mg per day "
            "intravenously is suggested."
        ),
        (
            "Hydrocortisone 200 mg per day intravenously is suggested when norepinephrine at 0.25 mcg/kg/min "
            "is still required."
        ),
        "2000 mg",
        "200 mg",
    ),
    (  # "about", and a number beside the number that clashes
        (
            "The dose is then raised by approximately 0.2 units every 3 days until the fasting target is "
            "reached. It was raised every 3 days."
        ),
        "The dose is then raised by about 2 units every three days until the fasting target is reached.",
        "0.2 units",
        "2 units",
    ),
]

AGREEING = [
    (
        "In all, adults with an asthma attack get 280 mg of prednisone.",
        ("Adults with an attack of asthma get prednisone 40 mg for 7 days."),
    ),
    ("Amoxicillin is given at 0.5 g three times daily.", "Amoxicillin is given at 500 mg three times daily."),
    ("The patient takes 1 g of the drug a day.", "The patient takes 500 mg of the drug twice daily."),
    ("The patient takes 1000 mg of the drug a day.", "The patient takes 500 mg of the drug every 12 hours."),
    ("The patient takes 500 mg of the drug per dose.", "The patient takes 500 mg of the drug twice daily."),
    ("Amoxicillin is given at 250 mg per dose.", "Amoxicillin is given at 750 mg a day in three doses."),
    ("Amlodipine is given at 10 mg per dose.", "Amlodipine is given at 10 mg a day as a single dose."),
    ("The tablet is taken twice daily with food.", "The tablet is taken every 12 hours with food."),
    ("Prednisone 45 mg is given once daily.", "Prednisone 40 to 50 mg is given once daily."),
    ("Treatment lasts six weeks after surgery.", "Treatment lasts 42 days after surgery."),
    ("Treatment lasts 1.5 months after surgery.", "Treatment lasts six weeks after surgery."),
    ("Cough affects one in five people taking enalapril.", "Cough affects 20% of people taking enalapril."),
    ("About half of people with the rash recover.", "Some 48% of people with the rash recover."),
    ("More than half of people with the rash recover.", "In all, 62% of people with the rash recover."),
    ("The trial enrolled 1240 women with PCOS.", "The trial enrolled 1,240 women with PCOS."),
    ("Fever means a temperature of 100.4 °F or more.", "Fever means a temperature of 38 °C or more."),
    ("The rate fell to 27% with letrozole.", "The rate fell to 27.3% with letrozole."),
    ("Twelve patients of the trial died of sepsis.", "12 patients of the trial died of sepsis."),
    ("At least three doses of the vaccine are needed.", "Three or more doses of the vaccine are needed."),
    ("Walk for 30 minutes five times a week.", "Walk for half an hour five times a week."),
    (
        "The difference in cure was 8 percentage points.",
        ("Cure was seen in 27% with letrozole and 19% with clomiphene."),
    ),
    ("In all, 70 patients were treated in both arms.", "Each arm of patients treated held 35 of 70 people."),
    ("A child of 20 kg gets 100 mg of the drug.", "The dose of the drug is 5 mg/kg for a child."),
    (
        "A 70-year-old with this score needs the drug.",
        "People aged 65 or older with this score need the drug.",
    ),
    (
        "With a potassium of 6.1 mmol/L the drug is stopped.",
        ("The drug is stopped when potassium is above 5.5 mmol/L."),
    ),
    (
        "The hazard ratio for death was 0.79 with the drug.",
        ("Death was less frequent with the drug (hazard ratio 0.79, 95% CI 0.69 to 0.90)."),
    ),
    (
        "Relapse was less frequent (P = 0.03) with the drug.",
        ("Relapse was less frequent (P = 0.003) with the drug."),
    ),
    ("Metformin lowers glucose in type 2 diabetes [3].", "Metformin lowers glucose in type 2 diabetes [12]."),
    ("The 2019 guideline favours letrozole first.", "The 2023 guideline favours letrozole first."),
    ("Vitamin B12 is injected for anemia.", "Vitamin B6 is injected for anemia."),
    ("Aspirin 81 mg is taken daily from week 12.", "Metformin 500 mg is started with the evening meal."),
    ("The drug was not given for 10 days.", "The drug was given for 14 days."),
    ("A fall of more than 30% meets the aim.", "The aim is a fall of at least 30%."),
    ("Vitamin B12 injections are given monthly.", "Vitamin B12 injections are given every 4 weeks."),
    ("Vitamin B12 injections are given every 3 months.", "Vitamin B12 injections are given every 12 weeks."),
    ("Vitamin B12 injections are given every 8 weeks.", "Vitamin B12 injections are given every two months."),
    ("Vitamin B12 injections are given monthly.", "Vitamin B12 injections are given once every 28 days."),
    ("Ustekinumab 90 mg is given every 12 weeks.", "Ustekinumab 90 mg is given every 3 months."),
    ("Adults take 1500 mg of calcium a day.", "Adults take 1 500 mg of calcium a day."),
    ("Adults take 1500 mg of calcium a day.", "Adults take 1\u2009500 mg of calcium a day."),
    ("The trial enrolled 2,500 participants with gout.", "The trial enrolled 2 500 participants with gout."),
    ("Give two 500 mg tablets of paracetamol.", "Give 2 500 mg tablets of paracetamol."),
    ("Platelets below 150 000 per microlitre are low.", "Platelets below 150,000 per microlitre are low."),
    ("The cream is applied twice daily.", "The cream is applied each morning and evening."),
    ("The cream is applied twice a day.", "The cream is applied every morning and every evening."),
    ("Symptoms improved within 12 weeks of treatment.", "Symptoms improved over 12 weeks of treatment."),
    ("Adults get 4 g of paracetamol within 24 hours.", "Adults get 4 g of paracetamol over 24 hours."),
    ("Body weight fell by 15% over 68 weeks.", "Body weight fell by 15% within 68 weeks."),
    ("Most patients recovered by 6 weeks.", "Most patients recovered after 6 weeks."),
    (
        "Men are half as likely as women to have migraine.",
        "Women are twice as likely as men to have migraine.",
    ),
    (
        "Compared with women, men are half as likely to have migraine.",
        ("Women are twice as likely as men to have migraine."),
    ),
    ("Men have half the risk of women.", "Women have twice the risk of men."),
    (
        "The vaccine raises body temperature by about 0.9 °F.",
        ("The vaccine raises body temperature by about 0.5 °C."),
    ),
    (
        "The dose is raised from 5 mg to 20 mg.",
        ("The dose is raised from 5 mg to 10 mg, then from 10 mg to 20 mg."),
    ),
    ("Survival rose from 20% to 40% with rituximab.", "With rituximab, survival rose to 40% from 20%."),
    ("Adults weighing 80 kg get 80 mg of the drug.", "Adults get 1 mg/kg of the drug."),
]


@pytest.mark.parametrize(("claim", "evidence", "mine", "theirs"), CLASHES)
def test_a_clash_names_the_two_quantities(claim, evidence, mine, theirs):
    found = numbers(claim, evidence)
    assert [(claim[slice(*f.claim_span)], evidence[slice(*f.evidence_span)]) for f in found][:1] == [
        (mine, theirs)
    ]
    assert (found[0].rule, found[0].effect, found[0].message) == (
        "numbers",
        "refute",
        f"claim says {mine}, evidence says {theirs}",
    )


@pytest.mark.parametrize(("claim", "evidence"), AGREEING)
def test_no_clash_where_the_quantities_agree_or_speak_of_other_things(claim, evidence):
    assert numbers(claim, evidence) == []


@pytest.mark.parametrize(("claim", "evidence"), [(claim, evidence) for claim, evidence, _, _ in CLASHES])
def test_a_text_never_clashes_with_itself(claim, evidence):
    assert numbers(claim, claim) == numbers(evidence, evidence) == []


def test_a_number_that_another_sentence_states_is_no_clash_unless_the_frame_is_copied():
    evidence = "Letrozole is started at 2.5 mg for women with PCOS. Its highest dose is 7.5 mg."
    assert numbers("The highest letrozole dose for PCOS is 7.5 mg.", evidence) == []
    assert [f.message for f in numbers("Letrozole is started at 7.5 mg for women with PCOS.", evidence)] == [
        "claim says 7.5 mg, evidence says 2.5 mg"
    ]


def test_spans_count_from_the_start_of_the_whole_evidence():
    evidence = "Take it with meals. The usual dose of ramipril is 5 mg in the evening."
    (finding,) = numbers("The usual dose of ramipril is 50 mg in the evening.", evidence)
    assert evidence[slice(*finding.evidence_span)] == "5 mg"
