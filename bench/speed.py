"""How fast the shipped checker reads pairs beside usual models on the same CPU, and what an answer takes.

    python bench/speed.py [--lengths 64 128 256 512] [--rounds 5] [--skip-rivals]

The shipped student runs through this package's code, from texts to logits. The rivals are usual architectures
as transformers builds them, in torch and fp32, with random weights, since speed does not depend on weights;
their token ids are ready, unlike the student's. Another rival has the student's architecture, exported by
torch and quantised by onnxruntime, without this package's graph. It shows how much of the ratios the machine
makes.

All use every core and take turns; ratios are medians over rounds. The machine's peak is measured in the same
run: its best product of square matrices in fp32 (torch), int8 (onnxruntime) and, if the CPU has such
instructions, bf16 and int8 (torch). Needs the extra train, and an idle machine.
"""

import argparse
import dataclasses
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    RobertaConfig,
    RobertaForSequenceClassification,
)

from pytest_medfaith.checking import student
from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.english.sentences import sentence_spans
from pytest_medfaith.english.words import content_keys, content_words, read_tokens
from pytest_medfaith.jsonl import read_chunks
from pytest_medfaith.models.onnx import load_tokenizer, worker_count
from pytest_medfaith.models.shipped import FAST_CHECKER
from pytest_medfaith.records import Chunk, Claim
from pytest_medfaith.scoring import windows
from training.student import multiplies_bf16

REPO = Path(__file__).parents[1]
MINILM = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
CLAIM_TOKENS = 20
CLAIMS, CHUNKS, CHUNK_TOKENS = 10, 20, 500
BARS = {"deberta-v3-small": 20.0, "roberta-large": 80.0, "MiniLM-L6 fp32": 5.0}
PLAIN_EXPORT = "MiniLM-L6 plain int8"
PEAK_SIZE = 2048
Run = Callable[[int], None]  # reads its rows once; the argument is the round


def rivals() -> dict[str, torch.nn.Module]:
    """Returns {name: model in evaluation mode, with three labels}."""
    deberta = DebertaV2Config(
        vocab_size=128100,
        hidden_size=768,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=3072,
        type_vocab_size=0,
        relative_attention=True,
        max_relative_positions=-1,
        position_buckets=256,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        pos_att_type=["p2c", "c2p"],
        layer_norm_eps=1e-7,
        position_biased_input=False,
        num_labels=3,
    )
    roberta = RobertaConfig(
        vocab_size=50265,
        hidden_size=1024,
        num_hidden_layers=24,
        num_attention_heads=16,
        intermediate_size=4096,
        max_position_embeddings=514,
        type_vocab_size=1,
        num_labels=3,
    )
    return {
        "deberta-v3-small": DebertaV2ForSequenceClassification(deberta).eval(),
        "roberta-large": RobertaForSequenceClassification(roberta).eval(),
        "MiniLM-L6 fp32": BertForSequenceClassification(BertConfig(**MINILM, num_labels=3)).eval(),
    }


def words(count: int, generator: random.Random) -> str:
    """Returns `count` plain words, each a single token of the shipped vocabulary."""
    return " ".join(generator.choice(PLAIN) for _ in range(count))


PLAIN = (
    "the dose of iron was low in adults with heart disease "
    "and high blood pressure after two weeks while others had none"
).split()


def student_run(length: int, rows: int) -> Run:
    """Returns a function that has the shipped checker read `rows` new pairs of `length` tokens."""

    def run(number: int) -> None:
        generator = random.Random(f"{length}-{number}")
        pairs = [
            (words(length - 3 - CLAIM_TOKENS, generator), words(CLAIM_TOKENS, generator)) for _ in range(rows)
        ]
        student.score_with_student(FAST_CHECKER / "model.onnx", length, pairs)

    return run


def rival_run(model: torch.nn.Module, length: int, rows: int) -> Run:
    """Returns a function that has a torch model read a batch of `rows` rows of `length` tokens."""
    ids = torch.randint(1000, 20000, (rows, length))

    def run(_: int) -> None:
        with torch.inference_mode():
            model(input_ids=ids, attention_mask=torch.ones_like(ids))

    return run


