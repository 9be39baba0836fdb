"""Deprecated datasets that are read, and those that are not."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.health.findings.datasets.deprecated_source import detect_deprecated_source
from headwater.health.findings.datasets.history import Reader
from headwater.health.findings.models import Episode
from tests.health.findings.datasets.histories import day, history, reader


def found(*readers: Reader, **more: Any) -> list[Episode]:
    content: dict[str, Any] = {"deprecated_at": day(4.5), **more}
    return list(detect_deprecated_source(history(readers=readers, **content), day(100)))


def test_a_reader_since_the_deprecation() -> None:
    [one] = found(reader("load", 3, 5, 6), reader("old", 1), deprecation="Use orders2.")
    assert (one.key, one.first_seen, one.last_seen) == (day(4.5).isoformat(), day(5), day(6))
    assert one.resolved_at is None
    assert one.evidence["readers"] == [{"job": "job:etl:load", "owners": []}]
    assert one.evidence["reason"] == "Use orders2."


def test_it_ends_with_the_first_run_that_reads_something_else() -> None:
    moved = reader("load", 3, 5, 6, 7, is_current=False, last_seen=day(6.5))
    [one] = found(moved)
    assert (one.last_seen, one.resolved_by) == (day(6), "run:load-7")
    [one] = found(moved, reader("other", 8))
    assert one.resolved_at is None


def test_a_tag_deprecates_too() -> None:
    [one] = found(reader("load", 3), deprecated_at=None, tags=("Deprecated",))
    assert (one.key, one.first_seen) == ("tag", day(-10))


@pytest.mark.parametrize(
    ("readers", "more"),
    [
        ((), {}),
        ((reader("load", 1, 3),), {}),
        ((reader("load", 5),), {"deprecated_at": None}),
        ((reader("load", 5),), {"dropped_at": day(6)}),
    ],
)
def test_no_finding(readers: tuple[Reader, ...], more: dict[str, Any]) -> None:
    assert found(*readers, **more) == []
