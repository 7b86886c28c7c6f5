"""The same statement with and without a negation: "is recommended" against "is not recommended", "may be used" against "is contraindicated"."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pytest_medfaith.checking.rules.frames import Frame, frames
from pytest_medfaith.english.opposites import directions, opposed
from pytest_medfaith.english.stems import verb_stems
from pytest_medfaith.english.words import Token, read_tokens
from pytest_medfaith.quantities.numerals import WORDS
from pytest_medfaith.quantities.quantity import opposed_bounds
from pytest_medfaith.quantities.reader import read_quantities
from pytest_medfaith.records import Finding

# Fitted on the development part of the written pairs (bench/rules.py): with less of the claim in the sentence, in the claim's order, the
# negation often belongs to something else.
LEAST_COVERED = 0.6

_PLAIN = frozenset(
    """not no never cannot can't don't doesn't didn't isn't aren't wasn't weren't won't shouldn't needn't
    mustn't couldn't wouldn't hasn't haven't""".split()
)
# Words that hold a negation but rarely the statement's own.
_OTHER = frozenset(
    """without none neither nor nothing nobody lack lacks lacked lacking absence absent missing
    free rarely seldom hardly unlikely impossible untrue myth keeps keep stops stop prevents
    prevent prevented""".split()
)
# Words that refuse, and those they stand against ("can be used": "is contraindicated"); frames are compared without both.
_REFUSING = frozenset(
    "avoid avoids avoided avoiding contraindicated contraindication unsafe unsuitable inappropriate "
    "inadvisable unnecessary prohibited forbidden banned discouraged withheld fails failed fail unable "
    "ineffective".split()
)
_ADVISING = frozenset(
    "recommended recommend recommends advised advise indicated used use uses using given give gives safe "
    "suitable appropriate advisable necessary needed likely able effective allowed permitted acceptable "
    "taken take "
    "takes prescribed offered considered added started can may should could must".split()
)
# "recommends against" denies what "recommends" says; "warns against" is a negation too, but says the same as "warns of".
_SPEAKING = frozenset(
    """recommend recommends recommended recommending recommendation recommendations advise advises advised
    advising advice argue argues argued arguing argument arguments""".split()
)
_ADVISED = frozenset(
    "patients people women men adults children parents users doctors clinicians physicians them us".split()
)
_WARNING = frozenset("warn warns warned warning warnings caution cautions cautioned cautioning".split())
# In the place of a negation these deny in other words: "little effect" for "no effect", "refrain from drinking" for "do not drink".
_DENYING = _OTHER | frozenset(
    "little few fewer less least yet equally similarly insufficient inadequate limited scarce scant sparse "
    "poor weak minimal negligible unclear uncertain unknown doubtful unproven rare "
    """refrain refrains refrained refraining abstain abstains abstained abstaining decline declines declined
    refuse refuses refused deny denies denied poorly incompletely barely scarcely insufficiently
    inadequately""".split()
)
# These affirm what the other side denies: "strong evidence" against "no evidence", "recommended" against "not advised".
_AFFIRMING = frozenset(
    """always preferred several strong good clear large substantial convincing gave show shows showed produce
    produces produced""".split()
)
_COUNSELLED = frozenset(
    "recommended recommend recommends advised advise advises indicated advisable appropriate suitable".split()
)
_STANDING_AGAINST = ((_ADVISING, _REFUSING), (_COUNSELLED, _COUNSELLED))
_CHANGES = frozenset(
    "amount quality speed length".split()
)  # groups of opposites; "shortened" stands against "had no effect on"
_EFFECT = frozenset("effect effects influence impact change changed affect affected alter altered".split())
_COMPARATIVES = frozenset("more less fewer later longer sooner earlier higher lower greater".split())
_NO_NEGATION_BEFORE = _COMPARATIVES | frozenset(
    "only just matter one doubt exceed least all every everyone always".split()
)
# Words that change what a negation says of the whole; where one side has one alone, the pair is left to the model.
_OPEN = frozenset(
    """unless except only until whether rather instead some few fewer less half most % percent all every
    always but or""".split()
)
# "but not in children", "not by itself": a contrast within the sentence, which a claim need not repeat.
_CONTRAST = frozenset(
    "in by with to at on for when if what because from of during after before as than".split()
)
_RELATIVE = frozenset("that which who whose".split())
_SMALL = frozenset(
    """be been being is are was were have has had having do does did a an the any to yet also so very more
    likely""".split()
)
_ENDS = frozenset(",;:()–—")
_REACH = 4  # words from a negation to the one that it negates
_LARGEST_GAP = 4  # words that differ in one place, in two copies
_NEAR = 8  # words around a place that can still turn its sense


