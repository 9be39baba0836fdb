"""Filters that Neo4j evaluates: conditions, and the ranges of urns that they leave to scan."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pyspark.sql.datasource import EqualTo, GreaterThan, In, IsNotNull, LessThanOrEqual, Not

from headwater.spark_source.predicate_pushdown import ALL_URNS, labels_of, push_filters

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def test_equality_and_sets_are_intersected() -> None:
    filters = [
        In(("status",), ("FAIL", "COMPLETE")),
        EqualTo(("status",), "FAIL"),
        IsNotNull(("error",)),
    ]
    pushed, left = push_filters("runs", filters)
    assert left == []
    assert pushed.equal == {"status": ["FAIL"]}
    assert pushed.present == ["error"]
    assert pushed.ranges("PipelineRun") == ALL_URNS


def test_times_become_half_open_ranges() -> None:
    filters = [GreaterThan(("startedAt",), NOON), LessThanOrEqual(("startedAt",), NOON)]
    pushed, left = push_filters("runs", filters)
    assert left == []
    assert pushed.least == pushed.below == {"startedAt": NOON + MICROSECOND}


def test_other_filters_stay_with_spark() -> None:
    filters = [
        Not(EqualTo(("status",), "FAIL")),
        EqualTo(("status",), 1),
        EqualTo(("tags", "x"), "y"),
        EqualTo(("unknown",), "y"),
    ]
    pushed, left = push_filters("runs", filters)
    assert left == filters
    assert pushed.parameters() == {"equal": {}, "least": {}, "below": {}, "present": []}


def test_urns_and_namespaces_narrow_the_scan() -> None:
    pushed, _ = push_filters("jobs", [EqualTo(("urn",), "job:a:b")])
    assert pushed.ranges("Job") == (("job:a:a\uffff", "job:a:b"),)
    pushed, _ = push_filters("jobs", [EqualTo(("namespace",), "s3://x y")])
    assert pushed.ranges("Job") == (("job:#", "job:$"), ("job:s3%3A//x%20y:", "job:s3%3A//x%20y;"))


def test_the_layer_of_edges_selects_their_sources() -> None:
    pushed, left = push_filters(
        "edges", [EqualTo(("layer",), "lineage"), EqualTo(("type",), "FEEDS")]
    )
    assert [one.value for one in left if isinstance(one, EqualTo)] == ["lineage"]
    assert pushed.types == ["FEEDS"]
    assert labels_of("edges", pushed) == ["Dataset", "Job", "Column"]
    assert labels_of("runs", pushed) == ["PipelineRun"]
