"""The clause rules, case by case: what is split, what is not, and what a claim carries with it."""

import pytest

from pytest_medfaith.claims.split import extract_claims
from pytest_medfaith.records import Claim

SPLIT = {
    "predicates in the third person": (
        "Metformin lowers blood glucose and raises GLP-1 levels.",
        ["Metformin lowers blood glucose.", "Metformin raises GLP-1 levels."],
    ),
    "predicates after a modal": (
        "Ibuprofen can relieve pain and reduce fever.",
        ["Ibuprofen can relieve pain.", "Ibuprofen can reduce fever."],
    ),
    "participles after be": (
        "Warfarin is monitored by INR and taken at the same time each day.",
        ["Warfarin is monitored by INR.", "Warfarin is taken at the same time each day."],
    ),
    "infinitives": (
        "Colchicine has been shown to impair neutrophils and decrease cytokine levels.",
        [
            "Colchicine has been shown to impair neutrophils.",
            "Colchicine has been shown to decrease cytokine levels.",
        ],
    ),
    "a chain of three predicates": (
        "Letrozole blocks aromatase, lowers estrogen, and induces ovulation.",
        ["Letrozole blocks aromatase.", "Letrozole lowers estrogen.", "Letrozole induces ovulation."],
    ),
    "past predicates": (
        "The trial enrolled 200 women and lasted two years.",
        ["The trial enrolled 200 women.", "The trial lasted two years."],
    ),
    "is and has": (
        "Asthma is a chronic disease and has several triggers.",
        ["Asthma is a chronic disease.", "Asthma has several triggers."],
    ),
    "or under a modal": (
        "Prednisone may raise blood pressure or cause insomnia.",
        ["Prednisone may raise blood pressure.", "Prednisone may cause insomnia."],
    ),
    "or under a negation": (
        "Sertraline does not raise blood pressure or cause cataracts.",
        ["Sertraline does not raise blood pressure.", "Sertraline does not cause cataracts."],
    ),
    "a negation on one side only": (
        "Aspirin is not an antibiotic but reduces fever.",
        ["Aspirin is not an antibiotic.", "Aspirin reduces fever."],
    ),
    "attribution goes with both": (
        "Studies show that letrozole improves ovulation and increases live births.",
        [
            "Studies show that letrozole improves ovulation.",
            "Studies show that letrozole increases live births.",
        ],
    ),
    "orders": ("Take 5 mg once daily and avoid alcohol.", ["Take 5 mg once daily.", "Avoid alcohol."]),
    "clauses with but": (
        "Heparin works at once, but warfarin needs several days.",
        ["Heparin works at once.", "Warfarin needs several days."],
    ),
    "clauses with whereas": (
        "Type 1 diabetes requires insulin, whereas type 2 diabetes often responds to tablets.",
        ["Type 1 diabetes requires insulin.", "Type 2 diabetes often responds to tablets."],
    ),
    "clauses with a semicolon": (
        "Statins lower cholesterol; fibrates lower triglycerides.",
        ["Statins lower cholesterol.", "Fibrates lower triglycerides."],
    ),
    "and without a comma": (
        "Salbutamol opens the airways and budesonide reduces inflammation.",
        ["Salbutamol opens the airways.", "Budesonide reduces inflammation."],
    ),
    "although first": (
        "Although migraine is common, many patients receive no treatment.",
        ["Migraine is common.", "Many patients receive no treatment."],
    ),
    "an opening condition goes with both clauses": (
        "In pregnancy, methyldopa is preferred and enalapril is contraindicated.",
        ["In pregnancy, methyldopa is preferred.", "In pregnancy, enalapril is contraindicated."],
    ),
    "an opening condition goes with both predicates": (
        "In patients with an eGFR below 30, metformin builds up in the blood and causes lactic acidosis.",
        [
            "In patients with an eGFR below 30, metformin builds up in the blood.",
            "In patients with an eGFR below 30, metformin causes lactic acidosis.",
        ],
    ),
    "a list after include": (
        "Side effects include nausea, headache, and dry mouth.",
        ["Side effects include nausea.", "Side effects include headache.", "Side effects include dry mouth."],
    ),
    "two items after include": (
        "Symptoms include fever and cough.",
        ["Symptoms include fever.", "Symptoms include cough."],
    ),
    "a list after including": (
        "Gout has several triggers, including beer, seafood and dehydration.",
        [
            "Gout has several triggers, including beer.",
            "Gout has several triggers, including seafood.",
            "Gout has several triggers, including dehydration.",
        ],
    ),
    "a list whose last item has examples": (
        (
            "Diagnosis includes a physical exam, sexual history, and urine tests such as urinalysis, "
            "culture, and swabs."
        ),
        [
            "Diagnosis includes a physical exam.",
            "Diagnosis includes sexual history.",
            "Diagnosis includes urine tests such as urinalysis, culture, and swabs.",
        ],
    ),
    "a list after are": (
        "First-line drugs are thiazides, ACE inhibitors and calcium channel blockers.",
        [
            "First-line drugs are thiazides.",
            "First-line drugs are ACE inhibitors.",
            "First-line drugs are calcium channel blockers.",
        ],
    ),
    "a list of objects": (
        "Smoking causes emphysema, bronchitis, and lung cancer.",
        ["Smoking causes emphysema.", "Smoking causes bronchitis.", "Smoking causes lung cancer."],
    ),
    "a list behind a participle and preposition": (
        "Pneumonia can be caused by bacteria, viruses, or fungi.",
        [
            "Pneumonia can be caused by bacteria.",
            "Pneumonia can be caused by viruses.",
            "Pneumonia can be caused by fungi.",
        ],
    ),
    "a population holds for all items": (
        "Aspirin may cause vomiting, confusion, and liver damage in children.",
        [
            "Aspirin may cause vomiting in children.",
            "Aspirin may cause confusion in children.",
            "Aspirin may cause liver damage in children.",
        ],
    ),
    "a negated or-list": (
        "Paracetamol does not cause ulcers, bleeding, or kidney stones.",
        [
            "Paracetamol does not cause ulcers.",
            "Paracetamol does not cause bleeding.",
            "Paracetamol does not cause kidney stones.",
        ],
    ),
    "a repeated preposition": (
        "Propranolol is used for migraine and for essential tremor.",
        ["Propranolol is used for migraine.", "Propranolol is used for essential tremor."],
    ),
    "a repeated if": (
        "See a doctor if the fever lasts three days or if the pain gets worse.",
        ["See a doctor if the fever lasts three days.", "See a doctor if the pain gets worse."],
    ),
    "an aside with which": (
        "Metformin, which is a biguanide, lowers hepatic glucose output.",
        ["Metformin lowers hepatic glucose output.", "Metformin is a biguanide."],
    ),
    "an aside with a participle": (
        "Escitalopram, sold as Lexapro, is an antidepressant.",
        ["Escitalopram is an antidepressant.", "Escitalopram, sold as Lexapro."],
    ),
    "an aside with a noun": (
        "Aspirin, a salicylate, thins the blood.",
        ["Aspirin thins the blood.", "Aspirin, a salicylate."],
    ),
    "an aside behind an opening": (
        "During this exam, polyps, which are growths of the bowel, can be removed.",
        ["During this exam, polyps can be removed.", "Polyps are growths of the bowel."],
    ),
    "a closing which is": (
        "Sitagliptin inhibits DPP-4, which is an enzyme that degrades incretins.",
        ["Sitagliptin inhibits DPP-4.", "DPP-4 is an enzyme that degrades incretins."],
    ),
    "a closing participle": (
        "Loperamide slows the bowel, relieving diarrhea.",
        ["Loperamide slows the bowel.", "Loperamide, relieving diarrhea."],
    ),
    "closing participles": (
        "Liraglutide mimics GLP-1, raising insulin, lowering glucagon, and slowing the stomach.",
        [
            "Liraglutide mimics GLP-1.",
            "Liraglutide, raising insulin.",
            "Liraglutide, lowering glucagon.",
            "Liraglutide, slowing the stomach.",
        ],
    ),
    "a closing meaning": (
        "Gold is a noble metal, meaning that it is resistant to most acids.",
        ["Gold is a noble metal.", "It is resistant to most acids."],
    ),
    "an opening condition does not pass a semicolon": (
        "Since 2019, GINA has rejected salbutamol alone; formoterol is favoured.",
        ["Since 2019, GINA has rejected salbutamol alone.", "Formoterol is favoured."],
    ),
}

