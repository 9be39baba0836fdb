"""The archive: every event of the spool once, after any interruption; a cut removes nothing
else.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import date
from pathlib import Path

import apsw
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from headwater.errors import SpoolFullError
from headwater.ingest.spool.reader import SpoolReader
from headwater.ingest.spool.salvage import check, salvage
from headwater.ingest.spool.spool import Spool
from headwater.pipelines import archive as pipeline
from headwater.pipelines.lake import ArchivedRange, DataFile, Lake
from tests.run_builders import run
from tests.sparks import QUICK_JAVA, SMALL, small_spark
from tests.torture import in_torture_only

# Spark's own Python leaves sockets for the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]
DAY = 86_400_000_000
JANUARY_31 = 1_769_817_600_000_000  # midnight, UTC


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with small_spark() as session:
        yield session


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with closing(Spool(tmp_path / "spool.db")) as spool:
        yield spool


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path / "a lake"))


def bodies_of(count: int, first: int = 0) -> list[bytes]:
    return [
        json.dumps(event).encode()
        for number in range(first, first + count)
        for event in run(f"r{number}", f"j{number % 3}", ["d1"], ["d2"], minute=number % 1_000)
    ]


def rows(lake: Lake) -> list[dict[str, object]]:
    """Return the rows of all files, by seq."""
    tables = [
        pq.ParquetFile(path).read().to_pylist() for path in Path(lake.root).rglob("*.parquet")
    ]
    return sorted((row for table in tables for row in table), key=lambda row: row["seq"])


def part(spool: Spool, lake: Lake, first: int, last: int) -> None:
    """Write one round by hand, as Spark's workers do."""
    lake.add(
        spool.id,
        ArchivedRange(
            first, last, pipeline.write_part(SpoolReader(spool.path), lake, spool.id, first, last)
        ),
    )


@pytest.mark.spark
def test_every_event_is_there_once_by_day_and_namespace(
    spark: SparkSession, spool: Spool, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "PART_EVENTS", 3)
    monkeypatch.setattr(pipeline, "ROUND_PARTS", 2)
    bodies = bodies_of(4)
    spool.append(bodies[:5], received=JANUARY_31 - 5)
    spool.append(
        [*bodies[5:], b'{"dataset": {"namespace": "s3://b/x y", "name": "t"}}', b"{no event"],
        received=JANUARY_31,
    )
    done = pipeline.archive(spark, spool, lake)
    assert (done.events, done.archived) == (10, 10)
    found = rows(lake)
    assert [row["body"] for row in found] == [
        stored.body for stored in SpoolReader(spool.path).events(1, 10)
    ]
    assert [row["seq"] for row in found] == list(range(1, 11))
    # Tasks have the size that the driver sets, whichever process writes them.
    parts = {
        tuple(map(int, path.stem.split("-")[-2:])) for path in Path(lake.root).rglob("*.parquet")
    }
    assert parts == {(1, 3), (4, 6), (7, 9), (10, 10)}
    for row in found:
        assert row["checksum"] == zlib.crc32(row["body"])  # type: ignore[arg-type]
    assert {row["spool"] for row in found} == {spool.id}
    assert [(row["job_name"], row["run_id"], row["event_type"]) for row in found[:2]] == [
        ("j0", "r0", "START"),
        ("j0", "r0", "COMPLETE"),
    ]
    table = spark.read.parquet(lake.root)
    assert sorted(
        map(tuple, table.groupBy("date", "namespace").count().collect()), key=str
    ) == sorted(
        [
            (date(2026, 1, 30), "etl", 5),
            (date(2026, 1, 31), "etl", 3),
            (date(2026, 1, 31), "s3://b/x y", 1),
            (date(2026, 1, 31), None, 1),
        ],
        key=str,
    )
    assert pipeline.archive(spark, spool, lake).events == 0
    spool.append(bodies_of(1, first=4), received=JANUARY_31 + DAY)
    assert (pipeline.archive(spark, spool, lake).events, len(rows(lake))) == (2, 12)
    # Uncommitted files of a killed process are written again.
    spool.append(bodies_of(2, first=5), received=JANUARY_31 + DAY)
    pipeline.write_part(SpoolReader(spool.path), lake, spool.id, 13, 14)
    spool.append(bodies_of(1, first=7), received=JANUARY_31 + DAY)
    assert pipeline.archive(spark, spool, lake).events == 6
    assert [row["seq"] for row in rows(lake)] == list(range(1, 19))


