import pytest

from pytest_medfaith.entities.abbreviations import find_abbreviations
from pytest_medfaith.entities.linker import KINDS, link, load_concepts
from pytest_medfaith.errors import DataError


def named(text, **options):
    return [
        (text[mention.start : mention.end], mention.concept, mention.kind)
        for mention in link(text, **options)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Women take Glucophage.", [("Women", "woman", "population"), ("Glucophage", "metformin", "drug")]),
        ("type 2 diabetes", [("type 2 diabetes", "type_2_diabetes", "disease")]),
        ("low-molecular-weight heparin", [("low-molecular-weight heparin", "lmwh", "drug")]),
        ("iron deficiency anaemia", [("iron deficiency anaemia", "iron_deficiency_anemia", "disease")]),
        (
            "beta blockers, ACE inhibitors",
            [("beta blockers", "beta_blocker", "drug"), ("ACE inhibitors", "ace_inhibitor", "drug")],
        ),
        ("St. John's wort", [("St. John's wort", "st_johns_wort", "drug")]),
        ("HLA-B*57:01", [("HLA-B*57:01", "hla_b5701", "gene")]),
        ("MS and 5 ms", [("MS", "multiple_sclerosis", "disease")]),
        ("NSAIDs", [("NSAIDs", "nsaid", "drug")]),
        ("heart. Failure", [("heart", "heart", "site")]),
        ("aspiring", []),
        ("", []),
    ],
)
def test_the_longest_name_wins(text, expected):
    assert named(text) == expected


def test_a_text_explains_its_abbreviations():
    text = "In premature atrial flutter (PAF), PAF recurs; atrial flutter (AFL) too, and AFL is common."
    assert ("AFL", "atrial_flutter", "disease") in named(text)
    assert dict(find_abbreviations(text)) == {"PAF": "premature atrial flutter", "AFL": "atrial flutter"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("polycystic ovary syndrome (PCOS)", {"PCOS": "polycystic ovary syndrome"}),
        ("angiotensin receptor blockers (ARBs)", {"ARBs": "angiotensin receptor blockers"}),
        ("the mean (SD)", {}),
        ("5 mg (PCOS)", {}),
        ("a test (see below)", {}),
    ],
)
def test_abbreviations(text, expected):
    assert dict(find_abbreviations(text)) == expected


def test_a_member_knows_its_classes():
    (metformin,) = link("metformin")
    (biguanide,) = link("biguanide")
    (glipizide,) = link("glipizide")
    assert metformin.wider == {"biguanide", "glucose_lowering"}
    assert metformin.is_related(biguanide)
    assert biguanide.is_related(metformin)
    assert not metformin.is_related(glipizide)


def test_the_shipped_table_is_sound():
    table = load_concepts()
    kinds = {kind: sum(concept.kind == kind for concept in table.by_id.values()) for kind in KINDS}
    assert len(table.by_id) >= 400
    assert min(kinds.values()) >= 10
    assert all(parent in table.by_id for concept in table.by_id.values() for parent in concept.parents)


def test_a_project_adds_concepts(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text('{"id": "zolab", "kind": "drug", "names": ["zolab", "Zolamax"], "parents": ["statin"]}\n')
    assert named("Zolamax", concepts=load_concepts(path)) == [("Zolamax", "zolab", "drug")]
    assert named("Zolamax") == []


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            '{"id": "metformin", "kind": "drug", "names": ["x"]}',
            "another concept, perhaps of the shipped table, has the id 'metformin'; give yours another id",
        ),
        (
            '{"id": "a", "kind": "herb", "names": ["x"]}',
            "concept 'a' has kind 'herb', expected one of drug, disease",
        ),
        (
            '{"id": "a", "kind": "drug", "names": ["x"], "parents": ["b"]}',
            "concept 'a' names the parent 'b', which no table holds",
        ),
        (
            '{"id": "a", "kind": "drug", "names": ["Metformin"]}',
            "the name 'Metformin' belongs to 'metformin' and to 'a'",
        ),
        (
            '{"id": "a", "kind": "drug", "names": ["--"]}',
            "concept 'a' has the name '--', which holds no letter or digit",
        ),
        ('{"id": "a", "kind": "drug"}', "own.jsonl:1: .*names"),
    ],
)
def test_a_bad_table_names_the_concept(tmp_path, row, message):
    path = tmp_path / "own.jsonl"
    path.write_text(row + "\n")
    with pytest.raises(DataError, match=message):
        load_concepts(path)
