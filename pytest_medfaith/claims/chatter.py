"""Recognises chatter: greetings, closings, disclaimers and empty advice, which no evidence can support.

A sentence wrongly taken for chatter would pass unchecked. So a cue ("I hope", "feel free to") is not enough:
every word of the sentence must be one of those that such talk uses. A number, a drug, a finding or an
instruction makes it a claim.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_medfaith.claims.openers import SOURCES
from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.words import SPOKEN

_FUNCTION = word_set(
    "a an the this that these those it its i you we us him them me my your our their and or so as if when "
    "because there here to of in on at by for with from about into over regarding is are was be been being "
    "am has have had having do does did can could may might should will would i'm you're we're it's that's "
    "i've you've we've i'd you'd i'll you'll we'll let's any some all each more other another further "
    "additional own also else just very really too again always please kindly what which how why where "
    "whether anything something"
)
_TALK = word_set(
    "question questions asking ask asked hear hearing know knowing help helps helped helping assist "
    "assistance answer answers answering explain explaining explanation summarise summarize summary overview "
    "outline detail details clarify clarification information info understand understanding useful helpful "
    "clear clearly concise brief briefly simply quick quickly look looking need share sharing topic subject "
    "matter concern concerns message chat conversation reach out contact contacting everyone friend sir "
    "madam user everybody luck day morning afternoon evening week interest interested glad happy pleased "
    "delighted hope hoping wish sorry apologies apologize apologise inconvenience confusion thank thanks "
    "worry break down step steps terms simple language way go back patient folks love like want try provide "
    "provided providing give based context above below following list points key main few one two things "
    "answer's response discuss begin dive walk through deeper together first now today opportunity pleasure "
    "great good kind feel free learn"
)
_EVIDENCE = word_set(
    "references reference sources source links link citations citation table figure website page section "
    "below above list full text article articles document documents see check visit read more details "
    "information refer following leaflet appendix label labels labelling insert package packaging packet box "
    "product prescribing monograph datasheet formulary manufacturer manufacturer's patient medicine's "
    "information https http www com org"
)
_OFFICE = word_set(
    "ai artificial intelligence assistant language large model bot chatbot computer program medical health "
    "healthcare professional qualified licensed personal personalized personalised individual specific "
    "advice advise guidance diagnosis diagnoses diagnose treatment information answer response content "
    "material summary text general generic educational informational purposes purpose only nature not cannot "
    "can't intended constitute considered provide give offer meant disclaimer note reserved rights copyright "
    "clinical judgment judgement consultation care accurate complete guarantee guaranteed responsible use "
    "decisions doctor physician pharmacist nurse lawyer but decision relied reference opinion evaluation "
    "examination remember help helpful situation"
)
_PROFESSION = (
    r"(?:doctors?|physicians?|pharmacists?|pharmacy|specialists?|providers?|clinicians?|gp|professionals?"
    r"|practitioners?|dermatologists?"
    r"|cardiologists?|gyna?ecologists?|psychiatrists?|neurologists?|dentists?|midwife|nurses?|teams?|workers?"
    r"|obstetricians?|pa?ediatricians?"
    r"|endocrinologists?|oncologists?|rheumatologists?|urologists?|surgeons?|dietitians?|prescribers?"
    r"|formulary|hospital|clinic)"
)
_ADVICE = word_set(
    "consult consulting consultation contact contacting see visit ask call speak speaking talk talking check "
    "checking discuss discussing discussion reach out follow up seek seeking refer turn appointment make get "
    "getting obtain book schedule advice guidance recommendation recommendations instructions information "
    "help opinion care medical health healthcare health-care mental qualified licensed local national "
    "primary treating prescribing personalized personalised individual individualized individualised "
    "specific tailored appropriate proper best better important essential crucial necessary advisable "
    "recommended recommend suggest advise advised encourage strongly wise idea good helpful vital ideally "
    "sure remember concern concerns question questions doubt doubts unsure uncertain worried concerned need "
    "needs needed want like circumstances situation case condition conditions history medication medications "
    "medicine medicines leaflet treatment treatments options option plan plans decision decisions drug drugs "
    "symptoms supplement supplements therapy regimen topic matter right determine decide evaluation "
    "attention assessment guideline guidelines policy trust possible ultimately finally who experience "
    "doctor's then but so one before it's people patients licensed family own making first therefore however "
    "review discuss matters proper safe"
) - word_set("safe first start")
_PHRASES = re.compile(  # their words mean something else in other places; each phrase becomes one mark
    r"""(?<!\w)(?:
      (?:do\s+not|don't|not)\s+hesitate | no\s+(?:problem|worries) | (?:i\s+am|i'm)\s+(?:only\s+|just\s+)?
        (?:an?\s+)?not\s+an?\s+(?:\w+\s+)?(?:doctor|physician|nurse|pharmacist|lawyer|professional)
    | (?:not|never|no)\s+(?:(?:be|as|an?|intended|meant|to|used|considered|taken|seen|viewed
      |regarded)\s+){0,6}(?:substitutes?|replacements?|replace)(?:\s+for)?
    | (?:before|when|prior\s+to)\s+(?:making|starting|taking|stopping|using|changing|beginning|trying
      |switching)(?:,?\s+(?:making|starting|taking|stopping|using|changing|beginning|trying|switching|or
      |and))*(?:(?=\s*(?:$|[,.!;)]))|\s+
      (?:(?:any|a|an|the|this|these|that|your|new|or|other|kind|of|changes?|decisions?|to|about|health|medical
        |treatment)\s+){0,5}
      (?:it|them|medications?|medicines?|drugs?|treatments?|supplements?|therap(?:y|ies)|regimen|changes?
        |decisions?|plan|anything(?:\s+new)?))
    | before\s+(?:use|you\s+(?:start|begin|decide|stop|change)(?=\s*(?:$|[,.!;)])))
    | get\s+well(?:\s+soon)? | take\s+(?:good\s+)?care(?:\s+of\s+yourself)? | stay\s+(?:safe|well|healthy)
      | all\s+the\s+best | you(?:'re|\s+are)\s+(?:very\s+|most\s+)?welcome | my\s+pleasure
    )(?!\w)""",
    re.VERBOSE | re.IGNORECASE,
)
# Characters. A longer sentence says something, and the patterns would read it again at each cue.
LONGEST_TALK = 600


@dataclass(frozen=True)
class _Kind:
    """A kind of chatter: a sentence that matches `cue` and has no other words than `words`.

    Attributes:
        reason: the name of the kind, "greeting" for example.
        cue: the pattern; a NUL character in it means a phrase of `_PHRASES`.
        words: the words that such a sentence may have.
    """

    reason: str
    cue: re.Pattern[str]
    words: frozenset[str]


def _cue(pattern: str) -> re.Pattern[str]:
    """Returns a pattern for a cue, in verbose syntax and either case."""
    return re.compile(rf"(?:{pattern})", re.VERBOSE | re.IGNORECASE | re.DOTALL)


_KINDS = (
    _Kind(
        "greeting",
        _cue(
            r"""^(?: (?:hi|hello|hey|dear|greetings|good\s+(?:morning|afternoon|evening|day|luck)|welcome|bye
                |goodbye|cheers)\b
            | (?:many\s+)?thank(?:s|\s+you)\b
            | (?:what\s+an?\s+|(?:that|this)\s*(?:'s|\s+is)\s+an?\s+)?(?:very\s+|really\s+)?
              (?:great|good|excellent|interesting|important)\s+question\b
            | (?:i\s+|we\s+)?(?:do\s+|really\s+)?(?:hope|hoping|wish)\b | i\s+understand\b
            | (?:i|we)\s*(?:am|'m|are|'re)\s+(?:\w+\s+)?(?:glad|happy|pleased|delighted|here|sorry)\b
            | (?:i|we)(?:\s+would|'d|'ll|\s+will|\s+can)\s+(?:\w+\s+)?(?:be\s+(?:happy|glad|pleased)|like|love
              |try|explain|summari[sz]e|answer|help)\b
            | (?:my\s+)?apologies\b | i\s+apologi[sz]e\b | sorry\b
            | (?:please\s+|and\s+|just\s+)*(?:let\s+(?:me|us)\s+know|feel\s+free\s+to\s+
              (?:ask|contact|reach|share|let|message)|reach\s+out|contact\s+(?:me|us)|message\s+me)\b
            | (?:please\s+)?\x00 | (?:best|kind|warm)\s+(?:wishes|regards)\b | sincerely\b | yours\b
            | if\s+(?:you|there|anything|this)\b.*\b(?:ask|let\s+me\s+know|reach\s+out|feel\s+free
              |contact\s+me|here\s+to|happy\s+to|glad\s+to|\x00)
            | (?:here\s+(?:is|are)|here's|below\s+(?:is|are))\b | the\s+following\s+(?:is|are)\b[^.]*:?$
              | let(?:'s|\s+us|\s+me)\b | is\s+there\s+anything\b )"""
        ),
        _FUNCTION
        | _TALK
        | word_set(
            "let hi hello hey dear greetings welcome bye goodbye cheers regards wishes warm sincerely yours "
            "best many excellent interesting important don't do hesitate"
        ),
    ),
    _Kind(
        "reference to a source",
        _cue(r"^(?:please\s+|also\s+)*(?:see|refer\s+to|check|visit|read)\b"),
        (_FUNCTION - {"it", "them"}) | _EVIDENCE,
    ),
    _Kind(
        "disclaimer",
        _cue(
            r"""\x00.*\b(?:advice|care|diagnos\w+|treatment|doctor|professional|consultation|judge?ment)\b
            | \b(?:not|cannot|can't|isn't)\b[^.]{0,40}\bmedical\s+(?:advice|diagnos\w+)
              | ^(?:please\s+note\s+that\s+)?(?:i\s+am|i'm)\s+(?:only\s+|just\s+)?(?:not\s+)?an?\s
            | \b(?:educational|informational?|information)\s+purposes | \bgeneral\s+
              (?:information|guidance)\b | \bas\s+an\s+(?:ai|artificial|assistant|language)\b
            | \ball\s+rights\s+reserved"""
        ),
        (_FUNCTION | _OFFICE) - {"do"},
    ),
    _Kind(
        "advice",
        _cue(
            rf"""\b(?:consult\w*|contact\w*|see|visit\w*|ask\w*|call\w*|speak\w*|talk\w*|check\w*|discuss\w*
                |reach\s+out|follow\w*|seek\w*|refer|turn\s+to|get|appointment)\b
            .*\b(?:{_PROFESSION}|(?:medical|professional|health)\s+
              (?:attention|advice|help|care|evaluation))\b
            | \b(?:{_PROFESSION})\s+(?:can|will|could|may|is\s+able\s+to)\s+(?:best\s+)?
              (?:help|advise|guide|tell)\b"""
        ),
        _FUNCTION | _ADVICE,
    ),
)
_PROFESSION_WORD = re.compile(rf"{_PROFESSION}(?:'s)?$", re.IGNORECASE)
_SYMPATHY = re.compile(
    r"""(?:i\s*(?:am|'m)\s+|we\s*(?:are|'re)\s+)?(?:\w+\s+)?sorry\s+(?:to\s+hear\s+)?(?:about\s+(?:your|the)
        |(?:that\s+)?you(?:\s+are|'re|\s+were|\s+have\s+been)?)\b((?:\s+[a-z'-]+){1,8})\W*$""",
    re.VERBOSE | re.IGNORECASE,
)
_NO_SYMPATHY = word_set(
    "is are should must can may could take need because but and or so which that who not no never safe unsafe"
)
_WISH = re.compile(
    r"""(?:(?:and\s+)?(?:i\s+|we\s+)?(?:i\s*'?m\s+)?(?:hope|hoping|wish|wishing)\s+(?:you|your|him|her|them
        |that|a|the|little|one|ones|son|daughter|child|baby|mother|father|mum|dad|mom|wife|husband
          |partner|family|loved|all|and|everyone|very|speedy|quick|swift|full|smooth|happy|healthy|recovery
            |feels?|gets?|better|well|soon|best|luck|good|easier|is|are|of|back|on|their|his|feet|things
            |improve
          |days?|ahead|pregnancy|birth|treatment|journey|lots|strength|patience|health|with|for|\s)+
      | (?:(?:many|warm|huge)\s+)?congratulations(?:\s+(?:to\s+you|on\s+(?:your|the)(?:\s+[a-z-]+){1,3}))?
      | (?:(?:and|the)\s+)?(?:very\s+)?(?:best|good)\s+(?:of\s+)?luck(?:\s+(?:to\s+you|with\s+(?:it|that
        |everything|(?:your|the)(?:\s+(?!(?:safe|harmless)\b)[a-z-]+){1,2})))?(?!\w)
      | (?:that|this|it)\s+(?:must|sounds?|can|will)\s*(?:have\s+been|be|feel|like)?(?:\s+(?:been|a|an|very
        |really|so|quite|rather|extremely|incredibly|frightening|scary|worrying|hard|difficult|stressful|tough
          |upsetting|distressing|painful|frustrating|tiring|exhausting|overwhelming|time|experience|for|to|you
            |your|family|watch|see|hear|deal|with|and|all))+
      | (?:that|this|it)\s+(?:must|sounds?)\s+(?:\w+ly\s+)?(?:un)?(?:comfortable|pleasant|nerving|settling
        |easy|fun)
      | hope\s+(?:this|that|it)\s+(?:helps?|clears?|answers?|is)(?:\s+(?:a|bit|this|that|it|things?|some|of
        |the|your|questions?|up|out|for|you|helpful|useful|clearer)){0,6}
      | safe\s+(?:travels?|journey|trip) | (?:enjoy|have)\s+(?:your|a)\s+
        (?:\w+\s+)?(?:trip|holiday|journey|travels?)
      | (?:what|such)\s+(?:an?\s+)?(?:very\s+)?(?:good|great|wonderful|lovely|happy|exciting|fantastic)\s+news
        (?:\s+for\s+(?:you|her|him|them|(?:your|their|her|his)\s+[a-z-]+))?
      )""",
    re.VERBOSE | re.IGNORECASE,
)
_WHAT_SOURCES_SAY = re.compile(
    rf"""(?:here(?:'s|\s+is)\s+)?what\s+(?:{SOURCES}|they|i\s+(?:have|found|can\s+(?:tell|offer|say)))\s+
        (?:do\s+|does\s+|can\s+)?
      (?:say|tell\s+us|cover|show|suggest|advise|recommend|found|in\s+them|you|is\s+this)?s?(?:\s+
        (?:about|on|for)(?:\s+(?!(?:is|are|was|were|should|must|can|may|not|no)\b)[\w-]+){{1,6}})?
      | here(?:'s|\s+is)\s+how\s+to(?:\s+[a-z-]+){{1,6}}""",
    re.VERBOSE | re.IGNORECASE,
)
# It sets a tone, and no evidence can support or refute it: "Kidney function matters".
_EMPHASIS = re.compile(
    r"""(?:[A-Z][\w-]*\s+)(?:[a-z][\w-]*\s+){0,3}(?:matters?(?:\s+(?:here|too|as\s+well|a\s+lot|most))?
      | (?:needs?|calls?\s+for|requires?|deserves?)\s+(?:great|special|extra|particular|some|real)?\s*
        (?:care|caution|attention|thought)\s+here)
      | (?i:be\s+patient | know\s+the\s+(?:danger|warning)\s+signs | how\s+(?:it|this)\s+is\s+
        (?:taken|given|used|done|treated|diagnosed)
      | (?:so\s+)?here(?:'s|\s+is)\s+an?\s+(?:[a-z-]+\s+){0,2}(?:summary|overview|guide|outline|rundown)
      | let\s+me\s+(?:walk|take|talk|guide)\s+you\s+through\s+(?:the\s+|this\s+|it\s*)?
        (?:evidence|steps|basics|options|details|sources)?)""",
    re.VERBOSE,
)
_SALUTATION = re.compile(r"(?:hi|hello|hey|dear)\s+(?:(?:mr|mrs|ms|dr)\.?\s+)?[A-Z][a-z]+\W*$", re.IGNORECASE)
_BARE_ANSWER = re.compile(
    r"\W*(?:yes|no|maybe|perhaps|it\s+depends|true|false|correct|sure|certainly|absolutely|of\s+course|ok"
    r"|okay|definitely|not\s+(?:really|necessarily|always))\W*$",
    re.IGNORECASE,
)
_COPYRIGHT = re.compile(
    r"\W*(?:©|\(c\)|copyright\b)\W*(?:19|20)\d\d(?:\s*[-\u2013]\s*(?:19"
    r"|20)?\d\d)?[\s,.]*(?:by\s+)?(?:[A-Z][\w&'-]*[\s,.]*){0,4}(?i:all\s+rights\s+reserved)?\W*$"
)


def is_bare_answer(sentence: str) -> bool:
    """Returns whether `sentence` is only "Yes.", "No." or the like, and so says what its question asks."""
    return _BARE_ANSWER.match(sentence.replace("\u2019", "'")) is not None


def is_emphasis(sentence: str) -> bool:
    """Returns whether `sentence` only sets a tone: "Be patient", "Kidney function matters"."""
    return _EMPHASIS.fullmatch(sentence.strip(" \t\r\n\"'*_()").rstrip(" .!:")) is not None


def chatter_reason(sentence: str) -> str:
    """Returns the kind of chatter that `sentence` is; "" where it may state something.

    The kinds are "greeting", "disclaimer", "advice" (to see a doctor, without a symptom, time or patient that
    calls for it), "reference to a source" and "no checkable content". A sentence of more than `LONGEST_TALK`
    characters is chatter only if it has no checkable content.
    """
    plain = sentence.replace("\u2019", "'").strip(" \t\r\n\"'“”*_()")
    if (
        not any(map(str.isalnum, plain))
        or is_bare_answer(plain)
        or _WHAT_SOURCES_SAY.fullmatch(plain.rstrip(" .:"))
        or is_emphasis(plain)
    ):
        return "no checkable content"
    if len(plain) > LONGEST_TALK:
        return ""
    if _COPYRIGHT.match(plain):
        return "disclaimer"
    sympathy = _SYMPATHY.match(plain)
    sympathetic = sympathy is not None and not _NO_SYMPATHY & set(sympathy[1].lower().split())
    if sympathetic or _SALUTATION.match(plain) or _WISH.fullmatch(plain.rstrip(" .!")):
        return "greeting"
    bare = _PHRASES.sub("\x00", plain)
    words = SPOKEN.findall(bare.lower())
    for kind in _KINDS:
        profession = kind.reason == "advice"
        if kind.cue.search(bare) and all(
            word in kind.words or (profession and _PROFESSION_WORD.match(word)) for word in words
        ):
            return kind.reason
    return ""
