"""Reads the amounts in a sentence: tablets counted, the drug that they belong to, whether to take them.

Example: "16 tablets of paracetamol 500 mg" is 8 g of paracetamol.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from pytest_medfaith.quantities.numerals import LOOK_BACK
from pytest_medfaith.quantities.quantity import Quantity
from pytest_medfaith.safety.terms import Span, blotted

if TYPE_CHECKING:
    from pytest_medfaith.safety.reading import Passage

_STRENGTHS = ("mass", "unit", "volume")
_UNITS = (
    r"(?:tablets?|capsules?|caplets?|pills?|sachets?|doses?|puffs?|ampoules?|vials?|suppositor(?:y|ies)"
    r"|patch(?:es)?|injections?|spoonfuls?|gummies|lozenges?)"
)
_COUNT_BEFORE = re.compile(
    rf"\s*(?:{_UNITS}\s+)?(?:of\s+|at\s+|with\s+|each\s+)?(?:[\w-]+\s+){{0,2}}$",
    re.IGNORECASE,
)
_UNIT_WORD = re.compile(rf"\b{_UNITS}\b", re.IGNORECASE)
_UNITS_AFTER = re.compile(rf"\s*(?:[\w-]+\s+){{0,2}}{_UNITS}\b", re.IGNORECASE)
_HARM = re.compile(
    r"\b(?:overdos\w*|toxic\w*|poison\w*|damag\w+|dangerous|harm(?:s|ful|ed)?|fatal|lethal|deadly|deaths?"
    r"|die[ds]?|kill\w*|unsafe|not safe|too much|too high|excessive|cause[sd]?(?! by)|led to|leads? to"
    r"|result(?:s"
    r"|ed)? in|risks?|"
    r"accident\w*|abuse[ds]?|misuse[ds]?|mistake\w*|error|surviv\w+|ingest\w*|more likely"
    r"|hypotension|suicid\w*|self-harm|double the maximum|far above|exceeds the)\b",
    re.IGNORECASE,
)
_AVERTED = re.compile(
    r"(?:\b(?:no|without(?: any)?|little|low|not|never|avoid\w*|prevent\w*|reduc\w+|lower\w*|against)"
    r"|n['’]t)\s+(?:\w+\s+){0,2}(?:risks?|harm\w*|damag\w+|deaths?|danger\w*|toxic\w*|fatal|side effects?"
    r"|problems?|unsafe)\b",
    re.IGNORECASE,
)
_REPORT = re.compile(
    r"\b(?:took|had taken|have taken|has taken|(?:was|were|been) (?:given|treated|randomi[sz]ed|compared"
    r"|assigned)|(?<!are )(?<!is )(?<!be )swallowed|received|compared|trials?|stud(?:y|ies)|case report"
    r"|one report"
    r"|wrongly|mistakenly|older guidelines|used to be)\b",
    re.IGNORECASE,
)
_CONTAINER = re.compile(
    r"\b(?:bottles?|box(?:es)?|packs?|packets?|packages?|vials?|ampoules?|bags?|tubes?|blisters?"
    r"|suspensions?|syrups?|containers?|strips?|cartons?|inhalers?|cartridges?|pens?|syringes?"
    r"|auto-?injectors?|tablets?|capsules?|infusion|"
    r"preparations?|products?|brands?|solutions?|jars?|sachets?|tins?)\b[^.;]{0,60}\b(?:holds?|contains?"
    r"|containing|has|have|comes?|includes?|sold|supplied|delivers?)\b",
    re.IGNORECASE,
)
_INTAKE = re.compile(
    r"\b(?:take|takes|taken|drink|use|give|given|swallow|inject\w*|dose (?:is|of)|a day|per day|daily"
    r"|every)\b",
    re.IGNORECASE,
)
# These words turn a report into advice: "a study shows that adults can take ...".
_ADVISED = re.compile(
    r"\b(?:can|may|should|must|safe|safely|fine|recommended|recommends?|advised?|advises|suitable)\b",
    re.IGNORECASE,
)
# Words between an amount and the drug after it: "10 g in two doses of oral paracetamol".
_LEADING_TO = re.compile(
    r"(?:[\s,-]|\b(?:of|the|an?|oral|daily|doses?|tablets?|capsules?|every|each|day|hours?|times|per|\d+|to"
    r"|or|and|up|in|as|twice|once|one|two|three|four|extended|release|weekly|your|his|her|their|extra|more"
    r"|for|fever|pain)\b)*",
    re.IGNORECASE,
)
_OF = re.compile(r"\s+(?:[\w-]+\s+)?of\s+(?:(?:the|your|oral)\s+)?")
_PARTS = re.compile(
    r"[,;:]\s+|\s+(?:but|and|so|because|which|while|whereas|although|instead of|rather than)\s+",
    re.IGNORECASE,
)


_NAME_WITHIN = 24  # characters behind "of": "4 g of the extended-release paracetamol"


@dataclass(frozen=True)
class Sentence:
    """A sentence of a claim and its amounts, each read once and kept.

    Attributes:
        start: its first character in the claim's text.
        end: the character after it.
        claim: the claim.
    """

    start: int
    end: int
    claim: Passage

    @cached_property
    def text(self) -> str:
        """The text of the sentence."""
        return self.claim.text[self.start : self.end]

    @cached_property
    def quantities(self) -> Sequence[Quantity]:
        """The quantities of the sentence, as written."""
        return [quantity for quantity in self.claim.quantities if self.start <= quantity.start < self.end]

    @cached_property
    def amounts(self) -> Sequence[Quantity]:
        """The quantities of the sentence; the strength of a tablet is multiplied by the number."""
        # "16 paracetamol 500 mg tablets" counts tablets: the drug's name may come between.
        drugs = [(each.start, each.end) for each in self.claim.mentions if each.kind == "drug"]
        return list(_amounts(self.quantities, blotted(self.claim.text, drugs, sign=" ")))

    def before(self, quantity: Quantity) -> str:
        """Returns up to 48 characters of the sentence before a quantity, which may say "up to"."""
        return self.claim.text[max(self.start, quantity.start - LOOK_BACK) : quantity.start]

    def is_to_take(self, quantity: Quantity) -> bool:
        """Returns whether the amount is to be taken.

        False for an amount that harms, that a package contains, or that somebody took.
        """
        return not (_is_no_regimen(self._said_of(quantity)) or _is_of_package(self._part(quantity)))

    def _said_of(self, quantity: Quantity) -> str:
        """Returns the main clauses of the statement with the amount; for a condition, the sentence."""
        place = (quantity.start, quantity.end)
        for statement in self.claim.statements:
            if any(main.holds(place) for main in statement.mains):
                return " ".join(self.claim.text[main.start : main.end] for main in statement.mains)
        return self.text

    def _part(self, quantity: Quantity) -> str:
        """Returns the part of the sentence around the amount, from comma or conjunction to the next."""
        cuts = self._cuts
        following = bisect_left(cuts, quantity.end)
        return self.claim.text[
            cuts[bisect_right(cuts, quantity.start) - 1] : cuts[following]
            if following < len(cuts)
            else self.end
        ]

    @cached_property
    def _cuts(self) -> Sequence[int]:
        """The offsets in the claim at which parts of the sentence begin, and its end."""
        return [self.start, *(self.start + found.end() for found in _PARTS.finditer(self.text)), self.end]


@lru_cache(maxsize=256)
def _is_no_regimen(words: str) -> bool:
    """Returns whether the words speak of harm, or report what somebody took, without advising it."""
    if _HARM.search(_AVERTED.sub(" ", words)):
        return True
    return bool(_REPORT.search(words)) and not _ADVISED.search(words)


@lru_cache(maxsize=256)
def _is_of_package(part: str) -> bool:
    """Returns whether the words speak of what a package contains: "a bottle holds 100 mL"."""
    return bool(_CONTAINER.search(part)) and not _INTAKE.search(part)


@dataclass(frozen=True)
class Drugs:
    """The drugs that a sentence may give amounts of.

    Attributes:
        named: the places of the rule's drug.
        others: the places of other drugs.
    """

    named: Sequence[Span]
    others: Sequence[Span]


def is_amount_of_named(quantity: Quantity, drugs: Drugs, text: str) -> bool:
    """Returns whether an amount in `text` belongs to the rule's drug."""
    return _owner(quantity, drugs, text) in drugs.named


