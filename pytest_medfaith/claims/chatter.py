"""Recognises what an answer says beside its claims: openers, greetings, closings, disclaimers and empty advice.

A sentence wrongly taken for chatter would pass unchecked, so each pattern names its whole phrase.
"""

from __future__ import annotations

import re

# What a RAG assistant calls the text it was given, as a pattern for re.VERBOSE.
SOURCES = r"""
    (?:the\s+|these\s+|your\s+|my\s+|any\s+of\s+the\s+|all\s+|both\s+)?
    (?:(?:provided|given|retrieved|supplied|available|above|following|listed|cited|attached|search|relevant|medical|source|reference|context)\s+)*
    (?:contexts?|passages?|documents?|sources?|excerpts?|snippets?|materials?|texts?|articles?|references?|search\s+results?|knowledge\s+base|chunks?
      |abstracts?)
    (?:\s*[#]?\d+(?:\s*(?:,|and|&|-)\s*\d+)*)?
    (?:\s+(?:provided|given|above|retrieved|available|i\s+(?:have|was\s+given)))?
"""
_DISCOURSE = r"""
    however|therefore|thus|hence|additionally|furthermore|moreover|in\s+addition|also|besides|overall|in\s+summary|in\s+conclusion|in\s+short
    |to\s+summari[sz]e|to\s+conclude|for\s+example|for\s+instance|as\s+a\s+result|consequently|finally|first|firstly|first\s+of\s+all|second|secondly
    |third|thirdly|lastly|meanwhile|nevertheless|nonetheless|that\s+said|having\s+said\s+that|on\s+the\s+other\s+hand|in\s+contrast|conversely
    |similarly|likewise|in\s+fact|indeed|of\s+course|specifically|in\s+particular|notably|importantly|interestingly|unfortunately|fortunately
    |in\s+other\s+words|instead|accordingly|yes|no|sure|certainly|absolutely|okay|ok|well|in\s+brief|in\s+essence|to\s+answer\s+your\s+question
    |to\s+be\s+clear|simply\s+put|put\s+simply|basically|essentially|presumably|then|now|still|again|next|as\s+such|in\s+turn
"""
_NOTE = r"""
    note|remember|know|understand|mention|keep\s+in\s+mind|recogni[sz]e|be\s+aware|emphasi[sz]e|point\s+out|consider|reali[sz]e|stress|highlight
"""
_STATED = r"as\s+(?:stated|mentioned|described|noted|shown|indicated|reported)\s+(?:in|by)"
_OPENERS = tuple(
    re.compile(pattern, re.IGNORECASE | re.VERBOSE)
    for pattern in (
        rf"(?:{_DISCOURSE}) (?:\s*[,:—\u2013]\s*|\s+-\s+)",
        r"(?:yes|no|sure|absolutely|certainly)\s*[.!]\s+(?=\S)",
        r"(?:however|therefore|thus|hence|additionally|furthermore|moreover|consequently)\s+(?=\w)",
        r"(?:and|but|so|or)\s*,?\s+(?=\w)",
        rf"(?:based\s+on|according\s+to|{_STATED}) \s+{SOURCES} (?:\s*,\s*|\s+(?!(?:of|in|for|on|about|from|by|with|that|which|and)\b))",
        rf"(?:from|per|as\s+per|in) \s+{SOURCES} \s*,\s*",
        rf"(?:based\s+on|according\s+to|{_STATED}|in|from) \s*,\s*",  # the source was a citation marker
        rf"""{SOURCES} \s+(?:(?:also|clearly|further)\s+)?
            (?:states?|says?|mentions?|indicates?|notes?|reports?|explains?|suggests?|shows?|describes?) \s+that\s+""",
        r"""(?:as\s+of\s+my\s+(?:knowledge\s+cut-?off|last\s+(?:knowledge\s+)?update)|to\s+(?:the\s+best\s+of\s+)?my\s+knowledge|in\s+my\s+opinion
            |as\s+far\s+as\s+i\s+know) (?:\s+(?:date|in|of|on)\s+[\w\s]{1,20})? \s*,\s*""",
        r"(?:based\s+on|according\s+to)\s+my\s+(?:\w+\s+)?(?:knowledge|understanding|information|training)\s*,\s*",
        r"i\s+(?:would\s+)?(?:think|believe|guess|suspect|assume|suppose|feel|say)(?:\s+that)?\s+",
        r"(?:please\s+|kindly\s+)?(?:note|remember|be\s+aware|keep\s+in\s+mind|bear\s+in\s+mind)(?:\s+that\s+|\s*[,:]\s*)",
        rf"""(?:it\s*(?:is|['\u2019]s)|it\s+(?:may|would)\s+be) \s+(?:(?:also|always|very)\s+)?
            (?:important|worth|worthwhile|essential|crucial|useful|helpful|good|vital|key|necessary|interesting)
            \s+(?:to\s+)?(?:also\s+)?(?:{_NOTE}) \s+that\s+""",
        r"it\s*(?:is|['\u2019]s)\s+(?:also\s+)?worth\s+(?:noting|mentioning|remembering|knowing|to\s+note)\s+that\s+",
        r"it\s+(?:should|must|can)\s+(?:also\s+)?be\s+(?:noted|mentioned|emphasi[sz]ed|pointed\s+out)\s+that\s+",
        r"(?:i\s*(?:am|['\u2019]m)\s+sorry|sorry|i\s+apologi[sz]e|apologies)(?:\s+(?:to\s+hear|about|for)[^,.;]*)?\s*,\s*(?:but\s+)?",
        r"""(?:(?:short|final|direct|quick)\s+)?
            (?:answer|conclusion|summary|note|response|important|key\s+points?|bottom\s+line|tl;dr|in\s+summary|caution|disclaimer)\s*:\s*""",
        r"(?:great|good|excellent)\s+question\s*[!.,]\s*",
        r"(?:hi|hello|hey|dear)(?:\s+(?:there|patient|user|friend|sir|madam))?\s*[,!]\s*",
    )
)
_PLEASANTRY = re.compile(
    r"""
      (?:hi|hello|hey|dear|greetings|good\s+(?:morning|afternoon|evening)|welcome)\b(?:\W+\w+){0,4}\W*$
    | (?:thanks(?!\s+to)|thank\s+you)\b
    | (?:great|good|excellent)\s+question\b
    | i\s+(?:hope|wish|trust)\b | hope\s+(?:this|that|it)\b
    | i\s*(?:am|['\u2019]m)\s+(?:glad|happy|here|sorry|an?\s+(?:ai|assistant|language\s+model))\b
    | (?:sure|yes|no|ok|okay|certainly|absolutely|of\s+course|maybe|definitely|true|false|it\s+depends
        |not\s+(?:really|necessarily|always))\W*$
    | (?:sure|certainly|absolutely|of\s+course)\W+(?:here|let|i)\b
    | (?:please\s+)?(?:let\s+me\s+know|feel\s+free)\b
    | (?:please\s+)?(?:don['\u2019]?t|do\s+not)\s+hesitate\s+to\s+(?:ask|reach\s+out|let\s+me|write)\b
    | (?:get\s+well(?:\s+soon)?|take\s+care|good\s+luck|stay\s+safe|best\s+(?:wishes|regards))\W*$
    | if\s+you\s+(?:have|need|would\s+like)\s+(?:any|more|further|additional|other)\b.*\b(?:ask|let\s+me\s+know|reach\s+out|assist)\b
    | (?:here\s+(?:is|are)|here['\u2019]s|below\s+(?:is|are)|the\s+following\s+(?:is|are))\b[^:]*:?\W*$
    | let(?:['\u2019]s|\s+us|\s+me)\b
    | as\s+an\s+(?:ai|artificial|language|assistant)\b
    | (?:please\s+)?(?:see|refer\s+to|check|visit)\s+(?:the\s+)?(?:references?|sources?|links?|citations?|table|figure|website|https?:)
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_DISCLAIMER = re.compile(
    r"""
      \b(?:this|the|my|our|any)\s+(?:above\s+|general\s+|provided\s+)?(?:information|answer|response|content|advice|summary|material)\b .*
      \b(?:(?:a\s+)?(?:substitute|replacement)\s+for|replace\s+(?:the\s+)?(?:advice|professional|medical|consult)|(?:medical|professional)\s+advice
          |(?:educational|informational)\s+purposes|general\s+(?:information|purposes|in\s+nature)|accurate\s+as\s+of)
    | \bnot\s+a\s+(?:substitute|replacement)\s+for\s+(?:professional|medical)
    | \bi\s*(?:am|['\u2019]m)\s+not\s+a\s+(?:doctor|physician|medical|health|licensed)
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_PROFESSIONAL = r"""
    (?:doctors?|physicians?|pharmacists?|specialists?|providers?|clinicians?|gp|professionals?|practitioners?|dermatologists?|cardiologists?
      |gyna?ecologists?|psychiatrists?|neurologists?|dentists?|midwife|nurse
      |(?:health\s?care|medical|mental\s+health|health)\s+(?:providers?|professionals?|teams?|practitioners?|workers?|specialists?))
"""
_ADVICE = re.compile(
    rf"""
      \b(?:consult|contact|see|visit|ask|call|speak\s+(?:to|with)|talk\s+(?:to|with)|check\s+with|discuss\b.{{0,80}}\bwith|reach\s+out\s+to
          |follow\s+up\s+with|seek\b.{{0,60}}\bfrom)
      \s+(?:with\s+)?(?:your|a|an|the|their|his|her|with)?\s*(?:own\s+)?(?:[\w-]+\s+){{0,3}}?{_PROFESSIONAL}\b
    | \bseek\s+(?:\w+\s+){{0,2}}(?:medical|professional|health)\s+(?:attention|advice|help|care|evaluation)\b
    | \bfollow(?:ing)?\s+(?:your|their|the)\s+(?:doctor|physician|health\s?care\s+provider)['\u2019]?s?
      \s+(?:instructions|advice|recommendations)\b
    | \b(?:consulting|consultation|discussion|speaking|talking)\s+with\s+(?:your|an?)\s+(?:[\w-]+\s+){{0,2}}{_PROFESSIONAL}\b
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
# Advice to see a doctor is checkable only when it says when, how soon or for which patient.
_OCCASION = re.compile(
    r"""\b(?:if|when|whenever|unless|until|after|within|before|immediately|urgent(?:ly)?|emergenc(?:y|ies)|right\s+away|prompt(?:ly)?|as\s+soon\s+as
        |911|999|112|(?:patients?|people|individuals)\s+with|women|children|pregnan\w+|(?:signs?|symptoms?|case)\s+of)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_NO_OCCASION = re.compile(
    r"""
      \bif\s+you\s+(?:have|want|need|would\s+like)\s+(?:(?:any|more|further|additional|other|some)\s+)+
        (?:questions?|concerns?|information|advice|doubts?|help|guidance)
    | \bif\s+you\s*(?:are|['\u2019]re)\s+(?:unsure|uncertain|concerned|worried|in\s+doubt) | \bif\s+in\s+doubt
    | \bbefore\s+(?:making|starting|taking|stopping|using|changing|beginning)\s+(?:any|or|a\s+new|new|this|these)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
# What may stand before the advice without being a statement of its own.
_BEFORE_ADVICE = re.compile(
    r"""\W*(?:(?:for|to|as|in|when|regarding)\b[^,;]*,)?
    (?:[\s,]|\b(?:please|always|also|so|therefore|but|and|you|patients|people|one|we|i|it|it['\u2019]s|is|are|should|must|may|might|can|could|would|will|want|wish
      |need|to|be|best|better|good|wise|idea|a|important|essential|crucial|necessary|advisable|recommended|recommend|suggest|advise|advised|encourage|strongly
      |that|sure|make|remember|first|then|ideally|consider|helpful|vital|if|needed|possible|ultimately|however|finally|likely)\b)*""",
    re.VERBOSE | re.IGNORECASE,
)


def skip_openers(text: str, start: int, end: int) -> int:
    """Returns where the statement in `text[start:end]` begins, behind "However,", "I think that", "Based on the context," and the like."""
    while True:
        ends = (found.end() for opener in _OPENERS if (found := opener.match(text, start, end)))
        behind = next((place for place in ends if any(map(str.isalnum, text[place:end]))), start)
        if behind == start:
            return start
        start = behind


def is_chatter(sentence: str) -> bool:
    """Returns whether `sentence` states nothing to check.

    That is a greeting, a question, a disclaimer, or the advice to see a doctor with no symptom, time or patient that calls for it.
    """
    sentence = sentence.strip(" \t\r\n\"'“”*_")
    if not any(map(str.isalnum, sentence)) or sentence.endswith(("?", "?)", '?"')):
        return True
    return bool(_PLEASANTRY.match(sentence) or _DISCLAIMER.search(sentence)) or _is_empty_advice(sentence)


def _is_empty_advice(sentence: str) -> bool:
    bare = _NO_OCCASION.sub(" ", sentence)
    advice = _ADVICE.search(bare)
    return advice is not None and _BEFORE_ADVICE.fullmatch(bare[: advice.start()]) is not None and _OCCASION.search(bare) is None
