"""Reads answers that say no more than yes or no: "Yes.", "A: yes", a thumbs-up, "They can.".

Such an answer says what its question asks, so it counts as a statement of all of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from pytest_medfaith.claims.openers import SOURCES
from pytest_medfaith.english.letters import folded

# Signs and their names, as chats write them; skin tones and variants are taken away before.
_YES_SIGNS = "👍👌✅✔✓☑🗸🆗💯🟢🟩⭕"
_NO_SIGNS = "👎❌❎✖✗✘☒🚫⛔🛑🔴🟥🙅"
_NAMES = {
    "+1": "yessign",
    "thumbsup": "yessign",
    "thumbs_up": "yessign",
    "ok_hand": "yessign",
    "white_check_mark": "yessign",
    "heavy_check_mark": "yessign",
    "check_mark": "yessign",
    "ballot_box_with_check": "yessign",
    "check": "yessign",
    "-1": "nosign",
    "thumbsdown": "nosign",
    "thumbs_down": "nosign",
    "x": "nosign",
    "cross_mark": "nosign",
    "no_entry": "nosign",
    "no_entry_sign": "nosign",
}
_SIGN = re.compile(
    rf"[{_YES_SIGNS}{_NO_SIGNS}]|(?<!\w):(?P<name>[-+\w]+):|(?<!\w)\[[xX]\](?!\w)|\((?P<letter>[yn])\)"
)
_VARIANTS = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
_TAG = re.compile(r"</?[a-z_]+>")
_SPACED = re.compile(r"(?<!\w)(?:\w\s){1,9}\w(?!\w)")
_LONGEST = 160  # characters: a longer text says more

# Cyrillic and Greek letters that look like those of "yes", "no", "correct" and "true".
_ALIKE = str.maketrans("аеорсухтикνοερτ", "aeopcyxtukvoept")

_YES = (
    r"y+e+s+h?|ye+p+|ye+a+h*|yah|ya|yu+p+|aye|uh-?huh|mm-?hmm?|y|affirmative|roger|positively|yes\s+indeed"
    r"|indeed|certainly|definitely|absolutely|totally|completely|clearly"
    r"|obviously|naturally|undoubtedly|unquestionably|surely|of\s+course|for\s+sure|sure(?:\s+(?:thing|enough"
    r"|can|is|does))?|you\s+bet|by\s+all\s+means|o\.?k\.?(?:ay)?|all\s+right|alright"
    r"|thumbs[\s-]+up|100\s*%|one\s+hundred\s+per\s?cent|without\s+(?:a|any)\s+doubt|no\s+doubt|(?:that|it"
    r"|this)(?:'s|\s+is)\s+an?\s+(?:\w+\s+)?yes|oui|si|ja|da"
    r"|(?:(?:there\s+is|there's)\s+)?no\s+reason\s+(?:not\s+to|why\s+not)|(?:i\s+(?:do\s+not|don't|can\s?not"
    r"|can't)\s+see\s+)?why\s+not|i\s+see\s+no\s+reason\s+(?:not\s+to|why\s+not)|i\s+(?:do\s+not|don't"
    r"|can\s?not|can't)\s+see\s+(?:an?|any|the)\s+(?:problem|issue|harm|objection"
    r"|reason\s+why\s+not)(?:\s+(?:with|in|to)\s+(?:that|it|this))?"
    r"|(?:(?:that|it|this)(?:'s|\s+is)\s+)?(?:no|not\s+an?)\s+(?:problems?|worries|issues?)(?:\s+(?:at\s+all"
    r"|with\s+(?:that|it|this)))?|no\s+objections?|(?:(?:there\s+is|there's)\s+)?no\s+harm\s+in\s+(?:that|it)"
    r"|go\s+(?:right\s+)?ahead|go\s+for\s+it|be\s+my\s+guest|feel\s+free(?:\s+to(?:\s+do\s+(?:so|that|it))?)?"
    r"|good\s+to\s+go|all\s+good|i\s+can\s+confirm(?:\s+(?:that|it|this))?|confirmed"
    r"|(?:(?:i|we)\s+)?(?:do\s+not|don't|would\s+not|wouldn't|can\s?not|can't|could\s+not"
    r"|couldn't)\s+(?:agree\s+more|(?:say\s+no|disagree|argue)(?:\s+(?:to|with)\s+(?:that|it|this))?)"
)
_NO = (
    r"no+|no+pe*|(?:i(?:'m|\s+am)\s+afraid|unfortunately|sadly|i\s+fear)\s+not|na+h+|nay|n|negative|never|"
    r"not\s+at\s+all|(?:certainly|definitely|absolutely|of\s+course|surely|clearly)\s+not|by\s+no\s+means|"
    r"no\s+way|thumbs[\s-]+down|nein|non|nyet|(?:that|it|this)(?:'s|\s+is)\s+a\s+(?:\w+\s+)?no"
)
_RIGHT = (
    r"(?:quite\s+|absolutely\s+|perfectly\s+|totally\s+|very\s+|indeed\s+|also\s+|all\s+)?(?:right|correct"
    r"|true|accurate|spot\s+on)"
)
_WRONG = (
    r"(?:quite\s+|absolutely\s+|totally\s+|simply\s+|just\s+)?(?:wrong|incorrect|false|untrue|inaccurate"
    r"|a\s+myth|mistaken)"
)
_THAT = (
    r"(?:that|this|it|what\s+you\s+(?:say|said)|your\s+statement|the\s+statement|the\s+claim)(?:'s|\s+is"
    r"|\s+would\s+be)"
)
_CORRECT = (
    rf"{_THAT}\s+(?:so|the\s+case)|(?:{_THAT}\s+)?{_RIGHT}|you(?:'re|\s+are)\s+(?:right|correct)|exactly"
    rf"|precisely|agreed|i\s+(?:fully\s+|quite\s+)?agree"
)
_FALSE = (
    rf"(?:{_THAT}\s+)?{_WRONG}|you(?:'re|\s+are)\s+(?:wrong|mistaken)|(?:{_THAT}\s+)?not\s+{_RIGHT}|(?:that"
    rf"|this|it)\s*isn't\s+{_RIGHT}|i\s+(?:disagree|do\s+not\s+agree|don't\s+agree)"
)
_SUBJECT = r"(?:it|they|you|he|she|we|one|that|this|these|those|there|i)"
_PLAIN = r"(?:is|are|was|were|can|should|will|does|do|did|has|have|had|must|am)"
_FIRM = r"(?:\s+(?:indeed|certainly|definitely|absolutely|surely|really|sure))?"
_THEY_CAN = rf"{_SUBJECT}{_FIRM}\s+{_PLAIN}(?:\s+(?:do|be))?(?:\s+(?:so|that|it|indeed))?"
_THEY_CANNOT = (
    rf"{_SUBJECT}\s+(?:(?:{_PLAIN}\s+not|cannot|can't|isn't|aren't|wasn't|weren't|shouldn't|won't|doesn't"
    rf"|don't|didn't|hasn't|haven't|hadn't|mustn't)|(?:'s|'re)\s+not)(?:\s+(?:do|be))?(?:\s+(?:so|that|it))?"
)
_ALLOWED = r"(?:you|they|one|we|he|she)\s+may(?:\s+do\s+so)?"
# Answers that keep their words, since "Yes" or "No" would say more or less.
_HEDGED = (
    r"maybe|perhaps|it\s+depends|(?:most\s+|very\s+|quite\s+)?(?:probably|possibly|likely|presumably"
    r"|apparently|seemingly|supposedly)(?:\s+(?:not|so|yes|no))?|not\s+(?:really|necessarily|always|usually)"
    r"|(?:yes\s+and\s+no)|sometimes|often|usually|rarely|i(?:'d|\s+would)?\s+(?:think|believe|guess|suppose"
    r"|assume|hope|say|expect)\s+(?:so|not)|i(?:\s+do\s+not|\s+don't)\s+(?:think|believe)\s+so"
    r"|so\s+(?:i\s+(?:believe|think)|it\s+(?:seems|appears))|it\s+(?:would\s+)?(?:seems?|appears?)\s+(?:so"
    r"|not)|so\s+it\s+(?:seems|appears)"
    rf"|{_SUBJECT}\s+(?:may|might|could|would)(?:\s+(?:not|well))?(?:\s+(?:be|do))?(?:\s+so)?"
)
_CORES = {
    "yes": rf"yessign|{_YES}",
    "no": rf"nosign|{_NO}",
    "correct": _CORRECT,
    "false": _FALSE,
    "can": rf"{_THEY_CAN}|{_ALLOWED}",
    "cannot": _THEY_CANNOT,
    "hedged": _HEDGED,
}
_AFFIRMS = {"yes", "correct", "can"}
_DENIES = {"no", "false", "cannot"}
_POINTING = {"correct", "false", "can", "cannot"}
_SPOKEN = {"yes": "Yes", "can": "Yes", "no": "No", "cannot": "No", "correct": "Correct", "false": "False"}

_LABEL = (
    r"(?:(?:short|final|direct|quick|brief|simple|honest|clear|my|your|the|a|an|here(?:'s|\s+is)|so|doctor's"
    r"|expert's|overall)\s+)*"
    r"(?:ans(?:wer)?|reply|response|verdict|conclusion|result|bottom\s+line|tl;?dr|decision|judge?ment"
    r"|recommendation|option\s+[a-e]|a(?=\W*[:=])|yes\s*/\s*no|yes\s+or\s+no|true\s+or\s+false"
    r"|correct\s+or\s+not|boxed)"
    r"(?:\s+(?:is|would\s+be)(?:\s+(?:a|an|clearly|simply|definitely)(?:\s+(?:clear|definite|simple|short"
    r"|firm|resounding))?)?)?\W+"
)
_SAYING = (
    rf"{SOURCES}\s+(?:clearly\s+)?(?:says?|answers?|states?|confirms?|suggests?)(?:\s+that|\s*:)?\s+"
    rf"|what\s+{SOURCES}\s+says?\s*:\s*"
)
_LEAD = (
    rf"(?:{_LABEL}|{_SAYING}|(?:based\s+on|according\s+to|from|per|as\s+per|in)\s+{SOURCES}\W+"
    r"|(?:in\s+short|in\s+a\s+word|in\s+one\s+word|in\s+brief|simply\s+put|put\s+simply"
    r"|to\s+answer\s+your\s+question|in\s+summary|in\s+conclusion|overall|well|oh|hm+|so|then|and|but"
    r"|honestly|frankly|unfortunately"
    r"|sadly|fortunately|luckily|sorry|i(?:'m|\s+am)\s+afraid|i\s+(?:can\s+only|have\s+to|must|will|would"
    r"|do)\s+say|i(?:'d|'ll)\s+(?:have\s+to\s+)?say|let(?:'s|\s+me)\s+say|i\s+say|that(?:'s|\s+is)\s+a|again"
    r"|great\s+question|good\s+question|thanks(?:\s+for\s+asking)?|thank\s+you"
    r"|as\s+an\s+(?:ai|assistant)(?:\s+(?:language\s+)?model|\s+assistant)?|i(?:'m|\s+am)\s+an\s+ai"
    r"|see\s+below|hello|hi|dear\s+\w+|let\s+me\s+answer|i(?:'d|\s+would)\s+be\s+(?:happy|glad)\s+to\s+help"
    r"|hope\s+this\s+helps)(?!\w)\W*)*"
)
_TAIL = (
    rf"(?:\W+(?:sir|madam|ma'am|please|thanks|thank\s+you|mate|dear|(?:my\s+)?friend|doctor|see\s+below"
    rf"|as\s+below|(?:according\s+to|based\s+on|per|from|in)\s+{SOURCES}|as\s+(?:stated|said|described"
    rf"|mentioned|noted|shown)\s+(?:in|by)\s+{SOURCES}"
    r"|(?:that|this)(?:'s|\s+is)\s+what\s+(?:the\s+)?(?:passages?|sources?|texts?|documents?"
    r"|contexts?)\s+(?:says?|states?)|in\s+short|for\s+sure|in\s+general|generally|as\s+far\s+as\s+i\s+know"
    r"|i\s+think|i\s+believe|i\s+guess|actually|really|again|i(?:'m|\s+am)\s+afraid|unfortunately|sadly|then"
    r"|too|as\s+well|so|\d))*"
)


@dataclass(frozen=True)
class YesNo:
    """An answer of yes or no.

    Attributes:
        spoken: "Yes", "No", "Correct" or "False"; "" where only its own words say it: "Probably not".
        affirms: True for yes, False for no, None where `spoken` is "".
        points: True for "They can" and "Correct", which answer what is said right before them.
        is_word: True for a word or a sign, False for a phrase such as "Go ahead.".
    """

    spoken: str
    affirms: bool | None
    points: bool
    is_word: bool


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], dict[str, re.Pattern[str]]]:
    """Returns (the pattern of a whole answer, {kind: pattern of a piece of it})."""
    pieces = {kind: f"(?:{pattern})(?!\\w)" for kind, pattern in _CORES.items()}
    one = f"(?:{'|'.join(pieces.values())})"
    whole = rf"\W*{_LEAD}(?P<said>{one}(?:\W+(?:and\s+)?{one})*){_TAIL}\W*"
    return re.compile(whole, re.VERBOSE), {
        kind: re.compile(pattern, re.VERBOSE) for kind, pattern in pieces.items()
    }


@lru_cache(maxsize=1_024)
def read_yes_no(text: str) -> YesNo | None:
    """Returns what `text` answers, if it says no more than yes or no, as "Yes, it does." does.

    None if it says more: "Yes, but only in adults."
    """
    if len(text) > _LONGEST or text.count("|") > 2:  # the cells of a table's header
        return None
    plain = _TAG.sub(" ", _SIGN.sub(_word_of_sign, _VARIANTS.sub("", folded(text).translate(_ALIKE))))
    plain = _SPACED.sub(lambda spaced: "".join(spaced[0].split()), plain)
    whole, pieces = _patterns()
    found = whole.fullmatch(plain)
    if found is None:
        return None
    kinds = _kinds(found["said"], pieces)
    affirms = True if kinds <= _AFFIRMS else False if kinds <= _DENIES else None
    spoken = "" if affirms is None else next(_SPOKEN[kind] for kind in _SPOKEN if kind in kinds)
    return YesNo(
        spoken,
        affirms,
        points=kinds <= _POINTING,
        is_word=affirms is not None and not re.search(r"\w\W+\w", found["said"]),
    )


def _kinds(said: str, pieces: dict[str, re.Pattern[str]]) -> set[str]:
    """Returns the kinds of the pieces of `said`; each piece is as long as possible."""
    kinds, place = set(), 0
    while place < len(said):
        ends = {kind: found.end() for kind, piece in pieces.items() if (found := piece.match(said, place))}
        if ends:
            longest = max(ends, key=lambda kind: ends[kind])
            kinds.add(longest)
            place = ends[longest]
        else:
            place += 1
    return kinds


def _word_of_sign(sign: re.Match[str]) -> str:
    """Returns "yessign" or "nosign" for a sign, and the sign itself where it means neither."""
    if sign["letter"]:
        return f" {sign['letter']} "
    if sign["name"]:
        return f" {_NAMES.get(sign['name'], sign[0])} "
    return " nosign " if sign[0] in _NO_SIGNS else " yessign "
