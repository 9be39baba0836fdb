"""Versions to which a consumer is linked, on a real graph: cases in several orders of events.

The comment of a case is its time line: W is a written version (w: by a run that failed or has not
ended), R the consumer.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.schema import headwater_facets as native
from headwater.schema.urns import column_urn, source_urn
from tests.canonical import edges, empty
from tests.run_builders import Event, answer, at, run, run_of, version, write_events

pytestmark = pytest.mark.neo4j

RAW = source_urn("db", "raw")


def write(run_id: str, minute: int, status: str = "COMPLETE") -> list[Event]:
    """Return a run that starts a minute before and ends at `minute`, and writes `raw`."""
    return run(run_id, "load", [], ["raw"], minute=minute - 1, status=status)


def reader(minute: int, run_id: str = "reader") -> list[Event]:
    return run(run_id, "report", ["raw"], ["report"], minute=minute)


def linked(database: Database, *stories: Sequence[Event]) -> set[str]:
    """Return the versions that `reader` reads; assert that they are equal in every order and
    batching.
    """
    found: list[set[str]] = []
    for order in (
        itertools.permutations(stories) if len(stories) < 4 else (stories, tuple(reversed(stories)))
    ):
        empty(database)
        for story in order:
            write_events(database, story)
        found.append(read_by(database, run_of("reader")))
    empty(database)
    write_events(database, *stories)
    found.append(read_by(database, run_of("reader")))
    assert all(links == found[0] for links in found), found
    return found[0]


def read_by(database: Database, urn: str, *types: str) -> set[str]:
    edge_types: Iterable[str] = types or ("FEEDS", "CITED_BY")
    return {source for source, _, target in edges(database, *edge_types) if target == urn}


def test_a_reader_before_any_version_reads_a_source(database: Database) -> None:
    # R
    assert linked(database, reader(5)) == {RAW}
    # R W
    assert linked(database, reader(5), write("w1", 7)) == {RAW}


def test_the_newest_complete_version_before_the_reader_is_linked(database: Database) -> None:
    # W1 W2 R W3
    assert linked(database, write("w1", 2), write("w2", 4), reader(5), write("w3", 9)) == {
        version("raw", "w2")
    }


def test_a_version_of_the_same_instant_counts(database: Database) -> None:
    assert linked(database, write("w1", 5), reader(5)) == {version("raw", "w1")}


def test_a_late_version_takes_its_place_in_time(database: Database) -> None:
    # W1 .. (W2 arrives last) .. R: `linked` tries every order
    assert linked(database, write("w1", 2), reader(9), write("w2", 6)) == {version("raw", "w2")}


def test_a_failed_version_between_two_complete_ones(database: Database) -> None:
    # W1 w2 R W3: the reader may have read either
    failed = write("w2", 4, "FAIL")
    assert linked(database, write("w1", 2), failed, reader(5), write("w3", 9)) == {
        version("raw", "w1"),
        version("raw", "w2"),
    }
    # W1 w2 W3 R: the complete version has replaced it
    assert linked(database, write("w1", 2), failed, write("w3", 6), reader(9)) == {
        version("raw", "w3")
    }


def test_only_the_newest_of_several_failed_versions_is_linked(database: Database) -> None:
    # W1 w2 w3 R
    stories = (write("w1", 2), write("w2", 4, "FAIL"), write("w3", 6, "ABORT"), reader(9))
    assert linked(database, *stories) == {version("raw", "w1"), version("raw", "w3")}


def test_a_failed_version_alone_is_linked(database: Database) -> None:
    # w1 R: there is no source, because a run is known to write it
    assert linked(database, write("w1", 2, "FAIL"), reader(5)) == {version("raw", "w1")}


def test_an_unfinished_version_is_linked(database: Database) -> None:
    # W1 w2( R )
    assert linked(database, write("w1", 2), write("w2", 5, "RUNNING"), reader(6)) == {
        version("raw", "w1"),
        version("raw", "w2"),
    }


def test_the_end_of_a_version_relinks_its_readers(database: Database) -> None:
    start, end = write("w2", 6)
    end = {**end, "eventTime": at(8)}
    # w2 starts at 5 and ends at 8; the reader starts at 7
    assert linked(database, [start], write("w1", 2), reader(7)) == {
        version("raw", "w1"),
        version("raw", "w2"),
    }
    assert linked(database, [start], write("w1", 2), reader(7), [end]) == {version("raw", "w1")}


def test_a_late_failure_relinks_the_readers(database: Database) -> None:
    fail = {**write("w2", 4, "FAIL")[1], "eventTime": at(4)}
    assert linked(database, write("w1", 2), write("w2", 4), reader(6), [fail]) == {
        version("raw", "w1"),
        version("raw", "w2"),
    }


def test_a_run_does_not_read_the_version_it_makes(database: Database) -> None:
    loop = run("reader", "compact", ["raw"], ["raw"], minute=5)
    assert linked(database, loop) == {RAW}
    assert linked(database, write("w1", 2), loop) == {version("raw", "w1")}
    instant = native.artifact_event("raw", namespace="db", run_id="reader", created_at=at(4))
    assert linked(database, write("w1", 2), loop, [instant]) == {version("raw", "w1")}


def test_a_pinned_input_is_linked_to_its_version(database: Database) -> None:
    events = reader(9)
    for event in events:
        pin = {"_producer": "https://x.y", "_schemaURL": "https://x.y", "runId": "w1"}
        event["inputs"] = [
            {"namespace": "db", "name": "raw", "inputFacets": {"headwater_artifact": pin}}
        ]
    assert linked(database, write("w1", 2), write("w2", 4), events) == {version("raw", "w1")}
    assert linked(database, events) == {version("raw", "w1")}, "even of a run nobody has heard of"


def test_a_source_disappears_when_a_producer_appears(database: Database) -> None:
    empty(database)
    write_events(database, reader(9))
    assert nodes(database, "Source") == {RAW}
    write_events(database, write("w1", 5))
    assert read_by(database, run_of("reader")) == {version("raw", "w1")}
    assert nodes(database, "Source") == set()


def test_a_registered_source_stays(database: Database) -> None:
    empty(database)
    write_events(
        database,
        reader(9),
        [native.source_event("raw", namespace="db", origin="CRM", captured_at=at(1))],
    )
    assert read_by(database, run_of("reader")) == {RAW}
    write_events(database, write("w1", 5))
    assert read_by(database, run_of("reader")) == {version("raw", "w1")}
    assert nodes(database, "Source") == {RAW}


def test_a_source_stays_for_earlier_readers(database: Database) -> None:
    # R1 W R2
    empty(database)
    write_events(database, reader(3, "early"), reader(9), write("w1", 5))
    assert read_by(database, run_of("early")) == {RAW}
    assert read_by(database, run_of("reader")) == {version("raw", "w1")}


def test_an_answer_cites_the_version_of_its_own_instant(database: Database) -> None:
    for stories in itertools.permutations(
        [write("w1", 2), write("w2", 8), answer("a", "raw", minute=5)]
    ):
        empty(database)
        write_events(database, *stories[:1])
        write_events(database, *stories[1:])
        assert read_by(database, "answer:a") == {version("raw", "w1")}


def test_an_answer_cites_a_version_a_column_another_answer(database: Database) -> None:
    empty(database)
    version_cited = {"namespace": "db", "name": "raw", "runId": "w1"}
    column_cited = {"namespace": "db", "name": "raw", "field": "id"}
    write_events(
        database,
        answer("a", version_cited, column_cited, {"answerId": "b"}, minute=5),
        write("w0", 1),
    )
    assert read_by(database, "answer:a") == {
        version("raw", "w1"),
        version("raw", "w0"),
        column_urn("db", "raw", "id"),
        "answer:b",
    }
    rows = database.ask("MATCH (v)-[e:CITED_BY]->() WHERE e.pinned RETURN v.urn AS urn", {})
    assert [row["urn"] for row in rows] == [version("raw", "w1")]


def test_nodes_without_citations_are_removed(database: Database) -> None:
    empty(database)
    first = answer(
        "a",
        "raw",
        {"namespace": "db", "name": "raw", "field": "id"},
        {"namespace": "db", "name": "x", "runId": "w"},
    )
    write_events(database, first)
    assert nodes(database, "Source", "Column", "Artifact") == {
        RAW,
        column_urn("db", "raw", "id"),
        version("x", "w"),
    }
    changed = {**answer("a", "other", minute=3)[0], "eventTime": at(3)}
    write_events(database, [changed])
    assert nodes(database, "Source", "Column", "Artifact") == {source_urn("db", "other")}


def test_a_deleted_answer_equals_a_cited_one_without_events(database: Database) -> None:
    empty(database)
    sent = answer("a", "raw", minute=1, content="42")
    write_events(database, sent)
    deleted: dict[str, Any] = {**sent[0], "eventTime": at(2)}
    facet = {**deleted["dataset"]["facets"]["headwater_answer"], "_deleted": True}
    deleted["dataset"] = {**deleted["dataset"], "facets": {"headwater_answer": facet}}
    write_events(database, [deleted])
    (row,) = database.ask("MATCH (a:Answer) RETURN properties(a) AS p", {})
    assert row["p"].keys() == {"urn", "answerId", "facts", "factsRevision"}
    assert nodes(database, "Source") == set()


def nodes(database: Database, *labels: str) -> set[str]:
    rows = database.ask(
        "MATCH (n) WHERE any(label IN labels(n) WHERE label IN $labels) RETURN n.urn AS urn",
        {"labels": list(labels)},
    )
    return {row["urn"] for row in rows}
