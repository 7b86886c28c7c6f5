"""Warnings of a pair of drugs, right after the claim that names them.

"Sildenafil and nitrates are both used for the heart. They must never be combined." names two drugs that must
not be combined, and advises nothing.
"""

from __future__ import annotations

import re

from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.safety.stance import is_myth

_LOOK_AHEAD = 600  # characters behind a claim
_SENTENCE_END = re.compile(r"[\s)*_\]\"\u201d]*[.!?][\s)*_\]\"\u201d]*|[ \t]*[\r\n]\s*")
_THE_PAIR = (
    r"(?:they|them|both(?:\s+(?:drugs|medicines|of\s+them))?|the\s+two(?:\s+(?:drugs|medicines))?|these"
    r"(?:\s+two)?(?:\s+(?:drugs|medicines|tablets))?)"
)
_THE_MIX = (
    r"(?:this|that|the|such\s+an?|their)\s+(?:combination|combined\s+use|mix(?:ture)?"
    r"|joint\s+use|pair(?:ing)?)"
)
_TOGETHER = r"(?:together|at\s+the\s+same\s+time|concurrently|simultaneously|concomitantly|jointly)"
_NOT = r"(?:not|never|cannot|(?:can|must|should|do|may)n['\u2019]t)"
_ADVERBS = r"(?:\s+(?:be|always|usually|ever|generally|normally|therefore|best))*"
_FORBIDDEN = re.compile(
    rf"""\b(?:
        {_THE_PAIR}\s+(?:(?:must|should|can|may|are)\s+)?{_NOT}{_ADVERBS}\s+
            (?:(?:combined|mixed|co-?administered)(?:\s+{_TOGETHER})?
            |(?:to\s+be\s+)?(?:taken|used|given|prescribed)\s+{_TOGETHER})
        |(?:{_NOT}|avoid)(?:\s+to)?\s+(?:(?:combin(?:e|ing)|mix(?:ing)?)\s+{_THE_PAIR}(?:\s+{_TOGETHER})?
            |(?:tak(?:e|ing)|us(?:e|ing)|giv(?:e|ing)|prescrib(?:e|ing))\s+{_THE_PAIR}\s+{_TOGETHER})
        |avoid(?:ing)?\s+{_THE_MIX}
        |{_THE_MIX}(?:\s+(?:is|must|should))?{_ADVERBS}\s+(?:avoided|contraindicated|forbidden)
        |{_THE_MIX}\s+(?:is|must|should)\s+(?:not|never)(?:\s+be)?\s+(?:used|taken|given|safe|recommended|advised)
        |{_THE_MIX}[^.;]*\s+(?:and|so)\s+(?:must|should)\s+be\s+avoided
    )(?=\s*(?:[.,;!)]|$|because\b|since\b|as\b|and\b|due\b|owing\b))""",
    re.VERBOSE | re.IGNORECASE,
)
_KEPT_APART = re.compile(
    r"\b(?:keep|kept|take|taken|give|given|space|spaced|separate|separated|leave|left)\b[^.;]*"
    r"\b(?:(?:apart|separately)\b(?!\s+from\s+(?!each\s+other\b|one\s+another\b))"
    r"|between\s+(?:them|the\s+two|doses)\b)",
    re.IGNORECASE,
)
_OF_THE_PAIR = re.compile(rf"\b(?:{_THE_PAIR}|doses)\b", re.IGNORECASE)
_WATCHED = re.compile(
    rf"\b(?:{_THE_MIX}|{_THE_PAIR}(?:\s+\w+){{0,3}}\s+{_TOGETHER}|both\s+together)\b[^.;]*?\b(?:needs?|requires?|calls?"
    r"\s+for|must|should)\b[^.;]*?\b(?:monitor\w*|supervis\w+|(?:blood\s+)?(?:tests|checks)|checked|caution)\b",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"\b(?:no|not|never|without|rarely|unlikely|hardly|needless|unnecessary|unless|only)\b|n['\u2019]t\b",
    re.IGNORECASE,
)


def pair_warning(behind: str) -> str:
    """Returns the sentence right after a claim that warns of combining the two drugs that it names; or "".

    It forbids them together, keeps them apart, or asks for checks.

    Args:
        behind: the answer from the end of the claim on. The rest of the claim's sentence and the next
            sentence count.
    """
    ends_here = _SENTENCE_END.match(behind)
    text = behind[ends_here.end() :] if ends_here else behind
    near = sentence_spans(text[:_LOOK_AHEAD])[: 1 if ends_here else 2]
    return next((text[start:end] for start, end in near if _warns(text[start:end])), "")


def _warns(sentence: str) -> bool:
    """Returns whether a sentence warns of a pair of drugs."""
    if sentence.rstrip().endswith("?") or is_myth(sentence):
        return False
    if _FORBIDDEN.search(sentence):
        return True
    parted = _KEPT_APART.search(sentence) and _OF_THE_PAIR.search(sentence)
    return bool(parted or _WATCHED.search(sentence)) and not _TAKEN_BACK.search(sentence)
