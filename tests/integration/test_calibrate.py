import json
from functools import partial

import pytest

from pytest_medfaith.cli import main


def run(*arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return ended.value.code or 0


def labelled():
    things = (
        "iron zinc copper folate biotin iodine calcium magnesium selenium potassium chromium vitamin".split()
    )
    for number, thing in enumerate(things, start=2):
        evidence = f"In {thing} deficiency, {thing} tablets are taken for {number} months."
        yield {
            "claim": f"{thing.title()} tablets are taken for {number} months.",
            "evidence": evidence,
            "label": "entail",
        }
        yield {"claim": f"Most {thing} tablets are white.", "evidence": evidence, "label": "neutral"}
        yield {
            "claim": f"{thing.title()} tablets are not taken in {thing} deficiency.",
            "evidence": evidence,
            "label": "contradict",
        }


def test_calibrate_writes_a_file_that_check_uses(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = list(labelled())
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("calibrate", "rows.jsonl", "--checker", "fast", "--report", "shown") == 0
    told = capsys.readouterr().out
    assert "fitted to 27 rows, measured on 9 that share no claim and no evidence with them" in told
    assert "before" in told
    assert sorted(path.name for path in (tmp_path / "shown").iterdir()) == [
        "calibration.md",
        "reliability-after.svg",
        "reliability-before.svg",
    ]
    fitted = json.loads((tmp_path / "medfaith-calibration.json").read_text())
    assert (fitted["checker"], fitted["method"], fitted["rows"]["held_out"]) == ("fast", "temperature", 9)

    (tmp_path / "one.jsonl").write_text(json.dumps({"id": 1, **rows[1]}) + "\n")
    check = partial(run, "check", "one.jsonl", "--checker", "fast")
    assert check("--out", "plain.jsonl") == 0
    fitted["temperature"] = 50.0
    (tmp_path / "flat.json").write_text(json.dumps(fitted))
    assert check("--out", "flat.jsonl", "--calibration", "flat.json") == 0
    plain, flat = (
        json.loads((tmp_path / name).read_text())["probs"] for name in ("plain.jsonl", "flat.jsonl")
    )
    assert max(flat.values()) < 0.4 < max(plain.values())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "platt"), "--method is 'platt'; expected temperature or isotonic"),
        (("--precision", "90"), "--precision is 90.0; expected a share between 0 and 1, such as 0.9"),
        ((), "none.jsonl"),
    ],
)
def test_what_cannot_be_fitted_is_one_plain_message(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert run("calibrate", "none.jsonl", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "medfaith-calibration.json").exists()
