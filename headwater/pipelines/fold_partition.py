"""The fold in Spark's workers: parse, redact and fold events, and return the facts as rows.

Events are parsed as HTTP ingest parses them. Events that it would refuse are refused here too, with
the reason and the place of the event. Copies of an event in one partition are folded once, found by
their SHA-1. Copies in different partitions are counted once, when their rows are joined.
"""

from __future__ import annotations

import gc
import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.access.secret_file import load_secret
from headwater.errors import EventError
from headwater.ingest.fold import fold
from headwater.ingest.fold.undated_events import add_undated, is_undated
from headwater.ingest.producer_stats import ProducerStats, count_event
from headwater.ingest.receive.personal_values import redaction_classes
from headwater.pipelines import worker_cache
from headwater.pipelines.lake import spool_of
from headwater.pipelines.rows import Counts, Kind, Row, delta_to_rows, digest_rows, encode, pack
from headwater.pipelines.shuffle import assign_buckets, bundle_rows, gather_buckets
from headwater.schema.events import Event, parse, require_event_time
from headwater.schema.facts import UndatedEvent
from headwater.schema.naming import Naming, load_naming
from headwater.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

READ = "body binary, received long, file string, start long, number long, checksum long"
# The outputs of `mapInArrow`: rows by bucket, then bundles with the sort key of their first row.
BUCKETS = "bucket int, rows binary"
BUNDLES = "kind int, at long, key binary, rows binary"
_BUCKETS = pa.schema([("bucket", pa.int32()), ("rows", pa.binary())])
_BUNDLES = pa.schema(
    [("kind", pa.int32()), ("at", pa.int64()), ("key", pa.binary()), ("rows", pa.binary())]
)
# The events of one delta: this bounds the memory of a task, whatever the size of its partition.
EVENTS_PER_FOLD = 20_000
# An empty mapping from spools to seqs.
NO_SPOOLS: Mapping[str, range] = MappingProxyType({})


class FoldRules(msgspec.Struct, frozen=True):
    """The rules by which events are read.

    They are the naming, the key for hashes of personal data, the maximum size of an event in bytes,
    the tolerance in seconds for events from the future, whether files may have events without an
    event time, and the further classes of personal data that are hashed.
    """

    naming: Naming
    redaction_key: bytes
    event_bytes_max: int
    future_seconds: int = 60
    allow_missing_event_time: bool = False
    redaction_classes: frozenset[str] = frozenset()


def read_rules(settings: Settings) -> FoldRules:
    """Return the rules of the API and the worker with these settings. Raises SettingsError."""
    key = settings.redaction_key.encode() or load_secret(settings.redaction_key_path)
    return FoldRules(
        load_naming(settings.naming_path),
        key,
        settings.event_bytes_max,
        settings.future_seconds,
        settings.allow_missing_event_time,
        redaction_classes(settings.redaction_classes),
    )


class RefusedEvent(msgspec.Struct):
    """A refused event with the reason and its place.

    `start` is the first byte of the file block that the task read, and `number` the line in the
    block, from 1. In a Parquet file, `number` is the row or the seq.
    """

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
    """Fold batches of `READ` into batches of `BUCKETS`, for `mapInArrow`.

    `uncounted` has the seqs of each spool whose events are added to the producer statistics.
    """
    folder = PartitionFolder(rules, uncounted)
    for batch in batches:
        with _no_collection():
            folder.add(batch)
        if folder.size >= EVENTS_PER_FOLD:
            yield _bucket_batch(folder, buckets)
    yield _bucket_batch(folder, buckets)
    worker_cache.freeze()


