"""Packs of a graph worked out by hand: raw -> load -> mart -> report -> board, with failures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError
from headwater.evidence.digest import add_digest
from headwater.evidence.pack import RECENT, build_pack
from headwater.evidence.page import page_differences, render_page
from headwater.lineage.view import GraphView
from headwater.schema.contracts import facet_name
from headwater.schema.urns import answer_urn, column_urn
from headwater.schema.visibility import Visibility
from tests import event_builders as scenes
from tests.canonical import empty
from tests.run_builders import (
    answer,
    at,
    column_lineage,
    ds,
    job,
    run,
    run_of,
    version,
    write_events,
)

pytestmark = pytest.mark.neo4j
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CONTRACT = {
    "contractId": "board",
    "version": "1",
    "status": "active",
    "rules": [
        {"name": "fresh_enough"},
        {"metric": "rowCount", "operator": "mustBeGreaterThan", "values": [5]},
    ],
    "serviceLevels": [{"property": "freshness", "value": 1, "unit": "h"}],
}


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    empty(database)
    loads = [
        run(f"load-{n}", "load", ["raw"], ["mart"], minute=n, version=f"v{n // 6}")
        for n in range(RECENT + 2)
    ]
    board = run("report-1", "report", ["mart"], ["board"], minute=30, rows=7)
    board[-1]["outputs"][0]["facets"] = {"columnLineage": column_lineage(["mart"])}
    null = {
        "assertion": "not_null",
        "column": "id",
        "success": False,
        "expected": "0",
        "actual": "3",
    }
    usage = {
        "dataQualityAssertions": {
            "assertions": [null, {"assertion": "unique", "column": "id", "success": True}]
        },
        "dataQualityMetrics": {"rowCount": 40, "columnMetrics": {}},
    }
    checked = scenes.dataset("mart", usage=usage, side="input")
    owners = {
        "ownership": {"owners": [{"name": "team:bi", "type": "OWNER"}]},
        "tags": {"tags": [{"key": "pii"}]},
    }
    write_events(
        database,
        *loads,
        board,
        run(
            "report-2",
            "report",
            ["mart"],
            ["board"],
            minute=40,
            status="FAIL",
            error="<script>disk</script>",
        ),
        [
            scenes.dataset_event("board", 50, owners),
            scenes.run_event("check-1", minute=35, job="check", inputs=[checked]),
        ],
        [scenes.dataset_event("board", 51, {facet_name("board", "1"): CONTRACT})],
        answer("q1", {"namespace": "db", "name": "board", "runId": "report-1"}, minute=45),
    )
    yield view
    empty(database)


def test_lineage_in_both_directions(history: GraphView) -> None:
    pack = build_pack(history, ds("mart"), at=NOON)
    directions = {node["urn"]: node["directions"] for node in pack["lineage"]["nodes"]}
    assert directions == {
        ds("raw"): ["UPSTREAM"],
        job("load"): ["UPSTREAM"],
        ds("mart"): [],
        job("report"): ["DOWNSTREAM"],
        ds("board"): ["DOWNSTREAM"],
        job("check"): ["DOWNSTREAM"],
    }
    assert {
        (edge["source"], edge["target"])
        for edge in pack["lineage"]["edges"]
        if edge["type"] != "DERIVED_FROM"
    } == {
        (ds("raw"), job("load")),
        (job("load"), ds("mart")),
        (ds("mart"), job("report")),
        (job("report"), ds("board")),
        (ds("mart"), job("check")),
    }
    assert pack["lineage"]["truncated"] == {"UPSTREAM": None, "DOWNSTREAM": None}
    assert pack["subject"]["urn"] == ds("mart")
    assert not {"lineageRevision", "changedAt", "urn"} & pack["subject"]["properties"].keys()


def test_newest_runs_and_versions_are_listed_and_the_cut_is_named(history: GraphView) -> None:
    pack = build_pack(history, ds("mart"), at=NOON)
    assert [one["runId"] for one in pack["runs"]["items"]] == [
        "report-2",
        "check-1",
        "report-1",
        *(f"load-{n}" for n in range(RECENT + 1, 1, -1)),
    ]
    assert pack["runs"]["truncatedFor"] == [job("load")]
    assert pack["versions"]["truncatedFor"] == [ds("mart")]
    report = pack["runs"]["items"][2]
    assert (report["job"], report["status"], report["durationMilliseconds"]) == (
        job("report"),
        "COMPLETE",
        60_000,
    )
    assert pack["codeVersions"] == [{"job": job("load"), "versions": ["v0", "v1"]}]


def test_violations_freshness_owners_tags(history: GraphView) -> None:
    pack = build_pack(history, ds("board"), at=NOON)
    assert [(one["kind"], one["urn"]) for one in pack["violations"]] == [
        ("FAILED_CHECK", ds("mart")),
        ("FAILED_RUN", run_of("report-2")),
        ("PARTIAL_VERSION", version("board", "report-2")),
    ]
    assert pack["violations"][1]["detail"] == "<script>disk</script>"
    fresh = {one["dataset"]: (one["updatedAt"], one["ageSeconds"]) for one in pack["freshness"]}
    # The output of the failed run at 00:41 does not refresh the board.
    # The input of load-11, read at 00:11, makes it old.
    assert fresh[ds("board")] == (at(31), 12 * 3600 - 31 * 60)
    (board,) = (one for one in pack["freshness"] if one["dataset"] == ds("board"))
    assert (board["oldestSource"], board["effectiveAt"], board["exact"]) == (
        ds("raw"),
        at(11),
        False,
    )
    assert pack["owners"] == [{"urn": ds("board"), "owners": ["team:bi"]}]
    assert pack["tags"] == [{"urn": ds("board"), "tags": ["pii"]}]


def test_the_clauses_of_contracts_and_since_when(history: GraphView) -> None:
    pack = build_pack(history, ds("mart"), at=NOON)
    common = {"dataset": ds("board"), "contract": "board", "version": "1"}
    # The contract took effect at 00:51; the failed run at 00:41 made no whole version.
    assert pack["contracts"] == [
        {
            **common,
            "state": "UNKNOWN",
            "since": None,
            "clause": "rule",
            "column": None,
            "expected": "fresh_enough",
            "actual": None,
            "observedAt": None,
        },
        {
            **common,
            "state": "KEPT",
            "since": at(51),
            "clause": "rule",
            "column": None,
            "expected": "rowCount mustBeGreaterThan 5",
            "actual": "7",
            "observedAt": at(31),
        },
        {
            **common,
            "state": "BROKEN",
            "since": at(91),
            "clause": "freshness",
            "column": None,
            "expected": "new data within 1:00:00",
            "actual": "11:29:00 old",
            "observedAt": at(31),
        },
    ]
    text = render_page(add_digest(pack))
    assert "Clauses of contracts" in text
    assert page_differences(text) == []
    hidden = history.visible_to(Visibility(("etl",)))
    assert build_pack(hidden, job("report"), at=NOON)["contracts"] == []


def test_failed_checks_are_violations(history: GraphView) -> None:
    pack = build_pack(history, ds("mart"), at=NOON)
    checks = [(one["urn"], one["name"], one["column"], one["success"]) for one in pack["quality"]]
    assert checks == [(ds("mart"), "not_null", "id", False), (ds("mart"), "unique", "id", True)]
    failed = [one for one in pack["violations"] if one["kind"] == "FAILED_CHECK"]
    assert [(one["urn"], one["detail"]) for one in failed] == [
        (ds("mart"), "not_null of id: 3, not 0")
    ]
    assert [(one["urn"], one["rowCount"]) for one in pack["measures"]] == [(ds("mart"), 40)]


def test_the_same_graph_and_instant_give_the_same_pack_and_page(history: GraphView) -> None:
    first, second = (add_digest(build_pack(history, ds("mart"), at=NOON)) for _ in range(2))
    assert json.dumps(first) == json.dumps(second)
    text = render_page(first)
    assert text == render_page(second)
    assert page_differences(text) == []
    later = add_digest(build_pack(history, ds("mart"), at=NOON.replace(hour=13)))
    assert later["digest"]["hash"] != first["digest"]["hash"]


def test_bound_that_cut_the_lineage_is_named_in_pack_and_page(history: GraphView) -> None:
    pack = build_pack(history, ds("raw"), at=NOON, depth=1)
    assert pack["lineage"]["truncated"] == {"UPSTREAM": None, "DOWNSTREAM": "depth"}
    assert "There is more lineage than is shown; downstream: cut short by depth." in render_page(
        add_digest(pack)
    )


def run_ids(pack: dict[str, Any]) -> set[str]:
    return {one["runId"] for one in pack["runs"]["items"]}


def test_an_answer_a_run_a_version_and_a_column_have_packs(history: GraphView) -> None:
    # The answer cites the output of report-1. The failed run is not upstream of it, but it is
    # one of the newest runs of the same job.
    pack = build_pack(history, answer_urn("q1"), at=NOON)
    assert {run_of("report-1"), version("board", "report-1")} <= {
        node["urn"] for node in pack["lineage"]["nodes"]
    }
    assert run_ids(pack) >= {"report-1", "report-2"}
    assert pack["owners"] == [{"urn": ds("board"), "owners": ["team:bi"]}]
    for urn in (run_of("report-1"), version("board", "report-1"), column_urn("db", "board", "id")):
        pack = build_pack(history, urn, at=NOON)
        assert pack["subject"]["urn"] == urn
        assert "report-1" in run_ids(pack), urn
        assert page_differences(render_page(add_digest(pack))) == []


def test_hidden_nodes_are_in_no_pack(history: GraphView) -> None:
    restricted = history.visible_to(Visibility(("db",)))
    for urn in (ds("mart"), version("board", "report-1"), column_urn("db", "board", "id")):
        pack = build_pack(restricted, urn, at=NOON)
        assert (pack["runs"]["items"], pack["codeVersions"]) == ([], [])
        assert "job:etl" not in json.dumps({key: pack[key] for key in pack if key != "subject"})
        assert page_differences(render_page(add_digest(pack))) == []
    with pytest.raises(NotFoundError):
        build_pack(history.visible_to(Visibility(("elsewhere",))), ds("mart"), at=NOON)


def test_missing_node_has_no_pack(history: GraphView) -> None:
    with pytest.raises(NotFoundError):
        build_pack(history, ds("nowhere"), at=NOON)
