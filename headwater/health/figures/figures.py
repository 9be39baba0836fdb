"""The figures as one caller sees them: now, or from the snapshot of a past day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from headwater.health.figures.definitions import FigureDefinition
from headwater.health.figures.measures import MEASURES, Measure
from headwater.lineage.view import GraphView


@dataclass(frozen=True)
class Figure:
    """A figure with its value at `as_of`; `urns` are the nodes that it lists, at most 200."""

    definition: FigureDefinition
    value: float | None
    numerator: float | None
    denominator: int | None
    as_of: datetime
    urns: list[str] = field(default_factory=list)
    is_sampled: bool = False

    @property
    def is_out_of_bounds(self) -> bool:
        return self.definition.is_out_of_bounds(self.value)

    @classmethod
    def of(cls, definition: FigureDefinition, measure: Measure, as_of: datetime) -> Figure:
        return cls(
            definition,
            measure.value,
            measure.numerator,
            measure.denominator,
            as_of,
            measure.urns,
            measure.is_sampled,
        )


def evaluate(view: GraphView, definition: FigureDefinition, now: datetime | None = None) -> Figure:
    """Return a figure of the graph as it is."""
    instant = now or datetime.now(UTC)
    return Figure.of(definition, MEASURES[definition.name](view, instant), instant)


def evaluate_all(
    view: GraphView, definitions: Sequence[FigureDefinition], now: datetime | None = None
) -> list[Figure]:
    """Return figures of the graph as it is, all at one instant."""
    instant = now or datetime.now(UTC)
    return [evaluate(view, definition, instant) for definition in definitions]
