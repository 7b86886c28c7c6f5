"""Genes, markers, trials and organisations of a claim that the evidence does not name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, mentions_at, only_of, shared_with
from pytest_medfaith.english.words import LETTERS

# Share of the claim's words, apart from the marker, that a sentence must hold. Then both are on the same
# matter, and the marker of the sentence is compared with that of the claim.
SAME_STATEMENT = 0.5
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
_CLAUSE_AFTER = re.compile(r"\W*$|[,;:.]|\s+guid|\s+and\b")
# Share of a claim's words, apart from its name, that a sentence must hold. Then only the name differs.
_SAME_BUT_NAME = 0.6
_FEWEST_INITIALS = 3
_CLINICAL = frozenset(  # Evidence may say these in words with other initials: "three times a day" for "TID".
    "TDS QDS BID TID QID PRN ECG EKG EEG CXR MRI PET FBC CBC LFT LFTs GFR BMI BNP CRP ESR ABG CSF CPR ICU "
    "ITU IVIG PPI OTC USA".split()
)
_EPONYM = re.compile(
    r"(?<=\w\s)(?P<name>[A-Z][a-z]{2,}(?:[-–][A-Z][a-z]+)*)(?:[’']s)?\s+(?P<of>criteria|scores?|scale|"
    r"classification|formula|equation|rules?|index|regimen|manoeuvre|maneuver|sign|test|protocol|stage|"
    r"technique|procedure)\b"
)
_BODY = (
    r"Organi[sz]ation|Agency|Administration|Society|College|Association|Institutes?|Academy|Federation|"
    r"Initiative|Collaboration|Task Force|Committee|Foundation|Council|University|Clinic|Network"
)
_ORGANISATION = re.compile(
    rf"\b(?:(?:[A-Z][\w’'-]+|of|for|and|the|on|in)\s+){{1,8}}(?:{_BODY})(?:\s+(?:of|for|"
    rf"on)(?:\s+(?:the\s+)?[A-Z][\w-]+){{1,4}})?|\b(?:Cochrane|Lancet|Mayo Clinic)\b"
)
_SMALL_WORDS = ("of", "the", "and", "for", "in", "on", "to")


def missing_markers(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "gene" for genes, markers and scores that the evidence does not name.

    Examples: BRCA1, IL-6, CHA2DS2. `instead` holds the only similar name ("BRCA2") of a sentence that says
    the rest of the claim. Names without a similar name in it count only if they are known or called genes.
    """
    for found in _MARKER.finditer(claim):
        name, stem = _plain(found[0]), _stem(found[0])
        mentions = mentions_at(claim, found.start())
        if name in _plain(evidence.whole) or any(map(evidence.names, mentions)):
            continue
        if _is_spelled_out(stem, evidence.whole):
            continue
        near = {other[0] for other in _MARKER.finditer(evidence.nearest) if _stem(other[0]) == stem}
        if not near:
            stem_alone = rf"(?<![A-Za-z]){stem}(?!\w)"
            if len(stem) >= 3 and re.search(stem_alone, evidence.whole, re.IGNORECASE):
                continue
            is_gene = any(mention.kind == "gene" for mention in mentions)
            if not is_gene and not _GENE_AFTER.match(claim, found.end()):
                continue
        same = shared_with(claim, *found.span(), evidence.nearest) >= SAME_STATEMENT
        yield Missing("gene", *found.span(), instead=only_of(near) if same else "")


