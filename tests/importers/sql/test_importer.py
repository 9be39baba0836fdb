"""SQL as events: runs of logged queries, declarations of scripts, names of jobs, stable ids."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.importers.report import ImportReport
from headwater.importers.sql.importer import SqlOptions, read_sql
from headwater.importers.sql.logs import SqlFile
from headwater.importers.sql.names import NameRules
from headwater.schema.events import parse

NAMES = NameRules("postgres://w:5432", "postgres", "shop")
STATEMENTS = (
    "create table t as select a, count(*) as n from s group by a",
    "create temp table x (a int)",
    "insert into x select a from raw.s where b > 'c'",
    "insert into mart.t (a) select * from x",
    "merge into t using x on t.a = x.a when matched then update set b = x.b",
    "update t set b = s.b from s where s.a = t.a",
    "delete from t",
    "drop table if exists x",
    "alter table t rename to u",
    "use shop",
    "begin",
    "rollback",
    "with q as (select 1 as a) select * from q",
    "select a into y from s",
)
MODIFIED = 1_793_491_200_000_000
HEADER = "time,user,session,query"


def events(
    *files: tuple[str, str], report: ImportReport | None = None, **options: Any
) -> list[dict[str, Any]]:
    opened = [SqlFile(name, text.splitlines(keepends=True), MODIFIED) for name, text in files]
    found = list(read_sql(opened, SqlOptions(NAMES, **options), report or ImportReport()))
    for event in found:
        parse(json.dumps(event).encode(), received=0)
    return found


def names(datasets: Sequence[dict[str, Any]]) -> list[str]:
    return [one["name"] for one in datasets]


def log(*queries: str, name: str = "log.csv") -> tuple[str, str]:
    rows = [f'2026-11-01T00:00:{number:02}Z,etl,1,"{text}"' for number, text in enumerate(queries)]
    return name, "\n".join([HEADER, *rows])


def test_a_logged_query_is_a_run_with_column_lineage() -> None:
    start, end = events(log("insert into mart.t (id) select o.id from raw.orders o where o.paid"))
    assert [one["eventType"] for one in (start, end)] == ["START", "COMPLETE"]
    assert start["run"]["runId"] == end["run"]["runId"]
    assert start["eventTime"] == "2026-11-01T00:00:00Z"
    assert end["run"]["facets"]["headwater_run"]["triggeredBy"] == "etl"
    assert names(end["inputs"]) == ["shop.raw.orders"]
    (output,) = end["outputs"]
    assert (output["namespace"], output["name"]) == ("postgres://w:5432", "shop.mart.t")
    source = {"namespace": "postgres://w:5432", "name": "shop.raw.orders"}
    lineage = output["facets"]["columnLineage"]
    assert lineage["fields"] == {"id": {"inputFields": [{**source, "field": "id"}]}}
    assert lineage["dataset"] == [
        {**source, "field": "paid", "transformations": [{"type": "INDIRECT"}]}
    ]


def test_importing_twice_sends_the_same_events() -> None:
    file = log("insert into t select a from s", "insert into t select a from s")
    first = events(file)
    assert first == events(file)
    assert len({event["run"]["runId"] for event in first}) == 2


def test_an_overlapping_log_has_the_ids_of_the_first() -> None:
    rows = log("insert into a select x from b", "insert into c select x from d")[1].splitlines()
    later = ("later.csv", "\n".join([HEADER, rows[2]]))
    earlier = {event["run"]["runId"] for event in events(("log.csv", "\n".join(rows)))}
    assert {event["run"]["runId"] for event in events(later)} < earlier


def test_a_statement_that_replaces_a_table_is_the_job_of_the_table() -> None:
    found = events(
        log(
            "create table mart.t as select a from raw.x",
            "create table mart.t as select a from raw.y",
            "insert into mart.t select a from raw.z where day = '1'",
            "insert into mart.t select a from raw.z where day = '2'",
            "insert into mart.t select b from raw.z",
        )
    )
    jobs = [event["job"]["name"] for event in found if event["eventType"] == "COMPLETE"]
    assert jobs[:2] == ["shop.mart.t", "shop.mart.t"]
    assert jobs[2] == jobs[3] != jobs[4]
    assert jobs[4].startswith("shop.mart.t.insert.")
    changes = [event["outputs"][0]["facets"].get("lifecycleStateChange") for event in found[1::2]]
    states = [change and change["lifecycleStateChange"] for change in changes]
    assert states == ["OVERWRITE", "OVERWRITE", None, None, None]


def test_a_failed_query_is_a_failed_run() -> None:
    row = '{"time": "2026-11-01", "query": "insert into t select a from s", "error": "disk full"}'
    start, end = events(("log.jsonl", row))
    assert (start["eventType"], end["eventType"]) == ("START", "FAIL")
    assert end["run"]["facets"]["errorMessage"]["message"] == "disk full"
    assert (names(start["outputs"]), end["outputs"]) == (["shop.public.t"], [])


def test_what_failed_to_change_a_table_changed_nothing() -> None:
    rows = [
        {"time": "2026-11-01", "query": query, "error": "no permission"}
        for query in ("drop table t", "truncate table t", "alter table t rename to u")
    ]
    assert events(("log.jsonl", "\n".join(map(json.dumps, rows)))) == []


def test_a_script_declares_one_job_for_each_table() -> None:
    report = ImportReport()
    text = """create table raw.o (id int, amount int);
    delete from mart.t; insert into mart.t select id from raw.o;
    insert into mart.t select id from raw.p; insert into mart.u select * from mart.t;"""
    table, first, second = events(("etl/load.sql", text), report=report)
    assert table["dataset"]["facets"]["schema"]["fields"] == [
        {"name": "id", "type": "int"},
        {"name": "amount", "type": "int"},
    ]
    assert "run" not in first
    assert first["eventTime"] == "2026-11-01T00:00:00Z"
    assert first["job"]["name"] == "etl/load.sql:shop.mart.t"
    assert (names(first["inputs"]), names(first["outputs"])) == (
        ["shop.raw.o", "shop.raw.p"],
        ["shop.mart.t"],
    )
    assert first["job"]["facets"]["sql"]["query"].count("insert into") == 2
    assert (second["job"]["name"], names(second["inputs"])) == (
        "etl/load.sql:shop.mart.u",
        ["shop.mart.t"],
    )
    assert report.counts == {"files": 1, "statements": 5, "tables defined": 1, "writes": 3}


def test_a_script_that_ran_at_a_time_is_runs_in_its_order() -> None:
    text = "insert into a select x from b; insert into c select x from a;"
    found = events(("load.sql", text), at=MODIFIED)
    assert [event["eventTime"] for event in found[::2]] == [
        "2026-11-01T00:00:00Z",
        "2026-11-01T00:00:00.000001Z",
    ]
    assert found[0]["job"]["name"] == "load.sql:shop.public.a"


def test_queries_that_only_read_are_counted_or_imported() -> None:
    report = ImportReport()
    file = log("select a from mart.t")
    assert events(file, report=report) == []
    assert report.counts["queries that only read"] == 1
    start, _ = events(file, reads=True)
    assert start["job"]["name"].startswith("etl.select.")
    assert (names(start["inputs"]), start["outputs"]) == (["shop.mart.t"], [])


def test_what_cannot_be_read_is_listed_with_its_place() -> None:
    report = ImportReport()
    found = events(
        ("a.sql", "select 1;\n\nselec x;\ninsert into t select a from s;\ncall p();"), report=report
    )
    assert len(found) == 1
    assert [one.place for one in report.problems] == ["a.sql:3", "a.sql:5"]


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_no_text_ends_an_import(data: st.DataObject) -> None:
    """Statements that are cut or have a mark too many: each event is one that the API takes."""
    statements = data.draw(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=5))
    text = ";\n".join(statements)
    place = data.draw(st.integers(0, len(text)))
    mark = data.draw(st.sampled_from(["", "'", '"', "(", "$$", "/*", "--", ";", " from "]))
    dialect = data.draw(st.sampled_from(["", "postgres", "snowflake", "tsql", "bigquery"]))
    script = SqlFile("a.sql", [text[:place] + mark + text[place:]])
    for at in (None, MODIFIED):
        options = SqlOptions(NameRules("n", dialect, "shop"), reads=True, at=at)
        for event in read_sql([script], options, ImportReport()):
            parse(json.dumps(event).encode(), received=0)


def test_sessions_of_a_log_have_temporary_tables_of_their_own() -> None:
    rows = [
        HEADER,
        "2026-11-01,etl,1,create temp table x as select id from raw.a",
        "2026-11-01,etl,2,create temp table x as select id from raw.b",
        "2026-11-01,etl,1,insert into t select id from x",
        "2026-11-01,etl,2,insert into u select id from x",
    ]
    found = events(("log.csv", "\n".join(rows)))
    assert [names(event["inputs"]) for event in found[::2]] == [["shop.raw.a"], ["shop.raw.b"]]


def test_a_rename_and_a_truncate_keep_the_history_of_a_table() -> None:
    found = events(
        log("truncate table mart.t", "alter table mart.new rename to t", "drop table mart.old")
    )
    changes = [event["outputs"][0]["facets"]["lifecycleStateChange"] for event in found[1::2]]
    assert [change["lifecycleStateChange"] for change in changes] == ["TRUNCATE", "RENAME", "DROP"]
    assert changes[1]["previousIdentifier"]["name"] == "shop.mart.new"
