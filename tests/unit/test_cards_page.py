"""The head of the page, what its data say of unsafe claims, and the page in a browser, if there is any."""

import json
import re
import shutil
import subprocess
from datetime import datetime, timezone

import pytest
from card_samples import LETROZOLE, METFORMIN, case_report, refusal, slice_sample

from pytest_medfaith.cards.facts import error_rates, head_commit, run_facts
from pytest_medfaith.cards.html import html_report
from pytest_medfaith.cards.run_folder import write_run
from pytest_medfaith.cards.run_reading import read_facts
from pytest_medfaith.models.onnx import processor_kernel
from pytest_medfaith.records import Case, Claim, Dropped, Finding, Response, Verdict

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
COMMIT, OTHER = "a" * 40, "b" * 40
NOW = datetime(2026, 11, 29, 5, 0, tzinfo=timezone.utc)
FACTS = {"date": "2026-11-29 05:00 UTC", "project": "my<b>rag", "commit": COMMIT}


def test_the_head_says_date_project_commit_checker_and_error_rates():
    head = html_report([slice_sample(checker="default")], facts=FACTS).partition("<main>")[0]
    for name, value in (
        ("date", "2026-11-29 05:00 UTC"),
        ("project", "my&lt;b&gt;rag"),
        ("commit", COMMIT[:12]),
        ("checker", "default"),
    ):
        assert f"<dt>{name}</dt><dd>{value}</dd>" in head
    assert re.search(r"<summary>\d+ % \(\w+\) to \d+ % \(\w+\)</summary>", head)
    assert re.search(r"<td>\w+</td><td>\d+</td><td>\d+ % \[\d+ %, \d+ %\]</td>", head)


def test_a_checker_without_a_card_is_said_to_be_unmeasured():
    assert "not measured here; <code>medfaith audit</code>" in html_report(
        [slice_sample(checker="someone/model")]
    )
    assert error_rates("someone/model") == []


@pytest.mark.parametrize(
    "card", ["{", "[]", "{}", '{"measured": []}', '{"measured": {"a": 1, "b": {"n": 2}}}']
)
def test_a_folder_with_another_card_has_no_rates(tmp_path, card):
    (tmp_path / "card.json").write_text(card)
    assert error_rates(str(tmp_path)) == []


def test_rates_are_of_the_card_the_lowest_first(tmp_path):
    rows = {
        name: {"n": n, "accuracy": {"value": v, "low": v - 0.1, "high": v + 0.1}}
        for name, n, v in (("a", 5, 0.5), ("b", 7, 0.8))
    }
    (tmp_path / "card.json").write_text(json.dumps({"measured": rows}))
    assert error_rates(str(tmp_path)) == [("b", 7, "20 % [10 %, 30 %]"), ("a", 5, "50 % [40 %, 60 %]")]


def repository(folder, head, **files):
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text(head)
    for name, text in files.items():
        path = folder / ".git" / name.replace("__", "/").replace("_", "-")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_the_commit_is_that_of_head(tmp_path):
    assert head_commit(repository(tmp_path / "a", COMMIT + "\n")) == COMMIT
    assert (
        head_commit(repository(tmp_path / "b", "ref: refs/heads/main\n", refs__heads__main=COMMIT)) == COMMIT
    )
    packed = f"# pack-refs\n{OTHER} refs/heads/other\n{COMMIT} refs/heads/main\n"
    inside = repository(tmp_path / "c", "ref: refs/heads/main\n", packed_refs=packed) / "deep" / "er"
    inside.mkdir(parents=True)
    assert head_commit(inside) == COMMIT
    assert head_commit(repository(tmp_path / "d", "ref: refs/heads/new\n")) == ""
    assert head_commit(repository(tmp_path / "e", "ref: HEAD\n")) == ""
    assert head_commit(repository(tmp_path / "f", "noise")) == ""


