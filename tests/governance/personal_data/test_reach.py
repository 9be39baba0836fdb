"""Where personal data arrives in a real graph, worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headwater.cypher.driver.database import Database
from headwater.governance.personal_data.propagate import Kind, State
from headwater.governance.personal_data.reach import read_reach, unmasked_reach
from headwater.lineage.view import GraphView
from headwater.schema.headwater_facets import answer_event
from headwater.schema.urns import answer_urn, column_urn
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.governance.personal_data.histories import (
    COPY,
    columns,
    described,
    estate,
    moved,
    tagged,
)
from tests.run_builders import at, ds, write_events

pytestmark = pytest.mark.neo4j


def col(dataset: str, name: str = "mail") -> str:
    return column_urn("db", dataset, name)


@pytest.fixture
def graph(database: Database, view: GraphView) -> Iterator[GraphView]:
    empty(database)
    yield view
    empty(database)


def states(view: GraphView) -> dict[str, State]:
    return {one.urn: one.state for one in read_reach(view).found}


def test_an_estate(graph: GraphView, database: Database) -> None:
    answer = answer_event(
        "churn-by-mail", cites=[{"namespace": "db", "name": "features"}], event_time=at(5)
    )
    write_events(database, [*estate(), answer])
    reach = read_reach(graph)
    assert states(graph) == {
        col("raw"): State.EXPOSED,
        col("features"): State.EXPOSED,
        ds("features"): State.EXPOSED,
        ds("churn"): State.EXPOSED,
        col("safe"): State.MASKED,
        ds("safe"): State.MASKED,
        ds("safe-churn"): State.MASKED,
        col("counts", "n"): State.INFLUENCED,
        ds("counts"): State.INFLUENCED,
        ds("opaque"): State.UNKNOWN,
        col("export", "m"): State.EXPOSED,
        ds("export"): State.EXPOSED,
        answer_urn("churn-by-mail"): State.EXPOSED,
    }
    assert {one.classification for one in reach.found} == {"email"}
    assert reach.kinds[ds("churn")] is Kind.MODEL
    assert reach.kinds[ds("export")] is Kind.EXPORT
    [model] = [one for one in reach.found if one.urn == ds("churn")]
    assert model.path == [col("raw"), col("features"), ds("churn")]
    assert [step.job for step in model.steps] == ["job:etl:copy", "job:etl:train"]


def test_the_classes_at_nodes(graph: GraphView, database: Database) -> None:
    write_events(database, estate())
    urns = [ds("churn"), ds("safe-churn"), ds("raw"), ds("opaque"), col("features"), ds("nothing")]
    assert unmasked_reach(graph, urns) == {
        ds("churn"): ["email"],
        ds("safe-churn"): [],
        ds("raw"): ["email"],
        ds("opaque"): [],
        col("features"): ["email"],
        ds("nothing"): [],
    }
    assert unmasked_reach(graph.visible_to(Visibility(("other",))), urns) == {}


def test_a_tag_of_the_dataset_counts_for_all_its_columns(
    graph: GraphView, database: Database
) -> None:
    events = [
        tagged("classification=pii", name="raw"),
        described("raw", "db", 0, columns("a", "b")),
        moved("copy", "raw", "out", ("b", "raw.b", COPY), fields=("b", "c")),
    ]
    write_events(database, events)
    assert states(graph) == {
        col("raw", "a"): State.EXPOSED,
        col("raw", "b"): State.EXPOSED,
        col("out", "b"): State.EXPOSED,
        ds("out"): State.EXPOSED,
    }


def test_a_way_that_a_job_no_longer_takes_ends(graph: GraphView, database: Database) -> None:
    events = [
        tagged("mail:pii", name="raw"),
        moved("copy", "raw", "out", ("mail", "raw.mail", COPY), fields=("mail",)),
    ]
    write_events(database, events)
    assert states(graph)[ds("out")] is State.EXPOSED
    write_events(database, [moved("copy", "other", "out", fields=("mail",), minute=9, run="later")])
    assert ds("out") not in states(graph)


def test_a_column_that_was_removed_is_exposed_no_longer(
    graph: GraphView, database: Database
) -> None:
    events = [
        tagged("mail:pii", name="raw"),
        moved("copy", "raw", "out", ("mail", "raw.mail", COPY), fields=("mail",)),
    ]
    write_events(database, events)
    assert states(graph)[col("out")] is State.EXPOSED
    write_events(database, [moved("copy", "raw", "out", fields=("id",), minute=9, run="later")])
    assert states(graph) == {col("raw"): State.EXPOSED}


def test_names_suggest_classes_on_request(graph: GraphView, database: Database) -> None:
    write_events(
        database,
        [
            described("people", "db", 0, columns("id", "phone_number")),
            moved("copy", "people", "out", ("p", "people.phone_number", COPY), fields=("p",)),
        ],
    )
    assert read_reach(graph).found == ()
    found = read_reach(graph, with_suggested=True).found
    assert {(one.urn, one.classification, one.root.origin) for one in found} == {
        (col("people", "phone_number"), "phone", "name"),
        (col("out", "p"), "phone", "name"),
        (ds("out"), "phone", "name"),
    }
