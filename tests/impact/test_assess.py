"""Assets that a change affects, on the real graph; every severity worked out by hand.

The main graph is raw_orders -> stg_orders -> fct_orders. A DAG whose SQL names the column reads
it, and a Spark job that uses the column only if it is there.
"""

from __future__ import annotations

from typing import Any

import pytest
from neo4j import Driver

from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError, QueryError
from headwater.impact.assess import assess
from headwater.impact.changes import parse_changes
from headwater.impact.report import Affected, Report, report_json
from headwater.lineage.view import GraphView
from headwater.schema.urns import column_urn
from headwater.schema.visibility import Visibility
from tests.conftest import erase
from tests.event_builders import (
    columns,
    dataset,
    dataset_event,
    job_event,
    run_event,
    schema,
    source,
    source_job,
    write_batch,
)
from tests.run_builders import answer, ds, job, write_events

pytestmark = pytest.mark.neo4j

RAW = ds("raw_orders")
RENAME = {"type": "column_rename", "from": "order_total", "to": "total_amount"}
DROP = {"type": "column_drop", "column": "legacy_discount_code"}
Event = dict[str, Any]


def kind_of(integration: str, type: str) -> Event:
    return {"jobType": {"processingType": "BATCH", "integration": integration, "jobType": type}}


def sql(text: str) -> Event:
    return {"sql": {"query": text}}


LTV_CODE = """orders = spark.table('fct_orders')
total = F.col('order_total') if 'order_total' in orders.columns else F.lit(0)
orders.groupBy('customer_id').agg(F.sum(total)).write.saveAsTable('ltv')
"""
STG_SQL = """select order_id, order_total, legacy_discount_code is not null as had_discount
from raw_orders"""
FCT_SQL = """select order_id,
  sum(order_total) as order_total
from stg_orders
group by order_id"""
RAW_COLUMNS = schema(
    order_id="int", order_total="decimal(10,2)", legacy_discount_code="string", note="string"
)


def seed() -> list[Event]:
    """Return the main graph: stg_orders with column lineage, the Spark job without code."""
    stg = dataset(
        "stg_orders",
        {
            **schema(order_id="int", order_total="decimal(10,2)", had_discount="boolean"),
            **columns(
                order_id=[("raw_orders", "order_id")],
                order_total=[("raw_orders", "order_total")],
                had_discount=[("raw_orders", "legacy_discount_code")],
            ),
        },
    )
    fct = dataset("fct_orders", schema(order_id="int", order_total="decimal(10,2)"))
    owner = {"ownership": {"owners": [{"name": "team:finance"}]}}
    return [
        run_event(
            "r1",
            inputs=[dataset("raw_orders", RAW_COLUMNS)],
            outputs=[stg],
            job="stg_orders",
            job_facets={**kind_of("DBT", "MODEL"), **sql(STG_SQL)},
        ),
        run_event(
            "r2",
            inputs=["stg_orders"],
            outputs=[fct],
            job="fct_orders",
            minute=2,
            job_facets={**kind_of("DBT", "MODEL"), **sql(FCT_SQL)},
        ),
        run_event(
            "r3",
            inputs=["fct_orders"],
            outputs=["revenue"],
            job="daily_revenue_report",
            minute=4,
            job_facets={
                **kind_of("AIRFLOW", "DAG"),
                **sql("select sum(order_total) from fct_orders"),
                **owner,
            },
        ),
        run_event(
            "r4",
            inputs=["fct_orders"],
            job="customer_ltv_model",
            minute=4,
            job_facets={
                **kind_of("SPARK", "APPLICATION"),
                "sourceCode": {"language": "python", "sourceCode": LTV_CODE},
            },
        ),
    ]