def _owner(quantity: Quantity, of: Drugs, text: str) -> Span | None:
    """Returns the place of the drug that an amount belongs to, or None.

    That is the drug after "of" ("4 g of it"), else right after the amount, else inside it, else before it,
    else behind it.
    """
    drugs = [*of.named, *of.others]
    if quantity.dimension != "frequency" and (link := _OF.match(text, quantity.end)):
        start = link.end()
        for drug in drugs:
            if drug[0] == start:
                return drug
        if not _UNIT_WORD.match(text[start:]):
            return next((drug for drug in of.named if start < drug[0] < start + _NAME_WITHIN), None)
    if following := next(
        (drug for drug in drugs if text[quantity.end : drug[0]].strip() == "" and drug[0] >= quantity.end),
        None,
    ):
        return following
    if within := [drug for drug in drugs if quantity.start <= drug[0] < quantity.end]:
        return within[0]  # "16 tablets of paracetamol 500 mg"
    before = [drug for drug in drugs if drug[1] <= quantity.start]
    after = [
        drug
        for drug in drugs
        if drug[0] >= quantity.end and _LEADING_TO.fullmatch(text[quantity.end : drug[0]])
    ]
    return max(before) if before else min(after, default=None)


def _amounts(quantities: Sequence[Quantity], text: str) -> Iterator[Quantity]:
    """Yields `quantities`, with the strength of tablets multiplied by their number."""
    strengths = [quantity for quantity in quantities if quantity.dimension in _STRENGTHS]
    for quantity in quantities:
        count = _count_of(quantity, quantities, text) if quantity.dimension in _STRENGTHS else None
        if count:
            yield _times(quantity, count)
        else:
            yield quantity
    for count in quantities:
        if (
            count.dimension == "count"
            and _UNIT_WORD.match(text[count.end :].lstrip())
            and len({quantity.high for quantity in strengths}) == 1
            and not any(_count_of(quantity, [count], text) for quantity in strengths)
        ):
            yield replace(
                _times(strengths[0], count),
                start=count.start,
                end=count.end,
                times=count.times,
                bound=count.bound,
            )


def _count_of(quantity: Quantity, quantities: Sequence[Quantity], text: str) -> Quantity | None:
    """Returns the number of tablets with this strength, 16 in "16 tablets of 500 mg"; or None."""
    for count in quantities:
        if count.dimension not in ("count", "plain") or count.end > quantity.start or count.role:
            continue
        between = text[count.end : quantity.start]
        if (
            len(between) <= LOOK_BACK
            and _COUNT_BEFORE.fullmatch(between)
            and (
                _UNIT_WORD.search(between) or (not between.strip() and _UNITS_AFTER.match(text, quantity.end))
            )
        ):
            return count
    return None


def _times(quantity: Quantity, count: Quantity) -> Quantity:
    """Returns `quantity` multiplied by `count`, with the span of both."""
    return replace(
        quantity,
        low=quantity.low * count.low,
        high=quantity.high * count.high,
        start=count.start,
        end=quantity.end,
    )
