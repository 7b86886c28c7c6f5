import importlib.machinery
import sys
import types

import pytest

from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.checking.rules import apply_rules, linked_rules
from pytest_medfaith.entities import scispacy as room
from pytest_medfaith.entities.statements import defined_in, first_alike
from pytest_medfaith.errors import DataError, MissingExtra


@pytest.fixture(autouse=True)
def _fresh_pipelines():
    yield
    for kept in (room._pipeline, room._mentions, linked_rules):
        kept.cache_clear()


class Pipeline:
    """A stand-in for spaCy's pipeline with scispaCy's pipes.

    It finds `words` and links each to a concept with a score and semantic types.
    """

    def __init__(self, words, names=None):
        self.words = words
        self.names = names or {}  # concept -> its name in the knowledge base
        self.pipes = {}

    def add_pipe(self, name, config=None):
        self.pipes[name] = config

    def get_pipe(self, name):
        assert name in self.pipes
        entries = {
            concept: types.SimpleNamespace(
                types=kinds, canonical_name=self.names.get(concept, ""), aliases=[]
            )
            for concept, _, kinds in self.words.values()
        }
        return types.SimpleNamespace(kb=types.SimpleNamespace(cui_to_entity=entries))

    def __call__(self, text):
        ents = []
        for word, (concept, score, _) in self.words.items():
            start = text.find(word)
            if start >= 0:
                extension = types.SimpleNamespace(kb_ents=[(concept, score)])
                ents.append(types.SimpleNamespace(start_char=start, end_char=start + len(word), _=extension))
        return types.SimpleNamespace(ents=ents)


def install(monkeypatch, load):
    spacy = types.ModuleType("spacy")
    spacy.load = load
    parent = types.ModuleType("scispacy")
    parent.__spec__ = importlib.machinery.ModuleSpec("scispacy", None)
    for name, module in {
        "spacy": spacy,
        "scispacy": parent,
        "scispacy.abbreviation": types.ModuleType("scispacy.abbreviation"),
        "scispacy.linking": types.ModuleType("scispacy.linking"),
    }.items():
        monkeypatch.setitem(sys.modules, name, module)


def test_scispacy_adds_what_the_table_does_not_know(monkeypatch):
    words = {
        "vericimab": ("C001", 0.97, ["T121"]),
        "metformin": ("C002", 0.99, ["T121"]),
        "gloomosis": ("C003", 0.91, ["T047"]),
        "perhaps": ("C004", 0.30, ["T047"]),
        "idea": ("C005", 0.99, ["T078"]),
    }
    pipeline = Pipeline(words)
    install(monkeypatch, lambda _name: pipeline)
    text = "vericimab or metformin for gloomosis, perhaps an idea"
    found = [(text[m.start : m.end], m.concept, m.kind) for m in room.link_with_scispacy(text)]
    assert found == [
        ("vericimab", "C001", "drug"),
        ("metformin", "metformin", "drug"),
        ("gloomosis", "C003", "disease"),
    ]
    assert pipeline.pipes == {
        "abbreviation_detector": None,
        "scispacy_linker": {"resolve_abbreviations": True, "linker_name": "umls"},
    }


def test_rules_compare_the_names_that_a_configured_linker_finds(monkeypatch):
    words = {"vericimab": ("C001", 0.97, ["T121"]), "gloomizumab": ("C006", 0.95, ["T121"])}
    install(monkeypatch, lambda _name: Pipeline(words))
    claim, evidence = (
        "Vericimab lowers the fever within hours.".lower(),
        "gloomizumab lowers the fever within hours.",
    )
    assert apply_rules(claim, evidence) == []
    (finding,) = apply_rules(claim, evidence, rules=linked_rules("scispacy"))
    assert (finding.rule, finding.message) == (
        "substitution",
        "claim says vericimab, evidence says gloomizumab",
    )
    assert load_checker(linker="scispacy:en_core_sci_md:mesh").linker == "scispacy:en_core_sci_md:mesh"


def test_only_what_the_knowledge_base_lists_as_a_name_says_the_same(monkeypatch):
    """Words that only look like a name, and letters with several meanings, are linked and are no synonyms."""
    words = {name: ("C007", 0.95, ["T121"]) for name in ("brandimab", "vericimab", "vericimub", "VCM")}
    pipeline = Pipeline(words)
    entry = types.SimpleNamespace(types=["T121"], canonical_name="Vericimab", aliases=["brandimab", "VCM"])
    kb = types.SimpleNamespace(kb=types.SimpleNamespace(cui_to_entity={"C007": entry}))
    monkeypatch.setattr(pipeline, "get_pipe", lambda _name: kb)
    install(monkeypatch, lambda _name: pipeline)
    linker = room.load_linker("scispacy:en_core_sci_sm:mesh")

    def alike(*texts):
        return first_alike(texts, linker=linker, defined=defined_in(texts))

    assert alike("brandimab lowers fever", "vericimab lowers fever") == (0, 0)
    assert alike("vericimub lowers fever", "vericimab lowers fever") == ()
    assert alike("VCM lowers fever", "vericimab lowers fever") == ()
    assert alike("vericimab (VCM) lowers fever", "VCM lowers fever") == (0, 0)
    assert alike("very clear mab (VCM) lowers fever", "VCM lowers fever") == (0, 0)
    assert alike("prednisone lowers fever", "prednisolone lowers fever") == ()


def test_without_scispacy_the_extra_is_named_before_the_first_claim(monkeypatch):
    monkeypatch.setattr(room, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'pytest-medfaith\[bio\]'"):
        load_checker(linker="scispacy")


@pytest.mark.parametrize("name", ["spacy", "scispacy:", "scispacy:a:b:c", ""])
def test_an_unknown_linker_is_named(name):
    with pytest.raises(
        DataError,
        match=f"the linker '{name}' is unknown; expected default, none, scispacy, or such as "
        f"scispacy:en_core_sci_md",
    ):
        load_checker(linker=name)


def test_without_the_model_the_way_to_it_is_named(monkeypatch):
    def load(_name):
        raise OSError("[E050] Can't find model")

    install(monkeypatch, load)
    with pytest.raises(
        DataError,
        match="scispaCy's model 'en_core_sci_xl' is not installed; expected a model such as 'en_core_sci_sm'",
    ):
        room.link_with_scispacy("metformin", model="en_core_sci_xl")
