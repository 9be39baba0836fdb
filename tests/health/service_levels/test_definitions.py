"""The definitions: every promised level has an objective that leaves a budget."""

from __future__ import annotations

import pytest

from headwater.errors import QueryError
from headwater.health.figures.definitions import FIGURES
from headwater.health.service_levels.definitions import SERVICE_LEVELS, ServiceLevel, levels_of
from headwater.health.service_levels.measures import MEASURES


def test_the_targets_that_the_platform_promises() -> None:
    assert {id: level.target for id, level in SERVICE_LEVELS.items()} == {
        "M1": 0.8,
        "M2": 0.95,
        "M3": 15 * 60,
        "M4": 60 * 60,
        "M5": 60,
        "M6": 0.9,
        "M7": 0,
        "M8": 0.9,
        "M9": 0.99,
        "M10": 1.0,
        "run-success": 0.95,
        "data-freshness": 0.9,
        "data-correctness": 0.9,
        "median-blast-radius": 20,
        "unknown-downstreams": 0.3,
        "certified-path-integrity": 1.0,
    }


@pytest.mark.parametrize("level", SERVICE_LEVELS.values(), ids=lambda level: level.id)
def test_each_level_has_a_budget_and_a_way_to_be_measured(level: ServiceLevel) -> None:
    assert 0 < level.objective < 1
    if level.figure:
        assert level.target == FIGURES[level.figure].threshold
    else:
        assert (level.id in MEASURES) == (level.source.value in ("HISTORY", "GRAPH"))


def test_a_value_at_the_target_meets_it() -> None:
    assert SERVICE_LEVELS["M1"].is_met_by(0.8)
    assert not SERVICE_LEVELS["M1"].is_met_by(0.79)
    assert SERVICE_LEVELS["M5"].is_met_by(60.0)
    assert not SERVICE_LEVELS["M5"].is_met_by(60.5)
    assert SERVICE_LEVELS["M5"].is_met_by(None) is None


def test_levels_by_id() -> None:
    assert [one.name for one in levels_of(["M9", "M1", "M9"])] == ["query-success", "coverage"]
    with pytest.raises(QueryError, match="M99"):
        levels_of(["M1", "M99"])
