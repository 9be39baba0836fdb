"""`headwater pipeline backfill`: an archive of events into the graph, the same graph as the worker would have made.

    files -> judge, redact, fold -> rows -> joined by key -> bundles -> sorted -> pieces -> one transaction each
             (Spark's workers)              (Spark's workers)           (here: there is one write lock)

How many facts are written is kept in the graph with each of them, under a name made from what is read. Whatever dies
in between, the same command again folds the same events to the same rows in the same order, and goes on behind the
last one written; if the files are others meanwhile, it begins anew, and what is known already changes nothing.
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

# One transaction: so many facts, unless they are large.
CHUNK_ROWS = 2_000
CHUNK_BYTES = 8 * 2**20
# A new edge takes of Neo4j's memory a multiple of what others do, byte for byte: one piece has some 10,000 of them.
EDGE_WEIGHT = 8
# What Spark must be totals besides; events are large.
SETTINGS = {"spark.sql.execution.arrow.maxRecordsPerBatch": "1000"}
_REFUSED_AT_ONCE = 1_000

OnProgress = Callable[[str, int, int], object]


class BackfillReport(msgspec.Struct):
    """What a backfill did. Events are counted as they were read; `folded` counts each that is no event's copy."""

    files: int
    bytes: int
    events: int = 0
    folded: int = 0
    duplicates: int = 0
    refused: int = 0
    # Facts there are, those that an earlier try had written already, and those that Neo4j would not take.
    facts: int = 0
    resumed: int = 0
    unwritable: int = 0
    transactions: int = 0
    seconds: float = 0.0
    # Where the events that were refused are, when there are any.
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
    """Fold every event below these paths into the graph. Those that are none go below `dead`, with their reasons.

    `on_progress(what, done, total)` hears how far it is, now and then from another thread. Raises NotFoundError where there
    is nothing to read, QueryError when it holds no events or another backfill of the same is at work, UnavailableError
    when Neo4j stays away.
    """
    from headwater.pipelines.event_files import files_in

    began = time.monotonic()
    on_progress("listing", 0, 0)
    # Before the files are: what is archived meanwhile does not count yet.
    archived = _archived(paths)
    files = files_in(spark, paths)
    done = BackfillReport(len(files), sum(file.size for file in files))
    if not files:
        return done
    migrate(database)
    name = backfill_name(files, rules)
    totals = _Totals(_DeadLetters(spark, f"{dead.rstrip('/')}/{name.replace(':', '-')}"))
    writer = ChunkWriter(database, name, rules.naming)
    begun = {spool: read_checkpoint(database, spool) for spool in archived}
    on_progress("folding", 0, 0)
    uncounted = {
        spool: range(begun[spool].position + 1, position + 1)
        for spool, position in archived.items()
    }
    chunks = fact_chunks(spark, files, rules, uncounted)
    # The first piece comes when everything is read and folded.
    with report_progress(
        spark,
        lambda spark_is: on_progress(f"folding: tasks of stage {spark_is.stage}", *spark_is[1:]),
    ):
        first = list(islice(chunks, 1))
    for piece in chain(first, chunks):
        if piece[0].kind > Kind.REFUSED:
            writer.write(piece)
            on_progress("writing", writer.position, totals.met.facts)
        else:
            totals.take(piece)
    counts, met, letters = totals.counts, totals.met, totals.letters
    letters.close()
    for spool, position in archived.items():
        producer_stats = totals.producer_stats.get(spool, ProducerStats())
        advance_checkpoint(
            database,
            spool,
            begun[spool],
            position,
            dead=letters.of_spools[spool],
            producer_stats=producer_stats,
        )
    folded = met.events + counts.undated
    return msgspec.structs.replace(
        done,
        events=counts.events,
        folded=folded,
        duplicates=counts.events - counts.refused - folded,
        refused=counts.refused,
        facts=met.facts,
        resumed=writer.resumed,
        unwritable=writer.refused,
        transactions=writer.transactions,
        seconds=round(time.monotonic() - began, 3),
        dead=letters.folder if counts.refused else None,
    )


