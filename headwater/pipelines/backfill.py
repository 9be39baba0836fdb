"""`headwater pipeline backfill`: fold an archive of events into the graph.

    files -> parse, redact, fold -> rows -> join by key -> sort -> chunks -> a transaction per chunk
             (Spark's workers)              (Spark's workers)      (the driver: one write lock)

Every transaction also writes the number of facts written so far, under a name derived from the
input. After a crash the same command folds the same events to the same rows in the same order and
continues behind the last written fact. If the files have changed, it starts again; facts that the
graph already has change nothing.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from itertools import chain, islice
from typing import TYPE_CHECKING

import msgspec

from headwater.cypher.driver.database import Database
from headwater.cypher.migrate import migrate
from headwater.ingest.producer_stats import ProducerStats
from headwater.ingest.write.transaction import read_checkpoint
from headwater.pipelines import run_as_submitted
from headwater.pipelines.chunk_writer import ChunkWriter, advance_checkpoint
from headwater.pipelines.lake_folders import validate_glob
from headwater.pipelines.rows import (
    Counts,
    Kind,
    Row,
    Totals,
    join_counts,
    join_totals,
    split_rows,
    unpack,
)
from headwater.pipelines.shuffle import bucket_count, merge_bundles
from headwater.pipelines.spark_progress import report_progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headwater.pipelines.event_files import File
    from headwater.pipelines.fold_partition import FoldRules, RefusedEvent

# The maximum facts and bytes of one transaction.
CHUNK_ROWS = 2_000
CHUNK_BYTES = 8 * 2**20
# A new edge takes several times the memory of other facts in Neo4j, byte for byte. With this weight
# a chunk has at most some 10,000 of them.
EDGE_WEIGHT = 8
# Spark settings of a backfill: events are large, so batches are small.
SETTINGS = {"spark.sql.execution.arrow.maxRecordsPerBatch": "1000"}
_REFUSED_PER_BATCH = 1_000

OnProgress = Callable[[str, int, int], object]


class BackfillReport(msgspec.Struct):
    """The result of a backfill.

    `events` counts all events read; `folded` counts distinct events. `dead` is the folder of the
    refused events, if there are any.
    """

    files: int
    bytes: int
    events: int = 0
    folded: int = 0
    duplicates: int = 0
    refused: int = 0
    # Facts: all, those written by an earlier attempt, and those that Neo4j refused.
    facts: int = 0
    resumed: int = 0
    unwritable: int = 0
    transactions: int = 0
    seconds: float = 0.0
    dead: str | None = None


def backfill(
    spark: SparkSession,
    database: Database,
    paths: Sequence[str],
    rules: FoldRules,
    *,
    dead: str,
    on_progress: OnProgress = lambda *_: None,
) -> BackfillReport:
    """Fold every event below these paths into the graph; write refused events below `dead`.

    `on_progress(phase, done, total)` is called repeatedly, also from another thread. Raises
    NotFoundError if a path has no files, QueryError if the files hold no events, another backfill
    of them runs, or a path may hold a secret, GraphErasedError if the graph is erased meanwhile,
    UnavailableError if Neo4j stays unavailable.
    """
    from headwater.pipelines.event_files import files_in

    for path in paths:
        validate_glob(path)
    began = time.monotonic()
    on_progress("listing", 0, 0)
    # Read before the files are listed: events archived in between do not count yet.
    archived = _archived(paths)
    files = files_in(spark, paths)
    done = BackfillReport(len(files), sum(file.size for file in files))
    if not files:
        return done
    migrate(database)
    name = backfill_name(files, rules)
    records = _ReadRecords(_DeadLetters(spark, f"{dead.rstrip('/')}/{name.replace(':', '-')}"))
    writer = ChunkWriter(database, name, rules.naming)
    begun = {spool: read_checkpoint(database, spool) for spool in archived}
    on_progress("folding", 0, 0)
    uncounted = {
        spool: range(begun[spool].position + 1, position + 1)
        for spool, (position, _) in archived.items()
    }
    chunks = fact_chunks(spark, files, rules, uncounted)
    # The first chunk comes when everything is read and folded.
    with report_progress(
        spark,
        lambda tasks: on_progress(
            f"folding: tasks of stage {tasks.stage}", tasks.done, tasks.total
        ),
    ):
        first = list(islice(chunks, 1))
    for chunk in chain(first, chunks):
        if chunk[0].kind > Kind.REFUSED:
            writer.write(chunk)
            on_progress("writing", writer.position, records.totals.facts)
        else:
            records.add(chunk)
    counts, totals, letters = records.counts, records.totals, records.letters
    letters.flush()
    for spool, (position, received) in archived.items():
        producer_stats = records.producer_stats.get(spool, ProducerStats())
        advance_checkpoint(
            database,
            spool,
            begun[spool],
            position,
            received=received,
            dead=letters.of_spools[spool],
            producer_stats=producer_stats,
            graph=writer.graph,
        )
    return msgspec.structs.replace(
        done,
        events=counts.events,
        folded=totals.events,
        duplicates=counts.events - counts.refused - totals.events,
        refused=counts.refused,
        facts=totals.facts,
        resumed=writer.resumed,
        unwritable=writer.refused,
        transactions=writer.transactions,
        seconds=round(time.monotonic() - began, 3),
        dead=letters.folder if counts.refused else None,
    )


def backfill_name(files: Sequence[File], rules: FoldRules) -> str:
    """Return the name under which a backfill stores its position; it depends on files and rules."""
    key = hashlib.sha256(rules.redaction_key).hexdigest()
    classes = sorted(rules.redaction_classes)
    naming = rules.naming.__reduce__()[1]
    times = (rules.future_seconds, rules.allow_missing_event_time)
    identity = msgspec.json.encode(
        (version("headwater"), list(files), naming, key, *times, rules.event_bytes_max, *classes),
        order="sorted",
    )
    return f"backfill:{hashlib.sha256(identity).hexdigest()[:16]}"


def _archived(paths: Sequence[str]) -> dict[str, tuple[int, int | None]]:
    """Return the last archived seq, and its receipt, of every spool in the lakes among the paths.

    Raises QueryError if a file of a lake cannot be read.
    """
    from headwater.pipelines.lake import open_lake

    lakes = [lake for lake in map(open_lake, paths) if lake is not None]
    archived: dict[str, tuple[int, int | None]] = {}
    for lake in lakes:
        for spool in lake.spools():
            receipts, position = lake.newest_receipts(spool), lake.archived(spool)
            archived[spool] = position, receipts.get(position)
    return archived


def fact_chunks(
    spark: SparkSession,
    files: Sequence[File],
    rules: FoldRules,
    uncounted: dict[str, range] | None = None,
) -> Iterator[list[Row]]:
    """Yield the rows of these files in write order, one chunk for each transaction.

    Spark works on the next chunks meanwhile. The rows include producer statistics of the events in
    `uncounted`, by spool and seq.
    """
    from pyspark import StorageLevel

    joined = _bundles(spark, files, rules, uncounted or {}).persist(StorageLevel.DISK_ONLY)
    try:
        # A sort reads its input twice, and without `persist` Spark would join twice.
        frame = joined.sort("kind", "at", "key").select("rows")
        bundles = (
            unpack(bytes(row.rows)) for row in frame.toLocalIterator(prefetchPartitions=True)
        )
        yield from split_rows(
            merge_bundles(bundles),
            rows_max=CHUNK_ROWS,
            bytes_max=CHUNK_BYTES,
            edge_weight=EDGE_WEIGHT,
        )
    finally:
        joined.unpersist()


def _bundles(
    spark: SparkSession, files: Sequence[File], rules: FoldRules, uncounted: dict[str, range]
) -> DataFrame:
    """Return a frame of joined, sorted bundles of rows."""
    from headwater.pipelines import fold_partition
    from headwater.pipelines.event_files import read

    buckets = bucket_count(sum(file.size for file in files))
    fold = partial(fold_partition.fold_batches, rules=rules, uncounted=uncounted, buckets=buckets)
    rows = read(spark, files).mapInArrow(fold, fold_partition.BUCKETS)
    by_bucket = rows.repartition("bucket").sortWithinPartitions("bucket")
    return by_bucket.mapInArrow(fold_partition.join_batches, fold_partition.BUNDLES)


class _ReadRecords:
    """The rows without facts: counts, totals, producer statistics and refused events."""

    def __init__(self, letters: _DeadLetters) -> None:
        self.counts, self.totals = Counts(), Totals()
        self.producer_stats: dict[str, ProducerStats] = {}
        self.letters = letters

    def add(self, rows: Sequence[Row]) -> None:
        """Add these rows."""
        for row in rows:
            if row.kind == Kind.COUNTS:
                self.counts = join_counts(
                    self.counts, msgspec.msgpack.decode(row.fact, type=Counts)
                )
            elif row.kind == Kind.TOTALS:
                totals = msgspec.msgpack.decode(row.fact, type=Totals)
                self.totals = join_totals(self.totals, totals)
            elif row.kind == Kind.PRODUCER_STATS:
                self.producer_stats[row.key.decode()] = msgspec.msgpack.decode(
                    row.fact, type=ProducerStats
                )
            else:
                self.letters.add(row.fact)


class _DeadLetters:
    """The refused events, written as JSON lines to numbered folders.

    A second attempt writes the same files again.
    """

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self._spark = spark
        self.folder = folder
        self._parts = 0
        self._waiting: list[RefusedEvent] = []
        # The number of refused events from each spool; None for files that are not of a lake.
        self.of_spools: Counter[str | None] = Counter()

    def add(self, fact: bytes) -> None:
        """Add a refused event; write a folder when enough are collected."""
        from headwater.pipelines.fold_partition import RefusedEvent
        from headwater.pipelines.lake import spool_of

        letter = msgspec.msgpack.decode(fact, type=RefusedEvent)
        self._waiting.append(letter)
        self.of_spools[spool_of(letter.file)] += 1
        if len(self._waiting) == _REFUSED_PER_BATCH:
            self.flush()

    def flush(self) -> None:
        """Write the collected events."""
        if not self._waiting:
            return
        letters = [msgspec.structs.astuple(letter) for letter in self._waiting]
        frame = self._spark.createDataFrame(
            letters,
            "reason string, field string, file string, start long, number long, body string",
        )
        frame.coalesce(1).write.mode("overwrite").json(f"{self.folder}/part-{self._parts:05}")
        self._parts += 1
        self._waiting = []


if __name__ == "__main__":
    run_as_submitted("backfill")
