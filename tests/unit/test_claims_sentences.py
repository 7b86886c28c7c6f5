import pytest

from pytest_medfaith.claims.layout import read_layout
from pytest_medfaith.english import sentences as module
from pytest_medfaith.english.sentences import answer_sentences


def cut(text):
    return [text[start:end] for start, end in answer_sentences(text)]


SENTENCES = {
    "plain": ("Iron helps. Tea does not.", ["Iron helps.", "Tea does not."]),
    "titles": (
        "Dr. Smith and Prof. Jones agreed. It works.",
        ["Dr. Smith and Prof. Jones agreed.", "It works."],
    ),
    "latin": (
        "Take an NSAID, e.g. Naproxen, i.e. a tablet. Rest.",
        ["Take an NSAID, e.g. Naproxen, i.e. a tablet.", "Rest."],
    ),
    "units": ("Give 5 mg. daily. Stop after a week.", ["Give 5 mg. daily.", "Stop after a week."]),
    "routes": (
        "Give it i.v. or i.m. every day. Then stop.",
        ["Give it i.v. or i.m. every day.", "Then stop."],
    ),
    "decimals": ("The HR was 0.85. The CI was 0.7 to 1.0.", ["The HR was 0.85.", "The CI was 0.7 to 1.0."]),
    "genus": ("H. pylori is common. E. coli is too.", ["H. pylori is common.", "E. coli is too."]),
    "vitamin": ("Anemia needs vitamin B. It helps.", ["Anemia needs vitamin B.", "It helps."]),
    "figure": ("See Fig. 2 for this. It falls.", ["See Fig. 2 for this.", "It falls."]),
    "versus": ("Iron vs. placebo was tested. Iron won.", ["Iron vs. placebo was tested.", "Iron won."]),
    "no space": (
        "The rate is per minute.Heart rate falls.",
        ["The rate is per minute.", "Heart rate falls."],
    ),
    "quote": ('She said "It works." Then she left.', ['She said "It works."', "Then she left."]),
    "brackets": ("Iron helps (it is cheap. Really). Good.", ["Iron helps (it is cheap. Really).", "Good."]),
    "question and exclamation": ("Why? Because! Yes.", ["Why?", "Because!", "Yes."]),
    "stray stop": ("Iron helps.. Tea does not.", ["Iron helps..", "Tea does not."]),
    "url": (
        "See https://example.org/a.Html for more. Done.",
        ["See https://example.org/a.Html for more.", "Done."],
    ),
    "blank": (" \n ", []),
    "no stop": ("iron", ["iron"]),
}


@pytest.mark.parametrize(("text", "expected"), SENTENCES.values(), ids=SENTENCES)
def test_sentences_end_where_they_end(text, expected):
    assert cut(text) == expected


def test_only_the_asked_part_is_read():
    assert answer_sentences("One. Two e.g. three. Four.", 5, 20) == [(5, 20)]


def test_where_pysbd_loses_text_the_other_splitter_answers(monkeypatch):
    class Lossy:
        def segment(self, text):
            return [text[:3]]

    monkeypatch.setattr(module, "_segmenter", Lossy)
    assert cut("See Fig. 2 e.g. here. Then rest.") == ["See Fig. 2 e.g. here.", "Then rest."]


def kinds(text):
    layout = read_layout(text)
    return [(block.kind, layout.text[block.start : block.end].strip()) for block in layout.blocks]


LAYOUTS = {
    "markdown": (
        "# Iron\nIt **helps**.\n\n- cheap\n  1) safe\n> quoted",
        [
            ("heading", "Iron"),
            ("text", "It   helps  ."),
            ("item", "cheap"),
            ("item", "safe"),
            ("text", "quoted"),
        ],
    ),
    "windows line ends": ("Iron\r\n- cheap\r\n", [("text", "Iron"), ("item", "cheap")]),
    "old mac line ends": ("Iron\r- cheap", [("text", "Iron"), ("item", "cheap")]),
    "a bold line": ("**Iron**\nIt helps.", [("heading", "Iron"), ("text", "It helps.")]),
    "html": ("<p>Iron<br>Tea</p>", [("text", "Iron"), ("text", "Tea")]),
    "a comparison is no tag": ("a < b and c > d", [("text", "a < b and c > d")]),
    "a dose is no list mark": ("1.5 mg is enough", [("text", "1.5 mg is enough")]),
    "a wrapped line": ("Iron helps\nthe blood.", [("text", "Iron helps\nthe blood.")]),
    "a line of its own": ("Iron\nTea", [("text", "Iron"), ("text", "Tea")]),
    "a blank line parts": ("Iron helps\n\nthe blood.", [("text", "Iron helps"), ("text", "the blood.")]),
    "rules and fences": ("---\n```\nIron.\n```\n***", [("text", "Iron.")]),
    "references": (
        "Iron.\nReferences\n1. Smith\n# More\nTea.",
        [("text", "Iron."), ("heading", "More"), ("text", "Tea.")],
    ),
    "counted in the line": ("Do: 1. Eat. 2. Sleep.", [("text", "Do:"), ("item", "Eat."), ("item", "Sleep.")]),
    "a stage is not counted": ("Stage 1. Rest. Stage 3. Run.", [("text", "Stage 1. Rest. Stage 3. Run.")]),
    "a row": ("| a | b |\n|---|---|\n| 1 | 2 |", [("row", "| a | b |"), ("row", "| 1 | 2 |")]),
}


@pytest.mark.parametrize(("text", "expected"), LAYOUTS.values(), ids=LAYOUTS)
def test_blocks_are_read(text, expected):
    assert kinds(text) == expected


def test_marks_are_blanked_in_place():
    text = "A [link](http://x.y) and `code` and <b>bold</b> and 2*3*4."
    layout = read_layout(text)
    assert len(layout.text) == len(text)
    assert layout.text.split() == ["A", "link", "and", "code", "and", "bold", "and", "2*3*4."]
    assert all(ours in (" ", theirs) for ours, theirs in zip(layout.text, text, strict=True))


def test_zones_part_the_answer_between_sentences():
    sentences = read_layout("One. Two.\n- Three").sentences
    assert [(sentence.start, sentence.zone) for sentence in sentences] == [(0, 0), (5, 5), (12, 10)]
