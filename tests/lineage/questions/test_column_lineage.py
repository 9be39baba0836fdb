"""Column lineage with the jobs and transformations of each edge, worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError
from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.questions.column_lineage import ColumnDerivation, column_lineage
from headwater.lineage.view import GraphView
from headwater.schema.urns import column_urn
from tests.canonical import empty
from tests.event_builders import dataset, run_event
from tests.run_builders import Event, job, write_events


@pytest.mark.parametrize(
    ("transformations", "is_masked"),
    [
        (["DIRECT:TRANSFORMATION:masked"], True),
        (["DIRECT:TRANSFORMATION:masked", "DIRECT:IDENTITY"], False),
        (["DIRECT:IDENTITY"], False),
        ([], False),
    ],
)
def test_a_derivation_is_masked_if_every_transformation_is(
    transformations: list[str], is_masked: bool
) -> None:
    assert ColumnDerivation("job:etl:j", transformations, dataset_level=False).masked is is_masked


def from_source(masked: bool) -> Event:
    kind = {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": masked}
    source = {"namespace": "db", "name": "raw", "field": "mail", "transformations": [kind]}
    return {"columnLineage": {"fields": {"mail": {"inputFields": [source]}}}}


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    empty(database)
    events = [
        run_event(
            f"r{number}",
            minute=number,
            job=name,
            inputs=["raw"],
            outputs=[dataset("clean", from_source(masked))],
        )
        for number, (name, masked) in enumerate([("hash", True), ("copy", False)])
    ]
    write_events(database, events)
    yield view
    empty(database)


@pytest.mark.neo4j
def test_an_edge_has_the_derivation_of_each_job(history: GraphView) -> None:
    raw, clean = column_urn("db", "raw", "mail"), column_urn("db", "clean", "mail")
    for direction, name in (("DOWNSTREAM", "raw"), ("UPSTREAM", "clean")):
        found = column_lineage(history, "db", name, "mail", direction=direction)
        assert found.lineage.edges == [Edge(raw, clean, "FEEDS")]
        derivations = found.derivations[Edge(raw, clean, "FEEDS")]
        assert [(derivation.job, derivation.masked) for derivation in derivations] == [
            (job("copy"), False),
            (job("hash"), True),
        ]
        assert not any(derivation.dataset_level for derivation in derivations)


@pytest.mark.neo4j
def test_an_unknown_column_is_not_found(history: GraphView) -> None:
    with pytest.raises(NotFoundError):
        column_lineage(history, "db", "raw", "other")
