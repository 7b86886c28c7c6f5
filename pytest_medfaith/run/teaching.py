"""What a teacher means for the end of a run: what it left unanswered fails it, what it said is saved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_medfaith.errors import MedfaithError, TeacherError
from pytest_medfaith.records import SliceReport
from pytest_medfaith.teacher.use import LlmUse, failure_text, read_uses, sum_uses, use_lines

if TYPE_CHECKING:
    from pytest_medfaith.run.resources import Resources


def check_answered(resources: Resources, reports: Iterable[SliceReport]) -> Iterator[str]:
    """Refuses a run whose teacher left items unanswered: no budget and no fault of a server is a pass.

    Yields what was asked apart from the cases, as in an audit, and saves what was recorded.

    Raises:
        TeacherError: items are unanswered; the message says how many, and why.
        DataError: the cassette cannot be written.
    """
    apart = LlmUse()
    if "teacher" in vars(resources):
        apart = resources.teacher.take_use()
        yield from use_lines(apart)
        resources.teacher.save()
    use = sum_uses([apart, read_uses(one.llm for report in reports for one in report.reports)])
    if use.failures:
        raise TeacherError(
            f"{failure_text(use)}. What was not judged is unscored, so the run does not pass; mend the "
            "cause, or raise token_budget or money_budget under [tool.medfaith.llm], and run again"
        )


def end_teaching(resources: Resources) -> tuple[list[str], str]:
    """Saves what was recorded; returns what was asked outside the slices' cases, and why this is no pass.

    Such are the requests of `medfaith_check`, and of tests that failed before they measured their case. The
    reason is "" where all is well.
    """
    if "teacher" not in vars(resources):
        return [], ""
    use = resources.teacher.take_use()
    try:
        resources.teacher.save()
    except (MedfaithError, OSError) as error:
        return use_lines(use), f"the cassette could not be written: {error}"
    return use_lines(use), failure_text(use) if use.failures else ""


@contextmanager
def recording(resources: Resources) -> Iterator[None]:
    """Saves what the block recorded, also where it ends with an error: its answers are paid for."""
    try:
        yield
    finally:
        if "teacher" in vars(resources):
            resources.teacher.save()
