"""`medfaith evaluate`: a configured slice without pytest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pytest_medfaith.commands.parts import RootOption, RulesOffOption, progress_bar, say

SliceArgument = Annotated[
    str, typer.Argument(metavar="SLICE", help="A slice configured under [tool.medfaith.slices].")
]
RetrieversOption = Annotated[
    list[str] | None,
    typer.Option("--retriever", help="Instead of the configured one; again for an ablation."),
]
CheckersOption = Annotated[
    list[str] | None,
    typer.Option("--checker", help="Instead of the configured one; may be given again."),
]
DepthOption = Annotated[int | None, typer.Option(min=1, help="How many chunks to retrieve.")]
LimitOption = Annotated[int | None, typer.Option(min=1, help="At most so many cases.")]
RunFolderOption = Annotated[Path | None, typer.Option(help="Write the run folder there.")]
IntervalsOption = Annotated[bool, typer.Option("--verbose", help="Show intervals.")]


def evaluate(
    name: SliceArgument,
    root: RootOption = Path(),
    retriever: RetrieversOption = None,
    checker: CheckersOption = None,
    k: DepthOption = None,
    limit: LimitOption = None,
    rules_off: RulesOffOption = None,
    report: RunFolderOption = None,
    verbose: IntervalsOption = False,
) -> None:
    """Check a slice's recorded responses; print its card.

    Exits with 1 if a gate fails.

    Example: medfaith evaluate medquad-nih --retriever bm25 --retriever rrf
    """
    from pytest_medfaith.cards.audit_card import audit_card
    from pytest_medfaith.cards.run_begin import begin_run, check_report_folder
    from pytest_medfaith.cards.terminal import result_card
    from pytest_medfaith.run.finish import finish_run
    from pytest_medfaith.run.resources import MedfaithSession, Options, evaluate_target, payload

    options = Options(
        retriever=tuple(retriever or ()),
        checker=tuple(checker or ()),
        k=k,
        limit=limit,
        rules_off=tuple(rules_off or ()),
        report=report,
        verbose=verbose,
    )
    session = MedfaithSession(root=root.resolve(), options=options)
    targets = session.targets(name, {})
    session.expect(targets)
    session.check_baseline()
    if report:
        check_report_folder(report, session.settings, baseline=session.baseline_path)
        begin_run(report)
    progress = progress_bar("cases")
    for number, target in enumerate(targets, start=1):
        session.ledger.add(payload(target, evaluate_target(session, target)))
        progress(number, len(targets))
    finish = finish_run(session, partial=False, add_property=None)
    say(result_card(finish.reports, verbose=verbose))
    for title, audit in finish.audits.items():
        say("\n" + audit_card(audit, title=title))
    for line in [*finish.notes, *(f"ERROR: {error}" for error in finish.errors)]:
        say(line, err=True)
    if finish.status != "passed":
        raise typer.Exit(2 if finish.status == "unusable" else 1)
