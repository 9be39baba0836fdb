"""The definitions of figures, and their bounds."""

from __future__ import annotations

import pytest

from headwater.errors import QueryError
from headwater.health.figures.definitions import FIGURES, Direction, definitions_of


def test_thresholds_lie_on_the_bad_side_of_targets() -> None:
    for one in FIGURES.values():
        if one.good is Direction.NEITHER:
            assert one.threshold is None
            assert one.target is None
            continue
        assert one.threshold is not None
        assert one.target is not None
        assert (one.target - one.threshold) * (1 if one.good is Direction.UP else -1) >= 0
        assert not one.is_out_of_bounds(one.threshold)
        assert not one.is_out_of_bounds(one.target)


@pytest.mark.parametrize(
    ("name", "value", "is_out"),
    [
        ("coverage", 0.79, True),
        ("coverage", 0.8, False),
        ("coverage", None, False),
        ("failing-runs", 0.06, True),
        ("failing-runs", 0.05, False),
        ("active-pipelines", 0, False),
    ],
)
def test_a_value_is_out_of_bounds_beyond_the_threshold(
    name: str, value: float | None, is_out: bool
) -> None:
    assert FIGURES[name].is_out_of_bounds(value) is is_out


def test_figures_are_chosen_by_name() -> None:
    assert [one.name for one in definitions_of(["coverage", "coverage"])] == ["coverage"]
    assert definitions_of(None) == list(FIGURES.values())
    with pytest.raises(QueryError, match="'wealth' is an unknown figure"):
        definitions_of(["wealth"])
