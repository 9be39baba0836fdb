"""Values on the wire, and the private parts of the Neo4j driver: the only module that touches them.

The driver gives every instant a type of its own, with its own calendar: half of the time of a
question that reads many nodes. This module packs and unpacks instants as Bolt has them. The driver
asks the operating system twice for each row; here a read takes as many bytes as have arrived. The
driver also has no setting for the time that it waits for an answer, and none for the size of one.

`PRIVATE_PARTS` lists the attributes of the driver that this takes. They belong to the minor version
to which pyproject.toml pins the driver, and a test fails when one of them moves. Where one is
missing the driver goes on without it: slower, or with a less exact limit, but with the same
results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.cypher.driver.neo4j_import import neo4j
from headwater.schema.facts_codec import unpack_json

try:
    from neo4j._codec.packstream import Structure
except ImportError:
    Structure = None

__all__ = [
    "PRIVATE_PARTS",
    "ByteCounter",
    "Structure",
    "bound_answers",
    "connect",
    "take_first",
    "to_bolt",
    "to_python",
    "to_row",
]

# Of a session: `_connect` connects before the first statement. Of a session or transaction:
# `_connection` and its parts.
PRIVATE_PARTS = (
    "_connect",
    "_connection.connection_hints",
    "_connection.hydration_handler.struct_hydration_functions",
    "_connection.socket.recv_into",
    "_connection.socket.set_read_timeout",
)
# The tag of an instant with an offset from UTC: seconds and nanoseconds since 1970, and that
# offset.
_INSTANT = b"I"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_READ_BYTES = 65_536
_PYTHON_TYPES = frozenset({str, int, float, bool, type(None), datetime})


def to_bolt(value: Any) -> Any:
    """Return a parameter with every instant as Bolt packs it.

    The driver does the same in 27 microseconds an instant, which was most of the time of a write.
    """
    kind = type(value)
    if kind is datetime and value.tzinfo is not None and Structure is not None:
        since = value - _EPOCH
        seconds = since.days * 86_400 + since.seconds
        return Structure(_INSTANT, seconds, since.microseconds * 1_000, 0)
    if kind is dict:
        return {key: to_bolt(item) for key, item in value.items()}
    if kind is list:
        return [to_bolt(item) for item in value]
    return value


def to_python(value: Any) -> Any:
    """Return a value of the driver as plain Python.

    Nodes and relationships become their properties and instants become datetime, in UTC. Other
    times and durations become ISO 8601 text. Bytes are facts, the only bytes in the graph, and
    become their JSON text.
    """
    kind = type(value)
    if kind in _PYTHON_TYPES:
        return value
    if kind is list:
        return [item if type(item) in _PYTHON_TYPES else to_python(item) for item in value]
    if kind is dict:
        return {
            key: item if type(item) in _PYTHON_TYPES else to_python(item)
            for key, item in value.items()
        }
    return _driver_type_to_python(value)


def connect(session: neo4j.Session, access: str) -> None:
    """Connect a session before its first statement, so that `bound_answers` can bound that one
    too."""
    connect_now = getattr(session, "_connect", None)
    if connect_now is not None:
        connect_now(access)


def bound_answers(opened: neo4j.Transaction | neo4j.Session, timeout_seconds: float) -> None:
    """Set the timeout after which the driver gives up a connection, and read answers quickly.

    The driver has no setting for this time, only a hint that the server may send; the shorter of
    the two counts.

    Args:
        opened: A transaction, or a connected session.
        timeout_seconds: The longest silence of the server.
    """
    connection: Any = getattr(opened, "_connection", None)
    socket: Any = getattr(connection, "socket", None)
    if socket is None:
        return
    hints = getattr(connection, "connection_hints", {})
    hint = hints.get("connection.recv_timeout_seconds")
    if hasattr(socket, "set_read_timeout"):
        socket.set_read_timeout(min(timeout_seconds, hint) if hint else timeout_seconds)
    handler = getattr(connection, "hydration_handler", None)
    functions = getattr(handler, "struct_hydration_functions", None)
    if functions is not None:
        functions[_INSTANT] = _unpack_instant
    receive = getattr(socket, "recv_into", None)
    if receive is not None and not isinstance(receive, _ReadAhead):
        socket.recv_into = _ReadAhead(receive)


class ByteCounter:
    """The bytes read from a connection, which it breaks off beyond a limit.

    Without it the driver would take a single value of any size into memory.
    """

    def __init__(self, bytes_max: int) -> None:
        self._left = bytes_max

    @property
    def is_exceeded(self) -> bool:
        """Return True after more than `bytes_max` bytes."""
        return self._left < 0

    @contextmanager
    def counting(self, transaction: neo4j.Transaction) -> Iterator[None]:
        """Count the bytes of a transaction's answers. Reading beyond the limit raises OSError."""
        socket: Any = getattr(getattr(transaction, "_connection", None), "socket", None)
        receive = getattr(socket, "recv_into", None)
        if receive is None:
            yield
            return

        def counted(buffer: Any, nbytes: int) -> int:
            count: int = receive(buffer, nbytes)
            self._left -= count
            if self.is_exceeded:
                raise OSError("the answer is too large")
            return count

        socket.recv_into = counted
        try:
            yield
        finally:
            socket.recv_into = receive


