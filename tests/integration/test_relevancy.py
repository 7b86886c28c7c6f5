"""`relevancy` as a setting: columns of the card, gates, the run folder; a gate without it does not pass."""

import json


def switched(project, mode):
    path = project.path / "pyproject.toml"
    text = path.read_text()
    settings = f'[tool.medfaith]\nrelevancy = "{mode}"\n[tool.medfaith.slices.mini]'
    path.write_text(text.replace("[tool.medfaith.slices.mini]", settings))


def cases(project):
    (told,) = json.loads((project.path / "out" / "report.json").read_text())["slices"]
    return {one["case"]["id"]: one for one in told["cases"]}


def test_relevancy_is_on_the_card_in_gates_and_in_the_run_folder(project):
    switched(project, "offline")
    gates = ("answer_relevancy >= 0.99", "answer_relevancy.questions >= 0")
    result = project.run(*(f"--medfaith-gate={gate}" for gate in gates), "--medfaith-report", "out")
    result.stdout.fnmatch_lines(["*Relev*Relev-Q*"])
    result.stdout.fnmatch_lines(["*answer_relevancy >= 0.99*wanted at least 0.99*"])
    assert result.ret == 1
    told = cases(project)
    measured = [one for one in told.values() if not one["abstained"]]
    assert measured
    for one in measured:
        assert one["relevancy"]["claims"].keys() == {claim["id"] for claim in one["claims"]}
        assert one["metrics"]["answer_relevancy"] == one["relevancy"]["agreement"]
    assert not any("relevancy" in one for one in told.values() if one["abstained"])


def test_a_gate_does_not_pass_where_relevancy_is_off(project):
    result = project.run("--medfaith-gate", "answer_relevancy >= 0")
    assert result.ret == 1
    result.stdout.fnmatch_lines(['*could not be measured*relevancy = "offline"*'])
    result.stdout.no_fnmatch_line("*Relev*Q*")


def test_an_unknown_mode_is_refused(project):
    switched(project, "on")
    project.run().stdout.fnmatch_lines(["*relevancy is 'on', expected one of off, offline, teacher*"])
