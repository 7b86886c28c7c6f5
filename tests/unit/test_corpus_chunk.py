import dataclasses
import gzip
import inspect
import json
import os
import tarfile
import tracemalloc
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_medfaith import cli
from pytest_medfaith.corpus import chunk as chunk_module
from pytest_medfaith.corpus.chunk import chunk_source
from pytest_medfaith.corpus.cut import original_span
from pytest_medfaith.corpus.documents import read_documents
from pytest_medfaith.corpus.windows import CharacterSize, WindowSize
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_chunks
from pytest_medfaith.records import Chunk

SMALL = WindowSize(size=30, stride=10)
SENTENCES = (
    "Metformin is taken with food. It lowers glucose. Nausea is common at first. Kidney function is checked "
    "every year. "
)
MARKDOWN = (
    "# Metformin\n\n## Dosing\n\n"
    + SENTENCES * 3
    + "\n\n## Safety\n\nLactic acidosis is rare (< 10 per 10⁵ patient-years).\n"
)
PUBMED = (
    "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>41</PMID><Article><ArticleTitle>A "
    "trial.</ArticleTitle><Abstract><AbstractText>"
    + SENTENCES * 40
    + "</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"
)
PAGES = {
    "drugs/metformin.md": MARKDOWN,
    "drugs/aspirin.html": "<link rel=canonical href='https://example.org/a'><h1>Aspirin</h1><p>75&nbsp;mg "
    "daily. Not in children.</p>",
    "my notes.txt": "DOSAGE\r\n\r\nGive 5 mg. Then wait.\r\n",
    "set.xml": PUBMED,
    "empty.txt": " \n",
    "picture.png": "x",
}


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    for name, text in PAGES.items():
        path = tmp_path / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return tmp_path / "pages"


def test_a_folder_becomes_one_file_of_chunks(pages, tmp_path):
    summary = chunk_source(pages, source="notes", out=tmp_path / "out", shape=SMALL)
    chunks = read_chunks([tmp_path / "out"])
    assert summary.out == tmp_path / "out" / "pages.jsonl"
    assert (summary.documents, summary.chunks) == (4, len(chunks))
    assert summary.skipped == {"documents without text": 1, "files of type .png": 1}
    assert str(summary).endswith(
        "pages.jsonl: 8 chunks of 4 documents, 1 skipped (documents without text), 1 skipped (files of type "
        ".png)"
    )
    aspirin = next(chunk for chunk in chunks if "aspirin" in chunk.id)
    assert aspirin == Chunk(
        id="notes/drugs/aspirin-001",
        text="75 mg daily. Not in children.",
        url="https://example.org/a",
        title="Aspirin",
        section_path=("Aspirin",),
        source="notes",
        start=8,
        end=37,
    )
    assert [chunk.id for chunk in chunks if "notes.txt" in str(chunk.extra)] == ["notes/my_notes-001"]


def test_windows_have_one_set_of_defaults():
    defaults = {field.name: field.default for field in dataclasses.fields(WindowSize)}
    assert defaults == {"size": 512, "stride": 128, "min_sent": 2, "max_sent": 12}
    assert {name: inspect.signature(cli.chunk).parameters[name].default for name in defaults} == defaults


def test_windows_never_cross_sections_and_never_cut_sentences(pages, tmp_path):
    chunk_source(pages / "drugs", source="d", out=tmp_path / "out.jsonl", shape=SMALL)
    chunks = [chunk for chunk in read_chunks([tmp_path / "out.jsonl"]) if "metformin" in chunk.id]
    assert [chunk.section_path[-1] for chunk in chunks] == ["Dosing"] * (len(chunks) - 1) + ["Safety"]
    assert all(chunk.text[-1] == "." and chunk.text[0].isupper() for chunk in chunks)
    assert any(a.end > b.start for a, b in pairwise(chunks)), "neighbours overlap"


