"""Daily snapshots of the figures, for trends.

A snapshot is the value of one figure on one day in UTC, for a caller who sees everything. It is one
node, outside the fold of events: a rebuild keeps it, and the canonical export leaves it out. A
second snapshot of a day replaces the first. At most `DAYS_MAX` days are kept.

A backfill writes past days of the figures that the graph can still answer: runs by their times, and
coverage by the edges that were known until then, current or not. It keeps the snapshots that exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from headwater.cypher.driver.write_lock import acquire_write_lock
from headwater.errors import ForbiddenError, NotFoundError
from headwater.health.figures.definitions import FIGURES, FigureDefinition
from headwater.health.figures.figures import Figure, evaluate_all
from headwater.health.figures.measures import MEASURES, SECONDS_MAX, Measure
from headwater.lineage.pagination import require_between
from headwater.lineage.view import GraphView

HOLDER = "figures"
DAYS_MAX = 400
HISTORY_DAYS_DEFAULT = 90


@dataclass(frozen=True)
class Point:
    """The value of a figure on a day; `is_backfilled`: worked out later from the run history."""

    day: date
    value: float | None
    numerator: float | None
    denominator: int | None
    taken_at: datetime
    is_backfilled: bool


def take_snapshot(view: GraphView, now: datetime | None = None) -> list[Figure]:
    """Write the snapshot of today in place of an earlier one of today, and delete old ones.

    Raises UnavailableError.
    """
    instant = now or datetime.now(UTC)
    found = evaluate_all(view, list(FIGURES.values()), instant)
    _save(view, [_row(one, instant.date(), taken_at=instant) for one in found], replace=True)
    oldest = instant.date() - timedelta(days=DAYS_MAX - 1)
    with view.database.write() as transaction:
        acquire_write_lock(transaction, HOLDER)
        transaction.run("write/figures/delete_old_snapshots", day=oldest.isoformat())
    return found


def has_snapshot(view: GraphView, day: date, *, since: datetime | None = None) -> bool:
    """Return True if a day has a snapshot of every figure, taken at an instant or later."""
    taken = {
        row["figure"]
        for row in _read(view, list(FIGURES), day, day)
        if not row["isBackfilled"] and (since is None or row["takenAt"] >= since)
    }
    return taken >= FIGURES.keys()


def backfill(view: GraphView, days: int, now: datetime | None = None) -> int:
    """Write the missing snapshots of the days before today; return the number of days examined.

    A day before the first known dataset or run gets no snapshot.
    Raises QueryError for days outside the bounds, UnavailableError.
    """
    require_between("days", days, 1, DAYS_MAX - 1)
    instant = now or datetime.now(UTC)
    for back in range(days, 0, -1):
        day = instant.date() - timedelta(days=back)
        end = datetime.combine(day + timedelta(days=1), time(), UTC)
        found = [
            Figure.of(definition, measure, end)
            for definition, measure in _past_measures(view, end)
            if measure.denominator
        ]
        rows = [_row(one, day, taken_at=instant, is_backfilled=True) for one in found]
        _save(view, rows, replace=False)
    return days


def _past_measures(view: GraphView, end: datetime) -> Iterable[tuple[FigureDefinition, Measure]]:
    """Yield the figures at a past instant that the graph can still answer."""
    [row] = view.read("read/figures/coverage_at", seconds=SECONDS_MAX, instant=end)
    total, part = row["datasets"] + row["jobs"], row["connected"] + row["complete"]
    yield FIGURES["coverage"], Measure.share(part, total, [])
    yield FIGURES["unknown-downstreams"], Measure.share(row["unread"], row["datasets"], [])
    for name in ("active-pipelines", "failing-runs"):
        yield FIGURES[name], MEASURES[name](view, end)


def history(
    view: GraphView, names: Sequence[str], *, days: int, now: datetime | None = None
) -> dict[str, list[Point]]:
    """Return the snapshots of figures in the last days, today included, oldest first.

    A caller who does not see everything gets none, because a snapshot counts every node. Raises
    QueryError for days outside the bounds.
    """
    require_between("days", days, 1, DAYS_MAX)
    points: dict[str, list[Point]] = {name: [] for name in names}
    if not view.visibility.is_unrestricted:
        return points
    today = (now or datetime.now(UTC)).date()
    for row in _read(view, list(names), today - timedelta(days=days - 1), today):
        points[row["figure"]].append(_point(row))
    return points


def figure_at(view: GraphView, definition: FigureDefinition, at: datetime) -> Figure:
    """Return a figure from its last snapshot until the day of an instant.

    Raises NotFoundError without such a snapshot, ForbiddenError for a restricted caller.
    """
    if not view.visibility.is_unrestricted:
        raise ForbiddenError("snapshots count every namespace, but this key is restricted to some")
    day = at.astimezone(UTC).date()
    rows = _read(view, [definition.name], day - timedelta(days=DAYS_MAX), day)
    if not rows:
        raise NotFoundError(
            f"there is no snapshot of {definition.name} until {day}",
            hint="`headwater snapshot --days 90` writes those that the graph knows.",
        )
    point = _point(rows[-1])
    return Figure(definition, point.value, point.numerator, point.denominator, point.taken_at)


def _point(row: dict[str, Any]) -> Point:
    return Point(
        day=date.fromisoformat(row["day"]),
        value=row["value"],
        numerator=row["numerator"],
        denominator=row["denominator"],
        taken_at=row["takenAt"],
        is_backfilled=row["isBackfilled"],
    )


def _row(
    figure: Figure, day: date, *, taken_at: datetime, is_backfilled: bool = False
) -> dict[str, Any]:
    name = figure.definition.name
    properties: dict[str, Any] = {
        "figure": name,
        "day": day.isoformat(),
        "value": None if figure.value is None else float(figure.value),
        "numerator": None if figure.numerator is None else float(figure.numerator),
        "denominator": figure.denominator,
        "takenAt": taken_at,
        "isBackfilled": True if is_backfilled else None,
    }
    return {"urn": f"figure:{name}:{day}", "properties": properties}


def _read(view: GraphView, names: list[str], since: date, until: date) -> list[dict[str, Any]]:
    return view.read(
        "read/figures/history",
        figures=names,
        since=since.isoformat(),
        until=until.isoformat(),
        limit=DAYS_MAX * len(FIGURES),
    )


def _save(view: GraphView, rows: list[dict[str, Any]], *, replace: bool) -> None:
    with view.database.write() as transaction:
        acquire_write_lock(transaction, HOLDER)
        transaction.run("write/figures/snapshots", rows=rows, replace=replace)
