"""The few exceptions of the package. Wrong use of an argument is a plain ValueError."""

from __future__ import annotations


class MedfaithError(Exception):
    """Base of everything this package raises on purpose."""


class DataError(MedfaithError):
    """A file or record is missing, malformed or inconsistent; the message names file, line, field and value."""


class MissingExtra(MedfaithError, ImportError):
    """An optional dependency is not installed; the message holds the install line."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs the extra {extra!r}, which is not installed. Run: pip install 'pytest-medfaith[{extra}]'")


class MissingBaseline(MedfaithError):
    """A gate compares with a baseline that is not there, or that another set-up wrote."""


class TeacherError(MedfaithError):
    """The LLM endpoint did not answer, or answered in no usable form."""