def negations(tokens: Sequence[Token]) -> list[int]:
    """Returns the indices of the words that negate; "not only" and "no more than" do not."""
    return [
        index
        for index, token in enumerate(tokens)
        if token.lower in _REFUSING | _OTHER or _negates(tokens, index)
    ]


def negation(claim: str, evidence: str) -> list[Finding]:
    """Returns a finding where claim and sentence say the same of the same thing, and one of them negates it."""
    for frame in frames(claim, evidence):
        polar = [
            index for index, token in enumerate(frame.claim) if token.lower in _ADVISING | _REFUSING | _PLAIN
        ]
        if clash := _clash(frame, polar, claim, evidence):
            return [_finding(*clash, claim, evidence)]
        if frame.copies(polar):
            return []  # the evidence says it; what else it says does not matter
    return []


_Clash = tuple[
    Token, Token, Token, Token
]  # first and last token of the claim's clashing words, and of the sentence's


def _clash(frame: Frame, polar: Sequence[int], claim: str, evidence: str) -> _Clash | None:
    if not _same_numbers(frame):
        return None
    clash = None
    if frame.coverage_without(polar) >= LEAST_COVERED:
        clash = _negated_word(frame, evidence) or _refused(frame)
    if not clash and frame.copies(polar):
        clash = _one_more(frame)
    return None if clash and (_turned_back(frame) or _bounds_turned(frame, claim, evidence)) else clash


def _bounds_turned(frame: Frame, claim: str, evidence: str) -> bool:
    """Returns whether one value is bounded from opposite sides, and a negation makes them one: "not below 30" says what "at 30 or more" says."""
    known = [
        other
        for other in read_quantities(evidence)
        if frame.sentence.start <= other.start < frame.sentence.end
    ]
    return any(
        bool(quantity.bound and other.bound)
        and opposed_bounds(quantity, other) == (quantity.denied == other.denied)
        and quantity.dimension == other.dimension
        and quantity.low == other.low
        for quantity in read_quantities(claim)
        for other in known
    )


def _turned_back(frame: Frame) -> bool:
    """Returns whether the two sides are opposed in another word too, which turns a negation back: "avoiding salt lowers", "salt raises"."""
    mine, theirs = frame.claim, frame.sentence.tokens
    return any(
        opposed(mine[index].lower, theirs[other].lower)
        for here, there in frame.gaps()
        for index in here
        for other in there
    )


def _same_numbers(frame: Frame) -> bool:
    """Returns whether the sentence has all numbers of the claim; "not yet after 5 days" may follow from "after 10 days"."""
    known = {_number(token) for token in frame.sentence.tokens}
    return all(
        _number(token) in known for token in frame.claim if token.lower[0].isdigit() or token.lower in WORDS
    )


def _number(token: Token) -> str:
    """Returns the word of `token`, a spelled number in figures."""
    return f"{WORDS[token.lower]:g}" if token.lower in WORDS else token.lower


def _negated_word(frame: Frame, evidence: str) -> _Clash | None:
    """Finds a word that both sides have and one negates, where the other negates nothing near it."""
    mine, theirs = frame.claim, frame.sentence.tokens
    back = {there: here for here, there in frame.pairs.items()}
    for index, head in _scopes(mine).items():
        place = frame.pairs.get(head)
        if place is None or _prefixed(mine[head], theirs) or mine[head].key in _negated_keys(evidence):
            continue
        if (
            _plain_near(place, theirs)
            and not _odd(mine, theirs, place)
            and not _denied_across(frame, index, mine=True)
        ):
            return mine[min(index, head)], mine[max(index, head)], theirs[place], theirs[place]
    for index, head in _scopes(theirs).items():
        place = back.get(head)
        if (
            place is None
            or negations(mine)
            or _prefixed(theirs[head], mine)
            or _denied_across(frame, index, mine=False)
        ):
            continue
        if not _odd(mine, theirs, head):
            return mine[place], mine[place], theirs[min(index, head)], theirs[max(index, head)]
    return None


def _denied_across(frame: Frame, index: int, *, mine: bool) -> bool:
    """Returns whether the other side denies in other words near where the negation at `index` stands: "little effect" for "no effect"."""
    tokens, met = (frame.sentence.tokens, {*frame.pairs.values()}) if mine else (frame.claim, {*frame.pairs})
    for here, there in frame.gaps():
        if index in (here if mine else there):
            across = there if mine else here
            near = range(max(0, across.start - _REACH), min(len(tokens), across.stop + _REACH))
            return any(tokens[place].lower in _DENYING and place not in met for place in near)
    return False


