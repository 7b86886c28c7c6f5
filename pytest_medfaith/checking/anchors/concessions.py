"""Limits of a statement that the claim turns round: "even if" where the evidence says "unless".

Example: the evidence says "The helmet stays on unless the airway is blocked". Neither "... no matter whether
the airway is blocked" nor "... only if the airway is blocked" is supported.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_medfaith.checking.anchors.evidence import Evidence, Missing
from pytest_medfaith.checking.rules.denials import negations
from pytest_medfaith.english.conditions import Condition, read_conditions, without_conditions
from pytest_medfaith.english.words import content_keys, read_tokens, share

SAME_STATEMENT = 0.6  # of the claim's words, apart from its limits, that the sentence holds
# Share of its words that a clause has in common with the other clause: at least the first number for either
# clause, at least the second number for one of them.
SAME_MATTER = (0.4, 0.6)
_MOST_SHOWN = 80  # characters of a clause that a note quotes


def missing_concessions(claim: str, evidence: Evidence) -> Iterator[Missing]:
    """Yields a `Missing` of the kind "concession" for the first clause of `claim` that turns a limit round.

    A limit is a clause such as "unless C", "only if C" or "even if C" in the deciding sentence,
    `evidence.nearest`. The claim turns it with the opposite limit on the same C, if no other text of the
    evidence agrees with the claim.
    """
    stated = [mine for mine in read_conditions(claim) if content_keys(mine.words)]
    if not stated or not _is_same_statement(claim, evidence.nearest):
        return
    known = [theirs for text in evidence.in_order for theirs in read_conditions(text)]
    for mine in stated:
        about = [theirs for theirs in read_conditions(evidence.nearest) if _speak_of_one_thing(mine, theirs)]
        if not about or any(_agree(mine, theirs) for theirs in known if _speak_of_one_thing(mine, theirs)):
            continue
        turned = next((theirs for theirs in about if _turned(mine, theirs)), None)
        if turned:
            theirs_said, said = (f"{one.marker}{one.words}".strip()[:_MOST_SHOWN] for one in (turned, mine))
            note = f"the evidence says this {theirs_said!r}, the claim says {said!r}"
            yield Missing("concession", mine.start, mine.end, note=note)
            return


def _is_same_statement(claim: str, sentence: str) -> bool:
    """Returns whether both say the same apart from their limits, and both or neither are denied."""
    mine, theirs = without_conditions(claim), without_conditions(sentence)
    wanted = content_keys(mine)
    same = bool(wanted) and share(wanted, content_keys(sentence)) >= SAME_STATEMENT
    return same and _is_denied(mine) == _is_denied(theirs)


def _speak_of_one_thing(mine: Condition, theirs: Condition) -> bool:
    """Returns whether two limits are about the same thing: their clauses share enough words."""
    if {mine.kind, theirs.kind} == {"exception", "case"} and "until" in (mine.marker + theirs.marker).lower():
        return False  # "stay away until" and "go back once" say the same; phases are compared elsewhere
    one, other = content_keys(mine.words), content_keys(theirs.words)
    if theirs.kind == "concession" and mine.kind == "condition" and other and other <= one:
        return True  # "regardless of age" and "only to people of a certain age"
    least, most = sorted((share(one, other), share(other, one))) if one and other else (0.0, 0.0)
    return least >= SAME_MATTER[0] and most >= SAME_MATTER[1]


def _agree(mine: Condition, theirs: Condition) -> bool:
    """Returns whether two limits on the same thing say the same: "unless C" and "only if not C" do."""
    same = _same_polarity(mine, theirs)
    if mine.kind == theirs.kind == "concession" or same is None:
        return True
    if "concession" in (mine.kind, theirs.kind):
        return mine.kind == "case" and (theirs.both_ways or same)
    return same == ((mine.kind == "exception") == (theirs.kind == "exception"))


def _turned(mine: Condition, theirs: Condition) -> bool:
    """Returns whether `mine`, a limit of the claim, is the opposite of `theirs` on the same thing."""
    if theirs.kind == "concession":
        return mine.kind in ("exception", "condition")
    if mine.both_ways or (mine.kind == "concession" and theirs.kind == "condition"):
        return True
    same = _same_polarity(mine, theirs)
    if mine.kind == "concession":
        return same is not None and same == (theirs.kind == "exception")
    return not _agree(mine, theirs)


def _same_polarity(mine: Condition, theirs: Condition) -> bool | None:
    """Returns whether both clauses are denied or neither is; None where one of them denies several times."""
    one, other = _denials(mine.words), _denials(theirs.words)
    return None if max(one, other) > 1 else one == other


def _is_denied(text: str) -> bool:
    """Returns whether `text` denies an odd number of times."""
    return _denials(text) % 2 == 1


def _denials(text: str) -> int:
    """Returns how often `text` denies; "neither ... nor" denies once."""
    tokens = read_tokens(text)
    found = [tokens[index].lower for index in negations(tokens)]
    return len(found) - ("neither" in found) * found.count("nor")