def missing_sources(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` for each trial and organisation that `claim` speaks of and no evidence names.

    The kind is "trial" ("the HOPE study") or "organisation" ("the ESC recommends", "World Health
    Organization"). The evidence may have the initials for the words, or the words for the initials.
    """
    whole = evidence.whole.lower()
    for found in _CAPITALS.finditer(claim):
        if mentions_at(claim, found.start()):
            continue
        name, ahead, behind = (
            found[0],
            claim[max(0, found.start() - 40) : found.start()],
            claim[found.end() :],
        )
        is_trial = len(name) >= 4 and bool(
            _STUDY_AFTER.match(behind) or (_STUDY_BEFORE.search(ahead) and _STUDY_WORDS.search(behind))
        )
        is_body = len(name) >= 3 and bool(
            _SPEAKS_AFTER.match(behind) or (_SPEAKS_BEFORE.search(ahead) and _CLAUSE_AFTER.match(behind))
        )
        if (is_trial or is_body) and not _is_named(name, evidence, whole):
            yield Missing("trial" if is_trial else "organisation", *found.span())
    for found in _ORGANISATION.finditer(claim):
        words = found[0].removeprefix("The ").removeprefix("the ")
        initials = "".join(word[0] for word in re.findall(r"[A-Z][\w’'-]*", words))
        by_initials = re.search(rf"\b{re.escape(initials)}\b", evidence.whole)
        if words.lower() not in whole and not by_initials and not _names_most_words(words, whole):
            yield Missing("organisation", found.end() - len(words), found.end())


def missing_initials(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "name" for a name in capitals that replaces another.

    Example: "in ONTARGET" where the deciding sentence, `evidence.nearest`, says "in HOPE". The sentence must
    share the claim's other words. If it has no name that the claim lacks, the claim's name may be an
    abbreviation of its writer.
    """
    if not _replacing(claim, evidence.nearest):
        return
    for found in _CAPITALS.finditer(claim):
        name, mentions = found[0], mentions_at(claim, found.start())
        if len(_plain(name)) < _FEWEST_INITIALS or name in _CLINICAL or _is_written(name, evidence.whole):
            continue
        if any(mention.kind != "gene" or evidence.names(mention) for mention in mentions):
            continue  # other readers compare drugs and diseases
        if shared_with(claim, *found.span(), evidence.nearest) >= _SAME_BUT_NAME:
            yield Missing("name", *found.span())


def _replacing(claim: str, nearest: str) -> bool:
    """Returns whether `nearest` has a name in capitals that `claim` neither has nor spells out."""
    return any(
        len(_plain(found[0])) >= _FEWEST_INITIALS
        and found[0] not in _CLINICAL
        and not _is_written(found[0], claim)
        and all(mention.kind == "gene" for mention in mentions_at(nearest, found.start()))
        for found in _CAPITALS.finditer(nearest)
    )


def _is_written(name: str, text: str) -> bool:
    """Returns whether `text` has `name`, alone or in a word ("IL-23-producing" for "IL23"), or spells it out.

    Lower-case words behind a hyphen are no part of the name: "KEAP1-mutant" is looked for as "KEAP1".
    """
    bare = re.sub(r"[-–][a-z].*", "", name)
    letters = "[-‐– ]?".join(map(re.escape, _plain(bare)))
    written = re.search(rf"(?<![A-Za-z0-9]){letters}", text, re.IGNORECASE)
    return bool(written) or _is_spelled_out(re.sub(r"[^A-Z]", "", bare), text)


def missing_eponyms(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "name" where the deciding sentence has a test or rule by another name.

    Example: "Jones criteria" where `evidence.nearest` says "Rotterdam criteria".
    """
    known = {found["of"].lower(): found["name"] for found in _EPONYM.finditer(evidence.nearest)}
    whole = evidence.whole.lower()
    for found in _EPONYM.finditer(claim):
        other = known.get(found["of"].lower(), "")
        if other and found["name"].lower() not in whole and other.lower() not in claim.lower():
            yield Missing("name", *found.span("name"))


def _names_most_words(words: str, whole: str) -> bool:
    """Returns whether the evidence has all but one, or all, of the capitalised words of `words`.

    It must also have the first six letters of the last of them: "Societies" is met by "Society".
    """
    telling = [word.lower() for word in re.findall(r"[A-Z][\w’'-]+", words)]
    return sum(word in whole for word in telling) >= max(1, len(telling) - 1) and telling[-1][:6] in whole


def _is_named(name: str, evidence: Evidence, whole: str) -> bool:
    """Returns whether the evidence, in lower case `whole`, has `name` or words with its initials."""
    return (
        name.lower() in whole
        or _plain(name) in _plain(evidence.whole)
        or _is_spelled_out(re.sub(r"[^A-Z]", "", name), evidence.whole)
    )


def _plain(name: str) -> str:
    """Returns the capitals and digits of a name: "IL6" for "interleukin-6" and "IL-6"."""
    return re.sub(r"[^A-Z0-9]", "", name.upper().replace("INTERLEUKIN", "IL"))


def _stem(name: str) -> str:
    """Returns a name up to its first digit: "BRCA" for "BRCA1"."""
    return re.sub(r"\d.*", "", _plain(name))


def _is_spelled_out(letters: str, text: str) -> bool:
    """Returns whether neighbouring words of `text` have these initials, with or without "of", "the" etc.

    False for a single letter.
    """
    if len(letters) < 2:
        return False
    words = LETTERS.findall(text)
    every = "".join(word[0] for word in words).lower()
    telling = "".join(word[0] for word in words if word.lower() not in _SMALL_WORDS).lower()
    return letters.lower() in every or letters.lower() in telling