def others() -> list[Event]:
    """Return small graphs, each with datasets of its own."""
    certified, canonical = (
        {"tags": {"tags": [{"key": key}]}} for key in ("certified", "canonical")
    )
    fields = {
        "id": {
            "inputFields": [_field("a", "DIRECT", "IDENTITY"), _field("k", "INDIRECT", "FILTER")]
        }
    }
    traced = dataset("traced", {**schema(id="int"), "columnLineage": {"fields": fields}})
    lineage = {
        "lineage": {
            "namespace": "db",
            "name": "model",
            "type": "DATASET",
            "inputs": [source("landed")],
        }
    }
    return [
        run_event(
            "o1",
            inputs=[dataset("ticks", schema(x="int"))],
            outputs=[dataset("board", certified)],
            job="show",
            minute=2,
            job_facets=sql("create table board as select x as y from ticks"),
        ),
        run_event(
            "o2",
            inputs=["blind_raw"],
            outputs=["blind_mart"],
            job="blind_load",
            job_facets=canonical,
        ),
        run_event("o3", inputs=["was_read"], outputs=["kept"], job="keep"),
        run_event("o4", inputs=["is_read"], outputs=["kept"], job="keep", minute=5),
        run_event("o5", "FAIL", inputs=["never_read"], outputs=["kept"], job="keep", minute=9),
        run_event(
            "o6",
            inputs=["s"],
            outputs=["written"],
            job="without_columns",
            job_facets=sql("insert into written select a from s"),
        ),
        run_event(
            "o7",
            inputs=["s"],
            outputs=["written"],
            job="with_columns",
            job_facets=sql("insert into written (a) select a from s"),
        ),
        run_event("o8", inputs=["source"], outputs=[traced], job="trace"),
        run_event(
            "o9",
            inputs=[dataset("open", schema(x="int"))],
            outputs=[dataset("vault", namespace="secret")],
            job="into",
            job_facets=sql("create table vault as select x as hush from open"),
        ),
        run_event(
            "o10",
            inputs=[dataset("vault", namespace="secret")],
            outputs=["end"],
            job="out",
            minute=3,
            job_facets=sql("create table end as select hush as z from vault"),
        ),
        run_event("o11", inputs=["end"], job="last", minute=6, job_facets=sql("select z from end")),
        run_event("o12", inputs=["queued"], job="first", job_facets=sql("select x from queued")),
        job_event(
            "second",
            facets={"lineage": {"entries": [{"type": "JOB", "inputs": [source_job("first")]}]}},
        ),
        dataset_event("model", facets={**lineage, "datasetType": {"datasetType": "DBT_MODEL"}}),
    ]


def _field(name: str, type: str, subtype: str) -> Event:
    field = {"namespace": "db", "name": "source", "field": name}
    return {**field, "transformations": [{"type": type, "subtype": subtype}]}


@pytest.fixture(scope="module")
def shop(database: Database, view: GraphView, graph_driver: Driver) -> GraphView:
    with graph_driver.session() as session:
        session.run(erase).consume()
    write_batch(database, [*seed(), *others()])
    cites = {"namespace": "db", "name": "board", "field": "y"}
    write_events(
        database, answer("by_column", cites, minute=15), answer("by_version", "board", minute=16)
    )
    return view


def assessed(view: GraphView, *changes: Event, urn: str = RAW, **more: Any) -> Report:
    return assess(view, parse_changes(list(changes), urn), **more)


def named(report: Report) -> dict[str, Affected]:
    return {one.name: one for one in report.affected}


def severities(report: Report) -> dict[str, str]:
    return {one.name: one.severity for one in report.affected}


def test_the_report_of_seed_001(shop: GraphView) -> None:
    report = assessed(shop, RENAME, DROP)
    assert [
        (one.name, one.asset_type, ", ".join(one.references), one.severity)
        for one in report.affected
    ] == [
        ("stg_orders", "dbt_model", "order_total, legacy_discount_code", "breaking"),
        ("fct_orders", "dbt_model", "order_total", "breaking"),
        ("daily_revenue_report", "dag", "order_total", "breaking"),
        ("customer_ltv_model", "spark_job", "order_total", "warning"),
    ]
    assert (report.risk_level, report.affected_count, report.truncated) == ("high", 4, "")
    assert [one.distance for one in report.affected] == [1, 2, 3, 3]
    assert report.owners == ["team:finance"]
    assert not report.hidden_affected


