"""Search: typed text finds the intended nodes, and no typed text is an error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from headwater.lineage.questions import search as module
from headwater.lineage.questions.search import SearchFilters, ValueCount, lucene_query, search
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset_event, job_event, schema
from tests.run_builders import Event, answer, ds, job, run, run_of, write_events

HOSTILE = [
    "",
    "   ",
    "*",
    "?",
    "\\",
    '"',
    '"unclosed',
    "(((",
    "a AND",
    "OR",
    "NOT NOT",
    "name:[* TO *]",
    "{a TO b}",
    "/regex[/",
    "a~99",
    "boost^x",
    '+-&&||!(){}[]^"~*?:\\/',
    "' OR 1=1 //",
    "}) DETACH DELETE n //",
    "\x00\x07",
    "日本語",
    "🦆" * 100,
    "w " * 5_000,
    "x" * 10_000,
    "_" * 10_000,
    " ".join("abcdefgh" * 60 for _ in range(20)),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_only_words_reach_lucene(text: str) -> None:
    query = lucene_query(text.strip()[:500])
    clause = re.compile(r"\((\w+)\^8 OR \1\*\^3 OR \*\1\*\)")
    assert query == "" or all(clause.fullmatch(part) for part in query.split(" AND "))


@pytest.fixture(scope="module")
def named(database: Database, view: GraphView) -> Iterator[GraphView]:
    empty(database)
    write_events(
        database,
        run("run-77", "load_planes", ["/raw/planes"], ["marts.carrier_delay", "planes"]),
        run("run-78", "other", ["/raw/airports"], ["planes_by_year", "söme/tÄble:x"], minute=3),
        answer("worst-carrier-2013", "planes", minute=9, content="HA was the worst"),
    )
    yield view
    empty(database)


def names(view: GraphView, text: str, **more: Any) -> list[str]:
    return [hit.node.name for hit in search(view, text, **more).page.entries]


def urns(view: GraphView, text: str, **more: Any) -> list[str]:
    return [hit.node.urn for hit in search(view, text, **more).page.entries]


@pytest.mark.neo4j
def test_hostile_text_breaks_nothing(named: GraphView) -> None:
    for text in HOSTILE:
        assert len(names(named, text)) < 8, text


@pytest.mark.neo4j
@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("planes", "planes"),
        ("PLANES", "planes"),
        ("carrier_delay", "marts.carrier_delay"),
        ("marts.carrier", "marts.carrier_delay"),
        ("rier_del", "marts.carrier_delay"),
        ("airports", "/raw/airports"),
        ("/raw/planes", "/raw/planes"),
        ("load_planes", "load_planes"),
        ("täble", "söme/tÄble:x"),
        ("worst-carrier-2013", "worst-carrier-2013"),
        ("worst carrier", "worst-carrier-2013"),
        ("HA was the worst", "worst-carrier-2013"),
    ],
)
def test_finds(named: GraphView, text: str, first: str) -> None:
    assert names(named, text)[0] == first


@pytest.mark.neo4j
def test_exact_names_first_and_bounded(named: GraphView) -> None:
    found = names(named, "planes")
    assert found[:2] == ["planes", "planes_by_year"]
    assert set(found) == {"planes", "planes_by_year", "/raw/planes", "load_planes"}
    assert names(named, "planes", first=2) == found[:2]
    assert names(named, "planes", first=0) == []
    for first in (-1, 101):
        with pytest.raises(QueryError):
            search(named, "planes", first=first)


@pytest.mark.neo4j
def test_a_urn_or_a_run_id_finds_its_node(named: GraphView) -> None:
    assert urns(named, ds("/raw/planes"))[0] == ds("/raw/planes")
    [run_hit] = search(named, "run-77").page.entries
    assert (run_hit.node.urn, run_hit.node.kind, run_hit.node.name) == (
        run_of("run-77"),
        "PIPELINE_RUN",
        "load_planes",
    )
    assert urns(named, "worst-carrier-2013") == ["answer:worst-carrier-2013"]


@pytest.mark.neo4j
def test_pages_list_each_hit_once(named: GraphView) -> None:
    complete = search(named, "planes")
    listed: list[str] = []
    after = None
    for _ in range(4):
        found = search(named, "planes", first=1, after=after)
        listed.extend(hit.node.urn for hit in found.page.entries)
        after = found.page.cursors[0]
        assert found.count == 4
    assert listed == [hit.node.urn for hit in complete.page.entries]
    assert not found.page.has_next
    with pytest.raises(QueryError, match="after"):
        search(named, "planes", after="x")


def tags(*words: tuple[str, str]) -> Event:
    return {"tags": {"tags": [{"key": key, "value": value} for key, value in words]}}


def owned_by(name: str) -> Event:
    return {"ownership": {"owners": [{"name": name}]}}


@pytest.fixture(scope="module")
def described(database: Database, view: GraphView) -> Iterator[GraphView]:
    """Write six nodes with the word `fuel` in different properties, and one without it."""
    empty(database)
    write_events(
        database,
        [
            dataset_event(
                "fuel", 0, {**tags(("tier", "gold"), ("pii", "true")), **owned_by("ann")}
            ),
            dataset_event("prices", 0, {**schema(fuel_price="int"), **tags(("tier", "gold"))}),
            dataset_event(
                "notes", 0, {"documentation": {"description": "what fuel costs"}}, namespace="web"
            ),
            dataset_event("trips", 0, tags(("topic", "fuel"))),
            dataset_event("bare", 0),
            job_event("refuel", 0, facets=owned_by("fuel-team"), outputs=["trips"]),
        ],
        answer("report", {"namespace": "web", "name": "notes"}, content="fuel got dearer"),
    )
    yield view
    empty(database)


@pytest.mark.neo4j
def test_by_description_column_tag_owner_and_content(described: GraphView) -> None:
    found = search(described, "fuel")
    assert {hit.node.name for hit in found.page.entries} == {
        "fuel",
        "prices",
        "notes",
        "trips",
        "refuel",
        "report",
    }
    assert found.page.entries[0].node.name == "fuel"
    assert [hit.rank for hit in found.page.entries] == [1, 3, 3, 3, 3, 3]
    assert (found.count, found.truncated) == (6, False)
    assert found.kinds == [ValueCount("DATASET", 4), ValueCount("ANSWER", 1), ValueCount("JOB", 1)]
    assert found.namespaces == [ValueCount("db", 3), ValueCount("etl", 1), ValueCount("web", 1)]
    assert found.tags == [
        ValueCount("tier=gold", 2),
        ValueCount("pii", 1),
        ValueCount("topic=fuel", 1),
    ]


@pytest.mark.neo4j
@pytest.mark.parametrize(
    ("filters", "left"),
    [
        (SearchFilters(kind="JOB"), {"refuel"}),
        (SearchFilters(namespace="web"), {"notes"}),
        (SearchFilters(tag="tier"), {"fuel", "prices"}),
        (SearchFilters(tag="tier=gold", owner="ann"), {"fuel"}),
        (SearchFilters(tag="pii"), {"fuel"}),
        (SearchFilters(tag="tie"), set()),
        (SearchFilters(kind="JOB", namespace="web"), set()),
    ],
)
def test_filters_return_the_counted_hits(
    described: GraphView, filters: SearchFilters, left: set[str]
) -> None:
    found = search(described, "fuel", filters=filters)
    assert {hit.node.name for hit in found.page.entries} == left
    assert found.count == len(left)
    assert found.kinds == search(described, "fuel").kinds


@pytest.mark.neo4j
def test_only_visible_nodes_count(described: GraphView) -> None:
    found = search(described.visible_to(Visibility(("db", "etl"))), "fuel")
    assert {hit.node.name for hit in found.page.entries} == {"fuel", "prices", "trips", "refuel"}
    assert found.namespaces == [ValueCount("db", 3), ValueCount("etl", 1)]
    assert found.kinds == [ValueCount("DATASET", 3), ValueCount("JOB", 1)]
    web = described.visible_to(Visibility(("web",)))
    assert set(names(web, "fuel")) == {"notes", "report"}
    assert names(web, ds("fuel")) == []


@pytest.mark.neo4j
def test_a_truncated_search_is_reported(
    described: GraphView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HITS_MAX", 2)
    found = search(described, "fuel")
    assert (found.count, found.truncated) == (2, True)
    assert found.page.entries[0].node.urn == ds("fuel")


@pytest.mark.neo4j
def test_an_unknown_kind_is_named(described: GraphView) -> None:
    with pytest.raises(QueryError, match="TABLE"):
        search(described, "fuel", filters=SearchFilters(kind="TABLE"))
    assert search(described, "fuel", filters=SearchFilters(kind="JOB")).page.entries[
        0
    ].node.urn == job("refuel")


@pytest.fixture
def trusted(database: Database, view: GraphView) -> Iterator[GraphView]:
    empty(database)
    certified = {"tags": {"tags": [{"key": "certified", "value": "true"}]}}
    deprecated = {"tags": {"tags": [{"key": "deprecated", "value": "true"}]}}
    events = [
        dataset_event("orders_a", 0, deprecated),
        dataset_event("orders_b", 1),
        dataset_event("orders_c", 2, certified),
    ]
    write_events(database, events)
    yield view
    empty(database)


@pytest.mark.neo4j
def test_certified_comes_first_among_equal_matches_and_deprecated_last(trusted: GraphView) -> None:
    assert names(trusted, "orders") == ["orders_c", "orders_b", "orders_a"]
    # A name that matches better comes first, whatever it is tagged.
    assert names(trusted, "orders_a") == ["orders_a"]
    page = search(trusted, "orders", first=1).page
    following = search(trusted, "orders", first=2, after=page.cursors[-1]).page
    assert [hit.node.name for hit in following.entries] == ["orders_b", "orders_a"]
