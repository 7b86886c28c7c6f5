"""The word classes of medical English, the stop list and the verbs, as sets of words.

A tagger would know more verbs. The list is small on purpose: a verb that is missing only means that a claim
is not split.
"""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """Returns the words of a blank-separated string."""
    return frozenset(words.split())


DETERMINERS = word_set(
    "a an the this that these those its their his her your our my some any no each every most many several "
    "few all both either"
)
PREPOSITIONS = word_set(
    "of in on at by for with from to into onto after before during between among against over under above "
    "below about as than via per without within through throughout across toward towards until since despite "
    "upon like unlike including following regarding concerning around"
)
PRONOUNS = word_set(
    "i you he she it we they who this these those there others someone people patients everyone"
)
MODALS = word_set(
    "can could may might must shall should will would cannot can't couldn't won't wouldn't shouldn't mustn't"
)
TENTATIVE = word_set("can could may might")
SINGULAR_AUXILIARIES = word_set("is was has does isn't wasn't hasn't doesn't")
PLURAL_AUXILIARIES = word_set("are were have do aren't weren't haven't don't")
OTHER_AUXILIARIES = word_set("had did hadn't didn't")
AUXILIARIES = MODALS | SINGULAR_AUXILIARIES | PLURAL_AUXILIARIES | OTHER_AUXILIARIES
NON_FINITE_AUXILIARIES = word_set("be been being having")
BE = word_set("is are was were be been being isn't aren't wasn't weren't")
NEGATIONS = word_set(
    "no not never none neither nor without cannot can't couldn't won't wouldn't shouldn't mustn't isn't "
    "wasn't hasn't doesn't aren't weren't haven't don't hadn't didn't nobody nothing hardly"
)
NUMBERS = word_set("one two three four five six seven eight nine ten half")
# Verbs and nouns that report what follows. "Studies show that ..." does not limit it, as "if ..." does.
ATTRIBUTIONS = word_set(
    "show shows showed shown suggest suggests suggested find finds found report reports reported indicate "
    "indicates indicated demonstrate demonstrates demonstrated conclude concludes concluded recommend "
    "recommends recommended state states stated reveal reveals revealed evidence believed thought"
)
COORDINATORS = word_set("and or but nor")
SUBORDINATORS = word_set(
    "that which who whom whose if when whenever unless because although though whereas while whether until "
    "once where since whatever whoever whichever"
)
RELATIVES = word_set("that which who whom whose where")
CONDITIONS = word_set("if when whenever unless until once while whether provided")
# Conditions that may limit all words before them.
STRONG_CONDITIONS = word_set("if when whenever unless until provided")
PAIRING = word_set("neither either both nor")
ADVERBS = word_set(
    "also often usually typically generally sometimes rarely then still now only very more most less least "
    "even just already almost always never not again further too well therefore thus instead otherwise "
    "however so yet first potentially likely commonly especially particularly directly"
)

ADJECTIVE_VERBS = word_set(
    "lower slow narrow clear correct complete clean separate live open dry warm cool present thin harden"
)
ADJECTIVES = word_set(
    "red dry mild severe old young chronic acute high low large small hot cold warm wet itchy swollen "
    "painful heavy light irregular dark pale bright soft hard fast slow short long early late new blue "
    "yellow green white black good bad safe weak strong deep thick thin sore raw fresh lean oral nasal rapid "
    "lower higher other main major minor common frequent different similar further better worse best worst"
)
ADJECTIVE_ENDINGS = ("al", "ic", "ive", "ous", "ful", "able", "ible", "ary", "ory", "ish")

# The stop list. Common words say so little that no text is chosen by them. The function words add words that
# may choose a text ("before", "without", "all"), but do not show that two sentences speak of the same thing.
COMMON_WORDS = word_set(
    "a an and are as at be been being but by can could did do does for from had has have if in into is it "
    "its may might more most must no not of on or should such than that the their them then there these they "
    "this those to was were when which who will with would you your"
)
FUNCTION_WORDS = COMMON_WORDS | word_set(
    "about above across after again all also although among any because before below between both doing down "
    "during each either else enough even ever every few further get gets getting give given gives giving go "
    "goes going gone got having he her here hers him his how however i including itself just less let like "
    "made make makes making many me much my neither nor off often once one only onto other others our out "
    "over own per quite rather s same shall she since so some themselves though through thus till too toward "
    "towards under until up upon us very via we well what where whether while whom whose why within without "
    "yet yours"
)

