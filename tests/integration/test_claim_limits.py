"""Limits on claims in a whole run: they hold, are shown, and are part of its signature."""

import json

import pytest

from pytest_medfaith.cli import main


def test_limits_hold_in_a_run_are_shown_and_signed(plain_project, capsys):
    def signature(more):
        plain_project.configure(f"[tool.medfaith]\n{more}")
        with pytest.raises(SystemExit) as end:
            main(
                [
                    "evaluate",
                    "mini",
                    "--root",
                    str(plain_project.path),
                    "--report",
                    str(plain_project.path / "out"),
                ]
            )
        assert end.value.code in (0, 1)
        capsys.readouterr()
        rows = [
            json.loads(line)
            for line in (plain_project.path / "out" / "claims.jsonl").read_text().splitlines()
        ]
        answers = [row for row in rows if row["of"] == "answer"]
        return json.loads((plain_project.path / "out" / "signature.json").read_text())["signature"], answers

    plain, all_claims = signature("")
    limited, claims = signature("max_claims = 1\n")
    assert "claim_limits" not in plain
    assert limited["claim_limits"] == "min_words=0|most=1"
    assert len(claims) < len(all_claims)
    assert "max_claims" in (plain_project.path / "out" / "report.json").read_text()
