"""PostgreSQL with the extension pgvector as a store: a table of rows, and a table with all stores' states.

Below 10,000 rows a search compares all of them. From there on it asks an approximate index (HNSW), which is
built when the load ends.
"""

from __future__ import annotations

import json
import math
import re
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from pytest_medfaith.retrieval.known_encoders import Metric
from pytest_medfaith.retrieval.stores.address import StoreAddress
from pytest_medfaith.retrieval.stores.base import ALL, Found, Only, Row, Search, StoreFault

INDEX_FROM = 10_000  # rows; comparing fewer takes a few milliseconds, and finds the nearest for certain
_WIDEST_INDEX = 2000  # numbers of a vector that pgvector can index; wider vectors are compared one by one
_LEAST_VERSION = (
    0,
    8,
)  # of pgvector: from this version on a search goes on if a filter leaves out most of what it found
_LOCK = 0x6D656466  # "medf" in ASCII; with this lock two loads make the table of states one after the other
_OPERATORS = {"ip": ("<#>", "vector_ip_ops"), "l2": ("<->", "vector_l2_ops")}
_NO_SERVER = ("invalid response", "unexpected response", "unsupported protocol", "expected authentication")
_WRONG_USER = ("authentication failed", "no password supplied", "no pg_hba.conf entry")
_NO_ROLE = r'role ".*" does not exist'
_COUNTING = 30  # counting may take so many times as long as a search: PostgreSQL reads the table for it
_WHERE = (
    " where (%(sources)s::text[] is null or source = any(%(sources)s))"
    " and (%(low)s::integer is null or year >= %(low)s) and (%(high)s::integer is null or year <= %(high)s)"
)


def open_pgvector(address: StoreAddress, timeout: float) -> PgvectorStore:
    """Returns the store at `address`; `timeout` is in seconds, for connecting and for each statement.

    What the address leaves out comes from PostgreSQL's usual places: PGPASSWORD, PGSSLMODE, ~/.pgpass.
    """
    import psycopg  # noqa: F401 - whether it is there

    return PgvectorStore(address, timeout)


