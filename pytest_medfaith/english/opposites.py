"""Words that point in opposite directions, in groups.

"Raises" and "lowers" are in the group "amount" and have opposite signs: in the same place they contradict
each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

# {group: (words of sign 1, words of sign -1)}. Every form is listed, since stems would also match words with
# another meaning.
_GROUPS: Mapping[str, tuple[str, str]] = {
    "amount": (
        (
            "increase increases increased increasing raise raises raised raising rise rises rose risen "
            "rising higher elevate elevates elevated elevating greater more boost boosts boosted gain gains "
            "gained grow grows grew enhance enhances enhanced augment augments augmented upregulates "
            "upregulated elevation larger additional excess heightened likelier"
        ),
        (
            "decrease decreases decreased decreasing reduce reduces reduced reducing lower lowers lowered "
            "lowering decline declines declined declining fall falls fell fallen falling less fewer drop "
            "drops dropped diminish diminishes diminished lessen lessens lessened cut cuts cutting "
            "downregulates downregulated reduction smaller attenuates attenuated halve halves halved"
        ),
    ),
    "level": ("high", "low"),
    "quality": (
        (
            "improve improves improved improving better best improvement superior benefit benefits benefited "
            "relieve relieves relieved ease eases eased"
        ),
        (
            "worsen worsens worsened worsening worse worst deteriorate deteriorates deteriorated "
            "deteriorating deterioration inferior harm harms harmed aggravate aggravates aggravated "
            "exacerbate exacerbates exacerbated impair impairs impaired impairing"
        ),
    ),
    "speed": (
        "faster quicker sooner earlier accelerate accelerates accelerated speeds hastens hastened",
        "slower later slow slows slowed slowing delay delays delayed delaying",
    ),
    "length": (
        "longer prolong prolongs prolonged prolonging lengthen lengthens lengthened extends extended",
        "shorter shorten shortens shortened shortening",
    ),
    "order": ("before prior preceding precedes preceded", "after following follows followed afterwards"),
    "line": ("first-line preferred", "second-line third-line last-line last-resort"),
    "rank": ("first", "last second"),
    "age": ("older elderly old", "younger young"),
    "time": ("early earlier", "late later"),
    "course": (
        "acute acutely short-term sudden suddenly temporary transient reversible",
        "chronic chronically long-term gradual gradually permanent permanently irreversible",
    ),
    "drive": (
        (
            "stimulate stimulates stimulated stimulating activate activates activated activating promote "
            "promotes promoted promoting induce induces induced agonist agonists enhances"
        ),
        (
            "inhibit inhibits inhibited inhibiting suppress suppresses suppressed suppressing block blocks "
            "blocked blocking antagonist antagonists inhibitor"
        ),
    ),
    "cause": (
        (
            "cause causes caused causing trigger triggers triggered provoke provokes provoked promote "
            "promotes promoted promoting"
        ),
        (
            "prevent prevents prevented preventing protects protect protected avert averts averted cure "
            "cures cured"
        ),
    ),
    "sign": ("positive", "negative"),
    "bound": ("above over exceeding exceeds", "below under"),
    "limit": ("maximum highest most", "minimum lowest least fewest"),
    "frequency": (
        "common commonly frequent frequently often usually usual typical typically",
        "rare rarely infrequent infrequently uncommon uncommonly unusual seldom",
    ),
    "severity": ("severe serious severely major", "mild mildly minor trivial"),
    "strength": (
        "strong strongly potent strengthen strengthens strengthened strengthening",
        "weak weakly weaken weakens weakened weakening",
    ),
    "vessel": (
        "dilate dilates dilated dilation vasodilation vasodilator vasodilators bronchodilation",
        (
            "constrict constricts constricted constriction vasoconstriction vasoconstrictor vasoconstrictors "
            "bronchoconstriction"
        ),
    ),
    "course of action": (
        (
            "start starts started starting begin begins began begun beginning initiate initiates initiated "
            "initiating continue continues continued continuing resume resumes resumed resuming"
        ),
        (
            "stop stops stopped stopping discontinue discontinues discontinued discontinuing withdraw "
            "withdraws withdrew withdrawn withdrawing interrupt interrupts interrupted interrupting"
        ),
    ),
    "side": ("left", "right"),
    "chamber": ("systolic", "diastolic"),
    "day": ("morning daytime", "evening night bedtime"),
    "meal": ("fed postprandial", "fasting fasted"),
    "share": ("majority", "minority"),
    "symptoms": ("symptomatic", "asymptomatic"),
    "dryness": ("hot warm", "cold cool"),
    "count": ("unilateral", "bilateral"),
    "nature": ("benign noncancerous", "malignant cancerous"),
    "ends": ("proximal upper", "distal"),
    "reach": ("local localized localised topical", "systemic generalized generalised"),
    "kidney": ("intake retention retains", "excretion excretes loss"),
}
# Words of these groups are in many places of a text and mean many things. They only count in a near-copy of a
# sentence.
_IN_COPIES = frozenset(
    "rank bound age time day sign side chamber level severity count reach ends dryness".split()
)
_PREFIXES = tuple(
    tuple(pair.split("/"))
    for pair in (
        "hyper/hypo tachy/brady macro/micro poly/oligo vasodilat/vasoconstrict pre/post anti/pro "
        "leukocyto/leukopeni endo/exo intra/extra over/under"
    ).split()
)
_LEAST_STEM = 4  # letters after a prefix; "hyper" against "hypo" alone may shorten many words


@lru_cache(maxsize=1)
def _signs() -> Mapping[str, dict[str, int]]:
    """Returns {word: {group: sign}}."""
    found: dict[str, dict[str, int]] = {}
    for group, sides in _GROUPS.items():
        for sign, words in zip((1, -1), sides, strict=True):
            for word in words.split():
                found.setdefault(word, {})[group] = sign
    return MappingProxyType(found)


def directions(word: str) -> Mapping[str, int]:
    """Returns {group: sign, 1 or -1} of a lower-case word, {"amount": -1} for "lowers"; else {}."""
    return _signs().get(word, {})


def opposed(word: str, other: str, *, in_copies: bool = False) -> bool:
    """Returns whether two lower-case words point in opposite directions, by group or by prefix.

    "increase" and "decrease" do, and so do "hypotension" and "hypertension". Pairs such as first and last
    count only with `in_copies`, for two sentences that differ in a single place.
    """
    if in_copies and "-" in word and word.partition("-")[2] == other.partition("-")[2]:
        return opposed(word.partition("-")[0], other.partition("-")[0], in_copies=True)  # low-dose, high-dose
    mine, theirs = directions(word), directions(other)
    shared = (group for group in mine if in_copies or group not in _IN_COPIES)
    if any(theirs.get(group) == -mine[group] for group in shared):
        return True
    return any(_swapped(word, other, one, two) or _swapped(other, word, one, two) for one, two in _PREFIXES)


def _swapped(word: str, other: str, prefix: str, opposite: str) -> bool:
    """Returns whether the words differ only in these prefixes: "hypertension" and "hypotension"."""
    if not (word.startswith(prefix) and other.startswith(opposite)):
        return False
    rest, other_rest = word.removeprefix(prefix).lstrip("-"), other.removeprefix(opposite).lstrip("-")
    return len(rest) >= _LEAST_STEM and rest == other_rest
