"""`headwater pipeline archive`: copy new events of the spool into the lake; cut them on request.

Each Spark task reads some thousands of events and writes them as files of the lake. When all files
of a round are written and synced, a manifest commits them (`headwater.pipelines.lake`). So kill -9
at any instant loses and doubles nothing: an uncommitted round is repeated. Spark's workers open the
spool's file, so they must run on its machine; the command starts a local Spark.

An event is cut from the spool only if it is in the lake *and* folded, by the graph's checkpoint.
Dead letters stay, and so does the newest event, from which the spool knows its last seq. The newest
archived event stays too: by it the next run recognises the lake of this spool.
"""

from __future__ import annotations

import fcntl
import io
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from headwater.errors import EventError, SpoolFullError
from headwater.ingest.spool.reader import SpoolReader, StoredEvent
from headwater.ingest.spool.spool import Spool
from headwater.pipelines import run_as_submitted
from headwater.pipelines.lake import SCHEMA, ArchivedRange, DataFile, Lake, data_name
from headwater.pipelines.lake_continuity import (
    OnProgress,
    check_files,
    check_lake,
    check_rows,
    copy_cut_events,
)
from headwater.pipelines.lake_folders import archive_lock
from headwater.schema.events import Event, parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The events of one task, and the number of tasks that are committed together.
PART_EVENTS = 5_000
ROUND_PARTS = 16
# Events deleted by one statement. The pause after it is its duration times _REST, so that the
# spool's writer gets its turn.
CUT_EVENTS = 500
_REST = 1.0
_WRITTEN = "name string, events long, bytes long"


class ArchiveReport(msgspec.Struct):
    """The result of an archive run.

    It has the events, files and bytes written, the events cut, the last archived seq, the size of
    the spool in bytes, and the duration in seconds.
    """

    spool: str
    events: int = 0
    files: int = 0
    bytes: int = 0
    archived: int = 0
    cut: int = 0
    spool_bytes: int = 0
    seconds: float = 0.0


def archive(
    spark: SparkSession, spool: Spool, lake: Lake, *, on_progress: OnProgress = lambda *_: None
) -> ArchiveReport:
    """Copy new events of the spool to the lake, up to the newest event at the start.

    Raises SpoolFullError if the spool cannot be read, or another process archives it, and
    QueryError if the lake holds other events of the spool.
    """
    return archive_with(partial(_round, spark, spool, lake), spool, lake, on_progress=on_progress)


def archive_with(
    write: Callable[[int, int], list[DataFile]],
    spool: Spool,
    lake: Lake,
    *,
    on_progress: OnProgress = lambda *_: None,
) -> ArchiveReport:
    """Archive with `write`, which writes the files of the events from one seq to another."""
    began = time.monotonic()
    done = ArchiveReport(spool.id)
    with exclusive(spool.path):
        check_lake(spool, lake)
        lake.remove_uncommitted(spool.id)
        copy_cut_events(spool, lake, on_progress)
        position, last = lake.archived(spool.id), spool.last()
        start = position
        while position < last:
            [record] = spool.read(position, events_max=1, bytes_max=1)
            if record.count > 1:  # a long gap
                upto, files = record.seq, []
            else:
                upto = min(last, position + PART_EVENTS * ROUND_PARTS)
                files = write(position + 1, upto)
            lake.add(spool.id, ArchivedRange(position + 1, upto, sorted(files)))
            done.events += sum(file.events for file in files)
            done.files += len(files)
            done.bytes += sum(file.bytes for file in files)
            position = upto
            on_progress("archiving", position - start, last - start)
    done.archived = position
    done.spool_bytes = spool.path.stat().st_size
    done.seconds = round(time.monotonic() - began, 3)
    return done


def cut(
    spool: Spool,
    lake: Lake,
    folded: int,
    *,
    on_progress: OnProgress = lambda *_: None,
    pause: Callable[[float], object] = time.sleep,
) -> int:
    """Remove archived events up to seq `folded` from the spool and free their space.

    `folded` is the spool's position in the graph's checkpoint. The work is done in small steps with
    pauses, so that the API can accept events meanwhile. Returns the number of removed events.
    Raises SpoolFullError if the disk fails, another process archives the spool, or an event that
    would be cut is lost there; QueryError if the lake holds other events of the spool, or lacks
    files of those that would be cut.
    """
    with exclusive(spool.path):
        check_lake(spool, lake)
        upto = min(lake.archived(spool.id) - 1, folded)
        check_rows(spool, upto, on_progress)
        check_files(spool, lake, upto)
        total = 0
        while True:
            began = time.monotonic()
            removed = spool.cut(upto, lake=lake.root, events_max=CUT_EVENTS)
            if not removed:
                break
            total += removed
            on_progress("cutting", total, 0)
            pause((time.monotonic() - began) * _REST)
        while True:
            began = time.monotonic()
            if not spool.release_pages():
                return total
            pause((time.monotonic() - began) * _REST)


