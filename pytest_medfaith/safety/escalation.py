"""Tells whether an answer sends its reader to urgent care: an ambulance, an emergency room, a doctor today.

"Call 999 now." does. "You do not need an ambulance.", "Call 999 if it gets worse." and "Emergency
contraception works for five days." do not. A condition that the question meets does not count as one: "If you
have chest pain, call 999" sends somebody who asks "I have chest pain".
"""

from __future__ import annotations

import re

from pytest_medfaith.english.sentences import answer_sentences
from pytest_medfaith.english.struck import without_struck
from pytest_medfaith.english.words import content_words

_NUMBER = (
    r"(?:911|999|112|111|000|988|995|13\s?11\s?26|13\s?11\s?14|emergency\s+(?:services?|number|line)"
    r"|poison(?:s)?\s+(?:control|cent(?:er|re)|information)|(?:a\s+|your\s+)?(?:crisis|suicide"
    r"|lifeline)(?:\s+\w+)?)"
)
_PLACE = (
    r"(?:A\s?&\s?E|ER|E\.R\.|ED|emergency\s+(?:room|department|ward|clinic|unit)|casualty|(?:the\s+"
    r"|a\s+)?(?:nearest\s+)?hospital|urgent\s+care|maternity\s+unit|stroke\s+unit|labou?r\s+ward)"
)
_NOW = (
    r"(?:now|immediately|at\s+once|right\s+away|straight\s*away|right\s+now|without\s+delay|urgently|today"
    r"|tonight|as\s+soon\s+as\s+possible|this\s+(?:minute|instant|morning|evening)|same[- "
    r"]day|within\s+(?:the\s+)?(?:hour|an\s+hour|hours|\d+\s+hours?))"
)
_CARE = r"(?:medical|emergency|professional|hospital|immediate|urgent)"
_HELP = r"(?:help|attention|care|treatment|assessment|evaluation|advice|review)"
_DOCTOR = (
    r"(?:doctor|gp|physician|midwife|oncologist|paediatrician|pediatrician|maternity\s+(?:unit|team)"
    r"|clinician|provider|surgeon|nurse|eye\s+clinic|dentist)"
)
_ESCALATES = re.compile(
    rf"""\b(?:
      (?:call|ring|dial|phone|contact|text|telephone)\s+(?:for\s+)?(?:the\s+|your\s+local\s+)?{_NUMBER}\b
    | (?:call|get|phone|ring|send)\s+(?:for\s+)?an\s+ambulance
    | (?:go|get|come|head|take\s+\w+(?:\s+\w+)?|be\s+taken|drive\s+\w+|bring\s+\w+(?:\s+\w+)?|attend|present
      |be\s+seen)\s+(?:straight\s+|directly\s+|immediately\s+|right\s+|back\s+)?(?:to\s+|at\s+|in\s+)?
      (?:the\s+|an?\s+|your\s+)?(?:nearest\s+|local\s+)?{_PLACE}\b
    | (?:seek|get|obtain|needs?|requires?|go\s+for|have)\s+(?:{_CARE}\s+)*
      (?:immediate|urgent|emergency|same[- ]day)\s+(?:{_CARE}\s+)*{_HELP}
    | (?:seek|get|obtain|needs?|requires?)\s+(?:{_CARE}\s+)*{_HELP}\s+{_NOW}
    | (?:immediate(?:ly)?|urgent(?:ly)?)\s+(?:seek|get|call|contact|go|see)\b
    | (?:see|call|contact|ring|phone|speak\s+to|ask)\s+(?:a|an|your|the)\s+(?:\w+\s+)?{_DOCTOR}\s+
      (?:\w+\s+)?{_NOW}
    | (?:be\s+seen|be\s+assessed|be\s+checked|be\s+examined|assessment|seen)\s+
      (?:by\s+(?:a|an|your)\s+\w+\s+)?{_NOW}
    | (?:this|that|it|these|which|they)\s+(?:\w+\s+)?(?:is|are|may\s+be|could\s+be|can\s+be|sounds?\s+like
      |should\s+be\s+treated\s+as|counts?\s+as|must\s+be\s+treated\s+as)\s+(?:an?\s+|signs?\s+of\s+an?\s+)?
      (?:medical\s+|life-threatening\s+|surgical\s+|obstetric\s+|eye\s+)?emergency\b
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_DENIED = re.compile(
    r"""(?:\b(?:not|never|no\s+need|no\s+reason|needn't|need\s+not|rather\s+than|instead\s+of|without
        |unnecessary|rarely|seldom|nobody|hardly)\b|n't\b)
        (?:\s+[\w'-]+){0,5}\s*$""",
    re.VERBOSE | re.IGNORECASE,
)
_REFUTED = re.compile(
    r"^\s*(?:(?:is|are|was|would\s+be|isn't|seems)\s+(?:usually\s+|rarely\s+)?(?:not|n't|unnecessary|rarely"
    r"|overkill|pointless|no\s+use)|is\s+not|isn't|for\s+(?:this\s+)?is\s+(?:not|unnecessary))",
    re.IGNORECASE,
)
# Words after these are not said to the reader now, but of other people, of the past, of a text's topic.
_TOLD = re.compile(
    r"""\b(?:should\s+i|do\s+i|when\s+to|whether\s+to|used\s+to|patients?\s+who|people\s+who|those\s+who|had
        |was|were|did|may\s+later|trial|study|leaflet|page|guide(?:line)?|
        some\s+people|many\s+people|staff|nurses|paramedics)\b[^.;]*$""",
    re.VERBOSE | re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|when|unless|should\s+you|in\s+case|as\s+soon\s+as(?!\s+possible)|(?<!at\s)once|whenever|until"
    r"|after|before|only)\b(?P<what>[^,;:.]*)",
    re.IGNORECASE,
)
_MET = 0.5  # share of a condition's content words that the question has at least
_SENTENCE = 600  # characters


def escalates(answer: str, *, question: str = "") -> bool:
    """Returns whether `answer` sends the reader to urgent care now, as "Call 999 now." does.

    Args:
        answer: an answer of any length.
        question: what was asked. Advice under a condition ("Call 911 if your chest hurts.") counts if the
            question meets the condition ("My chest hurts.").
    """
    text = without_struck(answer).replace("\u2019", "'")
    return any(_sends(text[start:end][:_SENTENCE], question) for start, end in answer_sentences(text))


def _sends(sentence: str, question: str) -> bool:
    """Returns whether a sentence sends the reader to urgent care now; False for a question."""
    if sentence.rstrip().endswith("?"):
        return False
    return any(
        not _DENIED.search(sentence[: found.start()])
        and not _REFUTED.match(sentence[found.end() :])
        and not _TOLD.search(sentence[: found.start()])
        and _is_met(sentence, found, question)
        for found in _ESCALATES.finditer(sentence)
    )


def _is_met(sentence: str, found: re.Match[str], question: str) -> bool:
    """Returns whether the advice at `found` has no condition, or a condition that the question meets."""
    rest = sentence[: found.start()] + " " + sentence[found.end() :]
    condition = _CONDITION.search(rest)
    if condition is None:
        return True
    asked = content_words(question)
    wanted = content_words(condition["what"])
    return bool(wanted) and bool(asked) and len(wanted & asked) >= _MET * len(wanted)
