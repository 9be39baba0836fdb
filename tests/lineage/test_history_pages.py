"""The cost of reads around nodes with long run histories: a job with many runs, which all read the
same source and the same version of a dataset and write another.

Neo4j answers the same questions over one history and over one ten times as long. The db hits, which
do not depend on the load of the machine, must not grow. A question about a window, one run or the
newest few must not read the rest of the history.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from neo4j import Driver

from headwater.cypher.driver.database import Database
from headwater.cypher.query_catalog import find_query
from headwater.schema.urns import source_urn
from tests.canonical import empty
from tests.event_builders import dataset, facet, write_batch
from tests.run_builders import FACET, Event, ds, job, run_of, version

FEW, MANY = 200, 2_000
BATCH = 500
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
# This many of the first and of the last runs have failed tests and an updated source.
NOTABLE_RUNS = 3
# The tolerance for costs that grow with the logarithm of the graph, like the depth of an index.
GROWTH_MAX, HITS_MORE_MAX = 1.15, 60


def checks(passed: bool, **metrics: Any) -> Event:
    assertion = {"assertion": "not_null", "column": "id", "success": passed}
    return {
        "dataQualityAssertions": facet(assertions=[assertion]),
        "dataQualityMetrics": facet(rowCount=1, columnMetrics={}, **metrics),
    }


def one_run(number: int, count: int) -> Event:
    """Build a run an hour after the previous one; only the first makes `dim`, reads `cold` and does
    not read `dim`.
    """
    moment = (BEGIN + timedelta(hours=number)).isoformat()
    is_first = number == 0
    hub = dataset("hub")
    if number < NOTABLE_RUNS or number >= count - NOTABLE_RUNS:
        hub = dataset("hub", usage=checks(False, lastUpdated=moment), side="input")
    tested = dataset("tested", usage=checks(True), side="input")
    return {
        "eventTime": moment,
        "eventType": "FAIL" if number == count - 2 else "COMPLETE",
        "producer": FACET["_producer"],
        "run": {"runId": f"r{number}"},
        "job": {"namespace": "etl", "name": "hot"},
        "inputs": [hub, tested, dataset("cold" if is_first else "dim")],
        "outputs": [dataset("dim" if is_first else "out")],
    }


def fill(database: Database, count: int) -> None:
    empty(database)
    for begin in range(0, count, BATCH):
        write_batch(
            database,
            [one_run(number, count) for number in range(begin, min(begin + BATCH, count))],
        )


Questions = dict[str, Mapping[str, Any]]
VISIBLE = {"visible": ["etl", "db"]}
DATASETS = [ds(name) for name in ("hub", "tested", "dim", "out", "cold")]
SOURCES = [source_urn("db", name) for name in ("hub", "tested")]


def of_use(now: datetime, since: datetime, versions: Sequence[str]) -> Questions:
    """Return the parameters of the queries on readers, quality and dependents."""
    window = {"since": since, "until": now}
    return {
        "read/estate/source_updates": {"urns": SOURCES, "limit": 100} | VISIBLE,
        "read/estate/dataset_quality": {"urns": DATASETS, "limit": 20} | VISIBLE,
        "read/estate/version_quality": {"urns": versions, "limit": 20} | VISIBLE,
        "read/failures/failed_tests": {"urns": [*SOURCES, *versions], "limit": 20_000},
        "read/estate/last_reads": {"urns": DATASETS} | VISIBLE,
        "read/estate/consumers": {"urn": ds("hub"), "runsMax": 1_000, "limit": 100}
        | window
        | VISIBLE,
        "read/estate/consumers_rolled_up": {"urn": ds("hub"), "limit": 100} | window | VISIBLE,
        "read/estate/unused_datasets": {
            "since": since,
            "namespace": "",
            "cursorBytes": 2**60,
            "cursorUrn": "",
            "limit": 20,
        }
        | VISIBLE,
        "read/estate/answers_citing_dataset": {"urn": ds("hub"), "limit": 100} | window | VISIBLE,
        "read/nodes/dataset_answers": {
            "urns": DATASETS,
            "cursorTime": now,
            "cursorUrn": "",
            "limit": 20,
        }
        | VISIBLE,
        "read/failures/citations_since": {"urns": DATASETS, "at": since, "limit": 100},
        "read/failures/citations_of_versions": {"urns": [*SOURCES, *versions], "limit": 100},
        "read/traversal/citing_answers": {"urns": [*SOURCES, *versions], "limit": 100},
        "read/nodes/dataset_links": {"urns": DATASETS, "limit": 100} | VISIBLE,
        "read/estate/dataset_coverage": {"namespace": "", "limit": 100} | VISIBLE,
    }


def of_versions(now: datetime, since: datetime, versions: Sequence[str]) -> Questions:
    newest = versions[-1:]
    return {
        "read/nodes/dataset_versions": {
            "urns": DATASETS,
            "cursorTime": now,
            "cursorUrn": "",
            "limit": 20,
        },
        "read/nodes/dataset_versions_reversed": {
            "urns": DATASETS,
            "cursorTime": BEGIN,
            "cursorUrn": "",
            "limit": 20,
        },
        "read/nodes/dataset_versions_count": {"urns": DATASETS},
        "read/catalog/versions_of_dataset": {"urn": ds("out"), "skip": 0, "limit": 20},
        "read/nodes/dataset_sources": {"urns": DATASETS},
        "read/estate/source_datasets": {"urns": DATASETS},
        "read/estate/newest_data": {"urns": DATASETS},
        "read/versions/timelines": {"urns": DATASETS, "limit": 8},
        "read/failures/versions_since": {"dataset": ds("out"), "since": since, "limit": 100},
        "read/failures/version_evidence": {"urns": newest, "earlier": 10},
        "read/failures/last_good_versions": {"urns": DATASETS, "at": since, "spoiled": newest},
        "read/nodes/dataset_schemas": {"urns": DATASETS, "limit": 100},
        "read/traversal/version_producers": {"urns": versions, "limit": 100},
        "read/traversal/upstream_history": {"urns": newest, "limit": 100},
        "read/traversal/starts_in_run_history": {
            "urns": [job("hot"), ds("out")],
            "since": since,
            "until": now,
            "limit": 20,
        },
        "read/traversal/starts_in_columns": {
            "urns": [ds("out"), job("hot"), *newest],
            "limit": 100,
        },
        "read/rollup/runs_of_newest_versions": {"after": "", "limit": 100},
    }


def of_runs(now: datetime, since: datetime, last: str, failed: str) -> Questions:
    window = {"since": since, "until": now}
    page: dict[str, Any] = {
        "pipeline": "hot",
        "namespace": "etl",
        "cursorTime": now,
        "cursorUrn": "",
        "limit": 20,
    }
    listed: dict[str, Any] = {
        "namespaces": ["etl", "none"],
        "statuses": ["RUNNING", "COMPLETE", "FAIL"],
        "since": BEGIN,
        "until": now,
        "owner": "",
        "visible": ["etl"],
        "cursorUrn": "",
        "limit": 20,
    }
    return {
        "read/catalog/jobs_in_namespace": {
            "namespace": "etl",
            "states": ["COMPLETE"],
            "skip": 0,
            "limit": 10,
        }
        | VISIBLE,
        "read/catalog/jobs_by_last_seen": {"states": ["COMPLETE"], "skip": 0, "limit": 10}
        | VISIBLE,
        "read/nodes/job_runs": {
            "urns": [job("hot")],
            "cursorTime": now,
            "cursorUrn": "",
            "limit": 20,
        }
        | VISIBLE,
        "read/catalog/runs_of_job": {"urn": job("hot"), "skip": 0, "limit": 20, "visible": None},
        "read/nodes/job_links": {"urns": [job("hot")], "limit": 100} | VISIBLE,
        "read/nodes/run_links": {"urns": [last, failed], "limit": 100} | VISIBLE,
        "read/failures/run_inputs_and_outputs": {"urns": [last, failed], "limit": 100},
        "read/failures/run_outcomes": {"urns": [last, failed]},
        "read/traversal/run_inputs": {"urns": [last], "limit": 100},
        "read/traversal/run_outputs": {"urns": [last], "limit": 100},
        "read/rollup/upstream_runs": {"urns": [last]},
        "read/rollup/removable_runs": {
            "rows": [{"urn": last, "lastSeen": now - timedelta(hours=1)}]
        },
        "read/failures/input_ages": {"urns": [last], "earlier": 10},
        "read/failures/failed_run_starts": {"urns": [failed]},
        "read/failures/failed_run_outputs": {"urns": [failed]},
        "read/failures/failed_runs": page | window | VISIBLE,
        "read/failures/failed_runs_reversed": page | window | VISIBLE | {"cursorTime": since},
        "read/lists/runs": listed | {"cursorTime": now},
        "read/lists/runs_reversed": listed | {"cursorTime": BEGIN},
        "read/lists/tagged_runs": listed | {"cursorTime": now, "tag": "none"},
        "read/lists/tagged_runs_reversed": listed | {"cursorTime": BEGIN, "tag": "none"},
        "read/lists/tagged_runs_count": {
            name: listed[name] for name in listed if name not in ("cursorUrn", "limit")
        }
        | {"tag": "none"},
        "read/nodes/job_runs_reversed": {
            "urns": [job("hot")],
            "cursorTime": BEGIN,
            "cursorUrn": "",
            "limit": 20,
        }
        | VISIBLE,
        "read/nodes/job_runs_count": {"urns": [job("hot")], "visible": None},
        "read/failures/failed_between": {
            "rows": [{"number": 0, "job": job("hot"), "after": since, "until": now}]
        },
        "read/estate/run_coverage": {"namespace": "", "limit": 100} | window | VISIBLE,
        "read/estate/job_coverage": {"namespace": "", "limit": 100} | VISIBLE,
        "read/write_path/runs_without_heartbeat": {"before": since},
    }


def of_auditors(now: datetime, since: datetime, run_id: str) -> Questions:
    """Return the parameters of the audit queries, which scan datasets or jobs but not their
    runs.
    """
    scans = (
        "coverage",
        "orphan_datasets",
        "orphan_jobs",
        "most_read_datasets",
        "unowned",
        "cross_namespace_flows",
    )
    return {
        **{f"audit/{name}": {"limit": 100} for name in scans},
        "audit/failed_runs": {"since": since, "limit": 100},
        "audit/failing_pipelines": {"since": since, "limit": 100},
        "audit/cost": {"since": since, "until": now, "limit": 100},
        "audit/run_inputs_outputs": {"runId": run_id},
        "audit/stale_datasets": {"before": since, "limit": 100},
        "audit/unused_datasets": {"since": since, "limit": 100},
        "audit/source_freshness": {"before": now, "limit": 100},
        "audit/longest_chains": {"namespace": None, "hopsMax": 10, "limit": 10},
    }


def questions(count: int) -> Questions:
    """Return the parameters of each query for a graph with this many runs."""
    now = BEGIN + timedelta(hours=count)
    since = now - timedelta(hours=20)
    versions = [version("dim", "r0"), version("out", f"r{count - 1}")]
    runs = run_of(f"r{count - 1}"), run_of(f"r{count - 2}")
    return {
        **of_use(now, since, versions),
        **of_versions(now, since, versions),
        **of_runs(now, since, *runs),
        **of_auditors(now, since, f"r{count - 1}"),
    }


def hits(plan: Mapping[str, Any]) -> int:
    return int(plan.get("dbHits", 0)) + sum(hits(child) for child in plan.get("children", ()))


def measured(driver: Driver, count: int) -> dict[str, int]:
    found = {}
    with driver.session() as session:
        # Neo4j updates its index statistics, and plans again, some time after a graph has grown.
        session.run("CALL db.prepareForReplanning(60)").consume()
        for name, parameters in questions(count).items():
            summary = session.run("PROFILE " + find_query(name).text, dict(parameters)).consume()
            assert summary.profile is not None
            found[name] = hits(summary.profile)
    return found


@pytest.fixture(scope="module")
def db_hits(database: Database, graph_driver: Driver) -> Iterator[Mapping[str, tuple[int, int]]]:
    """Return the db hits of each query with few runs and with many."""
    fill(database, FEW)
    few = measured(graph_driver, FEW)
    fill(database, MANY)
    many = measured(graph_driver, MANY)
    yield {name: (few[name], many[name]) for name in few}
    empty(database)


@pytest.mark.neo4j
@pytest.mark.parametrize("name", sorted(questions(FEW)))
def test_db_hits_do_not_grow_with_the_runs(
    db_hits: Mapping[str, tuple[int, int]], name: str
) -> None:
    few, many = db_hits[name]
    assert few > 0
    assert many <= few * GROWTH_MAX + HITS_MORE_MAX


@pytest.mark.neo4j
def test_growing_db_hits_are_detected(
    db_hits: Mapping[str, tuple[int, int]], graph_driver: Driver
) -> None:
    """Check that a query without an index in its order exceeds the limit of this test."""
    assert db_hits
    expands = (
        "PROFILE MATCH (:Source {urn: $urn})-[:FEEDS]->(r) WHERE r.startedAt > $at "
        "RETURN r.urn LIMIT 1"
    )
    with graph_driver.session() as session:
        result = session.run(
            expands, {"urn": source_urn("db", "hub"), "at": BEGIN + timedelta(hours=MANY)}
        ).consume()
    assert result.profile is not None
    assert hits(result.profile) > MANY
