"""`headwater pipeline archive`: what the spool has kept since the last time, into the lake; if asked, cut from it.

Spark's workers each read some thousands of events and write them as files of the lake; when all of a round are there
and synced, the lake is told that they count (`headwater.pipelines.lake`). So kill -9 at any instant loses nothing and
doubles nothing: a round that does not count is done again. Spark's workers open the spool's file, so they must be on
its machine: a local Spark, as the command starts it.

What is cut from the spool is in the lake *and* folded, by the checkpoint that the graph keeps; what was set aside
stays, and so does the newest event, from which the spool knows how many it has received.
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
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from headwater.errors import EventError, SpoolFullError
from headwater.ingest.spool.reader import SpoolReader, StoredEvent
from headwater.ingest.spool.spool import Spool
from headwater.pipelines import run_as_submitted
from headwater.pipelines.lake import SCHEMA, ArchivedRange, DataFile, Lake, data_name
from headwater.schema.events import Event, parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# One worker's part, and how many of those count together.
PART_EVENTS = 5_000
ROUND_PARTS = 16
# An appender that waits gets its turn: between two pieces of a cut so much of the time that the piece took.
CUT_EVENTS = 500
_REST = 1.0
_WRITTEN = "name string, events long, bytes long"

OnProgress = Callable[[str, int, int], object]


class ArchiveReport(msgspec.Struct):
    """What an archiving did: events and files written, their bytes, events cut, and where each end stands now."""

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
    """Bring into the lake what the spool has and the lake has not, as far as the spool goes now.

    Raises SpoolFullError when the spool cannot be read, or somebody else archives it now.
    """
    return archive_with(partial(_round, spark, spool, lake), spool, lake, on_progress=on_progress)


def archive_with(
    write: Callable[[int, int], list[DataFile]],
    spool: Spool,
    lake: Lake,
    *,
    on_progress: OnProgress = lambda *_: None,
) -> ArchiveReport:
    """The same, by whatever can write the files of the events from one seq to another."""
    began = time.monotonic()
    done = ArchiveReport(spool.id)
    with _exclusive(spool.path):
        lake.remove_uncommitted(spool.id)
        position, last = lake.archived(spool.id), spool.last()
        start = position
        while position < last:
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
    """Remove from the spool what is in the lake, up to seq `folded`, and give the space back; returns how many events.

    `folded` is how far the graph says that the spool is folded. In small pieces with pauses between, so that events go
    on being accepted. Raises SpoolFullError when the spool's disk fails, or somebody archives.
    """
    with _exclusive(spool.path):
        upto = min(lake.archived(spool.id), folded)
        gone = 0
        while True:
            began = time.monotonic()
            removed = spool.cut(upto, lake=lake.root, events_max=CUT_EVENTS)
            if not removed:
                break
            gone += removed
            on_progress("cutting", gone, 0)
            pause((time.monotonic() - began) * _REST)
        while True:
            began = time.monotonic()
            if not spool.release_pages():
                return gone
            pause((time.monotonic() - began) * _REST)


def _round(spark: SparkSession, spool: Spool, lake: Lake, first: int, last: int) -> list[DataFile]:
    """Write the events first to last, and tell what files that made."""
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
    """One worker's part of a round: numbers of parts in, files out; for `mapInArrow`."""
    for batch in batches:
        for part in batch.column(0).to_pylist():
            files = write_part(SpoolReader(path), Lake(lake), spool, *ranges[part])
            columns = [
                [file.name for file in files],
                [file.events for file in files],
                [file.bytes for file in files],
            ]
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array(column, kind)
                    for column, kind in zip(columns, _WRITTEN_TYPES, strict=True)
                ],
                names=["name", "events", "bytes"],
            )


_WRITTEN_TYPES = (pa.string(), pa.int64(), pa.int64())


def write_part(
    reader: SpoolReader, lake: Lake, spool: str, first: int, last: int
) -> list[DataFile]:
    """Write the events first to last into as many files as they have days and namespaces. Raises SpoolFullError."""
    rows: dict[tuple[str, str | None], list[dict[str, Any]]] = {}
    for kept in reader.events(first, last):
        date = datetime.fromtimestamp(kept.received // 1_000_000, UTC).date().isoformat()
        event = _event(kept)
        rows.setdefault((date, _namespace(event)), []).append(_row(spool, kept, event))
    files = []
    for (date, namespace), kept_rows in sorted(
        rows.items(), key=lambda item: (item[0][0], item[0][1] or "")
    ):
        sink = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(kept_rows, schema=SCHEMA), sink, compression="zstd")
        name = data_name(spool, date, namespace, first, last)
        lake.put(name, sink.getvalue())
        files.append(DataFile(name, len(kept_rows), sink.tell()))
    return files


def _event(kept: StoredEvent) -> Event | None:
    try:
        return parse(kept.body, received=kept.received)
    except EventError:
        return None


def _namespace(event: Event | None) -> str | None:
    named = (event.job or event.dataset) if event else None
    return named.namespace if named else None


def _row(spool: str, kept: StoredEvent, event: Event | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "spool": spool,
        "seq": kept.seq,
        "received": kept.received,
        "checksum": kept.checksum,
        "body": kept.body,
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
def _exclusive(spool: Path) -> Iterator[None]:
    """Nobody else archives this spool meanwhile. Raises SpoolFullError when somebody does."""
    with spool.with_name(f"{spool.name}.archive").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SpoolFullError(
                f"{spool} is being archived already", hint="Try again when that has ended."
            ) from error
        yield


if __name__ == "__main__":
    run_as_submitted("archive")
