"""A drug of a claim is covered by its names in the evidence, never by a sister drug or a look-alike."""

import dataclasses

import pytest

from pytest_medfaith.checking.anchors.drugs import missing_drugs
from pytest_medfaith.checking.anchors.evidence import Evidence
from pytest_medfaith.checking.rules import RULE_NAMES
from pytest_medfaith.records import Chunk
from pytest_medfaith.testing import scripted_checker

# Names that are confused in prescriptions or that were one concept of the table.
OTHERS = """
    famotidine/ranitidine hydroxyzine/hydralazine prednisone/prednisolone clonidine/clonazepam
    metformin/metronidazole bupropion/buspirone carbamazepine/oxcarbazepine chlorpromazine/chlorpropamide
    cycloserine/cyclosporine daunorubicin/doxorubicin dimenhydrinate/diphenhydramine dobutamine/dopamine
    ephedrine/epinephrine fentanyl/sufentanil fluoxetine/fluvoxamine fluoxetine/duloxetine
    glipizide/glyburide guaifenesin/guanfacine hydrocodone/oxycodone hydromorphone/morphine
    lamotrigine/lamivudine lorazepam/alprazolam medroxyprogesterone/methylprednisolone
    methylprednisolone/methyltestosterone nicardipine/nifedipine olanzapine/quetiapine
    paroxetine/fluoxetine pentobarbital/phenobarbital quinidine/quinine rifampin/rifaximin
    risperidone/ropinirole sitagliptin/saxagliptin sulfadiazine/sulfasalazine sumatriptan/zolmitriptan
    tizanidine/tiagabine tolazamide/tolbutamide tramadol/trazodone valacyclovir/valganciclovir
    vinblastine/vincristine vinorelbine/vincristine amlodipine/amiloride amiodarone/amantadine
    azathioprine/azithromycin cefuroxime/cefotaxime ceftazidime/ceftriaxone cefazolin/cefoxitin
    clobazam/clonazepam clomiphene/clomipramine cisplatin/carboplatin captopril/carvedilol
    atenolol/metoprolol propranolol/prasugrel omeprazole/esomeprazole citalopram/escitalopram
    levetiracetam/levofloxacin losartan/valsartan lisinopril/enalapril simvastatin/atorvastatin
    apixaban/rivaroxaban enoxaparin/dalteparin methadone/methylphenidate mirtazapine/mianserin
    amoxicillin/ampicillin doxycycline/minocycline erythromycin/clarithromycin fluconazole/itraconazole
    ketamine/ketorolac labetalol/lamotrigine topiramate/torsemide zolpidem/zopiclone
    thioridazine/thiothixene trimipramine/trimethoprim rituximab/infliximab denosumab/daratumumab
    dexmethylphenidate/methylphenidate levothyroxine/liothyronine progesterone/testosterone
    naproxen/naloxone naloxone/naltrexone sertraline/cetirizine loratadine/desloratadine
    cetirizine/levocetirizine pantoprazole/aripiprazole nimodipine/nifedipine eplerenone/spironolactone
    salmeterol/salbutamol formoterol/fluticasone budesonide/beclometasone tacrolimus/sirolimus
    semaglutide/liraglutide tamoxifen/tamsulosin flucloxacillin/dicloxacillin zopiclone/eszopiclone
    suvorexant/daridorexant goserelin/leuprorelin roxadustat/daprodustat ergotamine/dihydroergotamine
    lisdexamfetamine/dexamfetamine methimazole/carbimazole theophylline/aminophylline
    liothyronine/levothyroxine
""".split()
# Names of one drug, an underscore for a space.
NAMES = """
    amoxycillin/amoxicillin paracetamol/acetaminophen adrenaline/epinephrine salbutamol/albuterol
    frusemide/furosemide lignocaine/lidocaine Zantac/ranitidine Pepcid/famotidine Glucophage/metformin
    Tylenol/paracetamol Advil/ibuprofen Coumadin/warfarin Lipitor/atorvastatin Lasix/furosemide
    Prozac/fluoxetine Zoloft/sertraline Valium/diazepam Xanax/alprazolam Ventolin/salbutamol
    pethidine/meperidine ciclosporin/cyclosporine rifampicin/rifampin cephalexin/cefalexin
    aciclovir/acyclovir glibenclamide/glyburide oestradiol/estradiol thyroxine/levothyroxine
    sulphasalazine/sulfasalazine phenobarbitone/phenobarbital beclomethasone/beclometasone
    clomifene/clomiphene bendroflumethiazide/bendrofluazide valproate/valproic_acid Plavix/clopidogrel
    Eliquis/apixaban Xarelto/rivaroxaban Keppra/levetiracetam Augmentin/co-amoxiclav Viagra/sildenafil
    Cialis/tadalafil Synthroid/levothyroxine Zocor/simvastatin noradrenaline/norepinephrine
    isoprenaline/isoproterenol trimethoprim-sulfamethoxazole/co-trimoxazole aspirin/acetylsalicylic_acid
    vitamin_C/ascorbic_acid
""".split()


def lacks(claim, evidence):
    return [claim[missing.start : missing.end] for missing in missing_drugs(claim, Evidence((), evidence))]


@pytest.mark.parametrize("pair", OTHERS)
def test_another_drug_covers_no_drug(pair):
    first, second = pair.split("/")
    for claimed, given in ((first, second), (second, first)):
        claim = f"Adults take {claimed} once a day."
        assert lacks(claim, f"Adults take {given} once a day.") == [claimed]


@pytest.mark.parametrize("pair", NAMES)
def test_another_name_of_a_drug_covers_it(pair):
    first, second = pair.replace("_", " ").split("/")
    for claimed, given in ((first, second), (second, first)):
        assert lacks(f"Adults take {claimed} once a day.", f"Adults take {given} once a day.") == []


@pytest.mark.parametrize(
    "pair", ["famotidine/ranitidine", "liothyronine/levothyroxine", "mianserin/mirtazapine"]
)
def test_a_claim_on_another_drug_is_not_supported(pair):
    """Though the model entails it: its verdict names the drug that the evidence lacks."""
    claimed, given = pair.split("/")
    checker = dataclasses.replace(scripted_checker(lambda *_: "entail"), rules=frozenset(RULE_NAMES))
    verdict = checker(
        f"Adults take {claimed} once a day.", [Chunk(id="c", text=f"Adults take {given} once a day.")]
    )
    assert verdict.label != "supported"
    assert claimed in str(verdict.findings)
