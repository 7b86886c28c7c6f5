"""Public data sets as cases and chunks, one module a data set; the names below load no adapter until it is used."""

from pytest_medfaith.datasets.registry import Adapter, adapters, find_adapter, read_cases
from pytest_medfaith.datasets.skips import Skips

__all__ = ["Adapter", "Skips", "adapters", "find_adapter", "read_cases"]
