"""Reads a store's address: where the store is, and what is asked of it.

    qdrant+http://localhost:6333/guidelines     a server of Qdrant; qdrant+https where it has a certificate
    qdrant+file:///srv/qdrant/guidelines        the local mode of Qdrant's client, in a folder
    pgvector://me@db.example.org/rag/guidelines a table in the database rag of PostgreSQL
    opensearch+https://me@search:9200/guidelines
    env:GUIDELINES                              the address that this environment variable holds

Behind a question mark an address says what is searched, joined by &: search=words, source=pubmed (may be
repeated), from=2015, to=2024.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import get_args
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from pytest_medfaith.errors import DataError, shown
from pytest_medfaith.retrieval.stores.base import ALL, Only, Search, storable

PREFIX = "store:"  # begins a retriever's name that is an address
_ENVIRONMENT = "env:"
_PORTS = {"qdrant": 6333, "pgvector": 5432, "opensearch": 9200}
_SCHEMES = ("qdrant+http", "qdrant+https", "qdrant+file", "pgvector", "opensearch+http", "opensearch+https")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,47}")  # accepted by all kinds, and short enough for indexes' endings
_YEAR = re.compile(r"\d{4}")
_EXPECTED = (
    "expected qdrant+http://HOST:6333/NAME, qdrant+file:///FOLDER/NAME, pgvector://USER@HOST/DATABASE/NAME, "
    "opensearch+https://USER@HOST:9200/NAME, or env:VARIABLE"
)


@dataclass(frozen=True)
class StoreAddress:
    """Where a store is, and what is asked of it.

    Attributes:
        kind: qdrant, pgvector or opensearch.
        transport: http, https or file; "" for PostgreSQL.
        host: of the server; "" leaves it to PostgreSQL's environment variables, such as PGHOST.
        port: of the server; the kind's usual port where the address has none.
        user: name of the user; "" where the address has none.
        password: may come only from an address in an environment variable; "" elsewhere.
        place: the database of PostgreSQL, or the folder of Qdrant's local mode; else "".
        name: of the collection, table or index.
        search: "vector", or "words" for BM25.
        only: filter of the chunks that are searched.
    """

    kind: str
    transport: str
    host: str
    port: int
    user: str = field(repr=False)
    password: str = field(repr=False)
    place: str
    name: str
    search: Search = "vector"
    only: Only = ALL

    def __str__(self) -> str:
        """Returns the address without user, password and what is searched, for messages and signatures."""
        scheme = self.kind + (f"+{self.transport}" if self.transport else "")
        host = f"[{self.host}]" if ":" in self.host else self.host
        server = "" if self.transport == "file" or not host else f"{host}:{self.port}"
        path = "/".join(filter(None, (self.place.rstrip("/"), self.name)))
        return f"{scheme}://{server}{'' if path.startswith(('/', './')) else '/'}{path}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """Passwords and keys, from the address and from environment variables, that no message may show."""
        names = ("QDRANT_API_KEY", "PGPASSWORD", "OPENSEARCH_PASSWORD")
        return tuple(filter(None, (self.password, *map(os.environ.get, names))))


def is_store(name: str) -> bool:
    """Returns whether a retriever's name is the address of a store: it begins with "store:"."""
    return name.startswith(PREFIX)


def split_reranker(name: str) -> tuple[str, str | None]:
    """Returns (retriever's name, reranker's name): ("rrf", "fast") for "rrf+fast", ("rrf", None) for "rrf".

    The plus sign in "store:qdrant+http://..." belongs to the address.
    """
    scheme, slashes, rest = name.partition("://") if is_store(name) and "://" in name else ("", "", name)
    base, plus, reranker = rest.partition("+")
    return scheme + slashes + base, reranker if plus else None


def refuse_password(name: str) -> None:
    """Refuses a retriever's name with a password in it: cards, signatures and test ids show names.

    Raises:
        ValueError: the name holds a password; the message does not show it.
    """
    if is_store(name) and _holds_password(name.removeprefix(PREFIX)):
        raise ValueError(_SAYS_TOO_MUCH)


