"""Recognises what an answer says beside its claims: openers, greetings, closings, disclaimers and refusals."""

from __future__ import annotations

import re

# What a RAG assistant calls the text it was given.
_GIVEN = r"(?:(?:provided|given|retrieved|supplied|available|above|following|listed|cited|attached|search|relevant|medical|source|reference|context)\s+)*"
_SOURCES = (
    rf"(?:the\s+|these\s+|your\s+|my\s+|any\s+of\s+the\s+|all\s+|both\s+)?{_GIVEN}"
    r"(?:contexts?|passages?|documents?|sources?|excerpts?|snippets?|materials?|texts?|articles?|references?|search\s+results?|knowledge\s+base|chunks?|abstracts?)"
    r"(?:\s*\#?\d+(?:\s*(?:,|and|&|-)\s*\d+)*)?(?:\s+(?:provided|given|above|retrieved|available|i\s+(?:have|was\s+given)))?"
)
_DISCOURSE = (
    "however|therefore|thus|hence|additionally|furthermore|moreover|in addition|also|besides|overall|in summary|in conclusion|in short|to summari[sz]e|"
    "to conclude|for example|for instance|as a result|consequently|finally|first|firstly|first of all|second|secondly|third|thirdly|lastly|meanwhile|"
    "nevertheless|nonetheless|that said|having said that|on the other hand|in contrast|conversely|similarly|likewise|in fact|indeed|of course|specifically|"
    "in particular|notably|importantly|interestingly|unfortunately|fortunately|in other words|instead|accordingly|yes|no|sure|certainly|absolutely|okay|ok|well|"
    "in brief|in essence|to answer your question|to be clear|simply put|put simply|basically|essentially|presumably|then|now|still|again|next|as such|in turn"
)
_NOTED = r"(?:note|remember|know|understand|mention|keep\s+in\s+mind|recogni[sz]e|be\s+aware|emphasi[sz]e|point\s+out|consider|reali[sz]e|stress|highlight|remind\s+you)"
_OPENERS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:{_DISCOURSE})(?:\s*[,:—–]\s*|\s+-\s+)",
        r"(?:yes|no|sure|absolutely|certainly)\s*[.!]\s+(?=\S)",
        r"(?:however|therefore|thus|hence|additionally|furthermore|moreover|consequently)\s+(?=\w)",
        r"(?:and|but|so|or)\s*,?\s+(?=\w)",
        rf"(?:based\s+on|according\s+to|from|as\s+(?:stated|mentioned|described|noted|shown|indicated|per)(?:\s+(?:in|by))?|per|as\s+per)\s+{_SOURCES}\s*,?\s*",
        r"(?:based\s+on|according\s+to|as\s+(?:stated|mentioned|described|noted|shown|indicated)(?:\s+(?:in|by)))\s*,\s*",
        rf"{_SOURCES}\s+(?:also\s+|clearly\s+|further\s+)?(?:states?|says?|mentions?|indicates?|notes?|reports?|explains?|suggests?|shows?|describes?)\s+that\s+",
        r"(?:as\s+of\s+my\s+(?:knowledge\s+cut-?off|last\s+(?:knowledge\s+)?update)|to\s+(?:the\s+best\s+of\s+)?my\s+knowledge|in\s+my\s+opinion|as\s+far\s+as\s+i\s+know)"
        r"(?:\s+(?:date|in|of|on)\s+[\w\s]{1,20})?\s*,\s*",
        r"(?:based\s+on|according\s+to)\s+my\s+(?:\w+\s+)?(?:knowledge|understanding|information|training)\s*,\s*",
        r"i\s+(?:would\s+)?(?:think|believe|guess|suspect|assume|suppose|feel|say)(?:\s+that)?\s+",
        rf"(?:please\s+|kindly\s+)?(?:note|remember|be\s+aware|keep\s+in\s+mind|bear\s+in\s+mind)(?:\s+that\s+|\s*[,:]\s*)",
        rf"(?:it\s*(?:is|'s|’s)|it\s+may\s+be|it\s+would\s+be)\s+(?:also\s+|always\s+|very\s+)?(?:important|worth|worthwhile|essential|crucial|useful|helpful|good|vital|"
        rf"key|necessary|interesting)\s+(?:to\s+)?(?:also\s+)?{_NOTED}\s+that\s+",
        r"it\s*(?:is|'s|’s)\s+(?:also\s+)?worth\s+(?:noting|mentioning|remembering|knowing|to\s+note)\s+that\s+",
        r"it\s+(?:should|must|can)\s+(?:also\s+)?be\s+(?:noted|mentioned|emphasi[sz]ed|pointed\s+out)\s+that\s+",
        r"(?:i\s*(?:am|'m|’m)\s+sorry|sorry|i\s+apologi[sz]e|apologies)(?:\s+(?:to\s+hear|about|for)[^,.;]*)?\s*,\s*(?:but\s+)?",
        r"(?:short\s+|final\s+|direct\s+|quick\s+)?(?:answer|conclusion|summary|note|response|important|key\s+points?|bottom\s+line|tl;dr|in\s+summary|caution|disclaimer)\s*:\s*",
        r"(?:great|good|excellent)\s+question\s*[!.,]\s*",
        r"(?:hi|hello|hey|dear)(?:\s+(?:there|patient|user|friend|sir|madam))?\s*[,!]\s*",
    )
)
_GREETINGS = re.compile(
    r"""(?:
      (?:hi|hello|hey|dear|greetings|good\s+(?:morning|afternoon|evening)|welcome)\b(?:\W+\w+){0,4}\W*$
    | (?:thanks?|thank\s+you)\b.*
    | (?:great|good|excellent)\s+question.*
    | i\s+(?:hope|wish|trust)\b.*  | i\s*(?:'m|’m|am)\s+(?:glad|happy|here|sorry|an?\s+(?:ai|assistant|language\s+model))\b.*
    | (?:sure|yes|no|ok|okay|certainly|absolutely|of\s+course|maybe|definitely|true|false|it\s+depends|not\s+(?:really|necessarily|always))\W*$
    | (?:sure|certainly|absolutely|of\s+course)\W+(?:here|let|i)\b.*
    | (?:please\s+)?(?:let\s+me\s+know|feel\s+free|don['’]?t\s+hesitate|do\s+not\s+hesitate|get\s+well|take\s+care|good\s+luck|stay\s+safe|best\s+(?:wishes|regards)|hope\s+)\b.*
    | (?:if\s+you\s+(?:have|need|would\s+like)\s+(?:any|more|further|additional|other)\b.*\b(?:ask|let\s+me\s+know|reach\s+out|help|assist)\b.*)
    | (?:here\s+(?:is|are)|here['’]s|below\s+(?:is|are)|the\s+following\s+(?:is|are))\b.*:?$
    | let(?:['’]s|\s+us|\s+me)\b.*
    | as\s+an\s+(?:ai|artificial|language|assistant)\b.*
    | (?:please\s+)?(?:see|refer\s+to|check|visit)\s+(?:the\s+)?(?:references?|sources?|links?|citations?|table|figure|website|https?:)\b.*
    )""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_DISCLAIMER = re.compile(
    r"""
      \b(?:this|the|my|our|any)\s+(?:above\s+|general\s+|provided\s+)?(?:information|answer|response|content|advice|summary|material)\b(?:\s+\w+){0,3}\s+
      (?:is|are|should|does|do|has|was|may|cannot)\b.*\b(?:substitute|replace|medical\s+advice|professional|educational|informational|general|constitute|intended|accurate)\b
    | \bnot\s+a\s+(?:substitute|replacement)\s+for\s+(?:professional|medical)
    | \bi\s*(?:am|['’]m)\s+not\s+a\s+(?:doctor|physician|medical|health|licensed)
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_PROFESSIONAL = (
    r"(?:doctors?|physicians?|(?:health\s?care|medical|mental\s+health|health)\s+(?:providers?|professionals?|teams?|practitioners?|workers?|specialists?)|pharmacists?|specialists?|"
    r"providers?|clinicians?|gp|dermatologists?|cardiologists?|professionals?|practitioners?|gyna?ecologists?|psychiatrists?|neurologists?|dentists?|midwife|nurse)"
)
_ADVICE = re.compile(
    rf"""
      \b(?:consult|contact|see|visit|ask|call|speak\s+(?:to|with)|talk\s+(?:to|with)|check\s+with|discuss\b.{{0,80}}\bwith|reach\s+out\s+to|follow\s+up\s+with|seek\b.{{0,60}}\bfrom)
      \s+(?:with\s+)?(?:your|a|an|the|their|his|her|with)?\s*(?:own\s+)?(?:[\w-]+\s+){{0,3}}?{_PROFESSIONAL}\b
    | \bseek\s+(?:\w+\s+){{0,2}}(?:medical|professional|health)\s+(?:attention|advice|help|care|evaluation)\b
    | \b(?:follow|following)\s+(?:your|their|the)\s+(?:doctor|physician|health\s?care\s+provider)['’]?s?\s+(?:instructions|advice|recommendations)\b
    | \b(?:consulting|consultation|discussion|speaking|talking)\s+with\s+(?:your|a|an)\s+(?:[\w-]+\s+){{0,2}}{_PROFESSIONAL}\b
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
# Advice to see a doctor is checkable only when it says when, how soon or for which patient.
_TRIAGE = re.compile(
    r"\b(?:if|when|whenever|unless|until|after|within|before|immediately|urgent(?:ly)?|emergenc(?:y|ies)|right\s+away|prompt|as\s+soon\s+as|promptly|911|999|112|"
    r"patients?\s+with|people\s+with|individuals\s+with|women|children|pregnan\w+|signs?\s+of|symptoms?\s+of|in\s+case\s+of)\b",
    re.IGNORECASE,
)
# What may stand before the advice without being a statement of its own.
_BEFORE_ADVICE = re.compile(
    r"\W*(?:(?:for|to|as|in|when|regarding)\b[^,;]*,)?(?:[\s,]|\b(?:please|always|also|so|therefore|but|and|you|patients|people|one|we|i|it|it's|it’s|is|are|should|must|may|might|can|could|"
    r"would|will|want|wish|need|to|be|best|better|good|wise|idea|a|important|essential|crucial|necessary|advisable|recommended|recommend|suggest|advise|advised|encourage|strongly|that|"
    r"sure|make|remember|first|then|ideally|consider|helpful|vital|if|needed|necessary|possible|ultimately|however|finally|likely)\b)*",
    re.IGNORECASE,
)
_ANY_QUESTION = re.compile(
    r"\bif\s+you\s+(?:have|want|need|would\s+like|are)\s+(?:any\s+|more\s+|further\s+|additional\s+|other\s+|some\s+)+(?:questions?|concerns?|information|advice|doubts?|help|guidance|unsure)"
    r"|\bif\s+you\s+(?:are|'re|’re)\s+(?:unsure|uncertain|concerned|worried|in\s+doubt)|\bif\s+in\s+doubt|\bbefore\s+(?:making|starting|taking|stopping|using|changing|beginning)\s+"
    r"(?:any|or|a\s+new|new|this|these)\b",
    re.IGNORECASE,
)
_CANNOT = r"(?:can\s?not|can['’]t|could\s+not|couldn['’]t|am\s+not\s+able\s+to|['’]m\s+not\s+able\s+to|am\s+unable\s+to|['’]m\s+unable\s+to|was\s+unable\s+to|was\s+not\s+able\s+to|"
_CANNOT += r"were\s+unable\s+to|are\s+unable\s+to|do\s+not|don['’]t|did\s+not|didn['’]t|will\s+not|won['’]t)"
_INFORMATION = r"(?:information|info|answers?|details?|data|evidence|mention|content|context|guidance|material|sources?|documents?|passages?)"
_REFUSALS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"^(?:i|we)\s*{_CANNOT}\s+(?:really\s+|currently\s+|fully\s+|confidently\s+|reliably\s+|accurately\s+)*(?:know\b(?!\s+of\b)|find|locate|answer|provide|give|offer|determine|help|"
        r"assist|tell|say|see|identify|confirm|verify|comment|diagnose|respond|comply|make|have\s+(?:any\s+|the\s+|enough\s+|sufficient\s+|access|specific\s+|relevant\s+|an\s+answer))",
        rf"^(?:i|we)\s+(?:have|found|see|could\s+find)\s+(?:no|not\s+enough|insufficient|nothing)\b.*(?:{_INFORMATION}|about|on\s+(?:this|that))",
        r"^(?:i|we)\s*(?:am|['’]m|are)\s+(?:not\s+sure|unsure|not\s+certain|not\s+aware\s+of\s+(?:any\s+)?(?:the\s+)?answer)",
        r"^(?:i\s*(?:am|['’]m)\s+sorry|sorry|i\s+apologi[sz]e|my\s+apologies)\W*$",
        r"^as\s+an\s+(?:ai|artificial|assistant|language)\b.*\b(?:cannot|can['’]t|not\s+able|unable|do\s+not|don['’]t)\b",
        rf"^(?:unfortunately\s*,?\s*)?{_SOURCES}\s+(?:do(?:es)?\s+not|don['’]t|doesn['’]t|did\s+not|didn['’]t|contains?\s+no|provides?\s+no|includes?\s+no|has\s+no|have\s+no|offers?\s+no|"
        r"gives?\s+no|makes?\s+no|lacks?|(?:is|are)\s+(?:not\s+sufficient|insufficient|silent|not\s+enough))\b",
        rf"^none\s+of\s+{_SOURCES}\s+(?:contains?|provides?|mentions?|includes?|address(?:es)?|answers?|discuss(?:es)?|says?|states?|covers?|gives?)\b",
        rf"^(?:there\s+(?:is|are|was|were)\s+)?(?:no|not\s+enough|insufficient|not\s+sufficient|nothing)\s+(?:\w+\s+){{0,3}}?(?:{_INFORMATION})?.*\b(?:in|within|from|among)\s+"
        rf"(?:any\s+of\s+)?{_SOURCES}",
        rf"^(?:there\s+(?:is|are|was|were)\s+)?(?:no|not\s+enough|insufficient|not\s+sufficient)\s+(?:\w+\s+){{0,2}}?{_INFORMATION}\s+(?:(?:was|were|is|are)\s+)?(?:found|available|provided|given|"
        r"to\s+(?:answer|respond))\b",
        r"^no\s+(?:relevant\s+|matching\s+)?(?:answer|information|results?|documents?|passages?|context|match(?:es)?)(?:\s+(?:was|were|is|are))?(?:\s+(?:found|available|provided))?\W*$",
        r"^(?:this|the|that|your)\s+(?:question|query|request)\s+(?:can\s?not|can['’]t|could\s+not|is\s+(?:outside|beyond|not|out\s+of|unanswerable)|falls\s+outside)\b",
        r"^(?:this|the\s+answer|that|it|the\s+information|this\s+information|that\s+information)\s+(?:is|was|could|can|cannot)\s*(?:not\s+)?(?:be\s+)?(?:not\s+)?(?:mentioned|stated|found|"
        rf"provided|given|specified|discussed|covered|addressed|answered|determined|available|included|contained)\b.*(?:{_SOURCES})",
        r"^(?:unable|not\s+able)\s+to\s+(?:answer|help|find|provide|determine|respond|assist)\b",
        r"^(?:unanswerable|unknown|n/?a|not\s+(?:applicable|available|found|answerable|mentioned|specified|stated)|cannot\s+(?:answer|say|be\s+(?:answered|determined))|can['’]t\s+(?:answer|say)|"
        r"don['’]t\s+know|no\s+(?:answer|idea|comment)|idk|not\s+sure|insufficient\s+(?:information|context|evidence|data)|not\s+enough\s+(?:information|context|data))(?:\s+[\w\s]{0,60})?\W*$",
        r"^(?:i\s+)?(?:have\s+)?no\s+idea\b",
    )
)
_ON_THE_OTHER_HAND = re.compile(r"(?:[,;:—–]\s*(?:but|however|although|though|yet|nevertheless|nonetheless)\b|;\s+|\.\s+)\s*,?\s*", re.IGNORECASE)


def skip_openers(text: str, start: int, end: int) -> int:
    """Returns where the statement in `text[start:end]` begins, behind openers such as "However,", "I think that" or "Based on the context,"."""
    while True:
        for opener in _OPENERS:
            found = opener.match(text, start, end)
            if found and found.end() > start and any(map(str.isalnum, text[found.end() : end])):
                start = found.end()
                break
        else:
            return start


def is_chatter(sentence: str) -> bool:
    """Returns whether `sentence` states nothing to check: a greeting, question, disclaimer, or advice to see a doctor that gives no occasion."""
    sentence = sentence.strip(" \t\r\n\"'“”*_")
    if not any(map(str.isalnum, sentence)) or sentence.endswith(("?", "?)", '?"')):
        return True
    return bool(_GREETINGS.match(sentence) or _DISCLAIMER.search(sentence)) or _is_empty_advice(sentence)


def _is_empty_advice(sentence: str) -> bool:
    """Returns whether `sentence` only says "ask your doctor", with no symptom, time or patient that calls for it."""
    bare = _ANY_QUESTION.sub(" ", sentence)
    advice = _ADVICE.search(bare)
    return advice is not None and _BEFORE_ADVICE.fullmatch(bare[: advice.start()]) is not None and _TRIAGE.search(bare) is None


def declines(sentence: str) -> bool:
    """Returns whether `sentence`, its openers aside, says that the question is not answered."""
    text = sentence.replace("’", "'").strip()
    text = text[_skip_polite(text) :]
    return any(refusal.search(text) for refusal in _REFUSALS)


def _skip_polite(text: str) -> int:
    found = re.match(
        rf"(?:(?:unfortunately|sorry|however|i\s*(?:am|'m)\s+(?:very\s+|so\s+)?sorry|i\s+apologi[sz]e|apologies)\s*,?\s*(?:but\s+)?|(?:based\s+on|from|using|according\s+to|after\s+reviewing|in)\s+"
        rf"{_SOURCES}\s*,?\s*)+(?=\w)",
        text,
        re.IGNORECASE,
    )
    return found.end() if found else 0


def parts_of(sentence: str) -> list[str]:
    """Returns the halves of `sentence` on either side of ", but", "; however" and the like."""
    return [part for part in _ON_THE_OTHER_HAND.split(sentence) if part.strip()]