def plain_export_run(length: int, rows: int) -> Run:
    """Returns a function that has the plainly exported student read `rows` rows of `length` tokens.

    Its architecture is the student's, exported by torch and quantised by onnxruntime.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    model = BertForSequenceClassification(
        BertConfig(**MINILM, num_labels=3, attn_implementation="eager")
    ).eval()
    names = ["input_ids", "attention_mask", "token_type_ids"]
    ids = torch.randint(1000, 20000, (rows, length))
    feed = dict(zip(names, (ids, torch.ones_like(ids), torch.zeros_like(ids)), strict=True))
    with tempfile.TemporaryDirectory() as folder:
        fp32, int8 = Path(folder) / "fp32.onnx", Path(folder) / "int8.onnx"
        torch.onnx.export(model, tuple(feed.values()), fp32, input_names=names, dynamo=False)
        quantize_dynamic(fp32, int8, weight_type=QuantType.QInt8, per_channel=True)
        session = _session(int8.read_bytes())
    wanted = {given.name for given in session.get_inputs()}
    values = {name: tensor.numpy() for name, tensor in feed.items() if name in wanted}

    def run(_: int) -> None:
        session.run(None, values)

    return run


def seconds(run: Callable[[], object]) -> float:
    """Returns the wall seconds that a call takes."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def rates(contestants: dict[str, tuple[Run, int]], *, rounds: int) -> dict[str, list[float]]:
    """Returns {contestant: pairs a second in each round}; contestants take turns, after a turn to warm up."""
    for run, _ in contestants.values():
        run(-1)
    found: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds):
        for name, (run, rows) in contestants.items():
            found[name].append(rows / seconds(partial(run, number)))
    return found


def operations(
    length: int, *, hidden_size: int, num_hidden_layers: int, intermediate_size: int, **_: int
) -> float:
    """Returns how many multiplications and additions the matrix products of a row of `length` tokens take."""
    products = 4 * hidden_size**2 + 2 * hidden_size * intermediate_size
    return 2.0 * num_hidden_layers * (length * products + 2 * length**2 * hidden_size)


def peaks(*, rounds: int) -> dict[str, float]:
    """Returns {kind: operations a second of the machine's best matrix product}, the best of `rounds` runs."""
    fp32 = torch.randn(PEAK_SIZE, PEAK_SIZE)
    bf16, int8 = fp32.bfloat16(), torch.randint(-64, 64, fp32.shape, dtype=torch.int8)
    session, feed = _int8_session()
    runs: dict[str, Callable[[], object]] = {
        "fp32 (torch)": lambda: torch.mm(fp32, fp32),
        "int8 (onnxruntime)": lambda: session.run(None, feed),
    }
    if multiplies_bf16("cpu"):
        runs["bf16 (torch)"] = lambda: torch.mm(bf16, bf16)
        # torch has no public name for it.
        runs["int8 (torch)"] = lambda: torch._int_mm(int8, int8)  # noqa: SLF001
    found = {}
    for name, run in runs.items():
        run()
        found[name] = 2.0 * PEAK_SIZE**3 / min(seconds(run) for _ in range(rounds))
    return found


def _int8_session():
    """Returns (session, inputs) of a product of int8 matrices in onnxruntime."""
    import onnx

    weights = np.random.default_rng(0).integers(-64, 64, (PEAK_SIZE, PEAK_SIZE), dtype=np.int8)
    shape = [PEAK_SIZE, PEAK_SIZE]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMulInteger", ["a", "b"], ["c"])],
        "peak",
        [onnx.helper.make_tensor_value_info("a", onnx.TensorProto.UINT8, shape)],
        [onnx.helper.make_tensor_value_info("c", onnx.TensorProto.INT32, shape)],
        [onnx.numpy_helper.from_array(weights, "b")],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    return _session(model.SerializeToString()), {"a": weights.astype(np.uint8)}


