"""False alarms and catches of each medical rule, on pairs with known labels.

    python bench/rules.py [--held-out] [--data DIR] [--evidence sentence|window|chunk]
                          [--show RULE [--label entail]]
    python bench/rules.py --anchors --data DIR [--found FILE] [--limit N] [--show amounts [--label entail]]

The pairs are data/silver (evidence and claims written by a large language model; entailed claims are
paraphrases, computed values and applied thresholds) and the sentences of fixtures/labels that the corpus
supports, each with its evidence chunks. The rules were fitted on the development part; --held-out takes the
fifth of the items whose crc32(id) is divisible by 5. --data adds published sets, written and labelled by
people, to which no rule was fitted.

--anchors measures grounding in place of rules. An anchor is a part of a claim that its evidence must hold,
such as a number, a name or a route. Printed is, by kind of anchor, how many claims of each label have one
that their evidence lacks. The checker uses grounding only on claims that the model supports, so these are
upper bounds. The sentence that decides is chosen by words alone.
"""

import argparse
import random
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from checker_quality import SETS
from scipy.stats import binomtest

from pytest_medfaith.checking.grounding import READERS, evidence_read
from pytest_medfaith.checking.rules import RULES, Rule, apply_rules
from pytest_medfaith.jsonl import read_chunks, read_rows
from pytest_medfaith.records import Finding
from pytest_medfaith.safety.findings import safety_findings
from pytest_medfaith.scoring.reading import best_sentence, window_around
from pytest_medfaith.scoring.similarity import Vectors
from pytest_medfaith.scoring.windows import evidence_sentences, shared_words

REPO = Path(__file__).parents[1]
VECTORS = Vectors()
HELD_OUT_ONE_IN = 5
LABELS = ("entail", "neutral", "contradict")
ANCHORED = (
    "written",
    "published",
    "answers",
    "kqa",
    "responses",
    "scifact",
    "check_covid_sentences",
    "healthver",
)
PUBLISHED = ("healthver", "check_covid", "scifact", "nli4ct")


@dataclass(frozen=True)
class Pair:
    """A claim with evidence and its label.

    Attributes:
        claim: the statement.
        evidence: what the rules read.
        context: the whole text that the evidence is of.
        label: entail, neutral or contradict.
        kind: of claim or change, for the counts.
    """

    claim: str
    evidence: str
    context: str
    label: str
    kind: str


@dataclass
class Count:
    """What a rule did on some pairs.

    Attributes:
        fired: {label: pairs on which it found something}.
        caught: {kind: contradicted pairs on which it did}.
        refuted: {label: pairs that it would refute}.
        seconds: how long it took.
    """

    fired: Counter = field(default_factory=Counter)
    caught: Counter = field(default_factory=Counter)
    refuted: Counter = field(default_factory=Counter)
    seconds: float = 0.0


def evidence_of(claim: str, text: str, choice: str) -> str:
    """Returns what the rules read of a text: its best sentence, the window around that, or all of it."""
    if choice == "chunk":
        return text
    VECTORS.add([claim, *(sentence.text for sentence in evidence_sentences(text))])
    sentence = best_sentence(claim, text, cosine=partial(VECTORS.cosine, claim))
    return sentence.text if choice == "sentence" else window_around(sentence, claim, of=text).text


def written(choice: str, *, held_out: bool) -> Iterator[Pair]:
    """Yields the LLM-written pairs of the development part, or of the held-out part."""
    for path in sorted((REPO / "data" / "silver").glob("*.jsonl")):
        for _, item in read_rows(path):
            if (zlib.crc32(item["id"].encode()) % HELD_OUT_ONE_IN == 0) == held_out:
                for claim in item["claims"]:
                    for key, label in (("evidence", "label"), ("alt_evidence", "alt_label")):
                        text = evidence_of(claim["text"], item[key], choice)
                        yield Pair(claim["text"], text, item[key], claim[label], claim["kind"])


