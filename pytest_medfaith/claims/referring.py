"""Recognises a sentence that only sends the reader to a professional: "Please speak to your doctor".

The whole sentence must be made of known parts: a beginning, whom to ask, about what, and when. A drug, a
number, a symptom, a deadline, or what the professional would say or do is no such part, so it makes the
sentence a claim.
"""

from __future__ import annotations

import re
from functools import lru_cache

_PROFESSIONAL = (
    r"(?:doctors?|physicians?|pharmacists?|pharmac(?:y|ies)|chemist|specialists?|providers?|clinicians?|gps?"
    r"|professionals?|practitioners?|consultants?"
    r"|\w+ologists?|\w+iatrists?|\w*therapists?|dentists?|vets?|opticians?|midwi(?:fe|ves)|nurses?|teams?"
    r"|workers?|obstetricians?|pa?ediatricians?|prescribers?"
    r"|surgeons?|surgery|dietitians?|dieticians?|counsellors?|hospital|clinics?|practice|helpline|services?"
    r"|cent(?:re|er)|unit|nhs\s+(?:111|direct)|111|some(?:one|body)"
    r"|who(?:m)?ever\s+(?:has\s+)?prescribed\s+(?:it|them|this))"
)
_NOT_A_TITLE = (
    r"(?!(?:to|and|or|not|for|about|if|when|before|after|with|without|is|are|can|should|will|must|take|takes"
    r"|stop|start|no|never|only)\b)"
)
_KIN = r"(?:your|his|her|their)\s+(?:partner|family|wife|husband|parents?|carer)"
_TITLE = (
    rf"(?:{_KIN}|(?:(?:your|his|her|their|our|the|a|an|any|one\s+of\s+(?:your"
    rf"|the))\s+)?(?:{_NOT_A_TITLE}[a-z-]+\s+){{0,3}}?{_PROFESSIONAL})"
)
_KNOWING = (
    r"(?:\s+(?:(?:who|that|which)\s+(?:knows?|prescribed|prescribes?|looks?|treats?|is|are|has\s+(?:seen"
    r"|examined)|has|have|manages?|cares?|can|gave)|looking|treating|caring|managing|involved)"
    r"(?:\s+(?:you|your|him|her|his|them|their|it|this|after|for|in|charge|of|with|familiar|history|case"
    r"|situation|records?|notes|care|treating|looking|look|at|see|seen)\b){0,7})?"
)
_WHOM = rf"{_TITLE}(?:(?:\s*,\s*(?:or\s+|and\s+)?|\s*/\s*|\s+(?:or|and)\s+){_TITLE}){{0,4}}{_KNOWING}"
_MATTER = (
    r"(?:(?:this|that|it|these|the|your|any|such|exact|right|specific|own|individual|question|questions"
    r"|matter|matters|decision|decisions|choice|point|concerns?"
    r"|issues?|topic|amount|dose|dosage|number|figure|situation|circumstances|case|options?|plans?|treatment"
    r"|medicines?|medications?|details?|what|which|whether|how|is|are|best"
    r"|suits?|applies|for|to|you|here)\b\s*){1,8}"
)
_QUESTION = (
    r"(?:this|that|it|(?:the|this|that|your)\s+(?:question|matter|subject|topic|concern|decision|point))"
)
_CHANGE = (
    r"(?:mak(?:e|ing)|start(?:ing)?|tak(?:e|ing)|stop(?:ping)?|us(?:e|ing)|chang(?:e|ing)|begin(?:ning)?"
    r"|try(?:ing)?|switch(?:ing)?|alter(?:ing)?|adjust(?:ing)?)"
)
_ANYTHING = (
    r"(?:it|them|this|that|anything(?:\s+(?:new|else))?|(?:any|a|an|your|the|this|these)(?:\s+(?:new|other"
    r"|exercise|herbal|further|such|more|own|kind|of|current))*\s+"
    r"(?:plan|programme|program|medicines?|medications?|drugs?|supplements?|treatments?|changes?|decisions?"
    r"|therapy|regimen))"
)
_BEFORE = (
    rf"(?:before|prior\s+to|when)\s+(?:you\s+)?{_CHANGE}(?:\s+or\s+{_CHANGE})?\s+{_ANYTHING}(?:\s+yourself)?"
)
_ADVICE = (
    r"(?:(?:medical|professional|expert|personal|personali[sz]ed|proper|individual|specific|tailored|further"
    r"|more|some|their|reliable)\s+)*(?:advice|guidance|information|help|details|support)"
)
_BEHIND = (
    rf"(?:\s*,?\s*(?:(?:about|on|regarding|over)\s+{_MATTER}|{_BEFORE}"
    rf"|without\s+changing\s+anything(?:\s+yourself)?|for\s+{_ADVICE}|first|directly|instead|as\s+well|too"
    rf"|please"
    r"|i(?:'m|\s+am)\s+afraid|(?:at|during)\s+your\s+next\s+(?:appointment|visit|review|check-up))){0,3}"
)
_ASKING = rf"""(?:
    (?:consult|contact|see|visit|ask|call|ring|phone|email|message)(?:ing|ed)?\s+(?:at\s+|in\s+at\s+)?{_WHOM}
  | (?:speak|turn|go|talk(?:\s+(?:it|this|that|things|everything))?(?:\s+(?:through|over))?|reach\s+out|refer
    |chat|follow\s+up|double-?check|check(?:\s+in)?|get\s+in\s+touch|be\s+guided|spoke)(?:ing|ed)?\s+
    (?:to|with|by)\s+{_WHOM}
  | (?:discuss|(?:double-?)?check|confirm|review|clarify|verify|settle|talk|go|agree)(?:ing|ed)?\s+
    (?:over\s+|through\s+)?{_MATTER}\s*(?:over\s+|through\s+)?(?:with|by)\s+{_WHOM}
  | (?:rais(?:e|ing)|tak(?:e|ing)|bring(?:ing)?|run(?:ning)?)\s+{_QUESTION}\s+(?:up\s+)?(?:with|past|by|to)\s+
    {_WHOM}
  | (?:rais(?:e|ing)|bring(?:ing)?)\s+{_QUESTION}(?:\s+up)?(?=\s+(?:at|during)\s+your\s+next)
  | (?:get(?:ting)?|seek(?:ing)?|tak(?:e|ing)|ask(?:ing)?\s+for|obtain(?:ing)?)\s+{_ADVICE}\s+(?:from|of)\s+
    {_WHOM}
  | hav(?:e|ing)\s+a\s+(?:word|chat|talk)\s+with\s+{_WHOM} | giv(?:e|ing)\s+{_WHOM}\s+a\s+(?:ring|call|bell)
  | hav(?:e|ing)\s+{_QUESTION}\s+(?:checked|confirmed|reviewed|looked\s+at)\s+by\s+{_WHOM} | let(?:ting)?\s+
    {_WHOM}\s+(?:decide|check|confirm|guide|advise)(?:\s+(?:{_QUESTION}|you))? | let(?:ting)?\s+{_WHOM}\s+know
)"""
_BEGINNING = r"""(?:
    (?:(?:please|do|kindly|always|just|so|then|and|instead|therefore|perhaps|ideally|again)\b[\s,]*)*
    (?:(?:you|he|she|they)\s*(?:should|could|can|may|must|(?:might|may|could)\s+(?:want|wish|like)\s+to
      |(?:will|'ll)\s+(?:need|want|have)\s+to|(?:would\s+)?(?:need|ought|have)\s+to|would\s+do\s+
      (?:well|best)\s+to
        |(?:are|'re)\s+best\s+to)\s+(?:(?:also|always|first|please)\s+)*
      |i\s*(?:'d|\s+would|\s+can\s+only|\s+do)?\s*(?:strongly\s+|still\s+|always\s+)?
        (?:suggest|recommend|advise|encourage|urge|ask)\s+
        (?:that\s+you\s+|(?:you|them|him|her)\s+to\s+|you\s+)?
      |i\s*(?:'d|\s+would)\s+(?:much\s+)?(?:rather|prefer\s+it\s+if)\s+you\s+
      |it\s*(?:may|might|would|will|can)\s+help\s+to\s+
      |it\s*(?:'s|is|would\s+be|may\s+be|might\s+be)\s+(?:(?:always|very|probably|therefore|still)\s+)?
        (?:best|better|safest|safer|sensible|wise|wisest|important|essential|advisable|a\s+good\s+idea
          |worth)\s*(?:to\s+|that\s+you\s+)?
      |(?:the|your|a)\s+(?:best|safest|right|next|wisest|better)\s+
        (?:thing|option|step|course|plan|move|idea|advice)(?:\s+to\s+do)?\s+(?:is|would\s+be|may\s+be)\s+
        to\s+)?
    (?:please\s+)?
)"""
_WORRIED = r"""(?:(?:if|when|in\s+case)\s+(?:you|anything|in)\b(?:\s*(?:'re|are|is|have|had|any|unsure|doubt
    |doubts|struggling|worried|concerned|questions?|concerns?|about|this|it|need|more
    |help|advice|further|would|like|to|know|feel|still|not|sure|certain|want|unclear|remain|you
      |other)\b){1,9}\s*,\s*)?"""