def _negated_keys(evidence: str) -> set[str]:
    """Returns the keys of the words that any sentence of the evidence negates."""
    tokens = read_tokens(evidence)
    return {tokens[head].key for head in _scopes(tokens).values()}


def _prefixed(word: Token, tokens: Sequence[Token]) -> bool:
    """Returns whether a token negates `word` by a prefix: "unhealed" for "healed", "non-bullous" for "bullous"."""
    stem = word.lower[:5]
    return any(
        token.lower.startswith(prefix) and token.lower[len(prefix) :].lstrip("-").startswith(stem)
        for token in tokens
        for prefix in ("un", "non", "in", "im", "ir", "il", "dis", "anti")
    )


def _refused(frame: Frame) -> _Clash | None:
    """Finds "can be used" against "is contraindicated": in one place, one side refuses and the other advises."""
    mine, theirs = frame.claim, frame.sentence.tokens
    for here, there in frame.gaps():
        refused, advised = _last(mine, here, _REFUSING), _last(mine, here, _ADVISING)
        their_refused, their_advised = _last(theirs, there, _REFUSING), _last(theirs, there, _ADVISING)
        if _left_behind(mine, refused, advised) or _left_behind(theirs, their_refused, their_advised):
            continue
        one, other = (
            (refused, their_advised)
            if refused is not None and their_refused is None
            else (advised, their_refused)
        )
        if one is None or other is None or (refused is not None) == (their_refused is not None):
            continue
        if any(token.lower in _REFUSING for token in mine) and any(
            token.lower in _REFUSING for token in theirs
        ):
            continue  # both refuse, each in its place
        if (
            _plain_near(one, mine, but=one)
            and _plain_near(other, theirs, but=other)
            and not _odd(mine, theirs, other)
        ):
            return mine[one], mine[one], theirs[other], theirs[other]
    return None


def _left_behind(tokens: Sequence[Token], refused: int | None, advised: int | None) -> bool:
    """Returns whether what is refused ends before what is advised begins: "avoid straining, and use warm baths", but not "avoid using"."""
    return (
        refused is not None
        and advised is not None
        and any(token.lower in _ENDS for token in tokens[refused:advised])
    )


def _one_more(frame: Frame) -> _Clash | None:
    """Finds a negation, or a refusing word, that one of two copies has more than the other in one place."""
    mine, theirs = frame.claim, frame.sentence.tokens
    if sum(_turns(mine, index) for index in range(len(mine))) == sum(
        _turns(theirs, index) for index in range(len(theirs))
    ):
        return None  # moved, not added
    for here, there in frame.gaps():
        ours = [index for index in here if _turns(mine, index)]
        their = [index for index in there if _turns(theirs, index)]
        if (len(ours) + len(their)) % 2 == 0 or len(here) > _LARGEST_GAP or len(there) > _LARGEST_GAP:
            continue
        if _prefixed_in(mine, here, theirs) or _prefixed_in(theirs, there, mine):
            continue
        if _denied_across(frame, (ours or their)[0], mine=bool(ours)):
            continue
        if _reworded(mine, here, theirs, there) if ours else _reworded(theirs, there, mine, here):
            continue
        if ours:
            last = min(ours[0] + 1, len(mine) - 1)
            other = theirs[there[0] if there else min(there.start, len(theirs) - 1)]
            return mine[ours[0]], mine[last], other, other
        last = min(their[0] + 1, len(theirs) - 1)
        own = mine[here[0] if here else min(here.start, len(mine) - 1)]
        return own, own, theirs[their[0]], theirs[last]
    return None


def _reworded(tokens: Sequence[Token], negated: range, others: Sequence[Token], place: range) -> bool:
    """Returns whether `others` have words of their own at `place` for what `tokens` negate: "keep" for "not stop", but not "found" for "not find"."""
    words, known = {tokens[index].lower for index in negated} - _PLAIN, {token.key for token in tokens}
    if "without" in words and any(others[index].lower == "with" for index in place):
        return False
    return any(
        others[index].lower in ("same", "alike")
        or (
            others[index].content
            and others[index].key not in known
            and not _affirms(others[index].lower, words)
        )
        for index in place
    )


