"""The authority of a source: what its chunk states, else what its corpus, title or address implies.

The steps are those of the evidence pyramid, as `guideline_adherence` counts them: guideline, systematic
review, randomized trial, cohort, review, site. The name of a corpus with a single kind of text decides first.
Next is a title that names a study design, since a journal prints all designs, and then the publisher's
address. The authority of a journal article without such a title is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from pytest_medfaith.records import Authority, Chunk

# Words of a title that name the study design; the first match counts.
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
            "medlineplus.gov nih.gov nhs.uk cdc.gov who.int fda.gov ema.europa.eu cancer.gov "
            "womenshealth.gov mayoclinic.org"
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
# These hosts have whole books and articles of all kinds; only their titles tell what they are.
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
    """Returns the authority that `chunk` states, or that its source, title or address implies; else None."""
    by_title = (authority for authority, words in _TITLES if words.search(chunk.title))
    return (
        chunk.authority
        or _SOURCES.get(chunk.source.lower())
        or next(by_title, None)
        or _of_address(chunk.url)
        or ("review" if _REVIEW.search(chunk.title) else None)
    )


def _of_address(url: str) -> Authority | None:
    """Returns the authority of a publisher's address; None for a library, an unknown host and no address."""
    if _BOOKSHELF.search(url):
        return "review"
    try:
        host = (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:  # "http://[broken" is no address
        return None
    if any(host == library or host.endswith("." + library) for library in _LIBRARIES):
        return None
    parts = host.split(".")
    names = (".".join(parts[start:]) for start in range(len(parts)))
    return next((_HOSTS[name] for name in names if name in _HOSTS), None)
