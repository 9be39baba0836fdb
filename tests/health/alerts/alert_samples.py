"""One alert with everything that the graph adds to it, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

from headwater.health.alerts.facts import (
    AlertFacts,
    Cause,
    DatasetAge,
    LastSuccess,
    Replay,
    Violation,
)
from headwater.health.alerts.grouping import alerts_of
from headwater.health.alerts.models import Alert
from headwater.health.findings.models import Affected, Tier
from tests.health.alerts.finding_builders import consumer, finding, minutes

URL = "https://headwater.example.com"
FACTS = AlertFacts(
    freshness=(DatasetAge("dataset:db:raw", minutes(-90), "dataset:file:in", minutes(-95)),),
    violations=(Violation("dataset:db:raw", "raw failed a check of its data", minutes(-60)),),
    last_successes=(LastSuccess("job:etl:orders", "run:1", minutes(-60)),),
    causes=(Cause("run:0", "the run before changed its code", minutes(-61)),),
    replay=Replay("run:2", (("job:etl:orders",), ("job:etl:mart", "job:etl:kpi")), 3, 1),
)


def alert(ended: float | None = None) -> Alert:
    affected = Affected(
        answers=1,
        datasets=24,
        critical=1,
        consumers=(
            consumer("answer:daily-revenue", "finance"),
            consumer("dataset:db:mart", is_critical=True),
        ),
    )
    root = finding(tier=Tier.P1, owners=("etl",), affected=affected, ended=ended)
    root = replace(
        root,
        episode=replace(
            root.episode, evidence={"run": "run:2", "error": "disk full", "failures": 3}
        ),
    )
    late = finding("stale-dataset", "dataset:db:mart", began=5, root=root.id, ended=ended)
    [found] = alerts_of([root, late], minutes(30))
    return found
