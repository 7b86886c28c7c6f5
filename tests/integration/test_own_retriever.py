"""A project names its retriever in the settings, and sets what the retriever asks for."""

import pytest

FACTORIES = '''
import json
from pathlib import Path

from pytest_medfaith.records import Hit


def longest_first(chunks, *, most_words, k1, cache, synonyms=None, b=0.1):
    """Finds the longest chunks of at most so many words, and notes what it was made with."""
    told = {"most_words": most_words, "k1": k1, "b": b, "cache": cache.name, "absolute": cache.is_absolute()}
    told["synonyms"] = synonyms
    Path(__file__).with_name("told.json").write_text(json.dumps(told))
    kept = [chunk for chunk in chunks if len(chunk.text.split()) <= most_words]
    order = sorted(kept, key=lambda chunk: -len(chunk.text))

    def retrieve(query, *, top_k):
        best = order[:top_k]
        return [Hit(chunk=chunk, rank=rank, score=1 / rank) for rank, chunk in enumerate(best, start=1)]

    return retrieve


def first_ones(chunks):
    def retrieve(query, *, top_k):
        return [Hit(chunk=chunk, rank=rank, score=1.0) for rank, chunk in enumerate(chunks[:top_k], start=1)]

    return retrieve
'''
SLICE = """
[tool.medfaith]
k1 = 1.5
cache = ".kept"

[tool.medfaith.retriever_settings."my_pkg.search:longest_first"]
most_words = 7
synonyms = {{ iron = ["ferrum"] }}
{more}
[tool.medfaith.slices.own]
cases = "gold.jsonl"
corpus = ["corpus"]
responses = "responses.jsonl"
retriever = "{name}"
k = 2
"""
TEST = """
import pytest

@pytest.mark.medfaith("own")
def test_what_is_found(medfaith_report):
    assert [hit.chunk.id for hit in medfaith_report.hits] == {found}
"""


@pytest.fixture
def package(project, monkeypatch):
    (project.path / "my_pkg").mkdir()
    (project.path / "my_pkg" / "__init__.py").touch()
    (project.path / "my_pkg" / "search.py").write_text(FACTORIES)
    monkeypatch.setenv("PYTHONPATH", str(project.path))
    return project


def test_a_factory_gets_its_table_and_the_settings_that_it_asks_for(package, workers):
    package.configure(SLICE.format(name="my_pkg.search:longest_first", more=""))
    package.test(TEST.format(found=["gout-1", "asthma-2"]))
    package.run(*workers).assert_outcomes(passed=3)
    told = (package.path / "my_pkg" / "told.json").read_text()
    assert told == (
        '{"most_words": 7, "k1": 1.5, "b": 0.4, "cache": ".kept", "absolute": true, "synonyms": {"iron": '
        '["ferrum"]}}'
    )


def test_a_factory_that_takes_only_the_chunks_works(package, workers):
    package.configure(SLICE.format(name="my_pkg.search:first_ones", more=""))
    package.test(TEST.format(found=["iron-1", "iron-2"]))
    package.run(*workers).assert_outcomes(passed=3)


def test_the_command_line_names_it_too(package):
    package.configure(SLICE.format(name="bm25", more=""))
    package.test(TEST.format(found=["gout-1", "asthma-2"]))
    result = package.run("--medfaith-retriever", "my_pkg.search.longest_first")
    result.assert_outcomes(passed=3)


def test_a_setting_that_the_factory_does_not_take_is_named(package):
    package.configure(SLICE.format(name="my_pkg.search:longest_first", more="most_wrods = 9\n"))
    package.test(TEST.format(found=[]))
    result = package.run()
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(
        [
            (
                "*the retriever 'my_pkg.search:longest_first' cannot be made*unexpected keyword argument "
                "'most_wrods'*"
            )
        ]
    )
