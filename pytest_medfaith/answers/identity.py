"""What a context can be cited by: its id, its title, its address, its PMID, PMCID and DOI."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_medfaith.records import Chunk

# A DOI may have balanced brackets: 10.1016/S0140-6736(20)30183-5.
DOI = r"10\.\d{4,9}/(?:[^\s\[\](){}<>,;\"'|]|\([\w.-]*\))*(?:[^\s\[\](){}<>,;\"'|.:!?]|\([\w.-]*\))"
PUBMED_ADDRESS = (
    r"(?:https?://)?(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/(\d{1,9})"
)
PMCID = r"PMC\s?\d{5,8}"
_DOI, _PUBMED_ADDRESS, _PMCID = re.compile(DOI), re.compile(PUBMED_ADDRESS, re.IGNORECASE), re.compile(PMCID)


def plain_name(name: str) -> str:
    """Returns `name` as ids and titles are compared, in lower case without signs: "nih3a" for "NIH-3 A"."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def plain_address(url: str, *, fragment: bool = False) -> str:
    """Returns an address in lower case without scheme, `www.` and closing slash.

    `fragment` keeps what comes after a "#"; else it is removed.
    """
    page, _, place = url.strip().partition("#")
    page = re.sub(r"^(?:https?://)?(?:www\.)?", "", page, flags=re.IGNORECASE).rstrip("/.")
    return f"{page}#{place}".lower() if fragment and place else page.lower()


def pmid_of(chunk: Chunk) -> str:
    """Returns the PMID of a context, from its data, its address or an id like `PMID 123`; "" for none."""
    if chunk.pmid:
        return chunk.pmid.strip()
    named = re.fullmatch(r"(?:PMID|pubmed)\s*[:_/-]?\s*(\d{1,9})", chunk.id.strip(), re.IGNORECASE)
    address = _PUBMED_ADDRESS.search(chunk.url)
    return named[1] if named else address[1] if address else ""


def doi_of(chunk: Chunk) -> str:
    """Returns the DOI of a context in lower case, from its key `doi`, its address or its id; "" for none."""
    places = (str(chunk.extra.get("doi", "")), chunk.url, chunk.id)
    found = next(filter(None, map(_DOI.search, places)), None)
    return found[0].lower() if found else ""


def pmcid_of(chunk: Chunk) -> str:
    """Returns the PMCID of a context, from its key `pmcid`, its address or its id; "" for none."""
    places = (str(chunk.extra.get("pmcid", "")), chunk.url, chunk.id)
    found = next(filter(None, map(_PMCID.search, places)), None)
    return found[0].replace(" ", "") if found else ""
