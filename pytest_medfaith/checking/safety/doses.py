"""Finds doses above a rule's limits: as stated, computed from tablets, over a day, or given too often."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from pytest_medfaith.checking.rules.rulebook import SafetyRule
from pytest_medfaith.checking.safety.advice import KIDNEY_FUNCTION, Broken, is_of_age
from pytest_medfaith.checking.safety.clauses import asserted_sentences
from pytest_medfaith.checking.safety.reading import Reading
from pytest_medfaith.checking.safety.stance import is_myth
from pytest_medfaith.checking.safety.terms import Span
from pytest_medfaith.quantities.quantity import Quantity

_STRENGTHS = ("mass", "unit", "volume")
_TOLERANCE = 1.05  # rounded tablets: 10.2 mg is no overdose of a drug of at most 10 mg
_LEAST_WEIGHT = 500.0  # grams: no dose of a drug, but a patient's weight
_LOOK_BACK = 48
_UNITS = r"(?:tablets?|capsules?|caplets?|pills?|sachets?|doses?|puffs?|ampoules?|vials?|suppositor(?:y|ies)|patch(?:es)?|injections?|spoonfuls?|gummies|lozenges?)"
_COUNT_BEFORE = re.compile(
    rf"\s*(?:{_UNITS}\s+)?(?:of\s+|at\s+|with\s+|each\s+)?(?:[\w-]+\s+){{0,2}}$",
    re.IGNORECASE,
)
_UNIT_WORD = re.compile(rf"\b{_UNITS}\b", re.IGNORECASE)
_UNITS_AFTER = re.compile(rf"\s*(?:[\w-]+\s+){{0,2}}{_UNITS}\b", re.IGNORECASE)
_HARM = re.compile(
    r"\b(?:overdos\w*|toxic\w*|poison\w*|damag\w+|dangerous|harm(?:s|ful|ed)?|fatal|lethal|deadly|deaths?"
    r"|die[ds]?|kill\w*|unsafe|not safe|too much|too high|excessive|cause[sd]?|led to|leads? to|result(?:s"
    r"|ed)? in|risks?|"
    r"accident\w*|abuse[ds]?|misuse[ds]?|mistake\w*|error|surviv\w+|ingest\w*|swallowed|more likely"
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
    r"|assigned)|swallowed|received|compared|trials?|stud(?:y|ies)|case report|one report|patients? who"
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
_NO_REGIMEN = re.compile(
    r"(?:\b(?:total|cumulative|course|in all|altogether|equivalent|adds? up to|amounts? to"
    r"|comes? to)\b.{0,40}|(?<!\bno )(?<!\bnot )(?<!exceed )\b(?:more than|above|over|exceeding|beyond"
    r"|anything over)\s+|"
    r"(?:\b(?:not|never|avoid|cannot|instead of|rather than|than|from)|n['’]t)\s+(?!exceed"
    r"|more than)(?:\w+\s+){0,3})$",
    re.IGNORECASE,
)
_CEILING = re.compile(
    r"\b(?:maximum|max|limit(?:ed)?|ceiling|up to|daily|exceed|no more than|at most|not more than"
    r"|within)\b.{0,40}$",
    re.IGNORECASE,
)
_CAP = re.compile(
    r"\b(?:maximum|max|limit(?:ed)?|ceiling|up to|exceed|no more than|at most|not more than"
    r"|total of)\b.{0,30}$|\bmost\b",
    re.IGNORECASE,
)
_CAP_AFTER = re.compile(r"^.{0,40}\b(?:maximum|ceiling|limit|at most|or less|is the most)\b", re.IGNORECASE)
_A_DAY = re.compile(
    r"^[^,;.]{0,40}?\b(?:daily|(?:a|per|one|each|any|every|the|over the|during the) (?:full |whole "
    r"|single )?day|24 hours|maximum|ceiling|limit)\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\s*(?:(?:a|per|each) day\s+|daily\s+)?(?:lower|higher|less|more|fewer)\b",
    re.IGNORECASE,
)
# What may stand between an amount and the drug after it: "10 g in two doses of oral paracetamol".
_LEADING_TO = re.compile(
    r"(?:[\s,-]|\b(?:of|the|an?|oral|daily|doses?|tablets?|capsules?|every|each|day|hours?|times|per|\d+|to"
    r"|or|and|up|in|as|twice|once|one|two|three|four|extended|release|weekly|your|his|her|their|extra|more"
    r"|for|fever|pain)\b)*",
    re.IGNORECASE,
)
_DOSING = re.compile(
    r"\b(?:tak\w+|giv\w+|inject\w*|infus\w+|appl\w+|us\w+|chang\w+|start\w*|swallow\w*|doses?|regimen"
    r"|schedule|prescri\w+|administ\w+|\d+\s*m?c?g)\b",
    re.IGNORECASE,
)
_OF = re.compile(r"\s+(?:[\w-]+\s+)?of\s+(?:(?:the|your|oral)\s+)?")
_PARTS = re.compile(
    r"[,;:]\s+|\s+(?:but|and|so|because|which|while|whereas|although|instead of|rather than)\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Sentence:
    """A sentence of the claim, and what it says of amounts as a whole, read once however many amounts it has."""

    start: int
    end: int
    text: str

    @cached_property
    def harms(self) -> bool:
        return bool(_HARM.search(_AVERTED.sub(" ", self.text)))

    @cached_property
    def reports(self) -> bool:
        return bool(_REPORT.search(self.text))

    @cached_property
    def cuts(self) -> Sequence[int]:
        """Where its parts between commas and conjunctions begin, and its end."""
        return [self.start, *(self.start + found.end() for found in _PARTS.finditer(self.text)), self.end]


def dose_broken(rule: SafetyRule, read: Reading) -> Broken:
    """Returns where the claim allows more of a drug than its rule, or gives it more often, and how, else None."""
    claim = read.claim
    drugs = claim.places(rule.drug)
    if not drugs or not _speaks(rule, read) or is_myth(claim.text):
        return None
    others = [
        (mention.start, mention.end) for mention in claim.mentions if mention.kind == "drug" and (mention.start, mention.end) not in drugs
    ]
    for start, end in asserted_sentences(claim.text):
        sentence = _Sentence(start, end, claim.text[start:end])
        within = [drug for drug in drugs if start <= drug[0] < end]
        named = within or [drug for drug in drugs if drug[0] < start][-1:]
        if named and not _is_other(sentence, within, others):
            broken = _too_much(rule, read, sentence, (named, others)) or _too_often(rule, read, sentence, (named, others))
            if broken:
                return broken
    return None


def _is_other(sentence: _Sentence, within: Sequence[Span], others: Sequence[Span]) -> bool:
    """Returns whether the sentence speaks of other drugs only."""
    return not within and any(sentence.start <= other[0] < sentence.end for other in others)


def _speaks(rule: SafetyRule, read: Reading) -> bool:
    """Returns whether a rule for some patients is about those of the claim, or of the question."""
    if rule.against or rule.younger_than is not None or rule.older_than is not None:
        ages = read.claim.ages or read.question.ages
        named = read.claim.present(rule.against, state=True) or (not read.claim.ages and read.question.present(rule.against, state=True))
        aged = [is_of_age(rule, age) for age in ages]
        return all(aged) if aged else bool(named)
    return True


def _too_much(rule: SafetyRule, read: Reading, sentence: _Sentence, drugs: tuple[Sequence[Span], Sequence[Span]]) -> Broken:
    named, others = drugs
    text = read.claim.text
    amounts = [quantity for quantity in _amounts(read, sentence) if quantity.dimension != "mass" or quantity.low < _LEAST_WEIGHT]
    amounts = [quantity for quantity in amounts if _owner(quantity, named, others, text) in named]
    spoken = _spoken_of(amounts, rule, read)
    capped = _is_capped(amounts, rule, text)
    for quantity in spoken:
        before = text[max(sentence.start, quantity.start - _LOOK_BACK) : quantity.start]
        if _NO_REGIMEN.search(before) or KIDNEY_FUNCTION.search(before) or _CHANGE.match(text, quantity.end):
            continue
        if _is_no_advice(quantity, sentence, text):
            continue
        ceiling = bool(_CEILING.search(before) or _A_DAY.match(text[quantity.end : sentence.end]))
        limit = _over(quantity, rule, ceiling=ceiling, capped=capped)
        if limit:
            return (quantity.start, quantity.end), f"the claim allows {text[quantity.start : quantity.end]}, {limit}"
    return None


def _is_no_advice(quantity: Quantity, sentence: _Sentence, text: str) -> bool:
    """Returns whether the sentence speaks of harm, of a package or of what happened, rather than of what to take."""
    if sentence.harms or sentence.reports:
        return True
    return _is_of_package(_part(quantity, sentence, text))


@lru_cache(maxsize=256)
def _is_of_package(part: str) -> bool:
    return bool(_CONTAINER.search(part)) and not _INTAKE.search(part)


def _part(quantity: Quantity, sentence: _Sentence, text: str) -> str:
    """Returns the part of the sentence between the commas and conjunctions that the amount stands in."""
    cuts = sentence.cuts
    following = bisect_left(cuts, quantity.end)
    return text[cuts[bisect_right(cuts, quantity.start) - 1] : cuts[following] if following < len(cuts) else sentence.end]


def _amounts(read: Reading, sentence: _Sentence) -> Iterator[Quantity]:
    """Yields the sentence's amounts, those of several tablets multiplied."""
    quantities = [quantity for quantity in read.claim.quantities if sentence.start <= quantity.start < sentence.end]
    text = read.claim.text
    strengths = [quantity for quantity in quantities if quantity.dimension in _STRENGTHS]
    for quantity in quantities:
        count = _count_of(quantity, quantities, text) if quantity.dimension in _STRENGTHS else None
        if count:
            yield _times(quantity, count, text)
        else:
            yield quantity
    for count in quantities:
        if (
            count.dimension == "count"
            and _UNIT_WORD.match(text[count.end :].lstrip())
            and len({quantity.high for quantity in strengths}) == 1
        ):
            if not any(_count_of(quantity, [count], text) for quantity in strengths):
                yield replace(_times(strengths[0], count, text), start=count.start, end=count.end, times=count.times, bound=count.bound)