def labelled(choice: str, *, held_out: bool) -> Iterator[Pair]:
    """Yields labelled sentences of the recorded responses, each with the chunks that support or refute it."""
    chunks = {chunk.id: chunk.text for chunk in read_chunks([REPO / "corpus_samples"])}
    for path in sorted((REPO / "fixtures" / "labels").glob("*.jsonl")):
        for _, row in read_rows(path):
            if (zlib.crc32(row["case_id"].encode()) % HELD_OUT_ONE_IN == 0) == held_out:
                for sentence in row["sentences"]:
                    if sentence["label"] in ("supported", "refuted"):
                        text = "\n".join(
                            evidence_of(sentence["text"], chunks[id_], choice) for id_ in sentence["evidence"]
                        )
                        context = "\n".join(chunks[id_] for id_ in sentence["evidence"])
                        label = "entail" if sentence["label"] == "supported" else "contradict"
                        yield Pair(sentence["text"], text, context, label, sentence["change"] or "supported")


def published(name: str, data: Path, choice: str) -> Iterator[Pair]:
    """Yields the pairs of a published set."""
    for claim, texts, label in SETS[name](data):
        text = "\n".join(texts)
        yield Pair(claim, evidence_of(claim, text, choice), text, label, name)


def safety(claim: str, _evidence: str) -> list[Finding]:
    """Returns what the safety rules find in a claim; the evidence is not read."""
    return safety_findings(claim)


def findings(name: str, rule: Rule, pair: Pair) -> list[Finding]:
    """Returns what a rule finds in the checker: the evidence can accuse, the rest of the chunk can excuse."""
    return apply_rules(pair.claim, pair.evidence, context=pair.context, rules={name: rule})


def count(pairs: list[Pair], rules: Mapping[str, Rule]) -> dict[str, Count]:
    """Returns {rule: what it did on the pairs}."""
    counts = {name: Count() for name in rules}
    for name, rule in rules.items():
        began = time.perf_counter()
        for pair in pairs:
            found = findings(name, rule, pair)
            if found:
                counts[name].fired[pair.label] += 1
                counts[name].caught[pair.kind] += pair.label == "contradict"
                counts[name].refuted[pair.label] += any(finding.effect == "refute" for finding in found)
        counts[name].seconds = time.perf_counter() - began
    return counts


def rate(fired: int, total: int) -> str:
    """Returns "3/100 = 3.00% [1.03%, 8.45%]" with Wilson's interval; "-" for a total of 0."""
    if not total:
        return "-"
    interval = binomtest(fired, total).proportion_ci(method="wilson")
    return f"{fired}/{total} = {fired / total:.2%} [{interval.low:.2%}, {interval.high:.2%}]"


def report(title: str, pairs: list[Pair], rules: Mapping[str, Rule]) -> None:
    """Prints what each rule did on some pairs."""
    totals = Counter(pair.label for pair in pairs)
    print(f"\n{title}: " + ", ".join(f"{totals[label]} {label}" for label in LABELS))
    for name, counted in count(pairs, rules).items():
        entail, contradict = counted.fired["entail"], counted.fired["contradict"]
        precision = f"{contradict / (contradict + entail):.3f}" if contradict + entail else "-"
        print(
            f"  {name}: false alarms {rate(entail, totals['entail'])}, "
            f"of them refuting {counted.refuted['entail']}; "
            f"caught {rate(contradict, totals['contradict'])}; "
            f"on neutral {counted.fired['neutral']} (refuting {counted.refuted['neutral']}); "
            f"precision {precision}; {1e6 * counted.seconds / max(1, len(pairs)):.0f} us a pair"
        )
        kinds = ", ".join(f"{kind} {number}" for kind, number in counted.caught.most_common(6) if number)
        if kinds:
            print(f"    caught by kind: {kinds}")


def show(name: str, rule: Rule, pairs: list[Pair], label: str) -> None:
    """Prints what a rule found on pairs with this label."""
    for pair in pairs:
        for finding in findings(name, rule, pair) if pair.label == label else ():
            print(f"- {finding.message} ({finding.effect})")
            print(f"    claim: {pair.claim}\n    evidence: {pair.evidence}")


