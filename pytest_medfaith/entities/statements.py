"""Tells which texts say the same with other names of a drug or disease, and writes a claim in other names.

Example: "Acetaminophen lowers fever" and "Paracetamol lowers fever." are the same statement. Statements about
prednisone and prednisolone, or about 5 mg and 50 mg, are not: everything but the names must be equal, letter
for letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from pytest_medfaith.entities.abbreviations import find_abbreviations
from pytest_medfaith.entities.linker import Mention

Linker = Callable[[str], Sequence[Mention]]

# Kinds of concepts whose names mean the same everywhere. "Patients" and "volunteers" both name people, but
# not the same people.
NAMED = frozenset({"drug", "disease", "gene", "organism"})
# Texts that differ in more words than this are not compared by names.
_MOST_NAMED = 24
_ARTICLE = re.compile(r"\b([Aa])n(?=\s\x00)")  # "an MI" beside "a heart attack"
_NAME = "\x00{}\x00"


def defined_in(texts: Iterable[str]) -> dict[str, str]:
    """Returns {short form: long form} of what the texts define, without short forms with two meanings.

    "MS" is left out where one text has "multiple sclerosis (MS)" and another "mitral stenosis (MS)".
    """
    found: dict[str, str] = {}
    unclear: set[str] = set()
    for text in texts:
        for short, long in find_abbreviations(text).items():
            if found.setdefault(short, long).casefold() != long.casefold():
                unclear.add(short)
    return {short: long for short, long in found.items() if short not in unclear}


def written_out(text: str, defined: Mapping[str, str]) -> str:
    """Returns `text` with long forms for its short forms, and without the brackets that define them.

    "Heart failure (HF) kills." becomes "heart failure kills.", with {"HF": "heart failure"} as `defined`,
    which is {short form: long form}. A short form is found only in its spelling: "hf" stays.
    """
    for short, long in defined.items():
        text = re.sub(rf"(?i:{re.escape(long)})\s*\({re.escape(short)}\)", long, text)
        text = re.sub(rf"(?<![\w(-]){re.escape(short)}(?![\w)])", lambda _, long=long: long, text)  # type: ignore[misc]
    return text


def statement(text: str, *, linker: Linker, defined: Mapping[str, str]) -> str:
    """Returns `text` with the concept id in the place of each name: equal for texts that say the same.

    Only names that always mean their concept are replaced (`Mention.exact`). The rest stays as written,
    except for blanks, full stops and exclamation marks at the end, the first capital, and "an" before a name,
    which becomes "a".

    Args:
        text: a claim, or a passage.
        linker: finds the names.
        defined: {short form: long form}, from `defined_in`.
    """
    full = " ".join(written_out(text, defined).split()).rstrip(".!")
    for mention in sorted(_names(full, linker), key=lambda one: -one.start):
        full = full[: mention.start] + _NAME.format(mention.concept) + full[mention.end :]
    return _ARTICLE.sub(r"\1", full[:1].lower() + full[1:])


def first_alike(texts: Sequence[str], *, linker: Linker, defined: Mapping[str, str]) -> tuple[int, ...]:
    """Returns for each text the index of the first text that says the same in other names.

    () where no two do. Texts that are equal word for word keep their own index, unless a third text says the
    same in other names.

    Args:
        texts: gold claims, or passages.
        linker: finds the names.
        defined: {short form: long form}, from `defined_in`.
    """
    words = [frozenset(text.casefold().rstrip(".! ").split()) for text in texts]
    read: dict[int, str] = {}
    firsts: list[int] = []
    for place in range(len(texts)):
        similar = [i for i in dict.fromkeys(firsts) if len(words[i] ^ words[place]) <= _MOST_NAMED]
        for i in (*similar, place) if similar else ():
            if i not in read:
                read[i] = statement(texts[i], linker=linker, defined=defined)
        firsts.append(next((i for i in similar if read[i] == read[place]), place))
    renamed = {first for first, text in zip(firsts, words, strict=True) if text != words[first]}
    kept = [first if first in renamed else place for place, first in enumerate(firsts)]
    return tuple(kept) if renamed else ()


def in_names_of(claim: str, evidence: str, *, linker: Linker, defined: Mapping[str, str]) -> str:
    """Returns the claim with the evidence's name for each drug and disease that the two call differently.

    "Tylenol lowers fever" becomes "Acetaminophen lowers fever" for "Acetaminophen is given for fever".
    Unchanged where both use the same names.

    Args:
        claim: the text of the claim.
        evidence: the text of a passage.
        linker: finds the names.
        defined: {short form: long form} of what the answer defines.
    """
    meant = find_abbreviations(evidence)
    unknown = {
        short: long
        for short, long in defined.items()
        if not _holds(evidence, short) or meant.get(short, long).casefold() != long.casefold()
    }
    told = written_out(claim, unknown)
    said: dict[str, str] = {}
    for mention in _names(evidence, linker):
        said.setdefault(mention.concept, evidence[mention.start : mention.end])
    for mention in sorted(_names(told, linker), key=lambda one: -one.start):
        name = said.get(mention.concept)
        if name and not _holds(evidence, told[mention.start : mention.end]):
            told = told[: mention.start] + name + told[mention.end :]
    return told


def _names(text: str, linker: Linker) -> list[Mention]:
    """Returns the mentions of `text` that always mean their concept, of the kinds in NAMED."""
    return [mention for mention in linker(text) if mention.exact and mention.kind in NAMED]


def _holds(text: str, name: str) -> bool:
    """Returns whether `text` has `name` as whole words, in either case."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
