"""Daily snapshots of figures: written once a day, bounded, and filled from the run history."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import ForbiddenError, NotFoundError
from headwater.health.figures.definitions import FIGURES
from headwater.health.figures.snapshots import (
    DAYS_MAX,
    Point,
    backfill,
    figure_at,
    has_snapshot,
    history,
    take_snapshot,
)
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import canonical
from tests.health.figures.story import NOW

pytestmark = pytest.mark.neo4j
COVERAGE = FIGURES["coverage"]
_DELETE = "MATCH (s:FigureSnapshot) DELETE s"


@pytest.fixture(autouse=True)
def no_snapshots(story: GraphView) -> None:
    with story.database._transaction("WRITE", 60.0) as transaction:
        transaction.run(_DELETE).consume()


def values(points: list[Point]) -> list[tuple[str, float | None]]:
    return [(str(point.day), point.value) for point in points]


def test_a_second_snapshot_of_a_day_replaces_the_first(story: GraphView) -> None:
    take_snapshot(story, NOW)
    assert has_snapshot(story, NOW.date())
    assert not has_snapshot(story, NOW.date() - timedelta(days=1))
    later = NOW + timedelta(hours=5)
    take_snapshot(story, later)
    [point] = history(story, ["coverage"], days=1, now=later)["coverage"]
    assert point == Point(date(2026, 1, 3), 12 / 14, 12.0, 14, later, False)


def test_snapshots_stay_out_of_the_canonical_export(story: GraphView, database: Database) -> None:
    before = canonical(database)
    take_snapshot(story, NOW)
    assert canonical(database) == before


def test_old_snapshots_are_deleted(story: GraphView) -> None:
    take_snapshot(story, NOW)
    later = NOW + timedelta(days=DAYS_MAX)
    take_snapshot(story, later - timedelta(days=1))
    take_snapshot(story, later)
    days = [
        point.day for point in history(story, ["coverage"], days=DAYS_MAX, now=later)["coverage"]
    ]
    assert days == [later.date() - timedelta(days=1), later.date()]


def test_past_days_are_filled_from_the_run_history(story: GraphView) -> None:
    take_snapshot(story, NOW)
    now = NOW + timedelta(hours=1)
    assert backfill(story, 30, now) == 30
    found = history(story, list(FIGURES), days=31, now=now)
    # On 12 December raw and archive exist, with the job old. The rest begins on 1 January: then
    # mart, model and so on are known too; lone and guess have no lineage.
    coverage = values(found["coverage"])
    assert coverage[0] == ("2025-12-12", 1.0)
    assert coverage[-4:] == [
        ("2025-12-31", 1.0),
        ("2026-01-01", 12 / 14),
        ("2026-01-02", 12 / 14),
        ("2026-01-03", 12 / 14),
    ]
    assert values(found["failing-runs"])[-1] == ("2026-01-03", 1 / 8)
    assert dict(values(found["failing-runs"]))["2025-12-12"] == 0
    # A run counts as active for a week.
    active = dict(values(found["active-pipelines"]))
    assert (active["2025-12-18"], active["2025-12-20"], active["2026-01-01"]) == (1, 0, 5)
    assert [point.is_backfilled for point in found["coverage"]][-2:] == [True, False]
    assert found["median-blast-radius"][0].day == NOW.date()


def test_a_past_figure_comes_from_its_last_snapshot(story: GraphView) -> None:
    take_snapshot(story, NOW)
    found = figure_at(story, COVERAGE, NOW + timedelta(days=3))
    assert (found.value, found.as_of) == (12 / 14, NOW)
    with pytest.raises(NotFoundError, match="no snapshot of coverage until 2026-01-01"):
        figure_at(story, COVERAGE, datetime(2026, 1, 1, tzinfo=UTC))


def test_snapshots_are_for_those_who_see_everything(story: GraphView) -> None:
    take_snapshot(story, NOW)
    view = story.visible_to(Visibility(("db",)))
    assert history(view, ["coverage"], days=1, now=NOW) == {"coverage": []}
    with pytest.raises(ForbiddenError):
        figure_at(view, COVERAGE, NOW)
