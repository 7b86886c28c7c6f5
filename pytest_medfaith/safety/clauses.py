"""Cuts a text into statements: main clauses on the same subject, and their conditions.

"In pregnancy, ACE inhibitors are avoided, but labetalol can be used if blood pressure is high." has two
statements. "In pregnancy" is a condition of both, "if blood pressure is high" of the second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pytest_medfaith.english.sentences import sentence_spans

_CONTRAST = r"but|however|whereas|although|though|yet"
_EXCEPT = r"unless|except|other than|apart from|excluding"
_REASON = r"because|since|so|therefore|thus|as (?=it|they|this|these|there)"
_WHEN = (
    r"if|when|whenever|while|as long as|provided|(?<!at )once|until|even if|even when|during|before|after"
    r"|having|being|given that"
)
_PLACE = r"in|for|with|at|on|among|despite|following|under|within|over|above|below"
_AUXILIARY = (
    r"is|are|was|were|be|been|can|cannot|may|might|must|should|could|will|would|does|do|did|has|have|had"
    r"|needs?|needn|isn|aren|don|doesn|shouldn|won"
)
_IMPERATIVE = (
    r"take|give|use|start|stop|add|avoid|ask|call|try|continue|keep|swallow|combine|inject|apply|drink|wait"
    r"|rest|see|consult|never|choose|go|watch|book|change|swap|"
    r"increase|raise|reduce|lower|double|halve"
)
_VERB = re.compile(
    rf"(?:\b(?:{_AUXILIARY}|cause[sd]?|prevents?|raises?|lowers?|increases?|reduces?|works?|helps?|affects?"
    r"|makes?|takes?|took|uses?|contains?|holds?|leads?|led|blocks?|"
    r"damages?|harms?|worsens?|settles?|passes|goes|means|treats?|heals?|relieves?|controls?|improves?"
    r"|interacts?|requires?|allows?|weakens?|says?|develops?|falls?|rises?)\b"
    r"|n['’]t\b|\b(?:it|that|there|they|you|what)['’](?:s|re|ll)\b|^\s*(?:yes,?\s+|please\s+|and\s+|or\s+"
    rf"|so\s+|then\s+|do not\s+)*(?:{_IMPERATIVE})\b)",
    re.IGNORECASE,
)
_CUT = re.compile(
    rf"(?P<hard>;\s*|\s+[–—]\s+|\s-\s)|:\s+|(?:,\s*|\s+)(?=(?:and\s+)?(?:{_CONTRAST}|{_EXCEPT}|{_REASON}"
    r"|if|when|whenever|while|as long as|provided|(?<!at )once|until|even if|even when)\b)"
    r"|\s+(?=(?:before|after)\s+(?:(?!\w*(?:ing|is)\b)[\w-]+\s+){0,4}(?:(?:starting|taking|giving|using"
    r"|stopping|adding|prescribing)|is|are|was|were)\b)"
    rf"|,\s+|\s+(?=(?:and|or)\s+(?:(?:[\w-]+\s+){{0,4}}?(?:{_AUXILIARY})\b|(?:{_IMPERATIVE})\b))",
    re.IGNORECASE,
)
_LEAD = re.compile(
    rf"\s*(?:and\s+|or\s+|even\s+)?(?:(?P<contrast>{_CONTRAST})|(?P<excepted>{_EXCEPT}|(?:rather"
    r"|other) than|instead of|not(?! (?:only|just))\b(?=\s+(?:in|for|during|with|by|at))|and not)"
    rf"|(?P<when>{_WHEN})|(?P<place>{_PLACE}))\b",
    re.IGNORECASE,
)
_NOT_WITHIN = re.compile(
    r"\s*(?:but\s+)?(?:(?:is|are|should|must|can|may|do|does)\s+)?(?:not|never)\b|\s*but\s+(?:avoid|only)\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"(?:and\b|or\b|so\b|as\b|but\b|because\b|since\b|which\b|therefore\b|thus\b|however\b|then\b|also\b"
    r"|yes\b|no\b|,|\s)*(?:it|they|them|this|these|those|both|that|which|who|each|neither|"
    rf"{_AUXILIARY})(?:['’]\w+)?\b",
    re.IGNORECASE,
)
_LIST_WITHIN = 60
_LIST = re.compile(r"(?:[\w-]+\s+){0,3}(?:or|and)\s")
_QUESTION = re.compile(r"\?[\"'”’)\]]*\s*$")
_TAG = re.compile(
    r",\s*(?:right|correct|okay|ok|yes|no|(?:is|are|do|does|can|could|should|would|will|ca|wo|may|might|"
    r"must)(?:n['’]t)?\s+(?:it|they|you|he|she))\s*\?\s*$",
    re.IGNORECASE,
)
# Words that deny nothing: "Don't hesitate to take 8 g".
_DENIES_NOTHING = re.compile(
    r"\b(?:do(?: not|n['’]t)|never|no need to)\s+(?:hesitate|fear|forget|fail|(?:be|"
    r"feel)\s+(?:too\s+)?(?:afraid|shy|scared|reluctant))\s+to\b",
    re.IGNORECASE,
)
_YES = re.compile(
    r"\s*(?:yes|yeah|sure|certainly|absolutely|of course|definitely|correct|true|right|indeed|ok|okay)\b",
    re.IGNORECASE,
)
# "Can I take", "May pregnant women still use": auxiliary, subject and verb of a question.
_INVERTED = re.compile(
    r"\b(can|may|should|could|might|must|will|would)(\s+)((?:[\w'’-]+\s+){0,5}?[\w'’-]+)(?=\s+(?:(?:still"
    r"|also|safely|just|now|then)\s+)?"
    r"(?:take|use|give|get|have|receive|start|continue|keep|combine|mix|add|drink|eat|inject|apply|swallow"
    r"|try|be|go|stay|breastfeed)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Clause:
    """A piece of a text.

    Attributes:
        start: its first character.
        end: the character after it.
        role: "main", "condition" ("if ...") or "excepted" ("but not in children").
        hard: True after a full stop, a semicolon or a dash.
    """

    start: int
    end: int
    role: str
    hard: bool = False  # behind a stop, a semicolon or a dash

    def holds(self, place: tuple[int, int]) -> bool:
        """Returns whether the span `place` lies within the clause."""
        return self.start <= place[0] and place[1] <= self.end


@dataclass(frozen=True)
class Statement:
    """Main clauses about the same subject, in order, and the conditions under which they are true.

    Example: "Take paracetamol" with the condition "if pain persists".
    """

    mains: tuple[Clause, ...]
    conditions: tuple[Clause, ...]

    @property
    def span(self) -> tuple[int, int]:
        """(start of the first clause, end of the last)."""
        clauses = (*self.mains, *self.conditions)
        return min(clause.start for clause in clauses), max(clause.end for clause in clauses)


def read_statements(text: str) -> list[Statement]:
    """Returns the statements of `text` in order, without what it only asks.

    "Is it safe? Take paracetamol if pain persists." has a single statement: the main clause "Take
    paracetamol" with its condition.
    """
    clauses = [clause for start, end in asserted_sentences(text) for clause in _clauses(text, start, end)]
    return list(_statements(text, clauses))


def as_stated(text: str) -> str:
    """Returns `text` at its length, with each question that "yes" answers in the order of a statement.

    "Can I take it? Yes." becomes "I Can take it? Yes.". Words that deny nothing become blanks: "don't
    hesitate to", and the "can't you" at the end of a statement.
    """
    text = _DENIES_NOTHING.sub(_blanks, text)
    spans = sentence_spans(text)
    for (start, end), (behind, last) in pairwise([*spans, (len(text), len(text))]):
        tag = _TAG.search(text, start, end)
        if tag:
            text = f"{text[: tag.start()]}.{' ' * (end - tag.start() - 1)}{text[end:]}"
        elif _QUESTION.search(text[start:end]) and _YES.match(text[behind:last]):
            text = text[:start] + _INVERTED.sub(r"\3\2\1", text[start:end], count=1) + text[end:]
    return text


def _blanks(found: re.Match[str]) -> str:
    """Returns as many blanks as the match is long."""
    return " " * len(found[0])


def asserted_sentences(text: str) -> list[tuple[int, int]]:
    """Returns the spans of the sentences that state something.

    A question does so if "yes" follows it, or if it ends in "..., right?" or the like.
    """
    spans = sentence_spans(text)
    return [
        (start, end)
        for index, (start, end) in enumerate(spans)
        if not _QUESTION.search(text[start:end])
        or _TAG.search(text[start:end])
        or (index + 1 < len(spans) and _YES.match(text[slice(*spans[index + 1])]))
    ]


def _clauses(text: str, start: int, end: int) -> Iterator[Clause]:
    """Yields the clauses of the sentence `text[start:end]`.

    Some pieces between its commas belong to the clause before them.
    """
    pieces = list(_pieces(text, start, end))
    current: Clause | None = None
    for index, (piece_start, piece_end, hard) in enumerate(pieces):
        role = _role(text[piece_start:piece_end], first=index == 0 or hard)
        piece = Clause(piece_start, piece_end, role, hard or index == 0)
        is_last = index == len(pieces) - 1
        if current and role == "main" and not hard and _goes_on(text, current, piece, is_last=is_last):
            current = replace(current, end=piece_end)
            continue
        if current:
            yield current
        current = piece
    if current:
        yield current


def _goes_on(text: str, clause: Clause, piece: Clause, *, is_last: bool) -> bool:
    """Returns whether `piece` belongs to the clause before it: one of the two has no verb.

    After a condition only a list continues it: "if you have no ulcer, kidney disease or heart failure, ...".
    """
    has_verb, clause_has_verb = (_VERB.search(text[one.start : one.end]) for one in (piece, clause))
    if clause.role == "main":
        return not (has_verb and clause_has_verb)
    list_follows = _LIST.match(text, piece.start, piece.start + _LIST_WITHIN)
    return bool(list_follows) and not (has_verb or clause_has_verb or is_last)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Yields (start, end, hard) of the pieces between marks and conjunctions; `hard` as in `Clause`."""
    hard = True
    for cut in _CUT.finditer(text, start, end):
        if cut.start() > start:
            yield start, cut.start(), hard
        start, hard = cut.end(), bool(cut["hard"])
    if start < end:
        yield start, end, hard


