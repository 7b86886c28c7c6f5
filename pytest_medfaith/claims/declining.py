"""Tells a sentence that only declines to answer from a sentence that states something.

"I don't know the dose" declines. "No data are available on use in pregnancy" and "we did not find a
difference" are claims: only the assistant ("I") and the texts it was given can decline. After the declining
words there may be what is not answered, and nothing more. "I don't know the dose, so take 10 g" states
something.
"""

from __future__ import annotations

import re
from itertools import pairwise

from pytest_medfaith.claims.chatter import LONGEST_TALK, chatter_reason
from pytest_medfaith.claims.openers import SOURCES
from pytest_medfaith.claims.referring import refers
from pytest_medfaith.english import lexicon
from pytest_medfaith.english.conjugation import FORMS, noun_verbs, verb_forms
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import read_words
from pytest_medfaith.english.verbs import finite_verbs
from pytest_medfaith.english.words import SPOKEN

_INFORMATION = r"(?:information|info|answers?|details?|mention|context|guidance|documents?|passages?)"
_TOO_LITTLE = r"(?:no|not\s+enough|insufficient|not\s+sufficient|nothing|no\s+such)"
_CANNOT = r"""
    (?:can\s?not|can't|could\s+not|couldn't|(?:am|was)\s+(?:not\s+able|unable)\s+to
      |'m\s+(?:not\s+able|unable)\s+to|do\s+not|don't|did\s+not|didn't
      |will\s+not|won't|do(?:n't|\s+not)\s+feel\s+able\s+to|(?:am|'m)\s+not\s+in\s+a\s+position\s+to)
"""
_FIGURE = (
    r"(?:numbers?|figures?|doses?|dosages?|amounts?|answers?|treatments?|drugs?|medicines?|brands?|products?"
    r"|durations?|limits?|advice|recommendations?)"
)
_GUESS = r"(?:guess(?:ing|work)?|speculat(?:e|ing|ion)|mak(?:e|ing)\s+(?:something|one)\s+up)"
# What an answer may call its texts, beside the usual words of a RAG assistant.
_TEXTS = rf"""(?:{SOURCES}|(?:the|this|that|your)\s+(?:[\w-]+\s+){{0,2}}?(?:leaflet|guideline|page|protocol
    |handout|file|summary)s?
    (?:\s+(?:excerpt|extract|passage|text)s?|\s+(?:that\s+)?(?:you\s+(?:shared|gave|sent|provided)(?:\s+me)?
      |i\s+(?:was\s+given|have))))"""