def _driver_type_to_python(value: Any) -> Any:
    if isinstance(value, neo4j.time.DateTime):
        native = value.to_native()
        return native.astimezone(UTC) if isinstance(native, datetime) and native.tzinfo else native
    if isinstance(value, neo4j.time.Date | neo4j.time.Time | neo4j.time.Duration):
        return value.iso_format()
    if isinstance(value, neo4j.graph.Node | neo4j.graph.Relationship):
        return {key: to_python(item) for key, item in value.items()}
    if isinstance(value, neo4j.graph.Path):
        return [to_python(node) for node in value.nodes]
    if isinstance(value, bytes):
        return unpack_json(value)
    return value


def _unpack_instant(seconds: int, nanoseconds: int, _offset: int) -> datetime:
    """Return an instant in UTC, rounded down to the microsecond."""
    return _EPOCH + timedelta(seconds=seconds, microseconds=nanoseconds // 1_000)


class _ReadAhead:
    """A `recv_into` of a socket that reads as much as has arrived, and returns as much as the
    caller wants."""

    def __init__(self, receive: Any) -> None:
        self._receive = receive
        self._buffer = memoryview(bytearray(_READ_BYTES))
        self._start = self._end = 0

    def __call__(self, buffer: Any, nbytes: int) -> int:
        if self._start == self._end:
            self._start, self._end = 0, self._receive(self._buffer, _READ_BYTES)
        count = min(nbytes, self._end - self._start)
        buffer[:count] = self._buffer[self._start : self._start + count]
        self._start += count
        return count


def to_row(record: neo4j.Record) -> dict[str, Any]:
    """Return the value of each column."""
    return {
        key: to_python(value) for key, value in zip(record.keys(), record.values(), strict=True)
    }


def take_first(
    records: Iterable[neo4j.Record], rows: list[dict[str, Any]], rows_max: int, bytes_max: int
) -> bool:
    """Put the first records into `rows`, and return True if these are all.

    Args:
        records: The records.
        rows: The list that gets a row for each of them.
        rows_max: The number of rows at most.
        bytes_max: The size of all values at most, counted as JSON.
    """
    left = bytes_max
    for record in records:
        row = to_row(record)
        left -= _size(row)
        if left < 0 or len(rows) == rows_max:
            return False
        rows.append(row)
    return True


def _size(value: Any) -> int:
    """Return about how many bytes a plain value takes as JSON."""
    if isinstance(value, str | bytes | bytearray):
        return len(value) + 2
    if isinstance(value, dict):
        return sum(len(key) + 4 + _size(item) for key, item in value.items())
    if isinstance(value, list):
        return sum(2 + _size(item) for item in value)
    return 8
