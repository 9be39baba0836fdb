"""Where personal data arrives in a real graph, worked out by hand."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.governance.personal_data.propagate import Kind, State
from headwater.governance.personal_data.reach import Reach, _ReachCache, read_reach, unmasked_reach
from headwater.lineage.view import GraphView
from headwater.schema.headwater_facets import answer_event, approval_event
from headwater.schema.urns import answer_urn, column_urn
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.governance.personal_data.histories import (
    COPY,
    MASK,
    columns,
    described,
    estate,
    moved,
    tagged,
)
from tests.run_builders import Event, at, ds, write_events

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


def test_what_changed_is_read_as_all_of_it_is(graph: GraphView, database: Database) -> None:
    """After each event, the refreshed reach is the one of a new reader, in any order of events."""
    answer = answer_event(
        "churn-by-mail", cites=[{"namespace": "db", "name": "features"}], event_time=at(5)
    )
    events = [
        *estate(),
        answer,
        approval_event(
            "db",
            "features",
            policy="declassification:email:mail",
            reason="Hashed.",
            by="mia",
            event_time=at(6),
        ),
        moved("copy", "other", "features", fields=("mail",), minute=9, run="later"),
        tagged("id:pii=name", name="raw", minute=10),
        moved("join", "safe", "joined", ("mail", "safe.mail", COPY), fields=("mail",), minute=11),
        moved("unrelated", "x", "y", ("a", "x.a", COPY), fields=("a",), minute=12),
    ]
    random.Random(7).shuffle(events)
    for event in events:
        write_events(database, [event])
        refreshed, whole = read_reach(graph), _new_reach(graph)
        assert _rows(refreshed) == _rows(whole)
        assert refreshed.kinds.items() >= whole.kinds.items()
        assert {one.declassified for one in refreshed.ended} == {
            one.declassified for one in whole.ended
        }


def _new_reach(view: GraphView) -> Reach:
    cache = _ReachCache(with_suggested=False)
    return cache.read(view, datetime.now(UTC).date())


def _rows(reach: Reach) -> list[tuple[str, str, State, list[str]]]:
    return [(one.urn, one.classification, one.state, one.path) for one in reach.found]


def masked_and_not(graph: GraphView, database: Database, *ways: dict[str, Any]) -> State:
    """Return the state of out.mail after the runs of one job, sent in a random order."""
    runs = [
        moved("copy", "raw", "out", ("mail", "raw.mail", way), fields=("mail",), minute=5 + n)
        | {"run": {"runId": f"run-{n}"}}
        for n, way in enumerate(ways)
    ]
    random.Random(3).shuffle(runs)
    write_events(database, [tagged("mail:pii", name="raw"), *runs])
    assert _rows(read_reach(graph)) == _rows(_new_reach(graph))
    return states(graph)[col("out")]


@pytest.mark.parametrize(
    ("ways", "expected"),
    [
        ((COPY, MASK), State.MASKED),
        ((MASK, COPY), State.EXPOSED),
        ((COPY, MASK, COPY, MASK), State.MASKED),
        ((MASK, MASK, COPY), State.EXPOSED),
    ],
)
def test_the_newest_run_decides_if_a_column_is_masked(
    graph: GraphView, database: Database, ways: tuple[dict[str, Any], ...], expected: State
) -> None:
    assert masked_and_not(graph, database, *ways) is expected


def test_a_later_run_that_copies_again_exposes_again(graph: GraphView, database: Database) -> None:
    def run(minute: int, way: dict[str, Any], **more: Any) -> Event:
        event = moved("copy", "raw", "out", ("mail", "raw.mail", way), minute=minute, **more)
        return event | {"run": {"runId": f"run-{minute}"}}

    found = []
    write_events(database, [tagged("mail:pii", name="raw")])
    for minute, way in ((1, COPY), (2, MASK), (3, COPY), (4, MASK)):
        write_events(database, [run(minute, way)])
        found.append(states(graph)[col("out")])
    assert found == [State.EXPOSED, State.MASKED, State.EXPOSED, State.MASKED]
    # A failed run does not count, and what an append keeps still has the copied values.
    write_events(database, [run(5, COPY) | {"eventType": "FAIL"}])
    assert states(graph)[col("out")] is State.MASKED


def test_an_append_keeps_the_copied_values(graph: GraphView, database: Database) -> None:
    append = {"lifecycleStateChange": {"lifecycleStateChange": "ALTER"}}
    events = [
        moved("copy", "raw", "out", ("mail", "raw.mail", way), minute=minute, more=append)
        | {"run": {"runId": f"run-{minute}"}}
        for minute, way in ((1, COPY), (2, MASK))
    ]
    write_events(database, [tagged("mail:pii", name="raw"), *events])
    assert states(graph)[col("out")] is State.EXPOSED


def test_an_event_elsewhere_computes_nothing(graph: GraphView, database: Database) -> None:
    write_events(database, estate())
    before = read_reach(graph)
    write_events(database, [moved("unrelated", "x", "y", ("a", "x.a", COPY), fields=("a",))])
    assert read_reach(graph) is before
    write_events(database, [moved("more", "raw", "z", ("a", "raw.mail", COPY), fields=("a",))])
    assert read_reach(graph) is not before
    assert states(graph)[col("z", "a")] is State.EXPOSED


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
