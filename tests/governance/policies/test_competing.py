"""Datasets that tell the same: by columns, sources and paths, and only what the caller sees."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.governance.policies.check import check_graph
from headwater.governance.policies.competing import (
    Candidate,
    certified_rivals,
    competing_datasets,
    group_competing,
)
from headwater.governance.policies.files import PolicyFile, parse_policies
from headwater.governance.policies.reached import Reached
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, run_event, schema
from tests.run_builders import Event, ds, job, write_events

COLUMNS = frozenset({"day", "revenue"})


def candidate(name: str, **more: bool) -> Candidate:
    return Candidate(name, COLUMNS, **more)


def up(*upstream: str, sources: tuple[str, ...] = ("raw",), is_cut: bool = False) -> Reached:
    return Reached(upstream=[*upstream], sources=[*sources], is_cut=is_cut)


def groups(reached: dict[str, Reached], *some: Candidate) -> list[list[str]]:
    found = group_competing(some, reached)
    return [[one.urn for one in group.datasets] for group in found]


def test_the_same_columns_from_the_same_sources_compete() -> None:
    a, b, c = candidate("a"), candidate("b"), candidate("c")
    reached = {"a": up("raw"), "b": up("raw"), "c": up("other", sources=("other",))}
    for some in permutations((a, b, c)):
        assert groups(reached, *some) == [["a", "b"]]


def test_a_dataset_does_not_compete_with_what_it_comes_from() -> None:
    # a -> b and a -> c: only b and c are two truths.
    reached = {"a": up("raw"), "b": up("raw", "a"), "c": up("raw", "a")}
    assert groups(reached, candidate("a"), candidate("b")) == []
    assert groups(reached, candidate("a"), candidate("b"), candidate("c")) == [["b", "c"]]


def test_what_is_not_known_competes_with_nothing() -> None:
    whole = up("raw")
    for other in (up("raw", is_cut=True), up("hidden:1", "raw"), up(sources=("b",)), Reached()):
        assert groups({"a": whole, "b": other}, candidate("a"), candidate("b")) == []


@pytest.mark.parametrize(
    ("a", "b", "preferred"),
    [
        ({"is_certified": True}, {}, "a"),
        ({"is_certified": True}, {"is_certified": True}, ""),
        ({"is_certified": True, "is_deprecated": True}, {"is_certified": True}, "b"),
        ({}, {}, ""),
    ],
)
def test_the_one_certified_dataset_is_preferred(
    a: dict[str, bool], b: dict[str, bool], preferred: str
) -> None:
    (group,) = group_competing(
        [candidate("a", **a), candidate("b", **b)], {"a": up("raw"), "b": up("raw")}
    )
    assert (group.preferred, group.columns, group.sources) == (
        preferred,
        ("day", "revenue"),
        ("raw",),
    )


def told(name: str, *columns: str, namespace: str = "db") -> dict[str, Any]:
    return dataset(name, schema(**dict.fromkeys(columns, "int")), namespace=namespace)


def made(number: int, inputs: list[dict[str, Any]], output: dict[str, Any]) -> Event:
    return run_event(
        f"r{number}", "COMPLETE", number, job=f"j{number}", inputs=inputs, outputs=[output]
    )


@pytest.fixture(scope="module")
def estate(database: Database) -> Iterator[GraphView]:
    """raw -> sales (certified) -> j5; raw -> copy -> j4 -> report; raw + secret -> third."""
    empty(database)
    certified = {"tags": {"tags": [{"key": "certified", "value": "true"}]}}
    raw, secret = told("raw", "id"), told("x", "id", namespace="secret")
    events = [
        dataset_event("sales", 0, certified),
        made(1, [raw], told("sales", "day", "revenue")),
        made(2, [raw], told("copy", "Revenue", "DAY")),
        made(3, [raw, secret], told("third", "day", "revenue")),
        made(4, [dataset("copy")], told("report", "total", "day")),
        made(5, [dataset("sales")], told("board", "total")),
    ]
    write_events(database, events)
    yield GraphView(database)
    empty(database)


@pytest.mark.neo4j
def test_two_truths_of_a_graph(estate: GraphView) -> None:
    (found,) = competing_datasets(estate)
    assert [one.urn for one in found.datasets] == [ds("copy"), ds("sales")]
    assert (found.preferred, found.sources) == (ds("sales"), (ds("raw"),))
    assert competing_datasets(estate, ds("copy")) == [found]
    assert competing_datasets(estate, ds("raw")) == []
    assert certified_rivals(estate, [ds("copy"), ds("raw")]) == {ds("copy"): [ds("sales")]}


@pytest.mark.neo4j
def test_readers_of_the_other_truth_are_flagged(estate: GraphView) -> None:
    policies = parse_policies([PolicyFile("a.yaml", "name: prefer\nrule: prefer-certified\n")])
    found = check_graph(estate, policies, datetime(2026, 3, 1, tzinfo=UTC))
    assert [one.urn for one in found.violations] == [job("j4")]
    assert found.violations[0].evidence == {
        "node.name": "j4",
        "upstream.replaceable": [ds("copy")],
    }


@pytest.mark.neo4j
def test_a_hidden_dataset_is_no_rival(estate: GraphView) -> None:
    assert competing_datasets(estate.visible_to(Visibility(("secret",)))) == []
    # `third` has a hidden source: it competes with none, and names none.
    (seen,) = competing_datasets(estate.visible_to(Visibility(("db", "etl"))))
    assert [one.urn for one in seen.datasets] == [ds("copy"), ds("sales")]
