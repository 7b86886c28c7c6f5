"""A claim's anchors against evidence of a sentence or two: equal anchors are supported, wrong anchors not."""

import dataclasses

import pytest

from pytest_medfaith.checking.rules import RULE_NAMES
from pytest_medfaith.records import Chunk, Claim
from pytest_medfaith.testing import scripted_checker

pytestmark = pytest.mark.usefixtures("word_vectors")
SURE = dataclasses.replace(scripted_checker(lambda _evidence, _claim: "entail"), rules=frozenset(RULE_NAMES))


def verdict(claim, *evidence):
    return SURE(claim, [Chunk(id=f"c{number}", text=text) for number, text in enumerate(evidence)])


# kind: (claim, evidence), the model calls each supported
WRONG = {
    "dose for dose by weight": [
        ("Give gentamicin 5 mg once daily.", "Gentamicin is given at 5 mg/kg once daily."),
        ("Give gentamicin 5 mg/kg once daily.", "Gentamicin is given at 5 mg once daily."),
        ("The dose of methotrexate is 50 mg.", "Methotrexate is dosed at 50 mg/m2."),
        ("The dose of methotrexate is 50 mg/m2.", "The dose of methotrexate is 50 mg."),
        (
            "Paracetamol 15 mg every 6 hours is right for a child.",
            "For a child, paracetamol 15 mg/kg every 6 hours is right.",
        ),
        ("Vancomycin 25 mg is the loading dose.", "The loading dose of vancomycin is 25 mg/kg."),
        ("Heparin is started with a bolus of 80 units.", "Heparin is started with a bolus of 80 units/kg."),
        ("Enoxaparin 1 mg twice daily treats the clot.", "Enoxaparin 1 mg/kg twice daily treats the clot."),
        (
            "Docetaxel is infused at 75 mg every three weeks.",
            "Docetaxel is infused at 75 mg/m² every three weeks.",
        ),
        ("Ketamine 2 mg/kg is given.", "Ketamine 2 mg is given."),
        ("Adrenaline 0.01 mg IM is given.", "Adrenaline 0.01 mg/kg IM is given."),
        ("Ceftriaxone 50 mg a day is enough.", "Ceftriaxone 50 mg/kg a day is enough."),
        ("Ibuprofen 10 mg per dose is usual.", "Ibuprofen 10 mg per kg per dose is usual."),
        ("The infusion runs at 5 micrograms per minute.", "The infusion runs at 5 micrograms/kg/min."),
        ("Dexamethasone 0.15 mg is one dose.", "Dexamethasone 0.15 mg per kilogram is one dose."),
        ("Phenytoin 20 mg is loaded.", "Phenytoin 20 mg/kg is loaded."),
        ("Rituximab 375 mg is given weekly.", "Rituximab 375 mg/m2 is given weekly."),
        ("The fluid bolus is 20 mL.", "The fluid bolus is 20 mL/kg."),
        ("Aciclovir 10 mg every 8 hours is given.", "Aciclovir 10 mg/kg every 8 hours is given."),
        ("Amikacin 15 mg once a day suffices.", "Amikacin 15 mg/kg once a day suffices."),
    ],
    "comparators and bounds": [
        ("Metformin is stopped at an eGFR > 30.", "Metformin is stopped at an eGFR < 30."),
        ("Treat if potassium is <6.5 mmol/L.", "Treat if potassium is >6.5 mmol/L."),
        ("Give at least 40 mg of prednisolone a day.", "Give up to 40 mg of prednisolone a day."),
        ("Give up to 40 mg of prednisolone a day.", "Give at least 40 mg of prednisolone a day."),
        ("Fever is a temperature below 38 °C.", "Fever is a temperature above 38 °C."),
        ("Transfuse if haemoglobin is over 70 g/L.", "Transfuse if haemoglobin is under 70 g/L."),
        (
            "Platelets ≥ 50 × 10^9/L call for a transfusion.",
            "Platelets < 50 × 10^9/L call for a transfusion.",
        ),
        ("Treat for no more than 5 days.", "Treat for at least 5 days."),
        ("Offer it to people younger than 65 years.", "Offer it to people older than 65 years."),
        ("The target is above 140 mmHg.", "The target is below 140 mmHg."),
        ("Saturation should be kept below 94%.", "Saturation should be kept above 94%."),
        ("A BMI of 30 or less qualifies.", "A BMI of 30 or more qualifies."),
        (
            "Lactate greater than 2 mmol/L is normal in sepsis screens.",
            "Lactate less than 2 mmol/L is normal in sepsis screens.",
        ),
        ("Wait a maximum of 6 hours between doses.", "Wait a minimum of 6 hours between doses."),
        ("Children weighing more than 5 kg are excluded.", "Children weighing less than 5 kg are excluded."),
        ("INR over 5 allows a restart.", "INR under 5 allows a restart."),
        ("Glucose ≤ 4 mmol/L is the goal.", "Glucose ≥ 4 mmol/L is the goal."),
        ("Urine output of > 0.5 mL/kg/h defines injury.", "Urine output of < 0.5 mL/kg/h defines injury."),
        ("Not more than 100 mg a day is needed.", "Not less than 100 mg a day is needed."),
        ("Peak flow of less than 75% allows discharge.", "Peak flow of more than 75% allows discharge."),
    ],
    "numbers": [
        ("Glucagon 10 mg is given IM.", "Glucagon 1 mg is given IM."),
        ("The target INR is about 3.5.", "The target INR is 2.5, with a range of 2.0 to 3.0."),
        ("Men are treated for 14 days.", "Women are treated for 3 days. Men are treated for 7 days."),
        ("Oxygen is titrated to 88-92 %.", "Oxygen is titrated to 94 to 98%."),
        (
            "Oxygen, aiming for a saturation of 88–92%.",
            "Life-threatening features are an oxygen saturation below 92%. Oxygen keeps it at 94 to 98%.",
        ),
        ("Take it for 3 to 7 days.", "Take it for up to 7 days."),
        ("Give .5 mg of the drug.", "Give 5 mg of the drug."),
        ("Give 5 mg of the drug.", "Give .5 mg of the drug."),
        ("The T-score must be 2.5 or lower.", "The T-score must be -2.5 or lower."),
        ("A base excess of -5 is usual.", "A base excess of 5 is usual."),
        ("Store it at 20 °C.", "Store it at −20 °C."),
        ("About 30% of children had it.", "About 1 in 10 children had it."),
        ("Nearly half of the patients relapsed.", "About 12% of the patients relapsed."),
        ("Repeat the dose after 30 minutes.", "Repeat the dose after 5 minutes."),
        ("The trial had 3,849 patients.", "The trial had 8,349 patients."),
        ("Death fell by 58%.", "Death fell by 38%."),
        ("The half-life is 12 hours.", "The half-life is 12 days."),
        ("Take 280 mg at 2 to 3 years.", "Take 120 mg at 6 to 23 months and 180 mg at 2 to 3 years."),
        ("One dose is 1.5 mg/kg.", "One dose is 0.15 mg/kg."),
        ("The infusion takes 90 minutes.", "The infusion takes 30 minutes."),
        ("A score of 14 or more is severe.", "A score of 41 or more is severe."),
        ("Screening ends at 85 years.", "Screening ends at 75 years."),
        ("He should weigh 500 g more.", "He should weigh 500 mg more."),
        ("The risk doubled.", "The risk rose by 12%."),
    ],
    "numbers beside ranges and bounds": [
        (
            "Metformin is avoided when the eGFR is under 60 mL/min.",
            "Metformin is avoided when the eGFR is below 30 mL/min.",
        ),
        (
            "Repeat it after thirty minutes.",
            "Give 150 micrograms at 6 months to 6 years. Repeat it after 5 minutes.",
        ),
        ("Its half-life is roughly 12 hours.", "The INR is measured daily, later up to every 12 weeks."),
    ],
    "frequencies and durations": [
        ("Take apixaban 5 mg once a day.", "Take apixaban 5 mg twice a day."),
        ("Take apixaban 5 mg TDS.", "Take apixaban 5 mg BD."),
        ("Amoxicillin 500 mg is given q12h.", "Amoxicillin 500 mg is given three times a day."),
        ("Amoxicillin 500 mg is given every 4 hours.", "Amoxicillin 500 mg is given every 8 hours."),
        ("Methotrexate 10 mg is taken daily.", "Methotrexate 10 mg is taken once a week."),
        ("Alendronate 70 mg is taken once a month.", "Alendronate 70 mg is taken once a week."),
        ("The INR is checked once a month at first.", "The INR is checked every day at first."),
        ("Treatment lasts three weeks.", "Treatment lasts 14 days."),
        ("The course is 10 days.", "The course is 5 days."),
        ("Avoid sex for two weeks after it.", "Avoid sex for 7 days after it."),
        ("Ibuprofen 400 mg four times a day is usual.", "Ibuprofen 400 mg three times a day is usual."),
        ("Wait at least 2 hours between doses.", "Wait at least 4 hours between doses."),
        ("It is injected every 3 months.", "It is injected every 3 weeks."),
        ("Change the patch every 48 hours.", "Change the patch every 72 hours."),
        ("Follow-up lasted 24 months.", "Follow-up lasted 12 months."),
        ("It acts within 30 minutes.", "It acts within 30 seconds."),
        ("Folic acid is taken up to the 20th week.", "Folic acid is taken up to the 12th week."),
        ("Screening takes place every five years.", "Screening takes place every two years."),
        ("Prednisolone 40 mg is taken for 2 days.", "Prednisolone 40 mg is taken for at least 5 days."),
        ("The booster is due after ten years.", "The booster is due after five years."),
    ],
    "laboratory units": [
        ("The target HbA1c is 53%.", "The target HbA1c is 53 mmol/mol."),
        ("The target HbA1c is 7 mmol/mol.", "The target HbA1c is 7%."),
        ("Treat a glucose above 11.1 mg/dL.", "Treat a glucose above 11.1 mmol/L."),
        ("Treat a glucose above 200 mmol/L.", "Treat a glucose above 200 mg/dL."),
        ("A creatinine of 133 mmol/L is the limit.", "A creatinine of 133 µmol/L is the limit."),
        ("A creatinine of 1.5 g/dL is the limit.", "A creatinine of 1.5 mg/dL is the limit."),
        ("Ferritin below 30 mg/L shows deficiency.", "Ferritin below 30 micrograms/L shows deficiency."),
        ("Haemoglobin of 70 g/dL is the trigger.", "Haemoglobin of 70 g/L is the trigger."),
        ("Vitamin D below 50 ng/mL is low.", "Vitamin D below 50 nmol/L is low."),
        ("A TSH of 10 U/L is high.", "A TSH of 10 mU/L is high."),
        ("Potassium above 6.5 mmol/mol is urgent.", "Potassium above 6.5 mmol/L is urgent."),
        ("LDL below 70 mmol/L is the goal.", "LDL below 70 mg/dL is the goal."),
        ("A calcium of 2.6 mg/dL is the limit.", "A calcium of 2.6 mmol/L is the limit."),
        ("Lithium of 1.0 mg/L is the ceiling.", "Lithium of 1.0 mmol/L is the ceiling."),
        ("A troponin of 52 µg/L is positive.", "A troponin of 52 ng/L is positive."),
        ("A pressure of 20 kPa is raised.", "A pressure of 20 mmHg is raised."),
        ("A pressure of 25 mmHg is raised.", "A pressure of 25 cmH2O is raised."),
        ("Albuminuria above 3 mg/g is raised.", "Albuminuria above 3 mg/mmol is raised."),
        ("A lactate of 4 mg/dL is high.", "A lactate of 4 mmol/L is high."),
        ("Urate below 6 mmol/L is the target.", "Urate below 6 mg/dL is the target."),
    ],
    "exponents": [
        ("Neutrophils below 1.5 × 10^6/L are low.", "Neutrophils below 1.5 × 10^9/L are low."),
        ("Platelets of 50 × 10⁶/L are low.", "Platelets of 50 × 10⁹/L are low."),
        ("The dose is 10^8 cells.", "The dose is 10^6 cells."),
        ("The dose is 10⁸ CFU.", "The dose is 10¹⁰ CFU."),
        ("A load of 10^3 copies/mL is high.", "A load of 10^5 copies/mL is high."),
        ("Give 2 x 10^6 cells/kg.", "Give 2 x 10^8 cells/kg."),
        ("It holds 5 × 10^10 particles.", "It holds 5 × 10^11 particles."),
        ("Counts above 100 x 10^6/L are urgent.", "Counts above 100 x 10^9/L are urgent."),
        ("The limit is 4 × 10^-3 g.", "The limit is 4 × 10^-6 g."),
        ("White cells of 11 × 10(6)/L are high.", "White cells of 11 × 10(9)/L are high."),
        ("A count of 1.5e6 cells is enough.", "A count of 1.5e8 cells is enough."),
        ("Infuse 1 × 10^8 T cells.", "Infuse 6 × 10^8 T cells."),
        ("Urine with 10^3 CFU/mL is infected.", "Urine with 10^5 CFU/mL is infected."),
        ("Lymphocytes under 0.2 × 10⁶/L are low.", "Lymphocytes under 0.2 × 10⁹/L are low."),
        ("The vaccine has 10^4 plaque-forming units.", "The vaccine has 10^7 plaque-forming units."),
        ("A titre of 10^2 is protective.", "A titre of 10^4 is protective."),
        ("Blasts of 20 × 10^6/L are many.", "Blasts of 20 × 10^9/L are many."),
        ("The probiotic gives 10^7 CFU a day.", "The probiotic gives 10^9 CFU a day."),
        ("A dose of 3 × 10^13 vg is given.", "A dose of 3 × 10^14 vg is given."),
        ("The count fell to 2 × 10^6/L.", "The count fell to 2 × 10^9/L."),
    ],
    "stages, grades, types, classes": [
        ("Surgery suits stage IV disease.", "Surgery suits stage II disease."),
        ("Treatment is stopped at grade 2 toxicity.", "Treatment is stopped at grade 4 toxicity."),
        ("It is for NYHA class IV heart failure.", "It is for NYHA class II heart failure."),
        ("It is contraindicated in Child-Pugh class A.", "It is contraindicated in Child-Pugh class C."),
        ("The phase III trial was small.", "The phase II trial was small."),
        ("Haemophilia A lacks factor IX.", "Haemophilia A lacks factor VIII."),
        ("It treats stage IIIB tumours.", "It treats stage IIIA tumours."),
        ("Mobitz type I block needs a pacemaker.", "Mobitz type II block needs a pacemaker."),
        ("Type I reactions come late.", "Type IV reactions come late."),
        ("Class III drugs block sodium channels.", "Class I drugs block sodium channels."),
        ("Stage 2 kidney disease needs referral.", "Stage 4 kidney disease needs referral."),
        ("The drug is in category D.", "The drug is in category C."),
        ("It affects cranial nerve III.", "It affects cranial nerve VII."),
        ("It is a schedule II drug.", "It is a schedule IV drug."),
        ("Avoid it in the first trimester.", "Avoid it in the third trimester."),
        ("Third-degree burns heal alone.", "First-degree burns heal alone."),
        ("Grade III tears are repaired in theatre.", "Grade I tears are repaired in theatre."),
        ("Killip class IV had the best outcome.", "Killip class I had the best outcome."),
        ("Group A strep is screened for in pregnancy.", "Group B strep is screened for in pregnancy."),
        ("Type 1 diabetes is treated with metformin.", "Type 2 diabetes is treated with metformin."),
    ],
    "Greek letters": [
        ("TNF-β is blocked by infliximab.", "TNF-α is blocked by infliximab."),
        ("Interferon gamma treats multiple sclerosis.", "Interferon beta treats multiple sclerosis."),
        ("Doxazosin is a β-blocker.", "Doxazosin is an α-blocker."),
        ("Prazosin is a beta blocker.", "Prazosin is an alpha blocker."),
        ("Amyloid-α plaques are found.", "Amyloid-β plaques are found."),
        ("Salbutamol is an α2-agonist.", "Salbutamol is a β2-agonist."),
        ("Oestrogen receptor β is expressed.", "Oestrogen receptor α is expressed."),
        ("PPAR-α is its target.", "PPAR-γ is its target."),
        ("The δ-receptor binds it.", "The κ-receptor binds it."),
        ("Clonidine is a beta-2 agonist.", "Clonidine is an alpha-2 agonist."),
        ("TGF-α drives fibrosis.", "TGF-β drives fibrosis."),
        ("IFN-α is raised.", "IFN-γ is raised."),
        ("The alpha variant spread fastest.", "The delta variant spread fastest."),
        ("PI3Kα is inhibited.", "PI3Kδ is inhibited."),
        ("β-thalassaemia is caused by the deletion.", "α-thalassaemia is caused by the deletion."),
        ("The γ-chain is lacking.", "The β-chain is lacking."),
        ("It binds the alpha subunit.", "It binds the gamma subunit."),
        ("Interleukin-1α is neutralised.", "Interleukin-1β is neutralised."),
        ("GABA-β receptors are blocked.", "GABA-α receptors are blocked."),
        ("The μ and κ-opioid receptors are blocked.", "The μ and δ-opioid receptors are blocked."),
    ],
    "look-alike drugs": [
        ("Hydroxyzine 25 mg lowers blood pressure.", "Hydralazine 25 mg lowers blood pressure."),
        ("Vinblastine is never given intrathecally.", "Vincristine is never given intrathecally."),
        ("Prednisone 40 mg is given.", "Prednisolone 40 mg is given."),
        ("Chlorpromazine lowers glucose.", "Chlorpropamide lowers glucose."),
        ("Dopamine is infused in shock.", "Dobutamine is infused in shock."),
        ("Clonazepam is used here.", "Clonidine is used here."),
        ("Cefazolin is given before surgery.", "Ceftriaxone is given before surgery."),
        ("Lamivudine treats epilepsy.", "Lamotrigine treats epilepsy."),
        ("Sulfadiazine helps the bowel.", "Sulfasalazine helps the bowel."),
        ("Carbimazole controls seizures.", "Carbamazepine controls seizures."),
        ("Penicillamine treats the throat.", "Penicillin treats the throat."),
        ("Quinine treats the arrhythmia.", "Quinidine treats the arrhythmia."),
        ("Glimepiride is started.", "Glipizide is started."),
        ("Amiloride controls the rhythm.", "Amiodarone controls the rhythm."),
        ("Daunorubicin is infused.", "Doxorubicin is infused."),
        ("Fluoxetine is tapered.", "Fluvoxamine is tapered."),
        ("Tramadol is avoided.", "Trazodone is avoided."),
        ("Nicardipine is given by mouth.", "Nifedipine is given by mouth."),
        ("Valganciclovir treats the shingles.", "Valaciclovir treats the shingles."),
        ("Rifaximin treats tuberculosis.", "Rifampicin treats tuberculosis."),
        ("Oxcarbazepine is preferred.", "Carbamazepine is preferred."),
    ],
    "drugs": [
        ("Apixaban caused fewer strokes than rivaroxaban.", "Apixaban caused fewer strokes than warfarin."),
        ("A single 3 g dose of cefalexin is given.", "A single 3 g dose of fosfomycin is given."),
        ("In pregnancy, doxycycline is used.", "In pregnancy, erythromycin is used."),
        ("Losartan is the drug of choice.", "Ramipril is the drug of choice."),
        ("Morphine is given for the pain.", "Paracetamol is given for the pain."),
        ("Tocilizumab lowered mortality.", "Baricitinib lowered mortality."),
        ("Omeprazole heals the ulcer.", "Famotidine heals the ulcer."),
        ("Gentamicin is added.", "Metronidazole is added."),
        ("Sertraline is safe while breastfeeding.", "Paroxetine is safe while breastfeeding."),
        ("Levetiracetam is loaded.", "Phenytoin is loaded."),
        ("Insulin glargine is given at night.", "Insulin detemir is given at night."),
        ("Secukinumab cleared the skin.", "Ixekizumab cleared the skin."),
        ("Imatinib shrank the tumour.", "Sunitinib shrank the tumour."),
        ("Naloxone reverses it.", "Flumazenil reverses it."),
        ("Amlodipine is added next.", "Indapamide is added next."),
        ("Ondansetron stops the vomiting.", "Metoclopramide stops the vomiting."),
        ("Tamoxifen prevents recurrence.", "Letrozole prevents recurrence."),
        ("Aciclovir eye ointment is used.", "Ganciclovir eye gel is used."),
        ("Pembrolizumab prolonged survival.", "Nivolumab prolonged survival."),
        ("Bisoprolol slows the heart.", "Digoxin slows the heart."),
    ],
    "routes": [
        ("Give intravenous vitamin K.", "Vitamin K is given by mouth."),
        ("Give vitamin K by mouth.", "Vitamin K is given intravenously."),
        ("Adrenaline is injected subcutaneously.", "Adrenaline is injected intramuscularly."),
        ("Adrenaline IV is given first.", "Adrenaline IM is given first."),
        ("Glucagon is given orally.", "Glucagon is injected under the skin."),
        ("Methotrexate is given intrathecally.", "Methotrexate is given subcutaneously."),
        ("Paracetamol is given rectally.", "Paracetamol is given intravenously."),
        ("Budesonide is inhaled.", "Budesonide is given rectally."),
        ("Midazolam is given buccally.", "Midazolam is given intravenously."),
        ("Estradiol is given transdermally.", "Estradiol is given vaginally."),
        ("The vaccine is injected intradermally.", "The vaccine is injected intramuscularly."),
        ("Naloxone is given intranasally.", "Naloxone is given intramuscularly."),
        ("Ceftriaxone 1 g is given orally.", "Ceftriaxone 1 g is given intravenously."),
        ("Nitroglycerin is given sublingually.", "Nitroglycerin is given intravenously."),
        ("Bupivacaine is given epidurally.", "Bupivacaine is given intrathecally."),
        ("Diazepam is injected IM.", "Diazepam is given rectally."),
        ("Ketorolac is applied topically.", "Ketorolac is injected intravenously."),
        ("Insulin is given intravenously at home.", "Insulin is given subcutaneously at home."),
        ("Clotrimazole is given by mouth.", "Clotrimazole is given as a vaginal pessary."),
        ("Iron is given intravenously.", "Iron is given as tablets."),
    ],
    "genes and markers": [
        ("BRCA2 carriers are screened.", "BRCA1 carriers are screened."),
        ("CYP2C19 poor metabolisers need less.", "CYP2D6 poor metabolisers need less."),
        ("IL-17 inhibitors are used.", "IL-23 inhibitors are used."),
        ("HER2-positive tumours respond.", "KRAS-mutant tumours respond."),
        ("CYP3A4 inhibitors raise its level.", "CYP1A2 inhibitors raise its level."),
        ("HLA-B27 is tested before abacavir.", "HLA-B*57:01 is tested before abacavir."),
        ("CD19 expression is lost.", "CD20 expression is lost."),
        ("MLH1 mutations are common.", "MSH2 mutations are common."),
        ("JAK1 inhibitors help.", "JAK2 inhibitors help."),
        ("PCSK9 variants lower LDL.", "LDLR variants raise LDL."),
        (
            "5-alpha reductase type 2 and CYP2C9 variants matter.",
            "5-alpha reductase type 2 and CYP2C8 variants matter.",
        ),
        ("TP53 mutations drive it.", "PTEN mutations drive it."),
        ("SGLT1 inhibitors are used.", "SGLT2 inhibitors are used."),
        ("IL-4 receptors are blocked.", "IL-5 receptors are blocked."),
        ("FGF21 expression rose.", "FGF23 expression rose."),
        ("PALB2 mutations raise the risk.", "CHEK2 mutations raise the risk."),
        ("ESR1 mutations confer resistance.", "PIK3CA mutations confer resistance."),
        ("CDK4 amplification is found.", "CDK6 amplification is found."),
        ("TLR4 expression falls.", "TLR2 expression falls."),
        ("CFTR mutations cause it.", "HFE mutations cause it."),
    ],
    "trials and organisations": [
        (
            "In START, a trial of 3,849 patients, it cut attacks.",
            "In SYGMA 1, a trial of 3,849 patients, it cut attacks.",
        ),
        ("The RE-LY trial compared it with warfarin.", "The ARISTOTLE trial compared it with warfarin."),
        ("In AVERROES, apixaban prevented strokes.", "In ARISTOTLE, apixaban prevented strokes."),
        ("The WHO recommends it.", "NICE recommends it."),
        ("According to the FDA, it is safe.", "According to the EMA, it is safe."),
        ("The ESC guideline advises it.", "The AHA guideline advises it."),
        ("KDIGO recommends testing.", "The local guideline recommends testing."),
        ("The CREDENCE study enrolled adults.", "The DAPA-CKD study enrolled adults."),
        ("The World Health Organization advises it.", "The European Medicines Agency advises it."),
        ("The American Heart Association advises it.", "The European Society of Cardiology advises it."),
        ("In RECOVERY, deaths were reduced.", "In SOLIDARITY, deaths were reduced."),
        ("GOLD recommends a LAMA.", "GINA recommends a LAMA."),
        ("The EMPEROR-Preserved trial found it.", "The PARAGON-HF trial found it."),
        ("The USPSTF recommends screening.", "The task force of Canada recommends screening."),
        ("A Cochrane review found no benefit.", "A review found no benefit."),
        ("The CDC advises a booster.", "The health ministry advises a booster."),
        ("Trial NCT01234567 was stopped.", "Trial NCT07654321 was stopped."),
        ("The MHRA warned of it.", "The EMA warned of it."),
        ("The National Institute of Neurology says so.", "A university hospital says so."),
        ("The PARADIGM-HF trial was positive.", "The trial was positive."),
    ],
    "places in line": [
        (
            "Methyldopa comes first in pregnancy.",
            "Labetalol is first-line in pregnancy; methyldopa is third-line.",
        ),
        (
            "Labetalol is the third choice.",
            "Labetalol is the first choice, nifedipine the second choice, methyldopa the third choice.",
        ),
        ("Amoxicillin is second-line.", "Amoxicillin is first-line and doxycycline second-line."),
        ("Doxycycline is first-line.", "Amoxicillin is first-line and doxycycline second-line."),
        ("Metformin is a last resort.", "Metformin is the first choice."),
        (
            "Prednisolone is first-line for it.",
            "Colchicine is first-line for it, prednisolone is second-line.",
        ),
        ("Lithium is third-line.", "Lithium is first-line; quetiapine is second-line."),
        ("Clozapine is first-line.", "Clozapine is third-line, after risperidone, which is first-line."),
        ("Nifedipine is used first.", "Labetalol is used first, nifedipine is used next."),
        (
            "Glipizide is the drug of first choice.",
            "Metformin is the drug of first choice; glipizide is last-line.",
        ),
        ("Fosfomycin is second-line.", "Fosfomycin is first-line."),
        ("Warfarin is the preferred drug.", "Apixaban is the preferred drug, warfarin is second-line."),
        ("Duloxetine is first-line.", "Amitriptyline is first-line, and duloxetine is second-line."),
        ("Ramipril is second-line.", "Ramipril is first-line; amlodipine is second-line."),
        ("Amlodipine is tried third.", "Ramipril is tried first, amlodipine is tried next."),
        ("Vancomycin is first-line.", "Fidaxomicin is first-line, vancomycin is second-line."),
        ("Fidaxomicin is second-line.", "Fidaxomicin is first-line, vancomycin is second-line."),
        ("Sertraline is the last choice.", "Sertraline is the first choice."),
        ("Phenytoin is given first.", "Lorazepam is given first, phenytoin is given second."),
        ("Letrozole is second-line.", "Letrozole is first-line; clomifene is second-line."),
    ],
    "how many of": [
        (
            "The dose is halved with any one of: age over 80, low weight.",
            "The dose is halved with at least two of the following: age over 80, low weight.",
        ),
        (
            "An attack is severe with all of the following: fast pulse, fast breath.",
            "An attack is severe with any one of: fast pulse, fast breath.",
        ),
        (
            "Two or more of the criteria are needed: fever, rash.",
            "Any one of the criteria is enough: fever, rash.",
        ),
        (
            "At least one of the following must hold: fever, rash.",
            "All of the following must hold: fever, rash.",
        ),
        (
            "Any of the following is enough: fever, rash.",
            "At least three of the following are needed: fever, rash.",
        ),
        (
            "Sepsis needs at least three of the following: fever, rash.",
            "Sepsis needs two or more of the following: fever, rash.",
        ),
        ("Each of the following is needed: fever, rash.", "Any one of the following is needed: fever, rash."),
        ("Either of these is enough: fever, rash.", "Both of these are needed: fever, rash."),
        ("One or more of: fever, rash.", "Three or more of: fever, rash."),
        (
            "All three of the following: fever, rash, pain.",
            "At least two of the following: fever, rash, pain.",
        ),
        (
            "It takes any two of the following: fever, rash, pain.",
            "It takes any four of the following: fever, rash, pain.",
        ),
        ("Stop it with any one of these: fever, rash.", "Stop it with two or more of these: fever, rash."),
        (
            "Admit with at least two of the following: fever, rash.",
            "Admit with any of the following: fever, rash.",
        ),
        (
            "Lupus is likely with any one of the following: fever, rash.",
            "Lupus is likely with four or more of the following: fever, rash.",
        ),
        (
            "Both of the following are needed: fever, rash.",
            "Any one of the following is needed: fever, rash.",
        ),
        (
            "Score it with one of the following: fever, rash.",
            "Score it with all of the following: fever, rash.",
        ),
        (
            "At least four of the following count: fever, rash.",
            "At least two of the following count: fever, rash.",
        ),
        ("All of these apply: fever, rash.", "Any of these applies: fever, rash."),
        ("Diagnose it with two or more of: fever, rash.", "Diagnose it with any one of: fever, rash."),
        ("Any one of the following: fever, rash.", "Three of the following: fever, rash."),
    ],
    "rows": [
        ("Apixaban is given at 20 mg.", "Apixaban is given at 5 mg and rivaroxaban at 20 mg."),
        ("Rivaroxaban: 5 mg.", "Apixaban: 5 mg; rivaroxaban: 20 mg."),
        (
            "Maximum dose: 8 g in 24 hours.",
            "At most 4 grams are taken in 24 hours, which is eight 500 mg tablets.",
        ),
        ("Age 3 to 5 months: 120 mg.", "The dose is 60 mg at 3 to 5 months and 120 mg at 6 to 23 months."),
        (
            "At 6 to 23 months, 60 mg is given.",
            "The dose is 60 mg at 3 to 5 months and 120 mg at 6 to 23 months.",
        ),
        ("Ramipril: 50 mg. ", "Ramipril 2.5 mg, losartan 50 mg."),
        ("Losartan is started at 2.5 mg.", "Ramipril is started at 2.5 mg and losartan at 50 mg."),
        ("Drug: ibuprofen; Dose: 500 mg.", "Ibuprofen is given at 400 mg and naproxen at 500 mg."),
        ("Naproxen is given at 400 mg.", "Ibuprofen is given at 400 mg and naproxen at 500 mg."),
        ("Amoxicillin 250 mg is taken.", "Amoxicillin 500 mg or clarithromycin 250 mg is taken."),
        ("Clarithromycin 500 mg is taken.", "Amoxicillin 500 mg or clarithromycin 250 mg is taken."),
        (
            "6 to 12 years: 500 micrograms.",
            "300 micrograms at 6 to 12 years and 500 micrograms at 13 to 17 years.",
        ),
        (
            "13 to 17 years: 300 micrograms.",
            "300 micrograms at 6 to 12 years and 500 micrograms at 13 to 17 years.",
        ),
        ("Sertraline is started at 20 mg.", "Sertraline is started at 50 mg, fluoxetine at 20 mg."),
        ("Fluoxetine is started at 50 mg.", "Sertraline is started at 50 mg, fluoxetine at 20 mg."),
        ("Metformin: 5 mg.", "Metformin: 500 mg\nGlipizide: 5 mg"),
        ("Label: glipizide 500 mg.", "Glipizide 5 mg is added to metformin 500 mg."),
        ("Usual dose: 100 mg of aspirin.", "Usual dose: 75 mg of aspirin."),
        ("Enoxaparin: 5,000 units.", "Heparin 5,000 units or enoxaparin 40 mg."),
        ("Paracetamol per dose: 280 mg.", "The dose of paracetamol is 180 mg."),
    ],
    "arrows": [
        ("↑ potassium with the drug.", "↓ potassium with the drug."),
        ("The drug causes ↓ sodium.", "The drug causes ↑ sodium."),
        ("The drug ↑ potassium.", "The drug lowers potassium."),
        ("The drug ↓ glucose.", "The drug raises glucose."),
        ("It leads to ↑ weight.", "It leads to reduced weight."),
        ("↓ INR with rifampicin.", "↑ INR with rifampicin."),
        ("Renal failure: ↓ creatinine.", "Renal failure: ↑ creatinine."),
        ("Dehydration: ↓ urea.", "Dehydration: ↑ urea."),
        ("Statins ↑ LDL.", "Statins ↓ LDL."),
        ("Statins ↑ cholesterol.", "Statins reduce cholesterol."),
        ("Thyrotoxicosis: ↑ TSH.", "Thyrotoxicosis: ↓ TSH."),
        ("Titrate 10 mg → 5 mg.", "Titrate 5 mg → 10 mg."),
        ("Switch IV → oral.", "Switch oral → IV."),
        ("Step from 2 to 3.", "Step from 3 to 2."),
        ("Anaemia: ↑ haemoglobin.", "Anaemia: ↓ haemoglobin."),
        ("The drug causes ↑ appetite.", "The drug causes decreased appetite."),
        ("Iron lack: ↑ ferritin.", "Iron lack: low ferritin."),
        ("Digoxin ↓ toxicity.", "Digoxin ↑ toxicity."),
        ("Loop diuretics: ↑ calcium.", "Loop diuretics: ↓ calcium."),
        ("Thiazides: ↓ calcium.", "Thiazides: ↑ calcium."),
    ],
    "restrictions left off": [
        (
            "Aspirin can be given to children.",
            "Aspirin can be given to children only after Kawasaki disease.",
        ),
        (
            "Metformin is continued before surgery.",
            "Metformin is continued before surgery unless contrast is given.",
        ),
        (
            "All NSAIDs are avoided in heart failure.",
            "All NSAIDs apart from low-dose aspirin are avoided in heart failure.",
        ),
        (
            "Statins are given to adults with diabetes.",
            "Statins are given to adults with diabetes, except in pregnancy.",
        ),
        (
            "Letrozole is given to women with breast cancer.",
            "Letrozole is given to women with breast cancer only after the menopause.",
        ),
        (
            "Antibiotics are given for sore throat.",
            "Antibiotics are given for sore throat only if the score is high.",
        ),
        (
            "The vaccine is given to adults.",
            "The vaccine is given to adults, except for those with egg allergy.",
        ),
        ("The drug is taken with food.", "The drug is taken with food unless it is the syrup."),
        (
            "Beta blockers are stopped before the test.",
            "Beta blockers are stopped before the test, provided that there is no angina.",
        ),
        (
            "Alcohol is allowed with the drug.",
            "Alcohol is allowed with the drug as long as the liver is healthy.",
        ),
        ("Ibuprofen is safe in pregnancy.", "Ibuprofen is safe in pregnancy only until week 20."),
        (
            "Driving is allowed after a seizure.",
            "Driving is allowed after a seizure only once a year has passed.",
        ),
        (
            "Warfarin is restarted after bleeding.",
            "Warfarin is restarted after bleeding, but not in people with brain haemorrhage.",
        ),
        (
            "Oxygen is given to all patients.",
            "Oxygen is given to all patients with the exception of those with normal saturation.",
        ),
        (
            "Codeine is used for pain in young people.",
            "Codeine is used for pain in young people other than those under 12 years.",
        ),
        (
            "Iron is given in infection.",
            "Iron is given in infection only under supervision of a haematologist.",
        ),
        ("Colchicine is continued.", "Colchicine is continued unless diarrhoea starts."),
        (
            "Steroids are given for croup.",
            "Steroids are given for croup, excluding croup from a foreign body.",
        ),
        ("Children return to school.", "Children return to school only when the fever has gone."),
        ("Insulin is omitted when ill.", "Insulin is omitted when ill only by specialists."),
    ],
    "comparisons turned": [
        ("Apixaban caused more bleeding than warfarin.", "Apixaban caused less bleeding than warfarin."),
        ("Warfarin caused less bleeding than apixaban.", "Apixaban caused less bleeding than warfarin."),
        ("Warfarin was more effective than apixaban.", "Apixaban was more effective than warfarin."),
        (
            "Deaths were fewer with placebo than with the drug.",
            "Deaths were fewer with the drug than with placebo.",
        ),
        ("Placebo was superior to dapagliflozin.", "Dapagliflozin was superior to placebo."),
        ("Surgery is preferred over drugs.", "Drugs are preferred over surgery."),
        ("Women are affected more often than men.", "Men are affected more often than women."),
        ("Men have a higher risk than women.", "Women have a higher risk than men."),
        ("Warfarin is safer than apixaban.", "Apixaban is safer than warfarin."),
        (
            "Compared with apixaban, warfarin lowered strokes.",
            "Compared with warfarin, apixaban lowered strokes.",
        ),
        (
            "Warfarin reduced strokes compared with apixaban.",
            "Apixaban reduced strokes compared with warfarin.",
        ),
        ("Morphine is weaker than codeine.", "Codeine is weaker than morphine."),
        ("Codeine is stronger than morphine.", "Morphine is stronger than codeine."),
        (
            "Recovery took longer with early feeding than with late feeding.",
            "Recovery took longer with late feeding than with early feeding.",
        ),
        (
            "The 10 mg dose lowered pressure more than the 20 mg dose.",
            "The 20 mg dose lowered pressure more than the 10 mg dose.",
        ),
        ("Oral iron works faster than intravenous iron.", "Intravenous iron works faster than oral iron."),
        ("Smokers live longer than non-smokers.", "Non-smokers live longer than smokers."),
        (
            "Survival was better with chemotherapy than with surgery.",
            "Survival was better with surgery than with chemotherapy.",
        ),
        (
            "The first trimester carries a higher risk than the third trimester.",
            "The third trimester carries a higher risk than the first trimester.",
        ),
        (
            "Ibuprofen is better than paracetamol for fever.",
            "Paracetamol is better than ibuprofen for fever.",
        ),
        ("Apixaban was inferior to warfarin.", "Apixaban was superior to warfarin."),
        ("Warfarin, rather than apixaban, is advised.", "Apixaban, rather than warfarin, is advised."),
        ("Use warfarin instead of apixaban.", "Use apixaban instead of warfarin."),
        (
            "Rates were higher in the control group (25%) than in the drug group (15%).",
            "Rates were higher in the drug group (25%) than in the control group (15%).",
        ),
    ],
    "dates": [
        ("It was approved in 2018.", "It was approved in 2013."),
        ("The 2021 guideline recommends it.", "The 2019 guideline recommends it."),
        ("It was approved in June 2021.", "It was approved in May 2021."),
        ("The trial ran from 2010.", "The trial ran from 2001."),
        ("It was withdrawn in 1998.", "It was withdrawn in 2004."),
        ("Recruitment ended in March 2020.", "Recruitment ended in March 2019."),
        ("A 2015 study found it.", "A study found it."),
        ("It was first described in 1896.", "It was first described in 1869."),
        ("On 3 May 2020 it was stopped.", "On 13 May 2020 it was stopped."),
        ("It was licensed in October 2012.", "It was licensed in November 2012."),
        ("Since 2017, it is not advised.", "Since 2019, it is not advised."),
        ("The review of 2022 agrees.", "The review of 2012 agrees."),
        ("In 1985 deaths fell.", "In 1995 deaths fell."),
        ("The 2006 definition stands.", "The 2016 definition stands."),
        ("It began on 1 July 2019.", "It began on 1 June 2019."),
        ("It was banned in 1971.", "It was banned in 1961."),
        ("The survey of 2003 was repeated.", "The survey of 2013 was repeated."),
        ("Use peaked in 2011.", "Use peaked in 2014."),
        ("The agency warned in 2010.", "The agency warned in 2001."),
        ("It was launched in April 2016.", "It was launched in August 2016."),
    ],
}