def test_an_assessment_has_the_time_in_which_neo4j_plans(
    shop: GraphView, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = parse_changes([RENAME], RAW)
    assert assess(shop, changes, timeout_seconds=0).truncated == "time"
    monkeypatch.setattr(shop.database, "planning_seconds", 300.0)
    assert assess(shop, changes, timeout_seconds=0).truncated == ""


def test_every_asset_carries_its_evidence(shop: GraphView) -> None:
    affected = named(assessed(shop, RENAME))
    path, line = affected["stg_orders"].evidence
    assert (path.kind, path.path) == (
        "COLUMN_PATH",
        (
            column_urn("db", "raw_orders", "order_total"),
            column_urn("db", "stg_orders", "order_total"),
        ),
    )
    assert (line.kind, line.line, line.text) == ("SQL_LINE", 1, STG_SQL.splitlines()[0])
    (line,) = affected["fct_orders"].evidence
    assert (line.line, line.text) == (2, "sum(order_total) as order_total")
    # This is the path there, though its last column is known from SQL only.
    assert line.path == path.path
    (option,) = affected["customer_ltv_model"].evidence
    assert (option.kind, option.line, option.text) == ("SQL_LINE", 2, LTV_CODE.splitlines()[1])
    (doubt,) = assessed(shop, RENAME, urn=ds("blind_raw")).affected[0].evidence
    assert (doubt.kind, doubt.path) == ("READS_ONLY", (ds("blind_raw"), job("blind_load")))
    assert doubt.unknown == ("its code is not known",)
    assert affected["stg_orders"].outputs == (ds("stg_orders"),)


def test_a_column_that_is_not_handed_on_stops_where_it_is_used(shop: GraphView) -> None:
    assert severities(assessed(shop, DROP)) == {"stg_orders": "breaking"}


def test_an_unused_column_affects_nothing(shop: GraphView) -> None:
    report = assessed(shop, {"type": "column_rename", "from": "note", "to": "remark"})
    assert (report.risk_level, report.affected) == ("low", [])
    assert report_json(report)["affected_assets"] == []


def test_capitals_do_not_matter(shop: GraphView) -> None:
    report = assessed(shop, {"type": "column_drop", "column": "Legacy_Discount_Code"})
    assert severities(report) == {"stg_orders": "breaking"}


def test_types(shop: GraphView) -> None:
    wider = assessed(
        shop, {"type": "column_type_change", "column": "order_total", "to": "decimal(12,2)"}
    )
    assert set(severities(wider).values()) == {"warning"}
    assert wider.risk_level == "medium"
    narrower = assessed(shop, {"type": "column_type_change", "column": "order_total", "to": "int"})
    # The edge is not reported as an identity, so it is a warning beyond; the SQL passes the column
    # on.
    assert severities(narrower) == {
        "stg_orders": "breaking",
        "fct_orders": "breaking",
        "daily_revenue_report": "breaking",
        "customer_ltv_model": "warning",
    }


def test_another_meaning_is_a_warning(shop: GraphView) -> None:
    report = assessed(shop, {"type": "semantics_change", "column": "order_total"})
    assert set(severities(report).values()) == {"warning"}
    assert len(report.affected) == 4
    assert set(severities(assessed(shop, {"type": "semantics_change"}))) == set(severities(report))


def test_a_dropped_or_renamed_table(shop: GraphView) -> None:
    for change in ({"type": "table_drop"}, {"type": "table_rename", "to": "orders"}):
        report = assessed(shop, change, urn=ds("fct_orders"))
        assert severities(report) == {
            "daily_revenue_report": "breaking",
            "customer_ltv_model": "breaking",
        }


def test_a_deleted_job_leaves_stale_data(shop: GraphView) -> None:
    report = assess(shop, parse_changes([{"type": "job_delete"}], job("fct_orders")))
    assert severities(report) == {
        "daily_revenue_report": "warning",
        "customer_ltv_model": "warning",
    }
    assert report.risk_level == "medium"


def test_a_new_column_affects_stars(shop: GraphView) -> None:
    report = assessed(
        shop, {"type": "column_add", "column": "tenant", "nullable": False}, urn=ds("blind_raw")
    )
    assert severities(report) == {"blind_load": "warning"}
    for name in ("blind_raw", "fct_orders"):
        added = assessed(shop, {"type": "column_add", "column": "tenant"}, urn=ds(name))
        assert added.affected == []


def test_inconsistent_changes_are_noted(shop: GraphView) -> None:
    assert assessed(shop, {"type": "column_drop", "column": "nope"}).notes == [
        "the graph knows no column 'nope' of raw_orders"
    ]
    assert assessed(shop, {"type": "column_add", "column": "note"}).notes == [
        "raw_orders already has a column 'note'"
    ]
    assert assessed(shop, RENAME).notes == []


def test_files_speak_for_the_jobs_they_are_the_code_of(shop: GraphView) -> None:
    files = {
        "models/fct_orders.sql": "select order_id from {{ ref('stg_orders') }}",
        "jobs/new.py": "spark.table('stg_orders').select('order_total')",
    }
    affected = named(assessed(shop, RENAME, files=files))
    # The new code of fct_orders no longer names the column; the script is not the code of any job
    # yet.
    assert {name: one.severity for name, one in affected.items()} == {
        "stg_orders": "breaking",
        "jobs/new.py": "breaking",
    }
    script = affected["jobs/new.py"]
    assert (script.urn, script.kind, script.references) == (None, "FILE", ("order_total",))
    assert (script.evidence[0].file, script.evidence[0].line) == ("jobs/new.py", 1)


def test_a_new_model_between_files(shop: GraphView) -> None:
    files = {
        "models/mart.sql": "select order_total as revenue from {{ ref('fct_orders') }}",
        "models/board.sql": "select revenue from {{ ref('mart') }}",
    }
    affected = named(assessed(shop, RENAME, files=files))
    assert (
        affected["models/mart.sql"].severity == affected["models/board.sql"].severity == "breaking"
    )
    assert affected["models/board.sql"].references == ("revenue",)


def test_an_unknown_dataset_and_no_changes(shop: GraphView) -> None:
    with pytest.raises(NotFoundError):
        assessed(shop, RENAME, urn=ds("nowhere"))
    with pytest.raises(QueryError, match="not between 1 and 200"):
        assess(shop, [])


def test_hidden_nodes_are_traversed_and_never_named(shop: GraphView) -> None:
    """Check two callers: one sees only the jobs of `etl`, one only the datasets of `db`."""
    with pytest.raises(NotFoundError):
        assessed(shop.visible_to(Visibility(("etl",))), RENAME)
    report = assessed(shop.visible_to(Visibility(("db",))), RENAME)
    assert (report.affected, report.hidden_affected, report.risk_level) == ([], True, "medium")
    assert "fct" not in str(report_json(report))
    unaffected = assessed(
        shop.visible_to(Visibility(("db",))), {"type": "column_drop", "column": "note"}
    )
    assert not unaffected.hidden_affected


def test_answers_and_certified_outputs(shop: GraphView) -> None:
    affected = named(assessed(shop, {"type": "column_drop", "column": "x"}, urn=ds("ticks")))
    assert {name: one.severity for name, one in affected.items()} == {
        "show": "breaking",
        "by_column": "breaking",
        "by_version": "warning",
    }
    assert affected["show"].certified
    assert (affected["by_column"].kind, affected["by_column"].references) == ("ANSWER", ("y",))


def test_a_certified_asset_is_a_high_risk_though_nothing_breaks(shop: GraphView) -> None:
    report = assessed(shop, RENAME, urn=ds("blind_raw"))
    assert (severities(report), report.certified_count, report.risk_level) == (
        {"blind_load": "unknown"},
        1,
        "high",
    )


def test_only_current_readers_count(shop: GraphView) -> None:
    for name, expected in (("was_read", {}), ("is_read", {"keep": "breaking"}), ("never_read", {})):
        assert severities(assessed(shop, {"type": "table_drop"}, urn=ds(name))) == expected, name


def test_earlier_readers_count_on_request(shop: GraphView) -> None:
    report = assessed(shop, {"type": "table_drop"}, urn=ds("was_read"), include_stale=True)
    assert severities(report) == {"keep": "breaking"}


def test_writers_of_the_changed_dataset(shop: GraphView) -> None:
    added = assessed(
        shop, {"type": "column_add", "column": "b", "nullable": False}, urn=ds("written")
    )
    assert severities(added) == {"without_columns": "breaking", "with_columns": "warning"}
    assert {one.distance for one in added.affected} == {0}
    renamed = assessed(shop, {"type": "column_rename", "from": "a", "to": "b"}, urn=ds("written"))
    assert severities(renamed) == {"with_columns": "breaking"}


def test_complete_column_lineage_rules_a_reference_out(shop: GraphView) -> None:
    for column, expected in (("a", {"trace": "breaking"}), ("k", {"trace": "breaking"}), ("b", {})):
        change = {"type": "column_drop", "column": column}
        assert severities(assessed(shop, change, urn=ds("source"))) == expected, column


def test_datasets_between_which_no_job_is_known(shop: GraphView) -> None:
    (one,) = assessed(shop, RENAME, urn=ds("landed")).affected
    assert (one.kind, one.name, one.asset_type, one.severity) == (
        "DATASET",
        "model",
        "dbt_model",
        "unknown",
    )


def test_hidden_nodes_between_visible_ones_do_not_leak(shop: GraphView) -> None:
    """Check open -> into -> secret vault -> out -> end -> last."""
    report = assessed(
        shop.visible_to(Visibility(("db", "etl"))),
        {"type": "column_drop", "column": "x"},
        urn=ds("open"),
    )
    assert severities(report) == {"into": "breaking", "out": "breaking", "last": "breaking"}
    assert report.hidden_affected is False
    affected = named(report)
    assert (affected["into"].outputs, affected["out"].references) == ((), ())
    for one in report.affected:
        for evidence in one.evidence:
            assert not any("secret" in urn for urn in evidence.path)
    assert "secret" not in str(report_json(report))


def test_a_job_that_is_fed_by_a_job(shop: GraphView) -> None:
    report = assessed(shop, {"type": "column_drop", "column": "x"}, urn=ds("queued"))
    assert severities(report) == {"first": "breaking", "second": "unknown"}
    deleted = assess(shop, parse_changes([{"type": "job_delete"}], job("first")))
    assert severities(deleted) == {"second": "warning"}
