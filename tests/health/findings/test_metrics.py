"""The metrics of findings: open ones by rule and tier, and the lag of the detector."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.findings.detector import Detector
from headwater.health.findings.metrics import FindingCounts
from headwater.health.findings.models import Tier
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.health.findings.builders import episode, finding, save

pytestmark = pytest.mark.neo4j


def values(counts: FindingCounts) -> dict[tuple[str, ...], float]:
    counts.refresh(seconds=5.0)
    return {
        (sample.name, *sample.labels.values()): sample.value
        for metric in counts.collect()
        for sample in metric.samples
    }


def test_open_findings_are_counted_and_the_lag_is_that_of_the_last_pass(
    database: Database,
) -> None:
    empty(database)
    counts = FindingCounts(GraphView(database))
    assert values(counts) == {}, "without a detector there is no lag"
    Detector(database).full_pass()
    found = [
        finding(episode("failed-run", "job:s:a"), Tier.P1),
        finding(episode("failed-run", "job:s:b"), Tier.P1),
        finding(episode("failed-run", "job:s:c", end=3), Tier.P1),
        finding(episode("row-count", "dataset:d:a"), Tier.P2),
    ]
    save(database, [(one, ["s"]) for one in found])
    read = values(counts)
    lag = read.pop(("headwater_findings_lag_seconds",))
    assert 0 <= lag < 60
    assert read == {
        ("headwater_findings_open", "failed-run", "P1"): 2.0,
        ("headwater_findings_open", "row-count", "P2"): 1.0,
    }
    empty(database)
