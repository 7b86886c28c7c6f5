"""The linker extended by scispaCy: its detector of abbreviations, and its linker over UMLS or MeSH.

Only a project that asks for scispaCy gets it. If it were used wherever it is installed, verdicts would differ
between machines. Besides, scispaCy downloads its knowledge base when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.entities.linker import Mention, is_letters, link
from pytest_medfaith.errors import DataError, MissingExtra

NO_LINKER = "none"
# The least score of scispaCy's candidate. Its authors report high precision from 0.8 on. A wrong link is a
# false alarm here.
LEAST_SCORE = 0.85

# {semantic type of the UMLS (TUI): kind that the rules compare}.
_KINDS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("T116", "T121", "T123", "T125", "T127", "T129", "T195", "T200"), "drug")
    | dict.fromkeys(("T019", "T020", "T037", "T046", "T047", "T048", "T049", "T184", "T191"), "disease")
    | dict.fromkeys(("T028", "T192"), "gene")
    | dict.fromkeys(("T004", "T005", "T007"), "organism")
    | dict.fromkeys(("T098", "T100", "T101"), "population")
    | dict.fromkeys(("T023", "T029", "T030"), "site")
)


def load_linker(name: str) -> Callable[[str], list[Mention]]:
    """Returns the linker called `name`: text -> mentions.

    Args:
        name: "default" for the concept table, "none" to find nothing, "scispacy", "scispacy:MODEL" or
            "scispacy:MODEL:KNOWLEDGE_BASE".

    Raises:
        DataError: another name.
        MissingExtra: scispaCy is asked for and not installed.
    """
    kind, *parts = name.split(":")
    if name == defaults.LINKER:
        return link
    if name == NO_LINKER:
        return _nothing
    if kind != "scispacy" or len(parts) > 2 or not all(parts):
        raise DataError(
            f"the linker {name!r} is unknown; expected default, none, scispacy, or such as "
            f"scispacy:en_core_sci_md:mesh"
        )
    if find_spec("scispacy") is None:
        raise MissingExtra("linking entities with scispaCy", "bio")
    return partial(link_with_scispacy, **dict(zip(("model", "knowledge_base"), parts, strict=False)))


def _nothing(_text: str) -> list[Mention]:
    """Returns no mentions: the linker "none"."""
    return []


def link_with_scispacy(
    text: str, *, model: str = "en_core_sci_sm", knowledge_base: str = "umls"
) -> list[Mention]:
    """Returns the mentions of the concept table, and scispaCy's where the table has none, in order of place.

    The table comes first because it knows which concepts belong to which. scispaCy's knowledge bases do not
    tell that metformin is a biguanide.

    Args:
        text: a text.
        model: scispaCy's pipeline.
        knowledge_base: scispaCy's knowledge base, "umls" or "mesh".

    Raises:
        MissingExtra: scispaCy is not installed.
        DataError: its model is not installed.
    """
    known = link(text)
    added = [
        mention
        for mention in _mentions(text, model, knowledge_base)
        if not any(mention.start < other.end and other.start < mention.end for other in known)
    ]
    return sorted([*known, *added], key=lambda mention: mention.start)


@lru_cache(maxsize=defaults.TEXTS_KEPT)
def _mentions(text: str, model: str, knowledge_base: str) -> tuple[Mention, ...]:
    """Returns scispaCy's best concept for each entity, if its score is high enough and its kind is known."""
    pipeline = _pipeline(model, knowledge_base)
    entries = pipeline.get_pipe("scispacy_linker").kb.cui_to_entity
    found = []
    for entity in pipeline(text).ents:
        for concept, score in entity._.kb_ents[:1]:
            kind = next((_KINDS[tui] for tui in entries[concept].types if tui in _KINDS), None)
            if kind and score >= LEAST_SCORE:
                start, end = entity.start_char, entity.end_char
                exact = _is_name(text[start:end], entries[concept])
                found.append(Mention(concept, kind, start, end, exact=exact))
    return tuple(found)


def _is_name(written: str, entry: Any) -> bool:
    """Returns whether the knowledge base lists the words as a name of the concept.

    scispaCy also links words that only look like a name: prednisolone to prednisone. Letters such as RA have
    several meanings; where the text defines them, scispaCy links their long form.
    """
    names = (getattr(entry, "canonical_name", ""), *getattr(entry, "aliases", ()))
    return not is_letters(written) and written.casefold() in map(str.casefold, names)


@lru_cache(maxsize=2)
def _pipeline(model: str, knowledge_base: str) -> Any:
    """Returns scispaCy's pipeline with linker; the last two are kept.

    Raises:
        MissingExtra: scispaCy is not installed.
        DataError: the model is not installed.
    """
    try:
        import scispacy.abbreviation
        import scispacy.linking  # noqa: F401  both imports register their pipes
        import spacy
    except ImportError:
        raise MissingExtra("linking entities with scispaCy", "bio") from None
    try:
        pipeline = spacy.load(model)
    except OSError:
        raise DataError(
            f"scispaCy's model {model!r} is not installed; expected a model such as 'en_core_sci_sm'. "
            "Install it with pip from the release files that https://allenai.github.io/scispacy names"
        ) from None
    pipeline.add_pipe("abbreviation_detector")
    pipeline.add_pipe(
        "scispacy_linker", config={"resolve_abbreviations": True, "linker_name": knowledge_base}
    )
    return pipeline