def test_the_commit_of_a_worktree(tmp_path):
    main = repository(
        tmp_path / "main", "ref: refs/heads/main\n", refs__heads__main=OTHER, refs__heads__branch=COMMIT
    )
    place = main / ".git" / "worktrees" / "w"
    place.mkdir(parents=True)
    (place / "HEAD").write_text("ref: refs/heads/branch\n")
    (place / "commondir").write_text("../..\n")
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / ".git").write_text(f"gitdir: {place}\n")
    assert head_commit(tmp_path / "w") == COMMIT


def test_facts_of_a_run(tmp_path):
    root = repository(tmp_path / "project", COMMIT)
    facts = run_facts(root, now=NOW, environ={})
    assert facts.pop("processor") == processor_kernel()
    assert facts == {"date": "2026-11-29 05:00 UTC", "project": "project", "commit": COMMIT}
    assert run_facts(root, now=NOW, environ={"GITHUB_SHA": OTHER})["commit"] == OTHER
    assert run_facts(root, now=NOW, environ={"GITHUB_SHA": "<script>"})["commit"] == COMMIT
    write_run(tmp_path / "run", [slice_sample()], signature={"seed": 1}, facts=FACTS)
    assert read_facts(tmp_path / "run") == FACTS
    assert COMMIT[:12] in (tmp_path / "run" / "card.html").read_text(encoding="utf-8")


ANSWER = """## Dose

**Letrozole** is started at *2.5 mg* once a day [2]. See [the leaflet](https://example.org/x) and \
![a picture](https://example.org/x.png).

- Metformin raises insulin levels in women with PCOS [1].
  - nested <b onclick=alert(1)>point</b> <script>alert(1)</script>
1. **Maximum dose: 8 g of paracetamol a day**

> Ask a doctor.

| drug | dose |
| --- | ---: |
| letrozole | **25 mg** once a day |

```
code *1* < 2
```
---
snake_case_name and 5*3*2 stay, 2 \\* 3. [click](javascript:alert(1)) **open
"""


def claim(name, text, label, *findings):
    start = ANSWER.index(text)
    return Verdict(
        claim=Claim(id=name, text=text, start=start, end=start + len(text)),
        label=label,
        score=0.9,
        threshold=0.5,
        chunk_id=METFORMIN.id,
        findings=findings,
    )


UNSAFE = Finding(rule="safety.dose", message="too much", claim_span=(0, 5), effect="none")
VERDICTS = (
    claim("c1", "Metformin raises insulin levels in women with PCOS", "refuted"),
    claim("c2", "**Letrozole** is started at *2.5 mg* once a day", "supported"),
    claim("c3", "Maximum dose: 8 g of paracetamol a day", "supported", UNSAFE),
    claim("c4", "letrozole | **25 mg** once a day", "supported"),
)


def page():
    unsafe = case_report("md").with_(
        case=Case(
            id="md-1",
            question="What dose?",
            history=({"role": "user", "content": "I take <b>letrozole</b>."},),
        ),
        response=Response(answer=ANSWER, contexts=(METFORMIN, LETROZOLE)),
        dropped=(
            Dropped(
                text="Ask a doctor.",
                span=(ANSWER.index("Ask a"), ANSWER.index("Ask a") + 13),
                reason="advice without content",
            ),
        ),
        metrics={"unchecked_share": 0.12},
        verdicts=tuple(
            verdict.with_(label="supported") if verdict.label == "refuted" else verdict
            for verdict in VERDICTS
        ),
    )
    return html_report([slice_sample(reports=(case_report("pcos-1"), refusal("pcos-2"), unsafe))])


