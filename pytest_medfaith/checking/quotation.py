"""Whether the evidence quotes a claim: as whole sentences, without words around them that take them back.

"Myth: aspirin is safe." and "Aspirin can be given to children over 16." have the words of statements that
they do not make: "Aspirin is safe", "Aspirin can be given to children".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_medfaith.english.lexicon import word_set
from pytest_medfaith.english.phrases import read_words
from pytest_medfaith.english.sentences import sentences_of
from pytest_medfaith.english.verbs import finite_verbs
from pytest_medfaith.english.words import plain_words
from pytest_medfaith.records import Chunk

QUOTED_WORDS = 4  # fewer words in a row may belong to a sentence that says something else
# Words of a lead-in, a heading or a line above a statement. They say that somebody believes it, asks it, or
# believed it once.
_BELIEVED = re.compile(
    r"\b(?:myth\w*|false|falsehoods?|fals(?:ely|ity)|untrue|incorrect\w*|wrong\w*|erroneous\w*|mistaken\w*"
    r"|mistakes?|errors?|misconceptions?|misunderstanding\w*|misinformation|misbelie\w+|fictions?|fallac\w+"
    r"|rumou?rs?|hoax\w*|"
    r"claim(?:s|ed|ing)?|alleg\w+|believ\w+|beliefs?|thought|suppos\w+|assum\w+|argu\w+|assert\w*|hypothes\w+"
    r"|theor\w+|statements?|sentences?|true or false|quiz|question\w*|ask\w*|some (?:people "
    r")?(?:say|said|think)|(?:people|they|critics|websites?|posts?) (?:say|said|think)|"
    r"used to|formerly|once|historically|earlier|previous\w*|old(?:er)?|outdated|obsolete|superseded"
    r"|withdrawn|no longer|until|do not|don['’]t|never|avoid|not "
    r"to|if|unless|except\w*|suppose|imagine|example|what if|would (?:it )?be)\b|\?",
    re.IGNORECASE,
)
# Words of a sentence after a statement. They say that it is not so, or not always.
_TAKEN_BACK = re.compile(
    r"^\W*(?:(?:but|yet|however|though|although|still|nevertheless|in "
    r"(?:fact|reality|truth)|actually|instead|except\w*|unless|only|not|no|never|nor|wrong|false|incorrect|"
    r"untrue|fact|reality|truth|answer)\b|(?:this|that|these|those|it|such|the "
    r"(?:above|former|latter|statement|claim|advice|answer|belief|idea|view|notion))\b[^.;]{0,80}?\b(?:myth|"
    r"(?:not|n['’]t) (?:true|correct|so|the case|right|supported|accurate|apply|hold)|false|untrue|incorrect|"
    r"wrong|mistak\w+|error|misconception|withdrawn|outdated|obsolete|superseded|disproved|refuted|no "
    r"longer|retracted|(?:was|were)\s+(?:\w+\s+){0,4}(?:view|advice|practice|belief|thinking|standard|"
    r"recommendation|taught|thought|believed|until|once|before)|used to|only|unless|except\w*)\b)"
    # A text that speaks of what it said as of a statement reports it: "This claim was examined in 2020."
    r"|(?:this|that|the (?:above|former|preceding|same)|both|all|neither|none)(?: of "
    r"(?:these|those))?\s+(?:\w+\s+)?(?:statements?|claims?|assertions?|beliefs?|ideas?|views?|notions?|"
    r"hypothes[ie]s|theor(?:y|ies)|recommendations?|quot\w+|sentences?|advice|teachings?|assumptions?)\b|"
    r"\b(?:contradict|refut|disprov|debunk|reject|overturn|revers|revis|retract|rebut|disput|challeng|"
    r"question|dismiss|withdr[ae]w)\w*(?:\s+\w+)?\s+(?:it|this|that|them|these)\b|\b(?:says?|said|shows?|"
    r"showed|shown|found|finds?|proved?|suggests?|suggested) (?:otherwise|the "
    r"(?:opposite|contrary|reverse))\b|^\W*(?:the (?:opposite|contrary|reverse)|on the contrary|quite the "
    r"(?:opposite|contrary)|far from it)\b|\b(?:(?:is|was|are|were|the answer is|this is|that is) (?:not "
    r"true|untrue|false|wrong|incorrect|a myth|an error|a mistake|a "
    r"misconception|outdated|obsolete)|(?:myth|false|untrue|incorrect)[.!]?\s*$)",
    re.IGNORECASE,
)
# The sentence after a statement says that it was rejected, or that nobody would say it.
_REJECTED = re.compile(
    r"\b(?:it|this|that|they|these|those) (?:(?:is|are|was|were|do|does|did|has|have|can|will) "
    r"?not|(?:is|are|was|were|do|does|did|has|have|ca|wo)n['’]t)\W*$"
    r"|\b(?:retracted|withdrawn|debunked|disproved|disproven|refuted|rejected|discredited|falsified)\b"
    r"|\b(?:nobody|no one|none|few|hardly anyone|(?:would|should|could|can|do|does|did)(?: "
    r"not|n['’]t)|never)\b[^.;]{0,60}\b(?:say|says|said|claim|claims|claimed|believe[sd]?|thinks?|thought"
    r"|agrees?|recommend|recommends|recommended|advise[sd]?)\s+(?:so|this|that|it|with (?:this|that|it))\b",
    re.IGNORECASE,
)
# "This is nonsense.": a few words on what was said before, unless they confirm it.
_REMARK = re.compile(
    r"^\W*(?:this|that|all of (?:this|that))\s*(?:is|was|['’]s)\s+(?:(?!(?:in|on|by|for|of|at|to|with|from"
    r"|not)\b)[a-z-]+\s+){0,2}?(?P<what>[a-z-]+)\W*$",
    re.IGNORECASE,
)
_CONFIRMED = word_set(
    "true correct right important essential vital crucial key common rare normal usual safe unsafe known "
    "well-known established proven confirmed recommended advised standard effective cheap free necessary "
    "enough helpful useful serious dangerous harmless treatable curable preventable contagious infectious "
    "inherited genetic chronic acute painful painless mild severe reversible permanent temporary optional "
    "mandatory"
)
_DENYING_SIGN = re.compile(
    "[\u274c\u274e\u2716\u2717\u2718\u2612\U0001f6ab\u26d4\U0001f6d1\U0001f44e\U0001f645]|~~"
)
_BEGINS_AFTERTHOUGHT = re.compile(
    r"\W*(?:in|for|among|at|under|within|until|by|as|with|during|on|to|from|through|like)\b", re.IGNORECASE
)
_LONGEST_AFTERTHOUGHT = 8  # words
# What follows is only an example, supposed, or to be tested.
_SUPPOSED = re.compile(
    r"^\W*(?:suppose|imagine|assume|pretend|consider|let us (?:suppose|imagine|assume)|hypothes[ie]s|here "
    r"(?:is|are|follows?)|below (?:is|are)|(?:an?|the|this|our) (?:\w+ "
    r")?(?:example|hypothesis|assumption|premise)\b|(?:for )?example|sample|wrong|bad|question|quiz)\b",
    re.IGNORECASE,
)
# A whole sentence before may call the next one a myth: "There is a dangerous myth about aspirin. It can ..."
_MYTH = re.compile(
    r"\b(?:myth|misconception|rumou?r|fallacy|hoax|misinformation|following "
    r"(?:statements?|claims?|sentences?|assertions?|quot\w+)|(?:is|are|following|statements?) "
    r"(?:false|untrue|wrong|incorrect)|true or false|used to (?:be "
    r")?(?:believe|think|say|sa(?:id|y)|taught|thought)|(?:people|some|many) (?:still |wrongly |mistakenly "
    r")?(?:believe|think|say|claim))\b",
    re.IGNORECASE,
)
_MARK = re.compile(r"^\W+")


def quoting_chunk(claim: str, chunks: Sequence[Chunk]) -> str:
    """Returns the id of the first chunk that quotes the claim; "" where none does."""
    return next((chunk.id for chunk in chunks if quotes(claim, chunk.text, title=chunk.title)), "")


def quotes(claim: str, text: str, *, title: str = "") -> bool:
    """Returns whether `text` states the claim word for word, as whole sentences in the same order.

    False for questions and for claims of fewer than four words. Also False where the title, the sentence
    before or the sentence after says that the claim is a myth, outdated or only believed; then the model and
    the rules decide.

    Args:
        claim: the text of the claim.
        text: the text of a chunk.
        title: the title of the chunk.
    """
    words = plain_words(claim)
    if (
        words.count(" ") + 1 < QUOTED_WORDS
        or f" {words} " not in f" {plain_words(text)} "
        or claim.rstrip().endswith("?")
    ):
        return False
    sentences = sentences_of(text)
    spoken = [plain_words(sentence) for sentence in sentences]
    return any(
        not _led_in(sentences[:first], title)
        and not any(map(_DENYING_SIGN.search, sentences[first:last]))
        and not any(map(_takes_back, sentences[last : last + 1]))
        and not sentences[last - 1].endswith(("?", ":"))
        for first, last in _runs(words, spoken)
    )


def _runs(words: str, spoken: list[str]) -> list[tuple[int, int]]:
    """Returns (first, last) of each run of whole sentences that has exactly `words`; `last` is excluded.

    Args:
        words: the words of the claim, in lower case.
        spoken: the words of each sentence.
    """
    found = []
    for first in range(len(spoken)):
        run = ""
        for last in range(first, len(spoken)):
            run = f"{run} {spoken[last]}".strip()
            if run == words:
                found.append((first, last + 1))
            if len(run) >= len(words):
                break
    return found


def _takes_back(after: str) -> bool:
    """Returns whether the sentence `after` a statement denies it, limits it, or only remarks on it.

    Also True for a few words without a verb: "In rabbits at least.", "April fools!".
    """
    remark = _REMARK.match(after)
    return bool(
        _TAKEN_BACK.search(_MARK.sub("", after))
        or _REJECTED.search(after)
        or _DENYING_SIGN.search(after)
        or (remark and remark["what"].lower() not in _CONFIRMED)
        or _is_afterthought(after)
    )


def _is_afterthought(after: str) -> bool:
    """Returns whether `after` is up to eight words without a verb: a place, a time, a group, or a cry."""
    short = len(after.split()) <= _LONGEST_AFTERTHOUGHT
    limits = _BEGINS_AFTERTHOUGHT.match(after) or after.rstrip().endswith("!")
    return bool(short and limits and not finite_verbs(read_words(after)))


def _led_in(before: list[str], title: str) -> bool:
    """Returns whether title or lead-in say that what follows is only believed, asked or denied.

    Args:
        before: the sentences before the statement; the last of them is the lead-in.
        title: the title of the chunk.
    """
    if re.search(
        r"\b(?:myths?|misconceptions?|fact or fiction|true or false|debunk\w*)\b", title, re.IGNORECASE
    ):
        return True
    if not before:
        return False
    if _DENYING_SIGN.search(before[-1]) or _SUPPOSED.match(before[-1]):
        return True
    leads_in = before[-1].endswith((":", "?")) or not before[-1].endswith((".", "!", ")", "]", "”", '"'))
    return bool(_BELIEVED.search(before[-1])) if leads_in else bool(_MYTH.search(before[-1]))
