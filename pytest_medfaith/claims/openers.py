"""Finds where a statement begins after an opener: "However,", "I think that", "Based on the context,"."""

from __future__ import annotations

import re

# What a RAG assistant calls the text it was given, as a pattern for re.VERBOSE.
SOURCES = r"""
    (?:the\s+|these\s+|your\s+|my\s+|any\s+of\s+the\s+|all\s+|both\s+)?
      (?:(?:two|three|four|five|six|seven|eight|nine|ten|\d{1,2})\s+)?
    (?:(?:provided|given|retrieved|supplied|available|above|following|listed|cited|attached|search|relevant
      |medical|source|reference|context)\s+)*
    (?:contexts?|passages?|documents?|sources?|excerpts?|snippets?|materials?|texts?|articles?|references?
      |search\s+results?|knowledge\s+base|chunks?
      |abstracts?)
    (?:\s*[#]?\d+(?:\s*(?:,|and|&|-)\s*\d+)*)?
    (?:\s+(?:provided|given|above|retrieved|available|alone|at\s+hand|here
      |(?:that\s+)?(?:i\s+(?:have|had|was\s+given|can\s+see)|you\s+(?:gave|shared|sent|provided)(?:\s+me)?)))?
"""
_DISCOURSE = r"""
    however|therefore|thus|hence|additionally|furthermore|moreover|in\s+addition|also|besides|overall
      |in\s+summary|in\s+conclusion|in\s+short
    |to\s+summari[sz]e|to\s+conclude|for\s+example|for\s+instance|as\s+a\s+result|consequently|finally|first
      |firstly|first\s+of\s+all|second|secondly
    |third|thirdly|lastly|meanwhile|nevertheless|nonetheless|that\s+said|having\s+said\s+that
      |on\s+the\s+other\s+hand|in\s+contrast|conversely
    |similarly|likewise|in\s+fact|indeed|of\s+course|specifically|in\s+particular|notably|importantly
      |interestingly|unfortunately|fortunately
    |in\s+other\s+words|instead|accordingly|yes|no|sure|certainly|absolutely|okay|ok|well|in\s+brief
      |in\s+essence|to\s+answer\s+your\s+question
    |to\s+be\s+clear|simply\s+put|put\s+simply|basically|essentially|presumably|then|now|still|again|next
      |as\s+such|in\s+turn
"""
_NOTE = r"""
    note|remember|know|understand|mention|keep\s+in\s+mind|recogni[sz]e|be\s+aware|emphasi[sz]e|point\s+out
      |consider|reali[sz]e|stress|highlight
"""
_STATED = r"as\s+(?:stated|mentioned|described|noted|shown|indicated|reported)\s+(?:in|by)"
_OPENERS = tuple(
    re.compile(pattern, re.IGNORECASE | re.VERBOSE)
    for pattern in (
        rf"(?:{_DISCOURSE}) (?:\s*[,:—\u2013]\s*|\s+-\s+)",
        r"(?:however|therefore|thus|hence|additionally|furthermore|moreover|consequently)\s+(?=\w)",
        r"(?:and|but|so|or)\s*,?\s+(?=\w)",
        (
            rf"(?:based\s+on|according\s+to|{_STATED}) \s+{SOURCES} "
            rf"(?:\s*,\s*|\s+(?!(?:of|in|for|on|about|from|by|with|that|which|and)\b))"
        ),
        rf"(?:from|per|as\s+per|in) \s+{SOURCES} \s*,\s*",
        rf"(?:based\s+on|according\s+to|{_STATED}|in|from) \s*,\s*",  # the source was a citation marker
        rf"""{SOURCES} \s+(?:(?:also|clearly|further)\s+)?
            (?:states?|says?|mentions?|indicates?|notes?|reports?|explains?|suggests?|shows?|describes?) \s+
              that\s+""",
        r"""(?:as\s+of\s+my\s+(?:knowledge\s+cut-?off|last\s+(?:knowledge\s+)?update)
            |to\s+(?:the\s+best\s+of\s+)?my\s+knowledge|in\s+my\s+opinion
            |as\s+far\s+as\s+i\s+know) (?:\s+(?:date|in|of|on)\s+[\w\s]{1,20})? \s*,\s*""",
        (
            r"(?:based\s+on|according\s+to)\s+my\s+(?:\w+\s+)?(?:knowledge|understanding|information"
            r"|training)\s*,\s*"
        ),
        r"i\s+(?:would\s+)?(?:think|believe|guess|suspect|assume|suppose|feel|say)(?:\s+that)?\s+",
        (
            r"(?:please\s+|kindly\s+)?(?:note|remember|be\s+aware|keep\s+in\s+mind|"
            r"bear\s+in\s+mind)(?:\s+that\s+|\s*[,:]\s*)"
        ),
        rf"""(?:it\s*(?:is|['\u2019]s)|it\s+(?:may|would)\s+be) \s+(?:(?:also|always|very)\s+)?
            (?:important|worth|worthwhile|essential|crucial|useful|helpful|good|vital|key|necessary
              |interesting)
            \s+(?:to\s+)?(?:also\s+)?(?:{_NOTE}) \s+that\s+""",
        (
            r"it\s*(?:is|['\u2019]s)\s+(?:also\s+)?worth\s+(?:noting|mentioning|remembering|knowing"
            r"|to\s+note)\s+that\s+"
        ),
        (
            r"it\s+(?:should|must|can)\s+(?:also\s+)?be\s+(?:noted|mentioned|emphasi[sz]ed"
            r"|pointed\s+out)\s+that\s+"
        ),
        (
            r"(?:i\s*(?:am|['\u2019]m)\s+sorry|sorry|i\s+apologi[sz]e|apologies)(?:\s+(?:to\s+hear|about"
            r"|for)[^,.;]*)?\s*,\s*(?:but\s+)?"
        ),
        r"""(?:(?:short|final|direct|quick)\s+)?
            (?:answer|conclusion|summary|note|response|important|key\s+points?|bottom\s+line|tl;dr
              |in\s+summary|caution|disclaimer)\s*:\s*""",
        rf"""(?:here\s*(?:is|are|['\u2019]s)\s+)?(?:what\s+(?:i|we)\s+(?:found|know|can\s+(?:tell|say|offer))
            |what\s+{SOURCES}\s+says?
            |the\s+(?:short\s+)?answer|an?\s+(?:short\s+|brief\s+|quick\s+)?(?:answer|summary|overview))
              (?:\s+(?:you|in\s+{SOURCES}|from\s+{SOURCES}|is\s+this))?\s*:\s*""",
        r"(?:great|good|excellent)\s+question\s*[!.,]\s*",
        r"(?:hi|hello|hey|dear)(?:\s+(?:there|patient|user|friend|sir|madam))?\s*[,!]\s*",
    )
)


def skip_openers(text: str, start: int, end: int) -> int:
    """Returns the offset where the statement in `text[start:end]` begins, after all its openers.

    In "However, statins help." it begins at "statins".
    """
    while True:
        ends = (found.end() for opener in _OPENERS if (found := opener.match(text, start, end)))
        behind = next((place for place in ends if any(map(str.isalnum, text[place:end]))), start)
        if behind == start:
            return start
        start = behind