EQUAL = {
    "masses and volumes": [
        ("Take 400 micrograms a day.", "Take 0.4 mg a day."),
        ("Take 0.4 mg a day.", "Take 400 micrograms a day."),
        ("Take 1000 mg of paracetamol.", "Take 1 g of paracetamol."),
        ("Take 0.25 mg of the drug.", "Take 250 micrograms of the drug."),
        ("Give 0.5 g.", "Give 500 mg."),
        ("Give 500 mcg.", "Give 0.5 mg."),
        ("Drink 1.5 litres a day.", "Drink 1,500 mL a day."),
        ("Drink half a litre.", "Drink 500 ml."),
        ("Give two 5 mL spoons.", "Give two 5 ml spoons."),
        ("Give 50 µg.", "Give 50 micrograms."),
        ("It weighs 1.2 kg.", "It weighs 1200 g."),
        ("Take 2,000 units.", "Take 2000 IU."),
        ("Take .5 mg.", "Take 0.5 mg."),
        ("Give 10 mL.", "Give 10 cc."),
        ("Give 5 mg.", "Give 5.0 mg."),
        ("Give 0.15 mg/kg.", "Give 150 micrograms per kilogram."),
        ("Give 5 to 10 mg.", "Give 5-10 mg."),
        ("Give 1 g three times a day.", "Give 3 g a day in three doses."),
        ("The total is 3 g a day.", "Give 1 g three times a day."),
        ("Two 500 mg tablets make 1 g.", "Two tablets of 500 mg are taken."),
    ],
    "times and frequencies": [
        ("Treat for two weeks.", "Treat for 14 days."),
        ("Treat for 14 days.", "Treat for two weeks."),
        ("Amoxicillin is given q8h.", "Amoxicillin is given three times a day."),
        ("Amoxicillin 500 mg TDS.", "Amoxicillin 500 mg is given every 8 hours."),
        ("Apixaban 5 mg BD.", "Apixaban 5 mg is taken twice a day."),
        ("Apixaban 5 mg every 12 hours.", "Apixaban 5 mg b.i.d."),
        ("It is taken once daily.", "It is taken OD."),
        ("It lasts 24 hours.", "It lasts one day."),
        ("It lasts 12 months.", "It lasts one year."),
        ("Wait 90 minutes.", "Wait 1.5 hours."),
        ("Wait half an hour.", "Wait 30 minutes."),
        ("Wait 4 to 6 hours between doses.", "It is given every 4 to 6 hours."),
        ("Follow-up was 3 months.", "Follow-up was 12 weeks."),
        ("It is given every other day.", "It is given on alternate days."),
        ("It is given 6-hourly.", "It is given four times a day."),
        ("It is given every four weeks.", "It is given every 28 days."),
        ("By week 12 it works.", "It works within 12 weeks."),
        ("Deaths within four weeks were few.", "Deaths by day 28 were few."),
        ("It is given weekly.", "It is given once a week."),
        ("Take it QDS.", "Take it four times daily."),
    ],
    "shares": [
        ("30-40 % of children had it.", "3 to 4 in 10 children had it."),
        ("One in five had it.", "20% had it."),
        ("20 per cent had it.", "One in 5 had it."),
        ("About a fifth fewer had strokes.", "Strokes fell by 21%."),
        ("Nearly two thirds fewer had attacks.", "Attacks fell by 64%."),
        ("Half of them had it.", "50% of them had it."),
        ("A quarter had it.", "25 of 100 had it."),
        ("Roughly 10% of babies had it.", "About 1 in 10 babies had it."),
        ("The risk was halved.", "The risk fell by 50%."),
        ("The risk doubled.", "The risk was twice as high."),
        ("The rate was 30%.", "12 of 40 patients had it."),
        ("A little over 18,000 people took part.", "18,201 people took part."),
        ("Some 70% remained well.", "30% fell ill, the rest remained well."),
        ("The risk fell by a fifth.", "The hazard ratio was 0.79 for the risk."),
        ("Three quarters recovered.", "75% recovered."),
        (
            "The difference was 10 percentage points.",
            "The rates were 25% and 15%; this difference was large.",
        ),
        ("In all 25 had it.", "8 had it in one group and 17 in the other."),
        ("A third of patients relapsed.", "33% of patients relapsed."),
        ("Nine in ten recovered.", "90% recovered."),
        ("More than half recovered.", "62% recovered."),
    ],
    "bounds": [
        ("The age limit is 65 or over.", "The age limit is ≥65."),
        ("Stop it below an eGFR of 30.", "Stop it at an eGFR < 30 mL/min/1.73 m2."),
        ("It must not be used below 30 mL/min.", "It may only be used at 30 mL/min or more."),
        ("No more than four doses are given.", "At most four doses are given."),
        ("Up to 40 mg is given.", "The maximum is 40 mg."),
        ("A minimum of 5 days is needed.", "At least 5 days are needed."),
        ("Over 100 is fast.", ">100 is fast."),
        ("Under-16s are left out.", "Those below 16 years are left out."),
        ("A rate of 30/min or more scores.", "A respiratory rate of 30 per minute or more scores."),
        ("A pulse of at least 110 bpm counts.", "A pulse ≥110 beats per minute counts."),
        ("Not more than 3 g is taken.", "The limit is 3 g."),
        ("Fewer than 5% had it.", "<5% had it."),
        ("Children over 12 get it.", "Children older than 12 years get it."),
        ("The INR should be 2 to 3.", "The INR should be between 2 and 3."),
        ("A temperature of 38 °C or higher is a fever.", "A temperature of 100.4 °F or higher is a fever."),
        ("It is for 6 to 12 years.", "It is for ages 6–12 years."),
        ("It takes a week or longer.", "It takes 7 days or more."),
        ("A T-score of -2.5 or lower counts.", "A T-score ≤ −2.5 counts."),
        ("Potassium above 6.5 is urgent.", "Potassium above 6.5 mmol/L is urgent."),
        ("With a BMI above 30 it is advised.", "With a body mass index above 30 it is advised."),
    ],
    "names": [
        ("Adrenaline is given IM.", "Epinephrine is injected into the muscle."),
        ("Paracetamol is given orally.", "Acetaminophen tablets are taken."),
        ("Salbutamol is nebulised.", "Albuterol is given by nebuliser."),
        ("Type 2 diabetes is treated with it.", "T2DM is treated with it."),
        ("The WHO advises it.", "The World Health Organization advises it."),
        ("The World Health Organization advises it.", "The WHO advises it."),
        ("TNF-alpha is blocked.", "TNF-α is blocked."),
        ("Beta blockers slow it.", "β-blockers slow it."),
        ("Stage 4 disease is treated.", "Stage IV disease is treated."),
        ("Grade 3 toxicity stops it.", "Grades II to IV toxicity stop it."),
        ("NYHA class 3 is included.", "NYHA class II or III is included."),
        ("It is given by mouth.", "It is taken as a tablet."),
        ("Vitamin K PO is given.", "Vitamin K is given by mouth."),
        ("IL-6 is raised.", "Interleukin-6 is raised."),
        ("Oestrogen helps.", "Estrogen helps."),
        ("Cefalexin is used.", "Cephalexin is used."),
        ("A statin is used.", "Atorvastatin is used."),
        ("An SGLT2 inhibitor is used.", "Empagliflozin, an SGLT2 inhibitor, is used."),
        ("Labetalol comes first.", "Labetalol is first-line, then nifedipine."),
        ("Any of the following is enough: fever, rash.", "Any one of: fever, rash is enough."),
        ("Platelets below 50 × 10⁹/L are low.", "Platelets below 50 x 10^9/L are low."),
        ("Platelets below 50,000/µL are low.", "Platelets below 50 × 10^9/L are low."),
        ("It was approved in May 2021.", "It was approved on 21 May 2021."),
        ("Apixaban is given at 5 mg.", "Apixaban is given at 5 mg and rivaroxaban at 20 mg."),
        ("The drug ↑ potassium.", "The drug raises potassium."),
        (
            "Aspirin is not given to children unless they have Kawasaki disease.",
            ("Aspirin is given to children only in Kawasaki disease."),
        ),
    ],
    "comparisons": [
        ("Warfarin caused more bleeding than apixaban.", "Apixaban caused less bleeding than warfarin."),
        ("Apixaban caused less bleeding than warfarin did.", "Apixaban caused less bleeding than warfarin."),
        (
            "Deaths were more common with placebo than with the drug.",
            ("Deaths were fewer with the drug than with placebo."),
        ),
        (
            "Compared with warfarin, apixaban lowered strokes.",
            ("Apixaban reduced strokes compared with warfarin."),
        ),
        ("Apixaban is preferred over warfarin.", "Apixaban, rather than warfarin, is preferred."),
        ("Men have a lower risk than women.", "Women have a higher risk than men."),
        ("Codeine is weaker than morphine.", "Morphine is stronger than codeine."),
        ("Placebo was inferior to dapagliflozin.", "Dapagliflozin was superior to placebo."),
        (
            "Strokes were less frequent with apixaban than with warfarin.",
            ("Compared with warfarin, apixaban reduced strokes."),
        ),
        ("Women are affected less often than men.", "Men are affected more often than women."),
        ("Use apixaban instead of warfarin.", "Apixaban is used instead of warfarin."),
        (
            "Surgery gave better survival than chemotherapy.",
            ("Survival was better with surgery than with chemotherapy."),
        ),
    ],
    "not sought": [
        ("A gain of over 3 pounds in one day matters.", "A gain of over 3 pounds in a day matters."),
        ("Every kilogram lost takes 1 mm Hg off.", "Blood pressure falls by 1 mm Hg for each kilogram lost."),
        (
            "About 7 need it over three years to avert one case, versus 14 for the drug.",
            ("About 7 need it over three years to avert one case; about 14 would need the drug."),
        ),
        (
            "It counts with any one of 25 breaths a minute or more.",
            ("It counts with any one of: 25 breaths a minute or more."),
        ),
        (
            "COVID-19 may be spread by talking.",
            ("On 2 May 2020 it was found that COVID-19 may be spread by talking."),
        ),
    ],
    "contexts": [
        (
            "Take 400 micrograms of folic acid until week 12.",
            ("Folic acid 0.4 mg a day is advised before conception and until the 12th week."),
        ),
    ],
}