def _role(piece: str, *, first: bool) -> str:
    """Returns the role of a piece: "main", "condition" or "excepted".

    `first`: whether it begins a sentence.
    """
    lead = _LEAD.match(piece)
    verb = bool(_VERB.search(piece))
    if lead and lead["excepted"]:
        return "excepted"
    if _NOT_WITHIN.match(piece) and not verb:
        return "excepted"
    if lead and lead["when"]:
        return "condition"
    if lead and lead["place"] and not verb and first:
        return "condition"
    if lead and lead["contrast"] and not verb:
        return "excepted" if re.search(r"\b(?:not|never|avoid)\b", piece, re.IGNORECASE) else "main"
    return "main"


def _statements(text: str, clauses: Sequence[Clause]) -> Iterator[Statement]:
    """Yields the statements that `clauses` make; clauses that go on about a subject stay together."""
    fronted: list[Clause] = []
    mains: list[Clause] = []
    after: list[Clause] = []
    for clause in clauses:
        words = text[clause.start : clause.end]
        if clause.role == "excepted":
            continue
        if clause.hard and not (clause.role == "main" and mains and _GOES_ON.match(words)):
            if mains:
                yield Statement(tuple(mains), (*fronted, *after))
            fronted, mains, after = [], [], []
        if clause.role == "condition":
            (after if mains else fronted).append(clause)
        elif mains and not _GOES_ON.match(words):
            yield Statement(tuple(mains), (*fronted, *after))
            mains, after = [clause], []
        else:
            mains.append(clause)
    if mains or fronted:
        yield Statement(tuple(mains), (*fronted, *after))
