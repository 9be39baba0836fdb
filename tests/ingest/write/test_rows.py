"""Facts come from the cache if possible, and from the graph otherwise."""

from __future__ import annotations

import msgspec
import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.write_lock import acquire_write_lock
from headwater.ingest.write.rows import (
    ROWS_MAX,
    decode_facts,
    in_parts,
    parts_of,
    read_facts,
    write_rows,
)
from headwater.schema.facts import JobFacts, Name
from tests.run_builders import job, run, write_events


def test_facts_are_decoded() -> None:
    facts = JobFacts(Name("etl", "j"))
    assert decode_facts(msgspec.json.encode(facts).decode(), JobFacts) == facts


def test_a_statement_gets_a_bounded_number_of_rows() -> None:
    rows = [{"urn": str(number), "properties": {"a": 1}} for number in range(2 * ROWS_MAX + 1)]
    parts = list(in_parts(rows))
    assert [len(part) for part in parts] == [ROWS_MAX, ROWS_MAX, 1]
    assert [row for part in parts for row in part] == rows
    assert list(in_parts([])) == []


def test_the_items_of_a_list_count_as_rows() -> None:
    small, large = {"links": [1]}, {"links": list(range(3 * ROWS_MAX))}
    assert list(in_parts([small, large, small, small])) == [[small], [large], [small, small]]
    parts = [{"links": links} for links in parts_of(large["links"])]
    assert [part["links"][0] for part in parts] == [
        0,
        ROWS_MAX - 1,
        2 * (ROWS_MAX - 1),
        3 * (ROWS_MAX - 1),
    ]
    assert list(in_parts(parts)) == [[part] for part in parts]


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
