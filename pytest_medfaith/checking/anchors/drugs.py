"""Drugs of a claim that the evidence does not name, also names that look like a drug of the evidence.

Example: "hydroxyzine" where the evidence says "hydralazine".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import lru_cache

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing, linked, mentions_at
from pytest_medfaith.english.stems import word_key
from pytest_medfaith.english.words import read_tokens
from pytest_medfaith.entities.linker import Mention, load_concepts

ALIKE = 0.65  # of the letters of two names: "hydroxyzine" and "hydralazine"
_LONG_NAME = 6  # letters; shorter names are alike by chance

# Stems of international nonproprietary names that end no plain words (WHO, "The use of stems in the selection
# of INN").
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
_LIKE_IT = re.compile(
    r"[-\s](?:type|like|style)\b", re.IGNORECASE
)  # "paracetamol-type medicines" are a class
_CLASS_WORDS = frozenset(
    word_key(word)
    for word in """placebo oxygen alcohol caffeine vaccine vitamin nicotine iron water sedative stimulant
    antibiotic analgesic""".split()
)


def missing_drugs(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "drug" for each drug of `claim` that the evidence does not name.

    The evidence may name it by another name, by its class ("a statin") or by a member of the class. A word
    that no table knows counts as a drug if its ending is that of drugs ("-vastatin"), or if it looks like a
    drug of the deciding sentence.
    """
    whole = evidence.whole.lower()
    for mention in linked(claim):
        words = claim[mention.start : mention.end].lower()
        if mention.kind != "drug" or _begins_a_word(words, whole) or _LIKE_IT.match(claim, mention.end):
            continue
        is_class = mention.concept in _drug_classes() or word_key(words) in _CLASS_WORDS
        if not is_class and not _has_other_name(mention, words, whole) and not evidence.names(mention):
            yield Missing("drug", mention.start, mention.end)
    for token in read_tokens(claim):
        if not token.key or _begins_a_word(token.lower, whole) or mentions_at(claim, token.start):
            continue
        is_drug = _STEM.fullmatch(token.text) or _looks_like_a_drug_of(evidence, token.text, claim)
        if is_drug and token.key not in evidence.keys:
            yield Missing("drug", token.start, token.end)


@lru_cache(maxsize=1)
def _drug_classes() -> frozenset[str]:
    """Returns the ids of the concepts that have members: "statin", for example."""
    return frozenset(parent for concept in load_concepts().by_id.values() for parent in concept.parents)


def _has_other_name(mention: Mention, words: str, whole: str) -> bool:
    """Returns whether the evidence has another name of the drug, or each part of a combination ("a/b").

    Args:
        mention: the drug as the claim names it.
        words: these words of the claim, in lower case.
        whole: all evidence in lower case.
    """
    parts = re.split(r"\s*(?:/|\+|-(?=[a-z]{4,}))\s*", words)
    if len(parts) > 1 and all(part in whole for part in parts):
        return True
    return any(_begins_a_word(name.lower(), whole) for name in load_concepts().by_id[mention.concept].names)


def _begins_a_word(words: str, text: str) -> bool:
    """Returns whether `text` has `words` where a word begins: not "cetirizine" in "levocetirizine"."""
    # Most texts do not have the words at all, and a pattern of its own for each name takes long to compile.
    return words in text and re.search(rf"(?<![^\W_]){re.escape(words)}", text) is not None


def _looks_like_a_drug_of(evidence: Evidence, word: str, claim: str) -> bool:
    """Returns whether `word` of the claim is nearly the name of a drug in the deciding sentence."""
    if len(word) < _LONG_NAME or not word.isalpha() or not _DRUG_LIKE.search(word):
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
