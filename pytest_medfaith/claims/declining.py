"""Tells a sentence that only declines from a sentence that says something.

A statement about what is unknown is none of them: "no data are available on use in pregnancy" is a claim, and so is "we did not
find a difference"; only the assistant ("I") and the texts it was given can decline. What stands behind the declining words may name
what is not answered, and nothing more: "I don't know the dose, so take 10 g" says something.
"""

from __future__ import annotations

import re

from pytest_medfaith.claims import lexicon
from pytest_medfaith.claims.chatter import chatter_reason
from pytest_medfaith.claims.lexicon import word_set
from pytest_medfaith.claims.openers import SOURCES

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

_BREAK = re.compile(
    r"\s*(?:[,;:()\u2013—]|\s-\s|\.(?=\s|$)|!)\s*|\s+\b(?=(?:but|so|because|since|therefore|hence|thus|however|although|though|which|while|whereas|unless|as|and|then|instead)\b)",
    re.IGNORECASE,
)
_JOINING = re.compile(r"(?:but|and|so|however|although|though|yet|nevertheless|nonetheless|therefore|hence|thus)\b[\s,]*", re.IGNORECASE)
_ASKING = word_set("whether if what which how when who where")
# Behind "I cannot find", these turn the refusal into praise or blame: "I can't say this enough", "I see no reason not to".
_TURNING = word_set(
    "but not no never without enough wrong reason reasons better objection against otherwise except besides anyone nobody "
    "isn't aren't don't doesn't shouldn't can't wouldn't overstate stress why"
)
_JUDGING = word_set(
    "safe unsafe fine ok okay harmless dangerous harmful effective ineffective best first-line allowed recommended contraindicated maybe perhaps probably "
    "likely possibly presumably apparently guess suppose try just always only"
)
_FOR_CERTAIN = re.compile(r"\b(?:confirm|verify|determine|tell|say)\W*$", re.IGNORECASE)
_DIGIT = re.compile(r"\d\s*(?:-\s*)?[^\W\d_]|\d%")
_FINITE = frozenset({"base", "s", "past"})
_TOPIC = re.compile(r"\b(?:about|on|regarding|concerning|for|of|related\s+to)\b", re.IGNORECASE)


def declines(sentence: str) -> bool:
    """Returns whether `sentence`, its apologies and small talk aside, only says that the question is not answered."""
    text = re.sub(r"^\W+", "", sentence.replace("\u2019", "'"))
    polite = _POLITE.match(text)
    begin = polite.end() if polite else 0
    heads = [found for pattern in _DECLINES if (found := pattern.match(text, begin))]
    return any(_adds_nothing(found[0], text[found.end() :]) for found in heads)


def _adds_nothing(head: str, tail: str) -> bool:
    """Returns whether `tail`, behind declining words, only names what is not answered, or declines again."""
    first, *others = [piece.strip() for piece in _BREAK.split(f" {tail}")]
    return _names_the_unknown(head, first) and all(_goes_on(first, piece) for piece in others if any(map(str.isalnum, piece)))


def _names_the_unknown(head: str, piece: str) -> bool:
    words = _words(re.sub(r"\bor\s+not\W*$", "", piece))
    if words[:1] == ["that"] and _FOR_CERTAIN.search(head):
        words, asked = words[1:], True
    else:
        asked = False
    if _TURNING & set(words) or _TURNING & set(_words(head)[3:]) - {"not", "no", "don't", "doesn't", "enough", "isn't"}:
        return False
    place = next((index for index, word in enumerate(words) if word in _ASKING), len(words))
    named = words[:place]
    if "that" in words[place:-1]:  # "I don't know who said that 8 g is unsafe"
        return False
    if not asked and any(_is_finite(word) for word in named[1:]):
        return False
    return asked or place < len(words) or not _DIGIT.search(piece) or _TOPIC.search(f"{head} {piece}") is not None


def _goes_on(first: str, piece: str) -> bool:
    """Returns whether a later piece only declines again, is small talk, or goes on with the list of what is not answered."""
    said = _JOINING.sub("", piece)
    if not said or declines(said) or chatter_reason(said):
        return True
    words = _words(said)
    listed = (bool(first) and piece == said) or piece.lower().startswith("and ")
    return listed and not (
        _DIGIT.search(said) or (_TURNING | _JUDGING | _ASKING | {"which", "as", "because"}) & set(words) or any(map(_is_finite, words))
    )


def _is_finite(word: str) -> bool:
    known = lexicon.verb_forms().get(word, frozenset())
    auxiliary = word in lexicon.MODALS | lexicon.SINGULAR_AUXILIARIES | lexicon.PLURAL_AUXILIARIES | lexicon.OTHER_AUXILIARIES
    return auxiliary or (bool(known & _FINITE) and word not in lexicon.noun_verbs() and "part" not in known)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['-][^\W_]+)*", text.lower())
