"""Public data sets as cases and chunks, one module a source; the names below load no adapter until one is used."""

from pytest_medfaith.datasets.registry import ADAPTERS, find_adapter, read_cases
from pytest_medfaith.datasets.skips import Skips
from pytest_medfaith.datasets.sources import Source, read_sources

__all__ = ["ADAPTERS", "Skips", "Source", "find_adapter", "read_cases", "read_sources"]