_MISSING = (
    r"(?:mentioned|stated|found|provided|given|specified|discussed|covered|addressed|answered|determined"
    r"|available|included|contained|described|listed)"
)
_POLITE = re.compile(
    rf"""(?:
        (?:unfortunately|sadly|regrettably|i\s+regret(?:\s+(?:that|to\s+say(?:\s+that)?))?|honestly|sorry
          |however|i\s*(?:am|'m)\s+(?:(?:very\s+|so\s+)?sorry|afraid)(?:\s+(?:that|to\s+say(?:\s+that)?))?
          |i\s+apologi[sz]e|apologies|as\s+an?\s+(?:ai|artificial\s+intelligence|virtual|digital)
            (?:\s+(?:language|health|medical|model|assistant|chatbot|system))*
            |(?:i\s+can\s+only\s+say|all\s+i\s+can\s+say\s+is)(?:\s+that)?
            |i\s+(?:have\s+)?(?:looked|searched|checked)(?:\s+through\s+{SOURCES})?)\s*[,\u2013\u2014-]?\s*
            (?:but\s+|and\s+(?=found\b))?
      | (?:based\s+on|from|using|according\s+to|after\s+reviewing|in)\s+{SOURCES}\s*,?\s*
    )+(?=\w)""",
    re.VERBOSE | re.IGNORECASE,
)
_DECLINES = tuple(
    re.compile(pattern, re.VERBOSE | re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"""i\s*(?:(?:therefore|simply|still|also|just|honestly|really)\s+)?{_CANNOT}\s+
            (?:(?:really|currently|fully|confidently|reliably|accurately|safely|responsibly)\s+)*
            (?:know\b(?!\s+of\b)|find|locate|answer|provide|give|offer|determine|help|assist|tell|say|see
              |identify|confirm|verify|comment|diagnose|respond
              |comply|make|work\s+out|calculate|judge|be\s+(?:sure|certain)|go\s+into
                |(?:recommend|suggest|name|quote)\s+(?:an?|any)\s+(?!higher|lower|larger|smaller)
                (?:[\w-]+\s+){{0,3}}?{_FIGURE}\b
              |have\s+(?:any|the|that|this|enough|sufficient|access|specific|relevant|an\s+answer)\b)""",
        rf"""we\s*{_CANNOT}\s+(?:answer|provide\s+(?:an?\s+answer|medical|information)|have\s+
            (?:any|enough|sufficient)\s+{_INFORMATION})\b""",
        rf"""i\s+(?:have|found|see|could\s+find)\s+{_TOO_LITTLE}\b.*\b
            (?:{_INFORMATION}|about|on\s+(?:this|that))\b""",
        rf"""i\s+(?:don't|do\s+not)\s+(?:think|believe)\s+(?:that\s+)?(?:i\s+(?:can|am\s+able\s+to)\s+
            (?:answer|help\s+with|tell)\b|{SOURCES}\s+(?:cover|mention|address|answer|discuss)(?:e?s)?\b)""",
        rf"""i\s*(?:'d|would)\s+(?:prefer|rather)\s+not(?:\s+to)?\s+(?:answer\b|(?:give|name|quote|suggest)\s+
            (?:an?|any)\s+(?:[\w-]+\s+){{0,2}}?{_FIGURE}\b)""",
        rf"i\s+can\s+only\s+(?:use|rely\s+on|work\s+(?:with|from)|go\s+by|answer\s+from)\s+{SOURCES}",
        r"""(?:they|it)\s+(?:do(?:es)?\s+not|don't|doesn't)\s+(?:say|mention|cover|address|tell\s+(?:me|us))
            (?:\s+(?:anything|it|this|that))?(?:\s+(?:about|on)\s+(?:this|that|it))?\W*$""",
        r"(?:i\s+(?:have\s+)?)?found\s+nothing\s+(?:about|on)\s+(?:this|that|it)\W*$",
        r"""(?:the|my|our)\s+(?:search|retrieval|query)\s+(?:returned|found|gave|brought)\s+(?:no|nothing)\b
            (?:\s+(?:relevant|matching|useful))*(?:\s+(?:documents?|results?|passages?|information|matches
            |sources?|texts?))?\W*$""",
        rf"""(?:{SOURCES}|(?:the|this)\s+(?:(?:provided|given|available|limited)\s+)?information)\s+
            (?:(?:do(?:es)?|did)\s+not|don't|doesn't|didn't)\s+(?:allow|let|enable|permit)\s+(?:me|us)\s+to\s+
            (?:answer|say|tell|determine|judge)\b""",
        rf"""there\s+is(?:n't|\s+not)\s+(?:enough|sufficient)\s+(?:\w+\s+){{0,2}}?{_INFORMATION}(?:\s+here)?
            (?:\s+for\s+me)?\s+to\s+(?:answer|say|tell|respond)\b""",
        rf"""(?:this|that|it|(?:this|that|your|the)\s+(?:question|topic))\s+(?:is|falls|lies)\s+
            (?:outside|beyond)\s+(?:the\s+)?scope\s+of\s+(?:{SOURCES}|(?:the|my)\s+information)
            (?:\s+(?:that\s+)?i\s+(?:have(?:\s+access\s+to)?|was\s+given))?""",
        r"i\s*(?:am|'m)\s+(?:not\s+sure|unsure|not\s+certain|not\s+aware\s+of\s+(?:any\s+|the\s+)?answer)\b",
        r"(?:i\s*(?:am|'m)\s+sorry|sorry|i\s+apologi[sz]e|my\s+apologies)\W*$",
        r"""as\s+an\s+(?:ai|artificial|assistant|language)\b.*\b(?:cannot|can't|not\s+able|unable|do\s+not
            |don't)\b""",
        rf"""{SOURCES}\s+(?:(?:do(?:es)?|did)\s+not|don't|doesn't|didn't)\s+
            (?:(?:appear\s+to|seem\s+to|directly|explicitly|specifically|clearly|actually)\s+)*
            (?:contain|provide|include|mention|have|address|answer|say|state|specify|discuss|cover|give|offer
              |describe|explain|indicate|list|detail|refer|compare|tell(?:\s+(?:us|me|you))?)\b""",
        rf"""{_TEXTS}\s+(?:(?:do(?:es)?|did)\s+not|don't|doesn't|didn't)\s+
            (?:(?:directly|explicitly|actually|even)\s+)*(?:mention|say|state|specify|cover|discuss|address
            |answer|list|go\s+into|touch\s+on)\b""",
        rf"{SOURCES}\s+says?\s+nothing\b",
        rf"""{SOURCES}\s+(?:only\s+(?:covers?|discuss(?:es)?|address(?:es)?|mentions?)
            |(?:only\s+)?(?:deals?\s+with|concerns?)|(?:is|are)\s+(?:only\s+)?about)\b""",
        rf"none\s+of\s+{SOURCES}\s+(?:is|are)\s+about\b",
        r"""(?:the|this)\s+(?:(?:provided|given|available)\s+)?information
            (?:\s+(?:provided|given|available|here|i\s+have|i\s+was\s+given))?\s+(?:is|was)\s*
            (?:n't\s+enough|not\s+enough|not\s+sufficient|insufficient)\b""",
        rf"""it\s+is(?:n't|\s+not)\s+possible(?:\s+for\s+me)?\s+to\s+(?:answer\b
            |(?:say|tell|determine|judge|know)\b[^,;:]*?(?:from|in|by|with|on)\s+{SOURCES})""",
        r"there\s+is(?:n't|\s+not|\s+too)\s+(?:enough|little)\s+here\b",
        rf"(?:the\s+answer|that|this|it)\s*(?:is\s+not|isn't|'s\s+not)\s+in\s+{SOURCES}",
        r"(?:that|this)\s*(?:is\s+not|isn't|'s\s+not)\s+(?:covered|mentioned|addressed|stated|specified)\W*$",
        r"(?:that|this|it)\s*(?:'s|is)\s+beyond\s+me\W*$",
        rf"there(?:'s|\s+is)\s+nothing\s+(?:about|on)\b.*{SOURCES}",
        rf"""(?P<subject>(?:[^\s,;:.!?()]+\s+){{1,16}}?)(?:is|are|was|were)\s*(?:\s+not|n't)\s+
            (?:(?:actually|directly|explicitly)\s+)?{_MISSING}\s+(?:in|by|from|within)\s+
            (?:any\s+of\s+)?{_TEXTS}""",
        rf"""(?:whether|how|what|when|which|why|who)\b[^,;:.!?]{{0,120}},?\s+{SOURCES}\s+
            (?:do(?:es)?\s+not|don't|doesn't)\s+(?:say|state|tell|specify|mention)\b""",
        rf"""i\s*(?:(?:would|will|do)\s+(?:not|rather\s+not|prefer\s+not)
            |'d\s+(?:rather|prefer|much\s+rather)\s+not|won't|wouldn't|don't)(?:\s+(?:want|like|wish))?
            (?:\s+to)?\s+{_GUESS}(?:\s+(?:at|about)\b)?""",
        rf"""i\s*(?:would|'d)\s+(?:only\s+|just\s+)?be\s+(?:only\s+|just\s+)?{_GUESS}
            (?:\s+if\s+i\s+(?:gave|named|offered|suggested)\b)?""",
        rf"""(?:any|an?)\s+{_FIGURE}\s+(?:that\s+)?i\s+(?:gave|could\s+give|might\s+give|named)(?:\s+you)?\s+
            would\s+(?:only\s+|just\s+)?be\s+(?:an?\s+)?(?:pure\s+)?{_GUESS}""",
        rf"""(?:giving|offering|naming|suggesting)\s+(?:you\s+)?(?:an?|any)\s+
            (?:[\w-]+\s+){{0,2}}?{_FIGURE}\s+(?:here\s+)?would\s+(?:only\s+)?be\s+(?:pure\s+)?{_GUESS}""",
        r"""it\s+would(?:n't|\s+not)\s+be\s+(?:responsible|right|fair|appropriate|wise|safe|honest)\s+
            (?:of|for)\s+me\s+to\s+(?:suggest|give|name|guess|answer|offer|recommend)\b""",
        r"""(?:that|this|it)\s*(?:is\s+not|isn't|'s\s+not)\s+(?:something|a\s+question|one)\s+(?:that\s+)?i\s+
            can\s+(?:safely\s+)?(?:answer|say|help\s+with|decide|tell)\b""",
        rf"""(?:that|this|it|(?:this|that|your|the)\s+question)\s*(?:'s|is|goes|lies|falls)\s+
            (?:far\s+|well\s+)?(?:beyond|outside)\s+what\s+(?:i\s+can|{SOURCES}\s+can|{SOURCES})\s+
            (?:answer|help\s+with|say|tell|covers?|says?)\b""",
        rf"i\s+lack\s+(?:the\s+|enough\s+)?{_INFORMATION}",
        r"""i\s+(?:haven't|have\s+not)\s+(?:got\s+|found\s+|been\s+given\s+)?
            (?:enough|anything|any|the|sufficient)\b""",
        rf"{SOURCES}\s+(?:(?:contain|provide|include|offer|give|make)s?|has|have)\s+{_TOO_LITTLE}\b",
        rf"{SOURCES}\s+(?:lacks?|(?:is|are)\s+(?:not\s+sufficient|insufficient|silent|not\s+enough))\b",
        rf"""none\s+of\s+{SOURCES}\s+(?:contains?|provides?|mentions?|includes?|address(?:es)?|answers?
            |discuss(?:es)?|says?|states?|covers?|gives?|touch(?:es)?\s+on)\b""",
        rf"""(?:there\s+(?:is|are|was|were)\s+)?{_TOO_LITTLE}\b.*\b(?:in|within|from|among)\s+
            (?:any\s+of\s+)?{SOURCES}""",
        rf"""(?:there\s+(?:is|are|was|were)\s+)?{_TOO_LITTLE}\s+(?:\w+\s+){{0,2}}?{_INFORMATION}
            \s+(?:(?:was|were|is|are)\s+)?(?:found|available|provided|given|to\s+(?:answer|respond))\b""",
        r"""no\s+(?:relevant\s+|matching\s+)?(?:answer|information|results?|documents?|passages?|context
            |match(?:es)?)(?:\s+(?:was|were|is|are)\s+found)?\W*$""",
        r"""(?:this|the|that|your)\s+(?:question|query|request)
            \s+(?:can\s?not|can't|could\s+not|is\s+(?:outside|beyond|not|out\s+of|unanswerable)
              |falls\s+outside)\b""",
        rf"""(?:this|that|it|(?:the|this|that)\s+(?:answer|information))\s+
            (?:(?:is|was)\s+not|isn't|wasn't|(?:cannot|can't|could\s+not)\s+be)
            \s+(?:mentioned|stated|found|provided|given|specified|discussed|covered|addressed|answered
              |determined|available|included|contained)\b.*{SOURCES}""",
        r"(?:unable|not\s+able)\s+to\s+(?:answer|help|find|provide|determine|respond|assist)\b",
        rf"""(?:unanswerable|unknown|n/?a|not\s+(?:applicable|available|found|answerable|mentioned|specified
            |stated|sure)|cannot\s+(?:answer|say)|can't\s+(?:answer|say)
              |cannot\s+be\s+(?:answered|determined)|don't\s+know|no\s+(?:answer|idea|comment)|idk
                |(?:insufficient|not\s+enough)\s+(?:information|context))
            (?:\s+(?:(?:in|from|within|by|based\s+on)\s+{SOURCES}
              |to\s+(?:answer|say|tell|determine)\b[\w\s]{{0,40}}))?\W*$""",
        r"(?:i\s+have\s+)?no\s+idea\b",
    )
)

