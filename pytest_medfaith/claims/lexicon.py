"""The closed word classes and the verb forms of medical English that the clause rules read. No rules stand here.

A tagger would know more words; this list is small on purpose: a verb that is not in it only means a claim that is not split.
"""

from __future__ import annotations

from functools import lru_cache

DETERMINERS = frozenset("a an the this that these those its their his her your our my some any no each every most many several few all both either".split())
PREPOSITIONS = frozenset(
    "of in on at by for with from to into onto after before during between among against over under above below about as than via per without within "
    "through throughout across toward towards until since despite upon like unlike including following regarding concerning around".split()
)
PRONOUNS = frozenset("i you he she it we they who this these those there one others someone people patients everyone".split())
MODALS = frozenset("can could may might must shall should will would cannot can't couldn't won't wouldn't shouldn't mustn't".split())
TENTATIVE = frozenset("can could may might".split())
SINGULAR_AUXILIARIES = frozenset("is was has does isn't wasn't hasn't doesn't".split())
PLURAL_AUXILIARIES = frozenset("are were have do aren't weren't haven't don't".split())
OTHER_AUXILIARIES = frozenset("had did hadn't didn't".split())
NON_FINITE_AUXILIARIES = frozenset("be been being having".split())
BE = frozenset("is are was were be been being isn't aren't wasn't weren't".split())
NEGATIONS = frozenset(
    "no not never none neither nor without cannot can't couldn't won't wouldn't shouldn't mustn't isn't wasn't hasn't doesn't aren't weren't haven't "
    "don't hadn't didn't nobody nothing hardly".split()
)
SUBORDINATORS = frozenset("that which who whom whose if when whenever unless because although though whereas while whether until once where since".split())
RELATIVES = frozenset("that which who whom whose where".split())
CONDITIONS = frozenset("if when whenever unless until once while whether provided".split())
ADVERBS = frozenset(
    "also often usually typically generally sometimes rarely then still now only very more most less least even just already almost always never not "
    "again further too well therefore thus instead otherwise however so yet first potentially likely commonly especially particularly directly".split()
)

ADJECTIVE_VERBS = frozenset("lower slow narrow clear correct complete clean separate live open dry warm cool present thin harden".split())
ADJECTIVE_ENDINGS = ("al", "ic", "ive", "ous", "ful", "able", "ible", "ary", "ory", "ish")

