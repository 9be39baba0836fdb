"""Connections: pages follow each other without repeats or gaps, by the Relay specification."""

from __future__ import annotations

import pytest
from graphql import GraphQLObjectType, get_named_type, get_nullable_type, is_list_type

from headwater.cypher.driver.database import Database
from headwater.graphql.schema import create_schema
from headwater.schema import headwater_facets as native
from tests.canonical import empty
from tests.graphql.conftest import Ask
from tests.run_builders import at, ds, job, run, version, write_events

pytestmark = pytest.mark.neo4j

PAGE = (
    "edges { cursor node { urn } } nodes { urn } pageInfo { hasNextPage hasPreviousPage "
    "startCursor endCursor }"
)
LISTS = {
    "versions": ("dataset", ds("out")),
    "answers": ("dataset", ds("out")),
    "runs": ("job", job("build")),
}


@pytest.fixture
def history(database: Database) -> None:
    """Write five runs, ten minutes apart, the last two at the same instant, and an answer for
    each.
    """
    empty(database)
    minutes = [0, 10, 20, 30, 30]
    write_events(
        database,
        *(
            run(f"r{n}", "build", ["raw"], ["out"], minute=minute)
            for n, minute in enumerate(minutes)
        ),
    )
    answers = [
        native.answer_event(
            f"a{n}",
            cites=[{"namespace": "db", "name": "out", "runId": f"r{n}"}],
            generated_at=at(60 + minute),
        )
        for n, minute in enumerate(minutes)
    ]
    write_events(database, answers)


def pages(data: Ask, field: str, first: int) -> list[list[str]]:
    """Return all pages of a list, as the urns of each."""
    kind, urn = LISTS[field]
    query = f"""query ($urn: ID!, $first: Int!, $after: String) {{
      {kind}(urn: $urn) {{ {field}(first: $first, after: $after) {{ {PAGE} }} }} }}"""
    found: list[list[str]] = []
    after = None
    while True:
        page = data(query, urn=urn, first=first, after=after)[kind][field]
        assert page["nodes"] == [edge["node"] for edge in page["edges"]]
        assert page["pageInfo"]["hasPreviousPage"] == bool(after)
        found.append([node["urn"] for node in page["nodes"]])
        if not page["pageInfo"]["hasNextPage"]:
            return found
        assert page["pageInfo"]["endCursor"] == page["edges"][-1]["cursor"]
        after = page["pageInfo"]["endCursor"]


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize("field", LISTS)
def test_all_pages_together_are_the_list(data: Ask, field: str) -> None:
    newest_first = [3, 4, 2, 1, 0]
    urns = {
        "versions": [version("out", f"r{n}") for n in newest_first],
        "answers": [f"answer:a{n}" for n in newest_first],
        "runs": [f"run:r{n}" for n in newest_first],
    }[field]
    assert pages(data, field, 200) == [urns]
    assert pages(data, field, 5) == [urns]
    assert pages(data, field, 2) == [urns[:2], urns[2:4], urns[4:]]
    assert pages(data, field, 1) == [[urn] for urn in urns]


@pytest.mark.usefixtures("history")
def test_new_entries_between_pages_neither_repeat_nor_skip_others(
    database: Database, data: Ask
) -> None:
    query = """query ($u: ID!, $a: String) {
      job(urn: $u) { runs(first: 2, after: $a) { nodes { runId } pageInfo { endCursor } } } }"""
    first = data(query, u=job("build"))["job"]["runs"]
    write_events(database, run("r9", "build", ["raw"], ["out"], minute=90))
    second = data(query, u=job("build"), a=first["pageInfo"]["endCursor"])["job"]["runs"]
    assert [one["runId"] for one in (*first["nodes"], *second["nodes"])] == ["r3", "r4", "r2", "r1"]


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize("after", ["x", "", "W10=", "WyJ4IiwgInkiXQ==", "WzEsIDJd"])
def test_a_cursor_that_is_none(refused: Ask, data: Ask, after: str) -> None:
    query = "query ($u: ID!, $a: String) { job(urn: $u) { runs(after: $a) { nodes { runId } } } }"
    if not after:
        assert len(data(query, u=job("build"), a=after)["job"]["runs"]["nodes"]) == 5
        return
    error = refused(query, u=job("build"), a=after)
    assert error["extensions"]["code"] == "BAD_REQUEST"
    assert "cursor" in error["message"]


