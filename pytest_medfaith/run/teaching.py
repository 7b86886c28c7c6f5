"""The teacher at the end of a run: what it said is saved, and what it left unanswered fails the run."""

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
    """Raises where the teacher left items unanswered: a spent budget or a failing server is no pass.

    Yields lines on what was asked outside the cases, as in an audit, and saves what was recorded.

    Raises:
        TeacherError: items are unanswered; the message says how many, and why.
        DataError: the cassette, the file of recorded replies, cannot be written.
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
    """Saves what was recorded. Returns lines on what was asked outside the cases, and why this is no pass.

    Such requests come from `medfaith_check`, and from tests that failed before they measured their case. The
    reason is "" where all is well: else items without a usable answer, or a cassette that could not be
    written. ([], "") where no teacher was asked for.
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
    """Saves what the teacher said in the block, even where it ends with an error: replies are paid for."""
    try:
        yield
    finally:
        if "teacher" in vars(resources):
            resources.teacher.save()
