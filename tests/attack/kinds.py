"""Attacks by kind: each kind makes its tries from a fixed seed.

A kind says of each try what went wrong, or "" where the result is right.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "unit")]
from answers import ASKED, DRESSES, NO, OPEN, VERDICTS, YES
from gate_samples import SIGNATURE, case, report_of
from hostile import read_wrongly, reading, writing, written_wrongly
from openings import CONTENTS, OPENINGS
from unanswered import green, tries

from pytest_medfaith import assert_faithfulness, assert_no_hallucination, check_answer
from pytest_medfaith.answers.responses import UNSAID, as_response, read_responses
from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.checking.quotation import quotes
from pytest_medfaith.claims.split import extract_claims, is_refusal
from pytest_medfaith.errors import DataError, MedfaithError
from pytest_medfaith.evaluation import evaluate_case
from pytest_medfaith.gates.baseline import read_baseline, write_baseline
from pytest_medfaith.gates.expressions import BoundGate, parse_gate
from pytest_medfaith.gates.plausible import checksum
from pytest_medfaith.metrics.registry import parse_metric
from pytest_medfaith.records import Case, Chunk, Hit
from pytest_medfaith.retrieval.ranking import checked_hits
from pytest_medfaith.testing import containment_checker, scripted_checker

SEED = 25
GATES = 5_000
TRUE = "Metformin is taken with meals."
CHUNK, OTHER = Chunk(id="iron", text=TRUE), Chunk(id="other", text="Zinc was studied in colds.")
CASE = Case(id="a", question="?", references=("iron",))
ENTAILS = scripted_checker(lambda _evidence, _claim: "entail")


@dataclass(frozen=True)
class Kind:
    """A kind of attack: its name on the page, the right result, its tries, and what is wrong with a try."""

    name: str
    right: str
    tries: Callable[[], list[Any]]
    failure: Callable[[Any], str]


def _covered() -> list[tuple[str, str]]:
    return [(f"{opening} {content}", word) for opening in OPENINGS for content, word in CONTENTS.items()]


def _hidden(attack: tuple[str, str]) -> str:
    answer, word = attack
    if is_refusal(answer):
        return "an abstention"
    claims = [claim.text.casefold() for claim in extract_claims(answer)]
    return "" if any(word.casefold() in claim for claim in claims) else "no claim holds the content"


Answered = tuple[str, str | None, str]  # an answer, its case's question, and what a claim must hold


def _bare() -> list[Answered]:
    """Returns answers of yes or no beside a true sentence.

    They answer the question of the case, or a question within the answer.
    """
    chance = random.Random(SEED)
    tries: list[Answered] = []
    for said in (*YES, *NO):
        dresses = ("{}",) if "metformin" in said else ("{}", chance.choice(DRESSES[1:]))
        tries += [(f"{dress.format(said)}\n\n{TRUE}", chance.choice(ASKED), "8 g") for dress in dresses]
        if said[0].isupper() and not _POINTING.match(said) and "metformin" not in said:
            tries.append((f"{TRUE} {said}", ASKED[0], "8 g"))
        asks = chance.choice(("{0} {1}", "**{0}**\n{1}", "Q: {0}\nA: {1}", "- {0}\n- {1}"))
        tries.append((f"{TRUE}\n\n{asks.format(ASKED[0], said)}", None, "8 g"))
    tries += [(f"**{verdict}**\n\n{TRUE}", asked, "8 g") for verdict in VERDICTS for asked in ASKED]
    return tries


def _open() -> list[Answered]:
    tried = [said for said in (*YES, *NO) if not said.endswith(("meals.", "please ask your pharmacist."))]
    return [(said, asked, "") for said in tried for asked in OPEN]


# What speaks of what is said right before it: no answer to a question further up.
_POINTING = re.compile(
    r"(?:Correct|True|Right|Exactly|Agreed|That|This|You|They|False|Wrong|Incorrect|Not true|True or"
    r"|Why not)",
    re.IGNORECASE,
)


def _swallowed(attack: Answered) -> str:
    answer, question, word = attack
    claims = [claim.text for claim in extract_claims(answer, question=question)]
    return "" if any(word in claim for claim in claims) else "no claim holds what was asked"


def _agreed(attack: Answered) -> str:
    """Returns which assertions pass on an answer of yes or no to a question that it does not answer."""
    answer, question, _ = attack
    return _passes(answer, [TRUE], ENTAILS, question=question)


SAID = (
    "isotretinoin is safe in pregnancy",
    "aspirin can be given to children",
    "warfarin is safe with ibuprofen",
    "antibiotics cure the common cold",
)
TAKEN_BACK = """
Myth: {}. Fact: it is not so.
False: {}.
Wrong: {}.
That {} is a dangerous myth.
True or false: {}. The answer is false.
It is not true that {}.
It was once believed that {}.
That {} was the view until 1966.
Some clinics said in error that {}.
{}? No.
No study shows that {}.
It is a mistake to think that {}.
Nobody should believe that {}.
Claims that {} have been refuted.
The leaflet was withdrawn because it said that {}.
{}, if the specialist agrees.
{} only over 16 years of age.
{} as long as the eGFR is above 45.
{} in mice.
{} unless a doctor forbids it.
"{}" is what quacks say.
Misconception: {}.
Rumour has it that {}.
We tested the following statement. {}. The data contradict it.
{}. This claim was examined in 2020. It did not hold.
{}. The opposite is true.
{}. Recent trials showed otherwise.
{}. A later trial refuted that.
{}. This recommendation was withdrawn.
Consider the following claim. {}. It came from a blog.
{}. Both statements are wrong.
""".strip().splitlines()


def _quoted() -> list[tuple[str, str]]:
    return [(said, frame.format(said)) for said in SAID for frame in TAKEN_BACK]


def _supported(attack: tuple[str, str]) -> str:
    said, evidence = attack
    return "supported by a quotation" if quotes(f"{said[0].upper()}{said[1:]}.", evidence) else ""


def _gates() -> list[str]:
    chance = random.Random(SEED)
    words = [
        "faithfulness",
        "hallucination",
        "latency_p50",
        "abstention",
        "unscored",
        "recall@5",
        "ndcg@k",
        "safety_error_rate",
        "<=",
        ">=",
    ]
    words += [
        "<",
        "==",
        "no",
        "worse",
        "than",
        "baseline",
        "by",
        "at",
        "95%",
        "0",
        "1",
        "0.05",
        "5%",
        "1e309",
        "-1",
        "nan",
        "inf",
        "100%",
    ]
    words += [
        "200ms",
        "0.2s",
        "1e-400",
        "٣",
        "\uff11",
        "\x00",
        "",
        "\n",
        "é",
        "0x1",
        "1_000",
        "99999999999",
        "recall@0",
        "0.99999999999999999",
    ]

    def text() -> str:
        if chance.random() < 0.2:
            return "".join(
                chr(chance.choice((chance.randrange(32, 127), chance.randrange(0x110000))))
                for _ in range(chance.randrange(20))
            )
        if chance.random() < 0.5:
            return (
                f"{chance.choice(words[:8])} {chance.choice(words[8:10])} {chance.choice(words)} "
                f"{chance.choice(['', '', 'at 95%', 'by 1'])}"
            )
        return chance.choice([" ", ""]).join(chance.choice(words) for _ in range(chance.randrange(8)))

    return [text() for _ in range(GATES)]


def _gate(text: str) -> str:
    try:
        gate = parse_gate(text)
    except (ValueError, MedfaithError):
        return ""
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return f"raises {type(error).__name__}"
    low, high = parse_metric(gate.metric).range
    if isinstance(gate, BoundGate):
        can_fail = low < gate.bound <= high if gate.at_least else low <= gate.bound < high
    else:
        can_fail = 0 <= gate.margin < high - low
    return "" if can_fail else "a gate that nothing fails"


WIDE = str.maketrans({chr(code): chr(code + 0xFEE0) for code in range(33, 127)})
BOLD = {
    **{chr(65 + i): chr(0x1D400 + i) for i in range(26)},
    **{chr(97 + i): chr(0x1D41A + i) for i in range(26)},
}
ALIKE = str.maketrans("aeopcxyABEKMHOPCTX", "аеорсхуАВЕКМНОРСТХ")  # the second are Cyrillic
OTHERS = (
    "妊娠中にイソトレチノインは安全です。",
    "Изотретиноин безопасен при беременности.",
    "الأيزوتريتينوين آمن أثناء الحمل.",
    "गर्भावस्था में आइसोट्रेटिनॉइन सुरक्षित है।",
    "Η ισοτρετινοΐνη είναι ασφαλής στην εγκυμοσύνη.",
    "איזוטרטינואין בטוח בהיריון.",
    "임신 중 이소트레티노인은 안전합니다.",
    "ไอโซเตรติโนอินปลอดภัยในการตั้งครรภ์",
)


def _strange() -> list[str]:
    latin = [f"{said[0].upper()}{said[1:]}." for said in SAID]
    changed = [
        form
        for text in latin
        for form in (text.translate(WIDE), text.translate(BOLD), text.translate(ALIKE), "\u200b".join(text))
    ]
    return [
        *changed,
        *OTHERS,
        *(f"{text[:-1]} {'and so on ' * times}now." for text in latin for times in (60, 600)),
    ]


def _outcome(name: str, check: Callable[..., Any], answer: Any, **said: Any) -> str:
    try:
        check(answer, **said)
    except (AssertionError, ValueError, MedfaithError):
        return ""
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return f"{name} raises {type(error).__name__}"
    return f"{name} passes"


def _passes(answer: Any, contexts: Any, checker: Checker, **said: Any) -> str:
    """Returns which assertions pass."""
    passed = []
    for name, check in (("faithfulness", assert_faithfulness), ("no hallucination", assert_no_hallucination)):
        passed.append(_outcome(name, check, answer, contexts=contexts, checker=checker, **said))
    return ", ".join(filter(None, passed))


def _unjudged(claim: str) -> str:
    """Returns whether a claim is lost beside a true claim, or is supported unread.

    The model that cannot read the claim calls everything entailed.
    """
    unread = not unicodedata.normalize("NFKC", claim).replace("\u200b", "").isascii()
    checkers = [containment_checker(), *([replace(ENTAILS, latin_only=True)] if unread else [])]
    for checker in checkers:
        report = check_answer(f"{TRUE} {claim}", contexts=[TRUE], checker=checker)
        labels = [verdict.label for verdict in report.verdicts]
        if all(label == "supported" for label in labels):
            return f"all of {len(labels)} supported"
    return ""


BLANKS = (
    "",
    " ",
    "\n",
    "\t\r\n",
    "\u200b",
    "\ufeff",
    "\u00a0",
    "\u2028",
    "\x00",
    ".",
    "...",
    "\u2026",
    "?",
    "!",
    "-",
    "*",
    "#",
    "``````",
    "[1]",
    "()",
    "<br>",
)
NO_CONTEXTS: tuple[Any, ...] = ([], [""], [" "], [TRUE], None)


def _empty() -> list[tuple[str, Any]]:
    return [(blank, contexts) for blank in BLANKS for contexts in NO_CONTEXTS] + [
        (TRUE, contexts) for contexts in NO_CONTEXTS[:3]
    ]


KEYS = (
    "context Contexts contextes contxts contexts_ context_s CONTEXTS conetxts retrieved_contexts documents "
    "source_documents context_texts"
)


def _renamed() -> list[str]:
    return KEYS.split()


def _lost(key: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "responses.jsonl"
        path.write_text(
            json.dumps({"case_id": "a", "answer": TRUE, key: [{"id": "c", "text": TRUE}]}) + "\n",
            encoding="utf-8",
        )
        try:
            response = read_responses(path, [])["a"]
        except DataError:
            return ""
    return "" if response.contexts else _passes(response, UNSAID, ENTAILS)


def _broken() -> Iterator[tuple[str, Callable[[Any], Any]]]:
    for number in (np.nan, np.inf, -np.inf):
        yield f"all {number}", lambda pairs, number=number: np.full((len(pairs), 3), number, dtype=np.float32)
        yield (
            f"first {number}",
            lambda pairs, number=number: np.array([[number, 0, 0]] * len(pairs), dtype=np.float32),
        )
    for rows in (-1, 1):
        yield (
            f"{rows} rows",
            lambda pairs, rows=rows: np.array([[6.0, 0, 0]] * (len(pairs) + rows), dtype=np.float32).reshape(
                -1, 3
            ),
        )
    for columns in (0, 1, 2, 4):
        yield (
            f"{columns} columns",
            lambda pairs, columns=columns: np.ones((len(pairs), columns), dtype=np.float32),
        )
    for given in (None, "entail", [], {}, 1.0):
        yield f"{given!r}", lambda _pairs, given=given: given
    yield "words", lambda pairs: [["entail", "", ""]] * len(pairs)


def _nonsense(attack: tuple[str, Callable[[Any], Any]]) -> str:
    name, scores = attack
    return _passes(
        "Zinc shortens colds by a day.",
        ["Zinc was studied in colds."],
        Checker(name, f"nonsense:{name}", scores),
    )


def _edits() -> list[tuple[str, Any, Any, bool]]:
    parts = [
        (5, 2),
        (-5, 2),
        (1, -2),
        (1e308, 2),
        (1e-300, 2),
        (0, 1e300),
        (0, 0),
        (0, 2.5),
        (0, 1),
        ("0", 2),
        (None, 2),
        (True, 2),
    ]
    names = ("hallucination", "faithfulness", "unsupported", "unscored")
    return [(name, *numbers, sign) for name in names for numbers in parts for sign in (False, True)]


@cache
def _baseline() -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "baseline.json"
        write_baseline(
            path,
            [report_of([case("a", "su?", latency=120.0), case("b", "sr", latency=80.0)])],
            signature=SIGNATURE,
        )
        return path.read_text(encoding="utf-8")


def _edited(attack: tuple[str, Any, Any, bool]) -> str:
    name, part, whole, sign = attack
    document = json.loads(_baseline())
    entry = document["slices"][0]
    entry["cases"]["a"]["fractions"][name] = [part, whole]
    entry.update({"sha256": checksum(entry)} if sign else {})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "baseline.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        try:
            read_baseline(path)
        except DataError:
            return ""
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            return f"raises {type(error).__name__}"
    return "read as if a run had measured it"


def _retrievers() -> Iterator[tuple[str, Any]]:
    hit = Hit(chunk=CHUNK, rank=1, score=1.0)
    for score in (np.nan, np.inf, -np.inf, None, "0.9", True):
        yield f"score {score!r}", [hit.with_(score=score)]
    for rank in (0, -1, 1.5, None, "1", True):
        yield f"rank {rank!r}", [hit.with_(rank=rank)]
    for given in (None, 7, "iron", b"iron", {}, hit, CHUNK, 0.5):
        yield f"{given!r}", given
    for item in (None, "iron", CHUNK, {"text": TRUE}, (hit, 1.0), ["iron"]):
        yield f"[{item!r}]", [item]
    yield "one rank twice", [hit, hit.with_(chunk=OTHER)]
    yield "a chunk twice under one rank", [hit, hit]
    yield "a chunk without a text", [hit.with_(chunk=CHUNK.with_(text=" "))]
    yield "a chunk that is a text", [hit.with_(chunk=TRUE)]


def _searched(attack: tuple[str, Any]) -> str:
    """Returns what a report says that was made of what a retriever gave; only an error is right."""
    _, given = attack
    try:
        hits = checked_hits(given, k=1, case="a")
        report = evaluate_case(
            CASE, as_response(TRUE, case_id="a", hits=hits), checker=ENTAILS, hits=hits, k=1
        )
    except MedfaithError:
        return ""
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return f"raises {type(error).__name__}"
    return f"recall {report.metrics.get('recall@k')} of {len(report.response.contexts)} contexts"


def _rankings() -> list[tuple[str, list[Hit], float]]:
    """Returns rankings in odd orders, with the recall at 1 that is right for each."""
    first, second = Hit(chunk=CHUNK, rank=1, score=1.0), Hit(chunk=OTHER, rank=2, score=0.5)
    return [
        ("too few", [], 0.0),
        ("too many", [first.with_(chunk=OTHER), second.with_(chunk=CHUNK)], 0.0),
        (
            "a hundred for one",
            [second.with_(rank=rank, chunk=OTHER.with_(id=f"o{rank}")) for rank in range(1, 100)]
            + [first.with_(rank=100)],
            0.0,
        ),
        ("the worst first", [second, first], 1.0),
        ("the right chunk again and again", [first.with_(rank=rank) for rank in range(1, 6)], 1.0),
        (
            "another chunk again and again",
            [second.with_(rank=rank) for rank in range(1, 6)] + [first.with_(rank=6)],
            0.0,
        ),
    ]


def _credited(attack: tuple[str, list[Hit], float]) -> str:
    _, found, right = attack
    hits = checked_hits(found, k=1, case="a")
    report = evaluate_case(CASE, as_response(TRUE, case_id="a", hits=hits), checker=ENTAILS, hits=found, k=1)
    supported = any(verdict.label == "supported" for verdict in report.verdicts)
    wrong = [f"recall {report.metrics['recall@k']}, expected {right}"] * (report.metrics["recall@k"] != right)
    wrong += [f"{len(report.response.contexts)} contexts for k=1"] * (len(report.response.contexts) > 1)
    return ", ".join(wrong + ["supported without a context"] * (supported and not hits))


@cache
def _cut_short() -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        call = [sys.executable, str(Path(__file__).with_name("interrupted.py")), folder, str(SEED), "2"]
        done = subprocess.run(call, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)  # type: ignore[no-any-return]


KINDS = (
    Kind(
        "content behind a refusal or small talk",
        "a claim that holds the content, never an abstention",
        _covered,
        _hidden,
    ),
    Kind(
        "yes or no beside a true sentence",
        "a claim that holds what was asked",
        _bare,
        _swallowed,
    ),
    Kind("yes or no to a question that asks for more", "no assertion passes", _open, _agreed),
    Kind("quotations taken back", "the quotation alone supports nothing", _quoted, _supported),
    Kind("gate text", "a gate that can fail, or an error of the package", _gates, _gate),
    Kind(
        "scripts, look-alike letters, long claims",
        "judged or unscored, never supported unread",
        _strange,
        _unjudged,
    ),
    Kind(
        "empty and near-empty",
        "no assertion passes",
        _empty,
        lambda attack: _passes(*attack, containment_checker()),
    ),
    Kind(
        "renamed keys of responses",
        "an error, the contexts are read, or no assertion passes",
        _renamed,
        _lost,
    ),
    Kind(
        "checkers that return nonsense",
        "no assertion passes, and the error is the package's",
        lambda: list(_broken()),
        _nonsense,
    ),
    Kind("baselines edited by hand", "an error of the package", _edits, _edited),
    Kind("retrievers that return nonsense", "an error of the case", lambda: list(_retrievers()), _searched),
    Kind("rankings in odd orders", "credit for the first k alone", _rankings, _credited),
    Kind("retrieval alone, retrieved contexts, ablations", "never green", tries, green),
    Kind("files that are broken", "an error of the package", reading, read_wrongly),
    Kind(
        "places that cannot be written",
        "an error of the package, and nothing left there",
        writing,
        written_wrongly,
    ),
    Kind(
        "runs cut short",
        "all or nothing is written, and no green of less",
        lambda: list(_cut_short()),
        lambda attack: _cut_short()[attack],
    ),
)
