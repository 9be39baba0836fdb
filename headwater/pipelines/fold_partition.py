"""What Spark's workers do with the events they read: judge, redact, fold, and hand out the facts as rows.

An event is judged as HTTP ingest judges it, and what that would refuse is refused here, with its reason and the place
it was read from. Copies of an event that lie near each other are folded once, found by their SHA-1; those that do not
are counted once, when the rows of all of them meet.
"""

from __future__ import annotations

import gc
import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import EventError
from headwater.ingest.fold import fold
from headwater.ingest.producer_stats import ProducerStats, count_event
from headwater.ingest.receive.redaction_key import load_key
from headwater.pipelines import worker_cache
from headwater.pipelines.lake import spool_of
from headwater.pipelines.rows import Counts, Kind, Row, delta_to_rows, digest_rows, encode, pack
from headwater.pipelines.shuffle import assign_buckets, bundle_rows, gather_buckets
from headwater.schema.events import Event, parse
from headwater.schema.naming import Naming, load_naming
from headwater.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

READ = "body binary, received long, file string, start long, number long, checksum long"
# What `mapInArrow` hands on: rows by bucket, and then rows in the order of the first of each bundle.
BUCKETS = "bucket int, rows binary"
BUNDLES = "kind int, at long, key binary, rows binary"
_BUCKETS = pa.schema([("bucket", pa.int32()), ("rows", pa.binary())])
_BUNDLES = pa.schema(
    [("kind", pa.int32()), ("at", pa.int64()), ("key", pa.binary()), ("rows", pa.binary())]
)
# So many events are folded into one delta: what a partition takes of memory does not grow with it.
EVENTS_PER_FOLD = 20_000
# No events of any spool.
NO_SPOOLS: Mapping[str, range] = MappingProxyType({})


class FoldRules(msgspec.Struct, frozen=True):
    """How events are read: by which names, up to which size, with which key personal data is hashed, and from how many
    seconds on one that was received before it happened is told to be from the future."""

    naming: Naming
    redaction_key: bytes
    event_bytes_max: int
    future_tolerance_seconds: int = 60


def read_rules(settings: Settings) -> FoldRules:
    """How the API and the worker with these settings read events. Raises SettingsError."""
    key = settings.redaction_key.encode() or load_key(settings.redaction_key_path)
    return FoldRules(
        load_naming(settings.naming_path),
        key,
        settings.event_bytes_max,
        settings.future_tolerance_seconds,
    )


class RefusedEvent(msgspec.Struct):
    """An event that is none: why, and where it was read. `start` is the byte at which the piece of the file begins that
    one task read, and `number` counts lines in it, from 1; of a Parquet file, `number` is the row or the seq."""

    reason: str
    field: str
    file: str
    start: int
    number: int
    body: str


def fold_batches(
    batches: Iterable[pa.RecordBatch],
    rules: FoldRules,
    uncounted: Mapping[str, range],
    buckets: int,
) -> Iterator[pa.RecordBatch]:
    """Batches of `READ` in, batches of `BUCKETS` out; for `mapInArrow`. `uncounted` are the events of each spool that are
    to be tallied, by their seq."""
    folding = PartitionFolder(rules, uncounted)
    for batch in batches:
        with _no_collection():
            folding.take(batch)
        if len(folding.events) >= EVENTS_PER_FOLD:
            yield _bucketed(folding, buckets)
    yield _bucketed(folding, buckets)
    worker_cache.freeze()


