"""Pipelined statements of a transaction: only the timing differs from statements that wait."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from headwater.cypher.driver.database import READ_SECONDS_MAX, Database, Row
from headwater.errors import QueryError, UnavailableError
from tests.conftest import Neo4jServer

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


def job(name: str) -> dict[str, object]:
    return {
        "urn": f"job:etl:{name}",
        "properties": {"namespace": "etl", "name": name},
        "shown": False,
    }


def names(database: Database) -> list[str]:
    rows = database.ask("MATCH (j:Job) RETURN j.name AS name ORDER BY name", {})
    return [row["name"] for row in rows]


def locked(database: Database) -> None:
    with database.write() as transaction:
        transaction.run("write/maintenance/lock_graph", holder="tests")


def test_statements_run_in_order_and_are_committed(database: Database) -> None:
    locked(database)
    with database.write() as transaction:
        for number in range(50):
            assert transaction.run("write/lineage/jobs", rows=[job(f"j{number:02}")]) == []
        # A query sees all earlier writes of its transaction.
        rows = transaction.run("read/write_path/facts_of_jobs", urns=["job:etl:j00", "job:etl:j49"])
        assert [row["urn"] for row in rows] == ["job:etl:j00", "job:etl:j49"]
    assert names(database) == [f"j{number:02}" for number in range(50)]


def test_parameters_may_be_changed_after_the_call(database: Database) -> None:
    locked(database)
    rows = [job("one")]
    with database.write() as transaction:
        transaction.run("write/lineage/jobs", rows=rows)
        rows[0]["properties"] = {"namespace": "etl", "name": "another"}
        rows.append(job("two"))
    assert names(database) == ["one"]


@pytest.mark.parametrize("reads_afterwards", [True, False])
def test_a_failure_commits_nothing_and_the_first_one_is_raised(
    database: Database, reads_afterwards: bool
) -> None:
    def written() -> None:
        with database.write() as transaction:
            transaction.run("write/lineage/jobs", rows=[job("before")])
            transaction.run(
                "write/lineage/jobs", rows=[{"urn": None, "properties": {}, "shown": False}]
            )
            transaction.run("write/lineage/jobs", rows=[job("after")])
            if reads_afterwards:
                transaction.run("read/write_path/facts_of_jobs", urns=["job:etl:before"])

    locked(database)
    with pytest.raises(QueryError, match="null"):
        written()
    assert names(database) == []


def test_an_exception_between_statements_commits_nothing(database: Database) -> None:
    def written() -> None:
        with database.write() as transaction:
            transaction.run("write/lineage/jobs", rows=[job("before")])
            raise ZeroDivisionError

    locked(database)
    with pytest.raises(ZeroDivisionError):
        written()
    assert names(database) == []


def test_a_missing_database_is_no_fault_of_the_query(neo4j_server: Neo4jServer) -> None:
    server = neo4j_server
    missing = Database(server.uri, server.user, server.password, database="nowhere")
    with closing(missing), pytest.raises(UnavailableError, match="nowhere") as refusal:
        missing.ask("RETURN 1", {})
    assert "HEADWATER_NEO4J_DATABASE" in refusal.value.hint


class LimitsOfAsk(Database):
    """A database that notes the time limits under which it asks."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.limits: list[float] = []

    def ask(
        self, text: str, parameters: Mapping[str, Any], *, seconds: float = READ_SECONDS_MAX
    ) -> list[Row]:
        self.limits.append(seconds)
        return super().ask(text, parameters, seconds=seconds)


def test_a_catalog_query_may_be_planned_unless_its_caller_is_in_a_hurry(
    neo4j_server: Neo4jServer,
) -> None:
    one = neo4j_server
    with closing(LimitsOfAsk(one.uri, one.user, one.password, planning_seconds=50.0)) as database:
        database.read("read/state/clock")
        database.read("read/state/clock", seconds=READ_SECONDS_MAX)
        database.read("read/state/clock", seconds=3.0)
        database.planning_seconds = 0.0
        database.read("read/state/clock")
    assert database.limits == [60.0, 60.0, 3.0, 10.0]


def test_a_question_in_work_gets_its_answer_although_the_database_is_closed(
    neo4j_server: Neo4jServer, database: Database
) -> None:
    own = Database(neo4j_server.uri, neo4j_server.user, neo4j_server.password)
    text = (
        "UNWIND range(1, 3000000) AS closed WITH closed WHERE closed % 7 = 3 RETURN count(*) AS n"
    )
    running = (
        "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery CONTAINS 'AS closed' RETURN 1"
    )
    with ThreadPoolExecutor(max_workers=1) as pool:
        asked = pool.submit(own.ask, text, {}, seconds=600.0)
        while not asked.done() and len(database.ask(running, {})) < 2:
            continue  # the second one is this question itself
        own.close()
        assert asked.result() == [{"n": 428_572}]
    own.close()
    with pytest.raises(UnavailableError):
        own.ask("RETURN 1 AS one", {})
