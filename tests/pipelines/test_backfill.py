"""An archive, a real Spark and a real Neo4j: the same graph as the worker makes."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from headwater.cli import graph_admin
from headwater.cypher.driver.database import Database
from headwater.cypher.driver.write_lock import GraphErasedError, identify_graph
from headwater.cypher.maintenance.erase import erase
from headwater.errors import NotFoundError, QueryError
from headwater.ingest.continuity import DiscontinuityError
from headwater.ingest.fold import fold
from headwater.ingest.producer_stats import ProducerStats, count_event
from headwater.ingest.receive.redact import Redactor
from headwater.ingest.spool.copy import copy_spool
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.ingest.write.transaction import Checkpoint, WriteRequest, read_checkpoint, write
from headwater.lineage.questions.conformance import producers
from headwater.lineage.view import GraphView
from headwater.pipelines import archive
from headwater.pipelines import backfill as pipeline
from headwater.pipelines import spark_progress as progress
from headwater.pipelines.backfill import BackfillReport, OnProgress, backfill
from headwater.pipelines.chunk_writer import advance_checkpoint
from headwater.pipelines.event_files import files_in
from headwater.pipelines.fold_partition import FoldRules, read_rules
from headwater.pipelines.lake import Lake
from headwater.schema.delta import GraphDelta
from headwater.schema.events import parse
from headwater.schema.naming import load_naming
from headwater.settings import load as load_settings
from tests.canonical import Graph, canonical, empty
from tests.checkpoints import counts
from tests.conftest import Neo4jServer
from tests.histories import histories
from tests.run_builders import run
from tests.sparks import SMALL, small_spark
from tests.torture import in_torture_only

pytestmark = [
    pytest.mark.neo4j,
    pytest.mark.spark,
    # Spark's own Python leaves sockets for the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]
CAPTURES = Path(__file__).parent.parent / "captures"
RULES = FoldRules(load_naming(), b"a key of the tests", 100_000)


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with small_spark(pipeline.SETTINGS) as session:
        yield session


@pytest.fixture
def graph(database: Database) -> Database:
    empty(database)
    return database


def folded_together(graph: Database, bodies: list[bytes]) -> Graph:
    """Return the graph of these events, folded in one transaction."""
    empty(graph)
    delta = fold(parse(body, received=0) for body in bodies)
    after = Checkpoint(len(bodies), len(bodies), 0)
    write(graph, WriteRequest(delta, spool="s", before=Checkpoint(), after=after, holder="test"))
    return canonical(graph)


def bodies_of(count: int) -> list[bytes]:
    return [
        json.dumps(event).encode()
        for number in range(count)
        for event in run(
            f"r{number}",
            f"j{number % 7}",
            [f"d{number % 11}"],
            [f"d{number % 11 + 1}"],
            minute=number,
        )
    ]


def into(
    spark: SparkSession,
    graph: Database,
    folder: Path,
    *paths: Path | str,
    on_progress: OnProgress = print,
) -> BackfillReport:
    return backfill(
        spark,
        graph,
        [str(path) for path in paths],
        RULES,
        dead=str(folder / "dead"),
        on_progress=on_progress,
    )


@settings(
    max_examples=2,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(histories, min_size=15, max_size=20), st.sampled_from([40, 2_000]))
def test_any_history_same_graph(
    spark: SparkSession,
    database: Database,
    tmp_path_factory: pytest.TempPathFactory,
    streams: list[list[bytes]],
    rows: int,
) -> None:
    folder = tmp_path_factory.mktemp("archive")
    for number, history in enumerate(streams):
        with (folder / f"{number % 4}.jsonl").open("ab") as file:
            file.writelines(body + b"\n" for body in history)
    empty(database)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "CHUNK_ROWS", rows)
        done = into(spark, database, folder.parent, folder)
    bodies = {body for history in streams for body in history}
    assert (done.folded, done.refused, done.unwritable) == (len(bodies), 0, 0)
    assert done.folded + done.duplicates == done.events == sum(map(len, streams))
    assert canonical(database) == folded_together(database, sorted(bodies))


def test_events_of_real_producers_in_every_kind_of_file(
    spark: SparkSession, graph: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "POLL_SECONDS", 0.01)
    reported: list[tuple[str, int, int]] = []
    streams = [
        (CAPTURES / f"{name}.jsonl").read_bytes()
        for name in ("spark_flights", "airflow_shop", "dbt_shop")
    ]
    bodies = [[line for line in stream.splitlines() if line.strip()] for stream in streams]
    folder = tmp_path / "of [many] kinds"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(b"\r\n".join(bodies[0]) + b"\n\n \n")
    (folder / "deep" / "b.json.gz").write_bytes(gzip.compress(b"\n".join(bodies[1])))
    pq.write_table(pa.table({"body": [body.decode() for body in bodies[2]]}), folder / "c.parquet")
    (folder / "_not.jsonl").write_bytes(b"no event")
    done = into(
        spark,
        graph,
        tmp_path,
        str(tmp_path / "of*kinds"),
        on_progress=lambda *how_far: reported.append(how_far),
    )
    # Progress first has the tasks of Spark, then the facts.
    whats = [what.partition(":")[0] for what, _, _ in reported]
    assert [what for what, _ in groupby(whats)] == ["listing", "folding", "writing"]
    folding = [(done, total) for what, done, total in reported if what.startswith("folding:")]
    assert folding
    assert all(0 <= done <= total for done, total in folding)
    assert reported[-1] == ("writing", done.facts, done.facts)
    assert (done.files, done.events, done.refused) == (3, sum(map(len, bodies)), 0)
    redact = Redactor(RULES.redaction_key).redact
    found = canonical(graph)
    assert found == folded_together(graph, [redact(body) for stream in bodies for body in stream])


def test_malformed_lines_are_dead_lettered_with_their_position(
    spark: SparkSession, graph: Database, tmp_path: Path
) -> None:
    good = bodies_of(3)
    secret = b'{"job": {"namespace": "etl"}, "url": "postgres://etl:hunter2@db"}'
    lines = [
        good[0],
        b"{broken",
        *good[1:3],
        secret,
        b"",
        good[3],
        b'{"big": "' + b"x" * 100_000 + b'"}',
        *good[4:],
    ]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    pq.write_table(pa.table({"body": [b"[]", good[0]]}), tmp_path / "b.parquet")
    done = into(spark, graph, tmp_path, tmp_path)
    assert (done.events, done.folded, done.duplicates, done.refused) == (11, 6, 1, 4)
    letter_lines = [
        line
        for part in Path(str(done.dead)).rglob("*.json")
        for line in part.read_text().splitlines()
    ]
    letters = [json.loads(line) for line in letter_lines]
    positions = [(Path(one["file"]).name, one["number"], one["field"]) for one in letters]
    assert sorted(positions) == [
        ("a.jsonl", 2, ""),
        ("a.jsonl", 5, "job.name"),
        ("a.jsonl", 8, ""),
        ("b.parquet", 0, ""),
    ]
    assert "hunter2" not in json.dumps(letters)
    assert canonical(graph) == folded_together(graph, good)


def test_there_must_be_something_to_read(
    spark: SparkSession, graph: Database, tmp_path: Path
) -> None:
    with pytest.raises(NotFoundError):
        into(spark, graph, tmp_path, tmp_path / "absent")
    pq.write_table(pa.table({"text": ["x"]}), tmp_path / "other.parquet")
    with pytest.raises(QueryError, match="no column `body`"):
        into(spark, graph, tmp_path, tmp_path)


def test_the_lake_and_the_later_events_of_the_spool(
    spark: SparkSession, graph: Database, tmp_path: Path
) -> None:
    bodies = bodies_of(30)
    # One that breaks a rule, and was received twice.
    bodies[30] = bodies[25] = bodies[25].replace(b'"COMPLETE"', b'"complete"')
    lake = Lake(str(tmp_path / "lake"))
    with closing(Spool(tmp_path / "spool.db")) as spool:
        spool.append([*bodies[:19], b"{broken", *bodies[19:40]], received=1_790_000_000_000_000)
        worker = Worker(graph, spool)
        worker.run(until_done=True)
        archive.archive(spark, spool, lake)
        assert archive.cut(spool, lake, read_checkpoint(graph, spool.id).position) == 39
        spool.append(bodies[40:], received=1_790_000_000_000_001)
        worker.run(until_done=True)
        expected = canonical(graph)
        tallied = producers(GraphView(graph))
        assert [
            (one.events, [f.count for f in one.findings if "case" in f.rule]) for one in tallied
        ] == [
            (60, [2]),
            (1, []),
        ]
        empty(graph)
        # Half of the run history would be wrong: a worker waits until the graph has the cut events.
        beginner = Worker(graph, spool)
        with pytest.raises(Exception, match=f"events 1 to 40 .*pipeline backfill {lake.root}"):
            beginner.step()
        done = into(spark, graph, tmp_path, lake.root)
        assert (done.events, done.refused) == (41, 1)
        received = 1_790_000_000_000_040
        assert read_checkpoint(graph, spool.id) == Checkpoint(41, 40, 1, received=received)
        beginner.run(until_done=True)
        assert counts(read_checkpoint(graph, spool.id)) == (61, 60, 1)
        # Each receipt is counted once, by the worker or the backfill, also after a second read.
        assert producers(GraphView(graph)) == tallied
        into(spark, graph, tmp_path, lake.root)
        assert producers(GraphView(graph)) == tallied
    assert canonical(graph) == expected == folded_together(graph, bodies)


def test_the_worker_counts_the_events_it_folds_meanwhile(graph: Database) -> None:
    expected = ProducerStats()
    for seq, body in enumerate(bodies_of(5), 1):
        count_event(seq, seq, body, parse(body, received=seq), future_seconds=60, into=expected)
    begun, present = Checkpoint(5, 5, 0), identify_graph(graph, "tests")
    write(
        graph,
        WriteRequest(
            GraphDelta(), spool="s", before=Checkpoint(), after=Checkpoint(8, 8, 0), holder="test"
        ),
    )
    advance_checkpoint(
        graph, "s", begun, 20, received=7, dead=1, producer_stats=expected, graph=present
    )
    assert (read_checkpoint(graph, "s"), producers(GraphView(graph))) == (Checkpoint(8, 8, 0), [])
    begun = Checkpoint(8, 8, 0)
    advance_checkpoint(
        graph, "s", begun, 20, received=7, dead=1, producer_stats=expected, graph=present
    )
    assert read_checkpoint(graph, "s") == Checkpoint(20, 19, 1, received=7)
    assert [one.events for one in producers(GraphView(graph))] == [10]


def test_checkpoint_of_a_spool_does_not_move_in_a_graph_that_was_erased(graph: Database) -> None:
    present = identify_graph(graph, "tests")
    erase(graph, holder="tests")
    stats = ProducerStats()
    with pytest.raises(GraphErasedError):
        advance_checkpoint(
            graph, "s", Checkpoint(), 9, received=7, dead=0, producer_stats=stats, graph=present
        )
    assert read_checkpoint(graph, "s") == Checkpoint()


def use_graph(server: Neo4jServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command `rebuild` use the graph of the tests."""
    for name, value in (
        ("URI", server.uri),
        ("USER", server.user),
        ("PASSWORD", server.password),
    ):
        monkeypatch.setenv(f"HEADWATER_NEO4J_{name}", value)
    # A process group of its own, so that Ctrl-C does not reach the tests.
    monkeypatch.setattr(graph_admin, "set_on_signal", id)


