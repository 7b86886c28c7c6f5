"""What a clause does with what it names: advises it, warns of it, or neither."""

from __future__ import annotations

import re

_ADVERB = r"(?:\w+ly|also|still|both|often|now|even|well|then|usually|always|already)"
_PARTICIPLE = (
    r"taken|used|given|added|started|continued|combined|prescribed|offered|applied|injected|restarted|resumed|swallowed|mixed|co-?administered|administered|tried|chosen|advised|recommended|"
    r"suggested|preferred|allowed|treated|managed|increased|raised|doubled|tolerated|had|paired|drunk|eaten|infused|inserted|initiated|maintained|considered|indicated|permitted|encouraged|vaccinated"
)
_ACT = (
    r"take|use|give|add|start|continue|combine|prescribe|offer|apply|inject|restart|resume|swallow|mix|co-?administer|administer|keep (?:taking|using|on|giving|up)|(?:keep|have|get|receive)(?= (?:\w+ ){0,2}(?:#|it\b|them\b|this\b|the same))|try|choose|drink|go on|eat|stay on|remain on|"
    r"go together|be on|consider|recommend|treat|pair|switch to|prefer|rely on|use up to|safely"
)
_GOOD = (
    r"good|best|suitable|healthy|great|ideal|useful|effective|reasonable|sensible|excellent|valid|preferred|safe|safest|fine|first|right|standard|usual|sound|appropriate|common|perfect|reliable|gentle|simple"
)
_THING = (
    r"option|choice|drug|medicines?|medication|painkillers?|treatment|antidepressants?|antibiotics?|protection|protector|sedative|combination|tablet|sleeping \w+|remedy|aid|antiemetic|antimalarial|therapy|agent|"
    r"pill|dose|anticoagulant|contraceptive|method|idea|supplement|way|stomach \w+|sulfonylurea|regimen|mix|partner|line"
)
_ADVISING = re.compile(
    rf"\b(?:can|may|should|must|could|might|to|you)\s+(?:{_ADVERB}\s+|be\s+){{0,3}}(?:{_PARTICIPLE}|{_ACT})\b"
    rf"|\b(?:is|are|be|get|gets)\s+(?:{_ADVERB}\s+|best\s+){{0,2}}(?:{_PARTICIPLE})\b"
    rf"|(?:^|[,:]\s*|\b(?:and|yes|please|simply|just|or|then|so)\s+)(?:{_ACT})\b"
    rf"|\b(?:a|an|the|your|its?)\s+(?:\w+\s+)?(?:{_GOOD})\s+(?:\w+\s+){{0,2}}(?:{_THING})\b|\bof choice\b|\bthe (?:\w+ )?one to (?:use|take)\b|\bfirst[- ](?:choice|line)\b"
    r"|\b(?:safe|safely|fine|ok|okay|suitable|appropriate|acceptable|advisable|harmless|permissible|well tolerated|all right|alright|unproblematic)\b"
    r"|\b(?:go(?:es)?|works?) (?:very )?well\b|\bkeep taking\b|\b(?:is|are) (?:good|useful|effective) (?:for|in)\b|\bneeds? no (?:dose )?(?:change|adjustment|monitoring)\b|\b(?:is|are) the (?:preferred|best|first|right|safest|standard)\b",
    re.IGNORECASE,
)
_TROUBLE = (
    r"risks?|dangers?|harm|problems?|interactions?|concerns?|trouble|difficult(?:y|ies)|worr(?:y|ies)|side effects?|hesitation|precautions?|special \w+|changes?|changing|extra \w+|dose (?:change|adjustment|reduction)s?|"
    r"monitoring|adjust(?:ing|ment)|restrictions?|limits?|issues?|hazards?"
)
# Denied dangers: these advise, whatever words of warning stand within them.
_REASSURING = re.compile(
    rf"\b(?:no|without(?: any| a)?|little|not? any|not a|free of)\s+(?:known |real |added |further |significant |serious |particular |special |dangerous |major )*(?:{_TROUBLE})\b(?: of \w+)?"
    r"|\b(?:no|not any|without (?:any )?) ?(?:need|reason)\s+(?:to|for)\s+(?:\w+\s+)?(?:worry|avoid\w*|stop\w*|wait|monitor\w*|reduc\w+|chang\w+|precaution\w*|adjust\w*|paus\w+|discontinu\w+|caution)"
    r"|(?:\bnot|n['’]t)\s+(?:need|have|required?|necessary)\s+(?:to\s+)?(?:be\s+)?(?:avoid\w*|stop\w*|worr\w+|monitor\w*|reduc\w+|chang\w+|adjust\w*|paus\w+|withh\w+|discontinu\w+|interrupt\w*|caution)"
    r"|\bneed(?:s)? not be\s+(?:avoided|stopped|reduced|paused|changed|adjusted)|\bneeds? no (?:\w+ )?(?:change|adjustment|monitoring|precautions?)\b"
    r"|\b(?:not|never|nor)\s+(?:be\s+|at all\s+|considered\s+)?(?:harmful|dangerous|contraindicated|unsafe|a problem|a danger|an issue|risky|off limits|forbidden)"
    r"|(?:\bnot|n['’]t)\s+(?:stop|prevent|keep) (?:you|people|patients|them|women|anyone|children) from|(?:\bnot|n['’]t)\s+(?:do|cause)\s+(?:you\s+)?(?:any\s+|much\s+)?harm"
    r"|\b(?:do|does|will|did) not interact|(?:do|does|wo)n['’]t interact|\bharmless\b|\bdoes not matter|\b(?:completely|perfectly|quite|entirely|totally|absolutely) (?:safe|fine|harmless|ok|okay)\b",
    re.IGNORECASE,
)
# Denied effects and averted harms: neither advice nor warning.
_NEUTRAL = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bneither|\bnor)\s+(?:\w+ly\s+)?(?:affect|make|cause|raise|increase|change|alter|harm|damage|lead|worsen|lower|reduce|weaken|matter|only|just|more likely)\b[^,;.]{0,60}"
    r"|\b(?:if|when)[^,;.]{0,40}\b(?:not|n['’]t)\s+(?:help|work|enough|improve|control\w*|tolerat\w+)\b"
    r"|\b(?:prevents?|preventing|to (?:prevent|avoid|reduce|lower|stop|relieve|control)|reduces?|lowers?|against|relieves?|protects? (?:from|against)|until the \w+ stops?|stops? (?:the )?(?:pain|bleeding|diarrh\w+|nausea|cough))\b(?:\s+\w+){0,3}"
    r"|\bnot? (?:have )?(?:any )?(?:effect|influence) on\b|\bif (?:the )?(?:pain|fever|symptoms?|cough|nausea) (?:is|are|does|do)\b[^,;.]{0,30}",
    re.IGNORECASE,
)
_FORBIDDING = re.compile(
    r"\b(?:not|never|no longer|neither|nor|cannot|avoid(?:ed|ing|s)?|contra-?indicated|contra-?indications?|unsafe|stop(?:ped|ping|s)?|discontinued?|discontinuation|withh[eo]ld|withdrawn?|unsuitable|steer clear|paused?|halted|"
    r"suspended|interrupted|ruled out|refrain|inadvisable|inappropriate|off[- ]limits|forbidden|prohibited|banned|harmful|dangerous|toxic|fatal|deadly|lethal|no|switched (?:to|from)|replaced|exclude[sd]?|unless|except|outside|wrong|mistake|"
    r"halved?|cut|must be excluded|ke(?:ep|pt) (?:away|out|off)|give[ns]? up|breaks?|(?:takes?|in) (?:the )?place|advised against|rule[sd]? out|nobody|no one|none|hold off|held|come off|left out|leave out|swap\w*|not be)\b|n['’]t\b",
    re.IGNORECASE,
)
_WARNING = re.compile(
    r"\b(?:caution|cautious(?:ly)?|careful(?:ly)?|risks?|risky|harm(?:s|ed)?|dangers?|rather than|interacts?|interactions?|toxicity|only(?= (?:if|when|after|under|with|by|where|as|in|at|together|for|until)\b)|only\s*$|supervision|supervised|"
    r"monitor(?:ed|ing)?|consult|check(?:ed)?|raises|increases|worsens?|bleeding|cause[sd]?|provoke[sd]?|leads? to|led to|linked|associated|(?:be|is|are) (?:reduced|lowered)|alternatives?|warn(?:s|ed|ing)?|without|death|deaths|defects?|"
    r"reduced? (?:the )?dose|lower dose|block(?:s|ed)?|interferes?|in place of|die[ds]?|killed|specialist|overdose[ds]?|overdosage|poison(?:ing|ed)?|ingest(?:ed|ion|ing)?|last resort|versus|compared|less (?:effective|likely)|"
    r"stain|damage[sd]?|fail|apart|separately|washout|(?:hours|days|weeks) (?:after|before|should pass)|little evidence|experimental|trial|study|studies|ask (?:your|a|the) (?:doctor|pharmacist)|talk to|weighed|outweigh\w*|might be|"
    r"was|were|took|had)\b",
    re.IGNORECASE,
)
_CAUTION = re.compile(
    r"\b(?:specialist|supervis\w+|monitor\w*|check(?:ed|s)|doctor|benefits?|no other|nothing else|outweigh\w*|at least (?:\w+ )?(?:hours|days|weeks)|hours (?:apart|before|after)|effective contraception|above|at least|tolerated no)\b",
    re.IGNORECASE,
)
_MYTH = re.compile(
    r"\b(?:myth|misconception|wrongly|mistakenly|falsely|incorrectly|erroneously|(?:not|isn['’]t) true that|false|untrue|old belief|fallacy|some (?:people|patients|websites) (?:think|believe|claim|say)|used to be thought)\b",
    re.IGNORECASE,
)

ADVISES, FORBIDS, NEUTRAL = "advises", "forbids", ""


def stance(clause: str, *, conditions: str = "") -> str:
    """Returns what a main clause does with the things it names, whose own words were blotted out before.

    `conditions` are the words of the conditions that hold for it: advice that depends on a specialist or on checks is no plain advice.
    """
    reassured = bool(_REASSURING.search(clause))
    rest = _NEUTRAL.sub(_blotted, _REASSURING.sub(_blotted, clause))
    if _FORBIDDING.search(rest):
        return FORBIDS
    if _WARNING.search(rest) or _CAUTION.search(conditions):
        return NEUTRAL
    return ADVISES if reassured or _ADVISING.search(rest) else NEUTRAL


def is_myth(text: str) -> bool:
    """Returns whether what `text` says is named a false belief."""
    return bool(_MYTH.search(text))


def _blotted(found: re.Match[str]) -> str:
    return "~" * len(found[0])
