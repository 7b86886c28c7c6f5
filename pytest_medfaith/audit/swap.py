"""Plants another drug, or other people, in the place of those that a sentence names."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import lru_cache

from pytest_medfaith.audit.mutation import Mutation, replaced
from pytest_medfaith.entities.linker import Concept, Mention, link, load_concepts

DRUG, POPULATION = "drug_swap", "population"

# Names of people and those that may take their place, a plural for a plural.
_PEOPLE = (
    ("pregnant women", ("postmenopausal women", "men")),
    ("postmenopausal women", ("premenopausal women", "men")),
    ("premenopausal women", ("postmenopausal women", "men")),
    ("older adults", ("young children", "young adults")),
    ("older people", ("young children", "young adults")),
    ("elderly patients", ("young children", "young adults")),
    ("young adults", ("older adults", "infants")),
    ("adults", ("children", "infants")),
    ("children", ("adults", "older adults")),
    ("infants", ("adults", "adolescents")),
    ("babies", ("adults", "teenagers")),
    ("newborns", ("adults", "adolescents")),
    ("adolescents", ("older adults", "infants")),
    ("teenagers", ("older adults", "infants")),
    ("teens", ("older adults", "infants")),
    ("women", ("men",)),
    ("men", ("women",)),
    ("girls", ("boys",)),
    ("boys", ("girls",)),
    ("smokers", ("nonsmokers",)),
    ("nonsmokers", ("smokers",)),
    ("adult", ("child",)),
    ("child", ("adult",)),
    ("infant", ("adult",)),
    ("woman", ("man",)),
    ("man", ("woman",)),
    ("mice", ("humans",)),
    ("rats", ("humans",)),
)
_NAMED = re.compile(
    r"\b(?:"
    + "|".join(sorted((name for name, _ in _PEOPLE), key=len, reverse=True))
    + r")\b(?![-/'’])(?!(?: \w+)? (?:aged?|under|over|older|younger|born)\b| \d)",
    re.IGNORECASE,
)


def swap_population(sentence: str, evidence: str, rng: random.Random) -> Mutation | None:
    """Returns `sentence` with a group of people swapped, "adults" -> "children"; None where none can be.

    `rng` chooses among the groups of the sentence. A group that it names twice stays, and so does a part of a
    longer word ("school-age children"). The new group is not in `evidence`.
    """
    known = {mention.concept for mention in _named(evidence) if mention.kind == "population"}
    choices: list[tuple[re.Match[str], str]] = []
    for found in _NAMED.finditer(sentence):
        others = dict(_PEOPLE)[found[0].lower()]
        if (
            sentence[: found.start()].endswith(("-", "/", "-age ", "exposed "))
            or sentence.lower().count(found[0].lower()) > 1
        ):
            continue
        choices += [
            (found, other) for other in others if not known & {mention.concept for mention in link(other)}
        ]
    if not choices:
        return None
    found, new = rng.choice(choices)
    return replaced(sentence, found.start(), found.end(), new=new, kind=POPULATION)


def swap_drug(sentence: str, evidence: str, rng: random.Random) -> Mutation | None:
    """Returns `sentence` with a drug or drug class swapped for one that the evidence does not name.

    Both share their narrowest class, as two statins do. None where no name in the sentence allows it.
    """
    mentions = [mention for mention in link(sentence) if mention.kind == "drug"]
    known = [mention for mention in _named(evidence) if mention.kind == "drug"]
    single = [
        mention
        for mention in mentions
        if _is_whole(sentence, mention) and sum(mention.is_related(other) for other in mentions) == 1
    ]
    rng.shuffle(single)
    for mention in single:
        names = _others(mention, sentence[mention.start : mention.end], known)
        if names:
            return replaced(sentence, mention.start, mention.end, new=rng.choice(names), kind=DRUG)
    return None


@lru_cache(maxsize=4)
def _named(evidence: str) -> tuple[Mention, ...]:
    """Returns the drugs and the like that a document names; kept for its next sentences."""
    return tuple(link(evidence))


def _is_whole(sentence: str, mention: Mention) -> bool:
    """Returns whether the name is whole: not half of "budesonide-formoterol", not before "(Serevent)"."""
    around = sentence[max(0, mention.start - 1) : mention.start] + sentence[mention.end : mention.end + 2]
    return not re.search(r"[-/‐–(]", around) and not re.match(r"\s\w+ate\b", sentence[mention.end :])


def _others(mention: Mention, written: str, known: Sequence[Mention]) -> list[str]:
    """Returns names of drugs that share the narrowest class with `mention`; none where it has no class.

    They are singular or plural as `written` is.
    """
    table = load_concepts()
    named = table.by_id[mention.concept]
    taken = {mention.concept, *mention.wider}.union(*({other.concept, *other.wider} for other in known))
    free = [
        concept
        for concept in _drugs(concept_is_class=named.id in _classes())
        if concept.id not in taken
        and not any(other.concept in table.wider[concept.id] for other in (mention, *known))
    ]
    plural = written.lower().endswith("s") and named.id in _classes()
    for near in (set(named.parents), set(mention.wider)):
        names = [
            name
            for concept in free
            if near & table.wider[concept.id] and (name := _name(concept, plural=plural))
        ]
        if names:
            return names
    return []


@lru_cache(maxsize=1)
def _classes() -> frozenset[str]:
    """Returns the ids of concepts that are classes, such as "statins"."""
    rows = load_concepts().by_id.values()
    plural = {row.id for row in rows if any(name + "s" in row.names for name in row.names)}
    return frozenset(parent for row in rows for parent in row.parents) | plural


@lru_cache(maxsize=2)
def _drugs(*, concept_is_class: bool) -> tuple[Concept, ...]:
    rows = load_concepts().by_id.values()
    return tuple(row for row in rows if row.kind == "drug" and (row.id in _classes()) == concept_is_class)


def _name(concept: Concept, *, plural: bool) -> str | None:
    names = concept.names[:2] if concept.id in _classes() else concept.names[:1]
    return next(
        (name for name in names if name.endswith("s") == plural or concept.id not in _classes()), None
    )
