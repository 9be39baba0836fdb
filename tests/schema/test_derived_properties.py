"""Properties that nodes do not store are derived when they are read."""

from __future__ import annotations

from datetime import UTC, datetime

from headwater.schema.derived_properties import DERIVED_PROPERTIES, with_derived_properties
from headwater.spark_source.tables import LABELS, TABLES

ENDED, LATER = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
UUID = "0198c2f4-7b1c-7d3e-9f00-aabbccddeeff"


def test_a_run_is_first_seen_at_its_start_and_last_seen_at_its_end() -> None:
    assert with_derived_properties("PipelineRun", {"finishedAt": ENDED}) == {
        "finishedAt": ENDED,
        "lastSeen": ENDED,
        "attempts": 1,
    }


def test_stored_properties_of_a_run_win() -> None:
    texts = {"finishedAt": ENDED, "lastSeen": LATER, "attempts": 2}
    assert with_derived_properties("PipelineRun", texts) == texts


def test_a_run_that_was_only_named_has_no_observations() -> None:
    assert with_derived_properties("PipelineRun", {"runId": "r"}) == {"runId": "r", "attempts": 1}


def test_a_version_has_a_run_once_an_event_named_it() -> None:
    assert (
        with_derived_properties("Artifact", {"runId": UUID, "complete": False})["run"]
        == f"run:{UUID}"
    )
    assert (
        with_derived_properties("Artifact", {"runId": "a:b", "complete": True})["run"]
        == "run:a%3Ab"
    )
    assert "run" not in with_derived_properties("Artifact", {"runId": UUID})


def test_a_version_derives_from_its_edges_and_its_stored_inputs() -> None:
    texts = {"derivedFrom": ["dataset:c"]}
    assert with_derived_properties("Artifact", texts, ["dataset:b", "dataset:a", "dataset:b"])[
        "derivedFrom"
    ] == [
        "dataset:a",
        "dataset:b",
        "dataset:c",
    ]
    assert with_derived_properties("Artifact", texts) == texts
    assert with_derived_properties("Artifact", {}, []) == {}


def test_a_version_starts_with_its_run_unless_it_has_its_own_start() -> None:
    assert with_derived_properties("Artifact", {"startedAt": None}, began=ENDED) == {
        "startedAt": ENDED
    }
    assert with_derived_properties("Artifact", {"startedAt": LATER}, began=ENDED) == {
        "startedAt": LATER
    }
    assert with_derived_properties("Artifact", {}) == {}


def test_other_nodes_are_as_they_are() -> None:
    assert with_derived_properties("Job", {"name": "j"}) == {"name": "j"}


def test_derived_properties_are_in_the_tables() -> None:
    tables = {label: TABLES[kind] for kind, label in LABELS.items()}
    for label, spared in DERIVED_PROPERTIES.items():
        for name, needed in spared.items():
            assert {name, *needed} <= tables[label].keys()