_CAN = (
    r"(?:can|could|may|will\s+be\s+able\s+to|would\s+be\s+able\s+to|should\s+be\s+able\s+to|is\s+able\s+to"
    r"|are\s+able\s+to|will\s+know\s+how\s+to)"
)
_OUGHT = (
    r"(?:should|must|would\s+(?:have|need)\s+to|will\s+(?:have|need)\s+to|has\s+to|have\s+to|needs?\s+to|can"
    r"|could|is\s+the\s+(?:one|person)\s+to)"
)
_TELLING = rf"""(?:(?:tell|advise|help|answer|explain|say|guide)(?:\s+(?:you|him|her|them|this|that|it
    |your\s+questions?|more|better|further|on|about|with|{_MATTER})\b){{0,5}})"""
_DECIDING = rf"(?:decide|judge|make)(?:\s+{_MATTER})?"
_BEST = r"(?:the\s+)?(?:best|right|only)\s+(?:person|people|place|one)"
_SENDS = (
    rf"(?:{_WORRIED}|{_BEFORE}\s*,\s*|(?:for|with)\s+(?:{_QUESTION}|{_ADVICE})\s*,\s*){_BEGINNING}{_ASKING}",
    (
        rf"(?:please\s+)?(?:do\s+not|don't|never)\s+{_CHANGE}(?:\s+or\s+{_CHANGE})?\s+anything\s+(?:without"
        rf"|before|until)\s+(?:you\s+(?:have\s+)?)?(?:first\s+)?{_ASKING}"
    ),
    (
        rf"(?:{_BEST}\s+to\s+ask(?:\s+about\s+{_MATTER})?|{_BEST}\s+for\s+{_QUESTION})\s*(?:is|are"
        rf"|would\s+be)\s+{_WHOM}"
    ),
    (
        rf"{_WHOM}\s+(?:is|are|will\s+be|would\s+be)\s+{_BEST}\s+to\s+(?:ask|answer|advise|decide"
        rf"|tell)(?:\s+(?:you|this|that|it))?"
    ),
    (
        rf"{_WHOM}\s+(?:is|are|will\s+be|would\s+be)\s+(?:best|better|well)\s+placed\s+to\s+(?:{_TELLING}"
        rf"|{_DECIDING})"
    ),
    rf"(?:only\s+)?{_WHOM}\s+(?:{_CAN}\s+{_TELLING}|{_OUGHT}\s+{_DECIDING})",
    (
        rf"(?:that|this|it|the\s+(?:rest|dose|decision|choice))\s*(?:'s|is|would\s+be)\s+(?:best\s+)?(?:(?:a|"
        rf"one|really\s+a)\s+)?(?:question|one|decision|matter|judgement|left|something)?\s*(?:for|up\s+to|"
        rf"to)\s+{_WHOM}(?:\s+to\s+(?:answer|decide|make|judge))?"
    ),
    rf"{_WHOM}\s+knows?\s+(?:you|your(?:\s+own)?\s+(?:history|case|situation))(?:\s+best)?",
    (
        rf"(?:{_QUESTION}|the\s+(?:dose|decision|choice))\s*(?:should|must|can\s+only|needs?\s+to|has\s+to|"
        rf"is\s+best|is\s+something\s+to(?:\s+be)?)\s*(?:be\s+)?(?:discuss(?:ed)?|decided?|answer(?:ed)?|"
        rf"settled|check(?:ed)?|review(?:ed)?|confirmed|judged)\s+(?:with|by)\s+{_WHOM}"
    ),
    (
        rf"i\s*(?:have\s+to|must|will|'ll|would|'d|can\s+only|would\s+have\s+to)\s+(?:leave|refer|direct|"
        rf"point|send|pass)\s+(?:you|{_QUESTION})\s+(?:on\s+)?(?:back\s+)?to\s+{_WHOM}"
    ),
    rf"(?:the\s+)?(?:sources|passages|documents|texts)\s+leave\s+{_QUESTION}\s+to\s+{_WHOM}",
    (
        rf"(?:this|that|your(?:\s+[a-z-]+){{1,3}})\s+(?:needs|calls\s+for"
        rf"|requires)\s+(?:the\s+)?(?:{_WHOM}'s?\s+(?:own\s+)?(?:judge?ment|opinion|advice|decision)"
        rf"|(?:judge?ment|opinion|advice)\s+(?:of|from|by)\s+{_WHOM})"
    ),
    rf"""(?:(?:this|it|that|these|which|and|(?:this|the|my)\s+(?:information|answer|summary|text))\s+)?
        (?:(?:does|do|can|should|must|could)\s*(?:not|n't)\s+(?:be\s+)?(?:replace|a\s+substitute\s+for)
        |(?:is|are)\s*(?:not|n't)\s+a\s+(?:substitute|replacement)\s+for|can(?:not|'t)\s+replace)\s+
          (?:the\s+)?(?:advice|care|judge?ment|assessment|consultation|opinion|guidance)\s+
          (?:from|of|by|with)\s+{_WHOM}""",
    r"(?:this|it|that)\s+is\s+(?:only\s+|just\s+)?general\s+(?:information|guidance|advice)(?:\s+only)?",
)
_LONGEST = 300  # characters: longer sentences say more than whom to ask

_NAMES_SOMEBODY = re.compile(
    rf"{_PROFESSIONAL}\b|next\s+(?:appointment|visit|review|check-up)|general\s+(?:information|guidance"
    rf"|advice)",
    re.IGNORECASE,
)


@lru_cache(maxsize=1)
def _sends() -> tuple[re.Pattern[str], ...]:
    """Returns the patterns of such sentences, compiled at the first call."""
    return tuple(re.compile(rf"{pattern}{_BEHIND}\W*", re.VERBOSE | re.IGNORECASE) for pattern in _SENDS)


def refers(sentence: str) -> bool:
    """Returns whether `sentence` only names whom to ask: "That is a question for your surgeon."."""
    text = re.sub(r"^\W+", "", sentence.replace("\u2019", "'"))
    return (
        len(text) <= _LONGEST
        and _NAMES_SOMEBODY.search(text) is not None
        and any(pattern.fullmatch(text) for pattern in _sends())
    )
