"""Loads a checker by its name: shipped, in a folder, of the project, or a Hugging Face classifier."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_medfaith import defaults
from pytest_medfaith.checking.card import ModelCard, read_card, tokenizer_of
from pytest_medfaith.checking.cascade import Cascade
from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.checking.policy import Thresholds
from pytest_medfaith.checking.rules import load_rules, switched_on
from pytest_medfaith.checking.student import score_with_student
from pytest_medfaith.checking.variant import split_linker
from pytest_medfaith.defaults import PairOrder
from pytest_medfaith.dotted import load_dotted
from pytest_medfaith.entities.scispacy import load_linker
from pytest_medfaith.errors import DataError
from pytest_medfaith.models.folders import model_signature
from pytest_medfaith.models.onnx import weights_signature
from pytest_medfaith.models.shipped import FAST_CHECKER, default_weights
from pytest_medfaith.scoring.similarity import encoder_signature
from pytest_medfaith.teacher.settings import TEACHER

if TYPE_CHECKING:
    from pytest_medfaith.teacher.asking import Teacher

_DOTTED = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")  # as in "my_pkg.judge:judge"; a hub name has no colon


class Reading(NamedTuple):
    """How a foreign model (a Hugging Face classifier) is read.

    Attributes:
        label_map: {label: meaning}, see `label_columns`; None where its config says it.
        order: whether it reads the evidence or the claim first.
        max_tokens: the most tokens of a pair.
    """

    label_map: Mapping[str, str] | None
    order: PairOrder
    max_tokens: int


def load_checker(
    name: str = defaults.CHECKER,
    *,
    label_map: Mapping[str, str] | None = None,
    order: PairOrder = defaults.PAIR_ORDER,
    thresholds: Thresholds | None = None,
    cache: Path | None = None,
    max_tokens: int = 512,
    rules: Collection[str] = (),
    rules_off: Collection[str] = (),
    linker: str = defaults.LINKER,
    root: Path | None = None,
    teacher: Teacher | None = None,
) -> Checker:
    """Returns the checker called `name`: "default" is the strong model, "fast" the small shipped model.

    A name may have its linker: "fast[linker=none]". No rule overrules a callable of the project.

    Args:
        name: "default", "fast", "teacher", a folder, a dotted name ("my_pkg.judge:judge"), or a hub name.
        label_map: what labels of a foreign (Hugging Face) model mean, where its config does not say.
        order: which text a foreign model reads first.
        thresholds: replace those of the model card, or the 0.5 of a foreign model.
        cache: the SQLite file of kept logits; None for none.
        max_tokens: the most tokens that a foreign model reads of a pair.
        rules: dotted names of the project's rules, beside the shipped rules.
        rules_off: medical rules that may not overrule the model; safety rules change nothing here.
        linker: "default", "none", or "scispacy[:MODEL[:KNOWLEDGE_BASE]]" (extra: bio).
        root: where relative folders begin; the working directory where None.
        teacher: the LLM that "teacher" asks.

    Raises:
        DataError: an unknown checker or rule, missing weights or files, a model without usable labels.
        MissingExtra: a foreign model, and transformers is not installed.
        TeacherError: "teacher", and `teacher` is None.
    """
    names = switched_on(added := load_rules(rules), off=rules_off)
    base, own = split_linker(name)
    load_linker(linker := own or linker)  # an unknown linker is said now, not at the first claim
    if not (folder := None if base == TEACHER else onnx_folder(base, root=root)) and _DOTTED.fullmatch(base):
        return _project_checker(name, thresholds)
    checker = _named_checker(base, folder, root, Reading(label_map, order, max_tokens), teacher)
    checker = dataclasses.replace(checker, cache=cache, rules=names, added_rules=added, linker=linker)
    called, decides = name if own else checker.name, thresholds or checker.thresholds
    return dataclasses.replace(checker, name=called, thresholds=decides)


def _named_checker(
    name: str, folder: Path | None, root: Path | None, foreign: Reading, teacher: Teacher | None
) -> Checker:
    """Returns the teacher, the ONNX model in `folder`, or else the Hugging Face classifier `name`."""
    if name == TEACHER:
        return _taught_checker(teacher)
    return _onnx_checker(name, folder) if folder else _classifier(name, root, foreign)


def _taught_checker(teacher: Teacher | None) -> Checker:
    """Returns a checker that asks the teacher, an LLM."""
    from pytest_medfaith.checking.teacher import teacher_checker

    return teacher_checker(teacher)


def _project_checker(name: str, thresholds: Thresholds | None) -> Checker:
    """Returns the callable or checker at a dotted name. Cache, rules and linker are left to the project.

    Raises:
        DataError: the name has a linker, leads nowhere, or leads to something that is no checker.
    """
    from pytest_medfaith.checking.judge import as_checker

    base, linker = split_linker(name)
    if linker:
        raise DataError(
            f"the checker {name!r} is a callable of the project, and no rule uses a linker on its verdicts; "
            f"expected its name without a linker, {base!r}"
        )
    checker = as_checker(load_dotted(name, what="the checker"), name=name)
    return dataclasses.replace(checker, name=name, thresholds=thresholds or checker.thresholds)


def onnx_folder(name: str, *, root: Path | None = None) -> Path | None:
    """Returns the folder of a shipped checker or of an ONNX model; None for any other name.

    Raises:
        DataError: the shipped weights are not installed, or the folder lacks the card or the weights.
    """
    if name == defaults.CHECKER:
        return default_weights()
    if name == "fast":
        return FAST_CHECKER
    folder = (root or Path()) / name
    parts = [part for part in ("card.json", "model.onnx") if (folder / part).is_file()]
    if len(parts) == 1 and not _is_classifier(folder, parts[0]):
        raise DataError(
            f"the checker folder {folder} holds {parts[0]} alone; expected card.json, model.onnx and "
            "tokenizer.json"
        )
    return folder if len(parts) == 2 else None


def _is_classifier(folder: Path, part: str) -> bool:
    """Returns whether a folder with `part` of a student is a model of transformers instead.

    Args:
        folder: a folder with one of the files card.json and model.onnx.
        part: the name of that file.
    """
    weights = part == "card.json" or any(folder.glob("*.safetensors"))
    return weights and (folder / "config.json").is_file()


def _onnx_checker(name: str, folder: Path) -> Checker:
    """Returns a checker with the ONNX model, the card and the tokenizer in `folder`."""
    card, model = read_card(folder), folder / "model.onnx"
    fast = _onnx_checker("fast", FAST_CHECKER) if card.cascade else None
    scorer = partial(score_with_student, model, card.max_tokens, tokenizer=tokenizer_of(folder))
    return Checker(
        name,
        _signature(model, card, fast),
        scorer,
        card.thresholds,
        temperature=card.temperature,
        similarity=card.similarity,
        reading=card.reading,
        latin_only=card.latin_only,
        fast=fast,
        cascade=card.cascade or Cascade(),
    )


def _signature(model: Path, card: ModelCard, fast: Checker | None) -> str:
    """Returns a text that names the weights, the encoder and each number of the card that decides a score.

    Baselines hold it. So numbers that were added to cards later appear only if they differ from the default.
    """
    parts = [weights_signature(model), encoder_signature(), card.similarity_weight, card.similarity_even]
    if fast and card.cascade:
        parts += [fast.signature, card.cascade.signature]
    scripts = "" if card.latin_only else "|latin_only=False"
    return "|".join(map(str, parts)) + card.reading.differing + scripts


def _classifier(name: str, root: Path | None, foreign: Reading) -> Checker:
    """Returns a checker with the Hugging Face classifier `name`, a folder or a hub name. It has no rules yet.

    Raises:
        DataError: the name is empty.
    """
    from pytest_medfaith.checking.classifier import score_with_classifier

    if not name.strip():
        raise DataError(
            "the checker's name is empty; expected 'default', 'fast', 'teacher', a model folder, a dotted "
            "name (package.module:judge), or a Hugging Face model name"
        )
    folder = (root or Path()) / name
    source = str(folder) if folder.is_dir() else name
    labels, order, max_tokens = foreign
    scorer = partial(score_with_classifier, source, labels, max_tokens, order=order)
    parts = [model_signature(source), sorted((labels or {}).items()), max_tokens]
    # Baselines hold the signature. The order was added later, so the default order must not change it.
    parts += [order] if order != defaults.PAIR_ORDER else []
    return Checker(name, "|".join(map(str, parts)), scorer)
