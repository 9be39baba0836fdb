"""Certified datasets and what they are made from."""

from __future__ import annotations

from headwater.health.findings.datasets.history import Upstream
from headwater.health.findings.datasets.uncertified_input import detect_uncertified_input
from tests.health.findings.datasets.histories import day, history

RAW = Upstream("dataset:db:raw", "job:etl:load", (), day(2), day(9))
GOOD = Upstream("dataset:db:good", "job:etl:load", ("certified=true",), day(2), day(9))


def test_an_uncertified_input_of_a_certified_dataset() -> None:
    given = history(tags=("certified",), upstream=(GOOD, RAW))
    [one] = detect_uncertified_input(given, day(3))
    assert (one.rule, one.key) == ("uncertified-input", "dataset:db:raw")
    assert (one.first_seen, one.last_seen, one.resolved_at) == (day(2), day(9), None)
    assert one.evidence == {"input": "dataset:db:raw", "jobs": ["job:etl:load"]}


def test_no_finding() -> None:
    young = history(tags=("certified",), upstream=(RAW,))
    assert list(detect_uncertified_input(young, day(2.9))) == []
    assert list(detect_uncertified_input(history(upstream=(RAW,)), day(30))) == []
    certified = history(tags=("Certified",), upstream=(GOOD,))
    assert list(detect_uncertified_input(certified, day(30))) == []
