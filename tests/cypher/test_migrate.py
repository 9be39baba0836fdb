"""Migrations on a real Neo4j: applied once, safe to apply together, and the indexes they promise
are used.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.migrate import (
    _repeat_on_conflict,
    _run,
    _statements,
    migrate,
    migrations,
    net_schema,
    pending,
)
from headwater.cypher.query_catalog import Query, find_query
from headwater.errors import UnavailableError
from headwater.ingest.producer_stats import count_event
from headwater.ingest.producer_stats_writer import write_producer_stats
from headwater.ingest.write.containment import abandon_lost_heartbeats
from headwater.lineage.questions.analyses import Finding, save_analysis
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, run_event, source_job, symlinks
from tests.run_builders import answer, at, ds, run, write_events

FORGET = "MATCH (m:Migration) DETACH DELETE m"
# A migration that no version of this code has.
LATER = "migrations/9999_later"


def forget(database: Database) -> None:
    with database._transaction("WRITE", 60.0) as transaction:
        transaction.run(FORGET).consume()


@contextmanager
def migrated_later(database: Database) -> Iterator[None]:
    """Record the migration of a later version within a block."""
    # As the later version does: this one writes no graph with such a migration.
    with database._transaction("WRITE", 60.0) as recording:
        recording.run(find_query("write/maintenance/record_migration").text, name=LATER).consume()
    try:
        yield
    finally:
        with database._transaction("WRITE", 60.0) as removal:
            removal.run("MATCH (m:Migration {name: $name}) DELETE m", name=LATER).consume()


def test_migrations_are_numbered_once_and_each_statement_may_be_run_twice() -> None:
    numbers = [int(migration.name.removeprefix("migrations/")[:4]) for migration in migrations()]
    assert len(numbers) == len(set(numbers))
    for migration in migrations():
        assert migration.access == "schema"
        statements = _statements(migration.text)
        assert statements
        assert all(_can_run_twice(statement) for statement in statements)


def _can_run_twice(statement: str) -> bool:
    if "IN TRANSACTIONS" in statement:
        # The second run finds no row with an old name, or with an old value.
        return (
            (" IS NOT NULL" in statement and "\n  REMOVE " in statement)
            # A label that is set again, and an edge that is merged again, stay.
            or "\n  SET d:$(label)\n" in statement
            or "\n  MERGE (m)-[:TRAINED_ON]->(i)\n" in statement
            or (
                "r.failedAt < r.finishedAt" in statement
                and "r.failedAt = r.finishedAt" in statement
            )
            or ("c.tags IS NULL" in statement and "c.tags = tags" in statement)
        )
    return "IF NOT EXISTS" in statement or "IF EXISTS" in statement


def test_statements_are_cut_at_the_end_of_lines_only() -> None:
    text = (
        "// head; with a semicolon\nCREATE (:A {b: ';'});\n// between\nCREATE "
        "(:C);\n\n;\nCREATE\n  (:D);"
    )
    assert _statements(text) == ["CREATE (:A {b: ';'})", "CREATE (:C)", "CREATE\n  (:D);"]


def schema_query(number: int, *statements: str) -> Query:
    text = "".join(f"{statement};\n" for statement in statements)
    return Query(f"migrations/{number:04}_x", "", "schema", (), "nothing", "", text)


def test_the_net_schema_leaves_out_dropped_indexes_and_renames() -> None:
    first = schema_query(
        1,
        "CREATE CONSTRAINT a IF NOT EXISTS FOR (n:A) REQUIRE n.a IS UNIQUE",
        "CREATE INDEX b IF NOT EXISTS FOR (n:B) ON (n.b)",
        "CREATE FULLTEXT INDEX words IF NOT EXISTS\n  FOR (n:A) ON EACH [n.a]",
    )
    second = schema_query(
        2,
        "MATCH (n:B)\nCALL (n) {\n  REMOVE n.b\n} IN TRANSACTIONS OF 10 ROWS",
        "DROP INDEX b IF EXISTS",
        "DROP INDEX words IF EXISTS",
        "CREATE FULLTEXT INDEX words IF NOT EXISTS\n  FOR (n:A) ON EACH [n.a, n.b]",
    )
    assert net_schema([first, second]) == [
        "CREATE CONSTRAINT a IF NOT EXISTS FOR (n:A) REQUIRE n.a IS UNIQUE",
        "CREATE FULLTEXT INDEX words IF NOT EXISTS\n  FOR (n:A) ON EACH [n.a, n.b];",
    ]


def schema_of(database: Database) -> list[dict[str, object]]:
    return database.ask(
        "SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, owningConstraint "
        "RETURN * ORDER BY name",
        {},
    )


@pytest.mark.neo4j
def test_an_empty_graph_gets_the_schema_of_all_migrations_at_once(database: Database) -> None:
    empty(database)
    forget(database)
    # A node of any kind makes the migrations run one by one.
    with database._transaction("WRITE", 60.0) as transaction:
        transaction.run("CREATE (:Something)").consume()
    drop_schema(database)
    migrate(database)
    stepwise = schema_of(database)
    with database._transaction("WRITE", 60.0) as transaction:
        transaction.run("MATCH (n:Something|Migration) DELETE n").consume()
    drop_schema(database)
    assert len(schema_of(database)) < 3, "only the two token indexes are left"
    assert migrate(database) == [migration.name for migration in migrations()]
    assert schema_of(database) == stepwise
    assert pending(database) == []


def drop_schema(database: Database) -> None:
    names = [row["name"] for row in database.ask("SHOW CONSTRAINTS YIELD name", {})]
    database.run_schema([f"DROP CONSTRAINT {name}" for name in names])
    indexes = database.ask("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name", {})
    database.run_schema([f"DROP INDEX {row['name']}" for row in indexes])


@pytest.mark.neo4j
def test_applied_migrations_are_not_applied_again(database: Database) -> None:
    migrate(database)
    assert pending(database) == []
    assert migrate(database) == []
    forget(database)
    assert pending(database) == migrations()
    assert migrate(database) == [migration.name for migration in migrations()]
    assert pending(database) == []


@pytest.mark.neo4j
def test_concurrent_migrations_do_not_conflict(database: Database) -> None:
    forget(database)
    failures: list[BaseException] = []

    def apply() -> None:
        try:
            migrate(database)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=apply) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    rows = database.read("read/state/applied_migrations")
    assert [row["name"] for row in rows] == [migration.name for migration in migrations()]


@pytest.mark.neo4j
def test_every_index_is_online_and_one_node_per_urn(database: Database) -> None:
    rows = database.ask("SHOW INDEXES YIELD name, state, owningConstraint", {})
    assert {row["state"] for row in rows} == {"ONLINE"}
    names = {row["name"] for row in rows}
    assert {
        "artifact_version",
        "artifact_long_running",
        "pipeline_run_failed",
        "pipeline_run_id",
        "words",
    } <= names
    assert "artifact_begun" not in names, "nothing asks by it"
    for label in ("dataset", "job", "pipeline_run", "source", "artifact", "answer", "column"):
        assert f"{label}_urn" in names


VERSIONS = """
UNWIND range(1, 10000) AS i
CREATE (a:Artifact {urn: 'artifact:db:big:r' + i, dataset: 'dataset:db:big', run: 'run:r' + i, complete: i % 10 <> 0,
                    createdAt: datetime('2026-01-01T00:00:00Z') + duration({seconds: i})})