KEPT_WHOLE = {
    "two purposes": "It is wise to ask a vet to find the kind and seek treatment.",
    "a participle under a modal": "Opioids may slow breathing, causing hypoxia.",
    "participles under a modal": "Women should take folic acid, starting before pregnancy and carrying on "
    "through week 12.",
    "things counted together": "The score gives a point for each of confusion, low pressure and fever.",
    "the only ones": "The only drugs are warfarin, heparin and aspirin.",
    "between": "The dose lies between 5 mg and 10 mg.",
    "a range of numbers": "The half-life is 4 to 8.7 hours.",
    "both": "Carvedilol blocks both alpha and beta receptors.",
    "a dose list": "Tablets of 5 mg and 10 mg are available.",
    "doses in a list": "Take 5 mg, 10 mg, or 20 mg.",
    "a drug combination": "H. pylori is treated with omeprazole, amoxicillin and clarithromycin.",
    "a combination named so": "The combination includes sulfamethoxazole and trimethoprim.",
    "and/or": "It relieves pain and/or fever.",
    "adjectives of one noun": "Eczema causes red, itchy, and swollen skin.",
    "adjectives behind are": "Severe reactions are rare and unpredictable.",
    "conditions that belong together": "Estrogen is avoided in women who smoke and have migraine.",
    "a joint condition": "Call an ambulance if the face droops and the arm is weak.",
    "a closing condition": "Rest the ankle and raise the leg if it swells.",
    "a negation over and": "The drug does not lower weight and raise mood.",
    "or as a choice": "Give amoxicillin, doxycycline, or azithromycin.",
    "not only": "Exercise not only lowers weight but also improves mood.",
    "neither": "Neither aspirin nor ibuprofen lowers the viral load.",
    "an open complement": "Guidelines state that aspirin and warfarin increase bleeding.",
    "inside brackets": "Triptans (which block pain and narrow vessels) are first-line.",
    "such as": "Rashes occur with antibiotics such as amoxicillin, ampicillin, and penicillin.",
    "a colon list": "There are three kinds of drugs for pain: paracetamol, NSAIDs, and opioids.",
    "a shared object": "Vaccines prevent and attenuate influenza.",
    "a nominal pair": "Diet and exercise lower blood pressure.",
    "respectively": "The rates were 5%, 7%, and 9%, respectively.",
    "a noun behind and": "Treatment relieves symptoms and causes of distress.",
    "a participle of another subject": "Studies suggest exercise helps patients, improving mood.",
    "a participle of what happened": "The clot has gone, leaving bone exposed.",
    "an order not to do either": "Don't crush or chew the tablets.",
    "a rule against doing both": "No patient should take nitrates and use sildenafil.",
    "orders that a negation holds together": "Do not double the dose, skip meals, or stop suddenly.",
    "an order behind so": "Your skin will burn easily, so keep out of the sun and wear factor 50.",
    "a condition that begins with should": "Should pain come on after a tablet, ring for help, say what you "
    "took and leave the spray alone.",
    "predicates of a list": "CBT runs weekly, adds up to 14 hours and should be finished inside four months.",
    "excluded both from": "Influenza is excluded both from the trial and from the recommendation.",
    "since with time": "Since 1995, metformin has been approved in the United States.",
    "comparison": "Apixaban is safer than warfarin in older adults.",
    "time": "The vaccine protects for 10 years after the last dose.",
}

