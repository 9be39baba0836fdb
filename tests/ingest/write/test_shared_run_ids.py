"""Runs that several jobs claim: each job has the edges that its own events report.

The recording is one of a real dbt 1.11 (openlineage-dbt 1.54). The upstream fixtures of dbt leave
the run ids open; filled in with one id, they make every model a job of one run.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.view import GraphView
from headwater.schema.urns import dataset_urn, job_urn
from tests.canonical import edges
from tests.event_builders import (
    current,
    node,
    parent,
    read_by,
    run_event,
    source,
    source_job,
    write_in_any_order,
)
from tests.ingest.write.test_lineage_edges import produces, reads
from tests.lineage_requests import lineage
from tests.run_builders import ds, job, version

pytestmark = pytest.mark.neo4j

CAPTURE = Path(__file__).parents[2] / "captures" / "dbt_shop.jsonl"
# job -> (what it reads, what it writes), read off the recording and the project by hand. Seeds are
# missing from the inputs, and column lineage names them.
SHOP = {
    "stg_orders": ("main.raw_orders", "main.stg_orders"),
    "stg_payments": ("till.payments", "main.stg_payments"),
    "customer_orders": (
        "main.raw_customers main.stg_orders main.stg_payments",
        "main.customer_orders",
    ),
    "refunds": ("main.stg_payments", "main.refunds"),
    "refund_report": ("main.refunds", "main.refund_report"),
    "customers_kept.snapshot": ("", "main.customers_kept"),
    "customer_orders.test": ("main.customer_orders", ""),
    "refunds.test": ("main.refunds", ""),
    "stg_payments.build.run": ("till.payments", "main.stg_payments"),
    "refunds.build.run": ("main.stg_payments", "main.refunds"),
    "customers_kept.build.snapshot": ("", "main.customers_kept"),
    "stg_orders.build.run": ("main.raw_orders", "main.stg_orders"),
    "customer_orders.build.run": (
        "main.raw_customers main.stg_orders main.stg_payments",
        "main.customer_orders",
    ),
    "customer_orders.build.test": ("main.customer_orders", ""),
    "refunds.build.test": ("main.refunds", ""),
}


def test_models_of_dbt_that_share_one_run_id_keep_their_own_edges(database: Database) -> None:
    events = [json.loads(line) for line in CAPTURE.read_text().splitlines()]
    for event in events:
        event["run"]["runId"] = "00000000-0000-7000-8000-000000000001"
    write_in_any_order(database, *events)
    found: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for near, _, far in edges(database, "FEEDS") & current(database):
        if far.startswith("job:"):
            found[far][0].add(near)
    for near, _, far in edges(database, "PRODUCED") & current(database):
        if near.startswith("job:"):
            found[near][1].add(far)
    assert found == {
        job_urn("shop", f"shop.main.shop.{name}"): (_tables(read), _tables(written))
        for name, (read, written) in SHOP.items()
    }


def _tables(names: str) -> set[str]:
    return {dataset_urn("duckdb://shop.duckdb", f"shop.{name}") for name in names.split()}


def test_jobs_of_one_run_read_and_write_their_own_datasets(
    database: Database, view: GraphView
) -> None:
    write_in_any_order(
        database,
        run_event("r", "START", 0, job="stage", inputs=["raw"], outputs=["stage"]),
        run_event("r", "COMPLETE", 1, job="stage", inputs=["raw"], outputs=["stage"]),
        run_event("r", "START", 2, job="publish", inputs=["stage"], outputs=["mart"]),
        run_event("r", "COMPLETE", 3, job="publish", inputs=["stage"], outputs=["mart"]),
    )
    assert current(database) == {
        reads("raw", "stage"),
        produces("stage", "stage"),
        reads("stage", "publish"),
        produces("mart", "publish"),
    }
    downstream = lineage(view, ds("mart"), direction="DOWNSTREAM")
    assert [one.urn for one in downstream.nodes] == [ds("mart")]
    # The run history is that of the run.
    assert edges(database, "PRODUCED") >= {
        ("run:r", "PRODUCED", version("stage", "r")),
        ("run:r", "PRODUCED", version("mart", "r")),
    }
    assert len(read_by(database, "run:r")) == 2


def test_a_job_that_only_a_parent_facet_names_reads_nothing(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("r", "COMPLETE", 1, job="orders", inputs=["raw"], outputs=["orders"]),
        run_event("s", "COMPLETE", 1, job="orders.sql.1", facets=parent("r", "zz.orders")),
    )
    assert current(database) == {reads("raw", "orders"), produces("orders", "orders")}
    assert node(database, "run:r")["pipelineName"] == "orders"


def test_the_spelling_of_a_parent_does_not_hide_a_newer_run(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("r1", "COMPLETE", 1, job="orders", inputs=["old"]),
        run_event("r2", "COMPLETE", 2, job="orders", inputs=["new"]),
        run_event("s", "COMPLETE", 2, job="orders.sql.1", facets=parent("r2", "zz.orders")),
    )
    assert current(database) == {reads("new", "orders")}


def test_a_parent_that_arrives_first_is_named_by_its_own_events_later(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("s", "COMPLETE", 1, job="child", facets=parent("r", "spelled")),
        run_event("r", "COMPLETE", 2, job="own", inputs=["a"]),
    )
    assert node(database, "run:r")["pipelineName"] == "own"
    assert current(database) == {reads("a", "own")}
    assert edges(database, "RUN_OF") >= {
        ("run:r", "RUN_OF", job("own")),
        ("run:r", "RUN_OF", job("spelled")),
    }


def test_a_run_that_a_lineage_facet_names_writes_for_the_job_beside_it(database: Database) -> None:
    made = [{**source_job("loader"), "runId": "l"}, source("raw")]
    write_in_any_order(
        database,
        run_event(
            "r",
            "COMPLETE",
            1,
            job="j",
            outputs=[
                {"namespace": "db", "name": "t", "facets": {"lineage": {"inputs": made}}},
            ],
        ),
        run_event("l", "COMPLETE", 0, job="load_all", inputs=["file"], outputs=["landing"]),
    )
    assert edges(database, "FEEDS") & current(database) == {
        reads("raw"),
        reads("file", "load_all"),
    }
    assert edges(database, "PRODUCED") & current(database) == {
        produces("t"),
        produces("t", "loader"),
        produces("landing", "load_all"),
    }