def _count_of(quantity: Quantity, quantities: Sequence[Quantity], text: str) -> Quantity | None:
    """Returns the number of tablets that an amount is the strength of: "16 tablets of 500 mg", "two 1,000 mg tablets"."""
    for count in quantities:
        if count.dimension not in ("count", "plain") or count.end > quantity.start or count.role:
            continue
        between = text[count.end : quantity.start]
        if (
            len(between) <= _LOOK_BACK
            and _COUNT_BEFORE.fullmatch(between)
            and (_UNIT_WORD.search(between) or (not between.strip() and _UNITS_AFTER.match(text, quantity.end)))
        ):
            return count
    return None


def _times(quantity: Quantity, count: Quantity, _text: str) -> Quantity:
    return replace(quantity, low=quantity.low * count.low, high=quantity.high * count.high, start=count.start, end=quantity.end)


def _spoken_of(amounts: Sequence[Quantity], rule: SafetyRule, read: Reading) -> Sequence[Quantity]:
    """Returns the amounts that a rule with `when` is about: the one nearest to its term; without `when`, all."""
    limit = rule.max_daily or rule.max_single
    comparable = [quantity for quantity in amounts if limit and quantity.dimension == limit.dimension]
    if not rule.when:
        return comparable
    places = read.claim.places(rule.when)
    if not places:
        return comparable if any(read.finds(term) for term in rule.when) else []
    distance = {quantity: min(max(place[0] - quantity.end, quantity.start - place[1]) for place in places) for quantity in comparable}
    return [min(comparable, key=lambda quantity: distance[quantity])] if comparable else []


