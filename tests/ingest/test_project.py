"""From facts to what the graph shows, worked out by hand."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import msgspec
import pytest

from headwater.ingest.fold import fold
from headwater.ingest.project import (
    AnswerView,
    DatasetView,
    RunView,
    answer_view,
    dataset_view,
    job_properties,
    mark_version,
    run_view,
)
from headwater.schema.events import parse
from headwater.schema.facts import Name, RunFacts, Span, Usage
from headwater.schema.headwater_facets import answer_event, artifact_event, source_event
from headwater.schema.naming import load_naming
from headwater.schema.urns import artifact_urn, dataset_urn

# Nothing was checked and nothing measured.
UNTOLD = dict.fromkeys(("assertions", "metrics", "qualityDataset", "reportedAt"))
UNMARKED = {**UNTOLD, **dict.fromkeys(("checkedVersion", "updatedVersion", "failingVersion"))}

FACET = {"_producer": "https://example.com/p", "_schemaURL": "https://example.com/s"}


def at(minute: int) -> str:
    return f"2026-01-01T00:{minute:02d}:00Z"


def moment(minute: int) -> datetime:
    return datetime(2026, 1, 1, 0, minute, tzinfo=UTC)


def event(
    minute: int, state: str, *, facets: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    run = {"runId": "r", "facets": facets or {}}
    return {
        "eventTime": at(minute),
        "eventType": state,
        "run": run,
        "job": {"namespace": "etl", "name": "j"},
        **more,
    }


def run(*events: dict[str, Any]) -> RunView:
    return run_view(
        fold(parse(json.dumps(e).encode(), received=0) for e in events).runs["run:r"], {}
    )


def table(*facets: dict[str, Any]) -> DatasetView:
    events = [
        {"eventTime": at(i), "dataset": {"namespace": "db", "name": "t", "facets": f}}
        for i, f in enumerate(facets)
    ]
    return dataset_view(
        fold(parse(json.dumps(e).encode(), received=0) for e in events).datasets["dataset:db:t"]
    )


def answer(*events: dict[str, Any]) -> AnswerView:
    return answer_view(
        fold(parse(json.dumps(e).encode(), received=0) for e in events).answers["answer:a"],
        load_naming(),
        {},
    )


def output(rows: Any = None, **more: Any) -> dict[str, Any]:
    statistics = {"outputStatistics": {**FACET, "rowCount": rows, **more}}
    return {"namespace": "db", "name": "t", "outputFacets": statistics}


def test_a_run_from_start_to_end() -> None:
    engine = {"processing_engine": {**FACET, "name": "spark", "version": "4.1.4"}}
    view = run(
        event(1, "START", facets=engine),
        event(5, "COMPLETE", outputs=[output(16, size=1109, fileCount=1)]),
    )
    node = {key: value for key, value in view.node.items() if value is not None and key != "facts"}
    assert node == {
        "runId": "r",
        "runUuid": str(uuid5(NAMESPACE_URL, "r")),
        "pipelineName": "j",
        "namespace": "etl",
        "status": "COMPLETE",
        "startedAt": moment(1),
        "finishedAt": moment(5),
        "reportedSides": "writes",
        "engine": "spark 4.1.4",
    }
    made = view.artifacts[artifact_urn("db", "t", "r")]
    assert (made["createdAt"], made["complete"], made["status"]) == (moment(5), True, "COMPLETE")
    assert (made["rowCount"], made["bytes"], made["fileCount"]) == (16, 1109, 1)
    assert view.produced == {
        artifact_urn("db", "t", "r"): {"partitions": None, "subset": None, **UNTOLD}
    }


def test_a_run_keeps_when_it_was_last_seen_where_that_is_not_when_it_ended() -> None:
    assert run(event(1, "START")).node["lastSeen"] == moment(1)
    assert run(event(1, "START"), event(5, "COMPLETE")).node["lastSeen"] is None
    assert run(event(1, "START"), event(5, "COMPLETE"), event(7, "OTHER")).node[
        "lastSeen"
    ] == moment(7)


@pytest.mark.parametrize(("minutes", "is_long"), [(60, False), (61, True)])
def test_a_version_that_took_long_tells_when_it_was_begun(minutes: int, is_long: bool) -> None:
    ended = moment(0) + timedelta(minutes=minutes)
    told = {**event(0, "COMPLETE", outputs=[output()]), "eventTime": ended.isoformat()}
    (version,) = run(event(0, "START"), told).artifacts.values()
    assert (version["startedAt"], version["createdAt"]) == (moment(0), ended)
    assert version["longRunningSince"] == (moment(0) if is_long else None)


def test_what_an_output_came_from_is_kept_where_no_edge_can_tell_it() -> None:
    a, b, t = (Name("db", name) for name in "abt")
    read, other, made = (dataset_urn("db", name) for name in "abt")
    facts = RunFacts("r", inputs={read: Usage(a)}, outputs={made: Usage(t, derived={a, b})})
    undated = run_view(facts, {})
    (version,) = undated.artifacts.values()
    assert version["derivedFrom"] == [read, other], "nothing is linked to a run without a time"
    began = msgspec.structs.replace(facts, states={(0, "START")}, span=Span(0, 0))
    (version,) = run_view(began, {}).artifacts.values()
    assert version["derivedFrom"] == [other]
    assert list(run_view(began, {}).derived.values()) == [[read, other]]


def test_an_unfinished_run_has_written_since_it_began() -> None:
    made = run(event(3, "START", outputs=[output()])).artifacts[artifact_urn("db", "t", "r")]
    assert (made["createdAt"], made["complete"], made["status"]) == (moment(3), False, "RUNNING")


def test_a_failed_run_leaves_an_incomplete_version_dated_at_its_failure() -> None:
    view = run(event(1, "START"), event(4, "FAIL", outputs=[output(0)]), event(5, "COMPLETE"))
    made = view.artifacts[artifact_urn("db", "t", "r")]
    assert view.node["status"] == "FAIL"
    assert (made["createdAt"], made["complete"], made["rowCount"]) == (moment(4), False, 0)


def test_a_run_known_only_in_the_middle_began_with_the_first_thing_heard_of_it() -> None:
    assert run(event(3, "RUNNING"), event(2, "OTHER")).node["startedAt"] == moment(2)


def failed(name: str, message: str) -> dict[str, Any]:
    return {name: {**FACET, "message": message}}


def test_why_a_run_failed() -> None:
    spark = failed("spark.exception", "from Spark")
    assert run(event(1, "FAIL", facets=spark)).node["error"] == "from Spark"
    both = {**spark, **failed("errorMessage", "by the book")}
    assert run(event(1, "FAIL", facets=both)).node["error"] == "by the book"
    assert (
        run(event(1, "FAIL", facets={"errorMessage": {"message": 5}, **spark})).node["error"]
        == "from Spark"
    )


def test_the_error_of_an_earlier_attempt_is_not_that_of_the_last() -> None:
    first = [event(1, "START"), event(2, "FAIL", facets=failed("errorMessage", "boom"))]
    assert run(*first).node["error"] == "boom"
    assert run(*first, event(3, "COMPLETE")).node["error"] == "boom", "the listener's late COMPLETE"
    again = run(*first, event(3, "START"), event(4, "COMPLETE"))
    assert (again.node["status"], again.node["attempts"], again.node["error"]) == (
        "COMPLETE",
        2,
        None,
    )


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        (0, 0),
        (-1, -1),
        ("12", 12),
        (12.0, 12),
        (12.5, None),
        (2**63 - 1, 2**63 - 1),
        (2**63, None),
        (-(2**70), None),
        ("many", None),
        (True, None),
        (None, None),
        ([1], None),
    ],
)
def test_counts(sent: Any, shown: int | None) -> None:
    made = run(event(1, "COMPLETE", outputs=[output(sent, size=7)])).artifacts[
        artifact_urn("db", "t", "r")
    ]
    assert made["rowCount"] == shown
    assert made["bytes"] == 7, "one odd count does not take the others with it"


def test_a_run_id_that_is_no_uuid_has_one_beside_it() -> None:
    beside = run(event(1, "START")).node["runUuid"]
    assert beside == run(event(2, "FAIL")).node["runUuid"]
    uuid = "0198c2f4-7b1c-7d3e-9f00-aabbccddeeff"
    told = {**event(1, "START"), "run": {"runId": uuid}}
    facts = fold([parse(json.dumps(told).encode(), received=0)]).runs[f"run:{uuid}"]
    assert run_view(facts, {}).node["runUuid"] is None


def test_which_version_an_input_names() -> None:
    pin = {
        "headwater_artifact": {**FACET, "runId": "w"},
        "inputStatistics": {**FACET, "rowCount": 3},
    }
    used = run(
        event(1, "START", inputs=[{"namespace": "db", "name": "t", "inputFacets": pin}])
    ).reads
    assert [(use.dataset, use.pinned, use.properties) for use in used] == [
        (
            "dataset:db:t",
            artifact_urn("db", "t", "w"),
            {
                "rowCount": 3,
                "bytes": None,
                "requestedVersion": None,
                "partitions": None,
                "subset": None,
                **UNMARKED,
            },
        )
    ]
    for blank in ("", " "):
        pin = {"headwater_artifact": {**FACET, "runId": blank}}
        assert (
            run(event(1, "START", inputs=[{"namespace": "db", "name": "t", "inputFacets": pin}]))
            .reads[0]
            .pinned
            is None
        )


def test_where_something_is_said_of_quality_is_marked() -> None:
    def used(minute: int, state: str, success: bool, **metrics: str) -> dict[str, Any]:
        said = {"assertions": [{"assertion": "a", "success": success}]}
        facets = {
            "dataQualityAssertions": {**FACET, **said},
            "dataQualityMetrics": {**FACET, **metrics},
        }
        inputs = [
            {"namespace": "db", "name": "t", "inputFacets": facets},
            {"namespace": "db", "name": "u"},
        ]
        return event(minute, state, inputs=inputs if state == "START" else [])

    keys = ("qualityDataset", "reportedAt", "checkedVersion", "updatedVersion", "failingVersion")

    def marks(*events: dict[str, Any]) -> list[tuple[Any, ...]]:
        marked_uses = [
            mark_version(f"version of {use.dataset}", use.properties) for use in run(*events).reads
        ]
        return [tuple(properties[key] for key in keys) for properties in marked_uses]

    t, u = "dataset:db:t", "dataset:db:u"
    nothing = (None, None, None, None, None)
    assert marks(used(1, "START", True, rowCount="1")) == [
        (t, moment(1), f"version of {t}", None, None),
        nothing,
    ]
    # As of the end, and as updated; tests that failed are of all that the run read.
    whole = marks(used(1, "START", False, lastUpdated=at(0)), used(5, "FAIL", False))
    assert whole == [
        (t, moment(5), f"version of {t}", f"version of {t}", f"version of {t}"),
        (None, moment(5), None, None, f"version of {u}"),
    ]
    made = {
        "namespace": "db",
        "name": "t",
        "outputFacets": {"dataQualityMetrics": {**FACET, "rowCount": 1}},
    }
    [produced] = run(event(3, "COMPLETE", outputs=[made])).produced.values()
    assert (produced["qualityDataset"], produced["reportedAt"]) == (t, moment(3))


def test_what_a_registered_artifact_adds() -> None:
    details = artifact_event(
        "t",
        namespace="db",
        run_id="r",
        type="mart",
        row_count=9,
        storage_path="s3://x",
        created_at=at(2),
        schema="id",
    )
    made = run(event(1, "START"), event(5, "COMPLETE", outputs=[output(4)]), details).artifacts[
        artifact_urn("db", "t", "r")
    ]
    assert (made["rowCount"], made["createdAt"], made["type"]) == (9, moment(2), "mart")
    assert (made["storagePath"], made["schema"], made["status"]) == ("s3://x", "id", "COMPLETE")


def schema(*fields: Any) -> dict[str, Any]:
    return {"schema": {**FACET, "fields": list(fields)}}


def test_columns_nested_ones_by_their_path() -> None:
    address = {
        "name": "address",
        "type": "struct",
        "fields": [{"name": "city", "type": "string"}, {"name": "zip"}],
    }
    view = table(schema({"name": "id", "type": "int"}, address, {"name": " "}))
    assert view.node["columns"] == ["id", "address", "address.city", "address.zip"]
    assert view.columns["column:db:t:address.city"]["type"] == "string"
    assert view.columns["column:db:t:id"] == {
        "namespace": "db", "dataset": "t", "name": "id", "type": "int", "current": True,
    }  # fmt: skip


def test_the_last_schema_counts_and_may_be_deleted() -> None:
    assert table(schema({"name": "a"}), schema({"name": "b"})).node["columns"] == ["b"]
    assert (
        table(schema({"name": "a"}), {"schema": {**FACET, "_deleted": True}}).node["columns"]
        is None
    )


@pytest.mark.parametrize(
    "broken", [{"fields": 5}, {"fields": [{"type": "int"}]}, {"fields": [None]}, {"columns": []}]
)
def test_a_schema_that_is_none_has_no_columns(broken: dict[str, Any]) -> None:
    assert table({"schema": broken}).columns == {}


def test_a_schema_nested_without_end_stays_small() -> None:
    field: dict[str, Any] = {"name": "x" * 100}
    for _ in range(90):
        field = {"name": "x" * 100, "fields": [field]}
    view = table(schema(field))
    assert 1 < len(view.columns) <= 50
    assert max(map(len, view.node["columns"])) <= 2_000


def test_a_registered_source() -> None:
    sent = source_event(
        "t",
        namespace="db",
        origin="CRM",
        format="csv",
        row_count=3,
        captured_at=at(1),
        checksum="c",
    )
    facets = sent["dataset"]["facets"]
    assert table(facets).source == {
        "namespace": "db", "name": "t", "dataset": "dataset:db:t", "registered": True,
        "origin": "CRM", "format": "csv", "rowCount": 3, "capturedAt": moment(1), "checksum": "c",
    }  # fmt: skip
    assert table({}).source is None
    assert table(facets, {"headwater_source": {**FACET, "_deleted": True}}).source is None


def test_an_answer_only_referred_to_and_a_deleted_one_look_alike() -> None:
    cited = answer({**answer_event("b", cites=[{"answerId": "a"}], event_time=at(1))})
    said = answer_event(
        "a", cites=[{"namespace": "db", "name": "t"}], content="42", event_time=at(1)
    )
    gone = json.loads(json.dumps(said))
    gone["eventTime"] = at(2)
    gone["dataset"]["facets"]["headwater_answer"]["_deleted"] = True
    view = answer(said, gone)
    assert view.citations == []
    assert {k: v for k, v in view.node.items() if k != "facts"} == {
        k: v for k, v in cited.node.items() if k != "facts"
    }
    assert view.node.keys() == answer(said).node.keys(), (
        "every property is set, so that none can be left behind"
    )
    assert view.node["content"] is view.node["generatedAt"] is view.node["name"] is None


def test_an_answer_without_a_time_was_given_when_it_was_sent() -> None:
    sent = answer_event("a", cites=[], event_time=at(3))
    del sent["dataset"]["facets"]["headwater_answer"]["generatedAt"]
    assert answer(sent).node["generatedAt"] == moment(3)


def test_a_job() -> None:
    facets = {
        "sql": {**FACET, "query": "SELECT 1"},
        "jobType": {**FACET, "jobType": "SQL_JOB", "integration": "SPARK"},
    }
    told = {"eventTime": at(1), "job": {"namespace": "etl", "name": "j", "facets": facets}}
    node = job_properties(fold([parse(json.dumps(told).encode(), received=0)]).jobs["job:etl:j"])
    assert (node["sql"], node["type"], node["firstSeen"], node["lastSeen"]) == (
        "SELECT 1",
        "SQL_JOB",
        moment(1),
        moment(1),
    )


def test_names_too_long_for_an_index_are_shown_short() -> None:
    long = "n" * 65_536
    told = event(1, "COMPLETE", outputs=[{"namespace": "db", "name": long}])
    told["job"]["name"] = told["run"]["runId"] = long
    delta = fold([parse(json.dumps(told).encode(), received=0)])
    (run_facts,) = delta.runs.values()
    view = run_view(run_facts, {})
    (made,) = view.artifacts.values()
    shown = [view.node["runId"], view.node["pipelineName"], made["name"], made["runId"]]
    assert all(len(text.encode()) < 4_000 for text in shown)
    assert run_facts.run_id == long