def test_a_graph_is_rebuilt_from_lake_and_spool(
    spark: SparkSession,
    graph: Database,
    neo4j_server: Neo4jServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_graph(neo4j_server, monkeypatch)
    bodies = bodies_of(20)
    with closing(Spool(tmp_path / "spool.db")) as spool:
        spool.append(bodies[:30], received=1_790_000_000_000_000)
        Worker(graph, spool).run(until_done=True)
        lake = Lake(str(tmp_path / "lake"))
        archive.archive(spark, spool, lake)
        assert archive.cut(spool, lake, 30) == 29
        spool.append(bodies[30:], received=1_790_000_000_000_001)
        Worker(graph, spool).run(until_done=True)
        live, tallied = canonical(graph), producers(GraphView(graph))
        os.rename(lake.root, tmp_path / "elsewhere")
        with pytest.raises(QueryError, match="are missing in the lake"):
            graph_admin.rebuild(home=str(tmp_path), erase=True, yes=True, as_json=True)
        assert canonical(graph) == live
        os.rename(tmp_path / "elsewhere", lake.root)
        graph_admin.rebuild(home=str(tmp_path), erase=True, yes=True, as_json=True)
        assert counts(read_checkpoint(graph, spool.id)) == (40, 40, 0)
    assert (canonical(graph), producers(GraphView(graph))) == (live, tallied)


def test_a_restored_spool_is_folded_whole_beside_a_lake_that_is_ahead_of_it(
    spark: SparkSession,
    graph: Database,
    neo4j_server: Neo4jServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_graph(neo4j_server, monkeypatch)
    bodies = bodies_of(40)
    lake, backup = Lake(str(tmp_path / "lake")), tmp_path / "backup.db"
    with closing(Spool(tmp_path / "spool.db")) as spool:
        spool.append(bodies[:20], received=1_790_000_000_000_000)
        archive.archive(spark, spool, lake)
        assert archive.cut(spool, lake, 10) == 10
        copy_spool(spool.path, backup, lambda *_: None)
        spool.append(bodies[20:40], received=1_790_000_001_000_000)
        archive.archive(spark, spool, lake)
    for path in tmp_path.glob("spool.db*"):
        path.unlink()
    backup.rename(spool.path)
    with closing(Spool(spool.path)) as spool:
        spool.append(bodies[40:], received=1_790_000_002_000_000)
        into(spark, graph, tmp_path, lake.root)
        with pytest.raises(DiscontinuityError, match="event 40 of the spool is not the one"):
            Worker(graph, spool).step()
        graph_admin.rebuild(home=str(tmp_path), erase=True, yes=True, as_json=True)
        assert counts(read_checkpoint(graph, spool.id)) == (60, 60, 0)
    # The lake still has the events that the restored spool has lost.
    assert canonical(graph) == folded_together(graph, bodies)


_IN_SMALL_PIECES = f"""
from headwater.cli import main
from headwater.pipelines import backfill, session
backfill.CHUNK_ROWS = 20
session.LOCAL.update({SMALL!r})
main()
"""


@in_torture_only
def test_killed_while_it_writes(
    spark: SparkSession, graph: Database, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    bodies = bodies_of(500)
    (tmp_path / "events.jsonl").write_bytes(b"\n".join(bodies))
    environment = {
        **os.environ,
        "HEADWATER_HOME": str(tmp_path / "home"),
        "HEADWATER_NEO4J_URI": neo4j_server.uri,
        "HEADWATER_NEO4J_USER": neo4j_server.user,
        "HEADWATER_NEO4J_PASSWORD": neo4j_server.password,
    }
    words = [
        sys.executable,
        "-c",
        _IN_SMALL_PIECES,
        "pipeline",
        "backfill",
        str(tmp_path / "*.jsonl"),
        "--json",
    ]
    rules = read_rules(load_settings({"HEADWATER_HOME": str(tmp_path / "home")}))
    files = files_in(spark, [str(tmp_path / "*.jsonl")])
    name = pipeline.backfill_name(files, rules)
    with subprocess.Popen(
        words, env=environment, stderr=subprocess.DEVNULL, start_new_session=True
    ) as killed:
        deadline = time.monotonic() + 200
        while read_checkpoint(graph, name).position < 100:
            assert time.monotonic() < deadline
            assert killed.poll() is None
            time.sleep(0.02)
        os.killpg(killed.pid, signal.SIGKILL)
    written = read_checkpoint(graph, name).position
    done = backfill(spark, graph, [str(tmp_path / "*.jsonl")], rules, dead=str(tmp_path / "dead"))
    assert (done.resumed, done.events) == (written, 1_000)
    assert 0 < done.resumed < done.facts
    assert canonical(graph) == folded_together(graph, bodies)
