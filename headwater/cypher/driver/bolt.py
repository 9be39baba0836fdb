"""What goes to Neo4j and comes back over the wire, where the driver takes its time or has no setting.

It makes a type of its own of every instant, with its own calendar, which took half of the time of a question that reads
many nodes; here they are packed and unpacked as Bolt has them. It asks the system twice for every row that it reads;
here it takes what has come.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.cypher.driver.neo4j_import import Structure, neo4j
from headwater.schema.facts_codec import unpack_json

# Of an instant with an offset from UTC: seconds and nanoseconds since 1970, and that offset.
_INSTANT = b"I"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_READ_BYTES = 65_536
_PLAIN = frozenset({str, int, float, bool, type(None), datetime})


def sent_value(value: Any) -> Any:
    """A parameter with every instant as Bolt packs it. The driver does the same, in 27 microseconds an instant: most
    of the time that writing took."""
    kind = type(value)
    if kind is datetime and value.tzinfo is not None:
        since = value - _EPOCH
        return Structure(
            _INSTANT, since.days * 86_400 + since.seconds, since.microseconds * 1_000, 0
        )
    if kind is dict:
        return {key: sent_value(item) for key, item in value.items()}
    if kind is list:
        return [sent_value(item) for item in value]
    return value


def plain_value(value: Any) -> Any:
    """A value of the driver as plain Python: nodes and relationships as their properties, instants as datetime, other
    times and durations as ISO 8601 writes them, and facts, the only bytes there are in the graph, as their JSON."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is list:
        return [item if type(item) in _PLAIN else plain_value(item) for item in value]
    if kind is dict:
        return {
            key: item if type(item) in _PLAIN else plain_value(item) for key, item in value.items()
        }
    if isinstance(value, neo4j.time.DateTime):
        native = value.to_native()
        return native.astimezone(UTC) if isinstance(native, datetime) and native.tzinfo else native
    if isinstance(value, neo4j.time.Date | neo4j.time.Time | neo4j.time.Duration):
        return value.iso_format()
    if isinstance(value, neo4j.graph.Node | neo4j.graph.Relationship):
        return {key: plain_value(item) for key, item in value.items()}
    if isinstance(value, neo4j.graph.Path):
        return [plain_value(node) for node in value.nodes]
    if isinstance(value, bytes):
        return unpack_json(value)
    return value


def prepare(opened: neo4j.Transaction | neo4j.Session, seconds: float) -> None:
    """Have the driver give up on a connection over which no answer comes for so long, and read what comes quickly.

    It has no setting for either, only the hint a server may send, so this reaches for the connection inside. A test
    with a server that is paused holds it to that.
    """
    connection: Any = getattr(opened, "_connection", None)
    if connection is None:
        return
    hint = connection.connection_hints.get("connection.recv_timeout_seconds")
    connection.socket.set_read_timeout(min(seconds, hint) if hint else seconds)
    connection.hydration_handler.struct_hydration_functions[_INSTANT] = _instant
    if not isinstance(connection.socket.recv_into, _ReadAhead):
        connection.socket.recv_into = _ReadAhead(connection.socket.recv_into)


def _instant(seconds: int, nanoseconds: int, _offset: int) -> datetime:
    """To the microsecond before it, in UTC."""
    return _EPOCH + timedelta(seconds=seconds, microseconds=nanoseconds // 1_000)


class _ReadAhead:
    """Stands for `recv_into` of a socket: reads as much as there is, and hands out what is asked for."""

    def __init__(self, receive: Any) -> None:
        self._receive = receive
        self._read = memoryview(bytearray(_READ_BYTES))
        self._at = self._end = 0

    def __call__(self, buffer: Any, nbytes: int) -> int:
        if self._at == self._end:
            self._at, self._end = 0, self._receive(self._read, _READ_BYTES)
        count = min(nbytes, self._end - self._at)
        buffer[:count] = self._read[self._at : self._at + count]
        self._at += count
        return count


class Heard:
    """Counts what is read of a connection, and breaks it off when that is too much: the driver would take a single
    value of any size into memory."""

    def __init__(self, bytes_max: int) -> None:
        self._left = bytes_max

    @property
    def too_much(self) -> bool:
        return self._left < 0

    @contextmanager
    def over(self, transaction: neo4j.Transaction) -> Iterator[None]:
        socket: Any = transaction._connection.socket
        receive = socket.recv_into

        def counted(buffer: Any, nbytes: int) -> int:
            count: int = receive(buffer, nbytes)
            self._left -= count
            if self.too_much:
                raise OSError("the answer is too large")
            return count

        socket.recv_into = counted
        try:
            yield
        finally:
            socket.recv_into = receive
