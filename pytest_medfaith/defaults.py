"""The default of each setting, with its reason beside it.

Settings, functions and commands read their defaults here, so that none is written twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

CHECKER = "default"  # the shipped checker
ENCODER = "default"  # the shipped encoder
BATCH_SIZE = 16  # pairs or texts that a model of torch reads at a time: more gains little on a CPU
CLAIM_MIN_WORDS = 0  # leaves no claim out
EXTRACTOR = "default"  # the shipped rules that split answers into claims
LINKER = "default"  # the shipped table of concepts
# Which text a classifier by name reads first. Premise before hypothesis is the order of NLI.
PairOrder = Literal["evidence-claim", "claim-evidence"]
PAIR_ORDER: Final = "evidence-claim"

RETRIEVER = "rrf"  # BM25 finds exact names and doses, dense retrieval other words for them
# Ten passages fit a small model's context; the field's papers report k = 5, 10 and 20.
K = 10
# Robertson's and Lucene's 1.2 / 0.75 suit long web pages; 0.9 / 0.4 is Anserini's default for short passages.
K1 = 0.9
B = 0.4
# Cormack, Clarke and Buettcher (SIGIR 2009) use 60; the design asks for 100, which trusts the very top a
# little less.
RRF_K = 100
FUSED = ("bm25", "dense")  # what `rrf` and `weighted` fuse
# Candidates that fusion takes of each retriever: a chunk below the cut of both may be above it fused.
POOL = 100
# Title and section path before the text: on the samples nDCG@10 of rrf rises from 0.666 to 0.736 (42
# questions) and from 0.829 to 0.850 (28) against the title alone.
ChunkContext = Literal["path", "title", "none"]
CHUNK_CONTEXT: Final = "path"
CUT_FROM = "cut_from"  # in `extra` of a chunk that was cut anew: the chunk with which it shares the most text
DENSE_WEIGHT = 0.7  # of `weighted-0.7-0.3`
RERANK_POOL = 20  # candidates that a reranker reads
STORE_TIMEOUT = (
    10.0  # seconds for a request to a store: a search takes milliseconds, a batch of rows a second
)
STORE_RETRIES = 3  # after the first try: with their pauses they outlast a server's restart of a second or two
# Here rank-bm25 takes a question some 259 times as long as bm25s (bench/lexical.py).
FAST_BM25_FROM = 20_000

INDEX = "flat"  # exact search: no other index finds more
EF_SEARCH = 256  # finds 0.91 of the 100 best of 30,000 synthetic vectors in 2.1 ms, 128 finds 0.81 in 1.2
NPROBE = 32  # lists that are searched, of some 1,500 for 135,000 chunks

# How many texts are kept with what was read in them, in each of some 40 caches. They save that the same
# passages are read anew for each claim of an answer, and fill up within some hundred answers, to 30 MB in all
# where sentences are short. A server, and a worker of a cluster, run for days on texts that never come again.
TEXTS_KEPT = 2_048  # sentences
PASSAGES_KEPT = 512  # whole passages, and pairs of a claim and a passage
WORDS_KEPT = 8_192

CACHE = ".medfaith_cache"  # a folder: the dense indexes, and the scores of pairs
PAIR_SCORES = "pairs.sqlite"  # in that folder
BASELINE = "medfaith-baseline.json"
CALIBRATION = "medfaith-calibration.json"
CALIBRATION_METHOD: Final = "temperature"  # isotonic curves need 1,000 rows and more

SEED = 0
RESAMPLES = 2000  # of a bootstrap
LEVEL = 0.95  # of intervals

TUNE_LIMIT = 60  # answers of a kind of planted error: intervals of about 7 points either way
AUDIT_LIMIT = 30  # claims of a kind: intervals of about 10 points either way, in tens of seconds
# Claims kept of one answer: as many as a reader can review in a minute, and more than most questions need.
GOLD_CLAIMS = 8

TEMPERATURES = (0.0, 0.8, 0.8)  # of a question's samples: the likeliest answer, and two that may vary

REVIEW_PAGE = "review.html"
REVIEW_CLAIMS = 120  # an afternoon, at a claim a minute
LABELS = "medfaith-labels.jsonl"

SIZE = 512  # tokens of a chunk: about what a BERT encoder reads at once
STRIDE = 128  # tokens that neighbouring chunks share: a quarter, as in the tokenizers library
CHARACTERS = 1000  # of a chunk that is cut by characters: the most, and the usual of such splitters
CHARACTER_STRIDE = 200
MIN_SENTENCES = 2
MAX_SENTENCES = 12
# From which similarity a chunk is a near-duplicate. One word changed in a chunk of 60 leaves a Jaccard
# similarity of three-word shingles of 0.9; COSINE_SIMILARITY is of embeddings.
MINHASH_SIMILARITY = 0.9
COSINE_SIMILARITY = 0.95

CASSETTE = "medfaith-llm.jsonl"  # beside the settings: it is committed, and CI replays it
LLM_TEMPERATURE = 0.0  # the likeliest answer; a judge that varies cannot be compared with a baseline
LLM_SAMPLES = 1  # of an item; each further one costs as much again
LLM_REPLY_TOKENS = 2048  # at most: a judgement has about 150, and a model that reasons needs room before it
LLM_CONCURRENCY = 4  # requests at a time: what a server on a single GPU answers without a queue
LLM_CURRENCY = "USD"  # in which most price lists are

RAG_SENTENCES = 4  # that the extractive answerer quotes at most: what a reader takes in, and a screen shows
# Of 35 sample questions whose draft is supported whole, 33 are answered; of 24 on matters outside the samples
# 2 are (bench/reference_rag.py).
RAG_THRESHOLD = 0.77


@dataclass(frozen=True, kw_only=True)
class RetrievalFields:
    """The settings of retrieval, shared by `Settings` and by what a retriever is built with.

    BM25 ranks by words, dense retrieval by vectors of an encoder; fusion joins the two rankings into one.

    Attributes:
        k1: parameter of BM25, 0 or more: how much a repeated word adds.
        b: parameter of BM25, 0 to 1: how much long texts are held back.
        rrf_k: the constant of reciprocal rank fusion, 1 or more.
        weights: {retriever: weight} for the fusion `weighted`; None for equal weights.
        fused: the retrievers that `rrf` and `weighted` fuse.
        pool: how many of the best chunks fusion takes of each retriever.
        rerank_pool: how many of the best chunks a reranker reads.
        store_timeout: seconds until a request to a vector store counts as failed.
        store_retries: how often a failed request to a store is repeated.
        chunk_context: what is read before the text of a chunk: its title and section path ("path"), its title
            ("title"), or nothing ("none").
        stop_words: words of a question that BM25 leaves out; "english" for the usual words.
        filters: conditions that a chunk must meet to be found, such as "year=2015-"; all must hold.
        encoders: names of the encoders of dense retrieval.
        dense_index: the kind of vector index, such as "flat" (exact) or "hnsw" (approximate).
        ef_search: how many neighbours a search of an hnsw index keeps in sight.
        nprobe: how many lists of vectors a search of an ivfpq index reads.
        cache: the folder where indexes and scores are kept.
        retriever_settings: {dotted name of a retriever of the project: its settings}.
    """

    k1: float = K1
    b: float = B
    rrf_k: int = RRF_K
    weights: Mapping[str, float] | None = None
    fused: tuple[str, ...] = FUSED
    pool: int = POOL
    rerank_pool: int = RERANK_POOL
    store_timeout: float = STORE_TIMEOUT
    store_retries: int = STORE_RETRIES
    chunk_context: ChunkContext = CHUNK_CONTEXT
    stop_words: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    encoders: tuple[str, ...] = (ENCODER,)
    dense_index: str = INDEX
    ef_search: int = EF_SEARCH
    nprobe: int = NPROBE
    cache: Path = Path(CACHE)
    retriever_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
