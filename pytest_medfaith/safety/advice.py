"""Finds a drug advised together with what speaks against it: a condition, another drug, a population, a failing kidney."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_medfaith.quantities.quantity import Quantity
from pytest_medfaith.safety.clauses import Statement
from pytest_medfaith.safety.reading import Passage, Reading, blotted
from pytest_medfaith.safety.rulebook import SafetyRule
from pytest_medfaith.safety.stance import ADVISES, FORBIDS, WARNS, is_myth, stance, without_myth
from pytest_medfaith.safety.terms import Span

Broken = tuple[Span, str] | None  # where the claim breaks a rule, and how

KIDNEY_FUNCTION = re.compile(
    r"\b(?:e?GFR|(?:estimated )?glomerular filtration rate|creatinine clearance|CrCl|kidney function"
    r"|renal function)\b",
    re.IGNORECASE,
)
_BELOW = re.compile(r"(?:\b(?:below|under|less than|lower than|up to)|[<≤])\s*$", re.IGNORECASE)
_LITRES_A_DAY = 1.44  # of 1 mL/min
_KIDNEY_LOOK_BACK = 40
_CHOICE = re.compile(
    r"[\s,]*(?:or|/|versus|vs\.?|instead of|rather than)[\s,]*(?:an?|the|another|of)?\s*",
    re.IGNORECASE,
)
_APART = re.compile(
    r"\b(?:apart(?! from)|separately|washout|(?:hours?|days?|weeks?) (?:after|before|should|between|must"
    r"|later|or)|gap of|switch\w* (?:from|to)|replac\w+|compared|versus|no longer)\b",
    re.IGNORECASE,
)
_TAKEN = re.compile(
    r"\b(?:together|combin\w+|alongside|along with|at the same time|plus|add\w*(?: to)?|with|both"
    r"|co-?administ\w+|mix\w*|on|while|when|taking|takes?|taken|using|uses?|during|in (?:people|patients"
    r"|those)|within|drink\w*|also)\b",
    re.IGNORECASE,
)
# What makes more than a list of "ACE inhibitors and ARBs can be continued".
_JOINTLY = re.compile(
    r"\b(?:together|combin\w+|alongside|at (?:the same|one) time|plus|both|co-?administ\w+|mix\w*|same"
    r"|interact\w*|on top of|simultaneous\w*|concurrent\w*|concomitant\w*|each other|pair\w*)\b",
    re.IGNORECASE,
)
_LISTED = re.compile(r"[\s,]*(?:and|&)[\s,]*(?:an?|the|other)?\s*", re.IGNORECASE)
_TAKES = re.compile(
    r"\b(?:together|combin\w+|alongside|along with|at the same time|plus|add\w*(?: to)?|with|both|mix\w*|on"
    r"|while|taking|takes?|using|uses?|drink\w*|washed|having|prescribed|am taking|already|have|has|and)\b",
    re.IGNORECASE,
)
_OTHER_DRUG = re.compile(
    r"\b(?:different|another|other|alternatives?|instead|painkillers?|antibiotics?|medicines?|heating pad"
    r"|exercise)\b",
    re.IGNORECASE,
)
# "Yes, it's fine.", "You can continue the same dose.": the drug is the question's.
_ELLIPTIC = re.compile(
    r"^\s*(?:yes|sure|certainly|absolutely|of course)\b|\b(?:it|them|they|this|these|both|that"
    r"|those)\b(?!['’]?s? (?:\w+ )?\w+ to (?!take|use|combine|continue|give|keep|have|drink|mix))|\b(?:same"
    r"|low|small|usual|normal|full|current|single)[- ]dose\b"
    r"|\ba (?:glass|drink|beer|spoon\w*|tablet|dose) ",
    re.IGNORECASE,
)
_BUT = re.compile(r"\s*(?:and\s+)?(?:but|however|although|though|yet|whereas)\b", re.IGNORECASE)
_BARE_YES = re.compile(r"\W*(?:yes|sure|certainly|absolutely|definitely|of course)\W*", re.IGNORECASE)
_NO_PATIENT = re.compile(
    r"\b(?:after (?:the )?(?:birth|delivery|giving birth)|postpartum|postnatal|breast-?feed\w*"
    r"|non-?pregnant|not pregnant|outside (?:of )?pregnancy|before (?:conception|pregnancy)|in men)\b",
    re.IGNORECASE,
)
_OF_CASE = re.compile(
    r"\b(?:after|in|for|with|during|treats?|following)\s+(?:(?:an?|the|severe|acute)\s+){0,2}$",
    re.IGNORECASE,
)
_PEOPLE = frozenset({"human", "woman", "adult", "man"})


@dataclass(frozen=True)
class _Against:
    """What speaks against the drug: places in the claim, or only in the question."""

    places: Sequence[Span]
    asked: bool


def advice_broken(rule: SafetyRule, read: Reading) -> Broken:
    """Returns where the claim advises the drug of `rule` together with what speaks against it, and how, else None."""
    broken = _advised(rule, read)
    if broken is None and rule.kind == "interaction":
        return _advised(replace(rule, drug=rule.against, against=rule.drug), read)
    return broken


def _advised(rule: SafetyRule, read: Reading) -> Broken:
    claim = read.claim
    drugs = claim.meant(rule.drug)
    against = _against(rule, read)
    if not against.places and not against.asked:
        return None
    drugs = [drug for drug in drugs if not any(_overlap(drug, place) for place in against.places)]
    if not drugs and not _is_elliptic(rule, read):
        return None
    others = "#" if rule.kind == "interaction" else "~"
    words = blotted(blotted(claim.text, against.places, sign=others), claim.places(rule.drug))
    for statement in claim.statements:
        place = _broken_by(rule, read, statement, drugs, against, words)
        if place is not None:
            return place, _message(rule, read, drugs, against)
    return None


def _broken_by(
    rule: SafetyRule,
    read: Reading,
    statement: Statement,
    drugs: Sequence[Span],
    against: _Against,
    words: str,
) -> Span | None:
    """Returns the span of drug and condition where `statement` advises the one in the other."""
    claim = read.claim
    named = [drug for drug in drugs if any(main.holds(drug) for main in statement.mains)]
    clauses = (*statement.mains, *statement.conditions)
    held = [place for place in against.places if any(clause.holds(place) for clause in clauses)]
    if (drugs and not named) or not (held or against.asked) or not statement.mains:
        return None
    if rule.when and not any(clause.holds(place) for place in claim.places(rule.when) for clause in clauses):
        return None
    if rule.kind == "interaction" and not _taken_together(statement, named, held, read):
        return None
    # the words of `when` may themselves warn ("without a steroid") or advise ("harmless")
    if not any(
        _is_advised(statement, claim, text)
        for text in {blotted(words, claim.places(rule.when), sign="~"), words}
    ):
        return None
    places = [*named[:1], *held[:1]] or [statement.span]
    return min(place[0] for place in places), max(place[1] for place in places)


def _is_advised(statement: Statement, claim: Passage, text: str) -> bool:
    """Returns whether the statement advises: one of its clauses does and none forbids; of a myth the other way round.

    `text` is the claim with the rule's terms blotted out.
    """
    conditions = " ".join(text[clause.start : clause.end] for clause in statement.conditions)
    words = [text[main.start : main.end] for main in statement.mains]
    if is_myth(claim.sentence(statement.mains[0].start)):
        return FORBIDS in {stance(without_myth(main), conditions=conditions) for main in words}
    stances = {stance(main, conditions=conditions) for main in words}
    if any(_BUT.match(main) and stance(main) == WARNS for main in words[1:]):
        return False  # "is used by some, but it has been linked to severe infections"
    return ADVISES in stances and FORBIDS not in stances


def _against(rule: SafetyRule, read: Reading) -> _Against:
    """Returns what speaks against the drug in the claim; where the claim names nothing like it, whether the question does."""
    state = rule.kind == "population"
    drug = rule.kind == "interaction"
    places = read.claim.meant(rule.against) if drug else read.claim.present(rule.against, state=state)
    if (rule.younger_than is not None or rule.older_than is not None) and read.claim.ages:
        places = []  # "children over 16": the stated age decides
    places += [(age.start, age.end) for age in read.claim.ages if is_of_age(rule, age)]
    places += _failing_kidney(rule, read.claim)
    if places or not read.question.text:
        return _Against(places, asked=False)
    asked = bool(
        read.question.places(rule.against) if drug else read.question.present(rule.against, state=state)
    )
    asked = (
        asked
        or any(is_of_age(rule, age) for age in read.question.ages)
        or bool(_failing_kidney(rule, read.question))
    )
    return _Against(
        (),
        asked=asked and not (state and _is_about_others(rule, read)) and not read.claim.places(rule.against),
    )


def _is_about_others(rule: SafetyRule, read: Reading) -> bool:
    """Returns whether the claim speaks of a population of its own, for which the question's does not hold: "after the birth"."""
    claim = read.claim
    if _NO_PATIENT.search(claim.text) or claim.ages:
        return True
    named = {mention.concept for mention in read.question.mentions}
    diseases = {
        mention.concept
        for mention in claim.mentions
        if mention.kind == "disease" and _OF_CASE.search(claim.before((mention.start, mention.end)))
    }
    if not named & diseases and diseases and not _ELLIPTIC.match(claim.text):
        return True  # "after a heart attack": another case than the one asked about
    wanted = {term[1:] for term in rule.against if term.startswith("@")}
    return any(
        mention.kind == "population"
        and not ({mention.concept} | mention.wider) & wanted
        and mention.concept not in _PEOPLE
        for mention in claim.mentions
    )


