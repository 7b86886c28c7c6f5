"""Finds doses above a rule's limits: as stated, counted in tablets, summed over a day, or given too often."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_medfaith.quantities.numerals import LOOK_BACK
from pytest_medfaith.quantities.quantity import Quantity
from pytest_medfaith.safety.amounts import Drugs, Sentence, is_amount_of_named
from pytest_medfaith.safety.clauses import asserted_sentences
from pytest_medfaith.safety.reading import KIDNEY_FUNCTION, Broken, Reading
from pytest_medfaith.safety.rulebook import SafetyRule
from pytest_medfaith.safety.stance import is_myth

_TOLERANCE = 1.05  # tablets are rounded: 10.2 mg is no overdose where 10 mg are allowed
_LEAST_WEIGHT = 500.0  # grams; a larger mass is a patient's weight, not a dose
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
    r"|single )?day|24 hours|maximum|ceiling|limit|most)\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\s*(?:(?:a|per|each) day\s+|daily\s+)?(?:lower|higher|less|more|fewer)\b",
    re.IGNORECASE,
)
_DOSING = re.compile(
    r"\b(?:tak\w+|giv\w+|inject\w*|infus\w+|appl\w+|us\w+|chang\w+|start\w*|swallow\w*|doses?|regimen"
    r"|schedule|prescri\w+|administ\w+|\d+\s*m?c?g)\b",
    re.IGNORECASE,
)
# "a daily dose": the reader of quantities leaves the adjective out.
_DAILY_DOSE = re.compile(r"\bdaily (?:doses?|tablets?|injections?|basis)\b", re.IGNORECASE)
_DENIED = re.compile(r"(?:\b(?:not|never|no|cannot)|n['’]t)\b[^,;]{0,30}$", re.IGNORECASE)
_CHECKED = re.compile(
    r"\b(?:check\w*|measur\w*|monitor\w*|counts?|test\w*|level\w*|glucose|rotat\w+|blood)\b[^;.]{0,40}$",
    re.IGNORECASE,
)


def dose_broken(rule: SafetyRule, read: Reading) -> Broken:
    """Returns (span, message) where the claim allows more of a drug than its rule, or more often; or None."""
    claim = read.claim
    drugs = claim.places(rule.drug)
    if not drugs or not _speaks(rule, read):
        return None
    others = [
        (mention.start, mention.end)
        for mention in claim.mentions
        if mention.kind == "drug" and (mention.start, mention.end) not in drugs
    ]
    for start, end in asserted_sentences(claim.text):
        sentence = Sentence(start, end, claim)
        within = [drug for drug in drugs if start <= drug[0] < end]
        named = within or [drug for drug in drugs if drug[0] < start][-1:]
        is_about_others = not within and any(start <= other[0] < end for other in others)
        if named and not is_about_others and not is_myth(sentence.text):
            found = Drugs(named, others)
            broken = _too_much(rule, read, sentence, found) or _too_often(rule, sentence, found)
            if broken:
                return broken
    return None


def _speaks(rule: SafetyRule, read: Reading) -> bool:
    """Returns whether a rule for some patients is about the patients of the claim or of the question.

    True for a rule for all patients.
    """
    if rule.against or rule.younger_than is not None or rule.older_than is not None:
        ages = read.claim.ages or read.question.ages
        named = read.claim.present(rule.against, state=True) or (
            not read.claim.ages and read.question.present(rule.against, state=True)
        )
        aged = [rule.excludes_age(age) for age in ages]
        return all(aged) if aged else bool(named)
    return True


def _too_much(rule: SafetyRule, read: Reading, sentence: Sentence, drugs: Drugs) -> Broken:
    """Returns (span, message) of an amount in `sentence` above the limits of `rule`; or None."""
    text = read.claim.text
    amounts = [
        quantity
        for quantity in sentence.amounts
        if (quantity.dimension != "mass" or quantity.low < _LEAST_WEIGHT)
        and is_amount_of_named(quantity, drugs, text)
    ]
    capped = _is_capped(amounts, rule, text)
    for quantity in _governed(amounts, rule, read):
        before = sentence.before(quantity)
        if _NO_REGIMEN.search(before) or KIDNEY_FUNCTION.search(before) or _CHANGE.match(text, quantity.end):
            continue
        if not sentence.is_to_take(quantity):
            continue
        ceiling = bool(_CEILING.search(before) or _A_DAY.match(text[quantity.end : sentence.end]))
        limit = _over(quantity, rule, ceiling=ceiling, capped=capped)
        if limit:
            place = quantity.start, quantity.end
            return place, f"the claim allows {text[slice(*place)]}, {limit}"
    return None


def _governed(amounts: Sequence[Quantity], rule: SafetyRule, read: Reading) -> Sequence[Quantity]:
    """Returns the amounts that the rule limits: all, or the amount nearest to a term of its `when`."""
    limit = rule.max_daily or rule.max_single
    comparable = [quantity for quantity in amounts if limit and quantity.dimension == limit.dimension]
    if not rule.when:
        return comparable
    places = read.claim.places(rule.when)
    if not places:
        return comparable if any(read.finds(term) for term in rule.when) else []
    distance = {
        quantity: min(max(place[0] - quantity.end, quantity.start - place[1]) for place in places)
        for quantity in comparable
    }
    return [min(comparable, key=lambda quantity: distance[quantity])] if comparable else []


def _is_capped(amounts: Sequence[Quantity], rule: SafetyRule, text: str) -> bool:
    """Returns whether an amount is a maximum that the rule allows: "1 g every 4 hours, up to 4 g a day"."""
    daily = rule.max_daily
    if daily is None or sum(quantity.dimension == daily.dimension for quantity in amounts) < 2:
        return False
    return any(
        quantity.dimension == daily.dimension
        and (quantity.times is None or quantity.times[1] <= 1)
        and quantity.high <= daily.high * _TOLERANCE
        and (
            quantity.bound == "max"
            or _CAP.search(text[max(0, quantity.start - LOOK_BACK) : quantity.start])
            or _CAP_AFTER.match(text[quantity.end :])
        )
        for quantity in amounts
    )


def _over(quantity: Quantity, rule: SafetyRule, *, ceiling: bool, capped: bool) -> str:
    """Returns the limit that the amount exceeds, in words; "" for none.

    In a range of frequencies ("3 to 4 times a day") the lowest counts for the day's maximum.

    Args:
        quantity: an amount.
        rule: the rule.
        ceiling: True for an amount a day, whatever its words.
        capped: True where the text limits the total of a day by itself.
    """
    single = rule.max_single
    once = quantity.times is None or quantity.times[1] > 1 or not rule.max_daily
    if (
        single
        and once
        and not ceiling
        and quantity.dimension == single.dimension
        and quantity.high > single.high * _TOLERANCE
    ):
        return "more than one dose may hold"
    if rule.max_daily is None or quantity.dimension != rule.max_daily.dimension:
        return ""
    daily = quantity.high * (quantity.times[0] if quantity.times else 1.0)
    if quantity.times and capped:
        daily = quantity.high
    if quantity.times and quantity.times[0] < 1 and rule.gap is None:
        daily = quantity.high * quantity.times[0]
    return "more than a day's maximum" if daily > rule.max_daily.high * _TOLERANCE else ""


def _too_often(rule: SafetyRule, sentence: Sentence, drugs: Drugs) -> Broken:
    """Returns (span, message) where a drug is given more often than once in `rule.gap` days; or None."""
    if rule.gap is None or not _DOSING.search(sentence.text):
        return None
    text = sentence.claim.text
    quantities = sentence.quantities
    least = rule.from_dose
    if least and not any(
        quantity.dimension == least.dimension
        and quantity.high >= least.low / _TOLERANCE
        and _rate(quantity, quantities) * rule.gap > _TOLERANCE
        for quantity in quantities
    ):
        return None
    adjectives = [
        Quantity(1.0, 1.0, "frequency", sentence.start + found.start(), sentence.start + found.end())
        for found in _DAILY_DOSE.finditer(sentence.text)
    ]
    for quantity in (*quantities, *adjectives):
        before = sentence.before(quantity)
        if (
            quantity.dimension != "frequency"
            or quantity.high * rule.gap <= _TOLERANCE
            or _NO_REGIMEN.search(before)
            or _DENIED.search(before)
        ):
            continue
        if (
            is_amount_of_named(quantity, drugs, text)
            and not _CHECKED.search(before)
            and sentence.is_to_take(quantity)
        ):
            place = quantity.start, quantity.end
            words = text[slice(*place)]
            return place, f"the claim gives it {words}, it is given once in {rule.gap:g} days at most"
    return None


def _rate(quantity: Quantity, quantities: Sequence[Quantity]) -> float:
    """Returns how many times a day the amount is given; a single frequency holds for the whole sentence.

    0 where the sentence states none or several.
    """
    if quantity.times:
        return quantity.times[1]
    rates = [each.high for each in quantities if each.dimension == "frequency"]
    return rates[0] if len(rates) == 1 else 0.0
