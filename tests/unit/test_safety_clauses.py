import pytest

from pytest_medfaith.safety.clauses import asserted_sentences, read_statements
from pytest_medfaith.safety.stance import ADVISES, FORBIDS, NEUTRAL, WARNS, stance
from pytest_medfaith.safety.terms import TermIndex


def shown(text):
    return [
        (
            [text[main.start : main.end] for main in statement.mains],
            [text[condition.start : condition.end] for condition in statement.conditions],
        )
        for statement in read_statements(text)
    ]


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        (
            "In pregnancy, doxycycline is avoided and amoxicillin is used.",
            [
                (["doxycycline is avoided"], [("In pregnancy")]),
                (["and amoxicillin is used."], ["In pregnancy"]),
            ],
        ),
        (
            "Amoxicillin is used; clarithromycin is for allergy.",
            [(["Amoxicillin is used"], []), ([("clarithromycin is for allergy.")], [])],
        ),
        (
            "Ibuprofen can be used if the kidneys are well.",
            [(["Ibuprofen can be used"], [("if the kidneys are well.")])],
        ),
        ("Ibuprofen is used for pain, but not in heart failure.", [(["Ibuprofen is used for pain"], [])]),
        ("Unless you have asthma, propranolol is an option.", [(["propranolol is an option."], [])]),
        (
            "Rifampicin does not affect apixaban, so they can be combined.",
            [([("Rifampicin does not affect apixaban"), ("so they can be combined.")], [])],
        ),
        (
            "Labetalol, nifedipine and methyldopa are safe.",
            [(["Labetalol, nifedipine and methyldopa are safe."], [])],
        ),
        ("Taking 10 g at once can kill.", [(["Taking 10 g at once can kill."], [])]),
        ("Is it safe?", []),
    ],
)
def test_a_text_is_cut_into_statements_with_their_conditions(text, statements):
    assert shown(text) == statements


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Can I take it?", []),
        ("Can I take it? Yes.", ["Can I take it?", "Yes."]),
        ("You can take it, right?", ["You can take it, right?"]),
        ("Can I take it? No.", ["No."]),
    ],
)
def test_a_question_says_nothing_unless_it_is_answered_or_only_a_tag(text, said):
    assert [text[slice(*span)] for span in asserted_sentences(text)] == said


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("### can be taken", ADVISES),
        ("### is the one to use instead", ADVISES),
        ("there is no need to avoid ###", ADVISES),
        ("you do not have to stop ###", ADVISES),
        ("### won't hurt", ADVISES),
        ("### is a good choice", ADVISES),
        ("take ### every day", ADVISES),
        ("### must not be taken", FORBIDS),
        ("avoid ###", FORBIDS),
        ("### is harmful", FORBIDS),
        ("nobody should take ###", FORBIDS),
        ("keep away from ###", FORBIDS),
        ("### raises the risk of bleeding", WARNS),
        ("### can cause seizures", WARNS),
        ("### was used by half of them", WARNS),
        ("there is no evidence that ### is safe", NEUTRAL),
        ("### can be used only with supervision", WARNS),
        ("### is a tablet", NEUTRAL),
    ],
)
def test_a_clause_advises_forbids_warns_or_does_neither(clause, expected):
    assert stance(clause) == expected


def test_advice_that_depends_on_checks_is_no_plain_advice():
    assert stance("### can be used", conditions="if the INR is checked closely") == WARNS


@pytest.mark.parametrize(
    ("term", "text", "found"),
    [
        ("St John's wort", "try St. John’s wort", []),
        ("sleeping pill", "two sleeping-pills", ["sleeping-pills"]),
        ("sleeping pill", "sleeping. Pills", []),
        ("button battery", "Button battery", ["Button battery"]),
        ("35% or less", "of 35% or less", ["35% or less"]),
        ("patch", "patches", ["patches"]),
        ("fever", "feverish", []),
    ],
)
def test_phrases_are_found_with_any_blank_or_hyphen_and_in_the_plural(term, text, found):
    places = TermIndex([term]).places(text, ()).get(term, [])
    assert [text[slice(*place)] for place in places] == found
