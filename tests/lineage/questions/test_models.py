"""Comparisons of model versions and of columns with features, worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from headwater.lineage.questions.models import (
    Feature,
    ModelChange,
    ModelVersion,
    TrainingData,
    _changes,
    _problem,
    _reach,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def version(code: str | None, depth: str, data: list[TrainingData], *names: str) -> ModelVersion:
    features = [Feature(name, "long") for name in names]
    return ModelVersion("v", "1", NOON, "r", code, {"depth": depth}, {}, features, data)


def test_every_part_that_differs_is_a_change() -> None:
    raw = TrainingData("artifact:db:raw:a", "dataset:db:raw", "7", None)
    newer = TrainingData("artifact:db:raw:b", "dataset:db:raw", "8", None)
    old = version("c1", "3", [raw], "age", "plan")
    assert _changes(old, old) == []
    assert _changes(old, version("c2", "3", [newer], "age")) == [
        ModelChange("DATA", "dataset:db:raw", "7", "8"),
        ModelChange("FEATURE", "plan", "long", None),
        ModelChange("CODE", "code", "c1", "c2"),
    ]


@pytest.mark.parametrize(
    ("expected", "present", "actual", "fits"),
    [
        ("long", True, "int", True),
        ("long", True, "LONG", True),
        ("double", True, "string", False),
        ("int", True, "long", False),
        ("long", True, None, True),
        (None, True, "string", True),
        ("tensor", True, "map<string,int>", True),
        ("long", False, None, False),
    ],
)
def test_a_column_serves_as_a_feature(
    expected: str | None, present: bool, actual: str | None, fits: bool
) -> None:
    assert (_problem("age", expected, present, actual) is None) == fits


def test_the_columns_upstream_end_at_cycles_and_hidden_nodes() -> None:
    a, b, c = "column:db:t:a", "column:db:t:b", "column:db:t:c"
    origins = {a: {b, "hidden:1"}, b: {c, a}, "hidden:1": {"column:db:u:d"}}
    assert _reach(a, origins) == {b, c}