CLEANED = {
    "based on": ("Based on the passages, metformin is first-line.", "Metformin is first-line."),
    "according to the context": (
        "According to the provided context, HbA1c falls by 1%.",
        "HbA1c falls by 1%.",
    ),
    "according to a guideline stays": (
        "According to the 2023 guideline, letrozole is first-line.",
        "According to the 2023 guideline, letrozole is first-line.",
    ),
    "the passage states that": (
        "Passage 2 states that iron is best taken fasting.",
        "Iron is best taken fasting.",
    ),
    "I think": ("I think the dose is 5 mg.", "The dose is 5 mg."),
    "please note": (
        "Please note that grapefruit raises simvastatin levels.",
        "Grapefruit raises simvastatin levels.",
    ),
    "it is important to note": (
        "It is important to note that aspirin is not for children.",
        "Aspirin is not for children.",
    ),
    "two openers": ("However, it should be noted that sepsis is an emergency.", "Sepsis is an emergency."),
    "yes": ("Yes, letrozole improves live birth rates.", "Letrozole improves live birth rates."),
    "a citation after the word": (
        "Naproxen [1] raises blood pressure [2, 3].",
        "Naproxen raises blood pressure.",
    ),
    "according to a marker": ("According to [1], iron deficiency is common.", "Iron deficiency is common."),
    "bold": ("**Metformin** lowers *glucose*.", "Metformin lowers glucose."),
    "a link": ("[Metformin](https://example.org/x) lowers glucose.", "Metformin lowers glucose."),
    "a mixed-case word stays": (
        "eGFR below 30 is a contraindication.",
        "eGFR below 30 is a contraindication.",
    ),
    "an abbreviation": (
        "Give ceftriaxone 1 g i.v. once daily, e.g. for pneumonia.",
        "Give ceftriaxone 1 g i.v. once daily, e.g. for pneumonia.",
    ),
    "a unit with a full stop": ("Take 5 mg. daily with food.", "Take 5 mg. daily with food."),
    "windows line ends": ("Metformin lowers glucose.\r\n", "Metformin lowers glucose."),
    "a sentence wrapped over lines": (
        "Metformin lowers\nfasting glucose.",
        "Metformin lowers fasting glucose.",
    ),
}