_BREAK = re.compile(
    r"\s*(?:[,;:()\u2013—]|\s-\s|\.(?=\s|$)|!)\s*"
    r"|\s+\b(?=(?:but|so|because|since|therefore|hence|thus|however|although|though|while|whereas|unless|as"
    r"|and|then|instead)\b)"
    # "I cannot say which is safe" asks; "I found no risk, which is safe" and "which means" state.
    r"|(?<=\S)(?<!\bsay)(?<!\byou)(?<!\btell)(?<!\bknow)(?<!\bjudge)(?<!\bdecide)(?<!\bdetermine)\s+"
    r"(?=which\b)"
    r"|\s+(?=which\s+(?:mean|make|show|say|prove|impl|suggest|allow|leave|let)\w*\b)",
    re.IGNORECASE,
)
_JOINING = re.compile(
    r"(?:but|and|so|as|because|since|however|although|though|yet|nevertheless|nonetheless|therefore|hence"
    r"|thus)\b[\s,]*",
    re.IGNORECASE,
)
_ASKING = word_set("whether if what which how when who where")
# After "I cannot find", these words turn the refusal into praise or blame: "I can't say this enough", "I see
# no reason not to".
_TURNING = word_set(
    "but not no never without enough wrong reason reasons better objection against otherwise except besides "
    "anyone nobody doubt doubts hesitation qualms objections more isn't aren't don't doesn't shouldn't can't "
    "wouldn't overstate stress why"
)
# Negations that a refusal itself may have.
_DENIALS = word_set("not no don't doesn't enough isn't aren't wouldn't won't")
_JUDGING = word_set(
    "safe unsafe fine ok okay harmless dangerous harmful effective ineffective best first-line allowed "
    "recommended contraindicated maybe perhaps probably likely possibly presumably apparently guess suppose "
    "try just always only"
)
_FOR_CERTAIN = re.compile(r"\b(?:confirm|verify|determine)\W*$", re.IGNORECASE)
_IN_SOURCES = re.compile(
    rf"\b(?:in|from|within|among)\s+(?:any\s+of\s+)?{SOURCES}", re.VERBOSE | re.IGNORECASE
)
_DIGIT = re.compile(r"\d\s*(?:-\s*)?[^\W\d_]|\d%")
# The "correct" of "the correct dose" is no verb.
_CORRECT = re.compile(r"\b((?:the|a)\s+)(?:correct|right|exact)\s+", re.IGNORECASE)
_NO_FIGURE = re.compile(rf"(?:gives?|names?|contains?|lists?)\s+no\s+{_FIGURE}\W*$", re.IGNORECASE)
_DOES_NOT = re.compile(r"(?:do(?:es)?\s+not|don't|doesn't)\b", re.IGNORECASE)
_TOPIC = re.compile(r"\b(?:about|on|regarding|concerning|for|of|related\s+to)\b", re.IGNORECASE)

