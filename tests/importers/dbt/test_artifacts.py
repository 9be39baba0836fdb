"""Reading dbt's artifacts: what is no artifact, and nodes of an unexpected form."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from headwater.errors import QueryError
from headwater.importers.dbt.artifacts import read_artifacts
from headwater.importers.report import ImportReport
from tests.importers.dbt.artifact_builders import GENERATED, node, result, source, write_artifacts


def test_a_node_of_an_unexpected_form_stops_no_other(tmp_path: Path) -> None:
    report = ImportReport()
    write_artifacts(tmp_path, node("model.shop.a"), node("model.shop.b", columns=[3]))
    artifacts = read_artifacts(tmp_path, report)
    assert list(artifacts.nodes) == ["model.shop.a"]
    (problem,) = report.problems
    assert problem.place == "manifest.json: nodes.model.shop.b"


def test_a_result_of_an_unexpected_form_is_listed(tmp_path: Path) -> None:
    report = ImportReport()
    write_artifacts(tmp_path, results=[result("model.shop.a"), {"status": 3}])
    invocation = read_artifacts(tmp_path, report).invocation
    assert invocation is not None
    assert (len(invocation.results), invocation.has_runs) == (1, True)
    assert [one.place for one in report.problems] == ["run_results.json: results[1]"]


def test_compiled_sql_of_older_versions(tmp_path: Path) -> None:
    write_artifacts(tmp_path, node("model.shop.a", compiled_sql="select 1"), source("orders"))
    nodes = read_artifacts(tmp_path, ImportReport()).nodes
    assert nodes["model.shop.a"].sql == "select 1"
    assert nodes["source.shop.raw.orders"].sql == ""


def test_python_models_have_no_sql(tmp_path: Path) -> None:
    write_artifacts(tmp_path, node("model.shop.a", sql="def model(dbt): ...", language="python"))
    assert read_artifacts(tmp_path, ImportReport()).nodes["model.shop.a"].sql == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"has no manifest\.json"),
        ("{", "is not JSON"),
        ("[]", "is no artifact of dbt"),
        ('{"nodes": {}}', "is no manifest of dbt"),
    ],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(QueryError, match=message):
        read_artifacts(tmp_path, ImportReport())


@pytest.mark.parametrize(
    ("metadata", "problems"),
    [
        ({}, [("run_results.json", "it has no metadata of an invocation")]),
        (
            {"invocation_id": "x", "generated_at": "now"},
            [
                ("run_results.json: metadata.generated_at", "it is not a time"),
                ("run_results.json", "it has no metadata of an invocation"),
            ],
        ),
    ],
)
def test_results_without_an_invocation_are_listed(
    tmp_path: Path, metadata: dict[str, str], problems: list[tuple[str, str]]
) -> None:
    report = ImportReport()
    write_artifacts(tmp_path, node("model.shop.a"))
    (tmp_path / "run_results.json").write_text(json.dumps({"metadata": metadata, "results": []}))
    artifacts = read_artifacts(tmp_path, report)
    assert (list(artifacts.nodes), artifacts.invocation) == (["model.shop.a"], None)
    assert [(one.place, one.reason) for one in report.problems] == problems


@pytest.mark.parametrize("text", ['{"nodes": {"mod', "", "[]", '{"a":' * 5_000])
def test_a_file_beside_the_manifest_that_is_cut_is_listed(tmp_path: Path, text: str) -> None:
    report = ImportReport()
    write_artifacts(tmp_path, node("model.shop.a"))
    names = ["catalog.json", "run_results.json", "sources.json"]
    for name in names:
        (tmp_path / name).write_text(text)
    assert list(read_artifacts(tmp_path, report).nodes) == ["model.shop.a"]
    assert [one.place for one in report.problems] == names


@pytest.mark.timeout(30)
def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    report = ImportReport()
    write_artifacts(tmp_path, node("model.shop.a"))
    os.mkfifo(tmp_path / "catalog.json")
    (tmp_path / "sources.json").symlink_to("/dev/zero")
    assert list(read_artifacts(tmp_path, report).nodes) == ["model.shop.a"]
    assert ["no regular file" in one.reason for one in report.problems] == [True, True]
    (tmp_path / "manifest.json").unlink()
    os.mkfifo(tmp_path / "manifest.json")
    with pytest.raises(QueryError, match="no regular file"):
        read_artifacts(tmp_path, ImportReport())


@pytest.mark.parametrize("name", ["", "  "])
def test_a_node_without_a_name_is_listed(tmp_path: Path, name: str) -> None:
    report = ImportReport()
    nameless = node("model.shop.a", name=name, alias=None, schema=None, database=None)
    write_artifacts(tmp_path, nameless, node("model.shop.b"))
    assert list(read_artifacts(tmp_path, report).nodes) == ["model.shop.b"]
    assert [(one.place, one.reason) for one in report.problems] == [
        ("manifest.json: nodes.model.shop.a", "it has no name")
    ]


def test_a_manifest_of_no_time_is_listed(tmp_path: Path) -> None:
    report = ImportReport()
    path = write_artifacts(tmp_path, node("model.shop.a")) / "manifest.json"
    path.write_text(path.read_text().replace(GENERATED, "yesterday"))
    assert read_artifacts(tmp_path, report).generated_at == ""
    assert [one.place for one in report.problems] == ["manifest.json: metadata.generated_at"]


def test_a_catalog_of_another_manifest_is_listed(tmp_path: Path) -> None:
    report = ImportReport()
    write_artifacts(tmp_path, node("model.shop.a"))
    columns = {"x": {"name": None}, "y": 5, "z": {"name": "z"}}
    tables = {"model.shop.a": {"columns": columns}, "model.shop.gone": {"columns": {}}}
    (tmp_path / "catalog.json").write_text(json.dumps({"nodes": tables}))
    assert read_artifacts(tmp_path, report).catalog == {"model.shop.a": [("z", "")]}
    assert [(one.place, one.reason) for one in report.problems] == [
        ("catalog.json: nodes.model.shop.a.columns.x", "it has no name"),
        ("catalog.json: nodes.model.shop.a.columns.y", "it has no name"),
        ("catalog.json: nodes.model.shop.gone", "manifest.json has no such node"),
    ]


def test_odd_results_are_listed(tmp_path: Path) -> None:
    report = ImportReport()
    odd = result("model.shop.a")
    odd["timing"][0]["completed_at"] = "soon"
    write_artifacts(tmp_path, node("model.shop.a"), results=[odd])
    fresh = {"unique_id": "source.shop.raw.o", "max_loaded_at": "soon", "snapshotted_at": GENERATED}
    (tmp_path / "sources.json").write_text(json.dumps({"results": [fresh]}))
    artifacts = read_artifacts(tmp_path, report)
    assert artifacts.freshness == []
    (tmp_path / "sources.json").write_text('{"results": {}}')
    read_artifacts(tmp_path, report)
    places = ["run_results.json: results[0].timing", "sources.json: results[0]"]
    places += ["run_results.json: results[0].timing", "sources.json: results"]
    assert [one.place for one in report.problems] == places


def test_a_node_under_the_key_of_another_is_listed(tmp_path: Path) -> None:
    report = ImportReport()
    moved = {**node("model.shop.a"), "unique_id": "model.shop.moved"}
    nodes = {"model.shop.a": moved, "model.shop.b": node("model.shop.b")}
    write_artifacts(tmp_path, nodes=nodes)
    assert list(read_artifacts(tmp_path, report).nodes) == ["model.shop.b"]
    (problem,) = report.problems
    assert (problem.place, problem.reason) == (
        "manifest.json: nodes.model.shop.a",
        "its unique_id is 'model.shop.moved'",
    )


def test_columns_of_a_catalog_with_odd_positions(tmp_path: Path) -> None:
    report = ImportReport()
    write_artifacts(tmp_path, node("model.shop.a"), node("model.shop.b"))
    columns = {
        "x": {"name": "x", "index": 2},
        "y": {"name": "y", "index": "first"},
        "z": {"name": "z", "index": 1},
    }
    tables = {"model.shop.a": {"columns": columns}, "model.shop.b": {"columns": 3}}
    (tmp_path / "catalog.json").write_text(json.dumps({"nodes": tables, "sources": [1]}))
    catalog = read_artifacts(tmp_path, report).catalog
    assert catalog == {"model.shop.a": [("y", ""), ("z", ""), ("x", "")]}
    assert [(one.place, one.reason) for one in report.problems] == [
        ("catalog.json: nodes.model.shop.b", "it has no columns"),
        ("catalog.json: sources", "it is no object"),
    ]


@pytest.mark.parametrize("elapsed", ["1e40", "1e999", "-1", "9" * 5_000, '"x"', "NaN"])
def test_a_duration_that_is_none_is_listed(tmp_path: Path, elapsed: str) -> None:
    report = ImportReport()
    write_artifacts(tmp_path, node("model.shop.a"), results=[result("model.shop.a")])
    path = tmp_path / "run_results.json"
    path.write_text(path.read_text().replace('"elapsed_time": 10.0', f'"elapsed_time": {elapsed}'))
    invocation = read_artifacts(tmp_path, report).invocation
    assert invocation is not None
    assert invocation.elapsed_seconds == 0
    is_null = elapsed in ("1e999", "9" * 5_000, "NaN")
    assert [one.place for one in report.problems] == (
        [] if is_null else ["run_results.json: elapsed_time"]
    )


def test_a_start_that_is_no_time_is_listed(tmp_path: Path) -> None:
    report = ImportReport()
    write_artifacts(tmp_path, node("model.shop.a"), results=[result("model.shop.a")])
    path = tmp_path / "run_results.json"
    content = json.loads(path.read_text())
    content["metadata"]["invocation_started_at"] = 3.5
    path.write_text(json.dumps(content))
    invocation = read_artifacts(tmp_path, report).invocation
    assert invocation is not None
    assert invocation.started_at is None
    assert [one.place for one in report.problems] == [
        "run_results.json: metadata.invocation_started_at"
    ]


def test_a_lone_surrogate_is_replaced(tmp_path: Path) -> None:
    report = ImportReport()
    write_artifacts(tmp_path, node("model.shop.a", description="\ud800"))
    assert read_artifacts(tmp_path, report).nodes["model.shop.a"].description == "\ufffd"
    assert report.problems == []