def test_the_data_count_unsafe_claims():
    data = json.loads(re.search(r'id="data">(.*?)</script>', page())[1])
    assert [one["unsafe"] for one in data["cases"]] == [0, 0, 1]
    assert [one["unsafe"] for one in data["cases"][2]["claims"]] == [False, False, True, False]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Returns the page as a browser draws it, the last case opened."""
    if BROWSER is None:
        pytest.skip("no Chromium is installed here")
    folder = tmp_path_factory.mktemp("page")
    (folder / "card.html").write_text(page(), encoding="utf-8")
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-sync",
    ]
    call = [
        BROWSER,
        *options,
        f"--user-data-dir={folder / 'profile'}",
        "--dump-dom",
        f"{(folder / 'card.html').as_uri()}#case-2",
    ]
    return subprocess.run(call, capture_output=True, text=True, check=True, timeout=120).stdout


def text_of(markup):
    return re.sub(r"<[^>]+>", "", markup)


def answer_of(drawn):
    return re.search(r'<div class="answer">(.*?)</div><h4', drawn, re.DOTALL)[1]


def test_unsafe_cases_stand_first_and_carry_their_sign(drawn):
    assert re.findall(r'id="case-(\d)"', drawn) == ["2", "0", "1"]
    assert '<span class="unsafe" title="1 unsafe">1 ⚠</span>' in drawn
    assert drawn.count("⚠ unsafe (1)") == 1
    first = re.search(r'<div class="claim [^>]*>(.*?)</div>', drawn)[1]
    assert "⚠ unsafe" in text_of(first)
    assert "Maximum dose" in first


def test_markdown_is_drawn(drawn):
    answer = answer_of(drawn)
    assert '<div class="head">Dose</div>' in answer
    assert "<strong>Letrozole</strong>" in answer
    assert "<em>2.5 mg</em>" in answer
    assert '<span class="linked" title="https://example.org/x">the leaflet</span>' in answer
    assert (
        '<div class="quote"><span class="dropped" title="not checked: advice without content">'
        "Ask a doctor.</span></div>" in answer
    )
    assert "<th>" in answer
    assert "<strong>25 mg</strong>" in answer
    assert '<div class="code">code *1* &lt; 2</div>' in answer
    assert "snake_case_name and 5*3*2 stay, 2 * 3." in text_of(answer)
    assert "**open" in text_of(answer)
    assert "##" not in answer
    assert "| ---" not in answer


def test_earlier_turns_stand_before_the_answer_as_text(drawn):
    turns = '<h4>Earlier turns</h4><p class="soft turn"><b>user: </b>I take &lt;b&gt;letrozole&lt;/b&gt;.</p>'
    assert f"{turns}<h4>Answer</h4>" in drawn
    assert drawn.count("Earlier turns</h4>") == 1


def test_what_was_not_checked_is_listed_with_reason_and_share(drawn):
    assert "<h4>Not checked: 0.12 of the answer's words</h4>" in drawn
    assert '<li>Ask a doctor. <span class="soft">advice without content</span></li>' in drawn


def test_nothing_of_an_answer_becomes_an_element_or_a_link(drawn):
    answer = answer_of(drawn)
    assert "&lt;b onclick=alert(1)&gt;point&lt;/b&gt; &lt;script&gt;alert(1)&lt;/script&gt;" in answer
    assert set(re.findall(r"<(\w+)", answer)) <= {
        "div",
        "span",
        "strong",
        "em",
        "code",
        "a",
        "button",
        "table",
        "tr",
        "td",
        "th",
    }
    assert re.findall(r'href="([^"]*)"', answer) == ["#chunk-2-1", "#chunk-2-0"]
    assert "[click](javascript:alert(1))" in text_of(answer)


def test_claims_keep_their_places_in_what_is_drawn(drawn):
    answer = answer_of(drawn)
    assert re.findall(r"<button[^>]*>(.)(.)</button>", answer) == [
        ("✓", "b"),
        ("✓", "a"),
        ("✓", "c"),
        ("✓", "d"),
    ]
    marked = re.findall(r'<span class="span \w+" data-claims="2">(.*?)</span>', answer)
    assert text_of("".join(marked)) == "Letrozole is started at 2.5 mg once a day"
