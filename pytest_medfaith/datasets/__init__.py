"""Public data sets as cases and chunks, a module for each; an adapter is loaded when it is used."""

from pytest_medfaith.datasets.registry import Adapter, adapters, find_adapter, read_cases
from pytest_medfaith.datasets.skips import Skips

__all__ = ["Adapter", "Skips", "adapters", "find_adapter", "read_cases"]
