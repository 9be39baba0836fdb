"""How far a trouble reaches: from reader to reader, layer by layer, until nothing worse is found.

A trouble of a column is judged again only when it is worse than the one found there before, so cycles end and a diamond
costs what its edges do. Where it was found first is where it is nearest.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from headwater.code_analysis.model import ALL
from headwater.impact.model import Consumer, DependencyModel, PropagatedChange, Severity
from headwater.impact.severity import Classification, judge
from headwater.lineage.questions.downstream import ColumnEdge

CHANGES_MAX = 50_000


@dataclass
class AffectedConsumer:
    """A reader that is affected."""

    reader: Consumer
    severity: Severity
    distance: int
    references: dict[tuple[str, str], None] = field(default_factory=dict)
    judgements: list[Classification] = field(default_factory=list)


@dataclass
class ImpactResult:
    """Who is hit, by urn, and what is in trouble, by place and column."""

    hits: dict[str, AffectedConsumer] = field(default_factory=dict)
    troubles: dict[tuple[str, str], PropagatedChange] = field(default_factory=dict)
    truncated: str = ""

    def hit(
        self, reader: Consumer, trouble: PropagatedChange, judgement: Classification, distance: int
    ) -> None:
        """Note that a reader is affected."""
        if judgement.severity is None:
            return
        found = self.hits.setdefault(
            reader.urn, AffectedConsumer(reader, judgement.severity, distance)
        )
        if judgement.severity == "breaking":
            found.severity = "breaking"
        found.distance = min(found.distance, distance)
        if trouble.column != ALL and (judgement.shown or not trouble.of_whole):
            found.references[(trouble.place, trouble.column)] = None
        found.judgements.append(judgement)


def propagate(
    scene: DependencyModel, starts: Iterable[PropagatedChange], deadline: float
) -> ImpactResult:
    """Everything that these troubles lead to. `deadline` is a reading of time.monotonic()."""
    found = ImpactResult()
    frontier = _worse(scene, starts, found)
    while frontier:
        if time.monotonic() > deadline or len(found.troubles) > CHANGES_MAX:
            found.truncated = "time" if time.monotonic() > deadline else "nodes"
            break
        edges = scene.edges(
            {scene.place(one.place).column_urn(one.column) for one in frontier if one.column != ALL}
        )
        passed: list[PropagatedChange] = []
        for trouble in frontier:
            if time.monotonic() > deadline:
                found.truncated = "time"
                break
            passed += _meet(
                scene,
                trouble,
                edges.get(scene.place(trouble.place).column_urn(trouble.column), []),
                found,
            )
        frontier = _worse(scene, passed, found)
    return found


def _meet(
    scene: DependencyModel, trouble: PropagatedChange, edges: list[ColumnEdge], found: ImpactResult
) -> list[PropagatedChange]:
    """Every reader of what is in trouble; what they pass on."""
    passed = []
    for reader in scene.readers.get(trouble.place, ()):
        judgement = judge(scene, reader, trouble, edges)
        found.hit(reader, trouble, judgement, trouble.distance + (0 if reader.is_hidden else 1))
        passed += judgement.passed
    return passed


def _worse(
    scene: DependencyModel, troubles: Iterable[PropagatedChange], found: ImpactResult
) -> list[PropagatedChange]:
    """Those that are worse than what was found there before."""
    fresh = []
    waiting = list(troubles)
    for trouble in waiting:
        key = (trouble.place, trouble.column)
        before = found.troubles.get(key)
        if before is None or before.rank < trouble.rank:
            found.troubles[key] = trouble
            fresh.append(trouble)
            waiting += scene.columns_of(trouble)
    return [
        trouble for trouble in fresh if found.troubles[(trouble.place, trouble.column)] is trouble
    ]
