"""A project brings a report format into the run folder, by a dotted name or from an installed package."""

import json
import re
import sys
from pathlib import Path

import pytest

from pytest_medfaith.cards.run_folder import write_run

REPO = Path(__file__).parents[2]
FORMATS = """
def counts(slice_reports, *, signature, facts):
    names = "".join(f"{report.slice},{report.retriever},{len(report.reports)}\\n" for report in slice_reports)
    return f"{facts['project']},{sorted(signature['corpora'])}\\n{names}"

counts.file_name = "counts.csv"


def broken(slice_reports, *, signature, facts):
    return slice_reports[0].no_such_thing

broken.file_name = "broken.txt"


def textless(slice_reports, *, signature, facts):
    return b"bytes"

textless.file_name = "bytes.txt"
"""
CONFIGURATION = "\n[tool.medfaith]\nformats = {}\n"
SHIPPED = {"report.json", "card.md", "card.html", "claims.csv", "claims.jsonl", "signature.json"}
COUNTS = "{},['mini']\nmini,bm25,3\n"
# As the installed script runs: the folder is not on the path by itself.
SCRIPT = "import sys; sys.path.remove(''); from pytest_medfaith.cli import main; main()"


@pytest.fixture
def package(project):
    (project.path / "my_pkg").mkdir()
    (project.path / "my_pkg" / "__init__.py").touch()
    (project.path / "my_pkg" / "cards.py").write_text(FORMATS)
    return project


def medfaith(project, *arguments):
    return project.pytester.run(sys.executable, "-c", SCRIPT, *arguments)


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_dotted_name_writes_its_file_beside_the_shipped_ones(package, workers):
    package.configure(CONFIGURATION.format('["my_pkg.cards:counts"]'))
    result = package.run("--medfaith-report", "out", *workers)
    assert result.ret == 1  # a test of the project fails, as without the format
    written = files(package.path / "out")
    assert SHIPPED | {"counts.csv"} <= written.keys()
    assert written["counts.csv"].decode() == COUNTS.format(package.path.name)
    assert not [name for name in written if name.startswith(".")]  # the temporary file was renamed


def test_an_installed_package_offers_a_format_to_every_project(package):
    offered = package.path / "my_formats-1.0.dist-info"
    offered.mkdir()
    (offered / "METADATA").write_text("Metadata-Version: 2.1\nName: my-formats\nVersion: 1.0\n")
    (offered / "entry_points.txt").write_text("[medfaith.formats]\ncounts = my_pkg.cards:counts\n")
    package.run("--medfaith-report", "out")
    written = files(package.path / "out")
    assert written["counts.csv"].decode() == COUNTS.format(package.path.name)
    assert json.loads(written["signature.json"])["files"] == {"counts": "counts.csv"}
    again = medfaith(package, "report", "out", "--format", "counts")
    again.stdout.fnmatch_lines([f"{package.path.name},*", "mini,bm25,3"])
    (offered / "entry_points.txt").unlink()
    package.run("--medfaith-report", "out")
    assert "counts.csv" not in files(package.path / "out")  # it would pass for that of this run


def test_a_wrong_format_is_said_before_the_first_test_and_an_earlier_run_stays(package):
    write_run(package.path / "out", [], signature={})
    before = files(package.path / "out")
    package.configure(CONFIGURATION.format('["my_pkg.cards:counts", "sarif"]'))
    result = package.run("--medfaith-report", "out")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: no format is called 'sarif'; expected one of terminal, *"])
    assert files(package.path / "out") == before


def test_a_format_that_raises_loses_no_other_file(package):
    package.configure(
        CONFIGURATION.format('["my_pkg.cards:broken", "my_pkg.cards:textless", "my_pkg.cards:counts"]')
    )
    result = package.run("--medfaith-report", "out")
    assert result.ret == 4
    told = [line for line in result.stdout.lines if line.startswith("ERROR: ")]
    assert len(told) == 2, told
    assert re.fullmatch(
        r"ERROR: broken.txt is not in .*out: "
        r"the format 'my_pkg.cards:broken' raised AttributeError: .*no_such_thing.*"
        r"\(.*cards.py:10\); mend it. All other files are there; then make it with: "
        r"medfaith report .*out --format my_pkg.cards:broken --out broken.txt",
        told[0],
    )
    assert "the format 'my_pkg.cards:textless' gave a bytes; expected the text of bytes.txt" in told[1]
    written = files(package.path / "out")
    assert SHIPPED | {"counts.csv"} <= written.keys()
    assert not {"broken.txt", "bytes.txt"} & written.keys()
    source = package.path / "my_pkg" / "cards.py"
    source.write_text(source.read_text().replace("slice_reports[0].no_such_thing", '"mended"'))
    medfaith(package, "report", "out", "--format", "my_pkg.cards:broken", "--out", "broken.txt")
    assert (package.path / "broken.txt").read_text() == "mended\n"


def test_evaluate_writes_it_too(package):
    package.configure(CONFIGURATION.format('["my_pkg.cards:counts", "junit"]'))
    result = medfaith(package, "evaluate", "mini", "--report", "out", "--checker", "fast")
    assert result.ret == 0, result.stderr.str()
    assert {"counts.csv", "junit.xml"} <= files(package.path / "out").keys()


def test_the_example_of_the_docs_runs(project):
    page = (REPO / "docs" / "reports.md").read_text(encoding="utf-8")
    section = page.partition("## A format of your own")[2]
    examples = re.findall(
        r"^<!-- example: (\S+) -->\n```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL
    )
    for name, code in examples:
        (project.path / name).parent.mkdir()
        (project.path / name).write_text(code)
    project.configure(re.search(r"^```toml\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[1])
    result = project.run("--medfaith-report", "out")
    assert result.ret == 1, result.stdout.str()
    text = (project.path / "out" / "metrics.txt").read_text()
    assert 'medfaith{slice="mini",retriever="bm25",metric="faithfulness"} 0.75\n' in text
    assert text.endswith("# EOF\n")
