"""dbt's artifacts as events: declarations, runs, tests, exposures, owners, freshness."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from headwater.importers.dbt.artifacts import read_artifacts
from headwater.importers.dbt.importer import DbtOptions, read_dbt
from headwater.importers.report import ImportReport
from headwater.schema.events import parse
from tests.importers.dbt.artifact_builders import (
    FINISHED,
    GENERATED,
    INVOCATION,
    generic_test,
    node,
    result,
    source,
    write_artifacts,
)

DB = "postgres://w:5432"
STG, MART, SEED = "model.shop.stg", "model.shop.mart", "seed.shop.rates"
STG_NODE = node(STG, "source.shop.raw.orders", sql="select id, amount from shop.raw.orders")
MART_NODE = node(
    MART, STG, SEED, sql="select s.id, s.amount * r.rate as total from main.stg s, main.rates r"
)

Event = dict[str, Any]


def read(folder: Path, report: ImportReport | None = None) -> list[Event]:
    report = report or ImportReport()
    events = list(read_dbt(read_artifacts(folder, report), DbtOptions(DB), report))
    for event in events:
        parse(json.dumps(event).encode(), received=0)
    return events


def declared(events: list[Event], job: str) -> Event:
    (event,) = (one for one in events if "run" not in one and one.get("job", {}).get("name") == job)
    return event


def runs(events: list[Event], job: str) -> list[Event]:
    return [one for one in events if "run" in one and one["job"]["name"] == job]


def names(datasets: list[Event]) -> list[str]:
    return [one["name"] for one in datasets]


def lineage(event: Event) -> dict[str, list[str]]:
    """Return the origins of each column of the only output."""
    (output,) = event["outputs"]
    return {
        column: [f"{one['name']}.{one['field']}" for one in entry["inputFields"]]
        for column, entry in output["facets"]["columnLineage"]["fields"].items()
    }


def test_a_parsed_project_declares_its_models(tmp_path: Path) -> None:
    events = read(write_artifacts(tmp_path, STG_NODE, MART_NODE, node(SEED), source("orders")))
    assert not [event for event in events if "run" in event]
    mart = declared(events, "shop.main.shop.mart")
    assert mart["eventTime"] == GENERATED
    assert names(mart["inputs"]) == ["shop.main.rates", "shop.main.stg"]
    assert names(mart["outputs"]) == ["shop.main.mart"]
    assert {one["namespace"] for one in mart["inputs"]} == {DB}
    assert lineage(declared(events, "shop.main.shop.stg")) == {
        "id": ["shop.raw.orders.id"],
        "amount": ["shop.raw.orders.amount"],
    }
    assert lineage(mart) == {
        "id": ["shop.main.stg.id"],
        "total": ["shop.main.rates.rate", "shop.main.stg.amount"],
    }
    assert names(declared(events, "shop.main.shop.rates.seed")["outputs"]) == ["shop.main.rates"]


def test_results_are_runs_in_the_run_of_their_invocation(tmp_path: Path) -> None:
    folder = write_artifacts(
        tmp_path,
        STG_NODE,
        MART_NODE,
        results=[
            result(STG, second=1, adapter_response={"rows_affected": 7, "query_id": "q-1"}),
            result(MART, "error", second=3, message="division by zero"),
        ],
    )
    events = read(folder)
    start, end = runs(events, "dbt-run-shop")
    assert (start["eventType"], end["eventType"]) == ("START", "FAIL")
    assert {one["run"]["runId"] for one in (start, end)} == {INVOCATION}
    assert (start["eventTime"], end["eventTime"]) == ("2026-11-01T03:00:00Z", FINISHED)
    assert "1 of 2 failed: model.shop.mart" in end["run"]["facets"]["errorMessage"]["message"]
    begun, built = runs(events, "shop.main.shop.stg")
    assert (begun["eventTime"], built["eventTime"]) == (
        "2026-11-01T03:00:01Z",
        "2026-11-01T03:00:02Z",
    )
    assert built["run"]["facets"]["parent"]["run"]["runId"] == INVOCATION
    assert built["run"]["facets"]["externalQuery"]["externalQueryId"] == "q-1"
    assert built["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 7
    begun, failed = runs(events, "shop.main.shop.mart")
    assert failed["eventType"] == "FAIL"
    assert failed["run"]["facets"]["errorMessage"]["message"] == "division by zero"
    assert (names(begun["outputs"]), failed["outputs"]) == (["shop.main.mart"], [])


def test_importing_twice_sends_the_same_events(tmp_path: Path) -> None:
    folder = write_artifacts(tmp_path, STG_NODE, MART_NODE, results=[result(STG), result(MART)])
    assert read(folder) == read(folder)


def test_a_skipped_model_is_aborted_with_the_reason(tmp_path: Path) -> None:
    check = generic_test("not_null", STG, "id")
    folder = write_artifacts(
        tmp_path,
        STG_NODE,
        MART_NODE,
        check,
        results=[
            result(STG),
            result(check["unique_id"], "fail", failures=2, message="Got 2 results"),
            result(MART, "skipped"),
        ],
    )
    start, end = runs(read(folder), "shop.main.shop.mart")
    assert (start["eventTime"], end["eventTime"]) == (FINISHED, FINISHED)
    assert (end["eventType"], end["outputs"]) == ("ABORT", [])
    message = end["run"]["facets"]["errorMessage"]["message"]
    assert message == f"skipped because of {check['unique_id']}"


def test_what_dbt_lists_and_does_not_run_is_no_problem(tmp_path: Path) -> None:
    report = ImportReport()
    write_artifacts(tmp_path, STG_NODE, results=[result(STG, "no-op")])
    assert runs(read(tmp_path, report), "shop.main.shop.stg") == []
    assert report.problems == []


def test_a_result_of_an_unknown_status_is_listed(tmp_path: Path) -> None:
    report = ImportReport()
    write_artifacts(tmp_path, STG_NODE, results=[result(STG, "reused")])
    assert runs(read(tmp_path, report), "shop.main.shop.stg") == []
    assert [(one.place, one.reason) for one in report.problems] == [
        (f"run_results.json: {STG}", "its status 'reused' is not known")
    ]


def test_generic_tests_are_assertions_on_their_table(tmp_path: Path) -> None:
    good = generic_test("unique", STG, "id")
    bad = generic_test("not_null", STG, "amount", config={"severity": "ERROR"})
    warned = generic_test("accepted_values", STG, "amount", config={"severity": "warn"})
    folder = write_artifacts(
        tmp_path,
        STG_NODE,
        good,
        bad,
        warned,
        results=[
            result(good["unique_id"], "pass", failures=0),
            result(bad["unique_id"], "fail", 4, failures=2, message="Got 2 results"),
            result(warned["unique_id"], "warn", failures=1),
        ],
        command="test",
    )
    _, end = runs(read(folder), "shop.main.shop.stg.test")
    assert end["eventType"] == "FAIL"
    assert end["eventTime"] == "2026-11-01T03:00:05Z"
    (tested,) = end["inputs"]
    assert tested["name"] == "shop.main.stg"
    assertions = tested["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert [(one["assertion"], one["column"], one["success"]) for one in assertions] == [
        ("unique", "id", True),
        ("not_null", "amount", False),
        ("accepted_values", "amount", False),
    ]
    assert end["run"]["facets"]["errorMessage"]["message"] == ("not_null_stg_amount: Got 2 results")


def test_a_singular_test_is_a_run_of_its_own(tmp_path: Path) -> None:
    singular = node("test.shop.totals_agree", STG, MART, sql="select 1")
    folder = write_artifacts(
        tmp_path, STG_NODE, MART_NODE, singular, results=[result("test.shop.totals_agree", "pass")]
    )
    _, end = runs(read(folder), "test.shop.totals_agree")
    assert (end["eventType"], names(end["inputs"])) == (
        "COMPLETE",
        ["shop.main.stg", "shop.main.mart"],
    )


def test_an_ephemeral_model_is_no_table(tmp_path: Path) -> None:
    middle = node("model.shop.middle", STG, config={"materialized": "ephemeral"})
    mart = node(
        MART,
        "model.shop.middle",
        sql="with __dbt__cte__middle as (select id from main.stg) select id from __dbt__cte__middle",
    )
    events = read(write_artifacts(tmp_path, STG_NODE, middle, mart))
    event = declared(events, "shop.main.shop.mart")
    assert (names(event["inputs"]), lineage(event)) == (
        ["shop.main.stg"],
        {"id": ["shop.main.stg.id"]},
    )


def test_a_table_that_the_sql_names_without_ref_is_read(tmp_path: Path) -> None:
    mart = node(
        MART, STG, sql="select s.id, f.rate from main.stg s join finance.rates f using (id)"
    )
    events = read(write_artifacts(tmp_path, STG_NODE, mart))
    assert names(declared(events, "shop.main.shop.mart")["inputs"]) == [
        "shop.finance.rates",
        "shop.main.stg",
    ]


def test_a_star_is_resolved_by_the_catalog_or_by_the_model_before(tmp_path: Path) -> None:
    mart = node(MART, STG, sql="select * from shop.main.stg")
    events = read(write_artifacts(tmp_path / "without", STG_NODE, mart))
    expected = {"id": ["shop.main.stg.id"], "amount": ["shop.main.stg.amount"]}
    assert lineage(declared(events, "shop.main.shop.mart")) == expected
    catalog = {STG: {"ID": "integer"}, MART: {"ID": "integer"}}
    events = read(write_artifacts(tmp_path / "with", STG_NODE, mart, catalog=catalog))
    event = declared(events, "shop.main.shop.mart")
    assert lineage(event) == {"ID": ["shop.main.stg.ID"]}
    assert event["outputs"][0]["facets"]["schema"]["fields"] == [{"name": "ID", "type": "integer"}]


def test_an_incremental_model_and_a_full_refresh(tmp_path: Path) -> None:
    model = node(STG, config={"materialized": "incremental", "unique_key": "id"})
    events = read(write_artifacts(tmp_path, model, results=[result(STG)]))
    config = runs(events, "shop.main.shop.stg")[1]["outputs"][0]["facets"]["dbt_model"]["config"]
    assert config == {"materialized": "incremental", "unique_key": "id"}
    content = json.loads((tmp_path / "run_results.json").read_text())
    content["args"]["full_refresh"] = True
    (tmp_path / "run_results.json").write_text(json.dumps(content))
    event = runs(read(tmp_path), "shop.main.shop.stg")[1]
    assert event["outputs"][0]["facets"]["dbt_model"]["config"]["full_refresh"] is True


def test_owners_tags_and_descriptions(tmp_path: Path) -> None:
    columns = {
        "id": {
            "name": "id",
            "description": "The key.",
            "data_type": "int",
            "tags": ["pii"],
            "meta": {"sensitivity": "high"},
        }
    }
    own = node(
        STG,
        description="Orders.",
        columns=columns,
        tags=["daily", "finance"],
        meta={"owner": ["team:sales", "ana"], "sla": 4, "notes": {"a": 1}},
    )
    grouped = node(MART, group="finance")
    groups = {"group.shop.finance": {"name": "finance", "owner": {"email": "fin@example.com"}}}
    events = read(write_artifacts(tmp_path, own, grouped, groups=groups))
    event = declared(events, "shop.main.shop.stg")
    facets = event["outputs"][0]["facets"]
    assert facets["documentation"]["description"] == "Orders."
    assert facets["ownership"]["owners"] == [{"name": "team:sales"}, {"name": "ana"}]
    assert event["job"]["facets"]["ownership"] == facets["ownership"]
    assert facets["schema"]["fields"] == [{"name": "id", "type": "int", "description": "The key."}]
    assert [(one["key"], one["value"], one.get("field")) for one in facets["tags"]["tags"]] == [
        ("daily", "true", None),
        ("finance", "true", None),
        ("sla", "4", None),
        ("pii", "true", "id"),
        ("sensitivity", "high", "id"),
    ]
    grouped_facets = declared(events, "shop.main.shop.mart")["outputs"][0]["facets"]
    assert grouped_facets["ownership"]["owners"] == [{"name": "fin@example.com"}]


def test_an_exposure_is_an_answer_that_cites_its_tables(tmp_path: Path) -> None:
    exposure = {
        "unique_id": "exposure.shop.weekly",
        "name": "weekly",
        "resource_type": "exposure",
        "type": "dashboard",
        "url": "https://bi.example.com/weekly",
        "description": "The weekly numbers.",
        "owner": {"name": "team:insight", "email": "insight@example.com"},
        "depends_on": {"nodes": [MART, "metric.shop.spend"]},
    }
    metric = node("metric.shop.spend", STG)
    folder = write_artifacts(
        tmp_path,
        STG_NODE,
        MART_NODE,
        exposure,
        metrics={metric["unique_id"]: metric},
        results=[result(MART)],
    )
    (event,) = (one for one in read(folder) if "headwater_answer" in str(one))
    answer = event["dataset"]["facets"]["headwater_answer"]
    assert {key: answer[key] for key in ("answerId", "type", "content", "url", "owners")} == {
        "answerId": "exposure.shop.weekly",
        "type": "dashboard",
        "content": "The weekly numbers.",
        "url": "https://bi.example.com/weekly",
        "owners": ["team:insight"],
    }
    assert answer["generatedAt"] == FINISHED
    assert [one["name"] for one in answer["cites"]] == ["shop.main.mart", "shop.main.stg"]


def test_a_source_with_another_identifier_has_both_names(tmp_path: Path) -> None:
    table = source("orders", identifier="orders_v2", description="Raw.", meta={"owner": "till"})
    events = read(write_artifacts(tmp_path, STG_NODE, table))
    (event,) = (one for one in events if "dataset" in one)
    facets = event["dataset"]["facets"]
    assert event["dataset"]["name"] == "shop.raw.orders_v2"
    assert [one["name"] for one in facets["symlinks"]["identifiers"]] == ["shop.raw.orders"]
    assert facets["ownership"]["owners"] == [{"name": "till"}]


def test_the_freshness_of_sources(tmp_path: Path) -> None:
    folder = write_artifacts(tmp_path, source("orders"))
    checked = {
        "unique_id": "source.shop.raw.orders",
        "max_loaded_at": "2026-10-31T22:00:00Z",
        "snapshotted_at": "2026-11-01T04:00:00Z",
        "status": "pass",
    }
    failed = {"unique_id": "source.shop.raw.orders", "error": "no table", "status": "runtime error"}
    (folder / "sources.json").write_text(json.dumps({"results": [checked, failed]}))
    event = read(folder)[-1]
    assert event["eventTime"] == "2026-11-01T04:00:00Z"
    metrics = event["dataset"]["facets"]["dataQualityMetrics"]
    assert metrics["lastUpdated"] == "2026-10-31T22:00:00Z"


def test_a_command_that_builds_nothing_has_no_runs(tmp_path: Path) -> None:
    report = ImportReport()
    folder = write_artifacts(tmp_path, STG_NODE, results=[result(STG)], command="generate")
    assert not [event for event in read(folder, report) if "run" in event]
    assert report.problems == []
    (note,) = report.notes
    assert "`dbt generate`" in note


def test_a_result_without_a_node_is_listed(tmp_path: Path) -> None:
    report = ImportReport()
    folder = write_artifacts(tmp_path, STG_NODE, results=[result(STG), result("model.shop.gone")])
    assert runs(read(folder, report), "shop.main.shop.stg")
    assert [one.place for one in report.problems] == ["run_results.json: model.shop.gone"]


def test_a_unit_test_is_no_run(tmp_path: Path) -> None:
    """It tests the logic of a model with rows of its own, not the data."""
    report = ImportReport()
    unit = node("unit_test.shop.stg.adds_up", STG)
    results = [result(STG), result(unit["unique_id"], "pass")]
    folder = write_artifacts(
        tmp_path, STG_NODE, results=results, unit_tests={unit["unique_id"]: unit}
    )
    events = read(folder, report)
    assert report.problems == []
    assert {one["job"]["name"] for one in events if "run" in one} == {
        "dbt-run-shop",
        "shop.main.shop.stg",
    }


def test_declared_lineage_of_a_model_and_beyond_it(tmp_path: Path) -> None:
    """The schema file of the tutorial on lineage for machine learning, as it is printed there."""
    columns = {"amount_log": {"name": "amount_log"}}
    declared_in = {"upstream": ["raw_transactions.amount"], "downstream": ["fraud_model.features"]}
    features = node(
        "model.shop.aggregated_features", columns=columns, meta={"lineage": declared_in}
    )
    events = read(write_artifacts(tmp_path, features))
    event = declared(events, "shop.main.shop.aggregated_features")
    assert names(event["inputs"]) == ["raw_transactions"]
    assert lineage(event) == {"amount_log": ["raw_transactions.amount"]}
    beyond = declared(events, "shop.meta.lineage.fraud_model")
    assert (names(beyond["inputs"]), names(beyond["outputs"])) == (
        ["shop.main.aggregated_features"],
        ["fraud_model"],
    )
    assert lineage(beyond) == {"features": ["shop.main.aggregated_features.amount_log"]}


def test_a_declared_chain_ends_at_its_column(tmp_path: Path) -> None:
    chain = "raw_orders.total_amount -> cleaned_orders.amount -> features.clv"
    columns = {
        "customer_lifetime_value": {"name": "customer_lifetime_value", "meta": {"lineage": chain}}
    }
    store = node("model.shop.feature_store", columns=columns)
    cleaned = node("model.shop.cleaned_orders")
    events = read(write_artifacts(tmp_path, store, cleaned))
    assert lineage(declared(events, "shop.main.shop.cleaned_orders")) == {
        "amount": ["raw_orders.total_amount"]
    }
    assert lineage(declared(events, "shop.meta.lineage.features")) == {
        "clv": ["shop.main.cleaned_orders.amount"]
    }
    assert lineage(declared(events, "shop.main.shop.feature_store")) == {
        "customer_lifetime_value": ["features.clv"]
    }


def test_declared_lineage_of_an_unknown_form_is_listed_once(tmp_path: Path) -> None:
    report = ImportReport()
    read(write_artifacts(tmp_path, node(STG, meta={"lineage": {"upstream": [3]}})), report)
    (problem,) = report.problems
    assert (problem.place, problem.reason.startswith("meta.lineage must list")) == (
        "models/stg.sql",
        True,
    )
