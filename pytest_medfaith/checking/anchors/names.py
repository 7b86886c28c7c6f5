"""Named drugs, look-alikes told apart; routes; genes and markers; trials and organisations that the evidence does not name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from types import MappingProxyType

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, is_odd, linked, shared_with
from pytest_medfaith.english.stems import word_key
from pytest_medfaith.english.words import LETTERS, read_tokens
from pytest_medfaith.entities.linker import Mention, load_concepts

SAME_STATEMENT = (
    0.5  # of the claim's other words that a sentence holds whose route or gene takes the place of the claim's
)
ALIKE = 0.65  # of the letters of two names: "hydroxyzine" and "hydralazine"
_LONG_NAME = 6  # letters; shorter names are alike by chance

# Stems of international nonproprietary names (WHO, "The use of stems in the selection of INN"), those that are no endings of plain words.
_STEM = re.compile(
    r"(?i:[a-z]{2,}(?:[pt]ril(?:at)?|sartan|olol|vastatin|dipine|conazole|[dt]azole|prazole|[iy]micin|mycin|"
    r"cillin|cycline|oxacin|vir|m[au]b|[td]inib|anib|enib|gliptin|gliflozin|glutide|glitazone|tidine|setron|"
    r"triptan|azepam|zolam|barbital|caine|"
    r"curonium|profen|fenac|oxicam|coxib|parin|xaban|gatran|grel|teplase|dronate|dronic acid|thiazide|"
    r"semide|lukast|[mt]erol|tropium|[eo]sone|solone|sonide|phylline|dafil|mustine|platin|taxel|rubicin|"
    r"tecan|poside|blastine|cristine|relin|relix|ciclib|"
    r"parib|rafenib|tinib|limus|[nr]cept|kinra|oxyzine|lazine|rizine|omazine|perazine|propamide|nazine|"
    r"zapine|pinol|oxetine|ipramine|triptyline|idone|peridol|codone|morphone|fentanil|fungin|roquine|"
    r"cef[a-z]+|dopamine|butamine|dramine|etamine|"
    r"adine|onidine|nidazole|furantoin|trexate|purine|uracil|citabine|mifene|oxifene|trozole|mestane|"
    r"gestrel|estradiol|thyroxine|thiouracil|vudine|navir|tegravir|ciclovir|amivir|floxacin|penem|bactam|"
    r"xaban))\b"
    r"|\b(?i:cef[a-z]{4,}|sulfa[a-z]{4,}|dexa?[a-z]{5,}one|predniso[a-z]+)\b"
)
_DRUG_LIKE = re.compile(
    r"(?:[^aeiou]in|ine|ide|ole|one|ol|il|am|an|ate|ium|ene|fen|vir|mab|nib|tan|cil|xel|pam|lam)$",
    re.IGNORECASE,
)
_CLASS_WORDS = frozenset(
    word_key(word)
    for word in """placebo oxygen alcohol caffeine vaccine vitamin nicotine iron water sedative stimulant
    antibiotic analgesic""".split()
)

# route: what names it / what implies it in evidence
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
            r"inhal\w*|nebuli\w*|puffs?|spacer|breath\w+ in",
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
        "intraosseous": (r"intraosseous(?:ly)?|(?-i:IO)", r"marrow|bone"),
    }
)
_READ = {
    route: re.compile(rf"(?<![\w-])(?:{names})(?![\w-])", re.IGNORECASE)
    for route, (names, _) in _ROUTES.items()
}
_IMPLIED = {
    route: re.compile(rf"(?<![\w-])(?:{names}|{implied})(?![\w-])", re.IGNORECASE)
    for route, (names, implied) in _ROUTES.items()
}
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
    r"preparations?|loading|bolus|goes?|get|gets)\b",
    re.IGNORECASE,
)

_MARKER = re.compile(
    r"(?<![\w-])(?:[A-Z][A-Za-z]?[A-Z]+|[A-Z]{2,})[-‐]?[A-Z]?\d{1,4}(?:[A-Z]\d{1,3}|[A-Z]{1,2})?(?![\w]|"
    r"[.,]\d|-\d{2,4})|(?<![\w-])[A-Z]\d{2,4}[A-Z](?![\w-])"
)
_GENE_AFTER = re.compile(
    r"[\s-]+(?:gene|mutat\w+|variants?|polymorphism|alleles?|carriers?|inhibit\w+|block\w+|antagonists?|"
    r"agonists?|receptors?|expression|fusions?|rearrange\w+|amplif\w+|deletions?|poor metaboli\w+|"
    r"metaboli\w+|positive|negative)\b",
    re.IGNORECASE,
)
_CAPITALS = re.compile(r"(?<![\w-])[A-Z][A-Z0-9]*[A-Z][A-Z0-9]*(?:[-–][A-Za-z0-9]+)*(?![\w])")
_STUDY_AFTER = re.compile(
    r"[\s-]+(?:\d\w*\s+)?(?:trials?|stud(?:y|ies)|cohort|registry|investigators|programme|program|"
    r"extension)\b|,\s+(?:an?|the)\s+(?:[\w-]+\s+){0,6}(?:trial|study|cohort)\b",
    re.IGNORECASE,
)
_STUDY_BEFORE = re.compile(
    r"\b(?:trials?|stud(?:y|ies))(?:,|:|\s+(?:called|named|known as))?\s+\(?$|(?:^|[.:;]\s+)In (?:the )?$",
    re.IGNORECASE,
)
_STUDY_WORDS = re.compile(
    r"\b(?:trial|study|randomi[sz]ed|placebo|arm|cohort|compared|versus|vs|enrolled|prevented|reduced|"
    r"lowered|cut)\b",
    re.IGNORECASE,
)
_SPEAKS_AFTER = re.compile(
    r"[’']?s?\s+(?:\d{4}\s+)?(?:guid\w+|recommend\w*|advis\w+|suggest\w*|approv\w+|stat\w+|says?|favou?rs?|"
    r"endors\w+|warn\w*|licen[cs]\w+|require\w*|support\w*|defin\w+|consensus|criteria|list\w*)\b",
    re.IGNORECASE,
)
_SPEAKS_BEFORE = re.compile(r"\b(?:according to|per|by|from|recommended by|the) (?:the )?$", re.IGNORECASE)
_BODY = (
    r"Organi[sz]ation|Agency|Administration|Society|College|Association|Institutes?|Academy|Federation|"
    r"Initiative|Collaboration|Task Force|Committee|Foundation|Council|University|Clinic|Network"
)
_ORGANISATION = re.compile(
    rf"\b(?:(?:[A-Z][\w’'-]+|of|for|and|the|on|in)\s+){{1,8}}(?:{_BODY})(?:\s+(?:of|for|"
    rf"on)(?:\s+(?:the\s+)?[A-Z][\w-]+){{1,4}})?|\b(?:Cochrane|Lancet|Mayo Clinic)\b"
)


@lru_cache(maxsize=1)
def _with_members() -> frozenset[str]:
    """Returns the ids of concepts that hold others: classes of drugs."""
    return frozenset(parent for concept in load_concepts().by_id.values() for parent in concept.parents)


def missing_drugs(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the drugs that `claim` names and no evidence does, neither by another name nor by their class or a member of it."""
    whole = evidence.whole.lower()
    named = [
        mention
        for mention in linked(claim)
        if mention.kind == "drug" and claim[mention.start : mention.end].lower() not in whole
    ]
    for mention in named:
        general = (
            mention.concept in _with_members()
            or word_key(claim[mention.start : mention.end].lower()) in _CLASS_WORDS
        )
        if (
            not general
            and not _names_member(mention, whole, claim[mention.start : mention.end])
            and not any(mention.is_related(other) for other in evidence.mentions)
        ):
            yield Missing("drug", mention.start, mention.end)
    for token in read_tokens(claim):
        if (
            not token.key
            or token.lower in whole
            or any(mention.start <= token.start < mention.end for mention in linked(claim))
        ):
            continue
        if (
            _STEM.fullmatch(token.text) or _look_alike(token.text, evidence, claim)
        ) and token.key not in evidence.keys:
            yield Missing("drug", token.start, token.end)