def test_a_cut_removes_only_archived_and_folded_events(spool: Spool, lake: Lake) -> None:
    spool.append(bodies_of(30), received=JANUARY_31)
    spool.dead_letter([(3, "dead")])
    part(spool, lake, 1, 40)

    def left() -> list[int]:
        return [record.seq for record in spool.read(0, events_max=100, bytes_max=2**30)]

    assert pipeline.cut(spool, lake, 0) == 0
    assert pipeline.cut(spool, lake, 10) == 9
    assert left() == [3, *range(11, 61)]
    assert spool.cut_events() == (10, lake.root)
    # The newest archived event stays: by it the next run recognises the lake.
    assert pipeline.cut(spool, lake, 60) == 29
    assert left() == [3, *range(40, 61)]
    part(spool, lake, 41, 60)
    # The newest event stays: from it the spool reads how many it has received.
    assert pipeline.cut(spool, lake, 60) == 20
    assert (left(), spool.last(), SpoolReader(spool.path).count()) == ([3, 60], 60, 60)
    assert [dead.seq for dead in spool.dead_letters()] == [3]
    assert spool.append(bodies_of(1), received=JANUARY_31) == 62
    assert [row["seq"] for row in rows(lake)] == list(range(1, 61))


def test_a_cut_frees_disk_space_while_events_arrive(spool: Spool, lake: Lake) -> None:
    spool.append([body + b" " * 6_000 for body in bodies_of(600)], received=JANUARY_31)
    part(spool, lake, 1, 1_200)
    before = spool.path.stat().st_size
    waited: list[float] = []

    def meanwhile(_: float) -> None:
        with closing(Spool(spool.path)) as other:
            began = time.monotonic()
            other.append([b"{}"], received=JANUARY_31)
            waited.append(time.monotonic() - began)

    assert pipeline.cut(spool, lake, 1_200, pause=meanwhile) == 1_199
    spool.close()
    assert len(waited) > 5
    assert spool.last() == 1_200 + len(waited)
    assert spool.path.stat().st_size < before / 10