SILENT = [
    "Hello!",
    "Hi there, great question!",
    "I hope this helps.",
    "Let me know if you have any other questions.",
    "Would you like to know more?",
    "Hope this clears things up!",
    "Safe travels!",
    "What good news for your family!",
    "That sounds uncomfortable!",
    "Here is what the sources say about SSRIs.",
    "Here is how to take iron tablets.",
    "Kidney function matters.",
    "Valproate needs great care here.",
    "Know the danger signs.",
    "Consult your doctor.",
    "It is important to talk to your healthcare provider about this.",
    "If you have any questions, ask your pharmacist.",
    "This information is not a substitute for professional medical advice.",
    "As an AI language model, I cannot give medical advice.",
    "I don't know.",
    "The provided documents do not mention this.",
    "",
    "   \n\t",
    "---",
    "...",
    "References:\n[1] Smith J. Metformin in practice. 2020.",
    "[^1]: A footnote about metformin.",
]


def texts(answer, **options):
    return [claim.text for claim in extract_claims(answer, **options)]


@pytest.mark.parametrize(("answer", "expected"), SPLIT.values(), ids=SPLIT)
def test_a_compound_sentence_is_split(answer, expected):
    assert sorted(texts(answer)) == sorted(expected)


@pytest.mark.parametrize("answer", KEPT_WHOLE.values(), ids=KEPT_WHOLE)
def test_what_belongs_together_stays_whole(answer):
    assert texts(answer) == [answer]


@pytest.mark.parametrize(("answer", "expected"), CLEANED.values(), ids=CLEANED)
def test_what_is_no_part_of_the_claim_is_dropped(answer, expected):
    assert texts(answer) == [expected]


@pytest.mark.parametrize("answer", SILENT)
def test_what_states_nothing_makes_no_claim(answer):
    assert texts(answer) == []


@pytest.mark.parametrize(
    "answer",
    [
        "See a doctor at once if you have chest pain.",
        "Pregnant women should consult a doctor before using ibuprofen.",
        "Black stools need a prompt call to your provider.",
        "The dose should be adjusted by your doctor.",
        "Do not hesitate to call your doctor if your chest hurts.",
        "Take care not to exceed 4 g a day.",
        "Thanks to vaccination, polio is rare.",
        "The answer is general anesthesia.",
        "Based on the context of the trial, the dose was 5 mg.",
        "We did not find a difference in mortality.",
    ],
)
def test_what_looks_like_chatter_but_states_something_is_a_claim(answer):
    assert texts(answer) == [answer]