CREATE (r:PipelineRun {urn: 'run:r' + i, startedAt: a.createdAt})
CREATE (a)-[:FEEDS]->(r)
"""
# A reader may cost a few rows of the index, not one row per version.
HITS_MAX = 100


@pytest.mark.neo4j
def test_a_reader_of_a_dataset_with_10000_versions_meets_a_handful(database: Database) -> None:
    empty(database)
    with database._transaction("WRITE", 60.0) as transaction:
        transaction.run(VERSIONS).consume()
        transaction.run("CALL db.awaitIndexes(60)").consume()
    for second in (1, 5_000, 9_999):
        moment = f"datetime('2026-01-01T00:00:00Z') + duration({{seconds: {second}}})"
        instant = database.ask(f"RETURN {moment} AS at", {})[0]["at"]
        row = {"number": 0, "consumer": "run:none", "dataset": "dataset:db:big", "at": instant}
        (found,) = database.read("read/versions/versions_at", rows=[row])
        partial = second % 10 == 0
        assert found["complete"] == f"artifact:db:big:r{second - partial}"
        assert found["partial"] == (f"artifact:db:big:r{second}" if partial else None)
        assert hits(database, "read/versions/versions_at", row) < HITS_MAX
        moved = {
            "artifact": f"artifact:db:big:r{second}",
            "since": instant,
            "instants": [instant],
            "requested": [],
        }
        if second > 1:  # the earliest time concerns the readers of every incomplete version since
            assert hits(database, "read/versions/affected_consumers", {**row, **moved}) < HITS_MAX
    empty(database)


UNFINISHED = """
UNWIND [['own', 0, 20], ['quick', 5, 65], ['long', 1, 500], ['later', 11, 12]] AS made
CREATE (a:Artifact {urn: 'artifact:db:t:' + made[0], dataset: 'dataset:db:t', complete: made[0] <> 'quick'})
SET a.startedAt = datetime('2026-01-01T00:00:00Z') + duration({minutes: made[1]}),
  a.createdAt = datetime('2026-01-01T00:00:00Z') + duration({minutes: made[2]}),
  a.longRunningSince = CASE WHEN made[0] = 'long' THEN datetime('2026-01-01T00:01:00Z') END
