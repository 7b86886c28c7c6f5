"""Sources from anywhere: archives that grow absurdly, links that lead out, hidden signs in names or texts."""

import bz2
import gzip
import io
import lzma
import os
import stat
import tarfile
import tracemalloc
import unicodedata
import zipfile

import pytest

from pytest_medfaith.corpus import sources
from pytest_medfaith.corpus.chunk import chunk_source
from pytest_medfaith.corpus.documents import read_documents
from pytest_medfaith.corpus.normalise import normalise
from pytest_medfaith.corpus.sources import read_text, source_files
from pytest_medfaith.errors import DataError
from pytest_medfaith.jsonl import read_chunks

MIB = 1024 * 1024
BOMB = b"iron " * (40 * MIB // 5)
FLAT = b"a" * len(BOMB)  # bzip2 takes long over repeated words


@pytest.fixture(autouse=True)
def small_limits(monkeypatch):
    monkeypatch.setattr(sources, "LARGEST", 4 * MIB)
    monkeypatch.setattr(sources, "_GROWN", 2 * MIB)


def tar(path, mode, **members):
    with tarfile.open(path, mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name.replace("__", "."))
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def _zip(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", BOMB)


def _nested(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt.gz", gzip.compress(BOMB))


BOMBS = {
    "a.zip": _zip,
    "b.zip": _nested,
    "a.tar.gz": lambda path: tar(path, "w:gz", a__txt=BOMB),
    "a.tar.bz2": lambda path: tar(path, "w:bz2", a__txt=FLAT),
    "a.tar.xz": lambda path: tar(path, "w:xz", a__txt=BOMB),
    "a.tgz": lambda path: tar(path, "w:gz", a__txt=BOMB),
    "b.tar": lambda path: tar(path, "w", a__txt__gz=gzip.compress(BOMB)),
    "c.tar": lambda path: tar(path, "w", a__txt=BOMB),
    "a.txt.gz": lambda path: path.write_bytes(gzip.compress(BOMB)),
    "a.txt.bz2": lambda path: path.write_bytes(bz2.compress(FLAT)),
    "a.txt.xz": lambda path: path.write_bytes(lzma.compress(BOMB)),
    "a.jsonl.gz": lambda path: path.write_bytes(gzip.compress(b'{"text": "' + BOMB + b'"}')),
    "a.jsonl": lambda path: path.write_bytes(b'{"text": "' + BOMB + b'"}'),
    "a.xml.gz": lambda path: path.write_bytes(
        gzip.compress(b"<article><body><p>" + BOMB + b"</p></body></article>")
    ),
    "a.html.gz": lambda path: path.write_bytes(gzip.compress(BOMB)),
    "a.txt": lambda path: path.write_bytes(BOMB),
}


@pytest.mark.parametrize(("name", "make"), BOMBS.items(), ids=BOMBS)
def test_what_grows_beyond_measure_is_an_error_and_fills_no_memory(tmp_path, name, make, monkeypatch):
    monkeypatch.setattr("pytest_medfaith.corpus.documents.LARGEST", 4 * MIB)
    make(tmp_path / name)
    tracemalloc.start()
    try:
        with pytest.raises(
            DataError, match=r"times its size|holds more than 4 MiB|a line of 4 MiB"
        ) as caught:
            list(read_documents(tmp_path / name))
        assert tracemalloc.get_traced_memory()[1] < 36 * MIB
    finally:
        tracemalloc.stop()
    assert name.partition(".")[0] in str(caught.value)


def test_a_large_member_that_nobody_reads_is_passed_over(tmp_path):
    noise = os.urandom(5 * MIB)
    tar(tmp_path / "a.tar", "w", a__png=noise, b__txt=b"Iron helps.")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("a.png", noise)
        archive.writestr("b.txt", "Iron helps.")
    for name in ("a.tar", "b.zip"):
        assert [document.text for document in read_documents(tmp_path / name)] == ["Iron helps."]


def test_ordinary_archives_are_read_as_before(tmp_path):
    text = "".join(f"Row {i}: iron {i * 7919 % 9973} mg. " for i in range(40_000)).encode()
    tar(tmp_path / "a.tar.xz", "w:xz", a__txt=text)
    (file,) = source_files(tmp_path / "a.tar.xz")
    assert read_text(file).encode() == text


@pytest.mark.parametrize("kind", ["file", "folder", "relative", "chain", "absolute", "deep"])
def test_a_link_that_leads_out_is_an_error(tmp_path, kind):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key.txt").write_text("secret")
    src = tmp_path / "src"
    (src / "deep").mkdir(parents=True)
    (src / "a.txt").write_text("Iron.")
    link, target = {
        "file": (src / "b.txt", secret / "key.txt"),
        "folder": (src / "b", secret),
        "relative": (src / "b.txt", "../secret/key.txt"),
        "absolute": (src / "b.txt", (secret / "key.txt").resolve()),
        "deep": (src / "deep" / "b.txt", "../../secret/key.txt"),
        "chain": (src / "b.txt", src / "c.txt"),
    }[kind]
    link.symlink_to(target)
    if kind == "chain":
        (src / "c.txt").symlink_to(secret / "key.txt")
    with pytest.raises(
        DataError, match=r"leads out of .*src, to .*; remove the link, or put a copy in its place"
    ):
        list(read_documents(src))


def test_links_within_the_source_and_to_the_source_are_followed(tmp_path):
    src = tmp_path / "src"
    (src / "deep").mkdir(parents=True)
    (src / "a.txt").write_text("Iron.")
    (src / "deep" / "b.txt").symlink_to("../a.txt")
    (tmp_path / "there").symlink_to(src)
    assert [document.text for document in read_documents(tmp_path / "there")] == ["Iron.", "Iron."]


def test_links_in_archives_are_no_pages(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            info = tarfile.TarInfo(f"{kind.decode()}.txt")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        info = zipfile.ZipInfo("link.txt")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    for name in ("a.tar", "b.zip"):
        assert list(read_documents(tmp_path / name)) == []


HIDDEN = [
    "\x1b[31m",
    "\x9b2J",
    "\x07",
    "\x7f",
    "\u202e",
    "\u2066",
    "\u200f",
    "\U000e0041",
    "\u2061",
    "\ufff9",
    "\x85",
    "\u2028",
]


@pytest.mark.parametrize("sign", HIDDEN, ids=ascii)
def test_chunks_hold_no_hidden_signs(tmp_path, sign):
    src = tmp_path / "src"
    src.mkdir()
    (src / f"a{sign}b.txt").write_text(
        f"Iron{sign} helps the blood of many. It is taken daily.", encoding="utf-8"
    )
    row = (
        f'{{"id": "x{sign}y", "title": "T{sign}", "url": "https://e.org/{sign}", "text": "Zinc{sign} '
        f'helps."}}\n'
    )
    (src / "r.jsonl").write_text(
        row if sign not in "\x1b[31m\x07\x7f" else row.replace(sign, ""), encoding="utf-8"
    )
    page = (
        f'<link rel=canonical href="https://e.org/{sign}q"><title>P{sign}</title><p>Iron{sign} tablets.</p>'
    )
    (src / "p.html").write_text(page, encoding="utf-8")
    chunk_source(src, source="s", out=tmp_path / "out")
    for chunk in read_chunks([tmp_path / "out"]):
        for text in (chunk.id, chunk.title, chunk.url, chunk.text):
            left = {one for one in text if unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp")}
            assert left <= {"\n"}, (text, left)


def test_joiners_that_words_need_stay():
    assert normalise("می\u200cخواهم क्\u200dष") == unicodedata.normalize("NFC", "می\u200cخواهم क्\u200dष")
