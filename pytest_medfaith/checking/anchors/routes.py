"""Routes of giving a drug that the evidence neither names nor implies: "intravenous" against "tablets"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from pytest_medfaith.checking.anchors.evidence import (
    Evidence,
    Missing,
    is_odd,
    linked,
    only_of,
    shared_with,
)

# Share of the claim's words, apart from the route, that a sentence must hold. Then both are on the same
# matter, and the route of the sentence is compared with that of the claim.
SAME_STATEMENT = 0.5
# route: (words that name it, words of evidence that imply it)
_ROUTES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "oral": (
            r"oral(?:ly)?|by mouth|per os|(?-i:PO)|p\.o\.",
            (
                r"tablets?|capsules?|pills?|swallow\w*|drink\w*|drunk|syrup|chew\w*|eat\w*|lozenge|"
                r"tak(?:e|en|ing)|oral \w+|mouth|ingest\w*|suspension|enteral\w*"
            ),
        ),
        "intravenous": (
            r"intravenous(?:ly)?|(?-i:IV)|i\.v\.|into (?:a|the) vein",
            r"infus\w+|drip|vein|bolus|venous\w*|parenteral\w*",
        ),
        "intramuscular": (
            r"intramuscular(?:ly)?|(?-i:IM)|i\.m\.|into (?:a|the) (?:\w+ )?muscle",
            r"muscles?|thigh|deltoid|parenteral\w*",
        ),
        "subcutaneous": (
            r"subcutaneous(?:ly)?|(?-i:SC|SQ|s\.c\.)|under the skin|sub-?cut\b",
            r"injection pen|pen injector|beneath the skin|parenteral\w*|self-inject\w*",
        ),
        "intradermal": (r"intradermal(?:ly)?|into the skin", r"skin test\w*"),
        "topical": (
            r"topical(?:ly)?|on(?:to)? the skin|to the skin",
            r"cream|ointment|gel|lotion|shampoo|foam|skin|appl\w+|rub\w*|paint|drops?",
        ),
        "inhaled": (
            r"inhaled|by inhal\w+|nebuli[sz]\w+|by inhaler",
            r"inhal\w*|nebuli\w*|puffs?|spacer|breath\w+ in|breathe[sd]?",
        ),
        "rectal": (
            r"rectal(?:ly)?|per rectum|(?-i:PR)(?! interval)|suppositor(?:y|ies)",
            r"enema\w*|rectum|back passage|suppositor\w+|rectal\w*",
        ),
        "vaginal": (r"vaginal(?:ly)?|pessar(?:y|ies)", r"vagina\w*|pessar\w+"),
        "sublingual": (r"sublingual(?:ly)?|under the tongue", r"tongue|sublingual\w*"),
        "buccal": (r"buccal(?:ly)?|inside the cheek", r"cheeks?|gums?|oromucosal|buccal\w*"),
        "transdermal": (r"transdermal(?:ly)?|by patch|skin patch(?:es)?", r"patch(?:es)?|transdermal\w*"),
        "nasal": (r"intranasal(?:ly)?|nasal spray|into the nose|nasally", r"nas(?:al|e)\w*|nose|nostrils?"),
        "intrathecal": (r"intrathecal(?:ly)?", r"lumbar puncture|spinal fluid|intrathecal\w*"),
        "epidural": (r"epidural(?:ly)?", r"epidural\w*|neuraxial"),
        "intravitreal": (r"intravitreal(?:ly)?|into the eye", r"eyes?|vitre\w+"),
        "intra-articular": (r"intra-?articular(?:ly)?|into the (?:\w+ )?joint", r"joints?"),
        "endotracheal": (r"endotracheal(?:ly)?(?! intubation)", r"(?:breathing|endotracheal) tube|trache\w+"),
        "nasogastric": (
            r"nasogastric(?:ally)?",
            r"(?:feeding|stomach|gastric|nasogastric) tube|tube feed\w*",
        ),
        "intraosseous": (r"intraosseous(?:ly)?|(?-i:IO)", r"marrow|bone"),
    }
)
_NAMED = {
    route: re.compile(rf"(?<![\w-])(?:{names})(?![\w-])", re.IGNORECASE)
    for route, (names, _) in _ROUTES.items()
}
_IMPLIED = {
    route: re.compile(rf"(?<![\w-])(?:{names}|{implied})(?![\w-])", re.IGNORECASE)
    for route, (names, implied) in _ROUTES.items()
}
# route: forms of a drug and acts that only this route has
_FORMS = {
    route: re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)
    for route, words in {
        "oral": (
            r"tablets?|capsules?|pills?|swallow(?:s|ed|ing)?|syrups?|lozenges?|drinks?(?= \w+ as)|"
            r"chewing gum|into the mouth"
        ),
        "rectal": r"suppositor(?:y|ies)|enemas?",
        "vaginal": r"pessar(?:y|ies)",
        "transdermal": r"patch(?:es)?",
        "ocular": (
            r"eye[\s-]drops?|(?:drops?|dropped|dripped|instill?ed|put)(?: \w+){0,3}? "
            r"(?:in|into|onto|on) (?:the |an |each |both )?(?:affected )?eyes?"
        ),
        "otic": (
            r"ear[\s-]drops?|(?:drops?|dropped|dripped|instill?ed|put)(?: \w+){0,3}? "
            r"(?:in|into) (?:the |an |each |both )?(?:affected )?ears?"
        ),
        "inhaled": r"inhalers?|inhale[sd]?|inhaling|nebuli[sz]\w+|breathe[sd]? in",
        "topical": r"creams?|ointments?|lotions?|shampoos?|rubbed into the skin",
        "injected": r"inject(?:ed|ions?|s)",
        "intravenous": r"(?:through|by|via|on|as) an? drip|into an? (?:\w+ )?vein",
        "nasal": r"nasal sprays?|nose drops?",
        "intrathecal": r"into the spinal fluid",
    }.items()
}
_NEEDLES = frozenset(
    """injected intravenous intramuscular subcutaneous intradermal intrathecal epidural intravitreal
    intra-articular intraosseous""".split()
)
_TOGETHER = (
    *(frozenset(("injected", route)) for route in _NEEDLES),
    frozenset(("oral", "buccal", "sublingual", "nasogastric")),
    *(
        frozenset(("topical", route))
        for route in ("transdermal", "ocular", "otic", "vaginal", "rectal", "nasal")
    ),
    *(frozenset(("oral", route)) for route in ("vaginal", "inhaled")),
    frozenset(("nasal", "inhaled")),
    frozenset(("ocular", "intravitreal")),
    frozenset(("inhaled", "endotracheal")),
)
_RULED_OUT = re.compile(r"\b(?:and not|never|rather than|instead of)\s+(?:[\w'-]+\s+)?$", re.IGNORECASE)
_NO_ROUTE_BEFORE = re.compile(
    r"\b(?:stage|grade|type|class|phase|factor|group|schedule|nerve|category|and|or|III?|nyha|"
    r"collagen)[\s-]+$",
    re.IGNORECASE,
)
_NO_ROUTE_AFTER = re.compile(
    r"[\s-]*(?:contracepti\w+|hygiene|cancers?|health|mucosa\w*|cavity|thrush|candid\w+|ulcers?|herpes|"
    r"lesions?|surgery|bleed\w*|births?|deliver\w+|discharge|dryness|atroph\w+|examin\w*|swabs?|exam|"
    r"temperature|symptoms?|"
    r"infections?|microb\w+|flora|glucose|intake|sex|prolapse|access|lines?|cannula|catheter|congestion|"
    r"polyps?|tumou?rs?|fat|emphysema|tissue|nodules?|drug users?|or\b|and\b)",
    re.IGNORECASE,
)
_ADMINISTERED = re.compile(
    r"\b(?:giv\w+|gave|dos\w+|administ\w+|inject\w*|infus\w*|route|mg|mcg|micrograms?|units?|g|tak\w+|"
    r"use[ds]?|treat\w*|therapy|tablets?|prescri\w+|course|start\w*|switch\w*|agents?|drugs?|formulations?|"
    r"preparations?|loading|bolus|goes?|get|gets|deliver\w*|instil\w*|tube|"
    r"swallow\w*|rub\w*|appl\w+|drops?|dripped)\b",
    re.IGNORECASE,
)
_DENIED_ROUTE = re.compile(
    r"\b(?:not|never|rather than|instead of|without|nor|no|little|than|avoid\w*|except|unlike|since|because|"
    r"although|did not respond to|switched from|from|after)\s+(?:[\w'-]+\s+){0,5}$",
    re.IGNORECASE,
)
_LOOK_BACK = 60  # characters before a route in which it may be denied


def missing_routes(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "route" for each route of `claim` that the evidence does not give.

    Example: "intravenous" against "take one tablet". A route is given where a text names it, or where the
    deciding sentence implies it. The forms of `missing_forms` ("tablets") are yielded too. A claim that
    speaks neither of giving nor of a drug has no routes.
    """
    if not _ADMINISTERED.search(claim) and not any(mention.kind == "drug" for mention in linked(claim)):
        return
    yield from missing_forms(claim, evidence)
    sentence = evidence.nearest
    for route, start, end in read_routes(claim):
        near = {sentence[s:e] for other, s, e in read_routes(sentence) if _is_given(other, sentence)}
        same_parity = is_odd(claim) == is_odd(sentence)
        if (_is_given(route, sentence) is False and near and same_parity) or (
            _is_ruled_out(route, sentence) and not is_odd(claim)
        ):
            yield Missing("route", start, end, instead=only_of(near))
            continue
        if _IMPLIED[route].search(sentence) or any(_NAMED[route].search(text) for text in evidence.texts):
            continue
        if not near and any(_IMPLIED[route].search(text) for text in evidence.texts):
            continue
        same = shared_with(claim, start, end, sentence) >= SAME_STATEMENT
        yield Missing("route", start, end, instead=only_of(near) if same else "")


