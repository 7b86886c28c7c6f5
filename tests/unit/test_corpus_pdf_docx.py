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
    """docling's error of that name."""


FAULTS = {
    "broken": ConversionError("no page"),
    "no models": FileNotFoundError("layout model"),
    "no torch": ModuleNotFoundError("torch"),
}


class Converter:
    """Stands in for docling's: the file's bytes are its Markdown; `made` counts the converters."""

    made = 0

    def __init__(self) -> None:
        type(self).made += 1

    def convert(self, source: Any) -> Any:
        text = source.stream.read().decode()
        if text in FAULTS:
            raise FAULTS[text]
        return SimpleNamespace(document=SimpleNamespace(export_to_markdown=lambda: text))


@pytest.fixture
def docling(monkeypatch):
    modules = {
        "docling": {},
        "docling.datamodel": {},
        "docling.datamodel.base_models": {
            "DocumentStream": lambda name, stream: SimpleNamespace(name=name, stream=stream)
        },
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
    assert (first.title, first.sections[0].path, first.sections[0].text) == (
        "Gout",
        ("Gout", "Drugs"),
        "Colchicine 0.5 mg.",
    )
    assert second.sections[0].text == "Urate."
    assert Converter.made == 1


@pytest.mark.usefixtures("docling")
@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("broken", DataError, r"a\.pdf: cannot be converted \(no page\)"),
        (
            "no models",
            DataError,
            (
                r"a\.pdf: docling cannot load its layout models \(layout model\); fetch them with "
                r"`docling-tools models"
            ),
        ),
        ("no torch", MissingExtra, r"reading .*a\.pdf needs the extra 'pdf'"),
    ],
)
def test_what_docling_cannot_convert_is_an_error_with_the_file(tmp_path, text, kind, message):
    with pytest.raises(kind, match=message):
        list(read_documents(write(tmp_path, "a.pdf", text)))


def test_docling_itself_reads_a_docx(tmp_path):
    pytest.importorskip(
        "docling.document_converter", reason="docling comes with the extra pdf, which the tests do without"
    )
    docx = pytest.importorskip("docx", reason="comes with docling")
    page = docx.Document()
    page.add_heading("Gout", 1)
    page.add_paragraph("Gout hurts. Uric acid is high, often > 0.36 mmol/L.")
    page.add_heading("Drugs", 2)
    page.add_paragraph("Colchicine is given at 0.5 mg twice a day.")
    page.add_paragraph("Allopurinol lowers uric acid.", style="List Bullet")
    page.save(tmp_path / "gout.docx")
    (document,) = read_documents(tmp_path / "gout.docx")
    assert document.title == "Gout"
    assert [(section.path, section.text) for section in document.sections] == [
        (("Gout",), "Gout hurts. Uric acid is high, often > 0.36 mmol/L."),
        (("Gout", "Drugs"), "Colchicine is given at 0.5 mg twice a day.\n\n- Allopurinol lowers uric acid."),
    ]
    (tmp_path / "cut.docx").write_bytes((tmp_path / "gout.docx").read_bytes()[:500])
    with pytest.raises(DataError, match=r"cut\.docx: cannot be converted"):
        list(read_documents(tmp_path / "cut.docx"))


def test_without_docling_the_install_line_is_given(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "docling", None)
    monkeypatch.setitem(sys.modules, "docling.datamodel.base_models", None)
    path = write(tmp_path, "a.pdf", "x")
    with pytest.raises(MissingExtra, match=r"pip install 'pytest-medfaith\[pdf\]'"):
        chunk_source(path, source="s", out=tmp_path / "out")
    assert not list((tmp_path / "out").glob("*"))