def _session(model: bytes) -> onnxruntime.InferenceSession:
    """Returns a session that uses every core."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = worker_count()
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def chunks_of_tokens(texts: Sequence[str], *, tokens: int, count: int) -> list[Chunk]:
    """Returns `count` chunks of `tokens` tokens each, cut from the joined `texts`.

    Raises:
        ValueError: the texts are too short.
    """
    whole = " ".join(texts)
    offsets = load_tokenizer().encode(whole, add_special_tokens=False).offsets
    spans = [offsets[i * tokens : (i + 1) * tokens] for i in range(count)]
    if len(spans[-1]) < tokens:
        raise ValueError(f"the texts hold {len(offsets)} tokens, expected {count * tokens}")
    return [Chunk(id=f"c{i}", text=whole[span[0][0] : span[-1][1]]) for i, span in enumerate(spans)]


def answer(number: int) -> tuple[list[Claim], list[Chunk]]:
    """Returns (claims, chunks) of round `number`: another part of the sample texts in each round."""
    texts = [chunk.text for chunk in read_chunks([REPO / "corpus_samples"])]
    start = number * 29 % len(texts)
    texts = texts[start:] + texts[:start]
    sentences = [
        text[a:b] for text in texts for a, b in sentence_spans(text) if 8 <= len(text[a:b].split()) <= 25
    ]
    claims = [
        Claim(id=f"k{i}", text=sentence)
        for i, sentence in enumerate(random.Random(number).sample(sentences, CLAIMS))
    ]
    return claims, chunks_of_tokens(texts, tokens=CHUNK_TOKENS, count=CHUNKS)


def forget_texts() -> None:
    """Empties the stores of what was read in texts before, so that a round starts as the first did."""
    for kept in (
        student._token_ids,  # noqa: SLF001
        windows.evidence_sentences,
        windows.evidence_windows,
        windows.word_weights,
        content_words,
        read_tokens,
        content_keys,
    ):
        kept.cache_clear()


def check_answers(*, rounds: int, corpus_kept: bool = False) -> tuple[list[float], list[float], list[int]]:
    """Returns three lists, a figure for each round.

    These are the seconds until every pair of claim and chunk is labelled, the seconds until every claim has
    its verdict, and the number of rows read. The model is loaded before. Nothing of the texts is cached; with
    `corpus_kept` the disk holds what a run on other answers kept of the chunks.
    """
    checker = load_checker()
    checker("Iron helps.", [Chunk(id="warm", text="Iron helps adults.")])
    labelled, judged, rows = [], [], []
    seen: list[int] = []
    score_texts = checker.score_texts
    checker = dataclasses.replace(
        checker, score_texts=lambda pairs: seen.append(len(pairs)) or score_texts(pairs)
    )
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            claims, chunks = answer(number)
            if corpus_kept:
                checker = dataclasses.replace(checker, cache=Path(folder) / f"{number}.sqlite")
                checker.score([(Claim(id="other", text="Iron helps."), chunk) for chunk in chunks])
            forget_texts()
            began = time.perf_counter()
            seen.clear()
            scores = checker.score([(claim, chunk) for claim in claims for chunk in chunks])
            labelled.append(time.perf_counter() - began)
            labelled_rows = sum(seen)
            for i, claim in enumerate(claims):
                checker.decide(claim, scores[i * CHUNKS : (i + 1) * CHUNKS], chunks)
            judged.append(time.perf_counter() - began)
            rows.append(labelled_rows)
    return labelled, judged, rows


def main() -> None:
    """Prints the time of an answer, the machine's peak, and the speed of all contestants at each length."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lengths", type=int, nargs="+", default=[64, 128, 256, 512])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--skip-rivals", action="store_true", help="the student and one answer alone")
    arguments = parser.parse_args()
    torch.set_num_threads(worker_count())
    loadavg = Path("/proc/loadavg")
    print(f"{worker_count()} cores, load {loadavg.read_text().split()[0] if loadavg.exists() else '?'}")
    for kept in (False, True):
        labelled, judged, rows = check_answers(rounds=arguments.rounds, corpus_kept=kept)
        print(
            f"one answer, {CLAIMS} claims x {CHUNKS} chunks of {CHUNK_TOKENS} tokens"
            f"{', these read before' if kept else ''}: every pair labelled in "
            f"{statistics.median(labelled):.2f} s ({min(labelled):.2f} to {max(labelled):.2f}), "
            f"verdicts after {statistics.median(judged):.2f} s; "
            f"{min(rows)} to {max(rows)} rows"
        )
    peak = peaks(rounds=arguments.rounds)
    print(
        "measured peak: " + ", ".join(f"{name} {value / 1e9:.0f} Gop/s" for name, value in peak.items()),
        flush=True,
    )
    models = {} if arguments.skip_rivals else rivals()
    for length in arguments.lengths:
        contestants = {"student": (student_run(length, 32), 32)}
        contestants |= {name: (rival_run(model, length, 4), 4) for name, model in models.items()}
        if models:
            contestants[PLAIN_EXPORT] = (plain_export_run(length, 4), 4)
        found = rates(contestants, rounds=arguments.rounds)
        of_student = statistics.median(found["student"])
        work = of_student * operations(length, **MINILM)
        shares = ", ".join(f"{work / value:.0%} of {name}" for name, value in peak.items())
        print(
            f"{length} tokens: student {of_student:.1f} pairs/s, {work / 1e9:.0f} Gop/s: {shares}", flush=True
        )
        for name in list(found)[1:]:
            ratio = statistics.median(
                student_rate / rate for student_rate, rate in zip(found["student"], found[name], strict=True)
            )
            bar = f" (bar {BARS[name]:g})" if name in BARS else ""
            pairs = f"{statistics.median(found[name]):.2f} pairs/s"
            print(f"  {name}: {pairs}, the student is {ratio:.1f} times as fast{bar}")


if __name__ == "__main__":
    main()