IN_CONTEXT = {  # answer, question, the last claim as a model reads it
    "it": (
        "Metformin is a biguanide. It lowers glucose.",
        None,
        "[Metformin is a biguanide.] It lowers glucose.",
    ),
    "they": ("Statins are drugs. They lower LDL.", None, "[Statins are drugs.] They lower LDL."),
    "this": (
        "Letrozole induces ovulation. This is an aromatase inhibitor.",
        None,
        "[Letrozole induces ovulation.] This is an aromatase inhibitor.",
    ),
    "this drug": (
        "Buspirone is new. This drug takes two weeks to work.",
        None,
        "[Buspirone is new.] This drug takes two weeks to work.",
    ),
    "the drug": (
        "Buspirone is new. The drug may cause nausea.",
        None,
        "[Buspirone is new.] The drug may cause nausea.",
    ),
    "its": (
        "Ivermectin is new. Its safety in pregnancy is unproven.",
        None,
        "[Ivermectin is new.] Its safety in pregnancy is unproven.",
    ),
    "behind an opening phrase": (
        "Aspirin is an NSAID. In children, it causes Reye syndrome.",
        None,
        "[Aspirin is an NSAID.] In children, it causes Reye syndrome.",
    ),
    "behind if": (
        "Aspirin is an NSAID. If it upsets the stomach, stop.",
        None,
        "[Aspirin is an NSAID.] If it upsets the stomach, stop.",
    ),
    "in the second clause": (
        "Naproxen relieves pain, but it irritates the stomach.",
        None,
        "[Naproxen relieves pain.] It irritates the stomach.",
    ),
    "two sentences back": (
        "Metformin is a biguanide. It lowers glucose. It is taken with food.",
        None,
        "[Metformin is a biguanide. It lowers glucose.] It is taken with food.",
    ),
    "not further back": (
        "Gout hurts. Metformin is a biguanide. It lowers glucose.",
        None,
        "[Metformin is a biguanide.] It lowers glucose.",
    ),
    "the question": ("It is a biguanide.", "What is metformin?", "[What is metformin?] It is a biguanide."),
    "bare side effects": (
        "Metformin treats diabetes. Side effects are mild.",
        None,
        "[Metformin treats diabetes.] Side effects are mild.",
    ),
    "bare symptoms": (
        "Gout is a joint disease. Symptoms come at night.",
        None,
        "[Gout is a joint disease.] Symptoms come at night.",
    ),
    "a dose without a drug": (
        "Letrozole is given orally. Take 5 mg once a day.",
        None,
        "[Letrozole is given orally.] Take 5 mg once a day.",
    ),
    "a contracted subject": (
        "Metformin is a biguanide. It's taken twice a day with food.",
        None,
        "[Metformin is a biguanide.] It's taken twice a day with food.",
    ),
    "a contracted subject behind its place": (
        "Statins lower LDL. In older adults, they\u2019re used with care.",
        None,
        "[Statins lower LDL.] In older adults, they\u2019re used with care.",
    ),
    "under a heading": ("## Metformin\nIt lowers glucose.", None, "[Metformin.] It lowers glucose."),
    "an item of a list": (
        "Metformin is first-line for two reasons:\n- It is cheap.\n- It spares the heart.",
        None,
        "[Metformin is first-line for two reasons.] It spares the heart.",
    ),
    "a pronoun with a rival": (
        "Lactic acidosis is rare. It is also used off-label.",
        None,
        "[Lactic acidosis is rare.] It is also used off-label.",
    ),
    "a pronoun behind an opening without a comma": (
        "Naproxen relieves pain. Against placebo it halved attacks.",
        None,
        "[Naproxen relieves pain.] Against placebo it halved attacks.",
    ),
    "a part of something named before": (
        "Valproate harms babies. 30% of the children have delays.",
        None,
        "[Valproate harms babies.] 30% of the children have delays.",
    ),
    "a pronoun behind a preposition": (
        "Valproate harms. Babies exposed to it have defects.",
        None,
        "[Valproate harms.] Babies exposed to it have defects.",
    ),
    "behind a greeting": (
        "Metformin is a biguanide. I hope this helps. It is cheap.",
        None,
        "[Metformin is a biguanide.] It is cheap.",
    ),
}