def test_connections_follow_the_relay_specification() -> None:
    """Check the rules of https://relay.dev/graphql/connections.htm on every connection type."""
    schema = create_schema()._schema
    connections = [type for name, type in schema.type_map.items() if name.endswith("Connection")]
    assert len(connections) > 8
    page_info = schema.type_map["PageInfo"]
    assert isinstance(page_info, GraphQLObjectType)
    assert {name: str(field.type) for name, field in page_info.fields.items()} == {
        "hasNextPage": "Boolean!",
        "hasPreviousPage": "Boolean!",
        "startCursor": "String",
        "endCursor": "String",
    }
    for connection in connections:
        assert isinstance(connection, GraphQLObjectType)
        assert str(connection.fields["pageInfo"].type) == "PageInfo!", connection
        assert is_list_type(get_nullable_type(connection.fields["edges"].type)), connection
        edge = get_named_type(connection.fields["edges"].type)
        assert isinstance(edge, GraphQLObjectType)
        assert edge.name.endswith("Edge")
        assert str(edge.fields["cursor"].type) == "String!", edge
        assert not is_list_type(get_nullable_type(edge.fields["node"].type)), edge


def test_fields_of_connections_take_the_arguments_of_a_page() -> None:
    schema = create_schema()._schema
    checked, forward_only = 0, set[str]()
    for type in schema.type_map.values():
        for name, field in type.fields.items() if isinstance(type, GraphQLObjectType) else ():
            if get_named_type(field.type).name.endswith("Connection"):
                types = {
                    key: str(field.args[key].type)
                    for key in ("first", "after", "last", "before")
                    if key in field.args
                }
                both = {"first": "Int", "after": "String", "last": "Int", "before": "String"}
                assert types in (both, {"first": "Int", "after": "String"}), f"{type}.{name}"
                if "last" not in types:
                    forward_only.add(f"{type}.{name}")
                checked += 1
    assert checked > 10
    assert forward_only == {
        "Query.aliases",
        "Query.competingDatasets",
        "Query.contractViolations",
        "Query.contracts",
        "Query.inventoryAssets",
        "Query.models",
        "Query.schemaChanges",
        "Query.unusedDatasets",
        "Coverage.namespaces",
    }


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize("field", LISTS)
def test_pages_read_backward_are_the_list(data: Ask, field: str) -> None:
    """Read each list backward in pages of two; totalCount counts all pages."""
    kind, urn = LISTS[field]
    query = f"""query ($urn: ID!, $last: Int!, $before: String) {{
      {kind}(urn: $urn) {{ {field}(last: $last, before: $before) {{ totalCount {PAGE} }} }} }}"""
    [whole] = pages(data, field, 200)
    collected: list[str] = []
    before = None
    while True:
        page = data(query, urn=urn, last=2, before=before)[kind][field]
        assert page["totalCount"] == len(whole) == 5
        assert page["pageInfo"]["hasNextPage"] == bool(before)
        collected = [node["urn"] for node in page["nodes"]] + collected
        if not page["pageInfo"]["hasPreviousPage"]:
            break
        before = page["pageInfo"]["startCursor"]
    assert collected == whole


@pytest.mark.usefixtures("history")
def test_first_is_optional_and_never_negative(data: Ask, refused: Ask) -> None:
    query = "query ($first: Int) { owners(first: $first) { edges { cursor } } }"
    assert data(query) == data(query, first=None) == data(query, first=20)
    error = refused(query, first=-1)
    assert error["extensions"]["code"] == "BAD_REQUEST"
    assert "first -1 is not between 0 and 200" in error["message"]
