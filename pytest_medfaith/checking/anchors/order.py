"""What belongs to what: which drug stands at which place in line, which dose in which drug's row, which way an arrow points."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, linked, shared_with
from pytest_medfaith.english.opposites import directions
from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.english.words import read_tokens
from pytest_medfaith.entities.linker import Mention
from pytest_medfaith.quantities.quantity import Quantity, allowed_error
from pytest_medfaith.quantities.reader import read_quantities

_RANK = re.compile(
    r"\b(?P<first>first[-\s](?:line|choice|option|drug|agent)|(?:is|are|comes?|tried|used|given|considered|"
    r"offered)\s+first\b(?!-|\s+(?:and|dose))|(?:drug|treatment)s? of (?:first )?choice|"
    r"preferred (?:drug|agent|treatment|choice|option)|initial (?:drug|agent|choice))"
    r"|\b(?P<second>second[-\s](?:line|choice|option)|(?:is|are|comes?|tried|used|given|"
    r"considered)\s+(?:second|next)\b)"
    r"|\b(?P<third>third[-\s](?:line|choice|option)|(?:is|are|comes?|tried|used|given|considered)\s+third\b)"
    r"|\b(?P<last>last[-\s](?:line|choice|option|resort)|(?:is|are|comes?|tried|used|given|"
    r"considered)\s+last\b)",
    re.IGNORECASE,
)
_PLACES = {"first": 1, "second": 2, "third": 3, "last": 9}
_PARTING = re.compile(r"[;,:]|\b(?:and|then|with|while|whereas|but|followed by)\b", re.IGNORECASE)
# What is said of the drug that failed belongs to no place in line: "nifedipine if labetalol is not suitable".
_FALLBACK = re.compile(
    r"\b(?:if|when|where|after|unless|instead of|rather than|over|to)\s+[^,;.]*", re.IGNORECASE
)
_DENIED = re.compile(r"\b(?:not|no longer|never|n['’]t|rather than|instead of|neither)\b", re.IGNORECASE)
_DOSES = frozenset({"mass", "volume", "unit", "amount", "mass/mass", "frequency", "unit/mass"})
_OF = re.compile(
    r"\s+(?:[\w-]+\s+){0,1}(?:of|for|at|in|with)\s+(?:the\s+|children\s+|adults\s+|people\s+|aged?\s+|"
    r"those\s+)*$",
    re.IGNORECASE,
)
_RESPECTIVELY = re.compile(r"\brespectively\b|\beach\b|\bboth\b|\beither\b", re.IGNORECASE)
_ARROW = re.compile(r"(?P<up>[↑⇑⬆▲])|(?P<down>[↓⇓⬇▼])")
_ROW_ENDS = re.compile(r"[;,\n|]")
_TO = re.compile(
    r"(?P<left>[\w.,%/-]+)\s*(?:→|⇒|->|➔|⟶)\s*(?P<right>[\w.,%/-]+)|"
    r"\bfrom\s+(?P<from>[\w.%/-]+)(?:\s+[\w/%]+){0,2}?\s+to\s+(?P<to>[\w.%/-]+)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Rank:
    """A drug, its place in line (1, 2, 3, 9 for last), and the span of the words that say it."""

    drug: Mention
    place: int
    start: int
    end: int


@lru_cache(maxsize=8_192)
def read_ranks(text: str) -> tuple[Rank, ...]:
    """Returns which drugs `text` puts at which place in line."""
    drugs = [mention for mention in linked(text) if mention.kind == "drug"]
    return (
        tuple(rank for start, end in sentence_spans(text) for rank in _ranks_of(text, start, end, drugs))
        if drugs
        else ()
    )


def _ranks_of(text: str, start: int, end: int, drugs: Sequence[Mention]) -> Iterator[Rank]:
    found = list(_RANK.finditer(text, start, end))
    if not found:
        return
    set_aside = [match.span() for match in _FALLBACK.finditer(text, start, end)]
    inside = [
        drug
        for drug in drugs
        if start <= drug.start < end and not any(first <= drug.start < last for first, last in set_aside)
    ]
    bounds = [start, *(_boundary(text, one.end(), two.start(), inside) for one, two in pairwise(found)), end]
    for match, (first, last) in zip(found, pairwise(bounds), strict=True):
        if _DENIED.search(text, max(first, match.start() - 24), match.start()):
            continue
        place = _PLACES[str(match.lastgroup)]
        yield from (
            Rank(drug, place, match.start(), match.end()) for drug in inside if first <= drug.start < last
        )


def _boundary(text: str, first: int, last: int, drugs: Sequence[Mention]) -> int:
    """Returns where the words of one place in line end and those of the next begin, between `first` and `last`."""
    parts = [match.start() for match in _PARTING.finditer(text, first, last)]
    with_drug = [place for place in parts if any(place <= drug.start < last for drug in drugs)]
    return with_drug[-1] if with_drug else parts[-1] if parts else last


def missing_ranks(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the places in line that the evidence gives to the drug otherwise, or to another drug."""
    stated = read_ranks(claim)
    known = (
        [rank for text in (evidence.nearest, *evidence.texts) for rank in read_ranks(text)] if stated else []
    )
    for rank in stated:
        own = [other.place for other in known if rank.drug.is_related(other.drug)]
        others = [
            other for other in known if other.place == rank.place and not rank.drug.is_related(other.drug)
        ]
        named = any(rank.drug.is_related(mention) for mention in evidence.mentions)
        if rank.place in own or not named or not (own or others):
            continue
        if not own and any(_says_of_no_drug(text, rank.place) for text in evidence.texts):
            continue  # "these agents are a first-line option"
        words = claim[rank.drug.start : rank.drug.end]
        place = {number: word for word, number in _PLACES.items()}
        said = f"{words} is {place[own[0]]}" if own else f"another drug is {place[rank.place]}"
        yield Missing("order", rank.start, rank.end, instead=said)


