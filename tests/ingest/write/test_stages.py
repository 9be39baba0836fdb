"""The stages of a write: their order, and the joins and comparisons that need no graph."""

from __future__ import annotations

import json

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.write_lock import acquire_write_lock
from headwater.ingest.fold import fold
from headwater.ingest.write import stages
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.context import WriteContext
from headwater.ingest.write.stages import STAGES, _join_changes, _reported_edges
from headwater.schema.events import parse
from headwater.schema.facts import JobFacts, Name, Span, join_jobs
from headwater.schema.graph import READS, WRITES
from headwater.schema.naming import load_naming
from tests.canonical import canonical, empty
from tests.run_builders import ds, job, run, run_of, version, write_events


def test_each_stage_is_listed_once_and_follows_those_it_needs() -> None:
    names = [stage.__name__ for stage in STAGES]
    assert len(set(names)) == len(names)
    order = {name: number for number, name in enumerate(names)}
    for first, second in (
        ("drop_rolled_up_runs", "resolve_datasets"),
        ("resolve_datasets", "join_facts"),
        ("join_facts", "write_dataset_nodes"),
        ("write_dataset_nodes", "write_run_nodes"),
        ("write_jobs", "write_run_nodes"),
        ("project_runs", "write_run_nodes"),
        ("write_run_nodes", "link_versions"),
        ("write_answers", "link_versions"),
        ("restore_edges", "write_edges"),
        ("write_edges", "write_origins"),
        ("link_versions", "write_version_origins"),
        ("link_versions", "update_drift"),
        ("write_edges", "update_current_edges"),
    ):
        assert order[first] < order[second], (first, second)
    assert all(stage.__doc__ for stage in STAGES)


def _job(last: int) -> JobFacts:
    return JobFacts(Name("etl", "j"), span=Span(1, last))


def test_a_join_changes_only_facts_that_differ() -> None:
    cached: dict[str, JobFacts] = {}
    stored = {"job:a": _job(5), "job:b": _job(5)}
    facts = {"job:a": _job(3), "job:b": _job(9), "job:c": _job(1)}
    changes = _join_changes(stored, facts, cached, join_jobs, set())
    assert changes == {"job:b": (_job(5), _job(9)), "job:c": (None, _job(1))}
    assert cached == {"job:a": _job(5), "job:b": _job(9), "job:c": _job(1)}


def test_detached_facts_change_as_if_the_graph_did_not_have_them() -> None:
    changes = _join_changes({"job:a": _job(5)}, {}, {}, join_jobs, {"job:a", "job:gone"})
    assert changes == {"job:a": (None, _job(5))}


def test_a_later_observation_does_not_change_the_edges_of_a_job() -> None:
    assert _reported_edges(_job(5)) == _reported_edges(_job(9))


@pytest.mark.neo4j
def test_the_stages_fill_one_context(database: Database) -> None:
    events = [*run("r", "j", ["a"], ["t"], derived={"t": ["a"]})]
    empty(database)
    write_events(database, events)
    expected = canonical(database)
    empty(database)
    delta = fold(parse(json.dumps(event).encode(), received=0) for event in events)
    with database.write() as transaction:
        revision = acquire_write_lock(transaction, "tests")
        cache = WriteCache()
        cache.restart(revision)
        context = WriteContext(transaction, cache, load_naming(), delta)
        stages.write_delta(context)
    assert canonical(database) == expected
    assert context.new_runs == {run_of("r")}
    assert context.redeclared_jobs == set(), "only its run reports edges of the job"
    assert {job for job, _ in context.written_edges} == {job("j")}
    assert context.written_edges == {(job("j"), READS): {ds("a")}, (job("j"), WRITES): {ds("t")}}
    assert list(context.linked_consumers) == [run_of("r")]
    assert [one.artifact for one in context.changes.moved] == [version("t", "r")]
    empty(database)