def join_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches of `BUCKETS` sorted by bucket in, of `BUNDLES` out, the facts in them joined; for `mapInArrow`."""
    met = (
        (bucket, rows) for batch in batches for bucket, rows in zip(*_columns(batch), strict=True)
    )
    for rows in gather_buckets(met):
        with _no_collection():
            bundles = [(*bundle[0][:3], pack(bundle)) for bundle in bundle_rows(rows)]
        yield _batch(bundles, _BUNDLES)


def _bucketed(folding: PartitionFolder, buckets: int) -> pa.RecordBatch:
    with _no_collection():
        return _batch(
            [(bucket, pack(rows)) for bucket, rows in assign_buckets(folding.rows(), buckets)],
            _BUCKETS,
        )


def _columns(batch: pa.RecordBatch) -> Iterator[list[Any]]:
    return (column.to_pylist() for column in batch.columns)


def _batch(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Facts have no cycles, and there are so many that to look for some takes a third of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class PartitionFolder:
    """The events of some batches, judged, until they are folded."""

    def __init__(self, rules: FoldRules, uncounted: Mapping[str, range] = NO_SPOOLS) -> None:
        self._rules = rules
        self._tallier = _Tallier(uncounted, rules.future_tolerance_seconds)
        self._redact = worker_cache.redactor(rules.redaction_key).redact
        self._naming = worker_cache.naming(rules.naming)
        self._seen: set[bytes] = set()
        self._lines = _LineNumbers()
        self.events: list[Event] = []
        self._refused: list[RefusedEvent] = []
        self._counts = Counts()

    def take(self, batch: pa.RecordBatch) -> None:
        bodies, received, checksums = (
            batch.column(name).to_pylist() for name in ("body", "received", "checksum")
        )
        number = self._lines.of(batch)
        for index, body in enumerate(bodies):
            # An empty line is no event, not even a bad one.
            if body and not body.isspace():
                event, refused = None, None
                try:
                    event = self._judge(body, received[index], checksums[index])
                except EventError as error:
                    refused = error
                    self._refuse(error, body, batch, index, number)
                if checksums[index] is not None and self._tallier.wanted:
                    file, seq = batch.column("file")[index].as_py(), number(index)
                    self._tallier.add(file, seq, received[index], body, event, refused)

    def _judge(self, body: bytes, received: int, checksum: int | None) -> Event | None:
        """The event, unless it is a copy of one that was there. Raises EventError."""
        self._counts.events += 1
        if checksum is None:
            if len(body) > self._rules.event_bytes_max:
                raise EventError(f"the event is larger than {self._rules.event_bytes_max} bytes")
            body = self._redact(body)
        elif zlib.crc32(body) != checksum:
            raise EventError("damaged: the bytes on disk are not those that were accepted")
        digest = hashlib.sha1(body, usedforsecurity=False).digest()
        if digest in self._seen:
            return None
        event = parse(body, received=received)
        # One that does not say when it happened, happened when it was received: the same bytes may be two.
        if event.event_time:
            self._seen.add(digest)
        else:
            self._counts.undated += 1
        self.events.append(event)
        return event

    def _refuse(
        self,
        error: EventError,
        body: bytes,
        batch: pa.RecordBatch,
        index: int,
        number: Callable[[int], int],
    ) -> None:
        file, start = (batch.column(name)[index].as_py() for name in ("file", "start"))
        text = self._redact(body).decode(errors="replace")
        self._refused.append(
            RefusedEvent(error.message, error.field, file, start, number(index), text)
        )
        self._counts.refused += 1

    def rows(self) -> Iterator[Row]:
        """The facts of what was taken since the last time."""
        for refused in self._refused:
            place = encode((refused.file, refused.start, refused.number))
            yield Row(Kind.REFUSED, 0, place, encode(refused))
        yield from digest_rows(self._seen)
        for spool, producer_stats in self._tallier.taken().items():
            yield Row(Kind.PRODUCER_STATS, 0, spool.encode(), encode(producer_stats))
        yield Row(Kind.COUNTS, 0, b"", encode(self._counts))
        yield from delta_to_rows(fold(self.events, self._naming))
        self._refused, self._seen, self._counts, self.events = [], set(), Counts(), []


class _Tallier:
    """ProducerStats receipts as the worker does: those that a lake has, and the graph's own worker has not counted. Of files
    that others made nobody knows what was received how often, and when: those are not tallied."""

    def __init__(self, uncounted: Mapping[str, range], future_tolerance_seconds: int) -> None:
        self.wanted = uncounted
        self._future_tolerance_seconds = future_tolerance_seconds
        self._tallies: dict[str, ProducerStats] = {}

    def add(
        self,
        file: str,
        seq: int,
        received: int,
        body: bytes,
        event: Event | None,
        refused: EventError | None,
    ) -> None:
        """One receipt: an event, or a copy of one that was there (neither event nor error), or what was refused."""
        spool = spool_of(file)
        if spool is None or seq not in self.wanted.get(spool, ()):
            return
        reason = ""
        if refused is not None:
            reason = f"{refused.field}: {refused.message}" if refused.field else refused.message
        elif event is None:
            event = parse(body, received=received)
        producer_stats = self._tallies.setdefault(spool, ProducerStats())
        count_event(
            received,
            seq,
            body,
            event,
            future_tolerance_seconds=self._future_tolerance_seconds,
            reason=reason,
            into=producer_stats,
        )

    def taken(self) -> dict[str, ProducerStats]:
        """What was counted since the last time, by spool."""
        taken, self._tallies = self._tallies, {}
        return taken


class _LineNumbers:
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
        return begins, [
            (batch.column("file")[at].as_py(), batch.column("start")[at].as_py()) for at in begins
        ]