def test_the_mark_of_cut_events_never_falls(
    spool: Spool, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dead letter that is retried after a cut lies below the mark, and the next cut removes it."""
    spool.append(bodies_of(20), received=JANUARY_31)
    spool.dead_letter([(3, "broken"), (4, "broken")])
    part(spool, lake, 1, 40)
    assert pipeline.cut(spool, lake, 30) == 28
    assert spool.retry([3, 4]) == [3, 4]
    monkeypatch.setattr(pipeline, "CUT_EVENTS", 1)
    assert pipeline.cut(spool, lake, 30) == 2
    assert spool.cut_events() == (30, lake.root)
    assert check(spool.path).is_whole


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM event WHERE seq = 5",
        "DELETE FROM event WHERE seq BETWEEN 5 AND 1500",
        "UPDATE event SET body = zeroblob(9) WHERE seq = 5",
    ],
)
def test_events_whose_loss_is_not_noted_are_not_cut(spool: Spool, lake: Lake, damage: str) -> None:
    spool.append(bodies_of(1_000), received=JANUARY_31)
    # Another reason than a loss, at the end of the gap.
    spool.dead_letter([(1_500, "no event")])
    with closing(apsw.Connection(str(spool.path))) as connection:
        connection.execute(damage)
    part(spool, lake, 1, 2_000)
    with pytest.raises(SpoolFullError, match="has lost events 5 to"):
        pipeline.cut(spool, lake, 2_000)
    assert spool.cut_events() == (0, "")
    salvage(spool.path)
    assert pipeline.cut(spool, lake, 2_000) > 0
    assert check(spool.path).is_whole


def test_a_long_gap_is_archived_at_once(spool: Spool, lake: Lake) -> None:
    spool.append([b"{}"], received=JANUARY_31)
    with closing(apsw.Connection(str(spool.path))) as connection:
        connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'event'", (2**40,))
    last = spool.append([b"{}"], received=JANUARY_31)
    rounds: list[tuple[int, int]] = []

    def write(first: int, last: int) -> list[DataFile]:
        rounds.append((first, last))
        return []

    assert pipeline.archive_with(write, spool, lake).archived == last
    assert len(rounds) <= 2


def test_two_do_not_archive_one_spool(spool: Spool, lake: Lake) -> None:
    with (
        pipeline.exclusive(spool.path),
        pytest.raises(SpoolFullError, match="archived already by another"),
    ):
        pipeline.cut(spool, lake, 0)


_ARCHIVING = """
import sys
from functools import partial
from pathlib import Path
from headwater.ingest.spool.reader import SpoolReader
from headwater.ingest.spool.spool import Spool
from headwater.pipelines import archive
from headwater.pipelines.lake import Lake
archive.PART_EVENTS, archive.ROUND_PARTS = 25, 2
spool, lake = Spool(Path(sys.argv[1])), Lake(sys.argv[2])
write = partial(archive.write_part, SpoolReader(spool.path), lake, spool.id)
archive.archive_with(write, spool, lake, on_progress=lambda *told: print(told, flush=True))
"""


@pytest.mark.slow
def test_killed_while_it_writes(spool: Spool, lake: Lake) -> None:
    bodies = bodies_of(1_000)
    spool.append(bodies, received=JANUARY_31)
    words = [sys.executable, "-c", _ARCHIVING, str(spool.path), lake.root]
    for lines in (3, 7):
        with subprocess.Popen(words, stdout=subprocess.PIPE) as killed:
            assert killed.stdout is not None
            for _ in range(lines):
                assert killed.stdout.readline()
            time.sleep(0.004 * lines)
            killed.send_signal(signal.SIGKILL)
    assert 0 < lake.archived(spool.id) < 2_000
    assert (
        subprocess.run(words, stdout=subprocess.DEVNULL, check=True, env=os.environ).returncode == 0
    )
    found = rows(lake)
    assert [row["seq"] for row in found] == list(range(1, 2_001))
    assert [row["body"] for row in found] == bodies


def written(lake: Lake) -> int:
    """Return the last seq in any file, in committed and uncommitted rounds."""
    return max(
        (int(path.stem.split("-")[-1]) for path in Path(lake.root).rglob("*.parquet")), default=0
    )


_IN_SMALL_ROUNDS = f"""
import sys
from headwater.cli import main
from headwater.pipelines import archive, session
archive.PART_EVENTS, archive.ROUND_PARTS = int(sys.argv.pop(1)), 2
session.LOCAL.update({SMALL!r})
main()
"""


@in_torture_only
@pytest.mark.spark
def test_the_command_is_killed_and_run_again(spool: Spool, lake: Lake) -> None:
    bodies = bodies_of(300)
    spool.append(bodies[:500], received=JANUARY_31)
    program, words = (
        [sys.executable, "-c", _IN_SMALL_ROUNDS],
        ["pipeline", "archive", lake.root, "--json"],
    )
    environment = {**os.environ, **QUICK_JAVA, "HEADWATER_HOME": str(spool.path.parent)}
    with subprocess.Popen(
        [*program, "100", *words],
        env=environment,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as killed:
        try:
            deadline = time.monotonic() + 100
            # Wait until one round is committed and the next has an uncommitted file.
            while not 0 < lake.archived(spool.id) < written(lake):
                assert time.monotonic() < deadline
                assert killed.poll() is None
                time.sleep(0.01)
            # Only the command is killed: its Spark must notice by itself.
            killed.kill()
            killed.wait()
            before = lake.archived(spool.id)
            assert before >= 200
            # Tasks now have other ranges, so files of the killed process have other names.
            spool.append(bodies[500:], received=JANUARY_31)
            second = subprocess.run(
                [*program, "130", *words], env=environment, stdout=subprocess.PIPE, check=True
            )
        finally:
            with suppress(ProcessLookupError):
                os.killpg(killed.pid, signal.SIGKILL)
    summary = json.loads(second.stdout)
    assert (summary["archived"], summary["events"]) == (600, 600 - before)
    found = rows(lake)
    assert [row["seq"] for row in found] == list(range(1, 601))
    assert [row["body"] for row in found] == bodies
