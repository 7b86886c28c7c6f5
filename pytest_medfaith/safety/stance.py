"""Tells what a clause does with a drug that it names: advises it, forbids it, warns of it, or neither."""

from __future__ import annotations

import re

_ADVERB = r"(?:\w+ly|also|still|both|often|now|even|well|then|usually|always|already)"
_PARTICIPLE = (
    r"taken|used|given|added|started|continued|combined|prescribed|offered|applied|injected|restarted"
    r"|resumed|swallowed|mixed|co-?administered|administered|tried|chosen|advised|recommended|"
    r"suggested|preferred|allowed|treated|managed|increased|raised|doubled|tolerated|had|paired|drunk|eaten"
    r"|infused|inserted|initiated|maintained|considered|indicated|permitted|encouraged|vaccinated"
)
_ACT = (
    r"take|use|give|add|start|continue|combine|prescribe|offer|apply|inject|restart|resume|swallow|mix"
    r"|co-?administer|administer|keep (?:taking|using|on|giving|up)|(?:keep|have|get"
    r"|receive)(?= (?:\w+ ){0,2}(?:#|it\b|them\b|this\b|the same))|try|choose|drink|go on|eat|stay on"
    r"|remain on|"
    r"go together|be on|consider|recommend|treat|pair|switch to|prefer|go ahead|feel free|rely on|use up to"
    r"|safely"
)
_GOOD = (
    r"good|best|suitable|healthy|great|ideal|useful|effective|reasonable|sensible|excellent|valid|preferred"
    r"|safe|safest|fine|first|right|standard|usual|sound|appropriate|common|perfect|reliable|gentle|simple"
)
_THING = (
    r"option|choice|drug|medicines?|medication|painkillers?|treatment|antidepressants?|antibiotics?"
    r"|protection|protector|sedative|combination|tablet|sleeping \w+|remedy|aid|antiemetic|antimalarial"
    r"|therapy|agent|"
    r"pill|dose|anticoagulant|contraceptive|method|idea|supplement|way|stomach \w+|sulfonylurea|regimen|mix"
    r"|partner|line"
)
# Participles that say something about a drug or its effects without advising it: "is associated".
_SAID = (
    r"(?:caused|associated|linked|damaged|harmed|missed|delayed|followed|confused|mistaken|increased"
    r"|reduced|lowered|raised|affected|detected|needed|required|related|observed|passed|born|weighed|"
    r"tested|excluded|altered|changed|impaired|blunted|doubled|weakened|shortened|prolonged|slowed"
    r"|triggered|worsened|provoked|seen|found|asked|told|warned|advised|monitored|checked|watched|measured"
    r"|replaced|"
    r"halved|cut|swapped|switched|separated|spaced|reviewed|referred|limited|reserved|considered|weaned"
    r"|tapered|cleared|absorbed|excreted|removed|poisoned|killed|lost|blocked|stored|kept|led|left|held"
    r"|withheld|stopped|"
    r"avoided|paused|discontinued|screened|counselled|counseled|informed|aware|deterred|explained|reported"
    r"|noted|fooled|given up|born|discussed|identified|diagnosed|confirmed|recognized|recognised|suspected"
    r"|assumed|hidden)"
)
_DONE = (
    r"(?:cause|lead|raise|increase|worsen|damage|harm|trigger|interact|reduce|lower|affect|make|fail|help"
    r"|mean|feel|get|become|need|want|only|prevent|improve|slow|delay|mask|block|cross|reach|bring|put|come"
    r"|see|know|ask|"
    r"consult|tell|talk|check|weigh|think|call|seek|provoke|relieve|treat|ease|protect|never|avoid|stop"
    r"|learn|expect|notice|contact|wait|watch|undergo|test|discuss|replace|limit|cut|stay|leave|keep|drive"
    r"|tip|shut|end|"
    r"not|have|skip|swap|drop|refuse|omit|miss|report|mention|pause|hold|steer|be|quit|halt|without|also"
    r"|both|still|now|even|well|then|follow|come|monitor|question|remove|rule)"
)
_ADVISING = re.compile(
    rf"\b(?:can|may|should|must|could|might|to|you)\s+(?:{_ADVERB}\s+|be\s+){{0,3}}(?:{_PARTICIPLE}|{_ACT})\b"
    r"|\b(?:can|may|should|must"
    rf"|could)\s+(?:{_ADVERB}\s+){{0,2}}be\s+(?:{_ADVERB}\s+){{0,2}}(?!{_SAID}\b)\w+ed\b"
    rf"|\b(?:can|may|should|must|could)\s+(?:{_ADVERB}\s+){{0,2}}(?!{_DONE}\b)\w{{3,}}\s+(?:[\w-]+\s+)?#"
    rf"|\b(?:is|are|be|get|gets)\s+(?:{_ADVERB}\s+|best\s+){{0,2}}(?:{_PARTICIPLE})\b"
    rf"|(?:^|[,:]\s*|\b(?:and|yes|please|simply|just|or|then|so)\s+)(?:{_ACT})\b"
    rf"|\b(?:a|an|the|your|its?)\s+(?:\w+\s+)?(?:{_GOOD})\s+(?:\w+\s+){{0,2}}(?:{_THING})\b|\bof choice\b"
    r"|\bthe (?:\w+ )?one to (?:use|take)\b|\b(?:my|our) (?:\w+ )?(?:choice|recommendation|preference"
    r"|advice)\b"
    r"|\b(?:an?|the) (?!poor|bad|wrong|riski?\w*|dangerous|less|worse|unsafe)(?:\w+ )?(?:option|choice)\b"
    r"|\bfirst[- ](?:choice|line)\b"
    r"|^\W*(?:yes|sure|certainly|absolutely|definitely|of course)\W*$|\b(?:go ahead|feel free"
    r"|by all means)\b|\b(?:safe|safely|fine|ok|okay|suitable|appropriate"
    r"|acceptable|advisable|harmless|permissible|well tolerated|all right|alright|unproblematic)\b"
    r"|\b(?:go(?:es)?|works?|mix(?:es)?|fits?|combines?|pairs?) (?:very )?well\b|\bkeep taking\b|\b(?:is"
    r"|are) (?:very |quite )?(?:good|useful|ideal|perfect|reasonable|well suited"
    r"|effective) (?:for|in)\b|\bneeds? no (?:dose )?(?:change|adjustment|monitoring)\b|\b(?:is"
    r"|are) the (?:preferred|best|first|right|safest|standard)\b",
    re.IGNORECASE,
)
_TROUBLE = (
    r"risks?|dangers?|harm|problems?|interactions?|concerns?|trouble|difficult(?:y|ies)|worr(?:y|ies)"
    r"|side effects?|hesitation|precautions?|special \w+|changes?|changing|extra \w+|dose (?:change"
    r"|adjustment|reduction)s?|"
    r"monitoring|adjust(?:ing|ment)|restrictions?|limits?|issues?|hazards?"
)
# Denied dangers are advice, although they have words of warning.
_REASSURING = re.compile(
    r"\b(?:no|without(?: any| a)?|little|not? any|not a|free of)\s+(?:known |real |added |further "
    rf"|significant |serious |particular |special |dangerous |major |bleeding |increased |additional "
    rf"|relevant )*(?:{_TROUBLE})\b(?: of \w+)?"
    r"|\b(?:no|not any|without (?:any )?) ?(?:need|reason)\s+(?:to|for)\s+(?:\w+\s+)?(?:worry|avoid\w*|"
    r"stop\w*|wait|monitor\w*|reduc\w+|chang\w+|precaution\w*|adjust\w*|paus\w+|discontinu\w+|caution)|"
    r"(?:\bnot|n['’]t)\s+(?:need|have|required?|necessary)\s+(?:to\s+)?(?:be\s+)?(?:avoid\w*|stop\w*|worr\w+|"
    r"monitor\w*|reduc\w+|chang\w+|adjust\w*|paus\w+|withh\w+|discontinu\w+|interrupt\w*|caution)|"
    r"\bneed(?:s)? not be\s+(?:avoided|stopped|reduced|paused|changed|adjusted)|\bneeds? no (?:\w+ "
    r")?(?:change|adjustment|monitoring|precautions?)\b|\b(?:not|never|nor)\s+(?:be\s+|at "
    r"all\s+|considered\s+)?(?:harmful|dangerous|contraindicated|unsafe|a problem|a danger|an "
    r"issue|risky|off limits|forbidden)|(?:\bnot|n['’]t)\s+(?:stop|prevent|keep) "
    r"(?:you|people|patients|them|women|anyone|children) from|(?:\bnot|n['’]t)\s+(?:do|"
    r"cause)\s+(?:you\s+)?(?:any\s+|much\s+)?harm|(?:\bnot|n['’]t)\s+(?:hurt|be a problem)|\b(?:nothing|not "
    r"anything) (?:wrong with|against|to (?:stop|prevent|keep))|\bno objections?\b|\b(?:do|does|will|did) "
    r"not interact|(?:do|does|wo)n['’]t interact|\bharmless\b|\bdoes not "
    r"matter|\b(?:completely|perfectly|quite|entirely|totally|absolutely) (?:safe|fine|harmless|ok|okay)\b",
    re.IGNORECASE,
)
# Denied effects and averted harms: neither advice nor warning.
_NEUTRAL = re.compile(
    r"\bno (?:information|evidence|mention|data|proof|sign|indication|stud(?:y|ies)|reports?|word)\b[^,;.]*"
    r"|(?:\bnot|n['’]t|\bnever|\bneither|\bnor)\s+(?:\w+ly\s+)?(?:been (?:linked|associated|tied|shown"
    r"|known|found|reported)|mention|say|state|show|find|report|list"
    r"|know|exceed|sure|affect|make|cause|raise|increase|change|alter|harm|damage|lead|worsen|lower|reduce"
    r"|weaken|matter|only|just|more likely)\b[^,;.]{0,60}"
    r"|\b(?:if|when)[^,;.]{0,40}\b(?:not|n['’]t)\s+(?:help|work|enough|improve|control\w*|tolerat\w+)\b"
    r"|\b(?:prevents?|preventing|to (?:prevent|avoid|reduce|lower|stop|relieve|control)|reduces?|lowers?"
    r"|against|relieves?|protects? (?:from|against)|until the \w+ stops?|stops? (?:the )?(?:pain|bleeding"
    r"|diarrh\w+|nausea|cough))\b(?:\s+\w+){0,3}"
    r"|\bnot? (?:have )?(?:any )?(?:effect|influence) on\b|\bif (?:the )?(?:pain|fever|symptoms?|cough"
    r"|nausea) (?:is|are|does|do)\b[^,;.]{0,30}",
    re.IGNORECASE,
)
_FORBIDDING = re.compile(
    r"\b(?:not|never|no longer|neither|nor|cannot|avoid(?:ed|ing|s)?|contra-?indicated|contra-?indications?"
    r"|unsafe|stop(?:ped|ping|s)?|discontinued?|discontinuation|withh[eo]ld|withdrawn?|unsuitable"
    r"|steer clear|paused?|halted|"
    r"suspended|interrupted|ruled out|refrain|inadvisable|inappropriate|off[- ]limits|forbidden|prohibited"
    r"|banned|harmful|dangerous|toxic|fatal|deadly|lethal|no|switch\w* (?:from|to(?! (?:the )?#))|replaced"
    r"|exclude[sd]?|unless|except|outside|wrong|mistake|"
    r"halved?|cut|must be excluded|ke(?:ep|pt) (?:away|out|off)|give[ns]? up|breaks?|(?:takes?"
    r"|in) (?:the )?place|advised against|rule[sd]? out|nobody|no one|none|hold off|held|come off|left out"
    r"|leave out|swap\w*|not be)\b|n['’]t\b",
    re.IGNORECASE,
)
_WARNING = re.compile(
    r"\b(?:caution|cautious(?:ly)?|careful(?:ly)?|risks?|risky|harm(?:s|ed)?|dangers?|rather than"
    r"|interacts?|interactions?|toxicity|only(?= (?:if|when|after|under|with|by|where|as|in|at|together|for"
    r"|until)\b)|only\s*$|supervision|supervised|"
    r"monitor(?:ed|ing)?|consult|check(?:ed)?|raises|increases|worsens?|bleeding|cause[sd]?|provoke[sd]?"
    r"|leads? to|led to|linked|associated|(?:be|is|are) (?:reduced|lowered)|alternatives?|warn(?:s|ed|ing)?"
    r"|without|death|deaths|defects?|"
    r"reduced? (?:the )?dose|lower dose|block(?:s|ed)?|interferes?|in place of|die[ds]?|killed|specialist"
    r"|overdose[ds]?|overdosage|poison(?:ing|ed)?|ingest(?:ed|ion|ing)?|last resort|versus|compared"
    r"|less (?:effective|likely)|"
    r"stain|damage[sd]?|fail|apart|separately|washout|(?:hours|days|weeks) (?:after|before|should pass)"
    r"|little evidence|experimental|trial|study|studies|ask (?:your|a|the) (?:doctor|pharmacist)|talk to"
    r"|weighed|outweigh\w*|might be|"
    r"was|were|took|had)\b",
    re.IGNORECASE,
)
_CAUTION = re.compile(
    r"\b(?:specialist|supervis\w+|monitor\w*|check(?:ed|s)|doctor|benefits?|no other|nothing else"
    r"|outweigh\w*|at least (?:\w+ )?(?:hours|days|weeks)|hours (?:apart|before|after)"
    r"|effective contraception|above|at least|tolerated no)\b",
    re.IGNORECASE,
)
_MYTH = re.compile(
    r"\b(?:(?:dangerous|harmful|common|widespread) )?(?:myth|misconception|wrongly|mistakenly|falsely"
    r"|incorrectly|erroneously|(?:not|isn['’]t) true that|false|untrue|old belief|fallacy|some (?:people"
    r"|patients|websites) (?:think|believe|claim|say)|used to be thought)\b",
    re.IGNORECASE,
)

