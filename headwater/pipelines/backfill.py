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
from headwater.pipelines.chunk_writer import PieceWriter, move_on
from headwater.pipelines.rows import Counts, Kind, Met, Row, cut, join_counts, join_met, unpacked
from headwater.pipelines.shuffle import buckets_for, merged
from headwater.pipelines.spark_progress import watched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headwater.pipelines.event_files import File
    from headwater.pipelines.fold_partition import Refused, Rules

# One transaction: so many facts, unless they are large.
PIECE_ROWS = 2_000
PIECE_BYTES = 8 * 2**20
# A new edge takes of Neo4j's memory a multiple of what others do, byte for byte: one piece has some 10,000 of them.
EDGE_WEIGHT = 8
# What Spark must be told besides; events are large.
SETTINGS = {"spark.sql.execution.arrow.maxRecordsPerBatch": "1000"}
_REFUSED_AT_ONCE = 1_000

Heard = Callable[[str, int, int], object]


class Done(msgspec.Struct):
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
    rules: Rules,
    *,
    dead: str,
    heard: Heard = lambda *_: None,
) -> Done:
    """Fold every event below these paths into the graph. Those that are none go below `dead`, with their reasons.

    `heard(what, done, total)` hears how far it is, now and then from another thread. Raises NotFoundError where there
    is nothing to read, QueryError when it holds no events or another backfill of the same is at work, UnavailableError
    when Neo4j stays away.
    """
    from headwater.pipelines.event_files import files_in

    began = time.monotonic()
    heard("listing", 0, 0)
    # Before the files are: what is archived meanwhile does not count yet.
    archived = _archived(paths)
    files = files_in(spark, paths)
    done = Done(len(files), sum(file.size for file in files))
    if not files:
        return done
    migrate(database)
    name = name_of(files, rules)
    told = _Told(_DeadLetters(spark, f"{dead.rstrip('/')}/{name.replace(':', '-')}"))
    writer = PieceWriter(database, name, rules.naming)
    begun = {spool: read_checkpoint(database, spool) for spool in archived}
    heard("folding", 0, 0)
    untold = {
        spool: range(begun[spool].position + 1, position + 1)
        for spool, position in archived.items()
    }
    found = pieces(spark, files, rules, untold)
    # The first piece comes when everything is read and folded.
    with watched(
        spark, lambda spark_is: heard(f"folding: tasks of stage {spark_is.stage}", *spark_is[1:])
    ):
        first = list(islice(found, 1))
    for piece in chain(first, found):
        if piece[0].kind > Kind.REFUSED:
            writer.write(piece)
            heard("writing", writer.position, told.met.facts)
        else:
            told.take(piece)
    counts, met, letters = told.counts, told.met, told.letters
    letters.close()
    for spool, position in archived.items():
        producer_stats = told.producer_stats.get(spool, ProducerStats())
        move_on(
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


def name_of(files: Sequence[File], rules: Rules) -> str:
    """Under which a backfill keeps how far it is: another one when anything that it reads, or how, is another."""
    key = hashlib.sha256(rules.redaction_key).hexdigest()
    naming = rules.naming.__reduce__()[1]
    said = msgspec.json.encode(
        (version("headwater"), list(files), naming, key, rules.event_bytes_max), order="sorted"
    )
    return f"backfill:{hashlib.sha256(said).hexdigest()[:16]}"


def _archived(paths: Sequence[str]) -> dict[str, int]:
    """Up to which seq every spool is in the lakes among these paths, by its id."""
    from headwater.pipelines.lake import lake_at

    lakes = [lake for lake in map(lake_at, paths) if lake is not None]
    return {spool: lake.archived(spool) for lake in lakes for spool in lake.spools()}


def pieces(
    spark: SparkSession, files: Sequence[File], rules: Rules, untold: dict[str, range] | None = None
) -> Iterator[list[Row]]:
    """What these files say, in pieces of one transaction each, in the order in which they are to be written, while
    Spark goes on with the next; with the tallies of the events that are `untold`, by spool and seq."""
    from pyspark import StorageLevel

    found = _bundles(spark, files, rules, untold or {}).persist(StorageLevel.DISK_ONLY)
    try:
        # To sort is to look at everything twice: what was joined must be kept, or it would be joined twice.
        frame = found.sort("kind", "at", "key").select("rows")
        bundles = (
            unpacked(bytes(row.rows)) for row in frame.toLocalIterator(prefetchPartitions=True)
        )
        yield from cut(
            merged(bundles), rows_max=PIECE_ROWS, bytes_max=PIECE_BYTES, edge_weight=EDGE_WEIGHT
        )
    finally:
        found.unpersist()


def _bundles(
    spark: SparkSession, files: Sequence[File], rules: Rules, untold: dict[str, range]
) -> DataFrame:
    """What these files say, in sorted bundles of rows."""
    from headwater.pipelines import fold_partition as folding
    from headwater.pipelines.event_files import read

    buckets = buckets_for(sum(file.size for file in files))
    fold = partial(folding.facts_of_batches, rules=rules, untold=untold, buckets=buckets)
    rows = read(spark, files).mapInArrow(fold, folding.BUCKETS)
    met = rows.repartition("bucket").sortWithinPartitions("bucket")
    return met.mapInArrow(folding.join_batches, folding.BUNDLES)


class _Told:
    """What the pieces that hold no facts say of what was read."""

    def __init__(self, letters: _DeadLetters) -> None:
        self.counts, self.met = Counts(), Met()
        self.producer_stats: dict[str, ProducerStats] = {}
        self.letters = letters

    def take(self, piece: Sequence[Row]) -> None:
        for row in piece:
            if row.kind == Kind.COUNTS:
                self.counts = join_counts(
                    self.counts, msgspec.msgpack.decode(row.fact, type=Counts)
                )
            elif row.kind == Kind.MET:
                self.met = join_met(self.met, msgspec.msgpack.decode(row.fact, type=Met))
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
        self._waiting: list[Refused] = []
        # How many of them each spool has, of those that come from a lake.
        self.of_spools: Counter[str | None] = Counter()

    def add(self, fact: bytes) -> None:
        from headwater.pipelines.fold_partition import Refused
        from headwater.pipelines.lake import spool_of

        letter = msgspec.msgpack.decode(fact, type=Refused)
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