# A sentence of these words alone speaks of the texts and of answering from them, and of no drug, number,
# finding or effect.
_ANSWERING = word_set(
    "i i'm i'd i'll i've me my we we're we'd us our you your you're it its it's they them this that that's "
    "these those there there's here what which whether who one a an the of in on at by for from with to into "
    "about as than and or so but because since if any some all each either neither both two three is are was "
    "were be been am do does did don't doesn't didn't have has had haven't hasn't can could can't cannot "
    "couldn't will would won't wouldn't isn't aren't wasn't not no none nothing only just really also either "
    "simply therefore unfortunately honestly directly fully actually text texts passage passages document "
    "documents source sources context contexts excerpt excerpts material materials page pages article "
    "articles question questions answer answers answering answered information info detail details data "
    "mention mentions mentioned content recommendation recommendations advice opinion figure number topic "
    "subject point matter part specific relevant particular enough sufficient insufficient more further "
    "clear clearly full whole reliable reliably certain sure confident confidently useful say says said tell "
    "tells know knows give gives given provide provides provided cover covers covered covering address "
    "addresses addressed discuss discusses discussed contain contains contained include includes included "
    "state states stated specify specifies specified go goes went going into touch touches short stop stops "
    "of missing absent silent lack lacks lacking need needs want like without beyond outside find found "
    "finding see look looked search searched shared sent help helps asked ask asking advise comment guess "
    "guessing speculate speculating judge able unable possible impossible afraid sorry based using available "
    "retrieved above attached own anything something everything else yet still unclear limited leave leaves "
    "open get gets far well properly responsibly safely personal individual situation case settle resolve "
    "determine conclude work out up nor how scope query queries results evidence retrieved matched match "
    "decline refuse qualified equipped must"
)
_LACKING = word_set(
    "not no none nothing neither nor don't doesn't didn't can't cannot couldn't won't wouldn't isn't aren't "
    "wasn't haven't hasn't unable missing absent silent lack lacks lacking short beyond outside insufficient "
    "guess guessing speculate speculating need without impossible unclear open decline refuse"
)
_ASSISTANT = word_set(
    "i i'm i'd i'll i've we we're we'd text texts passage passages document documents source sources context "
    "contexts excerpt excerpts material materials question questions query queries"
)
# "I don't see a problem with 8 g" and "I cannot say no" agree. "I see no problem in the passages" speaks of
# the passages.
_AGREES = re.compile(
    r"\b(?:see|find|have|identify|foresee|an?|any|no)\s+(?:\w+\s+)?(?:problem|concern|issue"
    r"|contra-?indication|objection|drawback|downside|harm|danger|evidence\s+(?:of|for)\s+(?:an?\s+|any\s+)?"
    r"(?:harm|danger|risk|toxicity|interaction)|signs?\s+of\s+(?:harm|danger|risk|toxicity))s?\b"
    r"(?!\s+(?:is|are|was|were|has|have|information|data))|\b(?:say|tell\s+you)\s+no\b",
    re.IGNORECASE,
)
# "The dose of 8 g" gives a dose; "a dose of 8 g" may repeat what was asked.
_GIVES_AMOUNT = re.compile(
    r"\b(?:the|its|their|your)\s+(?:[\w-]+\s+){0,3}?(?:maximum|minimum|limit|ceiling|threshold|dos(?:e|age)"
    r"|amount)(?:\s+\w+)?\s+of\s+\d",
    re.IGNORECASE,
)


