"""Finds claims that advise a drug next to what speaks against it.

Against a drug speak a condition, a second drug, a population (such as children) or a failing kidney. Example:
"You can take ibuprofen with an active stomach ulcer."
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_medfaith.safety.clauses import Statement
from pytest_medfaith.safety.reading import KIDNEY_FUNCTION, Broken, Passage, Reading
from pytest_medfaith.safety.rulebook import LITRES_A_DAY, SafetyRule
from pytest_medfaith.safety.stance import ADVISES, FORBIDS, WARNS, is_myth, stance, without_myth
from pytest_medfaith.safety.terms import Span, blotted

_BELOW = re.compile(r"(?:\b(?:below|under|less than|lower than|up to)|[<≤])\s*$", re.IGNORECASE)
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
# "ACE inhibitors and ARBs can be continued" lists two drugs. These words say that they are taken together.
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
# "Yes, it's fine.", "You can continue the same dose.": the question names the drug.
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
    """What speaks against the drug.

    Attributes:
        places: its places in the claim.
        asked: True where only the question names it.
    """

    places: Sequence[Span]
    asked: bool


@dataclass(frozen=True)
class _Danger:
    """A rule, the claim and question that it reads, and what it found there.

    Attributes:
        rule: the rule.
        read: claim and question.
        drugs: the places of the drug in the claim; empty where only the question names it.
        against: what speaks against the drug.
    """

    rule: SafetyRule
    read: Reading
    drugs: Sequence[Span]
    against: _Against

    def broken_by(self, statement: Statement, words: str) -> Span | None:
        """Returns the span of drug and danger if `statement` advises the drug, else None.

        `words` is the claim with other signs for the names of drug and danger.
        """
        claim, against = self.read.claim, self.against
        named = [drug for drug in self.drugs if any(main.holds(drug) for main in statement.mains)]
        clauses = (*statement.mains, *statement.conditions)
        held = [place for place in against.places if any(clause.holds(place) for clause in clauses)]
        if (self.drugs and not named) or not (held or against.asked) or not statement.mains:
            return None
        when = claim.places(self.rule.when)
        if self.rule.when and not any(clause.holds(place) for place in when for clause in clauses):
            return None
        if self.rule.kind == "interaction" and not _taken_together(statement, named, held, self.read):
            return None
        # The words of `when` may themselves warn ("without a steroid") or advise ("harmless").
        if not any(_is_advised(statement, claim, text) for text in {blotted(words, when, sign="~"), words}):
            return None
        places = [*named[:1], *held[:1]] or [statement.span]
        return min(place[0] for place in places), max(place[1] for place in places)

    def message(self) -> str:
        """Returns the message: "the claim advises ibuprofen in 'stomach ulcer'"."""
        link_word = {"interaction": "together with", "population": "for", "contraindication": "in"}
        text, asked = self.read.claim.text, self.read.question
        drug = text[slice(*self.drugs[0])] if self.drugs else _named_in(asked, self.rule.drug)
        danger = (
            repr(text[slice(*self.against.places[0])])
            if self.against.places
            else f"what the question names, {_named_in(asked, self.rule.against)!r}"
        )
        return f"the claim advises {drug} {link_word[self.rule.kind]} {danger}"


def advice_broken(rule: SafetyRule, read: Reading) -> Broken:
    """Returns (span, message) where the claim advises a drug next to what speaks against it; or None.

    Args:
        rule: a contraindication, an interaction or a population.
        read: claim and question.
    """
    broken = _advised(rule, read)
    if broken is None and rule.kind == "interaction":
        return _advised(replace(rule, drug=rule.against, against=rule.drug), read)
    return broken


def _advised(rule: SafetyRule, read: Reading) -> Broken:
    """Returns what `advice_broken` does, with the drug as `rule.drug` and the danger as `rule.against`."""
    claim = read.claim
    against = _against(rule, read)
    if not against.places and not against.asked:
        return None
    drugs = [
        drug
        for drug in claim.meant(rule.drug)
        if not any(drug[0] < place[1] and place[0] < drug[1] for place in against.places)
    ]
    if not drugs and not _is_elliptic(rule, read):
        return None
    danger = _Danger(rule, read, drugs, against)
    # Both drugs of an interaction are drugs to a reader of advice, a disease is not.
    sign = "#" if rule.kind == "interaction" else "~"
    words = blotted(blotted(claim.text, against.places, sign=sign), claim.places(rule.drug))
    for statement in claim.statements:
        place = danger.broken_by(statement, words)
        if place is not None:
            return place, danger.message()
    return None


def _is_advised(statement: Statement, claim: Passage, text: str) -> bool:
    """Returns whether a clause of the statement advises and none forbids.

    What a myth forbids counts as advised. `text` is the claim with other signs for the rule's terms.
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
    """Returns what speaks against the drug in the claim, or whether only the question names it."""
    claim, question = read.claim, read.question
    is_state = rule.kind == "population"
    if rule.kind == "interaction":
        places, asked = claim.meant(rule.against), question.places(rule.against)
    else:
        places = claim.present(rule.against, state=is_state)
        asked = question.present(rule.against, state=is_state)
    if (rule.younger_than is not None or rule.older_than is not None) and claim.ages:
        places = []  # "children over 16": the stated age decides
    places += [(age.start, age.end) for age in claim.ages if rule.excludes_age(age)]
    places += _failing_kidney(rule, claim)
    if places or not question.text:
        return _Against(places, asked=False)
    # The claim may be about other patients, or say that the danger is absent.
    if claim.places(rule.against) or (is_state and _is_about_others(rule, read)):
        return _Against((), asked=False)
    aged = any(rule.excludes_age(age) for age in question.ages)
    return _Against((), asked=bool(asked or aged or _failing_kidney(rule, question)))


def _is_about_others(rule: SafetyRule, read: Reading) -> bool:
    """Returns whether the claim is about other patients than the question: "after the birth"."""
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
        return True  # "after a heart attack": the question is about another case
    wanted = {term[1:] for term in rule.against if term.startswith("@")}
    return any(
        mention.kind == "population"
        and not ({mention.concept} | mention.wider) & wanted
        and mention.concept not in _PEOPLE
        for mention in claim.mentions
    )


def _failing_kidney(rule: SafetyRule, passage: Passage) -> list[Span]:
    """Returns the places where the passage states a kidney function that is too low for the drug."""
    if rule.egfr_below is None or not KIDNEY_FUNCTION.search(passage.text):
        return []
    found = []
    for quantity in passage.quantities:
        before = passage.text[max(0, quantity.start - _KIDNEY_LOOK_BACK) : quantity.start]
        value = quantity.high / LITRES_A_DAY if quantity.dimension == "volume/time" else quantity.high
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
    """Returns whether the claim is about the question's drug without naming it, as "Yes, it's fine." is."""
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
    """Returns whether the statement has two drugs taken together, not as a choice or one after another."""
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


def _named_in(passage: Passage, terms: Sequence[str]) -> str:
    """Returns the first of `terms` as the passage has it; "a patient whom it does not suit" for none."""
    places = passage.places(terms)
    return passage.text[slice(*places[0])] if places else "a patient whom it does not suit"
