"""The settings that retrievers are built with, from the configuration and from a retriever's name."""

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
    """All settings of retrieval, whichever retriever reads them.

    A project's own retriever factory gets those fields by keyword that it has a parameter for, and its table
    from `retriever_settings`.

    Attributes:
        chunk_lines: a line about each chunk, which retrievers read before its text; see
            `context.chunk_lines`.
        teacher: the LLM that the reranker "teacher" asks; None where none is set up.
    """

    chunk_lines: Lines = None
    teacher: Teacher | None = None

    @property
    def choice(self) -> IndexChoice:
        """The kind of vector index that dense retrieval searches, with its search parameters."""
        return IndexChoice(kind=self.dense_index, ef_search=self.ef_search, nprobe=self.nprobe)


def settled(name: str, settings: RetrievalSettings) -> tuple[str, RetrievalSettings]:
    """Returns a retriever's name without brackets, and `settings` changed by what the brackets say.

    Example: "rrf[encoder=e5-base]+fast" gives "rrf+fast", and settings whose encoders are ("e5-base",).
    """
    variant = parse_variant(name)
    return variant.name, dataclasses.replace(settings, **variant.retrieval)


def patience_of(settings: RetrievalSettings) -> Patience:
    """Returns how long a request to a store may take in seconds, and how often it is tried again."""
    return Patience(timeout=settings.store_timeout, retries=settings.store_retries)