class PgvectorStore:
    """A table of PostgreSQL; its methods are described in `base.Store`."""

    searches: tuple[Search, ...] = ("vector",)

    def __init__(self, address: StoreAddress, timeout: float) -> None:
        self._address, self._timeout = address, timeout
        self._connection: Any = None

    def state(self) -> Mapping[str, Any] | None:
        """Returns the state in the table of states; None where it has no row for this store."""
        from psycopg.errors import UndefinedTable

        with self._asked() as ask:
            try:
                found = ask("select state from {states} where name = %s", [self._address.name])
            except UndefinedTable:
                return None
        if not found:
            return None
        held = found[0][0]
        return held if isinstance(held, Mapping) else {}

    def create(self, state: Mapping[str, Any], *, dimension: int, metric: Metric) -> None:  # noqa: ARG002
        """Makes the table and writes its state, in a single transaction; the metric is not used here."""
        name = self._address.name
        with self._asked(whole=True) as ask:
            ask("select pg_advisory_xact_lock(%s)", [_LOCK])
            _check_extension(ask)
            ask("create table if not exists {states} (name text primary key, state jsonb not null)")
            if ask("select 1 from {states} where name = %s", [name]):
                return
            if ask("select to_regclass(%s) is not null", [f'"{name}"'])[0][0]:
                raise StoreFault("is a table that something else made", remedy="name another store")
            ask(
                "create table {table} (key text primary key, digest text not null, chunk text not null, "
                "source text not null, year integer, vector vector({dimension}) not null)",
                dimension=int(dimension),
            )
            ask("insert into {states} values (%s, %s::jsonb)", [name, json.dumps(dict(state))])

    def write_state(self, state: Mapping[str, Any]) -> None:
        """Replaces the state, after indexing the vectors of a large table."""
        with self._asked(whole=True) as ask:
            ask("set local statement_timeout = 0")  # a large index takes minutes
            if state["chunks"] >= INDEX_FROM and state["dimension"] <= _WIDEST_INDEX:
                ask(
                    "create index if not exists {by_vector} on {table} using hnsw (vector {operators})",
                    operators=_OPERATORS[state["metric"]][1],
                )
            ask("create index if not exists {by_source} on {table} (source)")
            ask("create index if not exists {by_year} on {table} (year)")
            ask("analyze {table}")
            ask(
                "update {states} set state = %s::jsonb where name = %s",
                [json.dumps(dict(state)), self._address.name],
            )

    def digests(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Returns {key: digest} for those of `keys` that have a row."""
        with self._asked() as ask:
            return dict(ask("select key, digest from {table} where key = any(%s)", [list(keys)]))

    def upsert(self, rows: Sequence[Row]) -> None:
        """Writes rows in a single transaction."""
        values = [
            (row.key, row.digest, row.chunk, row.source, row.year, _as_text(row.vector)) for row in rows
        ]
        with self._asked(whole=True) as ask:
            ask.many(
                "insert into {table} values (%s, %s, %s, %s, %s, %s::vector) on conflict (key) do update set "
                "digest = excluded.digest, chunk = excluded.chunk, source = excluded.source, "
                "year = excluded.year, vector = excluded.vector",
                values,
            )

    def count(self, only: Only = ALL) -> int:
        """Returns how many rows pass the filter."""
        with self._asked(whole=True) as ask:
            ask(
                "select set_config('statement_timeout', %s, true)",
                [str(round(1000 * self._timeout * _COUNTING))],
            )
            return int(ask("select count(*) from {table}{where}", _values(only))[0][0])

    def by_vector(
        self, vector: Sequence[float], *, metric: Metric, top_k: int, only: Only = ALL
    ) -> Sequence[Found]:
        """Returns the rows nearest to `vector`; a score is minus the distance, or the inner product."""
        with self._asked() as ask:
            rows = ask(
                "select chunk, digest, vector {operator} %(asked)s::vector as distance from {table}{where} "
                "order by distance limit %(most)s",
                {**_values(only), "asked": _as_text(vector), "most": top_k},
                operator=_OPERATORS[metric][0],
            )
        if not all(math.isfinite(row[2]) for row in rows):
            raise StoreFault("gave a row without a finite distance")
        return [Found(chunk, digest, -float(distance)) for chunk, digest, distance in rows]

    def by_words(self, words: str, *, top_k: int, only: Only = ALL) -> Sequence[Found]:
        """Raises NotImplementedError: a store without "words" in `searches` is never asked this."""
        raise NotImplementedError

    def index_bytes(self) -> int | None:
        """Returns the bytes of the table and its indexes on disk; never None."""
        with self._asked() as ask:
            return int(ask("select pg_total_relation_size(%s::regclass)", [f'"{self._address.name}"'])[0][0])

    def close(self) -> None:
        """Ends the connection."""
        if self._connection is not None:
            with suppress(Exception):  # it may be broken, which is why it is closed
                self._connection.close()
            self._connection = None

    @contextmanager
    def _asked(self, *, whole: bool = False) -> Iterator[_Asking]:
        """Yields a function that runs a statement; with `whole` the block is a single transaction.

        Exceptions of psycopg in the block become StoreFault.
        """
        import psycopg

        try:
            ask = _Asking(self._connected(), self._address.name)
            with self._connection.transaction() if whole else nullcontext():
                yield ask
        except psycopg.Error as error:
            fault = _fault(error)
            if fault.may_pass:
                self.close()  # the next try connects anew
            raise fault from None

    def _connected(self) -> Any:
        """Returns the open connection, after connecting where there is none."""
        if self._connection is None or self._connection.closed:
            import psycopg

            one, wait = self._address, max(1, round(self._timeout))
            given: dict[str, Any] = {"host": one.host, "dbname": one.place, "user": one.user}
            given |= {"port": one.port if one.host else 0, "password": one.password}
            known = {key: value for key, value in given.items() if value}
            known |= {"connect_timeout": wait, "keepalives_idle": wait, "tcp_user_timeout": 1000 * wait}
            connection = psycopg.connect(**known, autocommit=True, application_name="medfaith")
            weakref.finalize(self, connection.close)
            connection.execute(
                "select set_config('statement_timeout', %s, false), set_config('hnsw.ef_search', '200', "
                "false), set_config('hnsw.iterative_scan', 'strict_order', false)",
                [str(round(1000 * self._timeout))],
            )
            self._connection = connection
        return self._connection


class _Asking:
    """Runs SQL statements on a connection, with {table}, {states} and index names filled in for a store."""

    def __init__(self, connection: Any, name: str) -> None:
        from psycopg import sql

        self._connection = connection
        ends = {"table": "", "by_vector": "__vector", "by_source": "__source", "by_year": "__year"}
        self._names: dict[str, Any] = {key: sql.Identifier(name + end) for key, end in ends.items()}
        self._names["states"] = sql.Identifier("medfaith_stores")
        self._names["where"] = sql.SQL(_WHERE)

    def __call__(self, statement: str, values: Any = None, **parts: Any) -> Any:
        """Returns the rows of a statement, [] where it gives none.

        Args:
            statement: SQL with names in braces, such as "select key from {table}".
            values: its parameters.
            parts: further SQL for names in braces; it must come from this module, never from users.
        """
        cursor = self._connection.execute(self._filled(statement, parts), values)
        return cursor.fetchall() if cursor.description else []

    def many(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Runs a statement once for each row of parameters."""
        with self._connection.cursor() as cursor:
            cursor.executemany(self._filled(statement, {}), rows)

    def _filled(self, statement: str, parts: Mapping[str, Any]) -> Any:
        """Returns a statement with its names in braces replaced, quoted as SQL needs."""
        from psycopg import sql

        return sql.SQL(statement).format(
            **self._names,
            **{key: sql.SQL(str(part)) for key, part in parts.items()},
        )


def _check_extension(ask: _Asking) -> None:
    """Switches pgvector on in the database; StoreFault if it is missing or older than 0.8."""
    from psycopg.errors import Error

    try:
        ask("create extension if not exists vector")
    except Error as error:
        raise StoreFault(
            f"has no extension vector ({error})",
            remedy="install pgvector on its server, and let an administrator run: CREATE EXTENSION vector",
        ) from None
    version = ask("select extversion from pg_extension where extname = 'vector'")[0][0]
    if tuple(map(int, version.split(".")[:2])) < _LEAST_VERSION:
        least = ".".join(map(str, _LEAST_VERSION))
        raise StoreFault(f"has pgvector {version}", remedy=f"install pgvector {least} or newer there")


def _as_text(vector: Sequence[float]) -> str:
    """Returns a vector as pgvector reads it: "[0.5,-0.25]"."""
    return f"[{','.join(map(repr, vector))}]"


def _values(only: Only) -> dict[str, Any]:
    """Returns a filter as the parameters of `_WHERE`; None leaves a condition out."""
    return {"sources": list(only.sources) or None, "low": only.from_year, "high": only.to_year}


def _fault(error: Any) -> StoreFault:
    """Returns the fault for an exception of psycopg, with what the user can do."""
    import psycopg

    said, state = " ".join(str(error).split()), error.sqlstate or ""
    if state.startswith("28") or any(text in said for text in _WRONG_USER) or re.search(_NO_ROLE, said):
        return StoreFault(
            f"refuses the user or the password ({said})", remedy="name the user, and set PGPASSWORD"
        )
    if state == "3D000" or re.search(r'database ".*" does not exist', said):
        return StoreFault(f"is in no database there ({said})", remedy="create the database, or name another")
    if state.startswith("42501"):
        return StoreFault(f"refuses this user ({said})", remedy="grant the user the right to it")
    if any(text in said for text in _NO_SERVER):
        return StoreFault(f"gave an answer that is not PostgreSQL's ({said})")
    if isinstance(error, psycopg.OperationalError):  # timeouts of statements are among these
        return StoreFault(f"cannot be reached, or not in time ({said})", may_pass=True)
    return StoreFault(f"did not take a statement ({said})", remedy="see what else uses the table")
