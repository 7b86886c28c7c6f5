"""The settings of retrieval, and those that a retriever's name holds beside them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from pytest_medfaith.defaults import RetrievalFields
from pytest_medfaith.retrieval.context import Lines
from pytest_medfaith.retrieval.index_kinds import IndexChoice
from pytest_medfaith.retrieval.stores.opening import Patience
from pytest_medfaith.retrieval.variant import parse_variant
from pytest_medfaith.teacher.asking import Teacher


@dataclass(frozen=True, kw_only=True)
class RetrievalSettings(RetrievalFields):
    """What a retriever is built with.

    A project's factory gets the fields that it has a parameter for, and its table in `retriever_settings`.

    Attributes:
        chunk_lines: a line about each chunk, which is read before its text.
        teacher: the LLM that the reranker "teacher" asks.
    """

    chunk_lines: Lines = None
    teacher: Teacher | None = None

    @property
    def choice(self) -> IndexChoice:
        """Which index dense retrieval searches."""
        return IndexChoice(kind=self.dense_index, ef_search=self.ef_search, nprobe=self.nprobe)


def settled(name: str, settings: RetrievalSettings) -> tuple[str, RetrievalSettings]:
    """Returns a retriever's name without its settings, and `settings` with those that the name holds."""
    variant = parse_variant(name)
    return variant.name, dataclasses.replace(settings, **variant.retrieval)


def patience_of(settings: RetrievalSettings) -> Patience:
    """Returns how many seconds a request to a store may take, and how often it is tried again."""
    return Patience(timeout=settings.store_timeout, retries=settings.store_retries)