def _is_ruled_out(route: str, sentence: str) -> bool:
    """Returns whether the sentence names the route, but only behind "and not", "never" or "rather than"."""
    places = [found.start() for found in _NAMED[route].finditer(sentence)]
    return bool(places) and all(_RULED_OUT.search(sentence[max(0, at - _LOOK_BACK) : at]) for at in places)


def missing_forms(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "route" for a form of a drug where the evidence has other forms only.

    Example: "tablets" where the deciding sentence, `evidence.nearest`, says "eye drops". At most one is
    yielded.
    """
    sentence = evidence.nearest
    known = {route for route, *_ in read_forms(sentence)}
    known |= {route for route, *_ in read_routes(sentence) if _is_given(route, sentence)}
    if not known or is_odd(claim) != is_odd(sentence):
        return
    for route, start, end in read_forms(claim):
        implied = _IMPLIED.get(route, _FORMS[route])
        if any(_go_together(route, other) for other in known):
            continue
        if any(implied.search(text) for text in evidence.in_order):
            continue
        if shared_with(claim, start, end, sentence) >= SAME_STATEMENT:
            note = f"claim says {claim[start:end]}, the evidence has another form of the drug"
            yield Missing("route", start, end, note=note)
            return


def read_forms(text: str) -> list[tuple[str, int, int]]:
    """Returns (route, start, end) for each form of a drug in `text`: ("oral", 4, 11) for "two tablets"."""
    return [
        (route, found.start(), found.end())
        for route, pattern in _FORMS.items()
        for found in pattern.finditer(text)
    ]


def _go_together(route: str, other: str) -> bool:
    """Returns whether a drug of one form may be given by the other route: "injected", "intravenous"."""
    return route == other or any({route, other} <= group for group in _TOGETHER)


def read_routes(text: str) -> list[tuple[str, int, int]]:
    """Returns (route, start, end) for each route that `text` names: ("oral", 5, 13) for "give by mouth".

    "Oral hygiene" and "stage IV" name no route.
    """
    return [
        (route, found.start(), found.end())
        for route, pattern in _NAMED.items()
        for found in pattern.finditer(text)
        if not _NO_ROUTE_BEFORE.search(text[max(0, found.start() - 20) : found.start()])
        and not _NO_ROUTE_AFTER.match(text, found.end())
    ]


def _is_given(route: str, sentence: str) -> bool | None:
    """Returns whether the sentence says that a drug is given by the route.

    Returns:
        False where it only denies the route or sets it apart ("rather than by mouth"), None where it neither
        names nor implies it.
    """
    places = [found.start() for found in _IMPLIED[route].finditer(sentence)]
    if not places:
        return None
    clauses = (re.split(r"[,;]", sentence[max(0, place - _LOOK_BACK) : place])[-1] for place in places)
    return any(not _DENIED_ROUTE.search(clause) for clause in clauses)
