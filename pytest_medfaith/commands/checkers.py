"""`medfaith calibrate` and `medfaith audit`: a checker fitted to your rows, and tested on your corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pytest_medfaith import defaults
from pytest_medfaith.commands.parts import CheckerOption, RootOption, progress_bar, reading_of, say
from pytest_medfaith.errors import DataError

LabelledArgument = Annotated[
    Path,
    typer.Argument(
        help='JSON Lines of {"claim", "evidence", "label"}; a label is entail, neutral or contradict. With '
        "--tune a folder or file of chunks."
    ),
]
FittedOption = Annotated[
    Path, typer.Option(help="The calibration to write, for `calibration` in the settings.")
]
MethodOption = Annotated[
    str,
    typer.Option(help="temperature, or isotonic: a rising curve for each label, for 1,000 rows and more."),
]
PrecisionOption = Annotated[
    float | None,
    typer.Option(
        help="The precision that entail and contradict decisions must reach, such as 0.9. Without it the "
        "thresholds have the best macro-F1."
    ),
]
RiskOption = Annotated[
    float | None,
    typer.Option(
        help="Certify verdicts instead: with probability 0.9 at most this share of the supported, and of the "
        "refuted verdicts that stand is wrong; the others are uncertain."
    ),
]
BaseOption = Annotated[
    Path | None,
    typer.Option(
        "--calibration", help="With --risk: a calibration of this checker that its verdicts come from."
    ),
]
FitSeedOption = Annotated[int, typer.Option(help="Seed of the split and of the intervals.")]
FitReportOption = Annotated[
    Path | None, typer.Option(help="Write the table and the reliability diagrams there (Markdown, SVG).")
]
TuneOption = Annotated[
    bool,
    typer.Option(
        "--tune", help="Fit the thresholds of risk instead, on sentences of a corpus with planted errors."
    ),
]
CorpusArgument = Annotated[
    list[Path], typer.Argument(metavar="CORPUS...", help="Folders or files of chunks in JSON Lines.")
]
LimitOption = Annotated[int, typer.Option(min=1, help="The most claims of each kind of change.")]
AuditSeedOption = Annotated[
    int, typer.Option(help="Seed of the sample of sentences and of the changes in them.")
]
AuditOutOption = Annotated[
    Path | None, typer.Option(help="Write audit.json and audit.md, with every claim, to this folder.")
]
KeptScoresOption = Annotated[Path, typer.Option(help="A file that keeps scores for the next run.")]


def calibrate(
    rows: LabelledArgument,
    out: FittedOption = Path(defaults.CALIBRATION),
    checker: CheckerOption = defaults.CHECKER,
    method: MethodOption = defaults.CALIBRATION_METHOD,
    precision: PrecisionOption = None,
    risk: RiskOption = None,
    calibration: BaseOption = None,
    seed: FitSeedOption = defaults.SEED,
    report: FitReportOption = None,
    root: RootOption = Path(),
    tune: TuneOption = False,
    limit: LimitOption = defaults.TUNE_LIMIT,
) -> None:
    """Fit probabilities and thresholds to labelled rows, or with --tune the thresholds of risk to a corpus.

    The table shows what that changes on rows that were kept out.

    Example: medfaith calibrate labelled.jsonl --precision 0.9 --report calibration

    Example: medfaith calibrate corpus_samples --tune --checker fast

    Or certify verdicts: medfaith calibrate labelled.jsonl --risk 0.05

    The command fits to seven tenths of the rows. The rows kept out share no claim and no evidence with them.
    To use the calibration, name the file in the settings, under calibration. With --tune it prints a table to
    paste.
    """
    if risk is not None:
        fits = tune or precision is not None or bool(report) or method != defaults.CALIBRATION_METHOD
        _certify(rows, out, checker, risk=risk, fits=fits, base=calibration, seed=seed, root=root)
        return
    if tune:
        _tune(rows, checker, limit=limit, seed=seed, report=report, root=root)
        return
    if calibration is not None:
        raise DataError("--calibration belongs to --risk; without --risk a calibration is fitted anew")
    if method not in ("temperature", "isotonic"):
        raise DataError(f"--method is {method!r}; expected temperature or isotonic")
    if precision is not None and not 0 < precision < 1:
        raise DataError(f"--precision is {precision}; expected a share between 0 and 1, such as 0.9")
    _fit(rows, checker, out, method, precision, seed=seed, report=report, root=root)


def _fit(
    rows: Path,
    checker: str,
    out: Path,
    method: Any,
    precision: float | None,
    *,
    seed: int,
    report: Path | None,
    root: Path,
) -> None:
    """Writes the calibration fitted to `rows`, and shows what it changed."""
    from pytest_medfaith.calibration import applying, explanation
    from pytest_medfaith.calibration.fit import fit_calibration
    from pytest_medfaith.calibration.rows import read_labelled_rows
    from pytest_medfaith.checking.loading import load_checker
    from pytest_medfaith.jsonl import refuse_overwriting

    drawn = [report / name for name in explanation.REPORT_FILES] if report else []
    written = {"--out": out, **{f"{path}, of --report": path for path in drawn}}
    refuse_overwriting(written, {"the file of rows": rows})
    loaded = read_labelled_rows(rows)
    judge = load_checker(checker, **reading_of(checker, root))
    progress = progress_bar("pairs")
    run = fit_calibration(loaded, judge, method=method, precision=precision, seed=seed, progress=progress)
    facts = explanation.calibration_facts(run, precision=precision, seed=seed)
    applying.write_calibration(out, run.fitted, facts=facts)
    if report:
        explanation.write_report(report, run)
    notes, table = explanation.calibration_notes(run), explanation.calibration_table(run)
    for line in [*notes, table, *(f"{path}: written" for path in written.values())]:
        say(line)


def _certify(
    rows: Path, out: Path, checker: str, *, risk: float, fits: bool, base: Path | None, seed: int, root: Path
) -> None:
    """Writes a calibration with the thresholds that `rows` certify, and says what they promise.

    `fits` says whether options of a fit, such as --method, were given; they do not go with --risk.
    """
    from pytest_medfaith.calibration import applying, certifying
    from pytest_medfaith.calibration.rows import read_labelled_rows
    from pytest_medfaith.checking.loading import load_checker
    from pytest_medfaith.config import load_settings
    from pytest_medfaith.jsonl import refuse_overwriting

    if fits:
        raise DataError(
            "--risk certifies verdicts and fits nothing: give it without --tune, --precision, --method and "
            "--report"
        )
    if not 0 < risk < 1:
        raise DataError(f"--risk is {risk}; expected a share between 0 and 1, such as 0.05")
    refuse_overwriting({"--out": out}, {"the file of rows": rows})
    s = load_settings(root.resolve())
    judge = load_checker(
        checker,
        rules=s.rules,
        rules_off=s.rules_off,
        linker=s.linker,
        root=s.root,
        **reading_of(checker, root),
    )
    if base:
        judge = applying.calibrated(judge, applying.read_calibration(base))
    loaded = read_labelled_rows(rows)
    found = certifying.certify_checker(loaded, judge, risk=risk, seed=seed, progress=progress_bar("pairs"))
    applying.write_calibration(out, found.fitted, facts=certifying.certified_facts(found, seed=seed))
    for line in [*certifying.certified_lines(found, risk=risk), f"{out}: written"]:
        say(line)


def _tune(corpus: Path, checker: str, *, limit: int, seed: int, report: Path | None, root: Path) -> None:
    from pytest_medfaith.calibration.risk_tuning import risk_items, tune, tuning_text
    from pytest_medfaith.checking.loading import load_checker
    from pytest_medfaith.config import load_settings
    from pytest_medfaith.jsonl import chunk_files, read_chunks, refuse_overwriting, write_text
    from pytest_medfaith.records.answer_risk import RiskSettings

    written = report / "risk.md" if report else None
    refuse_overwriting({"risk.md, of --report": written}, {"a file of the corpus": chunk_files([corpus])})
    settings = load_settings(root.resolve()).risk or RiskSettings()
    judge = load_checker(checker, **reading_of(checker, root))
    progress = progress_bar("pairs")
    items = risk_items(judge, read_chunks([corpus]), settings, limit=limit, seed=seed, progress=progress)
    found = tune(items, settings, seed=seed)
    say(tuning_text(found))
    if written:
        written.parent.mkdir(parents=True, exist_ok=True)
        text = tuning_text(found, style="github")
        write_text(written, f"### Risk by {checker}\n\n" + text.replace("\n", "  \n") + "\n")
        say(f"{written}: written")


def audit(
    corpus: CorpusArgument,
    checker: CheckerOption = defaults.CHECKER,
    limit: LimitOption = defaults.AUDIT_LIMIT,
    seed: AuditSeedOption = defaults.SEED,
    out: AuditOutOption = None,
    cache: KeptScoresOption = Path(defaults.CACHE, defaults.PAIR_SCORES),
) -> None:
    """Test a checker on your corpus.

    Does it catch sentences that were changed, and leave true sentences alone?

    Example: medfaith audit corpus_samples --out audits/today

    The command takes sentences of the corpus, rewords them lightly, and makes one change in each: a negation,
    a direction, a drug, a dose, a unit, a population, a year, or the document that is the evidence. Without
    that last change the evidence of a sentence is its chunk.
    """
    from pytest_medfaith.audit.run import audit_checker
    from pytest_medfaith.cards.audit_card import AUDIT_FILES, audit_card, write_audits
    from pytest_medfaith.checking.loading import load_checker
    from pytest_medfaith.jsonl import chunk_files, read_chunks, refuse_overwriting
    from pytest_medfaith.scoring.cache import check_cache

    written = {f"{out / name}, of --out": out / name for name in AUDIT_FILES} if out else {}
    refuse_overwriting({"--cache": cache, **written}, {"a file of the corpus": chunk_files(corpus)})
    check_cache(cache)
    judge = load_checker(checker, cache=cache, **reading_of(checker, Path()))
    chunks = read_chunks(corpus)
    found = audit_checker(judge, chunks, limit=limit, seed=seed, progress=progress_bar("pairs"))
    title = ", ".join(map(str, corpus))
    say(audit_card(found, title=title))
    for path in write_audits(out, {title: found}) if out else ():
        say(f"{path}: written")
