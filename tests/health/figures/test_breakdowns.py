"""Top datasets, and the heat map of cost against fidelity, of a history worked out by hand."""

from __future__ import annotations

import pytest

from headwater.health.figures.breakdowns import (
    COST_BOUNDS,
    CostCell,
    DatasetImpact,
    Fidelity,
    cost_against_fidelity,
    cost_band,
    top_datasets,
)
from headwater.lineage.view import GraphView
from tests.health.figures.story import NOW
from tests.run_builders import ds


@pytest.mark.neo4j
def test_datasets_with_the_most_consumers_come_first(story: GraphView) -> None:
    # raw: load, old, build, train, ship and the answer; orders, mart, model, out, archive.
    assert top_datasets(story) == [
        DatasetImpact(ds("raw"), datasets=5, jobs=5, answers=1),
        DatasetImpact(ds("orders"), datasets=3, jobs=3, answers=1),
        DatasetImpact(ds("mart"), datasets=2, jobs=2, answers=1),
    ]
    assert [one.dataset for one in top_datasets(story, first=1)] == [ds("raw")]


@pytest.mark.neo4j
def test_each_dataset_is_in_one_cell_of_the_heat_map(story: GraphView) -> None:
    cells = cost_against_fidelity(story, NOW)
    assert len(cells) == len(Fidelity) * (len(COST_BOUNDS) + 1)
    # Every run takes 60 s: orders has three, model two, raw and lone none.
    assert [cell for cell in cells if cell.datasets] == [
        CostCell(Fidelity.NONE, 0.0, 0.0, 2, 0.0),
        CostCell(Fidelity.JOB, 0.0, 60.0, 3, 180.0),
        CostCell(Fidelity.JOB, 60.0, 3600.0, 2, 300.0),
        CostCell(Fidelity.COLUMN, 0.0, 60.0, 1, 60.0),
    ]


@pytest.mark.parametrize(
    ("seconds", "band"),
    [(0.0, 0), (0.1, 1), (60.0, 1), (61.0, 2), (3600.0, 2), (86400.0, 3), (90000.0, 4)],
)
def test_a_cost_is_in_one_band(seconds: float, band: int) -> None:
    assert cost_band(seconds) == band