def _round(spark: SparkSession, spool: Spool, lake: Lake, first: int, last: int) -> list[DataFile]:
    """Write the events first to last in Spark tasks; return the files."""
    begins = range(first, last + 1, PART_EVENTS)
    ranges = [(begin, min(last, begin + PART_EVENTS - 1)) for begin in begins]
    write = partial(_write_parts, path=spool.path, spool=spool.id, lake=lake.root, ranges=ranges)
    written = spark.range(0, len(ranges), 1, len(ranges)).mapInArrow(write, _WRITTEN)
    return [DataFile(row.name, row.events, row.bytes) for row in written.collect()]


def _write_parts(
    batches: Iterable[pa.RecordBatch],
    *,
    path: Path,
    spool: str,
    lake: str,
    ranges: Sequence[tuple[int, int]],
) -> Iterator[pa.RecordBatch]:
    """Map task numbers to written files, for `mapInArrow`."""
    for batch in batches:
        for part in batch.column(0).to_pylist():
            files = write_part(SpoolReader(path), Lake(lake), spool, *ranges[part])
            columns = [
                [file.name for file in files],
                [file.events for file in files],
                [file.bytes for file in files],
            ]
            arrays = [
                pa.array(column, kind) for column, kind in zip(columns, _WRITTEN_TYPES, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=["name", "events", "bytes"])


_WRITTEN_TYPES = (pa.string(), pa.int64(), pa.int64())


class EventReader(Protocol):
    """A source of stored events."""

    def events(self, first: int, last: int) -> Iterator[StoredEvent]:
        """Yield the events between two sequence numbers, both included, in order."""


def write_part(
    reader: EventReader, lake: Lake, spool: str, first: int, last: int
) -> list[DataFile]:
    """Write the events first to last, one file for each day and namespace.

    Raises SpoolFullError.
    """
    rows: dict[tuple[str, str | None], list[dict[str, Any]]] = {}
    for stored in reader.events(first, last):
        date = datetime.fromtimestamp(stored.received // 1_000_000, UTC).date().isoformat()
        event = _event(stored)
        rows.setdefault((date, _namespace(event)), []).append(_row(spool, stored, event))
    files = []
    for (date, namespace), file_rows in sorted(
        rows.items(), key=lambda item: (item[0][0], item[0][1] or "")
    ):
        sink = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(file_rows, schema=SCHEMA), sink, compression="zstd")
        name = data_name(spool, date, namespace, first, last)
        lake.put(name, sink.getvalue())
        files.append(DataFile(name, len(file_rows), sink.tell()))
    return files


def _event(stored: StoredEvent) -> Event | None:
    try:
        return parse(stored.body, received=stored.received)
    except EventError:
        return None


def _namespace(event: Event | None) -> str | None:
    named = (event.job or event.dataset) if event else None
    return named.namespace if named else None


def _row(spool: str, stored: StoredEvent, event: Event | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "spool": spool,
        "seq": stored.seq,
        "received": stored.received,
        "checksum": stored.checksum,
        "body": stored.body,
    }
    if event is not None:
        row |= {
            "event_time": event.instant if event.event_time else None,
            "event_type": event.state or None,
            "run_id": event.run.run_id if event.run else None,
            "job_namespace": event.job.namespace if event.job else None,
            "job_name": event.job.name if event.job else None,
            "producer": event.producer or None,
        }
    return row


@contextmanager
def exclusive(spool: Path) -> Iterator[None]:
    """Hold the lock of the spool's archiving. Raises SpoolFullError if another process has it."""
    with archive_lock(spool).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SpoolFullError(
                f"{spool} is archived already by another process",
                hint="Try again when it has ended.",
            ) from error
        yield


if __name__ == "__main__":
    run_as_submitted("archive")
