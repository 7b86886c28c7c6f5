"""The exceptions that the package raises on purpose. A wrong argument is a plain ValueError."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


class MedfaithError(Exception):
    """Base class of everything that this package raises on purpose.

    Ids and names in a message may come from foreign data. The text of the error therefore holds no control
    characters, and nothing that a CI server would obey as a command.
    """

    def __str__(self) -> str:
        from pytest_medfaith.plain import plain_lines

        return plain_lines(super().__str__())


class SeveralErrors(MedfaithError):
    """Raised at the end of a step that failed in several ways; `messages` holds a message for each."""

    def __init__(self, messages: Sequence[str]) -> None:
        """Keeps `messages` apart, so that each is shown on a line below the card."""
        super().__init__("\n".join(messages))
        self.messages = tuple(messages)


class DataError(MedfaithError):
    """Raised for missing or malformed data or settings; the message names file, line, field and value."""


class CannotWrite(DataError, OSError):
    """Raised where a file cannot be written; `strerror` says why, such as "No space left on device"."""

    def __init__(self, path: object, error: OSError) -> None:
        why = error.strerror or str(error) or type(error).__name__
        super().__init__(
            f"{path}: cannot be written ({why}); expected room on the disk and the right to write there. "
            "Make room, or name another file. What was there before is untouched"
        )
        self.strerror = why


class MissingExtra(MedfaithError, ImportError):
    """Raised where an optional dependency is not installed; the message holds the install line."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs the extra {extra!r}, which is not installed. "
            f"Run: pip install 'pytest-medfaith[{extra}]'"
        )


class TeacherError(MedfaithError):
    """Raised where an LLM cannot be asked, or replies nothing of use; the message names the case."""


class MissingBaseline(MedfaithError):
    """Raised where a gate has no baseline to compare with: none exists, or another set-up made it."""


_LONGEST_QUOTED = 20  # characters: a label, a number or a date, but no sentence
_KEYS_NAMED = 8


def shown(value: object) -> str:
    """Returns `value` as a message may quote it: numbers and short texts whole, of others kind and size.

    "gout" is shown as "'gout'", a text of 300 characters as "a text of 300 characters", because files of
    cases hold what patients wrote, and messages end up in logs.
    """
    if isinstance(value, str):
        return repr(value) if len(value) <= _LONGEST_QUOTED else f"a text of {len(value)} characters"
    if isinstance(value, Mapping):
        keys = ", ".join(shown(key) for key in list(value)[:_KEYS_NAMED])
        return f"an object with {keys}{', ...' * (len(value) > _KEYS_NAMED)}" if value else "an empty object"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def first_names(names: Sequence[str], most: int = 5) -> str:
    """Returns the first `most` names in a line, with "..." where there are more: "iron, gout, ..."."""
    return ", ".join([*names[:most], *["..."] * (len(names) > most)])


def nearest(name: object, known: Iterable[str], *, after: str = ",") -> str:
    """Returns ", did you mean 'gout'?" for the name "gaut"; "" where no known name is similar.

    Args:
        name: what was given; it need not be a text.
        known: the names that are expected.
        after: the sign before the hint.
    """
    import difflib

    near = difflib.get_close_matches(str(name), list(known), n=1)
    return f"{after} did you mean {near[0]!r}?" if near else ""
