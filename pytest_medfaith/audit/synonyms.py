"""Words that may replace each other in medical prose without a change of meaning."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from pytest_medfaith.audit.mutation import capitalised
from pytest_medfaith.quantities.numerals import WORDS

_EITHER_WAY = (
    ("myocardial infarction", "heart attack"),
    ("adverse effects", "side effects"),
    ("physicians", "doctors"),
    ("medications", "medicines"),
    ("renal function", "kidney function"),
    ("renal disease", "kidney disease"),
    ("blood sugar", "blood glucose"),
    ("once daily", "once a day"),
    ("twice daily", "twice a day"),
    ("is recommended", "is advised"),
    ("are recommended", "are advised"),
    ("is administered", "is given"),
    ("are administered", "are given"),
    ("often", "frequently"),
    ("begins", "starts"),
    ("associated with", "linked to"),
    ("was performed", "was carried out"),
    ("were performed", "were carried out"),
    ("evaluated", "assessed"),
    ("to evaluate", "to assess"),
    ("showed that", "demonstrated that"),
    ("most frequently", "most often"),
    ("almost", "nearly"),
    ("mainly", "chiefly"),
    ("patients with", "people with"),
    ("used to treat", "used for the treatment of"),
    ("is caused by", "is due to"),
    ("are caused by", "are due to"),
    ("anemia", "anaemia"),
    ("hemoglobin", "haemoglobin"),
    ("edema", "oedema"),
    ("diarrhea", "diarrhoea"),
    ("tumor", "tumour"),
    ("tumors", "tumours"),
    ("pediatric", "paediatric"),
)
_ONE_WAY = (
    (
        (
            r"(?<!pulmonary )(?<!portal )(?<!intracranial )(?<!arterial )(?<!ocular )(?<!gestational )"
            r"hypertension"
        ),
        "high blood pressure",
    ),
    ("high blood pressure", "hypertension"),
    (r"about(?= \d)", "approximately"),
    ("approximately", "about"),
    (r"(?<!no )more than(?= \d)", "over"),  # "no over 12" is no English
    (r"(?<!no )less than(?= \d)", "under"),
    ("prior to", "before"),
    (r"due to(?! the fact)", "because of"),
    ("individuals", "people"),
    ("shortness of breath", "breathlessness"),
    ("dyspnea", "shortness of breath"),
    ("demonstrated", "showed"),
    ("usually", "generally"),
    ("every day", "daily"),
    ("liver enzymes", "hepatic enzymes"),
    ("compared with", "in comparison with"),
    ("compared to", "compared with"),
    ("in addition(?! to)", "additionally"),
    ("in order to", "to"),
    ("therefore", "for this reason"),
    ("elevated", "raised"),
    ("low blood sugar", "hypoglycemia"),
    ("to determine whether", "to find out whether"),
    ("to investigate", "to study"),
    ("subsequently", "later"),
    ("obtained from", "taken from"),
    ("such as", "like"),
    ("whereas", "while"),
    (r"because(?! of)", "since"),
)
_DIGITS = {word: f"{WORDS[word]:g}" for word in "two three four five six seven eight nine".split()}
_IN_WORDS = {digit: word for word, digit in _DIGITS.items()}
_COUNTED = (
    "minutes|hours|days|weeks|months|years|times|doses|patients|people|children|women|men|groups|trials"
    "|studies"
)
_PAIR_END = re.compile(r"\b(of|with|for|by|causes?|includes?|reduces?) ([a-z]+) and ([a-z]+)(?=\.$)")

Reading = tuple[re.Pattern[str], Callable[["re.Match[str]"], str]]


def _reading(pattern: str, new: str) -> Reading:
    return re.compile(
        rf"(?<![\w-])(?:{pattern})(?![\w-])", re.IGNORECASE
    ), lambda found: capitalised(new) if found[0][0].isupper() else new


_NUMERALS: tuple[Reading, ...] = (
    (re.compile(rf"(?<![\w-])(?:{'|'.join(_DIGITS)})(?= [a-z])"), lambda found: _DIGITS[found[0]]),
    (
        re.compile(rf"(?<![\w.,/–-])(?<!\bto )(?<!\band )(?<!\bor )(?<!\bin )[2-9](?= (?:{_COUNTED})\b)"),
        lambda found: _IN_WORDS[found[0]],
    ),
    (re.compile(r"(?<=\d)%(?! CI)"), lambda _: " percent"),
    (_PAIR_END, lambda found: f"{found[1]} {found[3]} and {found[2]}"),
)
_READINGS = (
    *(_reading(*pair) for pair in (*_EITHER_WAY, *(pair[::-1] for pair in _EITHER_WAY), *_ONE_WAY)),
    *_NUMERALS,
)


def with_synonyms(sentence: str, rng: random.Random, *, most: int) -> str:
    """Returns `sentence` with up to `most` words or numbers replaced, each everywhere in the sentence."""
    found = [(pattern, new) for pattern, new in _READINGS if pattern.search(sentence)]
    for pattern, new in rng.sample(found, min(most, len(found))):
        changed = pattern.sub(new, sentence)
        if not _repeats(pattern, new, sentence):
            sentence = changed
    return sentence


def _repeats(pattern: re.Pattern[str], new: Callable[[re.Match[str]], str], sentence: str) -> bool:
    """Returns whether `sentence` holds the new form already: "low blood sugar (hypoglycemia)"."""
    replacements = {new(found).lower() for found in pattern.finditer(sentence)}
    return any(
        len(word) > 2 and word != " percent" and re.search(rf"\b{re.escape(word)}\b", sentence.lower())
        for word in replacements
    )