def anchored(name: str, arguments: argparse.Namespace) -> Iterator[tuple[str, list[str], str]]:
    """Yields (claim, texts, label) of a set: one of ANCHORED, `--found` or tests/data/anchors."""
    if name == "found":
        rows = [row for _, row in read_rows(arguments.found)] if arguments.found else []
    elif name == "cases":
        paths = sorted((REPO / "tests" / "data" / "anchors").glob("*.jsonl"))
        rows = [row for path in paths for _, row in read_rows(path)]
    else:
        yield from SETS[name](arguments.data)
        return
    for row in rows:
        evidence = row["evidence"]
        yield row["claim"], [evidence] if isinstance(evidence, str) else evidence, row["label"]


def anchors_of(claim: str, texts: list[str]) -> dict[str, list[str]]:
    """Returns {kind of anchor: messages about anchors of the claim that the texts lack}."""
    sentences = [sentence.text for text in texts for sentence in evidence_sentences(text)]
    nearest = max(sentences, key=lambda sentence: shared_words(claim, sentence))
    read = evidence_read(claim, texts, nearest=nearest)
    found = {
        reader.__name__.removeprefix("missing_"): [
            anchor.finding(claim, nearest).message for anchor in reader(claim, read)
        ]
        for reader in READERS
    }
    return {kind: messages for kind, messages in found.items() if messages}


def report_anchors(arguments: argparse.Namespace) -> None:
    """Prints, by set and kind of anchor, how many claims of each label have an anchor that is missing."""
    for name in (*ANCHORED, "found", "cases"):
        rows = [row for row in anchored(name, arguments) if any(text.strip() for text in row[1])]
        rows = random.Random(0).sample(rows, min(arguments.limit or len(rows), len(rows)))
        totals = Counter(label for *_, label in rows)
        fired: Counter = Counter()
        for claim, texts, label in rows:
            found = anchors_of(claim, texts)
            fired.update([("any", label)] if found else [])
            fired.update((kind, label) for kind in found)
            if arguments.show in found and label == arguments.label:
                evidence = " / ".join(texts)[:2000]
                print(f"- {found[arguments.show]}\n    claim: {claim}\n    evidence: {evidence}")
        print(f"\n{name}: " + ", ".join(f"{totals[label]} {label}" for label in LABELS))
        for kind in ("any", *(reader.__name__.removeprefix("missing_") for reader in READERS)):
            if any(fired[kind, label] for label in LABELS):
                shares = "; ".join(f"{label} {rate(fired[kind, label], totals[label])}" for label in LABELS)
                print(f"  {kind}: {shares}")


def main() -> None:
    """Prints the report on rules, or with --anchors on grounding."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--data", type=Path, help="the folder of the published sets")
    parser.add_argument(
        "--evidence",
        choices=("sentence", "window", "chunk"),
        default="sentence",
        help="what the rules read; the checker gives them the best sentence",
    )
    parser.add_argument("--anchors", action="store_true", help="measure grounding, by kind of anchor")
    parser.add_argument("--found", type=Path, help="with --anchors: JSON Lines of claim, evidence and label")
    parser.add_argument(
        "--limit", type=int, help="with --anchors: at most so many rows of each set, drawn by a fixed seed"
    )
    kinds = (reader.__name__.removeprefix("missing_") for reader in READERS)
    parser.add_argument(
        "--show", choices=(*RULES, "safety", *kinds), help="print what this rule or kind fired on"
    )
    parser.add_argument(
        "--label", choices=LABELS, default="entail", help="with --show: on pairs of this label"
    )
    arguments = parser.parse_args()
    if arguments.anchors:
        report_anchors(arguments)
        return
    rules = {**RULES, "safety": safety}
    pairs = list(written(arguments.evidence, held_out=arguments.held_out))
    responses = list(labelled(arguments.evidence, held_out=arguments.held_out))
    sets = (
        {name: list(published(name, arguments.data, arguments.evidence)) for name in PUBLISHED}
        if arguments.data
        else {}
    )
    if arguments.show:
        every_pair = [*pairs, *responses, *(pair for rows in sets.values() for pair in rows)]
        show(arguments.show, rules[arguments.show], every_pair, arguments.label)
        return
    part = "held-out" if arguments.held_out else "development"
    report(f"written pairs, {part} part, evidence: best {arguments.evidence}", pairs, rules)
    report(f"labelled sentences of responses, {part} part", responses, rules)
    for name, rows in sets.items():
        report(f"{name}, evidence: best {arguments.evidence}", rows, rules)


if __name__ == "__main__":
    main()
