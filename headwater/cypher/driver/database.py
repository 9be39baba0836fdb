"""The one door to Neo4j: named queries, parameters, and a deadline on everything.

A driver with its default settings was seen to hang 40 s on a paused server, so every wait here has a bound: on
connecting, on getting a connection, server-side on each transaction, and on each answer: while a request runs the
server sends keep-alives when its `server.bolt.connection_keep_alive` settings say so, as those of our own do, and
then a silence of a few seconds is enough; otherwise the driver waits a little longer than the transaction may take.

Failures come out as two kinds: `UnavailableError` (Neo4j is not there, or too slow; trying again may help) and
`QueryError` (the question is wrong; trying again will not).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import Any

from headwater.cypher.driver.bolt import Heard, plain_value, prepare, sent_value
from headwater.cypher.driver.neo4j_import import neo4j
from headwater.cypher.query_catalog import find_query
from headwater.errors import QueryError, UnavailableError

AuthError = neo4j.exceptions.AuthError
ClientError = neo4j.exceptions.ClientError
DatabaseError = neo4j.exceptions.DatabaseError
DriverError = neo4j.exceptions.DriverError
Neo4jError = neo4j.exceptions.Neo4jError
TransientError = neo4j.exceptions.TransientError

CONNECT_SECONDS_MAX = 2.0
ACQUIRE_SECONDS_MAX = 5.0
READ_SECONDS_MAX = 10.0
WRITE_SECONDS_MAX = 60.0
# The longest silence of the connection while a batched statement runs; Neo4j sends a keep-alive every minute.
BATCHES_SECONDS_MAX = 3_600.0
# How much longer than the transaction may take the driver waits for an answer about it.
GRACE_SECONDS = 2.0
# A pooled connection whose server is gone fails at once; what failed later is not tried again.
STALE_SECONDS_MAX = 1.0
# How many rows the driver asks for at a time; all of them where all are wanted anyway.
_ROWS_PULLED, _ALL_ROWS = 1_000, -1
# Of a statement that is not ours: a row may be large.
_ROWS_AT_ONCE = 100
# What is read ahead, and thrown away, comes over the wire as well.
_WIRE_BYTES_PER_BYTE = 4

Row = dict[str, Any]


def _unobserved(name: str, seconds: float) -> None:
    """Nobody listens."""


class _Rows(list[Any]):
    """A list that is not written out: the driver makes text of all parameters, for a log that nobody reads."""

    def __repr__(self) -> str:
        return f"<{len(self)} rows>"


class Transaction:
    """An open transaction: runs queries of the library by name, one after the other.

    For those that return nothing nobody waits: while Neo4j is busy with them, what comes next can be worked out. When
    one fails, the next that is waited for says so, or `settle`.
    """

    def __init__(self, opened: AbstractContextManager[neo4j.Transaction]) -> None:
        self._open = ExitStack()
        self._transaction = self._open.enter_context(opened)
        self._sender = ThreadPoolExecutor(max_workers=1, thread_name_prefix="statements")
        self._unsettled: list[Future[list[Row]]] = []

    def run(self, name: str, /, **parameters: Any) -> list[Row]:
        """The rows of a query; none, at once, of one that returns nothing. What it is given may be changed after.
        Raises UnavailableError or QueryError."""
        rows = self.later(name, **parameters)
        if find_query(name).returns == "nothing":
            return []
        self.settle()
        return rows.result()

    def later(self, name: str, /, **parameters: Any) -> Future[list[Row]]:
        """The rows of a query, for when they are wanted: nobody waits until then."""
        sent = {key: _sent(value) for key, value in parameters.items()}
        self._unsettled.append(self._sender.submit(self._run, find_query(name).text, sent))
        return self._unsettled[-1]

    def settle(self) -> None:
        """Wait for all that was run. Raises what any of it raised first."""
        while self._unsettled:
            self._unsettled.pop(0).result()

    def commit(self) -> Future[float]:
        """Commit when all that was run is done, for which nobody waits: when that was, in seconds since 1970. The
        future raises UnavailableError or QueryError when it was not, or may not have been, committed."""
        committed = self._sender.submit(self._commit)
        self._sender.shutdown(wait=False)
        return committed

    def roll_back(self) -> None:
        """What has not been begun is not run any more; what has is waited for."""
        self._sender.shutdown(cancel_futures=True)
        with suppress(_RolledBackError, UnavailableError, QueryError), self._open:
            raise _RolledBackError

    def _commit(self) -> float:
        with self._open:
            self.settle()
        return time.time()

    def _run(self, text: str, parameters: dict[str, Any]) -> list[Row]:
        try:
            return [_plain(record) for record in self._transaction.run(text, parameters)]
        except (DriverError, Neo4jError) as error:
            raise _ours(error) from error


class _RolledBackError(Exception):
    """Ends a transaction that is not to be committed."""


class Database:
    """A Neo4j database. Safe to share between threads; close it when done."""

    def __init__(
        self,
        uri: str,
        user: str,
        password: str,
        *,
        database: str = "neo4j",
        observed: Callable[[str, float], object] = _unobserved,
    ) -> None:
        """`observed` hears of every query of the library that was read: its name and its seconds."""
        self.uri = uri
        self._observed = observed
        self._database = database
        self._driver = neo4j.GraphDatabase.driver(
            uri,
            auth=(user, password) if password else None,
            connection_timeout=CONNECT_SECONDS_MAX,
            connection_acquisition_timeout=ACQUIRE_SECONDS_MAX,
            liveness_check_timeout=1.0,
            max_transaction_retry_time=0.0,
            notifications_min_severity="OFF",
            user_agent="headwater",
        )

    def close(self) -> None:
        self._driver.close()

    def read(
        self, name: str, /, *, seconds: float = READ_SECONDS_MAX, **parameters: Any
    ) -> list[Row]:
        """The rows of a query of the library. Raises UnavailableError or QueryError."""
        began = time.monotonic()
        rows = self.ask(find_query(name).text, parameters, seconds=seconds)
        self._observed(name, time.monotonic() - began)
        return rows

    def ask(
        self, text: str, parameters: Mapping[str, Any], *, seconds: float = READ_SECONDS_MAX
    ) -> list[Row]:
        """The rows of any statement, in a read transaction that ends after `seconds`."""
        for attempt in (1, 2):
            began = time.monotonic()
            try:
                return self._asked(text, parameters, seconds)
            except UnavailableError as error:
                # A pooled connection may be one to a server that has since been restarted: once more, afresh.
                slow = time.monotonic() - began > STALE_SECONDS_MAX
                if attempt == 2 or slow or not isinstance(error.__cause__, DriverError):
                    raise
        raise AssertionError("unreachable")

    def _asked(self, text: str, parameters: Mapping[str, Any], seconds: float) -> list[Row]:
        """A transaction that begins and ends with its statement: one way to Neo4j and back instead of three."""
        try:
            with self._session(neo4j.READ_ACCESS, _ALL_ROWS) as session:
                # As `run` would do it, to bound the wait for the first word of the answer too.
                opened: Any = session
                opened._connect(neo4j.READ_ACCESS)
                prepare(session, seconds + GRACE_SECONDS)
                asked = neo4j.Query(text, timeout=seconds)
                return [_plain(record) for record in session.run(asked, dict(parameters))]
        except (DriverError, Neo4jError) as error:
            raise _ours(error) from error

    def stream(self, name: str, /, *, seconds: float, **parameters: Any) -> Iterator[Row]:
        """The rows of a query of the library as they come, in one read transaction that must be over within `seconds`:
        for what need not fit into memory. Raises UnavailableError or QueryError."""
        with self._transaction(neo4j.READ_ACCESS, seconds) as transaction:
            for record in transaction.run(find_query(name).text, parameters):
                yield _plain(record)

    def ask_bounded(
        self,
        text: str,
        parameters: Mapping[str, Any],
        *,
        seconds: float,
        rows_max: int,
        bytes_max: int,
    ) -> tuple[list[Row], bool]:
        """The first rows of a statement that is not ours, and whether they are all: at most `rows_max`, and no more
        than `bytes_max` of values. Raises QueryError when not even the first row is within that, or time is up."""
        rows: list[Row] = []
        heard = Heard(bytes_max * _WIRE_BYTES_PER_BYTE)
        try:
            with (
                self._transaction(
                    neo4j.READ_ACCESS, seconds, fetch_size=_ROWS_AT_ONCE
                ) as transaction,
                heard.over(transaction),
            ):
                whole = _first(transaction.run(text, dict(parameters)), rows, rows_max, bytes_max)
        except UnavailableError as error:
            if "TransactionTimedOut" in (getattr(error.__cause__, "code", None) or ""):
                raise QueryError(
                    f"the query took longer than {seconds:g} s", hint="Ask for less."
                ) from error
            if not heard.too_much:
                raise
            whole = False
        if not rows and not whole:
            raise QueryError(
                f"a row of the answer is larger than {bytes_max} bytes", hint="Return less of each."
            )
        return rows, whole

    def begin(self, *, seconds: float = WRITE_SECONDS_MAX) -> Transaction:
        """A write transaction that must be ended by `commit` or `roll_back`. Raises UnavailableError."""
        return Transaction(self._transaction(neo4j.WRITE_ACCESS, seconds))

    @contextmanager
    def write(self, *, seconds: float = WRITE_SECONDS_MAX) -> Iterator[Transaction]:
        """One write transaction: committed when the block ends, rolled back when it raises."""
        transaction = self.begin(seconds=seconds)
        try:
            yield transaction
        except BaseException:
            transaction.roll_back()
            raise
        transaction.commit().result()

    def run_schema(self, text: str) -> None:
        """One statement about constraints or indexes, in a transaction of its own."""
        with self._transaction(neo4j.WRITE_ACCESS, WRITE_SECONDS_MAX) as transaction:
            transaction.run(text).consume()

    def run_batches(self, text: str) -> None:
        """Run a `CALL { } IN TRANSACTIONS` statement: it commits batch by batch and has no time limit."""
        try:
            with self._session(neo4j.WRITE_ACCESS, _ALL_ROWS) as session:
                opened: Any = session
                opened._connect(neo4j.WRITE_ACCESS)
                prepare(session, BATCHES_SECONDS_MAX)
                session.run(neo4j.Query(text, timeout=0)).consume()
        except (DriverError, Neo4jError) as error:
            raise _ours(error) from error

    def plan(self, text: str, parameters: Mapping[str, Any]) -> tuple[str, list[str]]:
        """What EXPLAIN says of a statement: its type (r, rw, w or s) and the operators of its plan.

        A call names its procedure: `ProcedureCall(db.labels)`.
        """
        with self._transaction(neo4j.READ_ACCESS, READ_SECONDS_MAX) as transaction:
            summary = transaction.run(f"EXPLAIN {text}", dict(parameters)).consume()
        operators: list[str] = []
        waiting = [summary.plan] if summary.plan else []
        while waiting:
            node = waiting.pop()
            operator = str(node["operatorType"]).partition("@")[0]
            if operator == "ProcedureCall":
                operator = f"ProcedureCall({str(node['args'].get('Details')).partition('(')[0]})"
            operators.append(operator)
            waiting.extend(node.get("children") or [])
        return summary.query_type or "", operators

    @contextmanager
    def _transaction(
        self, access: str, seconds: float, *, fetch_size: int = _ROWS_PULLED
    ) -> Iterator[neo4j.Transaction]:
        try:
            with (
                self._session(access, fetch_size) as session,
                session.begin_transaction(timeout=seconds) as transaction,
            ):
                prepare(transaction, seconds + GRACE_SECONDS)
                yield transaction
                transaction.commit()
        except (DriverError, Neo4jError) as error:
            raise _ours(error) from error

    def _session(self, access: str, fetch_size: int) -> neo4j.Session:
        return self._driver.session(
            database=self._database, default_access_mode=access, fetch_size=fetch_size
        )


def _ours(error: DriverError | Neo4jError) -> UnavailableError | QueryError:
    """The driver's error in our words."""
    if isinstance(error, AuthError):
        return UnavailableError(
            "Neo4j refused the user name or password",
            hint="Set HEADWATER_NEO4J_USER and HEADWATER_NEO4J_PASSWORD.",
        )
    if isinstance(error, DriverError):
        return UnavailableError(
            f"Neo4j does not answer: {error}",
            hint="Is it running? `headwater doctor` looks at everything.",
        )
    if "OutOfMemory" in (error.code or ""):
        # Neo4j calls this transient; trying the same again would only fail the same.
        return QueryError(f"Neo4j stopped the query, it needs too much memory ({error.code})")
    if isinstance(error, TransientError | DatabaseError) or "Transaction" in (error.code or ""):
        return UnavailableError(f"Neo4j could not do it now ({error.code}): {error.message}")
    assert isinstance(error, ClientError | Neo4jError)
    return QueryError(f"Neo4j refused the query ({error.code}): {error.message}")


def _plain(record: neo4j.Record) -> Row:
    return {
        key: plain_value(value) for key, value in zip(record.keys(), record.values(), strict=True)
    }


def _sent(value: Any) -> Any:
    return _Rows(map(sent_value, value)) if type(value) is list else sent_value(value)


def _first(records: Iterable[neo4j.Record], rows: list[Row], rows_max: int, bytes_max: int) -> bool:
    """Put the first records into `rows`. Whether these are all."""
    left = bytes_max
    for record in records:
        row = _plain(record)
        left -= _size(row)
        if left < 0 or len(rows) == rows_max:
            return False
        rows.append(row)
    return True


def _size(value: Any) -> int:
    """About how many bytes a plain value would be as JSON."""
    if isinstance(value, str | bytes | bytearray):
        return len(value) + 2
    if isinstance(value, dict):
        return sum(len(key) + 4 + _size(item) for key, item in value.items())
    if isinstance(value, list):
        return sum(2 + _size(item) for item in value)
    return 8