def backfill_name(files: Sequence[File], rules: FoldRules) -> str:
    """Under which a backfill keeps how far it is: another one when anything that it reads, or how, is another."""
    key = hashlib.sha256(rules.redaction_key).hexdigest()
    naming = rules.naming.__reduce__()[1]
    said = msgspec.json.encode(
        (version("headwater"), list(files), naming, key, rules.event_bytes_max), order="sorted"
    )
    return f"backfill:{hashlib.sha256(said).hexdigest()[:16]}"


def _archived(paths: Sequence[str]) -> dict[str, int]:
    """Up to which seq every spool is in the lakes among these paths, by its id."""
    from headwater.pipelines.lake import open_lake

    lakes = [lake for lake in map(open_lake, paths) if lake is not None]
    return {spool: lake.archived(spool) for lake in lakes for spool in lake.spools()}


def fact_chunks(
    spark: SparkSession,
    files: Sequence[File],
    rules: FoldRules,
    uncounted: dict[str, range] | None = None,
) -> Iterator[list[Row]]:
    """What these files say, in pieces of one transaction each, in the order in which they are to be written, while
    Spark goes on with the next; with the tallies of the events that are `uncounted`, by spool and seq."""
    from pyspark import StorageLevel

    chunks = _bundles(spark, files, rules, uncounted or {}).persist(StorageLevel.DISK_ONLY)
    try:
        # To sort is to look at everything twice: what was joined must be kept, or it would be joined twice.
        frame = chunks.sort("kind", "at", "key").select("rows")
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
        chunks.unpersist()


def _bundles(
    spark: SparkSession, files: Sequence[File], rules: FoldRules, uncounted: dict[str, range]
) -> DataFrame:
    """What these files say, in sorted bundles of rows."""
    from headwater.pipelines import fold_partition
    from headwater.pipelines.event_files import read

    buckets = bucket_count(sum(file.size for file in files))
    fold = partial(fold_partition.fold_batches, rules=rules, uncounted=uncounted, buckets=buckets)
    rows = read(spark, files).mapInArrow(fold, fold_partition.BUCKETS)
    met = rows.repartition("bucket").sortWithinPartitions("bucket")
    return met.mapInArrow(fold_partition.join_batches, fold_partition.BUNDLES)


class _Totals:
    """What the pieces that hold no facts say of what was read."""

    def __init__(self, letters: _DeadLetters) -> None:
        self.counts, self.met = Counts(), Totals()
        self.producer_stats: dict[str, ProducerStats] = {}
        self.letters = letters

    def take(self, piece: Sequence[Row]) -> None:
        for row in piece:
            if row.kind == Kind.COUNTS:
                self.counts = join_counts(
                    self.counts, msgspec.msgpack.decode(row.fact, type=Counts)
                )
            elif row.kind == Kind.TOTALS:
                self.met = join_totals(self.met, msgspec.msgpack.decode(row.fact, type=Totals))
            elif row.kind == Kind.PRODUCER_STATS:
                self.producer_stats[row.key.decode()] = msgspec.msgpack.decode(
                    row.fact, type=ProducerStats
                )
            else:
                self.letters.add(row.fact)


class _DeadLetters:
    """The events that were refused, as lines of JSON, some hundreds a folder: so a second try writes the same again."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self._spark = spark
        self.folder = folder
        self._parts = 0
        self._waiting: list[RefusedEvent] = []
        # How many of them each spool has, of those that come from a lake.
        self.of_spools: Counter[str | None] = Counter()

    def add(self, fact: bytes) -> None:
        from headwater.pipelines.fold_partition import RefusedEvent
        from headwater.pipelines.lake import spool_of

        letter = msgspec.msgpack.decode(fact, type=RefusedEvent)
        self._waiting.append(letter)
        self.of_spools[spool_of(letter.file)] += 1
        if len(self._waiting) == _REFUSED_AT_ONCE:
            self.close()

    def close(self) -> None:
        """Write what waits."""
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