@pytest.mark.parametrize(("answer", "question", "expected"), IN_CONTEXT.values(), ids=IN_CONTEXT)
def test_a_claim_that_cannot_be_read_alone_has_the_words_before(answer, question, expected):
    claim = extract_claims(answer, question=question)[-1]
    assert claim.in_context == expected
    assert claim.text in expected
    assert Claim.from_dict(claim.to_dict()) == claim


@pytest.mark.parametrize(
    "sentence",
    [
        "Metformin lowers glucose.",
        "In adults, metformin lowers glucose, and patients like it.",
        "The dose of metformin is 500 mg.",
        "Side effects of metformin are mild.",
        "Patients who take it daily sleep better.",
        "The FDA approved letrozole.",
        "Take letrozole once a day.",
        "Women that smoke cigarettes need screening.",
    ],
)
def test_a_claim_that_names_its_subject_needs_nothing_before(sentence):
    claim = extract_claims("Gout hurts. " + sentence)[-1]
    assert (claim.text, claim.context) == (sentence, "")


LISTS = {
    "a noun intro": (
        "Common side effects:\n- nausea\n- dry mouth",
        ["Common side effects: nausea.", "Common side effects: dry mouth."],
    ),
    "numbers and windows ends": (
        "Risk factors of gout:\r\n1. beer\r\n2. seafood\r\n",
        ["Risk factors of gout: beer.", "Risk factors of gout: seafood."],
    ),
    "an intro with a verb": (
        "Symptoms include:\n* fever\n* cough",
        ["Symptoms include fever.", "Symptoms include cough."],
    ),
    "an intro that ends in if": (
        "See a doctor if:\n- The pain is severe.\n- You vomit blood.",
        ["See a doctor if the pain is severe.", "See a doctor if you vomit blood."],
    ),
    "the following": (
        "The following are triggers of migraine:\n- stress\n- red wine",
        ["Triggers of migraine: stress.", "Triggers of migraine: red wine."],
    ),
    "here are": (
        "Here are some symptoms of flu:\n- fever\n- chills",
        ["Some symptoms of flu: fever.", "Some symptoms of flu: chills."],
    ),
    "a heading": ("## Side effects\n- nausea\n- rash", ["Side effects: nausea.", "Side effects: rash."]),
    "a bold heading": ("**Symptoms**\n\n• fever\n• cough", ["Symptoms: fever.", "Symptoms: cough."]),
    "items that are sentences": (
        "What to know about metformin:\n- Metformin lowers glucose.\n- Metformin is cheap.",
        ["Metformin lowers glucose.", "Metformin is cheap."],
    ),
    "labels": (
        "Side effects:\n- **Nausea**: usually mild. It passes in a week.",
        ["Side effects: Nausea: usually mild.", "Nausea: It passes in a week."],
    ),
    "a label with a verb": (
        "- **Metformin:** lowers glucose.\n- **Insulin:** lowers glucose fast.",
        ["Metformin lowers glucose.", "Insulin lowers glucose fast."],
    ),
    "orders under a label": (
        "- Allopurinol: lowers uric acid. Start at 100 mg daily.",
        ["Allopurinol lowers uric acid.", "Allopurinol: Start at 100 mg daily."],
    ),
    "nested lists": (
        "Side effects:\n- Stomach:\n  - nausea\n- Skin:\n  - rash",
        ["Side effects: Stomach: nausea.", "Side effects: Skin: rash."],
    ),
    "in running text": (
        "Do this: 1. Take one tablet. 2. Drink water.",
        ["Take one tablet.", "Do this: Drink water."],
    ),
    "a table": (
        "| Drug | Dose |\n|---|---|\n| Metformin | 500 mg |\n| Sitagliptin | 100 mg |",
        ["Drug: Metformin; Dose: 500 mg.", "Drug: Sitagliptin; Dose: 100 mg."],
    ),
    "a condition goes with every item": (
        "If the INR is over 8:\n- Withhold warfarin.\n- Give vitamin K.\n- Bleeding is likely.",
        [
            "If the INR is over 8: Withhold warfarin.",
            "If the INR is over 8: Give vitamin K.",
            "If the INR is over 8: Bleeding is likely.",
        ],
    ),
    "things counted together": (
        "The score gives a point for each of:\n- confusion\n- low pressure",
        [
            "The score gives a point for each of: confusion.",
            "The score gives a point for each of: low pressure.",
        ],
    ),
    "an intro that is small talk": (
        "Here is a summary:\n\n| Drug | Dose |\n|---|---|\n| Iron | 5 mg |",
        ["Drug: Iron; Dose: 5 mg."],
    ),
    "a list after a table": (
        "Doses:\n\n| Drug | Dose |\n|---|---|\n| Metformin | 500 mg |\n\n- Rest.",
        ["Drug: Metformin; Dose: 500 mg.", "Rest."],
    ),
    "an intro that states something": (
        "Metformin is first-line for two reasons:\n- It is cheap.\n- It spares the heart.",
        ["Metformin is first-line for two reasons.", "It is cheap.", "It spares the heart."],
    ),
    "an intro that introduces no list": (
        "Metformin is unsafe in renal failure:\nLactate builds up. It can kill.",
        ["Metformin is unsafe in renal failure.", "Lactate builds up.", "It can kill."],
    ),
    "text after a list": (
        "Symptoms of flu:\n- fever\nFlu is a viral disease.",
        ["Symptoms of flu: fever.", "Flu is a viral disease."],
    ),
}


