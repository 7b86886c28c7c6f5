"""A claim and its question, each read once for all rules: terms, quantities and statements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from pytest_medfaith.english.sentences import sentence_at
from pytest_medfaith.entities.linker import Mention, link
from pytest_medfaith.quantities.numerals import LOOK_BACK
from pytest_medfaith.quantities.quantity import Quantity
from pytest_medfaith.quantities.reader import read_quantities
from pytest_medfaith.safety.clauses import Statement, read_statements
from pytest_medfaith.safety.terms import Span, TermIndex

Broken = tuple[Span, str] | None  # where the claim breaks a rule, and a message that says how

_YEAR = 365.25  # days
KIDNEY_FUNCTION = re.compile(
    r"\b(?:e?GFR|(?:estimated )?glomerular filtration rate|creatinine clearance|CrCl|kidney function"
    r"|renal function)\b",
    re.IGNORECASE,
)
_CHILD_IS = re.compile(
    r"\b(?:daughter|son|child|baby|boy|girl|kid|toddler|grandson|granddaughter|nephew|niece|he"
    r"|she),?\s+(?:who\s+)?(?:is|has just turned|turned)\s+(?:only\s+|just\s+)?$",
    re.IGNORECASE,
)
# "instead of warfarin", "not dabigatran", "preferred to omeprazole": the statement is not about the drug
# after these words.
_PASSED_OVER = re.compile(
    r"(?:\b(?:instead of|rather than|other than|in place of|not(?! (?:only|just))|than|over|replac\w+"
    r"|unlike|except(?: for)?|(?:preferred|alternatives?|superior|compared) (?:to|with)|without|off|never"
    r"|versus|vs\.?|switch\w* from)|n['’]t)\s+"
    r"(?:(?:an?|the|any|other|oral|high-dose|low-dose|daily|of|with|taking|using)\s+){0,2}$",
    re.IGNORECASE,
)
_ABSENT_BEFORE = re.compile(
    r"(?:\b(?:no|not|without|never|except|exclud\w+|ruled out|outside(?: of)?|free of|absence of|neither"
    r"|nor|rather than|who (?:do|does) not have|(?:do|does)n['’]t have|do not have|does not have"
    r"|no history of|other than|unlike|as opposed to|in contrast to|against|risk of|prevents?"
    r"|avoid(?:s|ing)?|cause[sd]?)|n['’]t)"
    r"\s+(?:(?:an?|the|any|known|in|of|with|for|during|have|had|previous|history|active|or"
    r"|signs?)\s+){0,3}(?:[\w-]+(?:\s+[\w-]+)?(?:,|\s+or|\s+and)\s+){0,2}$",
    re.IGNORECASE,
)
# "methotrexate levels", "alcohol withdrawal": nobody takes the drug.
_NOT_TAKEN = re.compile(
    r"[\s-]+(?:blood\s+|serum\s+)?(?:levels?|concentrations?|toxicity|overdoses?|poisoning|allerg\w+"
    r"|resistan\w+|withdrawal|intolerance|dependence|use disorder|monitoring)\b"
    r"|\s+(?:has|have|is|was|are|were)\s+(?:been\s+)?(?:stopped|paused|discontinued|finished|withdrawn)\b",
    re.IGNORECASE,
)
_ABSENT_AFTER = re.compile(
    r"\s*(?:(?:is|are|was|has been|must be|should be|have been|was first)\s+)?(?:first\s+)?(?:ruled out"
    r"|excluded|absent|unlikely|impossible)\b|[\s-]+(?:tests?|prevention|planning|plans?|ends?|is planned"
    r"|later)\b",
    re.IGNORECASE,
)
_OTHER_TIME = re.compile(
    r"\b(?:before|after|until|till|prior to|outside(?: of)?|following|once|since|a later|previous|past"
    r"|weeks? before|months? before|to bring on|end of|ends?)\s+(?:(?:a|an|the|my|her|your|their|any"
    r"|becoming|getting"
    r"|planned|next|and|trying for)\s+){0,2}$",
    re.IGNORECASE,
)


class Passage:
    """A text with the places of the rulebook's terms, its quantities and its statements, read when needed.

    Attributes:
        text: the text.
        mentions: the drugs, diseases and other concepts that it names.
        found: {term of the rulebook: its places}.
    """

    def __init__(self, text: str, index: TermIndex) -> None:
        self.text = text
        self.mentions: Sequence[Mention] = link(text) if text else ()
        self.found: Mapping[str, list[Span]] = index.places(text, self.mentions) if text else {}

    @cached_property
    def quantities(self) -> Sequence[Quantity]:
        """The text's quantities, in order."""
        return read_quantities(self.text)

    @cached_property
    def statements(self) -> Sequence[Statement]:
        """The text's statements, without what it only asks."""
        return read_statements(self.text)

    @cached_property
    def ages(self) -> Sequence[Quantity]:
        """The ages of people, also in "my son is 7", in days."""
        return [
            quantity
            if quantity.role == "age"
            else replace(quantity, low=quantity.low * _YEAR, high=quantity.high * _YEAR)
            for quantity in self.quantities
            if quantity.role == "age"
            or (
                quantity.dimension == "plain"
                and _CHILD_IS.search(self.before((quantity.start, quantity.end)))
            )
        ]

    def sentence(self, position: int) -> str:
        """Returns the sentence with the character at `position`."""
        return sentence_at(self.text, position)

    def places(self, terms: Sequence[str]) -> list[Span]:
        """Returns the places of `terms` in the text, term by term; a term that is not there adds none."""
        return [place for term in terms for place in self.found.get(term, ())]

    def before(self, place: Span) -> str:
        """Returns the 48 characters before a place, which may have words such as "without"."""
        return self.text[max(0, place[0] - LOOK_BACK) : place[0]]

    def meant(self, terms: Sequence[str]) -> list[Span]:
        """Returns the places of `terms` that a statement may be about; not that in "instead of warfarin"."""
        return [
            place
            for place in self.places(terms)
            if not (_PASSED_OVER.search(self.before(place)) or _NOT_TAKEN.match(self.text, place[1]))
        ]

    def present(self, terms: Sequence[str], *, state: bool) -> list[Span]:
        """Returns the places of conditions that the patient has; not that in "without asthma".

        Args:
            terms: terms of the rulebook.
            state: True for a passing state: then "after the pregnancy" is left out as well.
        """
        return [place for place in self.places(terms) if not self._is_absent(place, state=state)]

    def _is_absent(self, place: Span, *, state: bool) -> bool:
        """Returns whether the words around a place say that the patient does not have the condition."""
        before = self.before(place)
        if _ABSENT_BEFORE.search(before) or _ABSENT_AFTER.match(self.text, place[1]):
            return True
        return state and bool(_OTHER_TIME.search(before))


@dataclass(frozen=True)
class Reading:
    """A claim and its question."""

    claim: Passage
    question: Passage

    def finds(self, term: str) -> bool:
        """Returns whether claim or question have `term`."""
        return term in self.claim.found or term in self.question.found

    @property
    def terms(self) -> Iterator[str]:
        """The terms of the rulebook in the claim, then those in the question."""
        yield from self.claim.found
        yield from self.question.found


@lru_cache(maxsize=4)
def read_question(question: str, index: TermIndex) -> Passage:
    """Returns the question as a passage; kept, since all claims of an answer share it."""
    return Passage(question, index)
