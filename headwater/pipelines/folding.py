"""What Spark's workers do with the events they read: judge, redact, fold, and hand out the facts as rows.

An event is judged as HTTP ingest judges it, and what that would refuse is refused here, with its reason and the place
it was read from. Copies of an event that lie near each other are folded once, found by their SHA-1; those that do not
are counted once, when the rows of all of them meet.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import EventError
from headwater.ingest.fold import fold
from headwater.ingest.redact import Redactor
from headwater.ingest.redaction_key import load_key
from headwater.pipelines.rows import Counts, Kind, Row, cut, encode, joined, packed, rows_of
from headwater.schema.events import Event, parse
from headwater.schema.naming import Naming, load
from headwater.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

READ = "body binary, received long, file string, start long, number long, checksum long"
PIECES = "piece binary"
ROWS = "kind int, at long, key binary, fact binary"
_SCHEMA = pa.schema([("kind", pa.int32()), ("at", pa.int64()), ("key", pa.binary()), ("fact", pa.binary())])
# So many events are folded into one delta: what a partition takes of memory does not grow with it.
FOLDED_AT_ONCE = 20_000
_ROWS_AT_ONCE = 4_000


class Rules(msgspec.Struct, frozen=True):
    """How events are read: by which names, up to which size, and with which key personal data is hashed."""

    naming: Naming
    redaction_key: bytes
    event_bytes_max: int


def rules_of(settings: Settings) -> Rules:
    """How the API and the worker with these settings read events. Raises SettingsError."""
    key = settings.redaction_key.encode() or load_key(settings.redaction_key_path)
    return Rules(load(settings.naming_path), key, settings.event_bytes_max)


class Refused(msgspec.Struct):
    """An event that is none: why, and where it was read. `start` is the byte at which the piece of the file begins that
    one task read, and `number` counts lines in it, from 1; of a Parquet file, `number` is the row or the seq."""

    reason: str
    field: str
    file: str
    start: int
    number: int
    body: str


def facts_of_batches(batches: Iterable[pa.RecordBatch], rules: Rules) -> Iterator[pa.RecordBatch]:
    """Batches of `READ` in, batches of `ROWS` out; for `mapInArrow`."""
    folding = Folding(rules)
    for batch in batches:
        folding.take(batch)
        if len(folding.events) >= FOLDED_AT_ONCE:
            yield from _batches(folding.rows())
    yield from _batches(folding.rows())


def join_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches of `ROWS` sorted by kind and key, joined; for `mapInArrow`."""
    yield from _batches(joined(_rows(batches)))


def cut_batches(batches: Iterable[pa.RecordBatch], *, rows_max: int, bytes_max: int) -> Iterator[pa.RecordBatch]:
    """Batches of `ROWS` in, one batch of `PIECES` out for every piece; for `mapInArrow`."""
    for piece in cut(_rows(batches), rows_max=rows_max, bytes_max=bytes_max):
        yield pa.RecordBatch.from_arrays([pa.array([packed(piece)], pa.binary())], names=["piece"])


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    for batch in batches:
        yield from map(Row, *(column.to_pylist() for column in batch.columns))


def _batches(rows: Iterator[Row]) -> Iterator[pa.RecordBatch]:
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        columns = [pa.array(column, kind) for column, kind in zip(zip(*some, strict=True), _SCHEMA.types, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)


class Folding:
    """The events of some batches, judged, until they are folded."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._redact = Redactor(rules.redaction_key).redact
        self._seen: set[bytes] = set()
        self._lines = _Lines()
        self.events: list[Event] = []
        self._refused: list[Refused] = []
        self._counts = Counts()

    def take(self, batch: pa.RecordBatch) -> None:
        bodies, received, checksums = (batch.column(name).to_pylist() for name in ("body", "received", "checksum"))
        number = self._lines.of(batch)
        for index, body in enumerate(bodies):
            # An empty line is no event, not even a bad one.
            if body and not body.isspace():
                try:
                    self._judge(body, received[index], checksums[index])
                except EventError as error:
                    self._refuse(error, body, batch, index, number)

    def _judge(self, body: bytes, received: int, checksum: int | None) -> None:
        self._counts.events += 1
        if checksum is None:
            if len(body) > self._rules.event_bytes_max:
                raise EventError(f"the event is larger than {self._rules.event_bytes_max} bytes")
            body = self._redact(body)
        elif zlib.crc32(body) != checksum:
            raise EventError("damaged: the bytes are not those that were archived")
        digest = hashlib.sha1(body, usedforsecurity=False).digest()
        if digest in self._seen:
            return
        event = parse(body, received=received)
        # One that does not say when it happened, happened when it was received: the same bytes may be two.
        if event.event_time:
            self._seen.add(digest)
        else:
            self._counts.undated += 1
        self.events.append(event)

    def _refuse(
        self, error: EventError, body: bytes, batch: pa.RecordBatch, index: int, number: Callable[[int], int]
    ) -> None:
        file, start = (batch.column(name)[index].as_py() for name in ("file", "start"))
        text = self._redact(body).decode(errors="replace")
        self._refused.append(Refused(error.message, error.field, file, start, number(index), text))
        self._counts.refused += 1

    def rows(self) -> Iterator[Row]:
        """The facts of what was taken since the last time."""
        for refused in self._refused:
            place = encode((refused.file, refused.start, refused.number))
            yield Row(Kind.REFUSED, 0, place, encode(refused))
        for digest in self._seen:
            yield Row(Kind.SEEN, 0, digest, b"")
        yield Row(Kind.COUNTS, 0, b"", encode(self._counts))
        yield from rows_of(fold(self.events, self._rules.naming))
        self._refused, self._seen, self._counts, self.events = [], set(), Counts(), []


class _Lines:
    """Counts the lines of the pieces of files that one task reads, one piece after the other."""

    def __init__(self) -> None:
        self._piece: tuple[Any, Any] | None = None
        self._lines = 0

    def of(self, batch: pa.RecordBatch) -> Callable[[int], int]:
        """The number of a row of this batch, by its index."""
        numbers = batch.column("number")
        if numbers.null_count < len(numbers):
            return lambda index: numbers[index].as_py()
        begins, piece = self._begins(batch)
        before, self._piece = self._lines if self._piece == piece[0] else 0, piece[-1]
        self._lines = len(batch) - begins[-1] + (before if len(begins) == 1 else 0)

        def number(index: int) -> int:
            at = max(begin for begin in begins if begin <= index)
            return index - at + 1 + (before if at == 0 else 0)

        return number

    def _begins(self, batch: pa.RecordBatch) -> tuple[Sequence[int], list[tuple[Any, Any]]]:
        """Where in a batch another piece begins, and what pieces those are."""
        ends = {0}
        for name in ("file", "start"):
            runs = pc.run_end_encode(batch.column(name))
            ends.update(runs.run_ends.to_pylist())
        begins = sorted(ends - {len(batch)})
        return begins, [(batch.column("file")[at].as_py(), batch.column("start")[at].as_py()) for at in begins]