def declines(sentence: str) -> bool:
    """Returns whether `sentence`, apart from apologies and small talk, only says that there is no answer.

    True for "Sorry, I cannot answer this."; False for "I don't know, but rest helps."
    """
    text = re.sub(r"^\W+", "", sentence.replace("\u2019", "'"))
    text = _CORRECT.sub(r"\1", text)
    if len(text) > LONGEST_TALK:
        return False
    polite = _POLITE.match(text)
    begin = polite.end() if polite else 0
    words = set(_words(text[begin:]))
    if words <= _ANSWERING and words & _LACKING and words & _ASSISTANT:
        return True  # "The passages stop short of a recommendation."
    for pattern in _DECLINES:
        head = pattern.match(text, begin)
        if head is None:
            continue
        subject = head.groupdict().get("subject") or ""
        if _names_a_thing(subject) and _adds_nothing(head[0], text[head.end() :]):
            return True
    return False


def _names_a_thing(subject: str) -> bool:
    """Returns whether `subject`, which the texts do not cover, is a thing or a question, and no statement."""
    words = _words(subject)
    if not words or words[0] in _ASKING:
        return True
    return not (_TURNING & set(words) - {"no"} or _holds_verb(subject))


def _adds_nothing(head: str, tail: str) -> bool:
    """Returns whether `tail`, after declining words, only names what is not answered, or declines again."""
    first, *later = [piece.strip() for piece in _BREAK.split(f" {tail}")]
    later = [piece for piece in later if any(map(str.isalnum, piece))]
    return _names_the_unknown(head, first) and all(_goes_on(first, piece) for piece in later)


