"""What an answer can cite: its contexts by id, title and address, and how many of them there are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pytest_medfaith.answers.identity import plain_address, plain_name, pmid_of
from pytest_medfaith.records import Chunk

_TITLE_WORDS = 2  # a title of one word, such as "Metformin", is a word of many sentences
_MOST_UNKNOWN = 20  # without known contexts, a higher number in round brackets is no citation
_PREFIX = re.compile(
    r"^(?:(?:source|sources|doc|document|passage|context|chunk|ref|reference|cite|id|see|from)\s*[:#]\s*"
    r"|[#@^])",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"[\d_:/#.-]")


@dataclass(frozen=True)
class Citable:
    """The contexts of an answer by the names that it may give them.

    Without contexts nothing is known of them.
    """

    contexts: tuple[Chunk, ...] = field(default=())

    @classmethod
    def of(cls, contexts: Sequence[Chunk]) -> Citable:
        """Returns what an answer can cite that was given `contexts`."""
        return cls(tuple(contexts))

    @cached_property
    def _ids(self) -> dict[str, str]:
        """{id: id} of the contexts."""
        return {chunk.id: chunk.id for chunk in self.contexts}

    @cached_property
    def _plain(self) -> dict[str, str]:
        """{plain title or plain id: id}; titles of one word are left out."""
        titled = {
            plain_name(chunk.title): chunk.id
            for chunk in reversed(self.contexts)
            if len(chunk.title.split()) >= _TITLE_WORDS
        }
        return titled | {plain_name(chunk.id): chunk.id for chunk in self.contexts if plain_name(chunk.id)}

    @cached_property
    def _shapes(self) -> frozenset[str]:
        """The ids with "0" for each number, of ids with letters and digits: "nih-0" for "nih-3"."""
        return frozenset(
            _shape(chunk.id)
            for chunk in self.contexts
            if re.search(r"\d", chunk.id) and re.search(r"[^\W\d_]", chunk.id)
        )

    @cached_property
    def _addresses(self) -> frozenset[str]:
        """The plain addresses of the contexts."""
        return frozenset(plain_address(chunk.url) for chunk in self.contexts if chunk.url)

    @cached_property
    def _pmids(self) -> frozenset[str]:
        """The PMIDs of the contexts."""
        return frozenset(filter(None, map(pmid_of, self.contexts)))

    @property
    def most(self) -> int:
        """The highest number in round brackets that can be a citation."""
        return len(self.contexts) or _MOST_UNKNOWN

    def has_addresses(self) -> bool:
        """Returns whether a context has an address. Then an unknown address is that of no context."""
        return bool(self._addresses)

    def has_address(self, url: str) -> bool:
        """Returns whether a context has the address `url`."""
        return plain_address(url) in self._addresses

    def has_number(self, digits: str) -> bool:
        """Returns whether `digits` is the PMID or id of a context."""
        return digits in self._pmids or digits in self._ids

    def anchored(self, target: str) -> str:
        """Returns the id of the context that the target of a link names, such as `#nih-3`; "" for none."""
        name = target.removeprefix("#")
        return self._ids.get(name) or (self._plain.get(plain_name(name), "") if name else "")

    def named(self, given: str, *, square: bool) -> str:
        """Returns the marker that the words `given` in brackets mean; "" where they name no context.

        Words in square brackets may differ from an id or a title in signs and case. Words of the shape of an
        id, as "nih-9" and "nih-3", name a context that does not exist: they come back as they are. Round
        brackets have so many other uses that they must name an id or a title letter by letter.

        Args:
            given: the words in the brackets.
            square: True for square brackets, False for round ones.
        """
        name = _PREFIX.sub("", given.strip()).strip()
        if not name or name.isdigit():
            return ""
        if not square:
            is_title = len(name.split()) >= _TITLE_WORDS and any(name == one.title for one in self.contexts)
            known = self._ids.get(name, "") if _SIGNS.search(name) else ""
            return known or (self._plain.get(plain_name(name), "") if is_title else "")
        known = self._ids.get(name) or self._plain.get(plain_name(name), "")
        return known or (name if _shape(name) in self._shapes else "")


def _shape(name: str) -> str:
    """Returns `name` with "0" for each number."""
    return re.sub(r"\d+", "0", name)


NOTHING_KNOWN = Citable()