def _names_member(mention: Mention, whole: str, words: str) -> bool:
    """Returns whether the evidence has one of the drug's names, or each drug of "piperacillin/tazobactam"."""
    parts = re.split(r"\s*(?:/|\+|-(?=[a-z]{4,}))\s*", words.lower())
    if len(parts) > 1 and all(part in whole for part in parts):
        return True
    names = load_concepts().by_id[mention.concept].names
    return any(name.lower() in whole for name in names)


def _look_alike(word: str, evidence: Evidence, claim: str) -> bool:
    """Returns whether a word that no evidence has is almost one of its drugs, or a name that nearly is one of its names."""
    if len(word) < _LONG_NAME or not word.isalpha():
        return False
    if not _DRUG_LIKE.search(word):
        return False
    lower = claim.lower()
    return any(
        len(token.text) >= _LONG_NAME
        and token.lower not in lower
        and token.key != word_key(word.lower())
        and _DRUG_LIKE.search(token.text)
        and word[:2].lower() == token.lower[:2]
        and SequenceMatcher(None, word.lower(), token.lower, autojunk=False).ratio() >= ALIKE
        for token in read_tokens(evidence.nearest)
    )


def read_routes(text: str) -> list[tuple[str, int, int]]:
    """Returns the routes of giving a drug that `text` names, with their spans."""
    return [
        (route, match.start(), match.end())
        for route, pattern in _READ.items()
        for match in pattern.finditer(text)
        if not _NO_ROUTE_BEFORE.search(text[max(0, match.start() - 20) : match.start()])
        and not _NO_ROUTE_AFTER.match(text, match.end())
    ]


