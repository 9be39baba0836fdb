"""Upgrade and downgrade: spool, graph and backup of the previous version, and of a newer one.

The previous version of a store is written here as that version wrote it. The upgraded installation
must have the graph of a new fold, by canonical export. A newer store is refused with its version.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient

from headwater.backups.backup import back_up
from headwater.backups.manifest import NAME
from headwater.backups.restore import restore
from headwater.backups.verify import verify
from headwater.cli.doctor import examine
from headwater.cypher.driver.database import Database
from headwater.cypher.driver.write_lock import acquire_write_lock
from headwater.cypher.maintenance.erase import erase
from headwater.cypher.migrate import _record, _run, migrate, migrations, net_schema, pending
from headwater.errors import NewerVersionError
from headwater.health.alerts.deliverer import ReceiverWorker
from headwater.health.alerts.listing import retry
from headwater.health.alerts.receivers import Kind, Receiver
from headwater.health.alerts.visible import ReceiverViews
from headwater.health.figures.snapshots import take_snapshot
from headwater.health.findings.detector import Detector
from headwater.health.service_levels.samples import Counts, Sample, write_samples
from headwater.ingest.spool.spool import Spool
from headwater.ingest.spool.version import VERSION
from headwater.ingest.worker import Worker
from headwater.ingest.write.transaction import read_checkpoint
from headwater.lineage.view import GraphView
from headwater.server import create_app
from headwater.settings import Settings, load
from tests.canonical import Graph, canonical, empty
from tests.conftest import Neo4jServer
from tests.cypher.test_migrate import LATER, drop_schema, forget, migrated_later, schema_of
from tests.event_builders import dataset, dataset_event, run_event
from tests.ingest.spool.test_damage import change
from tests.run_builders import RECEIVED, answer, run

pytestmark = pytest.mark.neo4j
TYPES = {
    name: {"datasetType": {"datasetType": type}}
    for name, type in (("table", "TABLE"), ("topic", "TOPIC"), ("model", "MODEL"))
}
EVENTS = [
    *run("r1", "load", ["raw"], ["table"], minute=1),
    *(dataset_event(name, 2, facets) for name, facets in TYPES.items()),
    run_event("r2", minute=3, inputs=["table"], outputs=[dataset("model", TYPES["model"])]),
    *run("r3", "load", ["raw"], ["table"], minute=5, status="FAIL"),
    *answer("cited", "table", minute=6),
    run_event("r4", minute=7, job="score", inputs=["model", "topic"], outputs=["scores"]),
]
BODIES = [json.dumps(event).encode() for event in EVENTS]
# The tables of a spool without a version: the one before version 1.
PREVIOUS_SPOOL = """
CREATE TABLE event(
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  received INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  body BLOB NOT NULL);
CREATE TABLE dead(
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  reason TEXT NOT NULL);
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO meta VALUES('id', 'previous');
"""
HOOK = Receiver("hook", Kind.WEBHOOK, "http://127.0.0.1:9/")
HOUR = datetime(2026, 1, 1, tzinfo=UTC)
SAMPLE = Sample("freshness", HOUR, HOUR, Counts(1, 1))
# What the newest migration adds to nodes and edges, removed again. A new migration replaces this.
NEWEST = "migrations/0032_labels_by_type"
REMOVALS = (
    "MATCH (d:Dataset) REMOVE d:Feature:File:Model:Table:Topic:View",
    "MATCH ()-[e:TRAINED_ON]->() DELETE e",
)


@pytest.fixture
def settings(tmp_path: Path, neo4j_server: Neo4jServer) -> Settings:
    return load(
        {"HEADWATER_HOME": str(tmp_path / "home")},
        neo4j_uri=neo4j_server.uri,
        neo4j_user=neo4j_server.user,
        neo4j_password=neo4j_server.password,
    )


@pytest.fixture
def expected(database: Database, tmp_path: Path) -> Iterator[Graph]:
    """Return the graph of a new fold of all events; the graph is empty at the end."""
    empty(database)
    with closing(Spool(tmp_path / "new.db")) as spool:
        append(spool, BODIES)
        fold(database, spool)
    graph = canonical(database)
    assert any('"TRAINED_ON"' in line for line in graph[1])
    empty(database)
    yield graph
    empty(database)


def append(spool: Spool, bodies: list[bytes]) -> None:
    for body in bodies:
        spool.append([body], received=RECEIVED)


def fold(database: Database, spool: Spool) -> None:
    Worker(database, spool).run(until_done=True)


def write_previous_spool(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [(RECEIVED, zlib.crc32(body), body) for body in BODIES]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(PREVIOUS_SPOOL)
        statement = "INSERT INTO event(received, checksum, body) VALUES(?, ?, ?)"
        connection.executemany(statement, rows)


def change_manifest(folder: Path, **changed: Any) -> None:
    manifest = msgspec.json.decode((folder / NAME).read_bytes())
    (folder / NAME).write_bytes(msgspec.json.encode({**manifest, **changed}))


def test_a_spool_of_the_previous_version_is_upgraded(
    database: Database, settings: Settings, expected: Graph
) -> None:
    write_previous_spool(settings.spool_path)
    with closing(Spool(settings.spool_path)) as spool:
        assert (spool.id, spool.last()) == ("previous", len(BODIES))
        fold(database, spool)
        assert spool.skipped_between(1, len(BODIES)) == set()
    assert canonical(database) == expected
    with closing(sqlite3.connect(settings.spool_path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_a_graph_of_the_previous_migration_is_upgraded(
    database: Database, settings: Settings, expected: Graph
) -> None:
    assert migrations()[-1].name == NEWEST, "replace NEWEST and REMOVALS"
    schema = schema_of(database)
    half = len(BODIES) // 2
    with closing(Spool(settings.spool_path)) as spool:
        append(spool, BODIES[:half])
        fold(database, spool)
        forget(database)
        drop_schema(database)
        _run(database, net_schema(migrations()[:-1]))
        _record(database, migrations()[:-1])
        for text in REMOVALS:
            database.run_batches(text)
        assert [query.name for query in pending(database)] == [NEWEST]
        # A worker of this version migrates before it folds.
        append(spool, BODIES[half:])
        fold(database, spool)
    assert canonical(database) == expected
    assert (pending(database), schema_of(database)) == ([], schema)


def test_a_backup_of_the_previous_version_is_restored(
    database: Database, settings: Settings, expected: Graph, tmp_path: Path
) -> None:
    write_previous_spool(settings.spool_path)
    target = tmp_path / "backup"
    assert back_up(settings, target).spool.version == 0
    change_manifest(target, headwater="0.0.9", migration="0031_traces")
    assert verify(target)[1] == []
    restored = Settings(home=str(tmp_path / "restored"))
    restore(restored, target)
    with closing(Spool(restored.spool_path)) as spool:
        assert spool.id == "previous"
        fold(database, spool)
    assert canonical(database) == expected


def test_nothing_writes_a_graph_that_is_migrated_meanwhile(
    database: Database, settings: Settings
) -> None:
    empty(database)
    half = len(BODIES) // 2
    with closing(Spool(settings.spool_path)) as spool:
        worker = Worker(database, spool)
        append(spool, BODIES[:half])
        worker.run(until_done=True)
        before = canonical(database)
        writers: list[Callable[[], object]] = [
            worker.step,
            lambda: take_snapshot(GraphView(database)),
            Detector(database).full_pass,
            lambda: retry(database),
            lambda: write_samples(database, [SAMPLE], recorder="tests"),
            lambda: erase(database, holder="tests"),
            ReceiverWorker(database, HOOK, ReceiverViews(GraphView(database))).pass_once,
        ]
        append(spool, BODIES[half:])
        with migrated_later(database):
            for write in writers:
                with pytest.raises(NewerVersionError, match=f"migrated this graph to {LATER}"):
                    write()
            assert canonical(database) == before
            derived = "MATCH (n:FigureSnapshot|ServiceLevelSample|Detector) RETURN count(n) AS n"
            assert database.ask(derived, {}) == [{"n": 0}]
            (check,) = (one for one in examine(settings) if one.name == "migrations")
            assert (check.ok, LATER in check.found) == (False, True)
        worker.run(until_done=True)
        assert read_checkpoint(database, spool.id).position == len(BODIES)
    empty(database)


def test_a_transaction_that_was_open_before_a_migration_is_not_committed(
    database: Database,
) -> None:
    empty(database)
    transaction = database.begin()
    acquire_write_lock(transaction, "tests")
    with migrated_later(database):
        with pytest.raises(NewerVersionError, match=f"migrated this graph to {LATER}"):
            transaction.commit().result()
        assert database.ask("MATCH (l:WriteLock) RETURN count(l) AS n", {}) == [{"n": 0}]


def test_newer_stores_are_refused_and_stay_as_they_are(
    database: Database, settings: Settings, tmp_path: Path
) -> None:
    """A downgrade is no upgrade backwards: nothing is opened, folded or restored."""
    empty(database)
    with closing(Spool(settings.spool_path)) as spool:
        append(spool, BODIES)
        back_up(settings, tmp_path / "backup")
        with migrated_later(database):
            for refused in (Worker(database, spool).step, lambda: migrate(database)):
                with pytest.raises(NewerVersionError, match=f"migrated this graph to {LATER}"):
                    refused()
            assert database.ask("MATCH (n:PipelineRun) RETURN n", {}) == []
            with TestClient(create_app(settings), base_url="http://127.0.0.1:8000") as client:
                answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["ready"]) == (503, False)
    assert any(LATER in reason for reason in answer.json()["reasons"])
    change_manifest(tmp_path / "backup", migration="9999_later")
    with pytest.raises(NewerVersionError, match="with the migration 9999_later; the newest of"):
        restore(Settings(home=str(tmp_path / "restored")), tmp_path / "backup")
    assert not (tmp_path / "restored").exists()
    change(settings.spool_path, f"PRAGMA user_version = {VERSION + 1}")
    before = settings.spool_path.read_bytes()
    with pytest.raises(NewerVersionError, match=rf"\(version {VERSION + 1}, this one reads up"):
        Spool(settings.spool_path)
    assert settings.spool_path.read_bytes() == before