def _says_of_no_drug(text: str, place: int) -> bool:
    """Returns whether a sentence of `text` gives the place in line to something that it does not name."""
    attached = {rank.start for rank in read_ranks(text)}
    return any(
        match.start() not in attached and _PLACES[str(match.lastgroup)] == place
        for match in _RANK.finditer(text)
    )


@dataclass(frozen=True)
class Row:
    """A dose and the drug or age that it is given for."""

    key: Mention | Quantity
    dose: Quantity
    sentence: str


@lru_cache(maxsize=8_192)
def read_rows(text: str) -> tuple[Row, ...]:
    """Returns the doses of `text`, each with the drug or age next to it: the one it is of or for, else the last before it."""
    found: list[Row] = []
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        if _RESPECTIVELY.search(sentence):
            continue
        quantities = read_quantities(sentence)
        ages = [
            quantity
            for quantity in quantities
            if quantity.dimension == "time" and (quantity.low < quantity.high or quantity.role == "age")
        ]
        drugs = [mention for mention in linked(sentence) if mention.kind == "drug"]
        doses = [quantity for quantity in quantities if quantity.dimension in _DOSES]
        for keys in (drugs, ages):
            found += [
                Row(key, dose, sentence)
                for dose in doses
                if (key := _key_of(dose, keys, sentence)) is not None
            ]
    return tuple(found)


def _key_of(dose: Quantity, keys: Sequence[Mention | Quantity], sentence: str) -> Mention | Quantity | None:
    behind = next((key for key in keys if key.start >= dose.end), None)
    if behind is not None and _OF.fullmatch(sentence, dose.end, behind.start):
        return behind
    ahead = [key for key in keys if key.end <= dose.start]
    return ahead[-1] if ahead else None


