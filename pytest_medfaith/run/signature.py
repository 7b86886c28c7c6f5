"""The signature of a run: all that decides its numbers. Only runs of equal signatures are compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pytest_medfaith import defaults
from pytest_medfaith.errors import DataError
from pytest_medfaith.gates.matching import PROCESSOR
from pytest_medfaith.models.onnx import processor_kernel
from pytest_medfaith.records import SliceRun
from pytest_medfaith.scoring.similarity import encoder_signature
from pytest_medfaith.teacher.settings import TEACHER, asking_signature

if TYPE_CHECKING:
    from pytest_medfaith.checking.checker import Checker
    from pytest_medfaith.config import SliceSettings
    from pytest_medfaith.run.collected import Collected
    from pytest_medfaith.run.resources import Resources


# What the retriever is asked for the contexts of a mode.
_QUERIES = {"retrieved": "the question", "per-claim": "each claim with its context", "none": "the question"}


def run_signature(resources: Resources, collected: Collected, runs: Iterable[SliceRun]) -> dict[str, Any]:
    """Returns all that decides the numbers of some rows: checkers, corpora, retrievers, rules, seed.

    A checker that a test put in place of the configured one is known only once a report of it came in.

    Args:
        resources: of the run.
        collected: what came in so far, which tells configured checkers from those that tests brought.
        runs: the rows.
    """
    from importlib.metadata import version

    from pytest_medfaith.retrieval.index import corpus_hash
    from pytest_medfaith.retrieval.signature import encoder_signatures

    runs, settings, brought = list(runs), resources.settings, collected.brought_checkers
    retrieval = resources.retrieval
    named = {run.checker for run in runs}
    configured = {
        name: checker_signature(resources.checker(name))
        for name in sorted(named & collected.configured_checkers())
    }
    slices = [settings.slices[name] for name in sorted({run.slice for run in runs} & settings.slices.keys())]
    encoders = {name: encoder_signatures(name, retrieval) for name in sorted({run.retriever for run in runs})}
    return {
        "version": version("pytest-medfaith"),
        "checkers": configured | {name: brought[name] for name in sorted(named & brought.keys())},
        "corpora": {one.name: corpus_hash(resources.chunks(one)) for one in slices if one.corpus},
        "retrievers": _retrievers(resources, runs),
        "encoders": {name: signatures for name, signatures in encoders.items() if signatures},
        "safety": resources.rulebook.signature,
        **severity_signature(resources),
        "seed": resources.seed,
        PROCESSOR: processor_kernel(),
        **extractor_signature(resources),
        **relevancy_signature(resources),
        **({"risk": dataclasses.asdict(settings.risk)} if settings.risk else {}),
        **({"temperatures": list(resources.temperatures)} if resources.temperatures else {}),
        **_answers_signature(collected, runs, slices),
    }


def _answers_signature(
    collected: Collected, runs: Iterable[SliceRun], slices: Iterable[SliceSettings]
) -> dict[str, Any]:
    """Returns how answers were made and judged, by slice; {} where all of it is the default.

    Under "contexts" are the contexts mode, where it is not "recorded", and the retrievers whose hits were
    judged together. Under "reference_rag" is what decides the answers of the reference RAG, so that they are
    not compared with those of another RAG. Under "history" is what earlier turns are.
    """
    contexts: dict[str, Any] = {}
    for run in runs:
        if run.contexts_mode != "recorded":
            told = {"query": _QUERIES[run.contexts_mode], "pool": collected.compared_retrievers(run)}
            contexts.setdefault(run.slice, {})[run.contexts_mode] = told
    rags = {run.slice: names for run in runs if (names := collected.reference_rags(run))}
    history = {one.name: one.history for one in slices if one.history != "context"}
    found = {"contexts": contexts, "reference_rag": rags, "history": history}
    return {name: by_slice for name, by_slice in found.items() if by_slice}


def _retrievers(resources: Resources, runs: Iterable[SliceRun]) -> dict[str, dict[str, Any]]:
    """Returns {slice: {retriever: what decides its hits}}."""
    from pytest_medfaith.retrieval.index import corpus_hash
    from pytest_medfaith.retrieval.signature import retriever_signature

    found: dict[str, dict[str, Any]] = {}
    for run in sorted(runs):
        configured = resources.settings.slices.get(run.slice)
        if configured and resources.can_retrieve(dataclasses.replace(configured, retriever=run.retriever)):
            chunks = resources.read_chunks(configured, run.retriever) if configured.corpus else []
            held = retriever_signature(run.retriever, resources.retrieval, size=len(chunks))
            if "chunk_context" in held:
                held["read"] = corpus_hash(chunks)
            found.setdefault(run.slice, {})[run.retriever] = held
    return found


def extractor_signature(resources: Resources) -> dict[str, str]:
    """Returns what decides the claims beside the shipped rules: teacher, student, limits; {} for none."""
    settings, told = resources.settings, dict[str, str]()
    if settings.extractor == TEACHER:
        from pytest_medfaith.claims.teacher import extractor_signature as signature

        told["extractor"] = signature(settings.llm)
    elif settings.extractor != defaults.EXTRACTOR:
        told["extractor"] = resources.student_extractor[1]
    if settings.claim_min_words > 0 or settings.max_claims is not None:
        told["claim_limits"] = f"min_words={settings.claim_min_words}|most={settings.max_claims}"
    return told


def severity_signature(resources: Resources) -> dict[str, str]:
    """Returns a digest of the project's rules of severity; {} where there are none.

    The version of the package covers the shipped rules.
    """
    return {"severity": resources.severity.signature} if resources.settings.severity else {}


def relevancy_signature(resources: Resources) -> dict[str, str]:
    """Returns what decides the answer relevancy; {} where it is not measured."""
    mode = resources.settings.relevancy
    if mode != TEACHER:
        return {} if mode == "off" else {"relevancy": mode}
    from pytest_medfaith.teacher.questioning import QUESTION_PROMPT

    return {"relevancy": asking_signature(resources.settings.llm, QUESTION_PROMPT)}


def checker_signature(checker: Checker) -> dict[str, Any]:
    """Returns all of a checker that decides its verdicts, as plain values: weights, thresholds, rules."""
    return {
        "weights": checker.signature,
        "encoder": encoder_signature(),  # it decides which texts of contexts are read
        "entail": checker.thresholds.entail,
        "contradict": checker.thresholds.contradict,
        "odds": checker.thresholds.odds,
        "temperature": checker.temperature,
        "isotonic": checker.isotonic.signature if checker.isotonic else None,
        "rules": checker.rule_signatures,
        "linker": checker.linker,
        **({"selective": dataclasses.asdict(checker.selective)} if checker.selective else {}),
    }


def brought_signature(resources: Resources, checker: Checker, *, configured: str) -> dict[str, Any] | None:
    """Returns the signature of a checker that a test put in place of the configured one; None where none was.

    Args:
        resources: of the run.
        checker: judged the test's case.
        configured: the name of the configured checker.

    Raises:
        DataError: a different checker has the configured checker's name.
    """
    if checker.name != configured:
        return checker_signature(checker)
    known = resources.checker(configured)
    if checker is not known and checker_signature(checker) != checker_signature(known):
        raise DataError(
            f"the fixture medfaith_checker gives a checker of its own that is called {configured!r} as the "
            "configured one; baselines and cards tell checkers apart by name, so give it another: "
            "dataclasses.replace(checker, name=...)"
        )
    return None
