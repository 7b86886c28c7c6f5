"""Tells an answer that only declines from one that says something.

A statement about what is unknown is none of them: "no data are available on use in pregnancy" is a claim, and so is "we did not
find a difference"; only the assistant ("I") and the texts it was given can decline.
"""

from __future__ import annotations

import re

from pytest_medfaith.claims.chatter import SOURCES, is_chatter
from pytest_medfaith.claims.citations import mask_citations
from pytest_medfaith.claims.layout import read_layout
from pytest_medfaith.claims.sentences import read_sentences

_INFORMATION = r"(?:information|info|answers?|details?|mention|context|guidance|documents?|passages?)"
_TOO_LITTLE = r"(?:no|not\s+enough|insufficient|not\s+sufficient|nothing|no\s+such)"
_CANNOT = r"""
    (?:can\s?not|can't|could\s+not|couldn't|(?:am|was)\s+(?:not\s+able|unable)\s+to|'m\s+(?:not\s+able|unable)\s+to|do\s+not|don't|did\s+not|didn't
      |will\s+not|won't)
"""
_POLITE = re.compile(
    rf"""(?:
        (?:unfortunately|sorry|however|i\s*(?:am|'m)\s+(?:very\s+|so\s+)?sorry|i\s+apologi[sz]e|apologies)\s*,?\s*(?:but\s+)?
      | (?:based\s+on|from|using|according\s+to|after\s+reviewing|in)\s+{SOURCES}\s*,?\s*
    )+(?=\w)""",
    re.VERBOSE | re.IGNORECASE,
)
_DECLINES = tuple(
    re.compile(pattern, re.VERBOSE | re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"""i\s*{_CANNOT}\s+(?:(?:really|currently|fully|confidently|reliably|accurately)\s+)*
            (?:know\b(?!\s+of\b)|find|locate|answer|provide|give|offer|determine|help|assist|tell|say|see|identify|confirm|verify|comment|diagnose|respond
              |comply|make|have\s+(?:any|the|enough|sufficient|access|specific|relevant|an\s+answer)\b)""",
        rf"we\s*{_CANNOT}\s+(?:answer|provide\s+(?:an?\s+answer|medical|information)|have\s+(?:any|enough|sufficient)\s+{_INFORMATION})\b",
        rf"i\s+(?:have|found|see|could\s+find)\s+{_TOO_LITTLE}\b.*\b(?:{_INFORMATION}|about|on\s+(?:this|that))\b",
        r"i\s*(?:am|'m)\s+(?:not\s+sure|unsure|not\s+certain|not\s+aware\s+of\s+(?:any\s+|the\s+)?answer)\b",
        r"(?:i\s*(?:am|'m)\s+sorry|sorry|i\s+apologi[sz]e|my\s+apologies)\W*$",
        r"as\s+an\s+(?:ai|artificial|assistant|language)\b.*\b(?:cannot|can't|not\s+able|unable|do\s+not|don't)\b",
        rf"""{SOURCES}\s+(?:(?:do(?:es)?|did)\s+not|don't|doesn't|didn't)\s+(?:(?:appear\s+to|seem\s+to|directly|explicitly|specifically|clearly|actually)\s+)*
            (?:contain|provide|include|mention|have|address|answer|say|state|specify|discuss|cover|give|offer|describe|explain|indicate|list|detail|refer)\b""",
        rf"{SOURCES}\s+(?:(?:contain|provide|include|offer|give|make)s?|has|have)\s+{_TOO_LITTLE}\b",
        rf"{SOURCES}\s+(?:lacks?|(?:is|are)\s+(?:not\s+sufficient|insufficient|silent|not\s+enough))\b",
        rf"none\s+of\s+{SOURCES}\s+(?:contains?|provides?|mentions?|includes?|address(?:es)?|answers?|discuss(?:es)?|says?|states?|covers?|gives?)\b",
        rf"(?:there\s+(?:is|are|was|were)\s+)?{_TOO_LITTLE}\b.*\b(?:in|within|from|among)\s+(?:any\s+of\s+)?{SOURCES}",
        rf"""(?:there\s+(?:is|are|was|were)\s+)?{_TOO_LITTLE}\s+(?:\w+\s+){{0,2}}?{_INFORMATION}
            \s+(?:(?:was|were|is|are)\s+)?(?:found|available|provided|given|to\s+(?:answer|respond))\b""",
        r"no\s+(?:relevant\s+|matching\s+)?(?:answer|information|results?|documents?|passages?|context|match(?:es)?)(?:\s+(?:was|were|is|are)\s+found)?\W*$",
        r"""(?:this|the|that|your)\s+(?:question|query|request)
            \s+(?:can\s?not|can't|could\s+not|is\s+(?:outside|beyond|not|out\s+of|unanswerable)|falls\s+outside)\b""",
        rf"""(?:this|that|it|(?:the|this|that)\s+(?:answer|information))\s+(?:(?:is|was)\s+not|isn't|wasn't|(?:cannot|can't|could\s+not)\s+be)
            \s+(?:mentioned|stated|found|provided|given|specified|discussed|covered|addressed|answered|determined|available|included|contained)\b.*{SOURCES}""",
        r"(?:unable|not\s+able)\s+to\s+(?:answer|help|find|provide|determine|respond|assist)\b",
        rf"""(?:unanswerable|unknown|n/?a|not\s+(?:applicable|available|found|answerable|mentioned|specified|stated|sure)|cannot\s+(?:answer|say)|can't\s+(?:answer|say)
              |cannot\s+be\s+(?:answered|determined)|don't\s+know|no\s+(?:answer|idea|comment)|idk|(?:insufficient|not\s+enough)\s+(?:information|context))
            (?:\s+(?:(?:in|from|within|by|based\s+on)\s+{SOURCES}|to\s+(?:answer|say|tell|determine)\b[\w\s]{{0,40}}))?\W*$""",
        r"(?:i\s+have\s+)?no\s+idea\b",
    )
)
_CONTRAST = re.compile(r"(?:[,:—\u2013]\s*(?:but|however|although|though|yet|nevertheless|nonetheless)\b|;\s+|\.\s+)[\s,]*", re.IGNORECASE)


def declines(sentence: str) -> bool:
    """Returns whether `sentence`, its apologies aside, only says that the question is not answered.

    "I don't know the dose, but metformin is first-line" says more than that.
    """
    parts = [part for part in _CONTRAST.split(sentence) if any(map(str.isalnum, part))]
    declined = [_part_declines(part) for part in parts]
    return any(declined) and all(refused or is_chatter(part) for refused, part in zip(declined, parts, strict=True))


def _part_declines(part: str) -> bool:
    text = re.sub(r"^\W+", "", part.replace("\u2019", "'"))
    polite = _POLITE.match(text)
    return any(pattern.match(text, polite.end() if polite else 0) for pattern in _DECLINES)


def is_refusal(answer: str) -> bool:
    """Returns whether `answer` only declines: "I don't know", "The documents provided do not mention this".

    Greetings, questions and the advice to ask a doctor beside it change nothing. An answer that states anything else is no
    refusal, and neither is a statement about what is unknown ("It is not known whether X causes Y"), nor an empty answer.
    """
    layout = read_layout(mask_citations(answer))
    sentences = [layout.text[sentence.start : sentence.end] for sentence in read_sentences(layout)]
    declined = [declines(sentence) for sentence in sentences]
    return any(declined) and all(refused or is_chatter(sentence) for refused, sentence in zip(declined, sentences, strict=True))