# Verbs that are seldom nouns: a form of them after a subject is its verb.
VERBS = word_set(
    "abolish absorb accelerate accept accompany accumulate achieve acidify acquire act activate add adhere "
    "adjust administer adopt advise advocate affect aggravate aggregate alleviate allocate allow alter "
    "ameliorate antagonize appear apply approve approximate argue arise ask assemble assess assign assist "
    "associate attach augment authorize avoid bear beat become begin believe belong bind bleed block bother "
    "breathe bring build calcify calculate carry cease characterise characterize chew choose circulate "
    "clarify classify clean clog close coagulate coexist coincide collect combine come compare compensate "
    "complete complicate comprise conclude confirm confound connect consent consider consist constitute "
    "constrict consult consume contain contaminate continue contradict contraindicate contribute convert "
    "coordinate cope correct counteract create cross curb customise decide defend define deform degrade "
    "delegate delete deliver demonstrate depend deplete deprive derive describe desensitise desensitize "
    "destroy detect deteriorate determine develop diagnose die differ differentiate digest dilate dilute "
    "diminish disappear discontinue discover discuss disrupt dissolve distinguish distribute divide "
    "downregulate earn ease eat educate elevate eliminate emerge emit enable encode encourage endorse engage "
    "enhance enjoy enlarge enrol enroll ensue ensure enter eradicate erode establish evaluate evaporate "
    "evolve exacerbate examine exceed exclude excrete exist expand expect explain express extend extrapolate "
    "facilitate fail feel fill find fluctuate follow forbid fulfill generalize generate get give go graduate "
    "grow halve hamper happen harden heal hear hinder hold hydrate hydrolyze identify impair impede "
    "implement imply improve include incorporate indicate individualise individualize induce infect inflame "
    "inform inhale inherit inhibit initiate inject injure insert insist insulate integrate interact "
    "interfere interrupt introduce invade investigate involve irritate join justify keep know lack lead "
    "learn leave lengthen lessen let license lie linger link listen live locate loosen lose lower lubricate "
    "maintain make malfunction manage manifest mature maximize meet metabolise metabolize metastasise "
    "metastasize migrate mimic minimise minimize mitigate modify move multiply mutate narrow neutralise "
    "neutralize normalise normalize notice notify obey observe obstruct obtain occupy occur offer offset "
    "open operate opt optimise optimize originate outdo outnumber outweigh overcome overestimate overlap "
    "overload own oxidize palliate participate penetrate perceive perforate perform permit persist "
    "phosphorylate play pose potentiate precede preclude predict predispose prefer prescribe preserve "
    "prevail prevent prioritise prioritize produce prohibit proliferate prolong promote propose protect "
    "protrude prove provide provoke publish pull push qualify quantify quit raise randomise randomize "
    "reabsorb reach react realise realize reappear reassess recede receive recognise recognize recommend "
    "reconsider recover recruit recur reduce refer reflect refute regain regard regenerate regress regulate "
    "rehydrate reinforce relate relax relieve rely remain remind remove renew replace replenish replicate "
    "represent require resemble resolve respond restore restrict resume retain reveal rinse save secrete "
    "sedate see seek seem select sell send sensitize separate serve shorten show shrink situate slide slow "
    "soothe speak specialise specialize specify squeeze stabilise stabilize stay stem stick stiffen "
    "stimulate stratify strengthen succeed suffer suggest supervise suppress surround survive suspect "
    "swallow swell synthesize tailor take talk teach tell tend terminate thicken thin think thrive titrate "
    "tolerate train transform translate transmit treat try ulcerate underestimate undergo underlie "
    "understand upregulate urge vary verify vomit wake want warn wash weaken wear weigh widen win withdraw "
    "withhold withstand worsen write"
)
# Words that are nouns as often as verbs: their neighbours must show that they are verbs.
NOUN_VERBS = word_set(
    "account ache age aid aim appeal approach attack attempt balance ban bar battle benefit boost break "
    "bruise burn call care cause caution change check claim clot clump coat complement compress concentrate "
    "contact contract contrast control correlate cost cough cover cure cushion cut damage decrease delay "
    "deposit design display dispute dock double doubt drain draw drink drive drop escape estimate exercise "
    "exhibit experience face fall favor favour feed field fight filter finish fit focus fold force form "
    "function fuse gain grade graft guide halt harm help hide hope host hurt impact increase influence itch "
    "kill label last launch leak level limit line look map market mask match mean measure merit monitor name "
    "need note number object order pass pay place plan point practice precipitate present press pressure "
    "process progress pump put question range rank rate record release repair report rest result return "
    "reverse review rise risk rule run rupture score screen search set shape share shift sign signal sit "
    "sleep smell smoke sound spray spread stage stand start state stop store strain stress stretch study "
    "supply support switch taper target taste test trade transplant transport trap travel trial trigger "
    "triple turn use visit watch work worry"
)
_IRREGULAR_FORMS = (  # base, past, past participle
    "lead led led, make made made, take took taken, give gave given, get got got, become became become, "
    "begin began begun, bind bound bound, find found found, know knew known, think thought thought, see saw "
    "seen, tell told told, feel felt felt, eat ate eaten, drink drank drunk, sleep slept slept, mean meant "
    "meant, keep kept kept, hold held held, lie lay lain, fall fell fallen, rise rose risen, grow grew "
    "grown, shrink shrank shrunk, choose chose chosen, undergo underwent undergone, withdraw withdrew "
    "withdrawn, spread spread spread, hurt hurt hurt, break broke broken, arise arose arisen, swell swelled "
    "swollen, bleed bled bled, show showed shown, seek sought sought, meet met met, build built built, write "
    "wrote written, run ran run, lose lost lost, bring brought brought, send sent sent, put put put, bear "
    "bore born, fight fought fought, speak spoke spoken, sell sold sold, understand understood understood, "
    "teach taught taught, cut cut cut, win won won, leave left left, come came come, go went gone, let let "
    "let, wear wore worn, hear heard heard, beat beat beaten, outdo outdid outdone, quit quit quit, wake "
    "woke woken, set set set, stick stuck stuck, feed fed fed, overcome overcame overcome, withstand "
    "withstood withstood, withhold withheld withheld, forbid forbade forbidden, hide hid hidden, draw drew "
    "drawn, drive drove driven, pay paid paid, stand stood stood, sit sat sat"
)
IRREGULAR = {base: (past, part) for base, past, part in map(str.split, _IRREGULAR_FORMS.split(","))}
DOUBLED = word_set(
    "stop stem drop ban occur recur refer control prefer clot permit plan map trap clog fit quit enrol set "
    "bar get let put cut run sit win begin"
)
