"""The one way to Neo4j: named queries with parameters, and a deadline on everything.

A driver with its default settings hung 40 s on a paused server. So every wait here has a bound:
connecting, getting a connection from the pool, each transaction on the server, and each answer.
While a request runs, the server sends keep-alives if its `server.bolt.connection_keep_alive`
settings say so, as those of `headwater.local` do. A silence of a few seconds then suffices to give
up; otherwise the driver waits a little longer than the transaction may take.

Failures are of two kinds. `UnavailableError`: Neo4j is away or too slow, and a retry may help.
`QueryError`: the query is wrong, and a retry will not help.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from threading import Lock
from typing import Any

from headwater.cypher.driver.bolt import (
    ByteCounter,
    bound_answers,
    connect,
    take_first,
    to_bolt,
    to_row,
)
from headwater.cypher.driver.connection import encryption_of, translated
from headwater.cypher.driver.explain import in_caller_text
from headwater.cypher.driver.neo4j_import import neo4j
from headwater.cypher.query_catalog import find_query, refuse_newer
from headwater.errors import QueryError, TimedOutError, UnavailableError

DriverError = neo4j.exceptions.DriverError
Neo4jError = neo4j.exceptions.Neo4jError

CONNECT_SECONDS_MAX = 2.0
ACQUIRE_SECONDS_MAX = 5.0
READ_SECONDS_MAX = 10.0
WRITE_SECONDS_MAX = 60.0
# The longest silence of the connection while a batched statement runs; Neo4j sends a keep-alive
# every minute.
BATCHES_SECONDS_MAX = 3_600.0
# How much longer than the transaction may take the driver waits for an answer.
GRACE_SECONDS = 2.0
# A pooled connection to a server that is gone fails at once; a later failure is not retried.
STALE_SECONDS_MAX = 1.0
# The rows that the driver asks for at a time; all of them where all are wanted anyway.
_ROWS_PER_PULL, _ALL_ROWS = 1_000, -1
# For a caller's own statement, whose rows may be large.
_ROWS_PER_BOUNDED_PULL = 100
# Rows that are read ahead and thrown away come over the wire as well.
_WIRE_BYTES_PER_BYTE = 4

# Marks the transactions of statements that callers wrote, for `read/state/outlived`.
_OF_CALLER = {"statement": "of a caller"}

# A row of a result: the value of each column. Nodes are dicts of their properties, instants are in
# UTC.
Row = dict[str, Any]
# A function that receives the name of each query that was read, and its seconds.
OnQuery = Callable[[str, float], object]


def _ignore_query(name: str, seconds: float) -> None:
    """Take no notice of a query."""


class _Rows(list[Any]):
    """A list with a short text: the driver renders all parameters, for a log that is off."""

    def __repr__(self) -> str:
        return f"<{len(self)} rows>"


class Transaction:
    """An open write transaction: runs queries of the catalog by name, one after the other.

    Statements that return no rows are pipelined: `run` returns at once. Their errors surface at the
    next call that waits, or in `settle`. A graph of a newer version is not written.
    """

    def __init__(self, opened: AbstractContextManager[neo4j.Transaction]) -> None:
        self._open = ExitStack()
        self._transaction = self._open.enter_context(opened)
        self._sender = ThreadPoolExecutor(max_workers=1, thread_name_prefix="statements")
        # Before every other statement; no call waits for it alone.
        self._unsettled: list[Future[Any]] = [self._sender.submit(refuse_newer, self._read)]

    def run(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run a query and return its rows; a query that returns nothing does so at once.

        Args:
            name: The query, for example `write/runs/runs`.
            **parameters: Its parameters. The caller may change them afterwards.

        Returns:
            The rows, empty for a query that returns nothing.

        Raises:
            UnavailableError: Neo4j is away, or could not do it in time; NewerVersionError too.
            QueryError: This query, or one before it, is wrong.
        """
        rows = self.submit(name, **parameters)
        if find_query(name).returns == "nothing":
            return []
        self.settle()
        return rows.result()

    def submit(self, name: str, /, **parameters: Any) -> Future[list[Row]]:
        """Run a query without waiting, and return its future rows.

        Args:
            name: The query.
            **parameters: Its parameters. The caller may change them afterwards.
        """
        packed = {key: _packed(value) for key, value in parameters.items()}
        rows = self._sender.submit(self._run, find_query(name).text, packed)
        self._unsettled.append(rows)
        return rows

    def settle(self) -> None:
        """Wait for every query that was run. Raises the first error of any of them."""
        while self._unsettled:
            self._unsettled.pop(0).result()

    def commit(self) -> Future[float]:
        """Commit after every query that was run, without waiting.

        Returns:
            The time of the commit, in seconds since 1970. The future raises UnavailableError or
            QueryError if the transaction was not committed, or may not have been.
        """
        committed = self._sender.submit(self._commit)
        self._sender.shutdown(wait=False)
        return committed

    def roll_back(self) -> None:
        """Roll back: cancel queries that have not begun, and wait for one that has."""
        self._sender.shutdown(cancel_futures=True)
        with suppress(_RolledBackError, UnavailableError, QueryError), self._open:
            raise _RolledBackError

    def _commit(self) -> float:
        with self._open:
            self.settle()
            refuse_newer(self._read)  # it may have been migrated meanwhile
        return time.time()

    def _read(self, name: str, /, **parameters: Any) -> list[Row]:
        return self._run(find_query(name).text, parameters)

    def _run(self, text: str, parameters: dict[str, Any]) -> list[Row]:
        try:
            return [to_row(record) for record in self._transaction.run(text, parameters)]
        except (DriverError, Neo4jError) as error:
            raise translated(error) from error