def join_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Join batches of `BUCKETS`, sorted by bucket, into batches of `BUNDLES`, for `mapInArrow`."""
    pairs = chain.from_iterable(zip(*_columns(batch), strict=True) for batch in batches)
    for rows in gather_buckets(pairs):
        with _no_collection():
            bundles = [(*bundle[0][:3], pack(bundle)) for bundle in bundle_rows(rows)]
        yield _batch(bundles, _BUNDLES)


def _bucket_batch(folder: PartitionFolder, buckets: int) -> pa.RecordBatch:
    with _no_collection():
        return _batch(
            [(bucket, pack(rows)) for bucket, rows in assign_buckets(folder.rows(), buckets)],
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
    """Disable garbage collection: facts have no cycles, and it takes a third of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class PartitionFolder:
    """A collector of parsed events, folded into rows on request."""

    def __init__(self, rules: FoldRules, uncounted: Mapping[str, range] = NO_SPOOLS) -> None:
        self._rules = rules
        self._counter = _ReceiptCounter(uncounted, rules.future_seconds)
        self._redact = worker_cache.redactor(rules.redaction_key, rules.redaction_classes).redact
        self._naming = worker_cache.naming(rules.naming)
        self._digests: set[bytes] = set()
        self._undated: dict[str, UndatedEvent] = {}
        self._undated_digests: set[bytes] = set()
        self._lines = _LineNumbers()
        self.events: list[Event] = []
        self._refused: list[RefusedEvent] = []
        self._counts = Counts()

    def add(self, batch: pa.RecordBatch) -> None:
        """Parse the events of a batch of `READ`; collect them and the refused ones."""
        bodies, received, checksums = (
            batch.column(name).to_pylist() for name in ("body", "received", "checksum")
        )
        number = self._lines.numbers(batch)
        for index, body in enumerate(bodies):
            # Empty lines are skipped; they are not refused.
            if body and not body.isspace():
                event, refused = None, None
                try:
                    event = self._parse(body, received[index], checksums[index])
                except EventError as error:
                    refused = error
                    self._refuse(error, body, batch, index, number)
                if checksums[index] is not None and self._counter.uncounted:
                    file, seq = batch.column("file")[index].as_py(), number(index)
                    self._counter.add(file, seq, received[index], body, event, refused)

    @property
    def size(self) -> int:
        """Return the number of collected events."""
        return len(self.events) + len(self._undated)

    def _parse(self, body: bytes, received: int, checksum: int | None) -> Event | None:
        """Parse an event; return None for a copy of an earlier one. Raises EventError."""
        self._counts.events += 1
        if checksum is None:
            if len(body) > self._rules.event_bytes_max:
                raise EventError(f"the event is larger than {self._rules.event_bytes_max} bytes")
            body = self._redact(body)
        elif zlib.crc32(body) != checksum:
            raise EventError("the event is damaged: its checksum differs from the accepted one")
        digest = hashlib.sha1(body, usedforsecurity=False).digest()
        # A copy of an undated event may have an earlier receipt.
        if digest in self._digests and digest not in self._undated_digests:
            return None
        event = parse(body, received=received)
        if checksum is None:
            require_event_time(event, allow_missing=self._rules.allow_missing_event_time)
        self._digests.add(digest)
        if is_undated(event, self._rules.future_seconds):
            self._undated_digests.add(digest)
            add_undated(self._undated, event, body, self._rules.future_seconds)
        else:
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
        """Yield the rows of the events since the last call."""
        for refused in self._refused:
            position = encode((refused.file, refused.start, refused.number))
            yield Row(Kind.REFUSED, 0, position, encode(refused))
        yield from digest_rows(self._digests)
        for spool, producer_stats in self._counter.drain().items():
            yield Row(Kind.PRODUCER_STATS, 0, spool.encode(), encode(producer_stats))
        yield Row(Kind.COUNTS, 0, b"", encode(self._counts))
        delta = fold(self.events, self._naming)
        delta.undated = self._undated
        yield from delta_to_rows(delta)
        self._refused, self._digests, self._counts, self.events = [], set(), Counts(), []
        self._undated, self._undated_digests = {}, set()


class _ReceiptCounter:
    """Producer statistics of receipts in a lake that the graph's own worker has not counted.

    Files that are not of a lake have no receipts, so their events are not counted.
    """

    def __init__(self, uncounted: Mapping[str, range], future_seconds: int) -> None:
        self.uncounted = uncounted
        self._future_seconds = future_seconds
        self._stats: dict[str, ProducerStats] = {}

    def add(
        self,
        file: str,
        seq: int,
        received: int,
        body: bytes,
        event: Event | None,
        refused: EventError | None,
    ) -> None:
        """Count one receipt: an event, a refused event, or a copy (neither event nor error)."""
        spool = spool_of(file)
        if spool is None or seq not in self.uncounted.get(spool, ()):
            return
        reason = ""
        if refused is not None:
            reason = f"{refused.field}: {refused.message}" if refused.field else refused.message
        elif event is None:
            event = parse(body, received=received)
        producer_stats = self._stats.setdefault(spool, ProducerStats())
        count_event(
            received,
            seq,
            body,
            event,
            future_seconds=self._future_seconds,
            reason=reason,
            into=producer_stats,
        )

    def drain(self) -> dict[str, ProducerStats]:
        """Return the statistics since the last call, by spool."""
        stats, self._stats = self._stats, {}
        return stats


class _LineNumbers:
    """A counter of lines in the file blocks that one task reads, one block after the other."""

    def __init__(self) -> None:
        self._block: tuple[Any, Any] | None = None
        self._lines = 0

    def numbers(self, batch: pa.RecordBatch) -> Callable[[int], int]:
        """Return a function from the index of a row in this batch to its number."""
        numbers = batch.column("number")
        if numbers.null_count < len(numbers):
            return lambda index: numbers[index].as_py()
        begins, blocks = self._blocks(batch)
        before = self._lines if self._block == blocks[0] else 0
        self._block = blocks[-1]
        self._lines = len(batch) - begins[-1] + (before if len(begins) == 1 else 0)

        def number(index: int) -> int:
            block_begin = max(begin for begin in begins if begin <= index)
            return index - block_begin + 1 + (before if block_begin == 0 else 0)

        return number

    def _blocks(self, batch: pa.RecordBatch) -> tuple[Sequence[int], list[tuple[Any, Any]]]:
        """Return the first index of each block in a batch, and the blocks."""
        ends = {0}
        for name in ("file", "start"):
            runs = pc.run_end_encode(batch.column(name))
            ends.update(runs.run_ends.to_pylist())
        begins = sorted(ends - {len(batch)})
        files, starts = batch.column("file"), batch.column("start")
        return begins, [(files[index].as_py(), starts[index].as_py()) for index in begins]
