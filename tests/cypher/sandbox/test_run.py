"""The audit queries on the real Neo4j: every query runs, returns its hand-worked result, and only
reads.
"""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.query_catalog import Parameter, Query, find_query, load_queries
from headwater.cypher.sandbox.parameters import parse_parameters
from headwater.cypher.sandbox.run import StatementResult, run_audit, run_text
from headwater.errors import QueryError
from headwater.schema import headwater_facets as native
from tests.canonical import empty
from tests.run_builders import answer, at, run, write_events

AUDITS = sorted(name for name, found in load_queries().items() if name.startswith("audit/"))
READS = sorted(name for name, found in load_queries().items() if found.access == "read")
VALUES: dict[str, Any] = {
    "STRING": "x",
    "INTEGER": 5,
    "BOOLEAN": True,
    "DATETIME": datetime(2026, 1, 1, tzinfo=UTC),
    "LIST<STRING>": ["dataset:a:b"],
    "LIST<MAP>": [{}],
    "MAP": {},
}

pytestmark = pytest.mark.neo4j


@pytest.fixture(scope="module")
def history(database: Database) -> Database:
    """Write raw (db) -> clean -> mart; `report` copies mart to another namespace; one failure;
    complete and incomplete answers.
    """
    empty(database)
    report = run("report-1", "report", ["mart"], [], minute=20)
    for event in report:
        event["outputs"] = [{"namespace": "web", "name": "page"}]
    write_events(
        database,
        run(
            "clean-1",
            "clean",
            ["raw"],
            ["clean"],
            minute=0,
            version="v1",
            derived={"clean": ["raw"]},
            rows=90,
        ),
        run(
            "mart-1",
            "mart",
            ["clean", "extra"],
            ["mart"],
            minute=10,
            derived={"mart": ["clean"]},
            rows=7,
        ),
        report,
        run(
            "clean-2",
            "clean",
            ["raw"],
            ["clean"],
            minute=30,
            status="FAIL",
            error="disk full",
            version="v2",
        ),
        run("slow", "clean", ["raw"], [], minute=40, status="RUNNING"),
        [
            native.source_event(
                "raw", namespace="db", origin="CRM", row_count=100, captured_at=at(0)
            )
        ],
        [native.source_event("alone", namespace="db", event_time=at(5))],
        answer("good", "mart", minute=15),
        answer("partial", "clean", minute=35),
        answer("empty", minute=36),
    )
    return database


def rows(database: Database, name: str, /, **parameters: str) -> list[dict[str, Any]]:
    return run_audit(database, name, parameters).rows


def test_there_are_many() -> None:
    assert len(AUDITS) >= 24


@pytest.mark.parametrize("name", AUDITS)
def test_each_example_returns_its_declared_columns(history: Database, name: str) -> None:
    words = shlex.split(find_query(name).example)
    assert words[:3] == ["headwater", "cypher", name.removeprefix("audit/")]
    given = dict(word.split("=", 1) for word in words[3:] if word != "--param")
    assert words[3::2] == ["--param"] * len(given)
    columns = run_audit(history, words[2], given).columns
    text = find_query(name).text
    assert all(column in text for column in columns)


@pytest.mark.parametrize("name", READS)
def test_queries_only_read_and_scan_only_if_declared(database: Database, name: str) -> None:
    found = find_query(name)
    kind, operators = database.plan(found.text, {p.name: VALUES[p.type] for p in found.parameters})
    assert kind == "r"
    scans = [o for o in operators if "Scan" in o or o == "CartesianProduct"]
    if name.startswith("audit/") and "scan" not in found.purpose:
        assert scans == []
    assert "AllNodesScan" not in scans
    # Two queries that are not of the library show the state of Neo4j.
    is_state = name in {"read/state/index_names", "read/state/outlived"}
    forbidden = ("LoadCSV",) if is_state else ("LoadCSV", "Show")
    assert not any(o.startswith(forbidden) for o in operators)