def is_of_age(rule: SafetyRule, age: Quantity) -> bool:
    """Returns whether all of this age are too young, or too old, for the drug."""
    young = (
        rule.younger_than is not None
        and age.bound != "min"
        and (age.high < rule.younger_than or (age.bound == "max" and age.high <= rule.younger_than))
    )
    old = rule.older_than is not None and age.bound != "max" and age.low >= rule.older_than
    return young or old


def _failing_kidney(rule: SafetyRule, passage: Passage) -> list[Span]:
    """Returns where the passage names a kidney function below the least that the drug may be given with."""
    if rule.egfr_below is None or not KIDNEY_FUNCTION.search(passage.text):
        return []
    found = []
    for quantity in passage.quantities:
        before = passage.text[max(0, quantity.start - _KIDNEY_LOOK_BACK) : quantity.start]
        value = quantity.high / _LITRES_A_DAY if quantity.dimension == "volume/time" else quantity.high
        if (
            quantity.dimension not in ("volume/time", "plain", "count")
            or quantity.bound == "min"
            or not KIDNEY_FUNCTION.search(before)
        ):
            continue
        if value < rule.egfr_below * 0.999 or (_BELOW.search(before) and value <= rule.egfr_below * 1.001):
            found.append((quantity.start, quantity.end))
    return found


