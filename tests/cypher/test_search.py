"""Search: what people type finds what they mean, and nothing they type is an error."""

from __future__ import annotations

import re

import pytest

from headwater.cypher.database import Database
from headwater.cypher.search import lucene_query, search
from headwater.errors import QueryError
from tests.stories import answer, ds, run, run_of, tell

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


@pytest.fixture
def named(database: Database, clean_graph: object) -> Database:
    del clean_graph
    tell(
        database,
        run("run-77", "load_planes", ["/raw/planes"], ["marts.carrier_delay", "planes"]),
        run("run-78", "other", ["/raw/airports"], ["planes_by_year", "söme/tÄble:x"], minute=3),
        answer("worst-carrier-2013", "planes", minute=9, content="HA was the worst"),
    )
    return database


@pytest.mark.neo4j
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_breaks_nothing(named: Database, text: str) -> None:
    assert len(search(named, text)) < 8


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
def test_finds(named: Database, text: str, first: str) -> None:
    assert search(named, text)[0].name == first


@pytest.mark.neo4j
def test_exact_names_first_and_bounded(named: Database) -> None:
    found = [node.name for node in search(named, "planes")]
    assert found[0] == "planes"
    assert found[1] == "planes_by_year"
    assert set(found) == {"planes", "planes_by_year", "/raw/planes", "load_planes"}
    assert len(search(named, "planes", first=2)) == 2
    assert search(named, "planes", first=0) == []
    for first in (-1, 101):
        with pytest.raises(QueryError):
            search(named, "planes", first=first)


@pytest.mark.neo4j
def test_a_urn_or_a_run_id_finds_its_node(named: Database) -> None:
    assert search(named, ds("/raw/planes"))[0].urn == ds("/raw/planes")
    assert [node.urn for node in search(named, "run-77")] == [run_of("run-77")]
