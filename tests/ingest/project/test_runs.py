"""Projections of runs, computed by hand."""

from __future__ import annotations

import json
from datetime import timedelta
from uuid import NAMESPACE_URL, uuid5

import msgspec
import pytest

from headwater.ingest.fold import fold
from headwater.ingest.project import (
    run_view,
)
from headwater.schema.events import parse
from headwater.schema.facts import Name, RunFacts, Span, Usage
from headwater.schema.headwater_facets import artifact_event
from headwater.schema.urns import artifact_urn, dataset_urn
from tests.ingest.project.projections import (
    FACET,
    UNMARKED,
    UNTOLD,
    at,
    event,
    failed,
    moment,
    output,
    run,
)


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


def test_a_run_has_a_last_observation_if_it_differs_from_its_end() -> None:
    assert run(event(1, "START")).node["lastSeen"] == moment(1)
    assert run(event(1, "START"), event(5, "COMPLETE")).node["lastSeen"] is None
    assert run(event(1, "START"), event(5, "COMPLETE"), event(7, "OTHER")).node[
        "lastSeen"
    ] == moment(7)


@pytest.mark.parametrize(("minutes", "is_long"), [(60, False), (61, True)])
def test_a_version_written_for_long_has_its_start(minutes: int, is_long: bool) -> None:
    ended = moment(0) + timedelta(minutes=minutes)
    end = {**event(0, "COMPLETE", outputs=[output()]), "eventTime": ended.isoformat()}
    (version,) = run(event(0, "START"), end).artifacts.values()
    assert (version["startedAt"], version["createdAt"]) == (moment(0), ended)
    assert version["longRunningSince"] == (moment(0) if is_long else None)


def test_sources_of_an_output_are_stored_where_no_edge_shows_them() -> None:
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


def test_a_run_without_a_start_began_with_its_first_event() -> None:
    assert run(event(3, "RUNNING"), event(2, "OTHER")).node["startedAt"] == moment(2)


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
    retried = run(*first, event(3, "START"), event(4, "COMPLETE"))
    assert (retried.node["status"], retried.node["attempts"], retried.node["error"]) == (
        "COMPLETE",
        2,
        None,
    )


def test_a_run_id_that_is_no_uuid_has_a_derived_uuid() -> None:
    derived_uuid = run(event(1, "START")).node["runUuid"]
    assert derived_uuid == run(event(2, "FAIL")).node["runUuid"]
    uuid = "0198c2f4-7b1c-7d3e-9f00-aabbccddeeff"
    end = {**event(1, "START"), "run": {"runId": uuid}}
    facts = fold([parse(json.dumps(end).encode(), received=0)]).runs[f"run:{uuid}"]
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


def test_a_registered_artifact_adds_properties() -> None:
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


def test_a_run_has_the_hash_of_its_code() -> None:
    query = {"sql": {**FACET, "query": "SELECT 1"}}
    started = event(1, "START")
    started["job"]["facets"] = query
    # The first 16 digits of the SHA-256 of the query, by sha256sum.
    assert run(started).node["codeHash"] == "e004ebd5b5532a4b"
    assert run(event(1, "START")).node["codeHash"] is None