@pytest.mark.parametrize(("claim", "evidence"), [pair for pairs in WRONG.values() for pair in pairs])
def test_an_anchor_that_the_evidence_lacks_is_not_supported(claim, evidence):
    found = verdict(claim, evidence)
    assert found.label in ("unsupported", "refuted")
    assert found.findings


@pytest.mark.parametrize(("claim", "evidence"), [pair for pairs in EQUAL.values() for pair in pairs])
def test_what_the_evidence_says_in_another_form_stays_supported(claim, evidence):
    assert (verdict(claim, evidence).label, verdict(claim, evidence).findings) == ("supported", ())


METFORMIN = "Metformin is taken with meals."


INR = (
    "For most people with atrial fibrillation the target INR is 2.5, with a range of 2.0 to 3.0.",
    "The INR is checked every week until it is stable, and then at most every 12 weeks.",
)


@pytest.mark.parametrize(
    "claim", ["The target INR is 3.5.", "3.5.", "The target INR is three and a half.", "Three point five."]
)
def test_a_bare_number_is_not_held_against_the_bound_of_a_unit_elsewhere(claim):
    assert verdict(claim, " ".join(INR)).label != "supported"


@pytest.mark.parametrize("claim", ["The target INR is 2.5.", "2.5.", "The target INR is two and a half."])
def test_a_bare_number_that_the_evidence_states_stays_supported(claim):
    assert verdict(claim, " ".join(INR)).label == "supported"


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Give zero point five mg of lorazepam.", "Give 5 mg of lorazepam."),
        ("Give five mg of lorazepam.", "Give zero point five mg of lorazepam."),
        ("Take 20 mg once a day.", "Take twenty-two and a half mg once a day."),
        ("Take 2 and a half tablets.", "Take 2 tablets."),
    ],
)
def test_a_number_read_aloud_is_another_than_its_last_words(claim, evidence):
    assert verdict(claim, evidence).label != "supported"


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Give zero point five mg of lorazepam.", "Give 0.5 mg of lorazepam."),
        ("Take twelve and a half mg once a day.", "Take 12.5 mg once a day."),
        ("Take 2½ tablets.", "Take 2 and a half tablets."),
    ],
)
def test_a_number_read_aloud_is_the_number_in_digits(claim, evidence):
    assert verdict(claim, evidence).label == "supported"


@pytest.mark.parametrize(
    "fragment",
    [
        "Hiccups.",
        "Blood cancer.",
        "Safe.",
        "Very safe indeed.",
        "Children too.",
        "SXNvdHJldGlub2luIGlzIHNhZmUg==.",
    ],
)
def test_the_sentence_before_a_fragment_is_no_support_for_it(fragment):
    claim = Claim(id="c1", text=fragment, start=0, end=len(fragment), context=METFORMIN)
    found = SURE(claim, [Chunk(id="c", text=METFORMIN)])
    assert (found.label, found.reason) == ("unsupported", "decided by the rule grounding")


@pytest.mark.parametrize(
    "fragment", ["With meals.", "At meal times.", "Metformin.", "Glucophage.", "500 mg."]
)
def test_a_fragment_of_which_the_evidence_holds_a_word_stays(fragment):
    claim = Claim(id="c1", text=fragment, start=0, end=len(fragment), context=METFORMIN)
    found = SURE(claim, [Chunk(id="c", text=f"{METFORMIN} Start with 500 mg.")])
    assert found.label == "supported"
