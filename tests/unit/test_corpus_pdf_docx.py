import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from pytest_medfaith.corpus import pdf_docx
from pytest_medfaith.corpus.chunk import chunk_source
from pytest_medfaith.corpus.documents import read_documents
from pytest_medfaith.errors import DataError, MissingExtra


class ConversionError(Exception):
    """docling's own."""


class Converter:
    """Stands in for docling's: the file's bytes are its Markdown; `made` counts the converters."""

    made = 0

    def __init__(self) -> None:
        type(self).made += 1

    def convert(self, source: Any) -> Any:
        text = source.stream.read().decode()
        if "broken" in text:
            raise ConversionError("no page")
        return SimpleNamespace(document=SimpleNamespace(export_to_markdown=lambda: text))


@pytest.fixture
def docling(monkeypatch):
    modules = {
        "docling": {},
        "docling.datamodel": {},
        "docling.datamodel.base_models": {"DocumentStream": lambda name, stream: SimpleNamespace(name=name, stream=stream)},
        "docling.exceptions": {"ConversionError": ConversionError},
        "docling.document_converter": {"DocumentConverter": Converter},
    }
    for name, attributes in modules.items():
        module = ModuleType(name)
        module.__dict__.update(attributes)
        monkeypatch.setitem(sys.modules, name, module)
    Converter.made = 0
    pdf_docx._converter.cache_clear()
    yield
    pdf_docx._converter.cache_clear()


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.usefixtures("docling")
def test_pdf_and_docx_are_read_as_markdown_with_one_converter(tmp_path):
    write(tmp_path / "in", "a.pdf", "# Gout\n\n## Drugs\n\nColchicine 0.5 mg.")
    write(tmp_path / "in", "b.docx", "Urate.")
    first, second = read_documents(tmp_path / "in")
    assert (first.title, first.sections[0].path, first.sections[0].text) == ("Gout", ("Gout", "Drugs"), "Colchicine 0.5 mg.")
    assert second.sections[0].text == "Urate."
    assert Converter.made == 1


@pytest.mark.usefixtures("docling")
def test_what_docling_cannot_convert_is_an_error_with_the_file(tmp_path):
    with pytest.raises(DataError, match=r"a\.pdf: cannot be converted \(no page\)"):
        list(read_documents(write(tmp_path, "a.pdf", "broken")))


def test_without_docling_the_install_line_is_given(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "docling", None)
    monkeypatch.setitem(sys.modules, "docling.datamodel.base_models", None)
    path = write(tmp_path, "a.pdf", "x")
    with pytest.raises(MissingExtra, match=r"pip install 'pytest-medfaith\[pdf\]'"):
        chunk_source(path, source="s", out=tmp_path / "out")
    assert not list((tmp_path / "out").glob("*"))
