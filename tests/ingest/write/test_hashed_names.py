"""Names whose urns are hashes: they are joined, split and moved like all others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.fold import fold
from headwater.schema import headwater_facets as native
from headwater.schema.delta import GraphDelta
from headwater.schema.events import parse
from headwater.schema.urns import artifact_urn, display_name, is_hashed, parse_urn
from tests.canonical import edges
from tests.event_builders import (
    columns,
    dataset,
    dataset_event,
    deleted,
    edge,
    job_event,
    node,
    run_event,
    schema,
    symlinks,
    urns,
)
from tests.graph_of_batches import graph_of
from tests.run_builders import FACET, Event, at, column, ds, job

pytestmark = pytest.mark.neo4j


FIELD = "f" * 2_500
# A node shows a name of more than 4,000 bytes by its beginning and its hash. So does the urn of a
# column with such a field: it is no hash.
LONGER_FIELD = "g" * 5_000
NAME = "n" * 3_000
OTHER_NAME = "o" * 5_000
LATER_NAME = "p" * 3_000


def _fold(bodies: list[bytes]) -> GraphDelta:
    return fold(parse(body, received=0) for body in bodies)


def write_in_all_orders(database: Database, *events: Event) -> None:
    """Assert that these events give one graph: together, and one by one in many orders.

    Up to three events are written in each order, more of them from each event on, forward and
    backward. The graph stays as the given order makes it, one by one.
    """
    bodies = [json.dumps(event, sort_keys=True).encode() for event in events]
    expected = graph_of(database, _fold, [bodies])
    for order in reversed(_orders(bodies)):
        nodes, edges = graph_of(database, _fold, [[body] for body in order])
        numbers = [bodies.index(body) for body in order]
        assert set(nodes) ^ set(expected[0]) == set(), numbers
        assert set(edges) ^ set(expected[1]) == set(), numbers
        assert (nodes, edges) == expected, numbers


def _orders(bodies: list[bytes]) -> list[Sequence[bytes]]:
    if len(bodies) <= 3:
        return list(permutations(bodies))
    forward = [bodies[start:] + bodies[:start] for start in range(len(bodies))]
    return [*forward, *(order[::-1] for order in forward)]


def column_edges(database: Database) -> set[tuple[str, str, str]]:
    """Return the column edges with the urns under which they were reported."""
    text = "MATCH (a:Column)-[e:FEEDS]->(b) RETURN a.urn AS a, b.urn AS b, e.reportedUrns AS urns"
    return {(row["a"], row["b"], row["urns"]) for row in database.ask(text, {})}


def columns_of(database: Database) -> set[tuple[str, str]]:
    """Return which dataset has which column."""
    return {(source, target) for source, _, target in edges(database, "HAS_COLUMN")}


@pytest.mark.parametrize("field", [FIELD, LONGER_FIELD])
def test_a_long_column_survives_a_join_and_a_split(database: Database, field: str) -> None:
    write_in_all_orders(
        database,
        dataset_event("a", 1, columns(y=[("b", field)])),
        dataset_event("b", 2, symlinks("b2")),
        dataset_event("b", 3, deleted("symlinks")),
    )
    assert column_edges(database) == {(column("b", field), column("a", "y"), "")}
    assert columns_of(database) == {(ds("b"), column("b", field)), (ds("a"), column("a", "y"))}
    shown = node(database, column("b", field))
    assert (shown["namespace"], shown["dataset"]) == ("db", "b")
    assert (shown["name"][:500], shown["current"]) == (field[:500], False)


@pytest.mark.parametrize(
    ("field", "reported"), [(FIELD, ds("b")), (LONGER_FIELD, column("b", LONGER_FIELD))]
)
def test_a_source_column_moves_to_the_canonical_name(
    database: Database, field: str, reported: str
) -> None:
    write_in_all_orders(
        database,
        dataset_event("a", 1, columns(y=[("b", field)])),
        dataset_event("b2", 2, symlinks("b")),
    )
    source, target = column("b2", field), column("a", "y")
    assert column_edges(database) == {(source, target, f"{reported} {target}")}
    assert columns_of(database) == {(ds("b2"), source), (ds("a"), target)}


def test_a_hashed_target_column_moves_to_the_canonical_name(database: Database) -> None:
    write_in_all_orders(
        database,
        dataset_event("a", 1, columns(**{FIELD: [("b", "x")]})),
        dataset_event("a2", 2, symlinks("a")),
        dataset_event("a2", 3, schema(**{FIELD: "string"})),
    )
    source, target = column("b", "x"), column("a2", FIELD)
    assert column_edges(database) == {(source, target, f"{source} {ds('a')}")}
    assert columns_of(database) == {(ds("b"), source), (ds("a2"), target)}
    assert node(database, target)["current"] is True


def test_two_names_of_a_hashed_column_are_two_edges_until_they_part(database: Database) -> None:
    joined = [
        dataset_event("a", 1, columns(y=[("b", FIELD)])),
        dataset_event("a", 2, columns(y=[("b2", FIELD)])),
        dataset_event("b2", 3, symlinks("b")),
    ]
    write_in_all_orders(database, *joined)
    source, target = column("b2", FIELD), column("a", "y")
    assert column_edges(database) == {
        (source, target, ""),
        (source, target, f"{ds('b')} {target}"),
    }
    write_in_all_orders(database, *joined, dataset_event("b2", 4, deleted("symlinks")))
    assert column_edges(database) == {(source, target, ""), (column("b", FIELD), target, "")}


def test_hashed_columns_of_a_run_move_with_both_ends(database: Database) -> None:
    output = dataset("a", columns(**{FIELD: [("b", FIELD)], "y": [("b", LONGER_FIELD)]}))
    write_in_all_orders(
        database,
        run_event("r", "COMPLETE", 1, inputs=["b"], outputs=[output]),
        dataset_event("b2", 2, symlinks("b")),
        dataset_event("a2", 3, symlinks("a")),
    )
    assert column_edges(database) == {
        (column("b2", FIELD), column("a2", FIELD), f"{ds('b')} {ds('a')}"),
        (
            column("b2", LONGER_FIELD),
            column("a2", "y"),
            f"{column('b', LONGER_FIELD)} {column('a', 'y')}",
        ),
    }
    moved = edge(database, column("b2", FIELD), "FEEDS", column("a2", FIELD))
    assert (moved["job"], moved["transformations"]) == (job("j"), ["DIRECT"])


def test_a_hashed_column_that_filters_a_dataset_moves(database: Database) -> None:
    lineage = {"inputs": [{"namespace": "db", "name": "b", "type": "DATASET", "field": FIELD}]}
    write_in_all_orders(
        database,
        dataset_event(NAME, 1, {"lineage": lineage}),
        dataset_event("b2", 2, symlinks("b")),
        dataset_event(LATER_NAME, 3, symlinks(NAME)),
    )
    source, target = column("b2", FIELD), ds(LATER_NAME)
    assert column_edges(database) == {(source, target, f"{ds('b')} {ds(NAME)}")}
    assert (ds("b2"), "FEEDS", target) in edges(database, "FEEDS")


def test_columns_of_a_long_name_move_to_a_short_one_and_back(database: Database) -> None:
    write_in_all_orders(
        database,
        dataset_event("a", 1, columns(y=[(NAME, "x")])),
        dataset_event("b", 2, symlinks(NAME)),
    )
    source, target = column("b", "x"), column("a", "y")
    assert column_edges(database) == {(source, target, f"{ds(NAME)} {target}")}
    write_in_all_orders(
        database,
        dataset_event("a", 1, columns(y=[(NAME, "x")])),
        dataset_event("b", 2, symlinks(NAME)),
        dataset_event("b", 3, deleted("symlinks")),
    )
    assert column_edges(database) == {(column(NAME, "x"), target, "")}
    assert columns_of(database) == {(ds(NAME), column(NAME, "x")), (ds("a"), target)}


def test_columns_of_a_short_name_move_to_a_long_one(database: Database) -> None:
    write_in_all_orders(
        database,
        dataset_event("a", 1, columns(y=[("b", "x")])),
        dataset_event(OTHER_NAME, 2, symlinks("b")),
    )
    source, target = column(OTHER_NAME, "x"), column("a", "y")
    assert column_edges(database) == {(source, target, f"{column('b', 'x')} {target}")}


def test_the_other_end_keeps_its_long_name_when_one_end_moves(database: Database) -> None:
    write_in_all_orders(
        database,
        dataset_event(OTHER_NAME, 1, columns(y=[(NAME, "x")])),
        dataset_event(LATER_NAME, 2, symlinks(NAME)),
        dataset_event("c", 3, symlinks(OTHER_NAME)),
        dataset_event("c", 4, deleted("symlinks")),
    )
    source, target = column(LATER_NAME, "x"), column(OTHER_NAME, "y")
    assert column_edges(database) == {(source, target, f"{ds(NAME)} {target}")}
    assert columns_of(database) == {(ds(LATER_NAME), source), (ds(OTHER_NAME), target)}


def test_a_retired_hashed_column_stays_with_its_edge(database: Database) -> None:
    write_in_all_orders(
        database,
        dataset_event("b", 1, schema(**{FIELD: "string", LONGER_FIELD: "string"})),
        dataset_event("a", 2, columns(y=[("b", FIELD)])),
        dataset_event("b", 3, schema(x="string")),
        dataset_event("b", 4, symlinks("b2")),
    )
    assert columns_of(database) == {
        (ds("b"), column("b", FIELD)),
        (ds("b"), column("b", "x")),
        (ds("a"), column("a", "y")),
    }
    retired = node(database, column("b", FIELD))
    assert (retired["current"], retired["type"]) == (False, None)


def test_decisions_by_hand_join_and_part_long_names(database: Database) -> None:
    def decide(minute: int, **verdict: Any) -> Event:
        named = {"namespace": "db", "name": NAME}
        return native.symlinks_event(named, **verdict, event_time=at(minute))

    other = [{"namespace": "db", "name": OTHER_NAME}]
    output = dataset(OTHER_NAME, columns(y=[("a", FIELD)]))
    events = [
        run_event("r", "COMPLETE", 1, inputs=["a"], outputs=[output]),
        run_event("s", "COMPLETE", 2, inputs=[NAME], outputs=["m"]),
        decide(3, same=other, apart=[]),
    ]
    write_in_all_orders(database, *events)
    canonical = min(ds(NAME), ds(OTHER_NAME))
    name = NAME if canonical == ds(NAME) else OTHER_NAME
    assert urns(database, "Dataset") == {ds("a"), ds("m"), canonical}
    assert urns(database, "Artifact") == {
        artifact_urn("db", name, "r"),
        artifact_urn("db", "m", "s"),
    }
    assert (artifact_urn("db", name, "r"), "FEEDS", "run:s") in edges(database, "FEEDS")
    assert {(source, target) for source, target, _ in column_edges(database)} == {
        (column("a", FIELD), column(name, "y"))
    }
    write_in_all_orders(database, *events, decide(4, same=[], apart=other))
    assert urns(database, "Dataset") == {ds("a"), ds("m"), ds(NAME), ds(OTHER_NAME)}
    assert column_edges(database) == {(column("a", FIELD), column(OTHER_NAME, "y"), "")}


def test_a_renamed_dataset_with_long_names_keeps_its_derivations(database: Database) -> None:
    change = {
        "lifecycleStateChange": "RENAME",
        "previousIdentifier": {"namespace": "db", "name": NAME},
    }
    write_in_all_orders(
        database,
        dataset_event(LATER_NAME, 1, {"lifecycleStateChange": change}),
        job_event("j", 2, inputs=[NAME], outputs=[LATER_NAME]),
        dataset_event(OTHER_NAME, 3, symlinks(NAME)),
    )
    assert (ds(OTHER_NAME), "FEEDS", ds(LATER_NAME)) in edges(database, "FEEDS")
    assert (ds(OTHER_NAME), "FEEDS", job("j")) in edges(database, "FEEDS")


def test_jobs_with_long_names_keep_their_edges(database: Database) -> None:
    output = dataset(NAME, columns(y=[("b", FIELD)]))
    write_in_all_orders(
        database,
        run_event("r", "COMPLETE", 1, job=NAME, inputs=["b"], outputs=[output]),
        dataset_event(LATER_NAME, 2, symlinks(NAME)),
        dataset_event("b2", 3, symlinks("b")),
    )
    assert (job(NAME), "PRODUCED", ds(LATER_NAME)) in edges(database, "PRODUCED")
    assert edge(database, column("b2", FIELD), "FEEDS", column(LATER_NAME, "y"))["job"] == job(NAME)
    assert edge(database, ds(LATER_NAME), "DERIVED_FROM", ds("b2"))["job"] == job(NAME)


def test_masked_edges_of_hashed_columns_have_canonical_names(database: Database) -> None:
    masking = {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True}
    source = {"namespace": "db", "name": "b", "field": FIELD, "transformations": [masking]}
    lineage = {"columnLineage": {"fields": {"y": {"inputFields": [source]}}}}
    write_in_all_orders(
        database,
        run_event("r", "START", 0, inputs=["b"], outputs=["a"]),
        run_event("r", "COMPLETE", 1, inputs=["b"], outputs=[dataset("a", lineage)]),
        dataset_event("b2", 2, symlinks("b")),
        dataset_event("a2", 3, symlinks("a")),
    )
    version = node(database, artifact_urn("db", "a2", "r"))
    assert version["maskedColumns"] == [f"{column('b2', FIELD)} {column('a2', 'y')}"]
    assert edge(database, column("b2", FIELD), "FEEDS", column("a2", "y"))


def test_an_answer_cites_a_hashed_column_under_the_canonical_name(database: Database) -> None:
    cites = [{"namespace": "db", "name": "b", "field": LONGER_FIELD}]
    write_in_all_orders(
        database,
        native.answer_event("answer", cites=cites, generated_at=at(1), event_time=at(1)),
        dataset_event("b2", 2, symlinks("b")),
    )
    assert (column("b2", LONGER_FIELD), "CITED_BY", "answer:answer") in edges(database, "CITED_BY")
    assert columns_of(database) == {(ds("b2"), column("b2", LONGER_FIELD))}


def test_a_named_version_of_a_long_name_has_the_id_of_its_run(database: Database) -> None:
    artifact = {native.ARTIFACT_FACET: {**FACET, "runId": "maker"}}
    cites = [{"namespace": "db", "name": OTHER_NAME, "runId": "other"}]
    write_in_all_orders(
        database,
        run_event("r", "COMPLETE", 1, inputs=[dataset(NAME, usage=artifact, side="input")]),
        native.answer_event("answer", cites=cites, generated_at=at(1), event_time=at(1)),
    )
    assert is_hashed(artifact_urn("db", NAME, "maker"))
    assert node(database, artifact_urn("db", NAME, "maker"))["runId"] == "maker"
    assert node(database, artifact_urn("db", OTHER_NAME, "other"))["runId"] == "other"


def test_a_tag_belongs_to_the_column_whose_urn_names_it(database: Database) -> None:
    field = parse_urn(column("b", LONGER_FIELD)).parts[2]
    assert field == display_name(LONGER_FIELD)
    write_in_all_orders(
        database,
        dataset_event("b", 1, schema(**{LONGER_FIELD: "string"})),
        native.tag_edits_event("db", "b", added=[{"key": "pii", "field": field}], event_time=at(2)),
        dataset_event("b2", 3, symlinks("b")),
    )
    tagged = node(database, column("b2", LONGER_FIELD))
    assert (tagged["tags"], tagged["type"], tagged["current"]) == (["pii"], "string", True)
