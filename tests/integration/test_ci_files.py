"""action.yml, ci/gitlab.yml and Containerfile: their form, and their shell steps run for real."""

import json
import os
import re
import shlex
import subprocess
import sys
import traceback
from pathlib import Path
from threading import Thread
from unittest import mock

import pytest
from jsonschema import Draft7Validator

REPO = Path(__file__).parents[2]
yaml = pytest.importorskip("yaml", reason="comes with the extra docs")
ACTION = yaml.safe_load((REPO / "action.yml").read_text(encoding="utf-8"))
GITLAB = yaml.safe_load((REPO / "ci/gitlab.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}


# Asks the tests for a run, which they may fork, and ends as it does; all else is Python's.
ASKING = """#!/bin/bash
if [ "${{0##*/}} $1 $2" = "python -m pytest" ]; then shift 2; set -- pytest "$@"
elif [ "${{0##*/}}" = medfaith ]; then set -- medfaith "$@"
else exec {python} "$@"; fi
run=$(mktemp -d {runs}/run-XXXXXX)
printf '%s\\0' "$@" > "$run/arguments"
env -0 > "$run/environment"
mkfifo "$run/status"
echo "$run" > {runs}/asked
status=$(cat "$run/status")
cat "$run/out"
cat "$run/err" >&2
exit "$status"
"""


def answer(run, start, folder):
    """Runs what a script asked for; `run` is the folder of its question."""
    program, *arguments = (run / "arguments").read_text(encoding="utf-8").split("\0")[:-1]
    variables = (run / "environment").read_text(encoding="utf-8").split("\0")[:-1]
    status = "70"
    try:
        with (
            mock.patch.dict(os.environ, dict(one.split("=", 1) for one in variables), clear=True),
            (run / "out").open("w") as out,
            (run / "err").open("w") as err,
        ):
            status = str(start(program, *arguments, folder=folder, stdout=out, stderr=err).wait())
    except Exception:  # noqa: BLE001 - the script that waits shows it
        (run / "err").write_text(traceback.format_exc())
    (run / "status").write_text(status)


@pytest.fixture
def bin_folder(start, project, tmp_path):
    """A folder with a `python` and a `medfaith` whose runs start as all runs of the tests do."""
    os.mkfifo(asked := tmp_path / "asked")
    (tmp_path / "bin").mkdir()
    script = ASKING.format(python=shlex.quote(sys.executable), runs=shlex.quote(str(tmp_path)))
    for name in ("python", "medfaith"):
        (tmp_path / "bin" / name).write_text(script)
        (tmp_path / "bin" / name).chmod(0o755)

    def answer_all():
        while run := asked.read_text().strip():
            answer(Path(run), start, project.path)

    answering = Thread(target=answer_all)
    answering.start()
    yield tmp_path / "bin"
    asked.write_text("\n")
    answering.join()


@pytest.fixture
def shell(project, bin_folder):
    """Returns a function that runs a script in the project, with the `python` and `medfaith` of the tests."""

    def run(script, environ, *options):
        path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
        known = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "CI"))}
        told = {**known, "PATH": path, "PYTHONPATH": str(REPO), **environ}
        return subprocess.run(
            ["/bin/bash", *options, "-c", script],
            cwd=project.path,
            env=told,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def step_environ(name, **inputs):
    """Returns the variables of a step as the runner would set them."""
    defaults = {key: one.get("default", "") for key, one in ACTION["inputs"].items()}
    given = {**defaults, **inputs}

    def filled(text):
        return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: given[found[1]], text)

    return {key: filled(value) for key, value in STEPS[name]["env"].items()}


def test_the_action_has_the_form_of_an_action():
    schema = json.loads((REPO / "tests/data/schemas/github-action.json").read_text(encoding="utf-8"))
    Draft7Validator(schema).validate(ACTION)
    used = set(re.findall(r"inputs\.(\w+)", (REPO / "action.yml").read_text(encoding="utf-8")))
    assert used == ACTION["inputs"].keys()
    for step in ACTION["runs"]["steps"]:  # no input is pasted into a script, where it could be a command
        assert "${{" not in step.get("run", "")


def test_the_steps_of_the_action_run(project, shell):
    summary = project.path / "summary.md"
    on_actions = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    installed = shell(
        STEPS["Install"]["run"], step_environ("Install", install="--help"), "-e", "-o", "pipefail"
    )
    assert installed.returncode == 0, installed.stderr
    environ = step_environ("Test", tests="test_suite.py", arguments="-k iron -p no:cacheprovider")
    ran = shell(STEPS["Test"]["run"], {**environ, **on_actions}, "-e", "-o", "pipefail")
    assert ran.returncode == 0, ran.stdout
    assert "mini" in summary.read_text()
    for name in ("medfaith-report/signature.json", "medfaith-report-junit.xml", "medfaith-report-ctrf.json"):
        assert (project.path / name).is_file()
    told = {**step_environ("Comment", token="t"), **on_actions, "GITHUB_REF": "refs/heads/main"}  # noqa: S106
    commented = shell(STEPS["Comment"]["run"], told, "-e", "-o", "pipefail")
    assert (commented.returncode, commented.stdout) == (0, "no comment: this job runs for no pull request\n")


def test_a_failed_suite_fails_the_step_and_an_input_is_no_command(project, shell):
    environ = step_environ("Test", tests="test_suite.py", shard="", report="a b; touch hacked")
    ran = shell(STEPS["Test"]["run"], environ, "-e", "-o", "pipefail")
    assert ran.returncode == 1
    assert not (project.path / "hacked").exists()
    assert (project.path / "a b; touch hacked" / "card.md").is_file()


def test_the_jobs_of_gitlab_run_as_shards_and_are_merged(project, shell):
    variables = {**GITLAB[".medfaith-base"]["variables"], "MEDFAITH_TESTS": "test_suite.py -k iron"}
    for index in (1, 2):
        (script,) = GITLAB[".medfaith-shard"]["script"]
        nodes = {"CI_NODE_INDEX": str(index), "CI_NODE_TOTAL": "2"}
        assert shell(script, {**variables, **nodes}).returncode == 0
    (script,) = GITLAB[".medfaith-merge"]["script"]
    merged = shell(script, variables)
    assert merged.returncode == 0, merged.stderr
    assert (project.path / "medfaith-report" / "card.md").is_file()
    assert all(name == ".medfaith-base" or "extends" in job for name, job in GITLAB.items())


def test_the_container_is_built_from_wheels_alone():
    lines = (REPO / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    commands = [line.split(None, 1) for line in lines if line and not line.startswith("#")]
    assert [name for name, _ in commands] == ["ARG", "FROM", "COPY", "RUN", "USER", "WORKDIR", "ENTRYPOINT"]
    run = dict(commands)["RUN"]
    assert "--no-index --find-links=/wheels" in run
    assert "http" not in run