def _names_the_unknown(head: str, piece: str) -> bool:
    """Returns whether `piece`, right after the declining words `head`, names what is not answered."""
    agrees = _AGREES.search(f"{head} {piece}") is not None and not _IN_SOURCES.search(piece)
    piece = _IN_SOURCES.sub(" ", piece)
    words = _words(re.sub(r"\bor\s+not\W*$", "", piece))
    unconfirmed = words[:1] == ["that"] and _FOR_CERTAIN.search(head) is not None
    words = words[unconfirmed:]
    asked = next((index for index, word in enumerate(words) if word in ("which", "whether")), len(words))
    compared = {"better"} & set(words[asked:])
    if (
        agrees
        or _GIVES_AMOUNT.search(piece)
        or _TURNING & set(words) - compared
        or _TURNING & set(_words(head)[3:]) - _DENIALS
    ):
        return False
    place = next((index for index, word in enumerate(words) if word in _ASKING), len(words))
    if "that" in words[place:-1]:  # "I don't know who said that 8 g is unsafe"
        return False
    if unconfirmed:
        return True
    spoken = list(SPOKEN.finditer(piece))
    named = piece[: spoken[place].start()] if place < len(spoken) else piece
    stated = any(_is_finite(word) and before != "to" for before, word in pairwise(words[:place]))
    if stated or _holds_verb(named):
        return False
    if place < len(words) or not _DIGIT.search(piece):
        return True
    return _TOPIC.search(f"{_words(head)[-1]} {piece}") is not None


