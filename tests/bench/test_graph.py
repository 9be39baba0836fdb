"""The graph of the benches equals one that the real writer makes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest
from neo4j import Driver

from bench import graph, wiring
from bench.events import run_of
from bench.graph import RUN_SECONDS, Filled, fill_lineage, grow, micros, new, start_of, write_events
from bench.replicas import number_of
from bench.wiring import DIAMOND, HUB, ROOT, Wiring
from headwater.cypher.driver.database import Database
from headwater.ingest.write.cache import WriteCache
from headwater.schema.events import Event, parse
from tests.canonical import canonical

SMALL = Wiring(levels=(2, 3), diamonds=1, fans=2)
UNTIL = datetime(2026, 3, 1, 12, tzinfo=UTC)
REPLICAS = 60


def edges_downstream(tables: list[tuple[int, int, int]], start: int, depth: int) -> int:
    """Return the number of edges that a traversal downstream meets within so many hops."""
    readers: dict[int, list[int]] = {}
    for job, (first, second, _) in enumerate(tables):
        readers.setdefault(first, []).append(job)
        readers.setdefault(second, []).append(job)
    visited_tables, visited_jobs, edges, here = {start}, set[int](), 0, [start]
    for _ in range(depth):
        found: list[int] = []
        for table in here:
            for job in readers.get(table, ()):
                edges += 1
                if job not in visited_jobs:
                    visited_jobs.add(job)
                    edges += 1
                    found.append(tables[job][2])
        here = [table for table in dict.fromkeys(found) if table not in visited_tables]
        visited_tables.update(here)
    return edges


def test_the_lineage_graph_has_the_given_number_of_edges_within_ten_and_twenty_hops() -> None:
    tables = Wiring().tables
    assert len(tables) == 20_000
    assert edges_downstream(tables, ROOT, 10) == pytest.approx(10_000, rel=0.01)
    assert edges_downstream(tables, ROOT, 20) == pytest.approx(35_000, rel=0.01)


def test_every_table_is_written_before_it_is_read() -> None:
    for job, (first, second, written) in enumerate(Wiring().tables):
        assert first != second
        assert max(first, second) < written == wiring.SOURCES + job


def test_diamonds_double_the_paths_at_every_pair() -> None:
    paths = {DIAMOND: 1}
    for first, second, written in Wiring().tables:
        paths[written] = paths.get(first, 0) + paths.get(second, 0)
    assert paths[Wiring().last_diamond()] == 2**19


def test_only_the_fans_and_the_hot_job_read_the_hub() -> None:
    found = Wiring()
    assert [job for job, tables in enumerate(found.tables) if HUB in tables] == list(found.readers)
    assert found.readers[-1] == found.hot


@pytest.mark.parametrize("count", [1, 60, 5_000])
def test_every_replica_is_created_once(count: int) -> None:
    shared = [index for _, indexes in graph.shared(range(7), 10_000, count) for index in indexes]
    assert sorted(shared) == list(range(10_000, 10_000 + count))


def test_nine_in_ten_runs_of_a_chunk_are_of_the_hot_job_and_some_failed() -> None:
    *fans, (_, hot), (_, failed) = sorted(
        graph.shared(range(7), 0, graph.CHUNK), key=lambda one: one[0]
    )
    assert len(hot) == pytest.approx(4_500, abs=60)
    assert len(failed) == 10
    assert len(fans) == 5


@pytest.mark.neo4j
def test_replicas_equal_the_writers_output_for_the_same_events(
    database: Database, clean_graph: Driver
) -> None:
    filled = new(SMALL, UNTIL)
    fill_lineage(database, filled)
    grow(clean_graph, filled, REPLICAS)
    replicated = canonical(database)
    assert filled.runs == _count(clean_graph)

    with clean_graph.session() as session:
        session.run("MATCH (n) WHERE NOT n:Migration DETACH DELETE n").consume()
    fill_lineage(database, new(SMALL, UNTIL))
    write_events(database, _same_events(filled), WriteCache())
    assert replicated == canonical(database)


@pytest.mark.neo4j
def test_growth_in_steps_gives_the_same_graph(database: Database, clean_graph: Driver) -> None:
    filled = new(SMALL, UNTIL)
    fill_lineage(database, filled)
    for replicas in (0, 20, REPLICAS, 10):
        grow(clean_graph, filled, replicas)
    assert filled.replicas == REPLICAS
    assert filled.runs == _count(clean_graph)


def _count(driver: Driver) -> int:
    with driver.session() as session:
        return int(
            session.run("MATCH (r:PipelineRun) RETURN count(r) AS count").single(strict=True)[
                "count"
            ]
        )


def _same_events(filled: Filled) -> list[Event]:
    jobs: Mapping[int, int] = dict(zip(filled.patterns, [*SMALL.readers, SMALL.hot], strict=True))
    events: list[Event] = []
    for pattern, indexes in graph.shared(filled.patterns, 0, REPLICAS):
        for index in indexes:
            job, state = jobs[pattern], "FAIL" if pattern == filled.patterns[-1] else "COMPLETE"
            number, began = number_of(pattern, index), start_of(filled, index)
            bodies = run_of(job, SMALL.tables[job], number, began, seconds=RUN_SECONDS, state=state)
            events += [parse(body, received=micros(began)) for body in bodies]
    assert start_of(filled, 0) == UNTIL - timedelta(seconds=30)
    return events
