import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from pytest_medfaith.corpus.documents import read_documents
from pytest_medfaith.corpus.sources import read_text, source_files
from pytest_medfaith.errors import DataError

PAGES = {
    "b/two.txt": b"Two.",
    "a.md": b"# One\n\nOne.",
    ".hidden/x.txt": b"no",
    "c/three.html.gz": gzip.compress(b"<p>Three.</p>"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in PAGES.items():
        (tmp_path / "pages" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pages" / name).write_bytes(data)
    return tmp_path / "pages"


def write_tar(path: Path, pages: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:
        for name, data in pages.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def texts(src: Path) -> dict[str, str]:
    return {document.file: document.sections[0].text for document in read_documents(src)}


ALL = {"a.md": "One.", "b/two.txt": "Two.", "c/three.html.gz": "Three."}


def test_a_folder_is_read_by_name_without_hidden_files(folder):
    assert list(texts(folder)) == ["a.md", "b/two.txt", "c/three.html.gz"]
    assert texts(folder) == ALL


@pytest.mark.parametrize(
    ("name", "mode"),
    [("p.tar", "w"), ("p.tar.gz", "w:gz"), ("p.tgz", "w:gz"), ("p.tar.bz2", "w:bz2"), ("p.tar.xz", "w:xz")],
)
def test_tar_archives(tmp_path, name, mode):
    path = write_tar(tmp_path / name, PAGES, mode)
    assert texts(path) == ALL
    assert sum(file.size for file in source_files(path)) <= path.stat().st_size


def test_a_zip_archive_inside_a_folder(tmp_path):
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        for name, data in PAGES.items():
            archive.writestr(name, data)
    assert texts(tmp_path) == {f"p.zip/{name}": text for name, text in ALL.items()}


def noise(size: int) -> bytes:
    return os.urandom(size).hex().encode()


@pytest.mark.parametrize(("name", "mode"), [("p.tar.gz", "w:gz"), ("p.tar", "w"), ("p.tar.xz", "w:xz")])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_an_archive_cut_short_anywhere_is_an_error(tmp_path, name, mode, share):
    whole = write_tar(tmp_path / name, {f"{i}.txt": noise(6000) for i in range(8)}, mode)
    data = whole.read_bytes()
    whole.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(
        DataError, match=rf"{name}: (cannot be read to its end|the archive ends without its end mark)"
    ):
        list(source_files(whole))


def test_a_tar_cut_between_members_is_an_error(tmp_path):
    path = write_tar(tmp_path / "p.tar", {f"{i}.txt": b"x" * 512 for i in range(4)}, "w")
    path.write_bytes(path.read_bytes()[: 2 * 1024])
    with pytest.raises(DataError, match="ends without its end mark; it is cut short"):
        list(source_files(path))


def test_a_gzip_file_and_a_zip_cut_short_are_errors(tmp_path):
    page = tmp_path / "page.txt.gz"
    page.write_bytes(gzip.compress(noise(3000))[:-200])
    with pytest.raises(DataError, match=r"page\.txt\.gz: cannot be read to its end .*fetch it again"):
        list(read_documents(page))
    archive = tmp_path / "p.zip"
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("a.txt", noise(100))
    archive.write_bytes(archive.read_bytes()[:-30])
    with pytest.raises(DataError, match=r"p\.zip: cannot be read to its end"):
        list(source_files(archive))


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("p.txt", b"\xef\xbb\xbfBOM", "BOM"),
        ("p.txt", "µg".encode("utf-16"), "µg"),
        ("p.html", b'<meta charset="iso-8859-1"><p>caf\xe9 \x96', '<meta charset="iso-8859-1"><p>café –'),
        ("p.html", '<meta charset="iso-8859-1">é'.encode(), '<meta charset="iso-8859-1">é'),
    ],
)
def test_encodings_that_say_what_they_are(tmp_path, name, data, expected):
    (tmp_path / name).write_bytes(data)
    (file,) = source_files(tmp_path / name)
    assert read_text(file) == expected


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("p.txt", b"one\ncaf\xe9", r"p\.txt:2:4: byte b'\\xe9' is not utf-8; save the file as UTF-8"),
        ("p.html", b'<meta charset="klingon">\xff', r"p\.html:1:25: byte b'\\xff' is not klingon"),
        ("p.md", b"PNG\0data", r"p\.md: holds a NUL character at 3"),
        ("p.jsonl", b'{"text": "a"}\n{"text": \n', r"p\.jsonl:2: not JSON in UTF-8"),
        ("p.jsonl", b'{"text": "a"}\n{"text": ' + b"[" * 100_000 + b"\n", r"p\.jsonl:2: not JSON in UTF-8"),
        (
            "p.jsonl",
            b'{"abstract": null, "text": 5}\n',
            r"p\.jsonl:1: got an object with 'abstract', 'text', expected",
        ),
        (
            "p.jsonl",
            b'{"title": "a"}\n',
            r"p\.jsonl:1: got an object with 'title', expected an object with a text in 'abstract' or 'text'",
        ),
    ],
)
def test_bad_text_names_file_line_and_column(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=message):
        list(read_documents(tmp_path / name))