def _affirms(word: str, negated: Collection[str]) -> bool:
    """Returns whether `word` says, without a negation, what the words `negated` deny; an adverb may stand with any."""
    if word in _AFFIRMING or word.endswith("ly"):
        return True
    if any(word in said and not denied.isdisjoint(negated) for said, denied in _STANDING_AGAINST):
        return True
    said = directions(word)
    if said.keys() & _CHANGES and not _EFFECT.isdisjoint(negated):
        return True
    return any(
        verb_stems(word) & verb_stems(other) or said.items() & directions(other).items() for other in negated
    )


def _prefixed_in(tokens: Sequence[Token], indices: range, others: Sequence[Token]) -> bool:
    return any(_prefixed(tokens[index], others) for index in indices if tokens[index].content)


def _turns(tokens: Sequence[Token], index: int) -> bool:
    """Returns whether the word turns a copy round: any negation but "not only", "warns against", and "juice, not tea", which a copy may leave out."""
    lower = tokens[index].lower.replace("’", "'")
    before, after = (
        (tokens[index - 1].lower if index else ""),
        (tokens[index + 1].lower if index + 1 < len(tokens) else ""),
    )
    plain = lower in _PLAIN and before not in _ENDS and after not in ("only", "just")
    verb = _advised_against(tokens, index)
    return (
        plain
        or (verb is not None and tokens[verb].lower in _SPEAKING)
        or lower in _REFUSING
        or lower in ("without", "neither", "none")
    )


def _last(tokens: Sequence[Token], indices: range, words: frozenset[str]) -> int | None:
    return next((index for index in reversed(indices) if tokens[index].lower in words), None)


def _plain_near(place: int, tokens: Sequence[Token], *, but: int = -1) -> bool:
    return not any(abs(index - place) <= _NEAR and index != but for index in negations(tokens))


def _odd(mine: Sequence[Token], theirs: Sequence[Token], place: int) -> bool:
    """Returns whether only one side has a word that changes what a negation says of the whole."""
    ours = {token.lower for token in mine} & _OPEN
    near = {token.lower for token in theirs[max(0, place - _NEAR) : place + _NEAR]} & _OPEN
    return ours != near


def _scopes(tokens: Sequence[Token]) -> Mapping[int, int]:
    """Returns index of negating word -> index of the word that it negates."""
    found = {}
    for index in range(len(tokens) - 1):
        if (verb := _advised_against(tokens, index)) is not None:
            if tokens[verb].lower in _SPEAKING:
                found[index] = verb
            continue
        if not _negates(tokens, index) or tokens[index + 1].lower in _CONTRAST or _relative(tokens, index):
            continue
        for place in range(index + 1, min(index + 1 + _REACH, len(tokens))):
            if tokens[place].lower in _ENDS:
                break
            if (
                tokens[place].key
                and tokens[place].lower not in _SMALL
                and not tokens[place].lower.endswith("ly")
            ):
                found[index] = place
                break
    return found


def _relative(tokens: Sequence[Token], index: int) -> bool:
    """Returns whether the negation stands in a clause that only says which one is meant: "a cut that has not healed"."""
    return any(token.lower in _RELATIVE for token in tokens[max(0, index - 2) : index])


def _negates(tokens: Sequence[Token], index: int) -> bool:
    lower = tokens[index].lower.replace("’", "'")
    following = tokens[index + 1].lower if index + 1 < len(tokens) else ""
    before = tokens[index - 1].lower if index else ""
    after = tokens[index + 2].lower if index + 2 < len(tokens) else ""
    # "not more than 5" is a bound; "not more frequent than with placebo" denies
    bound = following in _NO_NEGATION_BEFORE and (
        following not in _COMPARATIVES or not after or after == "than"
    )
    plain = lower in _PLAIN and not bound and before != "or"
    return plain or _advised_against(tokens, index) is not None


def _advised_against(tokens: Sequence[Token], index: int) -> int | None:
    """Returns the index of the verb that an "against" belongs to: "recommends against", "advise patients against"."""
    if tokens[index].lower != "against":
        return None
    before = (
        place
        for place in reversed(range(index))
        if tokens[place].lower not in _ADVISED and not tokens[place].lower.endswith("ly")
    )
    verb = next(before, None)
    return verb if verb is not None and tokens[verb].lower in _SPEAKING | _WARNING else None


def _finding(
    first: Token, last: Token, other_first: Token, other_last: Token, claim: str, evidence: str
) -> Finding:
    mine, theirs = (first.start, last.end), (other_first.start, other_last.end)
    return Finding(
        rule="negation",
        message=f"claim says {claim[slice(*mine)]!r}, evidence says {evidence[slice(*theirs)]!r}",
        claim_span=mine,
        evidence_span=theirs,
        effect="refute",
    )