class _RolledBackError(Exception):
    """The end of a transaction that is not committed."""


class Database:
    """A Neo4j database. Threads may share it; close it in the end."""

    def __init__(
        self,
        uri: str,
        user: str,
        password: str,
        *,
        database: str = "neo4j",
        on_query: OnQuery = _ignore_query,
        planning_seconds: float = 0.0,
        ca: str = "",
    ) -> None:
        """Make a database; it connects at the first query.

        Args:
            uri: Its address, for example `bolt://127.0.0.1:7687`.
            user: The name of the Neo4j user.
            password: The password of the user; empty: none is sent.
            database: The name of the database in the server.
            on_query: A function that receives the name and the seconds of each catalog query.
            planning_seconds: Additional time of a question, in which Neo4j may plan it.
            ca: A file with the authority of the server's certificate, for `bolt+s` and `neo4j+s`;
                empty: those of the system.

        Raises:
            SettingsError: The file cannot be used.
        """
        self.uri = uri
        self._on_query = on_query
        self.planning_seconds = planning_seconds
        self._database = database
        self._is_closed = False
        # The number of sessions in use, and the lock of changes to it.
        self._sessions, self._sessions_lock = 0, Lock()
        address, encryption = encryption_of(uri, ca)
        self._driver = neo4j.GraphDatabase.driver(
            address,
            **encryption,
            auth=(user, password) if password else None,
            connection_timeout=CONNECT_SECONDS_MAX,
            connection_acquisition_timeout=ACQUIRE_SECONDS_MAX,
            liveness_check_timeout=1.0,
            max_transaction_retry_time=0.0,
            notifications_min_severity="OFF",
            user_agent="headwater",
        )

    def close(self) -> None:
        """Close all connections as soon as no thread waits for an answer; new questions fail.

        The driver breaks in both threads if a connection is closed under its user.
        """
        self._is_closed = True
        self._close_unused()

    def _close_unused(self) -> None:
        with self._sessions_lock:
            if not self._sessions:
                self._driver.close()

    def read(
        self, name: str, /, *, seconds: float = READ_SECONDS_MAX, **parameters: Any
    ) -> list[Row]:
        """Run a query of the catalog in a read transaction.

        Args:
            name: The query, for example `read/nodes/properties`.
            seconds: The time after which Neo4j ends the transaction. A limit of `READ_SECONDS_MAX`
                or more is extended by `planning_seconds`.
            **parameters: The parameters of the query.

        Returns:
            The rows: for each the value of every column of the query, as plain Python. Nodes are
            dicts of their properties, instants are datetimes in UTC.

        Raises:
            UnavailableError: Neo4j is away, or the time was up.
            QueryError: The query or a parameter is wrong.
        """
        if seconds >= READ_SECONDS_MAX:
            seconds += self.planning_seconds
        began = time.monotonic()
        rows = self.ask(find_query(name).text, parameters, seconds=seconds)
        self._on_query(name, time.monotonic() - began)
        return rows

    def ask(
        self, text: str, parameters: Mapping[str, Any], *, seconds: float = READ_SECONDS_MAX
    ) -> list[Row]:
        """Run any statement in a read transaction.

        Args:
            text: One statement of Cypher.
            parameters: Its parameters.
            seconds: The time after which Neo4j ends the transaction.

        Returns:
            The rows, as `read` returns them.

        Raises:
            UnavailableError: Neo4j is away, or the time was up.
            QueryError: The statement or a parameter is wrong.
        """
        began = time.monotonic()
        try:
            return self._run_alone(text, parameters, seconds)
        except UnavailableError as error:
            # The server may have restarted since: retry once, over a new connection.
            is_slow = time.monotonic() - began > STALE_SECONDS_MAX
            if is_slow or not isinstance(error.__cause__, DriverError):
                raise
        return self._run_alone(text, parameters, seconds)

    def stream(self, name: str, /, *, seconds: float, **parameters: Any) -> Iterator[Row]:
        """Run a query of the catalog and yield its rows as they arrive, for results that need not
        fit into memory.

        Args:
            name: The query.
            seconds: The time after which Neo4j ends the transaction.
            **parameters: The parameters of the query.

        Yields:
            The rows, as `read` returns them.

        Raises:
            UnavailableError: Neo4j is away, or the time was up.
            QueryError: The query or a parameter is wrong.
        """
        with self._transaction(neo4j.READ_ACCESS, seconds) as transaction:
            for record in transaction.run(find_query(name).text, parameters):
                yield to_row(record)

    def ask_bounded(
        self,
        text: str,
        parameters: Mapping[str, Any],
        *,
        seconds: float,
        rows_max: int,
        bytes_max: int,
    ) -> tuple[list[str], list[Row], bool]:
        """Run a caller's own statement and return its columns and first rows.

        Args:
            text: One statement of Cypher.
            parameters: Its parameters.
            seconds: The time after which Neo4j ends the transaction.
            rows_max: The number of rows at most.
            bytes_max: The size of all values at most, counted as JSON.

        Returns:
            The columns, the rows, and True if these are all rows.

        Raises:
            UnavailableError: Neo4j is away.
            QueryError: The statement is wrong, its time was up, or its first row is larger than
                `bytes_max`.
        """
        columns: list[str] = []
        rows: list[Row] = []
        counter = ByteCounter(bytes_max * _WIRE_BYTES_PER_BYTE)
        try:
            with (
                self._transaction(
                    neo4j.READ_ACCESS,
                    seconds,
                    fetch_size=_ROWS_PER_BOUNDED_PULL,
                    metadata=_OF_CALLER,
                ) as transaction,
                counter.counting(transaction),
            ):
                records = transaction.run(text, dict(parameters))
                columns += records.keys()
                is_complete = take_first(records, rows, rows_max, bytes_max)
        except TimedOutError as error:
            message = f"the query took longer than {seconds:g} s"
            raise QueryError(message, hint="Ask for less.") from error
        except UnavailableError:
            if not counter.is_exceeded:
                raise
            is_complete = False
        if not rows and not is_complete:
            raise QueryError(
                f"a row of the answer is larger than {bytes_max} bytes",
                hint="Return fewer values a row.",
            )
        return columns, rows, is_complete

    def begin(self, *, seconds: float = WRITE_SECONDS_MAX) -> Transaction:
        """Begin a write transaction of at most `seconds`; the caller ends it by `commit` or
        `roll_back`. Raises UnavailableError.
        """
        return Transaction(self._transaction(neo4j.WRITE_ACCESS, seconds))

    @contextmanager
    def write(self, *, seconds: float = WRITE_SECONDS_MAX) -> Iterator[Transaction]:
        """Run one write transaction: commit it at the end of the block, roll it back if the block
        raises.

        Args:
            seconds: The time after which Neo4j ends the transaction.

        Yields:
            The transaction.

        Raises:
            UnavailableError: Neo4j is away, or could not commit.
            QueryError: A query of the block is wrong.
        """
        transaction = self.begin(seconds=seconds)
        try:
            yield transaction
        except BaseException:
            transaction.roll_back()
            raise
        transaction.commit().result()

    def run_schema(self, statements: Sequence[str], *, seconds: float = WRITE_SECONDS_MAX) -> None:
        """Run statements about constraints or indexes, in one transaction of at most `seconds`.

        Raises UnavailableError, or QueryError for a wrong statement.
        """
        with self._transaction(neo4j.WRITE_ACCESS, seconds) as transaction:
            for statement in statements:
                transaction.run(statement.removesuffix(";")).consume()

    def run_batches(self, text: str) -> None:
        """Run a `CALL { } IN TRANSACTIONS` statement. It commits batch by batch and has no time
        limit.

        Args:
            text: The statement.

        Raises:
            UnavailableError: Neo4j is away, or was silent for an hour.
            QueryError: The statement is wrong.
        """
        try:
            with self._session(neo4j.WRITE_ACCESS, _ALL_ROWS) as session:
                connect(session, neo4j.WRITE_ACCESS)
                bound_answers(session, BATCHES_SECONDS_MAX)
                session.run(neo4j.Query(text, timeout=0)).consume()
        except (DriverError, Neo4jError) as error:
            raise translated(error) from error

    def plan(self, text: str, parameters: Mapping[str, Any]) -> tuple[str, list[str]]:
        """Explain a statement without running it.

        Args:
            text: One statement of Cypher.
            parameters: Its parameters.

        Returns:
            Its type (r, rw, w or s), and the operators of its plan. A call of a procedure names it:
            `ProcedureCall(db.labels)`.

        Raises:
            UnavailableError: Neo4j is away.
            QueryError: The statement is wrong, or takes too long to plan.
        """
        try:
            with self._transaction(
                neo4j.READ_ACCESS, READ_SECONDS_MAX, metadata=_OF_CALLER
            ) as transaction:
                summary = transaction.run(f"EXPLAIN\n{text}", dict(parameters)).consume()
        except TimedOutError as error:
            message = f"to plan the query took longer than {READ_SECONDS_MAX:g} s"
            raise QueryError(message, hint="Split it into several statements.") from error
        except QueryError as error:
            raise QueryError(in_caller_text(error.message), hint=error.hint) from error
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

    def _run_alone(self, text: str, parameters: Mapping[str, Any], seconds: float) -> list[Row]:
        """Run a statement as a transaction of its own: one round trip instead of three."""
        try:
            with self._session(neo4j.READ_ACCESS, _ALL_ROWS) as session:
                connect(session, neo4j.READ_ACCESS)
                bound_answers(session, seconds + GRACE_SECONDS)
                query = neo4j.Query(text, timeout=seconds)
                return [to_row(record) for record in session.run(query, dict(parameters))]
        except (DriverError, Neo4jError) as error:
            raise translated(error) from error

    @contextmanager
    def _transaction(
        self,
        access: str,
        seconds: float,
        *,
        fetch_size: int = _ROWS_PER_PULL,
        metadata: dict[str, str] | None = None,
    ) -> Iterator[neo4j.Transaction]:
        try:
            with (
                self._session(access, fetch_size) as session,
                session.begin_transaction(metadata, seconds) as transaction,
            ):
                bound_answers(transaction, seconds + GRACE_SECONDS)
                yield transaction
                transaction.commit()
        except (DriverError, Neo4jError) as error:
            raise translated(error) from error

    @contextmanager
    def _session(self, access: str, fetch_size: int) -> Iterator[neo4j.Session]:
        with self._sessions_lock:
            if self._is_closed:
                raise DriverError("the connections were closed")
            self._sessions += 1
        try:
            with self._driver.session(
                database=self._database, default_access_mode=access, fetch_size=fetch_size
            ) as session:
                yield session
        finally:
            with self._sessions_lock:
                self._sessions -= 1
            if self._is_closed:
                self._close_unused()


def _packed(value: Any) -> Any:
    return _Rows(map(to_bolt, value)) if type(value) is list else to_bolt(value)