@pytest.mark.parametrize(("answer", "expected"), LISTS.values(), ids=LISTS)
def test_a_list_item_carries_its_intro(answer, expected):
    assert texts(answer) == expected


def test_items_with_no_intro_are_read_with_the_question():
    claims = extract_claims("- nausea\n- rash", question="What are the side effects of metformin?")
    assert [claim.in_context for claim in claims] == [
        "[What are the side effects of metformin?] Nausea.",
        "[What are the side effects of metformin?] Rash.",
    ]


def test_spans_are_the_words_a_claim_came_from():
    answer = (
        "Hello! Based on the context, metformin (Glucophage) lowers glucose [1] and may cause nausea, gas, "
        "and cramps [2]."
    )
    claims = extract_claims(answer)
    assert [answer[claim.start : claim.end] for claim in claims] == [
        "metformin (Glucophage) lowers glucose",
        "may cause nausea",
        "gas",
        "cramps",
    ]
    assert [claim.text for claim in claims] == [
        "Metformin (Glucophage) lowers glucose.",
        "Metformin may cause nausea.",
        "Metformin may cause gas.",
        "Metformin may cause cramps.",
    ]


def test_ids_count_from_one_and_citations_are_those_of_the_sentence():
    claims = extract_claims(
        "Iron is absorbed fasting.[1] Tea blocks iron and coffee blocks iron [2][PMID 123].\n[3] Milk blocks "
        "iron."
    )
    assert [(claim.id, claim.citations) for claim in claims] == [
        ("c1", ("1",)),
        ("c2", ("2", "PMID 123")),
        ("c3", ("2", "PMID 123")),
        ("c4", ("3",)),
    ]


def test_the_refused_half_of_a_sentence_is_dropped():
    assert texts("I could not find a dose for adults, but children receive 5 mg.") == [
        "Children receive 5 mg."
    ]
    assert texts("I don't know the dose, but aspirin, a salicylate, thins blood.") == [
        "Aspirin thins blood.",
        "Aspirin, a salicylate.",
    ]


def test_a_refusal_that_cannot_be_cut_off_hides_no_claim():
    assert texts("I don't know the dose, but for adults who are well, rest, fluids, and sleep help.") != []


def test_numbers_units_and_conditions_survive():
    answer = (
        "In adults with an eGFR of 30-45 mL/min/1.73 m2, reduce metformin to 1,000 mg/day (max. 0.5 g "
        "b.i.d.) within 2-3 weeks."
    )
    assert texts(answer) == [answer]