def _is_capped(amounts: Sequence[Quantity], rule: SafetyRule, text: str) -> bool:
    """Returns whether one of the amounts is a cap that the rule allows: "1 g every 4 hours, up to 4 g a day"."""
    daily = rule.max_daily
    if daily is None or len(amounts) < 2:
        return False
    return any(
        quantity.dimension == daily.dimension
        and quantity.high <= daily.high * _TOLERANCE
        and (
            quantity.bound == "max"
            or _CAP.search(text[max(0, quantity.start - _LOOK_BACK) : quantity.start])
            or _CAP_AFTER.match(text[quantity.end :])
        )
        for quantity in amounts
    )


def _owner(quantity: Quantity, named: Sequence[Span], others: Sequence[Span], text: str) -> Span | None:
    """Returns the drug that an amount belongs to: the one it is an amount of, else the nearest before it, else the nearest after."""
    drugs = [*named, *others]
    if quantity.dimension != "frequency" and (of := _OF.match(text, quantity.end)):
        for drug in drugs:
            if drug[0] == of.end():
                return drug
        if not _UNIT_WORD.match(text[of.end() :]):
            return next((drug for drug in drugs if of.end() < drug[0] < of.end() + 24 and drug in named), None)
    if following := next((drug for drug in drugs if text[quantity.end : drug[0]].strip() == "" and drug[0] >= quantity.end), None):
        return following
    before = [drug for drug in drugs if drug[1] <= quantity.start]
    after = [drug for drug in drugs if drug[0] >= quantity.end and _LEADING_TO.fullmatch(text[quantity.end : drug[0]])]
    return max(before) if before else min(after, default=None)


