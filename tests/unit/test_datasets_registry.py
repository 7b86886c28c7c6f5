"""Data sets by name, cases by spec, samples, sources."""

from __future__ import annotations

import subprocess
import sys
import types
from importlib import import_module
from inspect import signature
from pathlib import Path
from pkgutil import iter_modules
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytest_medfaith.datasets
from pytest_medfaith.datasets import Skips, adapters, find_adapter, read_cases, registry
from pytest_medfaith.datasets.gold import Style
from pytest_medfaith.datasets.sampling import sample
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import write_records
from pytest_medfaith.records import Case, GoldClaim

FILES = Path(__file__).parents[2] / "fixtures" / "datasets"


def test_importing_the_package_imports_no_adapter():
    code = (
        "import sys, pytest_medfaith.datasets as d\n"
        "loaded = {n.rsplit('.', 1)[1] for n in sys.modules if n.startswith('pytest_medfaith.datasets.')}\n"
        "assert not loaded & set(d.adapters()), loaded\n"
        "assert not {'xml.parsers.expat', 'csv', 'pysbd', 'tarfile'} & set(sys.modules)\n"
        "d.find_adapter('kqa').read\n"
        "assert 'pytest_medfaith.datasets.kqa' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_every_adapter_has_its_source_and_every_source_its_adapter():
    readers = set()
    for found in iter_modules(pytest_medfaith.datasets.__path__):
        reader = getattr(import_module(f"pytest_medfaith.datasets.{found.name}"), f"read_{found.name}", None)
        if reader is not None and "skips" in signature(reader).parameters:
            readers.add(reader.__name__)
    assert readers == {f"read_{name}" for name in adapters()}
    for adapter in adapters().values():
        assert adapter.read.__name__ in readers
        assert not adapter.chunked or adapter.read_chunks
        assert adapter.gold in get_args(Style)
        assert all((adapter.title, adapter.licence, adapter.citation, adapter.splits, adapter.reads))
        assert adapter.url.startswith(("https://", "http://"))


def test_a_further_data_set_takes_a_module_and_a_table():
    """Two files: a module with a reader of the table's name, and the table."""
    module = types.ModuleType("pytest_medfaith.datasets.mine")
    module.read_mine = lambda path, *, skips: iter([Case(id=f"mine/{skips}", question=path.name)])
    facts = {"title": "Mine", "url": "https://e.org", "licence": "MIT", "citation": "None", "splits": "none"}
    table = {**facts, "reads": "a file", "gold": "given"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, module.__name__, module)
        patch.setattr(registry, "adapters", lambda: {"mine": registry.Adapter(name="mine", **table)})
        assert [case.question for case in read_cases("mine:where")] == ["where"]


def test_unknown_data_set_is_named_with_the_nearest():
    with pytest.raises(
        DataError,
        match=(
            r"no data set is called 'medqad'; expected one of bioasq, medquad, .*; "
            r"did you mean 'medquad'\?"
        ),
    ):
        find_adapter("medqad")


def test_spec_of_a_data_set_gives_cases_with_extracted_claims():
    cases = list(read_cases(f"medquad:{FILES / 'medquad'}"))
    assert [case.id for case in cases][:2] == [
        "medquad/ExampleHealth/0000001-1",
        "medquad/ExampleHealth/0000001-2",
    ]
    assert all(claim.provenance == "extracted" for case in cases for claim in case.gold_claims)
    assert all(case.gold_claims for case in cases)


def test_spec_of_a_data_set_with_written_claims_keeps_them():
    claims = [claim for case in read_cases(f"kqa:{FILES / 'kqa'}") for claim in case.gold_claims]
    assert {claim.provenance for claim in claims} == {"human"}
    assert {claim.key for claim in claims} == {True, False}


def test_spec_of_a_gold_file(tmp_path):
    gold = tmp_path / "gold.jsonl"
    cases = [
        Case(id=f"c{number}", question="What?", gold_claims=(GoldClaim(id="g1", text="This."),))
        for number in range(5)
    ]
    write_records(gold, cases)
    assert list(read_cases(str(gold))) == cases
    assert list(read_cases("gold.jsonl", root=tmp_path, limit=2)) == cases[:2]


def test_relative_spec_counts_from_the_root():
    assert len(list(read_cases("kqa:kqa", root=FILES))) == 2


def test_spec_without_a_path():
    with pytest.raises(
        DataError,
        match=r"the spec 'medquad:' names no path; expected NAME:PATH, for example medquad:path/to/files",
    ):
        read_cases("medquad:")


def test_spec_of_an_unknown_data_set_fails_at_the_call():
    with pytest.raises(DataError, match="no data set is called 'medquod'"):
        read_cases("medquod:somewhere")


def test_gold_file_with_a_colon_in_its_name(tmp_path):
    write_records(tmp_path / "v2:gold.jsonl", [Case(id="c1", question="What?")])
    assert [case.id for case in read_cases("v2:gold.jsonl", root=tmp_path)] == ["c1"]


def test_a_drive_letter_is_no_data_set():
    with pytest.raises(DataError, match="no such file"):
        list(read_cases("C:/gold/none.jsonl"))


def test_skips_are_filled():
    skips = Skips()
    list(read_cases(f"medquad:{FILES / 'medquad'}", skips=skips))
    assert skips.total == 1
    (line,) = skips.lines()
    assert line.startswith("skipped 1: empty answer (first: ")
    assert line.endswith("0000001.xml, pair 3)")


# Samples


def test_limit_takes_the_first_and_reads_no_further():
    taken = []
    assert list(sample((taken.append(n) or n for n in range(100)), limit=3)) == [0, 1, 2]
    assert taken == [0, 1, 2]


def test_everything_without_a_limit():
    assert list(sample(range(5), seed=3)) == [0, 1, 2, 3, 4]


@given(st.integers(0, 60), st.integers(1, 70), st.integers())
def test_seeded_sample_is_repeatable_ordered_and_as_long_as_it_can_be(total, limit, seed):
    first = list(sample(range(total), limit=limit, seed=seed))
    assert first == list(sample(iter(range(total)), limit=limit, seed=seed))
    assert first == sorted(set(first))
    assert len(first) == min(limit, total)


def test_seeded_sample_is_even():
    draws = [item for seed in range(2_000) for item in sample(range(20), limit=5, seed=seed)]
    assert all(abs(draws.count(item) - 500) < 5 * (2_000 * 0.25 * 0.75) ** 0.5 for item in range(20)), (
        "five standard deviations"
    )


@pytest.mark.parametrize("limit", [0, -1])
def test_limit_below_one(limit):
    with pytest.raises(
        ValueError, match=rf"limit is {limit}, expected 1 or more; leave it out to take everything"
    ):
        read_cases(f"kqa:{FILES / 'kqa'}", limit=limit)
