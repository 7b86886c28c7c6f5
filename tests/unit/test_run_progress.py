import pytest

from pytest_medfaith.run.collected import Progress
from pytest_medfaith.run.progress import LINES, ProgressLine, progress_text


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


class Counted:
    """Stands for what was collected of a run that does one case a second."""

    def __init__(self, clock, cases):
        self.clock, self.cases = clock, cases

    def progress(self):
        done = int(self.clock.now - 100)
        return Progress(done=done, cases=self.cases, claims=4 * done, scored=4 * done, refuted=done)


def shown(cases):
    clock = Clock()
    line, collected = ProgressLine(clock), Counted(clock, cases)
    lines = []
    for _ in range(cases):
        clock.now += 1
        lines += [text for text in [line.next(collected)] if text]
    return lines


def test_a_short_run_shows_none():
    assert shown(9) == []


def test_a_run_of_a_minute_shows_one_every_ten_seconds():
    lines = shown(60)
    assert len(lines) == 5  # none at the end: the card comes
    assert lines[0] == "medfaith: 10 of 60 cases, 40 claims, hallucination 0.250, less than a minute left"


def test_a_long_run_shows_about_twenty():
    assert abs(len(shown(7200)) - LINES) <= 1


def test_nothing_is_said_before_the_first_case():
    clock = Clock()
    line = ProgressLine(clock)
    clock.now += 0.5 + 60
    assert line.next(Counted(Clock(), 5)) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (59, "less than a minute left"),
        (61, "about 1 min left"),
        (3600, "about 60 min left"),
        (3 * 3600, "about 3 h left"),
    ],
)
def test_the_time_left(seconds, text):
    assert (
        progress_text(Progress(done=1, cases=2, claims=0, scored=0, refuted=0), seconds)
        == f"medfaith: 1 of 2 cases, 0 claims, {text}"
    )
