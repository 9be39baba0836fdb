"""Facts come from the cache if possible, and from the graph otherwise."""

from __future__ import annotations

import msgspec
import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.write_lock import acquire_write_lock
from headwater.ingest.write.rows import decode_facts, read_facts, write_rows
from headwater.schema.facts import JobFacts, Name
from tests.run_builders import job, run, write_events


def test_facts_are_decoded() -> None:
    facts = JobFacts(Name("etl", "j"))
    assert decode_facts(msgspec.json.encode(facts).decode(), JobFacts) == facts


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph")
def test_cached_facts_are_not_read(database: Database) -> None:
    write_events(database, run("r", "stored", ["a"], ["t"]))
    mine = JobFacts(Name("etl", "cached"))
    cached = {job("cached"): mine, job("absent"): None}
    urns = [job("stored"), job("cached"), job("absent"), job("unknown")]
    with database.write() as transaction:
        acquire_write_lock(transaction, "tests")
        found = read_facts(transaction, "jobs", JobFacts, urns, cached)
    assert list(found) == [job("cached"), job("stored")]
    assert found[job("cached")] is mine
    assert found[job("stored")].job == Name("etl", "stored")


@pytest.mark.neo4j
def test_a_statement_without_rows_is_not_run(database: Database) -> None:
    with database.write() as transaction:
        assert write_rows(transaction, "write/no_such_statement", []) == []
