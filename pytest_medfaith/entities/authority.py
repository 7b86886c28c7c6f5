"""How much a source's word weighs: the chunk's own `authority`, else what its title, address and corpus name say.

The steps are those of the evidence pyramid, as `guideline_adherence` counts them: guideline, systematic review, randomized trial, cohort,
review, site. The name of a corpus that holds one kind of text speaks first, then a title that names its study design (a journal prints
all of them), then the publisher's address. A journal article whose title tells nothing has no known authority.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from pytest_medfaith.records import Authority, Chunk

# What a title says of the study design; the first that matches counts.
_TITLE_WORDS: tuple[tuple[Authority, str], ...] = (
    (
        "guideline",
        (
            r"guidelines?(?!-)|guidance|recommendations?|consensus (?:statement|report)|position statement|"
            r"practice bulletin"
        ),
    ),
    ("guideline", r"standards of (?:medical )?care|clinical policy|appropriateness criteria"),
    ("systematic_review", r"systematic(?:ally)? review\w*|meta-analys[ie]s|umbrella review|cochrane"),
    ("rct", r"randomi[sz]ed|placebo-controlled|double-blind|trial|RCT"),
    (
        "cohort",
        r"cohort|case-control|registry|observational|longitudinal|prospective|retrospective|cross-sectional",
    ),
)
_TITLES = tuple(
    (authority, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for authority, words in _TITLE_WORDS
)
_REVIEW = re.compile(r"\b(?:review|overview|state of the art|primer)\b", re.IGNORECASE)
# Publishers by the end of their host name.
_PUBLISHERS: tuple[tuple[Authority, str], ...] = (
    (
        "guideline",
        (
            "nice.org.uk sign.ac.uk uspreventiveservicestaskforce.org kdigo.org ginasthma.org goldcopd.org "
            "idsociety.org acog.org"
        ),
    ),
    (
        "guideline",
        (
            "escardio.org survivingsepsis.org nccn.org asco.org eular.org easl.eu g-i-n.net bts.org.uk "
            "rcog.org.uk"
        ),
    ),
    ("systematic_review", "cochranelibrary.com cochrane.org"),
    ("review", "statpearls.com uptodate.com bestpractice.bmj.com msdmanuals.com merckmanuals.com"),
    (
        "site",
        (
            "medlineplus.gov nih.gov nhs.uk cdc.gov who.int fda.gov ema.europa.eu cancer.gov womenshealth.gov "
            "mayoclinic.org"
        ),
    ),
    (
        "site",
        (
            "clevelandclinic.org webmd.com healthline.com cancer.org heart.org familydoctor.org kidney.org "
            "diabetes.org lung.org"
        ),
    ),
)
_HOSTS: Mapping[str, Authority] = MappingProxyType(
    {host: authority for authority, hosts in _PUBLISHERS for host in hosts.split()}
)
# Whole books and articles stand on these hosts; only their title says what they are.
_LIBRARIES = ("ncbi.nlm.nih.gov", "pubmed.gov", "europepmc.org", "doi.org")
_BOOKSHELF = re.compile(r"ncbi\.nlm\.nih\.gov/books/")
_SOURCES: Mapping[str, Authority] = MappingProxyType(
    {
        "nih_medlineplus": "site",
        "medlineplus": "site",
        "medquad": "site",
        "statpearls": "review",
        "textbooks": "review",
        "textbook": "review",
        "cochrane": "systematic_review",
    }
)


def authority_of(chunk: Chunk) -> Authority | None:
    """Returns the authority that `chunk` states, else the one its source, title or address imply, else None."""
    told = (
        chunk.authority
        or _SOURCES.get(chunk.source.lower())
        or _of_title(chunk.title)
        or _of_address(chunk.url)
    )
    return told or ("review" if _REVIEW.search(chunk.title) else None)


def _of_title(title: str) -> Authority | None:
    return next((authority for authority, words in _TITLES if words.search(title)), None)


def _of_address(url: str) -> Authority | None:
    if _BOOKSHELF.search(url):
        return "review"
    host = _host(url).removeprefix("www.")
    if any(host == library or host.endswith("." + library) for library in _LIBRARIES):
        return None
    parts = host.split(".")
    return next(
        (_HOSTS[name] for start in range(len(parts)) if (name := ".".join(parts[start:])) in _HOSTS), None
    )


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # "http://[broken": no address tells nothing
        return ""