def _over(quantity: Quantity, rule: SafetyRule, *, ceiling: bool, capped: bool) -> str:
    """Returns by what limit the amount is too much, or an empty text; a `ceiling` is an amount a day, however it is said.

    Where a text gives a range of frequencies, the rarer one is held against the day's maximum.
    """
    single = rule.max_single
    once = quantity.times is None or quantity.times[1] > 1 or not rule.max_daily
    if single and once and not ceiling and quantity.dimension == single.dimension and quantity.high > single.high * _TOLERANCE:
        return "more than one dose may hold"
    if rule.max_daily is None or quantity.dimension != rule.max_daily.dimension:
        return ""
    daily = quantity.high * (quantity.times[0] if quantity.times else 1.0)
    if quantity.times and capped:
        daily = quantity.high
    if quantity.times and quantity.times[0] < 1 and rule.gap is None:
        daily = quantity.high * quantity.times[0]
    return "more than a day's maximum" if daily > rule.max_daily.high * _TOLERANCE else ""


def _too_often(rule: SafetyRule, read: Reading, sentence: _Sentence, drugs: tuple[Sequence[Span], Sequence[Span]]) -> Broken:
    """Finds a drug of one dose a week, or rarer, advised more often."""
    if rule.gap is None or not _DOSING.search(sentence.text) or sentence.harms or sentence.reports:
        return None
    named, others = drugs
    text = read.claim.text
    quantities = [quantity for quantity in read.claim.quantities if sentence.start <= quantity.start < sentence.end]
    least = rule.from_dose
    if least and not any(
        quantity.dimension == least.dimension
        and quantity.high >= least.low / _TOLERANCE
        and _rate(quantity, quantities) * rule.gap > _TOLERANCE
        for quantity in quantities
    ):
        return None
    quantities += [
        Quantity(1.0, 1.0, "frequency", sentence.start + found.start(), sentence.start + found.end())
        for found in _DAILY_DOSE.finditer(sentence.text)
    ]
    for quantity in quantities:
        before = text[max(sentence.start, quantity.start - _LOOK_BACK) : quantity.start]
        if (
            quantity.dimension != "frequency"
            or quantity.high * rule.gap <= _TOLERANCE
            or _NO_REGIMEN.search(before)
            or _DENIED.search(before)
        ):
            continue
        if _owner(quantity, named, others, text) in named and not _CHECKED.search(before):
            words = text[quantity.start : quantity.end]
            return (quantity.start, quantity.end), f"the claim gives it {words}, it is given once in {rule.gap:g} days at most"
    return None


def _rate(quantity: Quantity, quantities: Sequence[Quantity]) -> float:
    """Returns how often a day the amount is given; the sentence's only frequency is every amount's."""
    if quantity.times:
        return quantity.times[1]
    rates = [other.high for other in quantities if other.dimension == "frequency"]
    return rates[0] if len(rates) == 1 else 0.0


_DAILY_DOSE = re.compile(
    r"\bdaily (?:doses?|tablets?|injections?|basis)\b", re.IGNORECASE
)  # an adjective, which the reader of quantities leaves out
_DENIED = re.compile(r"(?:\b(?:not|never|no|cannot)|n['’]t)\b[^,;]{0,30}$", re.IGNORECASE)
_CHECKED = re.compile(
    r"\b(?:check\w*|measur\w*|monitor\w*|counts?|test\w*|level\w*|glucose|rotat\w+|blood)\b[^;.]{0,40}$",
    re.IGNORECASE,
)