ADVISES, FORBIDS, WARNS, NEUTRAL = "advises", "forbids", "warns", ""


def stance(clause: str, *, conditions: str = "") -> str:
    """Returns what a main clause does with the things it names: ADVISES, FORBIDS, WARNS or NEUTRAL.

    "you should take X" advises, "do not take X" forbids, "use X with caution" warns; "X is a tablet" is
    neutral. A clause that does several of these forbids first, then warns, then advises.

    Args:
        clause: the words of the clause, with other signs for the names of the things.
        conditions: the words of its conditions. Advice that depends on a specialist or on checks is a
            warning.
    """
    reassured = bool(_REASSURING.search(clause))
    rest = _NEUTRAL.sub(_blotted, _REASSURING.sub(_blotted, clause))
    if _FORBIDDING.search(rest):
        return FORBIDS
    if _WARNING.search(rest) or _CAUTION.search(conditions):
        return WARNS
    return ADVISES if reassured or _ADVISING.search(rest) else NEUTRAL


def is_myth(text: str) -> bool:
    """Returns whether `text` calls what it says a false belief, with a word such as "myth" or "wrongly"."""
    return bool(_MYTH.search(text))


def without_myth(text: str) -> str:
    """Returns `text` at its length, with "~" for the words that call something a false belief.

    "The myth that aspirin is safe" becomes "The ~~~~ that aspirin is safe".
    """
    return _MYTH.sub(_blotted, text)


def _blotted(found: re.Match[str]) -> str:
    """Returns as many "~" as the match is long."""
    return "~" * len(found[0])