def missing_rows(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the doses that the evidence states, but in another row: of another drug, or at another age."""
    stated = read_rows(claim)
    known = [row for text in (evidence.nearest, *evidence.texts) for row in read_rows(text)] if stated else []
    for row in stated:
        same = [other for other in known if _same_key(row.key, other.key)]
        same = [
            other
            for other in same
            if isinstance(row.key, Mention)
            and isinstance(other.key, Mention)
            and row.key.concept == other.key.concept
        ] or same
        if not same or any(_meets(row.dose, other.dose) for other in same):
            continue
        taken = [other for other in known if other not in same and _meets(row.dose, other.dose)]
        beside = [
            other
            for other in same
            if other.dose.dimension != "frequency" or row.dose.dimension == "frequency"
        ]
        beside = [other for other in beside if any(other.sentence == one.sentence for one in taken)]
        if taken and beside:
            words = beside[0].sentence[beside[0].dose.start : beside[0].dose.end]
            start, end = claim.find(row.sentence), 0
            yield Missing("row", start + row.dose.start, start + row.dose.end + end, instead=words)


def _same_key(mine: Mention | Quantity, theirs: Mention | Quantity) -> bool:
    if isinstance(mine, Mention):
        return isinstance(theirs, Mention) and mine.is_related(theirs)
    return isinstance(theirs, Quantity) and _meets(mine, theirs)


def _meets(mine: Quantity, theirs: Quantity) -> bool:
    """Returns whether both state the same, at a time or a day."""
    pairs = [(one, two) for one in (mine, mine.daily) if one for two in (theirs, theirs.daily) if two]
    return mine.dimension == theirs.dimension and any(
        abs(one.low - two.low)
        <= (allowed := max(allowed_error(one), allowed_error(two), 1e-9 * abs(one.high)))
        and abs(one.high - two.high) <= allowed
        for one, two in pairs
    )


@lru_cache(maxsize=8_192)
def read_arrows(text: str) -> tuple[tuple[int, str, int, int], ...]:
    """Returns the arrows that say "more" (1) or "less" (-1), each with the key of the word it stands before, and its span."""
    tokens = [token for token in read_tokens(text) if token.content]
    found = []
    for match in _ARROW.finditer(text):
        ends = next((end.start() for end in _ROW_ENDS.finditer(text, match.end())), len(text))
        starts = max((end.end() for end in _ROW_ENDS.finditer(text, 0, match.start())), default=0)
        following = [token.key for token in tokens if match.end() <= token.start < ends]
        ahead = [token.key for token in tokens if starts <= token.start < match.start()]
        behind = (following or ahead[-1:] or [""])[0]
        found.append((1 if match["up"] else -1, behind, match.start(), match.end()))
    return tuple(found)


def missing_arrows(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields arrows that the evidence turns round: "↑ potassium" of "↓ potassium" or of "lowers potassium", "5 → 10" of "from 10 to 5"."""
    for sign, key, start, end in read_arrows(claim):
        said = _signs_near(key, evidence.nearest)
        if said and sign not in said:
            yield Missing("arrow", start, end, instead="less" if sign > 0 else "more")
    for _sign, key, start, end in read_arrows(evidence.nearest) if not _ARROW.search(claim) else ():
        said = _signs_near(key, claim)
        if said == {-_sign} and shared_with(claim, 0, 0, evidence.nearest) > 0:
            word = next(
                (token for token in read_tokens(claim) if directions(token.lower).get("amount") == -_sign),
                None,
            )
            if word:
                yield Missing("arrow", word.start, word.end, instead=evidence.nearest[start:end])
    yield from _turned_steps(claim, evidence)


def _signs_near(key: str, text: str) -> set[int]:
    """Returns the directions that `text` gives to the word of `key`: of arrows before it, and of words of amount in its clause."""
    signs = {sign for sign, other, *_ in read_arrows(text) if other == key}
    if signs:
        return signs
    tokens = read_tokens(text)
    places = [index for index, token in enumerate(tokens) if token.key == key]
    for place in places:
        near = [
            directions(token.lower).get("amount") or directions(token.lower).get("level")
            for token in tokens[max(0, place - 5) : place + 5]
        ]
        signs |= {sign for sign in near if sign}
    return signs if len(signs) == 1 else set()


def _turned_steps(claim: str, evidence: Evidence) -> Iterator[Missing]:
    known = {_step(match) for match in _TO.finditer(evidence.nearest)}
    for match in _TO.finditer(claim):
        left, right = _step(match)
        if (right, left) in known and (left, right) not in known:
            yield Missing("arrow", match.start(), match.end(), instead=f"{right} to {left}")


def _step(match: re.Match[str]) -> tuple[str, str]:
    return (match["left"] or match["from"]).lower().strip(".,"), (
        match["right"] or match["to"]
    ).lower().strip(".,")