def parse_address(given: str) -> StoreAddress:
    """Returns what an address says. "store:" may stand before it.

    Raises:
        DataError: another form, an environment variable that is not set, or a password that is not in an
            environment variable. No message shows the address as given, since it may hold a password.
    """
    text = given.removeprefix(PREFIX)
    if text.startswith(_ENVIRONMENT):
        variable, question, asked = text.removeprefix(_ENVIRONMENT).partition("?")
        held = os.environ.get(variable, "").strip()
        if not held:
            raise DataError(
                f"the store 'env:{variable}' is the address in {variable}, which is not set; set it"
            )
        joint = "&" if "?" in held else "?"
        return _parsed(held + (joint + asked if question else ""), place=f"the address in {variable}")
    if _holds_password(text):
        raise DataError(_SAYS_TOO_MUCH)
    return _parsed(text, place="the address of a store")


def _holds_password(text: str) -> bool:
    """Returns whether the address holds a password: text between a colon and the last @ behind the scheme.

    A malformed address may hold a password as well, so this works without parsing it.
    """
    _, _, rest = text.partition("://")
    user, at, _ = (rest or text).rpartition("@")
    return bool(at and ":" in user)


_SAYS_TOO_MUCH = (
    "the address of a store holds a password, which would be shown on cards and in process lists; put the "
    "whole address into an environment variable and name that: env:VARIABLE. Or leave the password out and "
    "set QDRANT_API_KEY, PGPASSWORD or OPENSEARCH_PASSWORD"
)


def _parsed(text: str, *, place: str) -> StoreAddress:
    """Returns what an address says, once "env:" is replaced; `place` names the address in errors.

    Raises:
        DataError: the address has another form.
    """
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        raise DataError(f"{place} cannot be read; {_EXPECTED}") from None
    if url.scheme not in _SCHEMES:
        raise DataError(f"{place} begins with {shown(url.scheme or 'no scheme')}; {_EXPECTED}")
    kind, _, transport = url.scheme.partition("+")
    folder, _, name = unquote(url.path).rpartition("/")
    if not _NAME.fullmatch(name):
        found = "no name of a store" if "@" in url.path else shown(name)  # it may be the end of a password
        raise DataError(
            f"{place} ends with {found}; expected the name of a store: a small letter, then at most 47 small "
            "letters, digits, - and _"
        )
    search, only = _asked(url.query, place=place)
    return StoreAddress(
        kind=kind,
        transport=transport,
        host=url.hostname or "",
        port=port or _PORTS[kind],
        user=unquote(url.username or ""),
        password=unquote(url.password or ""),
        place=_place(url, kind, transport, folder, place=place),
        name=name,
        search=search,
        only=only,
    )


def _place(url: SplitResult, kind: str, transport: str, folder: str, *, place: str) -> str:
    """Returns the database or folder in an address: "rag" in "pgvector://me@db/rag/guidelines".

    Raises:
        DataError: it is missing, or there is a path where none belongs.
    """
    if transport == "file":
        if url.netloc not in ("", ".") or not folder:
            raise DataError(
                f"{place} names no folder; expected qdrant+file:///FOLDER/NAME, or file://./FOLDER/NAME"
            )
        return f".{folder}" if url.netloc else folder
    held = folder.strip("/")
    if kind == "pgvector" and (not held or "/" in held):
        raise DataError(f"{place} names no database; expected pgvector://USER@HOST/DATABASE/NAME")
    if transport and (held or not url.hostname):
        raise DataError(f"{place} has {'a path before the name' if held else 'no host'}; {_EXPECTED}")
    return held


def _asked(query: str, *, place: str) -> tuple[Search, Only]:
    """Returns (search, filter) from what stands behind the question mark of an address.

    Raises:
        DataError: an unknown key, a wrong value, or years in the wrong order.
    """
    search: Search = "vector"
    sources: list[str] = []
    years: dict[str, int] = {}
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key == "search" and value in get_args(Search):
            search = value  # type: ignore[assignment]
        elif key == "source" and value:
            sources.append(storable(value))
        elif key in ("from", "to") and _YEAR.fullmatch(value):
            years[key] = int(value)
        else:
            said = f"{key} {shown(value)}" if key in ("search", "source", "from", "to") else shown(key)
            raise DataError(
                f"{place} asks for {said}; expected search=vector, search=words, source=NAME, "
                "from=YEAR or to=YEAR behind the question mark, joined by &"
            )
    low, high = years.get("from"), years.get("to")
    if low is not None and high is not None and low > high:
        raise DataError(f"{place} asks for years from {low} to {high}; expected the earlier year first")
    return search, Only(tuple(sources), low, high)