def test_an_abstract_stays_one_chunk_however_long(pages, tmp_path):
    chunk_source(pages / "set.xml", source="pubmed", out=tmp_path / "out")
    (chunk,) = read_chunks([tmp_path / "out"])
    assert (chunk.id, chunk.pmid, chunk.section_path) == ("pubmed/41-001", "41", ("Abstract",))
    assert chunk.text == (SENTENCES * 40).strip()


@pytest.mark.parametrize("archive", [False, True])
def test_every_chunk_can_be_cut_out_of_its_document_again(pages, tmp_path, archive):
    src = pages
    if archive:
        src = tmp_path / "pages.tar.gz"
        with tarfile.open(src, "w:gz") as out:
            out.add(pages, arcname=".")
    chunk_source(src, source="notes", out=tmp_path / "out", shape=SMALL, prefix="title")
    chunks = read_chunks([tmp_path / "out"])
    assert len(chunks) == 8
    for chunk in chunks:
        assert original_span(chunk, src=src) == chunk.text


alphabet = st.sampled_from(
    [
        *"aB.?\n -#|*_&;<>µ±αe\u0301\u00a0\ufeff\r\t1",
        "Dose. ",
        "# H\n",
        "<p>",
        "</h2><h2>",
        "DOSAGE\n",
        "&lt;",
        "**",
        "U.S. ",
    ]
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(alphabet, max_size=60).map("".join), st.sampled_from(["txt", "md", "html"]), st.integers(5, 40)
)
def test_any_page_whatever_is_in_it_gives_chunks_that_are_its_spans(tmp_path, text, suffix, size):
    page = tmp_path / f"page.{suffix}"
    page.write_bytes(text.encode())
    try:
        summary = chunk_source(
            page, source="s", out=tmp_path / "out", shape=WindowSize(size=size, stride=size // 4)
        )
    except DataError:
        assert not any(
            character.isalnum()
            for document in read_documents(page)
            for section in document.sections
            for character in section.text
        )
        return
    chunks = read_chunks([summary.out])
    assert len({chunk.id for chunk in chunks}) == summary.chunks == len(chunks)
    for chunk in chunks:
        assert original_span(chunk, src=page) == chunk.text
    for a, b in combinations(chunks, 2):
        assert a.section_path != b.section_path or (a.start < b.start) or a.end <= b.start


def test_a_changed_moved_or_foreign_chunk_cannot_be_traced(pages, tmp_path):
    chunk_source(pages, source="notes", out=tmp_path / "out")
    chunk = next(chunk for chunk in read_chunks([tmp_path / "out"]) if chunk.id.startswith("notes/my"))
    (pages / "my notes.txt").write_text("DOSAGE\n\nGive 9 mg.")
    with pytest.raises(
        DataError, match=r"my notes\.txt: has changed since chunk 'notes/my_notes-001' was cut"
    ):
        original_span(chunk, src=pages)
    (pages / "my notes.txt").unlink()
    with pytest.raises(DataError, match=r"holds no document 'my notes\.txt', from which chunk"):
        original_span(chunk, src=pages)
    with pytest.raises(DataError, match=r"chunk 'a' has no document, start and end"):
        original_span(Chunk(id="a", text="b"), src=pages)


def test_the_prefix_is_kept_apart_from_the_text(pages, tmp_path):
    chunk_source(pages / "drugs", source="d", out=tmp_path / "title.jsonl", prefix="title")
    chunk_source(pages / "drugs", source="d", out=tmp_path / "plain.jsonl")
    with_prefix, plain = read_chunks([tmp_path / "title.jsonl"]), read_chunks([tmp_path / "plain.jsonl"])
    assert with_prefix == plain
    assert [chunk.extra["prefix"] for chunk in with_prefix] == [
        "Aspirin",
        "Metformin > Dosing",
        "Metformin > Safety",
    ]
    chunk_source(
        pages / "drugs",
        source="d",
        out=tmp_path / "line.jsonl",
        workers=2,
        prefix=lambda text, chunk: f"{len(text)}: {chunk.section_path[-1]}",
    )
    assert read_chunks([tmp_path / "line.jsonl"])[0].extra["prefix"] == "37: Aspirin"


def test_ids_are_the_same_on_a_second_run_and_with_more_processes(pages, tmp_path):
    for name, workers in (("one", 1), ("again", 1), ("two", 2)):
        chunk_source(pages, source="notes", out=tmp_path / f"{name}.jsonl", shape=SMALL, workers=workers)
    one = (tmp_path / "one.jsonl").read_bytes()
    assert one == (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_pages_of_one_name_and_two_kinds_have_two_ids(tmp_path):
    for name in ("a.html", "a.md", "b_c.txt", "b c.txt"):
        (tmp_path / name).write_text("Gout hurts.")
    chunk_source(tmp_path, source="s", out=tmp_path.parent / "names.jsonl")
    ids = [chunk.id for chunk in read_chunks([tmp_path.parent / "names.jsonl"])]
    assert ids == ["s/a-001", "s/a.md-001", "s/b_c-001", "s/b_c.txt-001"]


def test_records_without_an_id_are_named_by_file_and_number(tmp_path):
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(
            '{"text": "Gout hurts."}\n' + json.dumps({"text": "It swells.", "id": name})
        )
    summary = chunk_source(tmp_path, source="s", out=tmp_path.parent / "numbers.jsonl")
    chunks = read_chunks([summary.out])
    assert [chunk.id for chunk in chunks] == ["s/a.1-001", "s/a.jsonl-001", "s/b.1-001", "s/b.jsonl-001"]
    assert original_span(chunks[2], src=tmp_path) == "Gout hurts."


@pytest.mark.parametrize(
    ("name", "stem"), [("pmc.2024", "pmc.2024"), ("set.tar.gz", "set"), ("page.txt", "page")]
)
def test_the_file_is_named_after_the_source(tmp_path, name, stem):
    page = tmp_path / name / "a.txt" if name == "pmc.2024" else tmp_path / "page.txt"
    page.parent.mkdir(exist_ok=True)
    page.write_text("Gout hurts.")
    if name == "set.tar.gz":
        with tarfile.open(tmp_path / name, "w:gz") as archive:
            archive.add(page, arcname="a.txt")
    assert (
        chunk_source(tmp_path / name, source="s", out=tmp_path / "out").out
        == tmp_path / "out" / f"{stem}.jsonl"
    )


def test_one_id_used_by_two_records_is_an_error(pages, tmp_path):
    (pages / "set2.xml").write_text(PUBMED)
    with pytest.raises(DataError, match=r"set2\.xml: a document '41' was read already; ids must be unique"):
        chunk_source(pages, source="pubmed", out=tmp_path / "out")


def test_near_duplicates_are_dropped_and_listed(pages, tmp_path):
    (pages / "drugs" / "zz copy.md").write_text(MARKDOWN)
    summary = chunk_source(pages / "drugs", source="d", out=tmp_path / "out", dedup="minhash")
    listed = (tmp_path / "out" / "drugs.dropped.csv").read_text().splitlines()
    assert [(row.id, row.kept) for row in summary.dropped] == [
        (f"d/zz_copy-{i}", f"d/metformin-{i}") for i in ("001", "002")
    ]
    assert listed[0] == "dropped,kept,similarity,method"
    assert listed[1] == "d/zz_copy-001,d/metformin-001,1.0,minhash"
    assert "2 near-duplicates dropped" in str(summary)
    assert len(read_chunks([tmp_path / "out"])) == 3
    chunk_source(pages / "drugs", source="d", out=tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["drugs.jsonl"]


def truncated_gzip(folder: Path) -> None:
    (folder / "z.txt.gz").write_bytes(gzip.compress(os.urandom(5000).hex().encode())[:-100])


def truncated_xml(folder: Path) -> None:
    (folder / "z.xml").write_text("<article><body><p>The end is")


def latin_1(folder: Path) -> None:
    (folder / "z.txt").write_bytes("café".encode("latin-1"))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (truncated_gzip, r"z\.txt\.gz: cannot be read to its end"),
        (truncated_xml, r"z\.xml:1:29: not well-formed XML"),
        (latin_1, r"z\.txt:1:4: byte b'\\xe9' is not utf-8"),
    ],
)
def test_a_bad_file_stops_the_run_and_leaves_what_was_there(pages, tmp_path, spoil, message, workers):
    out = tmp_path / "out" / "pages.jsonl"
    chunk_source(pages, source="notes", out=tmp_path / "out")
    before = out.read_bytes()
    spoil(pages)
    with pytest.raises(DataError, match=message):
        chunk_source(pages, source="notes", out=tmp_path / "out", shape=SMALL, workers=workers)
    assert out.read_bytes() == before
    assert [path.name for path in out.parent.iterdir()] == ["pages.jsonl"]


def test_a_source_with_nothing_in_it_is_an_error_and_writes_nothing(tmp_path):
    (tmp_path / "in").mkdir()
    with pytest.raises(DataError, match=r"in: holds no text to chunk; expected pages in \.docx"):
        chunk_source(tmp_path / "in", source="s", out=tmp_path / "out")
    (tmp_path / "in" / "a.png").write_text("x")
    with pytest.raises(DataError, match=r"holds no text to chunk; 1 skipped \(files of type \.png\)"):
        chunk_source(tmp_path / "in", source="s", out=tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": "a/b"}, r"source is 'a/b', expected a name of letters"),
        ({"workers": 0}, r"workers is 0, expected at least 1"),
        ({"dedup": "minhash", "dedup_threshold": 2.0}, r"threshold is 2\.0"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_written(pages, tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        chunk_source(pages, **{"source": "s", "out": tmp_path / "out", **options})
    assert not list((tmp_path / "out").glob("*"))


def test_out_inside_the_source_is_refused(pages):
    with pytest.raises(ValueError, match=r"lies inside .*; choose a folder beside it"):
        chunk_source(pages, source="s", out=pages / "chunk")


def test_progress_counts_bytes_up_to_all_of_them(pages, tmp_path):
    seen: list[tuple[int, int]] = []
    chunk_source(
        pages, source="s", out=tmp_path / "out", progress=lambda done, total: seen.append((done, total))
    )
    total = sum(path.stat().st_size for path in pages.rglob("*.*"))
    assert seen == sorted(seen)
    assert [pair for pair in seen if pair[0] == total] == [(total, total)]


def peak_memory(src: Path, out: Path) -> int:
    tracemalloc.start()
    chunk_source(src, source="s", out=out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory_does_not_grow_with_the_corpus(tmp_path, monkeypatch):
    monkeypatch.setattr(chunk_module, "_LARGE_FILE", 10_000)
    peaks = []
    for count in (150, 150, 600):  # the first run fills the caches
        rows = tmp_path / f"rows{count}.jsonl"
        rows.write_text(
            "".join(json.dumps({"id": str(i), "text": "Gout hurts. " * 60}) + "\n" for i in range(count))
        )
        peaks.append(peak_memory(rows, tmp_path / "out"))
    assert peaks[2] < 1.3 * peaks[1]


@pytest.mark.realdata
def test_the_medquad_archive(tmp_path):
    if "MEDFAITH_DATA" not in os.environ:
        pytest.skip("needs the public data sets in the folder that MEDFAITH_DATA names")
    src = Path(os.environ["MEDFAITH_DATA"]) / "medquad" / "medquad_xml.tar.gz"
    summary = chunk_source(src, source="medquad", out=tmp_path)
    assert (summary.documents, summary.chunks) == (5156, 29191)
    assert summary.skipped == {"documents without text": 4373, "empty answer": 17353}
    chunks = read_chunks([tmp_path])
    assert [chunks[i].id for i in (0, 9, -1)] == [
        "medquad/1_CancerGov_QA/0000024_1-001",
        "medquad/1_CancerGov_QA/0000024_1-010",
        "medquad/readme-004",
    ]
    assert original_span(chunks[0], src=src) == chunks[0].text


def test_a_source_is_not_written_over(tmp_path):
    path = tmp_path / "abstracts.jsonl"
    path.write_text('{"id": "1", "text": "Iron treats anaemia."}\n')
    with pytest.raises(ValueError, match="would be written over it"):
        chunk_source(path, source="pubmed", out=tmp_path)
    assert path.read_text() == '{"id": "1", "text": "Iron treats anaemia."}\n'


@pytest.mark.parametrize("workers", [1, 2])
def test_one_id_used_by_two_rows_names_the_line_of_the_second(tmp_path, workers):
    (tmp_path / "rows.jsonl").write_text(
        '{"id": "7", "text": "Gout hurts."}\n\n{"id": "7", "text": "It swells."}\n'
    )
    with pytest.raises(DataError, match=r"rows\.jsonl:3: a document '7' was read already"):
        chunk_source(tmp_path / "rows.jsonl", source="s", out=tmp_path / "out", workers=workers)


def test_a_row_with_abstract_and_text_can_be_cut_out_again(tmp_path):
    src = tmp_path / "rows.jsonl"
    src.write_text(
        json.dumps(
            {"id": "7", "abstract": "Iron helps.", "text": "METHODS\n\nWe gave iron. " + SENTENCES * 3}
        )
        + "\n"
    )
    chunk_source(src, source="s", out=tmp_path / "out", shape=SMALL)
    chunks = read_chunks([tmp_path / "out"])
    assert [chunk.section_path for chunk in chunks[:2]] == [("Abstract",), ("METHODS",)]
    assert [original_span(chunk, src=src) for chunk in chunks] == [chunk.text for chunk in chunks]


def test_chunks_by_characters_cross_sections_and_are_at_most_as_long_as_asked(tmp_path):
    sentences = [f"Tablet number {i} is taken on day {i} with water." for i in range(60)]
    page = "# Iron\n\n## Dose\n\n" + " ".join(sentences[:30]) + "\n\n## Use\n\n" + " ".join(sentences[30:])
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "iron.md").write_text(page)
    summary = chunk_source(tmp_path / "pages", source="clinic", out=tmp_path / "out", shape=CharacterSize())
    chunks = read_chunks([summary.out])
    assert 600 < max(len(chunk.text) for chunk in chunks) <= 1000
    assert [original_span(chunk, src=tmp_path / "pages") for chunk in chunks] == [
        chunk.text for chunk in chunks
    ]
    assert {chunk.section_path[-1] for chunk in chunks} == {"Dose", "Use"}
    crossing = next(chunk for chunk in chunks if "day 29" in chunk.text and "day 30 " in chunk.text)
    assert crossing.section_path[-1] == "Dose"
    overlaps = [before.end - after.start for before, after in pairwise(chunks) if before.end > after.start]
    assert overlaps
    assert max(overlaps) <= 200
    assert all(sentence in " ".join(chunk.text for chunk in chunks) for sentence in sentences)
    with pytest.raises(ValueError, match="size is 1001 characters, expected at most 1000"):
        CharacterSize(size=1001)


def test_a_sentence_longer_than_a_chunk_is_cut_at_a_space_by_characters(tmp_path):
    (tmp_path / "long.txt").write_text("word " * 700)
    summary = chunk_source(
        tmp_path / "long.txt", source="clinic", out=tmp_path / "out", shape=CharacterSize()
    )
    chunks = read_chunks([summary.out])
    assert max(len(chunk.text) for chunk in chunks) <= 1000
    assert all(set(chunk.text.split()) == {"word"} for chunk in chunks)
