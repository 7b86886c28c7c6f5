"""The forms in which people write citations, and the numbers in brackets that are no citations.

    Iron helps [1, 3].   Iron helps (1).   Iron helps.¹   Iron helps (Source 2).   Iron helps [nih-iron-3].
    Iron helps (PMID 31535829; doi:10.1000/x).   Iron helps ([NIH](https://ods.od.nih.gov/iron)).

A year, a dose, an interval, a reference range and the number of a list item are no citations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pytest_medfaith.answers.identity import DOI, PMCID, PUBMED_ADDRESS
from pytest_medfaith.claims.citable import Citable
from pytest_medfaith.english.lexicon import word_set

# "[120-140]" is a reference interval, not 21 sources.
_LONGEST_RANGE = 20
_DASH = r"[-\u2010-\u2014\u2212]"
_ONE = rf"\d{{1,3}}(?:\s*{_DASH}\s*\d{{1,3}})?"
_NUMBERS = rf"{_ONE}(?:\s*[,;]\s*{_ONE})*"
_COUNTED = rf"{_ONE}(?:\s*(?:[,;&]|,?\s*and)\s*{_ONE})*"
_SOURCE_WORD = (
    r"(?:sources?|documents?|docs?|passages?|contexts?|references?|refs?|chunks?|snippets?|excerpts?|"
    r"citations?|cites?|evidence|articles?|papers?)\.?\s*:?\s*(?:(?:no|nr|number)\b\.?\s*)?[#]?\s*"
)
_PMID_WORD = r"(?:PMIDs?\s*[:#]?|PubMed\s*(?:IDs?|identifiers?)?\s*[:#]?)"
_PMIDS = (
    rf"(?:PMIDs?\s*[:#]?\s*\d{{1,9}}|PubMed\s*(?:IDs?|identifiers?)?\s*[:#]?\s*\d{{5,9}})(?:\s*(?:[,;]"
    rf"|and)\s*(?:{_PMID_WORD}\s*\d{{1,9}}|\d{{7,9}}))*"
)
_LED = (
    r"(?:(?:see|cf\.?|from|per|source|sources|as\s+(?:stated|shown|described"
    r"|reported)\s+in)\s*:?\s*)?(?:the\s+)?"
)
_RAISED = "\u00b9\u00b2\u00b3\u2070\u2074-\u2079"
_RAISED_LIST = rf"[{_RAISED}]+(?:[,\u2019\u02d2\u2013\u207b-][{_RAISED}]+)*"
_RAISED_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻\u2019\u02d2", "0123456789-,,")
_BEHIND_RAISED = r"(?<=[.!?,;:)\u201d\"%])|(?-i:(?<=[a-z]{3}))"
_SUP = rf"(?:<sup>\s*\[?\s*(?P<sup>{_NUMBERS})\s*\]?\s*</sup>|\^\[?(?P<caret>{_NUMBERS})\]?\^)"
_UNIT_BEHIND = (
    r"(?!\s*(?:mg|g|kg|mcg|µg|ml|l|mmol|units?|iu|%|percent|hours?|h|days?|weeks?|months?|years?|minutes?|"
    r"times|doses?|tablets?|patients|people|trials|studies|of)\b|\s*%)(?![\w.,]*\d)(?!\w)"
)
_BARE_WORD = (
    r"(?:sources?|documents?|docs?|passages?|contexts?|references?|refs?\.?|chunks?|snippets?|excerpts?)"
)
_INTERVAL_BEFORE = re.compile(
    r"""\b(?:CI|IQR|CrI|intervals?|ranges?|ranging|between|limits?|normal|reference|aged?|ages|score|scale
        |stage|grade|phase|interquartile|percentile
        |quartiles?|bounds?)(?:\s+(?:of|was|is|values?|range))?\s*[:,=]?\s*$""",
    re.IGNORECASE | re.VERBOSE,
)
# In "glucose is back to normal [3]" a single number is a source.
_PLAIN_NORMAL = re.compile(r"\bnormal\s+$", re.IGNORECASE)
_NUMBER_BEFORE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s*(?:%|[A-Za-zµ]{1,6}/[A-Za-z.\d]{1,6})?\s*$")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]+\]:")
_LIST_LINE = re.compile(r"(?:^|[\r\n])\s*(?:[-*•]\s*)?\(\d{1,2}\)\s*\S|[:;,]\s*(?:and\s+)?\(1\)\s+[^\W\d]")
_SQUARE = re.compile(rf"\[\s*{_NUMBERS}\s*\]")
_LAST_WORD = re.compile(r"([^\W\d_]+|\d[\d.,]*)\W*$")
_CODED = re.compile(
    r"\b(?:call|phone|tel|telephone|number|ring|fax|batch|lot|code|isrctn\w*|nct\w*|no|n|at|extension"
    r"|population|cells?|copies)(?:\s+[^\W\d_]+){0,2}\W*$",
    re.IGNORECASE,
)
_TAKES_A_NUMBER = word_set(
    "stage grade phase type class step group day week month year cycle level score scale point points item "
    "items table figure fig box chapter section appendix category question n no age aged part option arm "
    "cohort tier line visit schedule schedules version gcs apgar nyha asa child one two three four five six "
    "seven eight nine ten eleven twelve mg g kg mcg ml units unit tablet tablets dose doses times score "
    "scored scores total sum median mean average p r or hr rr ci"
)
# "The GCS was low (8)": the number is what was measured.
_MEASURED = word_set("gcs apgar nyha score scores scale total average mean median sum extension count number")
_WORDS_BACK = 4
_KNOWN_ADDRESS = re.compile(PUBMED_ADDRESS, re.IGNORECASE)
_DOI = re.compile(DOI)


@dataclass(frozen=True)
class Citation:
    """A cited source and its place in the answer.

    Attributes:
        marker: "1", "PMID 123", "DOI 10.1/x", an id or an address.
        start: the first character of the whole bracket.
        end: the character after it.
        is_said: True where it is part of the sentence: "Source 2 recommends iron".
    """

    marker: str
    start: int
    end: int
    is_said: bool = False


@dataclass(frozen=True)
class _Found:
    """The markers that a form of citation finds, and whether their words are part of the sentence."""

    markers: list[str]
    is_said: bool = False


Reader = Callable[[re.Match[str], Citable], _Found | None]


def find_citations(text: str, citable: Citable) -> list[Citation]:
    """Returns the citations of `text` in order; a bracket with several sources gives a citation for each.

    "Statins help [1, 2]." has the citations "1" and "2", both with the span of the bracket.

    Args:
        text: an answer.
        citable: its contexts, as far as they are known.
    """
    taken: list[tuple[int, int]] = []
    found: list[Citation] = []
    for pattern, reader in _FORMS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(start < last and first < end for first, last in taken) or _is_definition(match):
                continue
            cited = reader(match, citable)
            if cited and cited.markers:
                taken.append((start, end))
                markers = dict.fromkeys(cited.markers)
                found += [Citation(marker, start, end, cited.is_said) for marker in markers]
    return sorted(found, key=lambda one: one.start)


def _is_definition(match: re.Match[str]) -> bool:
    """Returns whether the footnote at `match` is its definition at the beginning of a line: "[^1]: ..."."""
    text, start = match.string, match.start()
    return _FOOTNOTE.match(text, start) is not None and not text[:start].rpartition("\n")[2].strip()


def read_numbers(listed: str) -> list[str]:
    """Returns the numbers of a list as texts: ["1", "3", "4", "5"] for "1, 3-5".

    [] for a range that counts down or whose ends differ by more than 20, for a 0, and for a text without
    numbers. Commas, semicolons, "&" and "and" part the numbers; a number that comes twice stays twice.
    """
    numbers: list[int] = []
    for part in re.split(r"[,;&]|\band\b", listed):
        ends = [int(end) for end in re.findall(r"\d+", part)]
        if ends and not 0 <= ends[-1] - ends[0] <= _LONGEST_RANGE:
            return []
        numbers += range(ends[0], ends[-1] + 1) if ends else ()
    return [str(number) for number in numbers] if numbers and min(numbers) > 0 else []


def address_markers(url: str, citable: Citable, *, cites: bool) -> list[str]:
    """Returns the marker of an address, as a list: a PMID, a DOI, or the address; [] where it cites nothing.

    The forms are ["PMID 123"], ["DOI 10.1000/x"] in lower case, and the address of a context without the
    marks at its end.

    An address that no context has is cited if it `cites` and some contexts have addresses: it is then a
    source that does not exist among them.

    Args:
        url: the address.
        citable: the contexts.
        cites: True for an address in a place for citations, such as brackets.
    """
    url = url.rstrip(".,;:!?")
    if citable.has_address(url):
        return [url]
    if pubmed := _KNOWN_ADDRESS.search(url):
        return [f"PMID {pubmed[1]}"]
    if doi := _DOI.search(url):
        return [f"DOI {doi[0].lower()}"]
    return [url] if cites and citable.has_addresses() else []


def _read_mark(match: re.Match[str], _: Citable) -> _Found:
    """Returns the numbers of "【1†source】"."""
    return _Found(read_numbers(match["mark"]))


def _read_link(match: re.Match[str], citable: Citable) -> _Found | None:
    """Returns what a Markdown link cites; its words are said unless they only name the source."""
    if match["image"]:
        return None
    label, url = match["label"].strip("[] "), match["url"]
    if url.startswith("#"):
        known = citable.anchored(url)
        markers = [known] if known else []
    else:
        markers = address_markers(url, citable, cites=True)
    numbered = re.fullmatch(rf"(?i:{_SOURCE_WORD})?\^?({_NUMBERS})", label)
    if numbered:
        is_known = markers and (url.startswith("#") or citable.has_address(url) or markers != [url])
        return _Found(markers if is_known else read_numbers(numbered[1]))
    before, after = match.string[: match.start()].rstrip(), match.string[match.end() :].lstrip(" \t")
    apart = before[-1:] in ("(", "[") and after[:1] in (")", "]", ",", ";")
    behind = before[-1:] in (".", "!", "?", ")") and (not after or after[0] in "\r\n[(")
    return _Found(markers, is_said=not (apart or behind))


def _read_names(match: re.Match[str], citable: Citable) -> _Found | None:
    """Returns the contexts named in brackets; None where a name is unknown."""
    if not citable.contexts:
        return None
    square = match[0][0] == "["
    whole = citable.named(match["names"], square=square)
    if whole:
        return _Found([whole])
    parts = [part for part in re.split(r"[,;]", match["names"]) if part.strip()]
    markers = [citable.named(part, square=square) for part in parts]
    return _Found(markers) if all(markers) else None


def _read_pmids(match: re.Match[str], _: Citable) -> _Found:
    """Returns the PMIDs of "PMID 31535829"."""
    return _Found([f"PMID {int(digits)}" for digits in re.findall(r"\d+", match["pmids"])])


def _read_digits(match: re.Match[str], citable: Citable) -> _Found | None:
    """Returns the PMIDs of "[31535829]": numbers of 7 or 8 digits, or of a context; else None."""
    numbers = re.findall(r"\d+", match["digits"])
    if _CODED.search(match.string[max(0, match.start() - 20) : match.start()]):
        return None
    if not all(len(number) in (7, 8) or citable.has_number(number) for number in numbers):
        return None
    return _Found([f"PMID {int(number)}" if not citable.anchored(number) else number for number in numbers])


def _read_pmcid(match: re.Match[str], _: Citable) -> _Found:
    """Returns a PMC id: "PMC123"."""
    return _Found([match["pmcid"].replace(" ", "")])


def _read_doi(match: re.Match[str], _: Citable) -> _Found:
    """Returns a DOI."""
    return _Found([f"DOI {match['doi'].lower()}"])


def _read_address(match: re.Match[str], citable: Citable) -> _Found:
    """Returns the address, if it is in brackets or that of a context."""
    text, start = match.string, match.start()
    in_brackets = re.search(
        r"[(\[<]\s*(?:(?:source|see|from|via)\s*:?\s*)?$", text[max(0, start - 12) : start], re.IGNORECASE
    )
    return _Found(address_markers(match["url"], citable, cites=in_brackets is not None))


def _read_square(match: re.Match[str], _: Citable) -> _Found | None:
    """Returns the numbers of "[1, 3]"; None where they are an interval or a spread."""
    before = match.string[max(0, match.start() - 40) : match.start()]
    numbers = match["numbers"]
    is_interval = _INTERVAL_BEFORE.search(before) and not (numbers.isdigit() and _PLAIN_NORMAL.search(before))
    if not match["word"] and (is_interval or _spreads(before, numbers)):
        return None
    return _Found(read_numbers(match["numbers"]))


def _spreads(before: str, listed: str) -> bool:
    """Returns whether a bracket is the spread of the number before it: "34 [28-41]", "3 [2, 5]"."""
    middle = _NUMBER_BEFORE.search(before[-24:])
    ends = re.fullmatch(rf"(\d+)\s*(?:{_DASH}|[,;])\s*(\d+)", listed)
    return middle is not None and ends is not None and int(ends[1]) <= float(middle[1]) <= int(ends[2])


def _read_note(match: re.Match[str], _: Citable) -> _Found:
    """Returns the name of a footnote: "^note" for "[^note]"."""
    return _Found([f"^{match['note']}"])


def _read_words(match: re.Match[str], _: Citable) -> _Found:
    """Returns the numbers of "(Source 2)"."""
    return _Found(read_numbers(match["numbers"]))


def _read_raised(match: re.Match[str], _: Citable) -> _Found | None:
    """Returns the numbers of "¹"; None after units ("m²") and for numbers of three digits."""
    numbers = read_numbers(match["raised"].translate(_RAISED_DIGITS).replace("\u2013", "-"))
    word = re.search(r"[a-z]+$", match.string[: match.start()][-12:], re.IGNORECASE)
    if word and word[0].lower() in ("metre", "meter", "metres", "meters", "cells", "inch", "feet", "log"):
        return None
    return _Found(numbers) if all(int(number) < 100 for number in numbers) else None


def _read_sup(match: re.Match[str], _: Citable) -> _Found:
    """Returns the numbers of "<sup>1</sup>" and "^1^"."""
    return _Found(read_numbers(match["sup"] or match["caret"]))


def _read_round(match: re.Match[str], citable: Citable) -> _Found | None:
    """Returns the numbers of "(1)" after a statement; None where such a bracket may mean something else.

    It may in an answer with square brackets or numbered lists, after a word such as "stage", and for a number
    higher than that of the contexts.
    """
    text, (start, end) = match.string, match.span()
    numbers = read_numbers(match["numbers"])
    word = _LAST_WORD.search(text[max(0, start - 30) : start])
    behind = text[start - 1 : start] in (".", "!", "?") or text[end : end + 1] in ("", *".,;:!?\r\n")
    if not behind and not re.match(r"[ \t]*(?:[\r\n]|$)", text[end:]):
        return None
    if not word or word[1][0].isdigit() or word[1].lower() in _TAKES_A_NUMBER:
        return None
    words = re.findall(r"[^\W\d_]+", text[max(0, start - 40) : start].lower())
    if _MEASURED & set(words[-_WORDS_BACK:]) or re.match(r"[.,]\d", text[end:]):
        return None
    if any(int(number) > citable.most for number in numbers):
        return None
    return None if _SQUARE.search(text) or _LIST_LINE.search(text) else _Found(numbers)


def _read_bare(match: re.Match[str], _: Citable) -> _Found | None:
    """Returns the numbers of "Source 2"; its words are no part of a statement that ends with them."""
    text, (start, end) = match.string, match.span()
    if not (match["lead"] or match["word"][0].isupper()):
        return None
    before = text[:start].rstrip(" \t")
    opens = not before or before[-1] in ".!?:;)(\r\n\u2013\u2014-"
    closes = re.match(r"[ \t]*[.;)]?[ \t]*(?:[\r\n]|$)", text[end:]) is not None
    ends = bool(match["lead"]) and re.match(r"\s*[.;:)]", text[end:]) is not None and not opens
    return _Found(read_numbers(match["numbers"]), is_said=not ((opens and closes) or ends))


def _forms() -> Iterator[tuple[re.Pattern[str], Reader]]:
    """Yields (pattern, reader) of each form of citation, in the order in which they are tried."""
    flags = re.IGNORECASE | re.VERBOSE
    rows: tuple[tuple[str, Reader], ...] = (
        (r"\u3010(?P<mark>\d{1,3})(?:\u2020[^\u3010\u3011\r\n]{0,80})?\u3011", _read_mark),
        (
            r"""(?P<image>!?)\[(?P<label>\[?[^\[\]\r\n]{1,200}\]?)\]
                \((?P<url>\#[^()\s]{1,200}|https?://[^()\s]+(?:\([^()\s]*\)[^()\s]*)*)
                (?:\s+"[^"\r\n]*")?\)""",
            _read_link,
        ),
        (r"\[\s*(?P<names>[^\[\]\r\n]{1,160}?)\s*\]", _read_names),
        (r"\(\s*(?P<names>[^()\r\n]{1,160}?)\s*\)", _read_names),
        (rf"[\[(]\s*{_LED}(?P<pmids>{_PMIDS})\s*[\])]", _read_pmids),
        (rf"\b(?P<pmids>{_PMIDS})", _read_pmids),
        (r"[\[(]\s*(?P<digits>\d{4,9}(?:\s*[,;]\s*\d{4,9})*)\s*[\])]", _read_digits),
        (rf"\b(?:PMCID\s*:?\s*)?(?P<pmcid>{PMCID})\b", _read_pmcid),
        (rf"(?:\bdoi\s*:?\s*)?(?:https?://(?:dx\.)?doi\.org/)?\b(?P<doi>{DOI})", _read_doi),
        (r"(?P<url>https?://[^\s<>\[\]()\"'|]+)", _read_address),
        (rf"\[\s*\^?(?P<word>{_SOURCE_WORD})?(?P<numbers>{_COUNTED})\s*\](?:\([^()\s]*\))?", _read_square),
        (r"\[\^(?P<note>[A-Za-z][\w-]{0,40})\]", _read_note),
        (rf"\(\s*{_LED}{_SOURCE_WORD}(?P<numbers>{_COUNTED})\s*\)", _read_words),
        (rf"(?:{_BEHIND_RAISED})(?P<raised>{_RAISED_LIST})(?=[\s.,;:)]|$)", _read_raised),
        (rf"(?:{_BEHIND_RAISED}|(?<=\s)(?=<sup>)){_SUP}", _read_sup),
        (rf"(?<=\S)[ ]?\((?P<numbers>{_NUMBERS})\)", _read_round),
        (
            rf"""(?<![\w\[(])(?P<lead>(?:,\s*)?\b(?:according\s+to
                  |as\s+(?:stated|shown|described|reported|noted)\s+(?:in|by)|per|see|from|in|by|cf\.?)
                \s+(?:the\s+)?)?\b(?P<word>{_BARE_WORD})[ ]?:?[ ]?\#?[ ]?
                (?P<numbers>{_COUNTED}){_UNIT_BEHIND}""",
            _read_bare,
        ),
    )
    for pattern, reader in rows:
        yield re.compile(pattern, flags), reader


_FORMS = tuple(_forms())