def test_failed_runs(history: Database) -> None:
    assert rows(history, "failed_runs") == [
        {
            "failedAt": datetime(2026, 1, 1, 0, 31, tzinfo=UTC),
            "pipeline": "clean",
            "runId": "clean-2",
            "error": "disk full",
            "wrote": ["db clean"],
        }
    ]
    assert rows(history, "failed_runs", since="2026-01-02") == []
    assert rows(history, "failing_pipelines")[0]["failures"] == 1


def test_answer_to_sources_respects_derivation(history: Database) -> None:
    found = rows(history, "answer_to_sources", answerId="good")
    assert [(row["name"], row["hops"], row["runs"], row["origin"]) for row in found] == [
        ("raw", 2, ["mart-1", "clean-1"], "CRM")
    ]


def test_row_counts_along_the_chain(history: Database) -> None:
    found = rows(history, "row_counts", answerId="good")
    assert [(row["hops"], row["name"], row["rowCount"]) for row in found] == [
        (0, "mart", 7),
        (1, "clean", 90),
        (2, "raw", 100),
    ]


def test_holes_in_provenance(history: Database) -> None:
    found = rows(history, "incomplete_answers")
    assert {
        (row["answerId"], row["hops"], row["version"], row["runId"], row["why"]) for row in found
    } == {
        ("empty", None, None, None, "it cites nothing"),
        ("partial", 0, "db clean", "clean-2", "the run that made it is FAIL"),
    }
    assert [
        (row["answerId"], row["runId"], row["status"]) for row in rows(history, "partial_citations")
    ] == [("partial", "clean-2", "FAIL")]


def test_the_others(history: Database) -> None:
    assert [row["name"] for row in rows(history, "orphan_datasets")] == ["alone"]
    assert [
        (row["version"], row["runs"], row["failed"])
        for row in rows(history, "code_versions", pipeline="clean")
    ] == [
        ("(not said)", 1, 0),
        ("v2", 1, 1),
        ("v1", 1, 0),
    ]
    crossing = rows(history, "cross_namespace_flows")
    assert [
        (row["fromNamespace"], row["toNamespace"], row["source"], row["target"]) for row in crossing
    ] == [("db", "web", "mart", "page")]
    origins = rows(history, "column_origins", namespace="db", dataset="mart", column="id")
    assert [(row["steps"], row["dataset"], row["transformations"]) for row in origins] == [
        (1, "clean", ["DIRECT"]),
        (2, "raw", ["DIRECT"]),
    ]
    assert [
        row["column"] for row in rows(history, "dataset_schema", namespace="db", name="clean")
    ] == ["id"]
    assert {row["name"] for row in rows(history, "source_freshness")} == {"raw", "extra", "alone"}
    assert {(row["readers"], row["name"]) for row in rows(history, "most_read_datasets")} == {
        (1, "raw"),
        (1, "clean"),
        (1, "extra"),
        (1, "mart"),
    }
    assert [(row["answerId"], row["hops"]) for row in rows(history, "deepest_answers")] == [
        ("good", 2),
        ("partial", 1),
    ]
    assert [row["runId"] for row in rows(history, "unfinished_runs", before="2026-01-02")] == [
        "slow"
    ]
    assert [
        (row["role"], row["name"]) for row in rows(history, "run_inputs_outputs", runId="mart-1")
    ] == [
        ("read", "clean"),
        ("read", "extra"),
        ("wrote", "mart"),
    ]
    assert rows(history, "run_inputs_outputs", runId="mart") == [], "the beginning of an id is none"


def test_parameters_by_their_types() -> None:
    found = Query("q", "", "read", tuple(_parameters()), "x", "headwater cypher q", "")
    assert parse_parameters(
        found,
        {
            "n": " 7 ",
            "t": "2026-01-31",
            "l": "a, b",
            "b": "TRUE",
            "f": "1.5",
            "m": '{"a": 1}',
            "s": "5",
        },
    ) == {
        "n": 7,
        "t": datetime(2026, 1, 31, tzinfo=UTC),
        "l": ["a", "b"],
        "b": True,
        "f": 1.5,
        "m": {"a": 1},
        "s": "5",
    }
    assert parse_parameters(found, {"l": '["a,b"]', "n": "1"})["l"] == ["a,b"]
    wrong = {"n": "1.5", "t": "30 February", "b": "yes", "f": "x", "m": "[]", "l": "[1]"}
    for name, text in wrong.items():
        with pytest.raises(QueryError, match=name):
            parse_parameters(found, {"n": "1", name: text})
    with pytest.raises(QueryError, match="needs the parameter n"):
        parse_parameters(found, {})
    with pytest.raises(QueryError, match="no parameter zz"):
        parse_parameters(found, {"n": "1", "zz": "1"})
    with pytest.raises(QueryError, match="whole number"):
        parse_parameters(found, {"n": str(2**64)})