def test_a_very_long_sentence_is_one_claim():
    answer = "Metformin " + "lowers glucose and raises insulin and " * 60 + "helps."
    assert len(extract_claims(answer)) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "Metformin never causes hypoglycaemia and lowers glucose.",
        "Never stop prednisone suddenly and taper it over weeks.",
        "Symptoms are not fever, cough and rash.",
        "The drug causes no nausea, vomiting and rash.",
        "The patient is HER2-.",
        ".5 mg of lorazepam is given at night.",
        "Give .5 mg of lorazepam at night.",
        "-20 °C is the storage temperature of the vaccine.",
        "The median age was 34 [28-41] years.",
    ],
)
def test_no_part_says_what_the_sentence_does_not(sentence):
    """A negation is not carried beyond what it governs; signs, points and ranges stay with their number."""
    assert [claim.text for claim in extract_claims(sentence)] == [sentence]


def test_a_comparator_at_the_start_of_a_line_is_no_quotation_mark():
    claims = extract_claims("These need treatment:\n> 65 years: 5 mg daily.\n>140/90 mmHg needs a drug.")
    assert [claim.text for claim in claims][1:] == ["> 65 years: 5 mg daily.", ">140/90 mmHg needs a drug."]


@pytest.mark.parametrize(
    ("table", "claim"),
    [
        (
            "|  | Warfarin | Apixaban |\n|---|---|---|\n| Starting dose | 5 mg | 10 mg |",
            "Starting dose; Warfarin: 5 mg; Apixaban: 10 mg.",
        ),
        (
            "| Drug | Adult dose | Child dose |\n|---|---|---|\n| Aspirin | | 5 mg |",
            "Drug: Aspirin; Child dose: 5 mg.",
        ),
    ],
)
def test_an_empty_cell_moves_no_value_to_another_column(table, claim):
    assert [one.text for one in extract_claims(table)] == [claim]


def test_a_number_behind_a_pubmed_id_is_no_source():
    (claim,) = extract_claims("According to PMID 12345678, 2500 patients improved on metformin.")
    assert claim.text.startswith("2500 patients improved")
    assert claim.citations == ("PMID 12345678",)


@pytest.mark.parametrize(
    "answer",
    [
        "What good news for asthma!",
        "Here is what the sources say about SSRIs, which cause bleeding.",
        "Dose matters: give 5 mg.",
        "Aspirin needs caution in asthma.",
        "Hope this is safe for you!",
    ],
)
def test_what_looks_like_talk_and_says_something_is_a_claim(answer):
    assert texts(answer) != []


@pytest.mark.parametrize(
    ("answer", "claim", "context"),
    [
        ("Yes, in selected adults, although surgery is standard.", "In selected adults", "Is it safe?"),
        ("Falls rose, but injurious falls did not.", "Injurious falls did not.", "Is it safe? Falls rose."),
        ("Then 40 mg/m² daily for four more weeks.", "Then 40 mg/m²", "Is it safe?"),
    ],
)
def test_what_goes_on_with_what_was_said_has_it_as_context(answer, claim, context):
    found = next(one for one in extract_claims(answer, question="Is it safe?") if one.text.startswith(claim))
    assert found.context == context


@pytest.mark.parametrize(
    ("sentence", "states_something"),
    [
        ("Please talk to your doctor before starting.", False),
        ("Before starting, please talk to your doctor.", False),
        ("Remember to check with your pharmacist before stopping or changing anything.", False),
        ("Please seek professional advice before use.", False),
        ("Your GP or pharmacist can help you decide.", False),
        ("Ask your doctor before use in children.", True),
        ("See a doctor before starting if you are pregnant.", True),
        ("Talk to your doctor before taking ibuprofen.", True),
        ("Your doctor can tell you to take 5 mg.", True),
        ("Your doctor will tell you to stop metformin.", True),
        ("Check your blood pressure before starting.", True),
    ],
)
def test_advice_to_ask_a_doctor_before_a_start_states_nothing(sentence, states_something):
    """A drug, a patient, a dose or a sign in it is checked."""
    assert bool(extract_claims(sentence)) is states_something
