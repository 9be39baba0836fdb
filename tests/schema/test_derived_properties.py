"""What nodes do not keep is told all the same."""

from __future__ import annotations

from datetime import UTC, datetime

from headwater.schema.derived_properties import DERIVED_PROPERTIES, with_derived_properties
from headwater.spark_source.tables import LABELS, TABLES

ENDED, LATER = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
UUID = "0198c2f4-7b1c-7d3e-9f00-aabbccddeeff"


def test_a_run_was_begun_once_and_last_seen_when_it_ended() -> None:
    assert with_derived_properties("PipelineRun", {"finishedAt": ENDED}) == {
        "finishedAt": ENDED,
        "lastSeen": ENDED,
        "attempts": 1,
    }


def test_what_a_run_keeps_is_told_as_it_is() -> None:
    kept = {"finishedAt": ENDED, "lastSeen": LATER, "attempts": 2}
    assert with_derived_properties("PipelineRun", kept) == kept


def test_a_run_that_was_only_named_was_never_seen() -> None:
    assert with_derived_properties("PipelineRun", {"runId": "r"}) == {"runId": "r", "attempts": 1}


def test_a_version_tells_its_run_once_somebody_said_that_it_made_it() -> None:
    assert (
        with_derived_properties("Artifact", {"runId": UUID, "complete": False})["run"]
        == f"run:{UUID}"
    )
    assert (
        with_derived_properties("Artifact", {"runId": "a:b", "complete": True})["run"]
        == "run:a%3Ab"
    )
    assert "run" not in with_derived_properties("Artifact", {"runId": UUID})


def test_a_version_came_from_what_its_edges_and_what_it_keeps_tell() -> None:
    kept = {"derivedFrom": ["dataset:c"]}
    assert with_derived_properties("Artifact", kept, ["dataset:b", "dataset:a", "dataset:b"])[
        "derivedFrom"
    ] == [
        "dataset:a",
        "dataset:b",
        "dataset:c",
    ]
    assert with_derived_properties("Artifact", kept) == kept
    assert with_derived_properties("Artifact", {}, []) == {}


def test_a_version_was_begun_when_its_run_was_unless_it_tells_otherwise() -> None:
    assert with_derived_properties("Artifact", {"startedAt": None}, began=ENDED) == {
        "startedAt": ENDED
    }
    assert with_derived_properties("Artifact", {"startedAt": LATER}, began=ENDED) == {
        "startedAt": LATER
    }
    assert with_derived_properties("Artifact", {}) == {}


def test_other_nodes_are_as_they_are() -> None:
    assert with_derived_properties("Job", {"name": "j"}) == {"name": "j"}


def test_what_is_spared_is_in_the_tables() -> None:
    tables = {label: TABLES[kind] for kind, label in LABELS.items()}
    for label, spared in DERIVED_PROPERTIES.items():
        for name, needed in spared.items():
            assert {name, *needed} <= tables[label].keys()