def test_a_source_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="nowhere: no such file or folder"):
        list(source_files(tmp_path / "nowhere"))


def test_a_broken_link_is_an_error_and_a_pipe_is_passed_over(folder):
    os.mkfifo(folder / "pipe.txt")
    assert texts(folder) == ALL
    (folder / "z.txt").symlink_to("gone.txt")
    with pytest.raises(
        DataError, match=r"z\.txt: points to 'gone\.txt', which does not exist; mend or remove the link"
    ):
        texts(folder)


def test_rows_of_abstracts_and_texts(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(
        '{"pmid": 7, "title": "T", "abstract": ["One.", "Two."], "year": 2020}\n\n{"id": "x", "text": '
        '"AIMS\\n\\nThree.", "url": "u"}\n'
    )
    first, second = read_documents(path)
    assert (first.item, first.pmid, first.year, first.url) == (
        "7",
        "7",
        2020,
        "https://pubmed.ncbi.nlm.nih.gov/7/",
    )
    assert [(section.path, section.text, section.whole) for section in first.sections] == [
        (("Abstract",), "One. Two.", True)
    ]
    assert (second.item, second.url, second.sections[0].path) == ("x", "u", ("AIMS",))


def rows(path: Path, *lines: str) -> list:
    path.write_text("".join(line + "\n" for line in lines))
    documents = list(read_documents(path))
    assert all(
        document.text[section.start : section.end] == section.text
        for document in documents
        for section in document.sections
    )
    return [
        [(section.path, section.text, section.whole) for section in document.sections]
        for document in documents
    ]


def test_a_row_keeps_both_its_abstract_and_its_text(tmp_path):
    both = (
        '{"title": "T", "abstract": ["Short.", "It works."], "text": "METHODS\\n\\nWe gave 5 '
        'mg.\\n\\nRESULTS\\n\\nIt worked."}'
    )
    assert rows(tmp_path / "rows.jsonl", both) == [
        [
            (("Abstract",), "Short. It works.", True),
            (("METHODS",), "We gave 5 mg.", False),
            (("RESULTS",), "It worked.", False),
        ]
    ]


@pytest.mark.parametrize("abstract", ["null", '""', '" \\n"', "[]", '["", " "]', "5"])
def test_a_row_without_an_abstract_is_its_text(tmp_path, abstract):
    assert rows(tmp_path / "rows.jsonl", f'{{"abstract": {abstract}, "text": "Iron helps."}}') == [
        [((), "Iron helps.", False)]
    ]
    assert rows(tmp_path / "rows.jsonl", '{"abstract": "Iron helps.", "text": null}') == [
        [(("Abstract",), "Iron helps.", True)]
    ]


def test_linked_folders_are_read_once_and_never_in_circles(folder):
    shared = folder / ".shared"
    (shared / "deep").mkdir(parents=True)
    (shared / "s.txt").write_text("Shared.")
    (shared / "deep" / "d.txt").write_text("Deep.")
    (shared / "back").symlink_to(folder)
    (shared / "deep" / "up").symlink_to("..")
    for name, target in (
        ("again", ".shared"),
        ("linked", ".shared"),
        ("a", "b"),
        ("b/top", ".."),
        ("kept", ".hidden"),
    ):
        (folder / name).symlink_to(target)
    found = texts(folder)
    assert list(found) == [
        "a.md",
        "again/s.txt",
        "again/deep/d.txt",
        "b/two.txt",
        "c/three.html.gz",
        "kept/x.txt",
    ]
    assert found["again/deep/d.txt"] == "Deep."