# Verbs that are seldom nouns: one of their forms after a subject is the verb.
_VERBS = (
    "include reduce lower raise improve prevent treat relieve inhibit block activate stimulate suppress bind occur happen develop require recommend provide "
    "contain consist comprise involve affect depend lead contribute allow enable make take give get become remain appear seem tend begin continue persist "
    "worsen exacerbate alleviate protect promote enhance diminish minimize minimise maximize elevate slow accelerate shorten prolong extend restore maintain "
    "preserve regulate manage detect diagnose identify confirm exclude indicate suggest show demonstrate reveal find describe define characterize characterise "
    "classify consider regard believe think know prescribe administer inject apply absorb metabolize metabolise excrete eliminate cross enter reach circulate "
    "produce secrete synthesize induce provoke arise originate transmit infect invade destroy injure weaken strengthen impair interfere interact combine add "
    "replace avoid restrict seek consult see ask tell discuss undergo receive suffer want feel eat live die survive heal recover respond resolve disappear recur "
    "differ vary exceed outweigh represent constitute belong relate refer imply explain play serve attach travel carry deliver convert break dissolve degrade "
    "mimic resemble mask narrow widen dilate constrict relax thicken thin harden swell bleed vomit manifest deteriorate evolve alter modify adjust switch taper "
    "discontinue withdraw resume approve license authorize ban establish keep hold lie grow shrink expand fail succeed achieve meet offer choose select prefer "
    "compare evaluate assess examine investigate determine predict calculate conclude warn advise encourage favor favour ease soothe correct counteract neutralize "
    "boost facilitate assist predispose associate link contraindicate tolerate label build write create generate design run lose bring send put "
    "replenish supply hydrate clean remove insert place perform operate connect surround line cover divide multiply originate accumulate deposit collect "
    "drain leak travel acquire inherit express encode mutate act react bind dock fuse aggregate clot coagulate sedate stabilize stabilise normalize normalise "
    "optimize optimise balance cure kill fight attack defend bear wash rinse swallow chew inhale breathe speak choose sell market publish introduce launch locate "
    "situate renew complete start stop finish follow precede accompany interrupt ensure verify understand learn teach train educate inform notify contact adhere "
    "persist derive stem emerge lack own earn win serve lead join leave move publish specialize specialise graduate"
).split()  # fmt: skip
# Words that are nouns as often as verbs: they need more of their neighbours before they count as verbs.
_NOUN_VERBS = (
    "cause increase decrease use result help trigger control monitor measure report release form damage harm limit need support work function target transport "
    "change progress delay drop rise fall risk benefit test screen check review study estimate state note last present impact influence range cost spread experience "
    "exercise sleep drink smoke rest caution balance account focus return attack drain cover line call record process stress practice display contrast map rate "
    "level point mean name found contract signal lead supply start stop approach produce taste smell sound burn itch hurt ache grade score cut"
).split()
_IRREGULAR = {
    "lead": "led led", "make": "made made", "take": "took taken", "give": "gave given", "get": "got got", "become": "became become", "begin": "began begun",
    "bind": "bound bound", "find": "found found", "know": "knew known", "think": "thought thought", "see": "saw seen", "tell": "told told", "feel": "felt felt",
    "eat": "ate eaten", "drink": "drank drunk", "sleep": "slept slept", "mean": "meant meant", "keep": "kept kept", "hold": "held held", "lie": "lay lain",
    "fall": "fell fallen", "rise": "rose risen", "grow": "grew grown", "shrink": "shrank shrunk", "choose": "chose chosen", "undergo": "underwent undergone",
    "withdraw": "withdrew withdrawn", "spread": "spread spread", "hurt": "hurt hurt", "break": "broke broken", "arise": "arose arisen", "swell": "swelled swollen",
    "bleed": "bled bled", "show": "showed shown", "seek": "sought sought", "meet": "met met", "build": "built built", "write": "wrote written", "run": "ran run",
    "lose": "lost lost", "bring": "brought brought", "send": "sent sent", "put": "put put", "bear": "bore born", "fight": "fought fought", "speak": "spoke spoken",
    "sell": "sold sold", "understand": "understood understood", "teach": "taught taught", "cut": "cut cut", "win": "won won", "leave": "left left",
}  # fmt: skip
_DOUBLED = frozenset("stop stem drop ban occur recur refer control prefer clot permit plan map".split())


@lru_cache(maxsize=1)
def verb_forms() -> dict[str, frozenset[str]]:
    """Returns word -> which of base, s (third person singular), past, part (past participle), ing it can be."""
    forms: dict[str, set[str]] = {}
    for verb in {*_VERBS, *_NOUN_VERBS}:
        past, part = _IRREGULAR[verb].split() if verb in _IRREGULAR else (_past(verb), _past(verb))
        for word, form in ((verb, "base"), (_third_person(verb), "s"), (past, "past"), (part, "part"), (_ing(verb), "ing")):
            forms.setdefault(word, set()).add(form)
    return {word: frozenset(found) for word, found in forms.items()}


@lru_cache(maxsize=1)
def noun_verbs() -> frozenset[str]:
    """Returns the base and -s forms that are nouns as often as verbs, such as "causes" and "use"."""
    return frozenset({*_NOUN_VERBS, *map(_third_person, _NOUN_VERBS)})


def _third_person(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


def _past(verb: str) -> str:
    if verb in _DOUBLED:
        return verb + verb[-1] + "ed"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


def _ing(verb: str) -> str:
    if verb in _DOUBLED:
        return verb + verb[-1] + "ing"
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    return (verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb) + "ing"