CREATE (r:PipelineRun {urn: 'run:' + made[0]})-[:PRODUCED]->(a)
// A version of which its run tells when it was begun does not.
FOREACH (_ IN CASE WHEN made[0] = 'quick' THEN [1] ELSE [] END | SET r.startedAt = a.startedAt, a.startedAt = null)
"""


@pytest.mark.neo4j
def test_first_unfinished_version_is_found_without_a_finished_one(
    database: Database,
) -> None:
    empty(database)
    with database._transaction("WRITE", 60.0) as transaction:
        transaction.run(UNFINISHED).consume()
    (row,) = database.ask(
        "RETURN datetime('2026-01-01T00:10:00Z') AS ten, datetime('2026-01-01T00:02:00Z') AS two",
        {},
    )
    cases = [("run:own", "ten", "quick"), ("run:none", "ten", "own"), ("run:own", "two", "long")]
    for consumer, instant, found in cases:
        one = {"number": 0, "consumer": consumer, "dataset": "dataset:db:t", "at": row[instant]}
        (answer,) = database.read("read/versions/versions_at", rows=[one])
        assert (answer["complete"], answer["partial"], answer["begun"]) == (
            None,
            None,
            f"artifact:db:t:{found}",
        )
    empty(database)


def hits(database: Database, name: str, row: dict[str, object]) -> int:
    """Return the sum of the db hits in the plan of a query."""
    with database._transaction("READ", 10.0) as transaction:
        profile = (
            transaction.run(f"PROFILE {find_query(name).text}", {"rows": [row]}).consume().profile
        )
    waiting, total = [profile], 0
    while waiting:
        node = waiting.pop()
        assert node is not None
        assert "NodeByLabelScan" not in str(node["operatorType"])
        total += int(node["args"].get("DbHits", 0))
        waiting.extend(node.get("children") or [])
    return total


# new name -> old name, by the label or the type that has it
OLD_NODE_NAMES = {
    "PipelineRun": {
        "reportedSides": "told",
        "lastHeartbeatAt": "heardAt",
        "heartbeatLost": "silent",
    },
    "Artifact": {"longRunningSince": "begunAt"},
    "Dataset": {"lineageRevision": "mapRevision"},
    "Job": {"lineageRevision": "mapRevision"},
    "Symlink": {"lineageRevision": "mapRevision"},
    "Producer": {"statistics": "tally", "futureEvents": "fromTheFuture"},
    "ConformanceFinding": {"statistics": "tally", "sequence": "receipt"},
    "Analysis": {"newestEventAt": "until", "analysedAt": "analysed"},
    "Retention": {"lateRuns": "late"},
}
OLD_EDGE_NAMES = {
    "RUN_OF": {"indexedUnder": "aside"},
    "VERSION_OF": {"indexedUnder": "aside"},
    "FEEDS": {
        "reportedUrns": "sentAs",
        "transformations": "ways",
        "requestedVersion": "wanted",
        "reportedAt": "saidAt",
        "qualityDataset": "quality",
        "checkedVersion": "checked",
        "updatedVersion": "updated",
        "failingVersion": "failing",
    },
    "PRODUCED": {
        "reportedUrns": "sentAs",
        "assertedByDataset": "claimed",
        "reportedAt": "saidAt",
        "qualityDataset": "quality",
    },
    "DERIVED_FROM": {"reportedUrns": "sentAs", "evidence": "ways"},
}
METRICS = {"dataQualityMetrics": {"columnMetrics": {}, "lastUpdated": at(1)}}
FAILED = {"dataQualityAssertions": {"assertions": [{"assertion": "not_null", "success": False}]}}
NOW = datetime(2026, 3, 1, tzinfo=UTC)
ALL_NODES = "MATCH (n) WHERE NOT n:Migration RETURN labels(n)[0] AS label, properties(n) AS p"
ALL_EDGES = "MATCH (a)-[e]->(b) RETURN type(e) AS label, a.urn AS a, b.urn AS b, properties(e) AS p"


def _write_every_property(database: Database) -> None:
    """Fold events and write counts that give every renamed property."""
    empty(database)
    read = dataset(
        "alias", {"version": {"datasetVersion": "7"}}, usage=METRICS | FAILED, side="input"
    )
    events = [
        run_event("slow", "START", 0, job="load", inputs=["raw"]),
        run_event("slow", "COMPLETE", 120, job="load", outputs=["mart"]),
        *run(
            "next",
            "report",
            ["mart"],
            ["page"],
            minute=200,
            derived={"page": ["mart"]},
            parent="dag",
        ),
        run_event(
            "checks", "COMPLETE", 210, inputs=[read], outputs=[dataset("page", usage=METRICS)]
        ),
        *answer("cited", {"namespace": "db", "name": "mart", "runId": "unknown"}, minute=300),
        dataset_event("mart", 3, symlinks("alias")),
        dataset_event("mart", 4, {"lineage": {"inputs": [source_job("load")], "fields": {}}}),
    ]
    write_events(database, [run_event("mute", "START", 5, inputs=["raw"])])
    assert (
        abandon_lost_heartbeats(database, now=NOW, heartbeat_timeout_seconds=60, holder="tests")
        == 1
    )
    write_events(database, events, [run_event("open", "START", 6, inputs=["raw"])])
    body = json.dumps(events[0]).encode()
    stats = count_event(0, 4, body, None, future_seconds=60, reason="not JSON")
    with database.write() as transaction:
        write_producer_stats(transaction, stats)
        transaction.run("write/maintenance/retention", horizons="[]")
        transaction.run("write/maintenance/count_late_runs", late=2)
    finding = Finding("summary", ds("mart"), {"runs": 1})
    save_analysis(database, [finding], newest_event_at=NOW, analysed_at=NOW)


def _rename_back(database: Database) -> None:
    """Give every renamed property its old name, as a graph of an earlier version has it."""
    for label, names in OLD_NODE_NAMES.items():
        for new, old in names.items():
            _execute(database, f"MATCH (n:{label}) SET n.{old} = n.{new} REMOVE n.{new}")
    _execute(database, "MATCH (n:ConformanceFinding) SET n:Finding REMOVE n:ConformanceFinding")
    for type, names in OLD_EDGE_NAMES.items():
        for new, old in names.items():
            _execute(database, f"MATCH ()-[n:{type}]->() SET n.{old} = n.{new} REMOVE n.{new}")


def _execute(database: Database, text: str) -> None:
    with database._transaction("WRITE", 60.0) as transaction:
        transaction.run(text).consume()


def _everything(database: Database) -> list[str]:
    rows = [*database.ask(ALL_NODES, {}), *database.ask(ALL_EDGES, {})]
    return sorted(json.dumps(row, default=str, sort_keys=True) for row in rows)


def _names(database: Database) -> set[tuple[str, str]]:
    rows = [*database.ask(ALL_NODES, {}), *database.ask(ALL_EDGES, {})]
    names = set[tuple[str, str]]()
    for row in rows:
        names.update((row["label"], name) for name in row["p"])
    return names


RENAMED = "migrations/0017_rename_properties"
RELABELLED = "migrations/0026_findings"


def _forget(database: Database, *names: str) -> None:
    """Delete the records of migrations, so that they are applied again."""
    for name in names:
        _execute(database, f"MATCH (m:Migration {{name: '{name}'}}) DELETE m")


@pytest.mark.neo4j
@pytest.mark.parametrize("statements", [0, 16, 25, None])
def test_old_property_names_become_new_ones(database: Database, statements: int | None) -> None:
    """A migrated graph equals the folded one, also if a migration stopped after some statements."""
    _write_every_property(database)
    folded = _everything(database)
    old = set[tuple[str, str]]()
    for label, names in (OLD_NODE_NAMES | OLD_EDGE_NAMES).items():
        old.update((label, name) for name in names.values())
    assert not _names(database) & old
    _rename_back(database)
    before = {(label.replace("ConformanceFinding", "Finding"), name) for label, name in old}
    assert _names(database) & before == before, "every old name occurs"
    _forget(database, RENAMED, RELABELLED)
    if statements is not None:
        renames = _statements(find_query(RENAMED).text)
        for statement in renames[:statements]:
            _run(database, [statement])
    assert migrate(database) == [RENAMED, RELABELLED]
    assert _everything(database) == folded
    _forget(database, RENAMED, RELABELLED)
    assert migrate(database) == [RENAMED, RELABELLED], "it may run twice"
    assert _everything(database) == folded
    empty(database)


@pytest.mark.neo4j
def test_a_failed_run_of_an_older_graph_is_dated_at_its_last_failure(database: Database) -> None:
    empty(database)
    write_events(
        database,
        [run_event("twice", "FAIL", 5), run_event("twice", "FAIL", 7)],
        [run_event("once", "FAIL", 6)],
    )
    with database._transaction("WRITE", 60.0) as transaction:
        text = "MATCH (r:PipelineRun {runId: 'twice'}) SET r.failedAt = $at"
        transaction.run(text, at=datetime(2026, 1, 1, 0, 5, tzinfo=UTC)).consume()
    forget(database)
    migrate(database)
    rows = database.ask("MATCH (r:PipelineRun) RETURN r.runId AS id, r.failedAt AS at", {})
    assert {row["id"]: row["at"].minute for row in rows} == {"twice": 7, "once": 6}


@pytest.mark.neo4j
def test_the_columns_of_an_older_graph_get_their_tags(database: Database) -> None:
    empty(database)
    tags = {"tags": [{"key": "gold"}, {"key": "pii", "value": "email", "field": "mail"}]}
    fields = {"schema": {"fields": [{"name": "id"}, {"name": "mail"}]}}
    write_events(database, [dataset_event("t", 1, {**fields, "tags": tags})])
    expected = database.ask("MATCH (c:Column) RETURN c.name AS name, c.tags AS tags", {})
    assert {row["name"]: row["tags"] for row in expected} == {"id": None, "mail": ["pii=email"]}
    _execute(database, "MATCH (c:Column) REMOVE c.tags")
    forget(database)
    migrate(database)
    assert database.ask("MATCH (c:Column) RETURN c.name AS name, c.tags AS tags", {}) == expected
    empty(database)


def test_a_plan_that_changes_of_schema_outdate_is_made_again() -> None:
    """Neo4j gives a query up when indexes are filled while it is planned."""
    answers = [UnavailableError("Could not compile query due to insanely frequent schema changes")]

    def record() -> None:
        if answers:
            raise answers.pop()

    _repeat_on_conflict(record)
    assert answers == []
    answers.append(UnavailableError("Neo4j does not answer"))
    with pytest.raises(UnavailableError, match="does not answer"):
        _repeat_on_conflict(record)
