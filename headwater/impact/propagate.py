"""Propagation of a change from consumer to consumer, layer by layer, until nothing gets worse.

A column is visited again only if the new change is worse than the one before. Cycles therefore
end, and a diamond costs as much as its edges. The first visit has the shortest distance.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from headwater.code_analysis.model import ALL
from headwater.impact.model import (
    CHANGES_MAX,
    Consumer,
    DependencyModel,
    PropagatedChange,
    Severity,
    worse,
)
from headwater.impact.report import EVIDENCE_MAX, Evidence
from headwater.impact.severity import Classification, classify


@dataclass
class AffectedConsumer:
    """A consumer that the change affects, with its worst severity and the first evidence."""

    consumer: Consumer
    severity: Severity
    distance: int
    references: dict[tuple[str, str], None] = field(default_factory=dict)
    evidence: dict[Evidence, None] = field(default_factory=dict)

    def add_evidence(self, evidence: Evidence) -> None:
        """Add evidence, of each kind as much as an asset shows at most."""
        if sum(known.kind == evidence.kind for known in self.evidence) < EVIDENCE_MAX:
            self.evidence[evidence] = None


@dataclass
class ImpactResult:
    """The affected consumers by urn, and the changes by table and column.

    truncated: the bound that ended the propagation: "time", "nodes" or ""."""

    affected: dict[str, AffectedConsumer] = field(default_factory=dict)
    changes: dict[tuple[str, str], PropagatedChange] = field(default_factory=dict)
    truncated: str = ""

    def add(
        self,
        consumer: Consumer,
        change: PropagatedChange,
        classification: Classification,
        distance: int,
    ) -> None:
        """Add an affected consumer; a classification without severity adds nothing."""
        if classification.severity is None:
            return
        affected = self.affected.get(consumer.urn)
        if affected is None:
            affected = AffectedConsumer(consumer, classification.severity, distance)
            self.affected[consumer.urn] = affected
        affected.severity = worse(affected.severity, classification.severity)
        affected.distance = min(affected.distance, distance)
        if change.column != ALL and (classification.is_reference or not change.of_table):
            affected.references[(change.table, change.column)] = None
        for evidence in classification.evidence:
            affected.add_evidence(evidence)


def propagate(
    model: DependencyModel, starts: Iterable[PropagatedChange], deadline: float
) -> ImpactResult:
    """Return everything that changes lead to. `deadline` is a reading of time.monotonic()."""
    result = ImpactResult()
    frontier = _add_worse(model, starts, result)
    while frontier:
        if time.monotonic() > deadline:
            result.truncated = "time"
            break
        if len(result.changes) > CHANGES_MAX:
            result.truncated = "nodes"
            break
        frontier = _propagate_layer(model, frontier, result, deadline)
    return result


def _propagate_layer(
    model: DependencyModel,
    frontier: list[PropagatedChange],
    result: ImpactResult,
    deadline: float,
) -> list[PropagatedChange]:
    """Visit the consumers of all changes of one distance. Return the changes of the next."""
    urns = [model.table(change.table).column_urn(change.column) for change in frontier]
    changed = zip(frontier, urns, strict=True)
    edges = model.column_edges({urn for change, urn in changed if change.column != ALL})
    passed: list[PropagatedChange] = []
    for change, urn in zip(frontier, urns, strict=True):
        for consumer in model.consumers.get(change.table, ()):
            # A consumer may be one whose code is read first.
            if time.monotonic() > deadline:
                result.truncated = "time"
                return _add_worse(model, passed, result)
            classification = classify(model, consumer, change, edges.get(urn, []))
            distance = change.distance + (0 if consumer.is_hidden else 1)
            result.add(consumer, change, classification, distance)
            passed += classification.passed
            if len(passed) > CHANGES_MAX:
                result.truncated = "nodes"
                return _add_worse(model, passed, result)
    return _add_worse(model, passed, result)


def _add_worse(
    model: DependencyModel, changes: Iterable[PropagatedChange], result: ImpactResult
) -> list[PropagatedChange]:
    """Add the changes that are worse than the known change of their column, and return these."""
    added = []
    waiting = list(changes)
    for change in waiting:
        key = (change.table, change.column)
        before = result.changes.get(key)
        if before is None or before.rank < change.rank:
            result.changes[key] = change
            added.append(change)
            waiting += model.column_changes(change)
    return [change for change in added if result.changes[(change.table, change.column)] is change]