def missing_routes(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the routes of `claim` that the evidence neither names nor implies: "intravenous" of tablets."""
    if not _ADMINISTERED.search(claim) and not any(mention.kind == "drug" for mention in linked(claim)):
        return
    for route, start, end in read_routes(claim):
        asserted = _asserted(route, evidence.nearest)
        near = {
            evidence.nearest[s:e]: other
            for other, s, e in read_routes(evidence.nearest)
            if _asserted(other, evidence.nearest)
        }
        if asserted is False and near and is_odd(claim) == is_odd(evidence.nearest):
            yield Missing("route", start, end, instead=next(iter(near)) if len(near) == 1 else "")
            continue
        if any(
            _IMPLIED[route].search(text)
            for text in (evidence.nearest, *evidence.texts)
            if text == evidence.nearest
        ) or any(_READ[route].search(text) for text in evidence.texts):
            continue
        implied = any(_IMPLIED[route].search(text) for text in evidence.texts)
        if implied and not near:
            continue
        alone = len(near) == 1 and shared_with(claim, start, end, evidence.nearest) >= SAME_STATEMENT
        yield Missing("route", start, end, instead=next(iter(near)) if alone else "")


_DENIED_ROUTE = re.compile(
    r"\b(?:not|never|rather than|instead of|without|nor|no|little|than|avoid\w*|except|unlike|since|because|"
    r"although|did not respond to|switched from|from|after)\s+(?:[\w'-]+\s+){0,5}$",
    re.IGNORECASE,
)


def _asserted(route: str, sentence: str) -> bool | None:
    """Returns whether the sentence says the route of giving outright; False where it only denies it or sets it apart, None where it does not name it."""
    places = [match.start() for match in _IMPLIED[route].finditer(sentence)]
    if not places:
        return None
    return any(
        not _DENIED_ROUTE.search(re.split(r"[,;]", sentence[max(0, place - _BACK) : place])[-1] + "")
        for place in places
    )


_BACK = 60  # characters


def missing_markers(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields genes, markers, variants and scores (BRCA1, CYP2D6, IL-6, CHA2DS2) that the evidence does not name."""
    for match in _MARKER.finditer(claim):
        name = _plain(match[0])
        stem = re.sub(r"\d.*", "", name)
        if (
            name in _plain(evidence.whole)
            or _by_concept(match.start(), claim, evidence)
            or spelled_out(stem, evidence.whole)
        ):
            continue
        near = {
            found[0]
            for found in _MARKER.finditer(evidence.nearest)
            if re.sub(r"\d.*", "", _plain(found[0])) == stem
        }
        if (
            not near
            and len(stem) >= 3
            and re.search(rf"(?<![A-Za-z]){stem}(?!\w)", evidence.whole, re.IGNORECASE)
        ):
            continue
        if not near and not _is_gene(match, claim):
            continue
        alone = (
            len(near) == 1
            and shared_with(claim, match.start(), match.end(), evidence.nearest) >= SAME_STATEMENT
        )
        yield Missing("gene", match.start(), match.end(), instead=next(iter(near)) if alone else "")


def _is_gene(match: re.Match[str], claim: str) -> bool:
    """Returns whether the table knows the name as a gene's, or a word beside it says that it is one."""
    named = any(
        mention.kind == "gene" and mention.start <= match.start() < mention.end for mention in linked(claim)
    )
    return named or bool(_GENE_AFTER.match(claim, match.end()))


def _by_concept(place: int, claim: str, evidence: Evidence) -> bool:
    mentions = [mention for mention in linked(claim) if mention.start <= place < mention.end]
    return any(mention.is_related(other) for mention in mentions for other in evidence.mentions)


def _plain(name: str) -> str:
    return re.sub(r"[^A-Z0-9]", "", name.upper().replace("INTERLEUKIN", "IL"))


def missing_sources(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields the trials and organisations that `claim` speaks of and no evidence names."""
    lower = evidence.whole.lower()
    for match in _CAPITALS.finditer(claim):
        if any(mention.start <= match.start() < mention.end for mention in linked(claim)):
            continue
        ahead, behind = claim[max(0, match.start() - 40) : match.start()], claim[match.end() :]
        trial = len(match[0]) >= 4 and bool(
            _STUDY_AFTER.match(behind) or (_STUDY_BEFORE.search(ahead) and _STUDY_WORDS.search(behind))
        )
        body = len(match[0]) >= 3 and bool(
            _SPEAKS_AFTER.match(behind)
            or (_SPEAKS_BEFORE.search(ahead) and re.match(r"\W*$|[,;:.]|\s+guid|\s+and\b", behind))
        )
        if (trial or body) and not _named(match[0], evidence, lower):
            yield Missing("trial" if trial else "organisation", match.start(), match.end())
    for match in _ORGANISATION.finditer(claim):
        words = match[0].removeprefix("The ").removeprefix("the ")
        initials = "".join(word[0] for word in re.findall(r"[A-Z][\w’'-]*", words))
        if (
            words.lower() not in lower
            and not re.search(rf"\b{re.escape(initials)}\b", evidence.whole)
            and not _same_body(words, lower)
        ):
            yield Missing("organisation", match.end() - len(words), match.end())


def _same_body(words: str, lower: str) -> bool:
    """Returns whether most of the telling words of an organisation's name stand in the evidence: "American Heart Association", "Heart Association's"."""
    telling = [word.lower() for word in re.findall(r"[A-Z][\w’'-]+", words)]
    return sum(word in lower for word in telling) >= max(1, len(telling) - 1) and telling[-1][:6] in lower


def _named(name: str, evidence: Evidence, lower: str) -> bool:
    return (
        name.lower() in lower
        or _plain(name) in _plain(evidence.whole)
        or spelled_out(re.sub(r"[^A-Z]", "", name), evidence.whole)
    )


def spelled_out(letters: str, text: str) -> bool:
    """Returns whether `letters` are the first letters of words that follow each other in `text`, small words passed over or not."""
    if len(letters) < 2:
        return False
    words = LETTERS.findall(text)
    every = "".join(word[0] for word in words).lower()
    telling = "".join(
        word[0] for word in words if word.lower() not in ("of", "the", "and", "for", "in", "on", "to")
    ).lower()
    return letters.lower() in every or letters.lower() in telling
