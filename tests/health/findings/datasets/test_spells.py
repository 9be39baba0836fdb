"""Spells of single items that become episodes."""

from __future__ import annotations

from headwater.health.findings.datasets.spells import Spell, episodes_of
from tests.health.findings.datasets.histories import ORDERS, day


def spell(run: str, item: str, end: float | None = None) -> Spell:
    by = None if end is None else f"run:{end}"
    at = None if end is None else day(end)
    return Spell(run, (item,), day(1), day(1), {"column": item}, at, by)


def test_items_of_one_beginning_are_one_episode_until_the_last_ends() -> None:
    spells = [spell("run:1", "b", 3), spell("run:1", "a", 5), spell("run:2", "c")]
    first, second = episodes_of("mean", ORDERS, spells, "columns")
    assert (first.key, first.resolved_at, first.resolved_by) == ("run:1", day(5), "run:5")
    assert first.evidence["columns"] == [{"column": "a"}, {"column": "b"}]
    assert (second.key, second.resolved_at) == ("run:2", None)


def test_an_episode_is_open_while_one_item_is() -> None:
    [found] = episodes_of("mean", ORDERS, [spell("run:1", "a", 3), spell("run:1", "b")], "columns")
    assert (found.resolved_at, found.resolved_by) == (None, None)


def test_at_most_twenty_items_are_listed() -> None:
    spells = [spell("run:1", f"column_{number:02}") for number in range(30)]
    [found] = episodes_of("mean", ORDERS, spells, "columns")
    assert (len(found.evidence["columns"]), found.evidence["count"]) == (20, 30)