def _is_elliptic(rule: SafetyRule, read: Reading) -> bool:
    """Returns whether the claim speaks of the question's drug without naming it, as "yes" does of what the question asks for."""
    if _BARE_YES.fullmatch(read.claim.text) and stance(read.question.text) != ADVISES:
        return False
    if (
        not read.question.places(rule.drug)
        or _OTHER_DRUG.search(read.claim.text)
        or not _ELLIPTIC.search(read.claim.text)
    ):
        return False
    named = {mention.concept for mention in read.claim.mentions if mention.kind == "drug"}
    return named <= {mention.concept for mention in read.question.mentions}


def _taken_together(statement: Statement, named: Sequence[Span], held: Sequence[Span], read: Reading) -> bool:
    """Returns whether two drugs are spoken of as taken together, and not as a choice or one after the other."""
    start, end = statement.span
    words = read.claim.text[start:end]
    if _APART.search(words):
        return False
    if not held:
        return bool(_TAKES.search(read.question.text))
    if not named:
        return True
    first, second = sorted((named[0], held[0]))
    between = read.claim.text[first[1] : second[0]]
    joined = _JOINTLY if _LISTED.fullmatch(between) else _TAKEN
    return bool(joined.search(words)) and not _CHOICE.fullmatch(between)


def _message(rule: SafetyRule, read: Reading, drugs: Sequence[Span], against: _Against) -> str:
    link_word = {"interaction": "together with", "population": "for", "contraindication": "in"}[rule.kind]
    drug = read.claim.text[slice(*drugs[0])] if drugs else _named_in(read.question, rule.drug)
    other = (
        repr(read.claim.text[slice(*against.places[0])])
        if against.places
        else f"what the question names, {_named_in(read.question, rule.against)!r}"
    )
    return f"the claim advises {drug} {link_word} {other}"


def _named_in(passage: Passage, terms: Sequence[str]) -> str:
    places = passage.places(terms)
    return passage.text[slice(*places[0])] if places else "a patient whom it does not suit"


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]