def _parameters() -> list[Any]:
    types = {
        "n": "INTEGER",
        "t": "DATETIME",
        "l": "LIST<STRING>",
        "b": "BOOLEAN",
        "f": "FLOAT",
        "m": "MAP",
        "s": "STRING",
    }
    return [Parameter(name, type, None, name == "n") for name, type in types.items()]


def test_only_reads_run_by_name(database: Database) -> None:
    with pytest.raises(QueryError, match="writes"):
        run_audit(database, "write/runs/update_runs", {})
    with pytest.raises(QueryError, match="no query"):
        run_audit(database, "nothing", {})


def test_own_text(history: Database) -> None:
    text = "MATCH (r:PipelineRun {runId: $id}) RETURN r.status AS status"
    assert run_text(history, text, {"id": "clean-2"}) == StatementResult(
        ["status"], [{"status": "FAIL"}], False
    )
    cut = run_text(history, "UNWIND range(1, $n) AS x RETURN x", {"n": 5000}, rows_max=10)
    assert (cut.rows[-1], len(cut.rows), cut.truncated) == ({"x": 10}, 10, True)
    assert not run_text(history, "UNWIND range(1, 10) AS x RETURN x", {}, rows_max=10).truncated
    assert (
        run_text(history, "CALL db.labels() YIELD label RETURN count(*) AS n", {}).rows[0]["n"] > 3
    )
    with pytest.raises(QueryError, match=r"longer than 0\.5 s"):
        run_text(
            history,
            "UNWIND range(1, 100000000) AS x UNWIND range(1, 1000) AS y RETURN sum(x * y)",
            {},
            seconds=0.5,
        )


@pytest.mark.parametrize(
    ("statement", "place", "line"),
    [
        ("MATCH (n) RETRUN n", "line 1, column 11 (offset: 10)", '"MATCH (n) RETRUN n"'),
        ("MATCH (n)\n  RETURN m", "line 2, column 10 (offset: 19)", '"  RETURN m"'),
        ("// why\r\nRETURN 1 +", "line 2", '"RETURN 1 +"'),
        (
            "CYPHER statefulShortestPlanningMode=all_if_possible RETURN nope(1)",
            "line 1",
            'all_if_possible RETURN nope(1)"',
        ),
    ],
)
def test_an_error_names_the_place_in_the_own_text(
    database: Database, statement: str, place: str, line: str
) -> None:
    with pytest.raises(QueryError) as raised:
        run_text(database, statement, {})
    message = raised.value.message
    assert place in message
    assert line in message
    assert "EXPLAIN" not in message


@pytest.mark.parametrize(
    "statement", ["CYPHER", "MATCH", "RETURN $missing AS x", "RETURN 1 AS a; RETURN 2 AS b", "x"]
)
def test_no_error_shows_how_a_statement_is_checked(database: Database, statement: str) -> None:
    with pytest.raises(QueryError) as raised:
        run_text(database, statement, {})
    assert "EXPLAIN" not in f"{raised.value.message} {raised.value.hint}"


def test_a_plan_that_takes_too_long_is_refused(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The planner compares the orders of these parts.
    monkeypatch.setattr("headwater.cypher.driver.database.READ_SECONDS_MAX", 0.001)
    nodes = "-->".join(f"(n{at} {{urn: '{at}'}})" for at in range(12))
    with pytest.raises(QueryError, match="to plan the query took longer") as error:
        run_text(database, f"MATCH {nodes} RETURN n0", {})
    assert error.value.hint == "Split it into several statements."