def _goes_on(first: str, piece: str) -> bool:
    """Returns whether a later `piece` declines again, is small talk, or lists more that is not answered.

    `first` is the piece right after the declining words.
    """
    said = _JOINING.sub("", piece)
    if (
        not said
        or declines(said)
        or chatter_reason(said)
        or refers(said)
        or _NO_FIGURE.match(said)
        or (_DOES_NOT.match(said) and declines(f"The passages {said}"))
    ):
        return True
    words = _words(said)
    listed = (bool(first) and piece == said) or piece.lower().startswith("and ")
    return listed and not (
        _DIGIT.search(said)
        or (_TURNING | _JUDGING | _ASKING | {"which", "as", "because"}) & set(words)
        or any(map(_is_finite, words))
        or _holds_verb(said)
    )


def _holds_verb(text: str) -> bool:
    """Returns whether a word of `text` is a verb by its neighbours: not in "the cures"."""
    return bool(finite_verbs(read_words(text)))


def _is_finite(word: str) -> bool:
    """Returns whether a word is a finite verb or an auxiliary by itself: "takes", "is"."""
    known = verb_forms().get(word, frozenset())
    plain = not known.isdisjoint(FORMS) and word not in noun_verbs() and "part" not in known
    return plain or word in lexicon.AUXILIARIES


def _words(text: str) -> list[str]:
    """Returns the words of `text` in lower case."""
    return SPOKEN.findall(text.lower())
