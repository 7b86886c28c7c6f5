import builtins
import json
import math
import re
from html.parser import HTMLParser

import pytest
from card_samples import (
    LETROZOLE,
    METFORMIN,
    METRICS,
    REFUTED,
    SUPPORTED,
    case_report,
    large_case,
    slice_sample,
    value,
)

from pytest_medfaith.cards.html import html_report
from pytest_medfaith.errors import DataError, MissingExtra
from pytest_medfaith.records import Case, Response

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)> &amp; <!-- "


class Page(HTMLParser):
    """The elements of a page, and the text of its scripts by id."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.scripts, self._inside = [], {}, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = dict(attrs).get("id", "script") if tag == "script" else None

    def handle_endtag(self, _tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside:
            self.scripts[self._inside] = data

    def data(self):
        return json.loads(self.scripts["data"])


def evil_slice():
    report = case_report()
    chunk = METFORMIN.with_(text=EVIL, title=EVIL, url="javascript:alert(3)")
    return slice_sample(
        slice=EVIL,
        missing=(EVIL,),
        partial=True,
        reports=(
            report.with_(
                case=Case(id=EVIL, question=EVIL),
                response=Response(answer=EVIL, contexts=(chunk,)),
                verdicts=(REFUTED.with_(reason=EVIL),),
            ),
        ),
    )


def test_foreign_texts_stay_texts():
    plain, evil = (
        Page(html_report([slice_sample(reports=(case_report(),))])),
        Page(html_report([evil_slice()], signature={"x": EVIL})),
    )
    assert [tag for tag, _ in evil.elements].count("script") == 3  # data, a chunk, the script of the page
    assert {tag for tag, _ in evil.elements} - {tag for tag, _ in plain.elements} <= {"pre"}
    assert evil.data()["cases"][0]["answer"] == EVIL
    assert json.loads(evil.scripts["chunk-0"])["text"] == EVIL


def test_the_page_asks_nothing_of_the_network():
    text = html_report([slice_sample(), slice_sample(retriever="bm25")], history=[("0.1", [slice_sample()])])
    page = Page(text)
    assert not [
        tag
        for tag, attrs in page.elements
        if tag in ("link", "img", "iframe") or "src" in attrs or "href" in attrs
    ]
    assert "default-src 'none'" in text
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|innerHTML|eval\(", text)


def test_a_case_holds_its_claims_evidence_and_citations():
    one = Page(html_report([slice_sample()])).data()["cases"][0]
    refuted = one["claims"][0]
    assert one["answer"][slice(*refuted["span"])] == REFUTED.claim.text
    assert (
        METFORMIN.text[slice(*refuted["evidence"])] == "Metformin lowers insulin levels in women with PCOS."
    )
    assert (refuted["chunk"], refuted["supporting"], refuted["conflict"]) == (0, [1], True)
    assert refuted["rules"] == [
        {
            "rule": "direction",
            "message": "the claim says up, the evidence says down",
            "effect": "refute",
            "claimed": "raises",
            "found": "lowers",
        }
    ]
    assert [(one["answer"][slice(*cite["span"])], cite["contexts"]) for cite in one["cited"]] == [
        ("[1]", [0]),
        ("[2]", [1]),
    ]
    assert [(gold["said"], gold["held"], gold["by"]) for gold in one["gold"]] == [
        (False, True, "llm-written"),
        (True, True, "clinician"),
    ]


def test_a_chunk_that_many_cases_share_is_kept_once():
    page = Page(html_report([slice_sample(), slice_sample(retriever="bm25")]))
    assert sorted(name for name in page.scripts if name.startswith("chunk-")) == ["chunk-0", "chunk-1"]
    assert json.loads(page.scripts["chunk-1"])["id"] == LETROZOLE.id


def test_spans_count_as_the_browser_does():
    answer = "😀😀 Metformin helps."
    verdict = SUPPORTED.with_(claim=SUPPORTED.claim.with_(start=3, end=len(answer)))
    report = case_report(verdicts=(verdict,)).with_(response=Response(answer=answer, contexts=(METFORMIN,)))
    claim = Page(html_report([slice_sample(reports=(report,))])).data()["cases"][0]["claims"][0]
    start, end = (2 * unit for unit in claim["span"])
    assert answer.encode("utf-16-le")[start:end].decode("utf-16-le") == "Metformin helps."


def test_a_span_outside_its_text_is_left_out():
    verdict = REFUTED.with_(span=(0, 10_000), claim=REFUTED.claim.with_(start=0, end=0))
    claim = Page(html_report([slice_sample(reports=(case_report(verdicts=(verdict,)),))])).data()["cases"][0][
        "claims"
    ][0]
    assert claim["span"] is None
    assert claim["evidence"] is None


def test_the_overview_shows_values_intervals_gates_and_counts():
    text = html_report([slice_sample(missing=("pcos-9",), partial=True)], signature={"seed": 7})
    assert "<title>medfaith: 1 of 3 gates failed, 1 of 3 inconclusive</title>" in text
    assert "<b>0.82</b><small>0.76 to 0.88</small>" in text
    assert (
        '<span class="pill fail">fail</span> <span>hallucination &lt;= 0.001: '
        "hallucination is 0.004; wanted at most 0.001</span>" in text
    )
    assert '<p class="warn">PARTIAL: 1 of 4 cases missing: pcos-9; the numbers are of the others</p>' in text
    assert "6 gold claims: 3 clinician, 3 llm-written" in text
    assert "1201 records skipped while the cases were read: 1,200 empty answer, 1 id used before" in text
    assert "&#34;seed&#34;: 7" in text
    assert "<dt>C-Util</dt>" in text


def test_the_trend_is_of_the_same_slice_retriever_checker_and_k():
    old = slice_sample(metrics={**METRICS, "faithfulness": value("faithfulness", 0.5)}, reports=())
    text = html_report(
        [slice_sample()], history=[("0.1", [old, slice_sample(retriever="bm25")]), ("0.2", [])]
    )
    assert text.count('aria-label="Faithful over 2 runs"') == 1
    assert "0.1: 0.50" in text
    assert "<h2>Trend" not in html_report([slice_sample()])
    assert "<h2>Trend" not in html_report([slice_sample()], history=[("0.1", [slice_sample(k=5)])])


def test_rows_of_an_ablation_stand_side_by_side():
    assert "<h2>Side by side</h2>" in html_report([slice_sample(), slice_sample(retriever="bm25")])
    assert "<h2>Side by side</h2>" not in html_report([slice_sample()])
    assert "<h2>Side by side</h2>" not in html_report(
        [slice_sample(metrics={}), slice_sample(retriever="bm25", metrics={})]
    )


def test_no_slice_is_a_page_too():
    assert Page(html_report([])).data() == {"runs": [], "cases": []}


def test_without_jinja_the_error_holds_the_install_line(monkeypatch):
    real = builtins.__import__

    def without_jinja(name, *args, **kwargs):
        if name.split(".")[0] in ("jinja2", "markupsafe"):  # the extra brings both
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_jinja)
    with pytest.raises(
        MissingExtra,
        match=r"The HTML report needs the extra 'report'.*pip install 'pytest-medfaith\[report\]'",
    ):
        html_report([slice_sample()])


def test_nan_is_an_error():
    with pytest.raises(DataError, match="expected a finite one"):
        html_report([slice_sample(metrics={"faithfulness": value("faithfulness", math.nan)})])


def test_a_case_adds_its_texts_and_little_more_to_the_page():
    """A page of thousands of cases opens at once only while none of its texts is written several times."""
    reports = tuple(large_case(number) for number in range(20))
    few, many = (len(html_report([slice_sample(reports=reports[:count])])) for count in (10, 20))
    texts = sum(
        len(report.case.question) + len(report.response.answer)
        + sum(len(verdict.claim.text) for verdict in report.verdicts)
        + sum(len(chunk.text) for chunk in report.response.contexts)
        for report in reports[10:]
    )  # fmt: skip
    assert texts < many - few < 1.3 * texts
