"""Orphans, unused datasets and datasets without a known writer, by the clock."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.health.findings.datasets.history import Citation, Producer
from headwater.health.findings.datasets.upkeep import detect_upkeep
from tests.health.findings.datasets.histories import daily, day, history, reader

LOAD = (Producer("job:etl:load", day(0)),)
OLD = reader("old", 1, is_current=False, last_seen=day(5))
CITED = (Citation("answer:a", "", day(10)),)


def rules(number: float, **more: Any) -> list[tuple[str, float]]:
    """Return the findings on a day, each with the day on which it began."""
    found = detect_upkeep(history(**more), day(number))
    return [(one.rule, (one.first_seen - day(0)).days) for one in found]


@pytest.mark.parametrize(
    ("number", "more", "expected"),
    [
        (7, {}, [("orphan-dataset", 7)]),
        (6.9, {}, []),
        (12, {"readers": (OLD,)}, [("orphan-dataset", 12)]),
        (11, {"readers": (OLD,)}, []),
        (10, {"updates": (day(4),)}, []),
        (30, {"citations": CITED}, []),
        (30, {"is_linked": True}, []),
        (30, {"deprecated_at": day(1)}, []),
        (30, {"deleted_at": day(1)}, []),
    ],
)
def test_orphans(number: float, more: dict[str, Any], expected: list[tuple[str, float]]) -> None:
    assert rules(number, **more) == expected


@pytest.mark.parametrize(
    ("number", "more", "expected"),
    [
        (90, {"versions": daily([1] * 80)}, [("unused-dataset", 90)]),
        (89.9, {"versions": daily([1] * 80)}, []),
        (95, {"readers": (OLD,)}, [("unused-dataset", 95)]),
        (99, {"citations": CITED}, []),
        (100, {"citations": CITED}, [("unused-dataset", 100)]),
        (400, {"readers": (reader("letters", 0),)}, []),
        (400, {"type": "MODEL"}, []),
        (400, {"tags": ("export",)}, []),
        (400, {"citations": (Citation("answer:a"),)}, []),
    ],
)
def test_unused_datasets(
    number: float, more: dict[str, Any], expected: list[tuple[str, float]]
) -> None:
    assert rules(number, producers=LOAD, **more) == expected


@pytest.mark.parametrize(
    ("number", "more", "expected"),
    [
        (30, {}, [("uninstrumented", 30)]),
        (29.9, {}, []),
        (31, {"readers": (reader("load", 0, 15, 29),)}, []),
        (31, {"readers": (reader("load", 0, 30),)}, []),
        (400, {"is_source": True}, []),
        (400, {"producers": LOAD}, []),
        (400, {"versions": daily([1])}, []),
    ],
)
def test_uninstrumented_datasets(
    number: float, more: dict[str, Any], expected: list[tuple[str, float]]
) -> None:
    content: dict[str, Any] = {"readers": (reader("load", *range(31)),), **more}
    assert rules(number, **content) == expected


def test_a_dataset_that_is_not_read_any_longer_was_uninstrumented() -> None:
    given = history(readers=(reader("load", *range(31)),))
    [found] = detect_upkeep(given, day(60.1))
    assert (found.resolved_at, found.resolved_by) == (day(60), "not read any longer")
