"""OpenLineage events of a part of the graph: valid, and of the same lineage when folded again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import jsonschema_rs
import pytest

from headwater.cypher.driver.database import Database
from headwater.exports.openlineage import EventCounts, TimeRange, events_of_part, stored_events
from headwater.exports.part import Part, find_part
from headwater.ingest.spool.reader import SpoolReader
from headwater.ingest.spool.spool import Spool
from headwater.lineage.view import GraphView
from headwater.schema.events import parse, parse_instant
from headwater.schema.headwater_facets import Event
from headwater.schema.naming import load_naming
from headwater.schema.stored_json import decode, encode
from headwater.schema.visibility import Visibility
from tests.canonical import canonical, edges, empty
from tests.event_builders import columns, dataset, parent, run_event, schema, symlinks
from tests.run_builders import answer, ds, job, run, write_events

RUNS = [f"00000000-0000-4000-8000-00000000000{number}" for number in range(10)]
EVENTS: list[Event] = [
    *run(RUNS[1], "load", ["raw"], ["clean"], minute=0, rows=7),
    *run(RUNS[2], "rank", ["clean", "lookup"], ["mart"], minute=5),
    *run(RUNS[3], "report", ["mart"], ["board"], minute=10, status="FAIL", error="no"),
    *run(RUNS[4], "other", ["lookup"], ["elsewhere"], minute=15),
    *answer("best", "board", minute=20, content="42"),
    run_event(
        RUNS[5],
        minute=25,
        job="columns",
        inputs=[dataset("raw", schema(id="int"))],
        outputs=[
            dataset(
                "clean",
                columns(id=[("raw", "id")]),
            )
        ],
    ),
]


SPEC = Path(__file__).parents[1] / "openlineage_spec" / "OpenLineage.json"


@cache
def validator() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(json.loads(SPEC.read_text()))


def problems(event: Event) -> list[str]:
    return [error.message for error in validator().iter_errors(event)]


def spool_of(path: Path, events: Iterable[Event]) -> SpoolReader:
    spool = Spool(path / "spool.db")
    spool.append([json.dumps(event).encode() for event in events], received=0)
    spool.close()
    return SpoolReader(path / "spool.db")


def exported(
    reader: SpoolReader, part: Part, times: TimeRange | None = None
) -> tuple[list[Event], EventCounts]:
    counts = EventCounts()
    events = list(stored_events(reader, part, load_naming(), times or TimeRange(), counts))
    return events, counts


def of_part(event: Event, part: Part) -> list[Event]:
    instant = parse(json.dumps(event).encode(), received=0).instant
    return list(events_of_part(event, instant, part, load_naming()))


def lineage(database: Database) -> set[tuple[str, str, str]]:
    return edges(database, "FEEDS", "PRODUCED", "CITED_BY")


@pytest.fixture
def graph(database: Database) -> GraphView:
    empty(database)
    write_events(database, EVENTS)
    return GraphView(database)


@pytest.mark.neo4j
def test_the_whole_graph_is_folded_again_to_an_equal_graph(
    graph: GraphView, database: Database, tmp_path: Path
) -> None:
    before = canonical(database)
    events, counts = exported(spool_of(tmp_path, EVENTS), find_part(graph))
    assert (counts.read, counts.written, counts.malformed, counts.cut) == (len(EVENTS),) * 2 + (
        0,
        0,
    )
    empty(database)
    write_events(database, events)
    assert canonical(database) == before


@pytest.mark.neo4j
def test_a_part_is_folded_to_the_lineage_of_that_part(
    graph: GraphView, database: Database, tmp_path: Path
) -> None:
    part = find_part(graph, urns=[ds("clean")], depth=2, direction="upstream")
    assert part.datasets == {ds("clean"), ds("raw")}
    before = lineage(database)
    events, _ = exported(spool_of(tmp_path, EVENTS), part)
    empty(database)
    write_events(database, events)
    text = json.dumps(events)
    assert "mart" not in text
    assert "elsewhere" not in text
    found = lineage(database)
    assert found < before
    assert (ds("raw"), "FEEDS", job("load")) in found
    assert (job("load"), "PRODUCED", ds("clean")) in found
    assert ("column:db:raw:id", "FEEDS", "column:db:clean:id") in found
    assert not [edge for edge in found if "lookup" in edge[0]]


@pytest.mark.neo4j
def test_a_namespace_comes_with_its_neighbours(graph: GraphView, database: Database) -> None:
    more = run_event(
        RUNS[6],
        minute=30,
        job="outside",
        inputs=[dataset("far", namespace="s3://far")],
        outputs=[dataset("mart")],
    )
    alone = run_event(
        RUNS[7], minute=31, job="alone", inputs=[dataset("far", namespace="s3://far")]
    )
    write_events(database, [more, alone])
    part = find_part(graph, namespaces=["s3://*"])
    assert part.datasets == {"dataset:s3%3A//far:far", ds("mart")}
    assert part.jobs is not None
    assert set(part.jobs) == {job("outside"), job("alone")}


def test_hidden_names_are_nowhere() -> None:
    event = run_event(
        RUNS[1],
        inputs=[dataset("raw"), dataset("secret_table", namespace="hidden")],
        outputs=[
            dataset(
                "clean",
                {
                    **symlinks("secret_alias", namespace="hidden"),
                    "columnLineage": {
                        "fields": {
                            "id": {
                                "inputFields": [
                                    {"namespace": "db", "name": "raw", "field": "id"},
                                    {"namespace": "hidden", "name": "secret", "field": "id"},
                                ]
                            }
                        }
                    },
                },
            )
        ],
        facets=parent(RUNS[2], "secret_job"),
    )
    event["run"]["facets"]["parent"]["job"]["namespace"] = "hidden"
    [shown] = of_part(event, Part(Visibility(("db", event["job"]["namespace"]))))
    text = json.dumps(shown)
    assert "secret" not in text
    assert "hidden" not in text
    assert [one["name"] for one in shown["inputs"]] == ["raw"]
    [field] = shown["outputs"][0]["facets"]["columnLineage"]["fields"]["id"]["inputFields"]
    assert field == {"namespace": "db", "name": "raw", "field": "id"}
    assert "parent" not in shown["run"]["facets"]


def test_a_hidden_job_leaves_descriptions_of_its_datasets() -> None:
    event = run_event(RUNS[1], job="secret", outputs=[dataset("clean", schema(id="i"))])
    event["job"]["namespace"] = "hidden"
    [described] = of_part(event, Part(Visibility(("db",))))
    assert "secret" not in json.dumps(described)
    assert described["dataset"]["name"] == "clean"
    assert described["schemaURL"].endswith("DatasetEvent")
    assert "run" not in described


def test_an_answer_needs_everything_that_it_cites() -> None:
    [cites_both] = answer("best", "board", {"namespace": "hidden", "name": "x"}, content="42")
    [cites_one] = answer("fine", "board", content="43")
    part = Part(Visibility(("db",)))
    assert of_part(cites_both, part) == []
    assert [one["dataset"]["name"] for one in of_part(cites_one, part)] == ["fine"]
    assert len(of_part(cites_both, Part(Visibility()))) == 1


def test_times_limit_the_events(tmp_path: Path) -> None:
    reader = spool_of(tmp_path, EVENTS)
    times = TimeRange(parse_instant(EVENTS[2]["eventTime"]), parse_instant(EVENTS[4]["eventTime"]))
    events, _ = exported(reader, Part(Visibility()), times)
    expected = [event for event in EVENTS if times.includes(parse_instant(event["eventTime"]))]
    assert 0 < len(events) == len(expected) < len(EVENTS)


LENIENT: list[Event] = [
    {
        "eventTime": "2026-01-31 12:00:00",
        "eventType": "complete",
        "producer": None,
        "run": {"runId": "nightly-1", "facets": {"nominalTime": None, "x": "text"}},
        "job": {"namespace": "n", "name": "j", "facets": None},
        "inputs": None,
        "outputs": [{"namespace": "n", "name": "o", "facets": {"own": {"_producer": None}}}],
    },
    {"eventTime": "2026-01-31T12:00:00Z", "dataset": {"namespace": "n", "name": "d"}},
    {"eventTime": "2026-01-31T12:00:00+01:00", "job": {"namespace": "n", "name": "j"}},
]


@pytest.mark.parametrize("event", [*EVENTS, *LENIENT])
def test_every_event_is_valid(event: Event) -> None:
    for whole in (Part(Visibility()), Part(Visibility(("db", "etl", "n")))):
        for valid in of_part(event, whole):
            assert problems(valid) == []
            assert len(valid.get("inputs", ())) == len(event.get("inputs") or ())


def test_a_lenient_event_keeps_its_meaning() -> None:
    [valid] = of_part(LENIENT[0], Part(Visibility()))
    assert valid["eventTime"] == "2026-01-31T12:00:00Z"
    assert valid["eventType"] == "COMPLETE"
    assert valid["run"] == {"runId": "nightly-1"}
    assert "facets" not in valid["job"]


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbf" + json.dumps(LENIENT[1]).encode(),
        json.dumps(LENIENT[1]).encode()[:-20],
        json.dumps({**LENIENT[1], "note": "\ud800"}).encode(),
        b'{"a":' * 5000,
    ],
)
def test_bodies_of_any_form_are_read_or_counted(body: bytes, tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool.db")
    spool.append([body], received=0)
    spool.close()
    events, counts = exported(SpoolReader(tmp_path / "spool.db"), Part(Visibility()))
    assert len(events) + counts.malformed == 1


def test_numbers_of_any_size_are_exported_as_they_are(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool.db")
    base = LENIENT[0] | {"run": {"runId": RUNS[1], "facets": {"x": {"v": "NUMBER"}}}}
    numbers = [b"1e999", b"9" * 5_000, b"-" + b"9" * 400 + b".5", b"1"]
    bodies = [json.dumps(base).encode().replace(b'"NUMBER"', number) for number in numbers]
    spool.append([bodies[0], b"{", *bodies[1:]], received=0)
    spool.close()
    events, counts = exported(SpoolReader(tmp_path / "spool.db"), Part(Visibility()))
    assert (counts.written, counts.malformed, counts.first_malformed) == (4, 1, [2])
    for event, number in zip(events, numbers, strict=True):
        assert b'"v":' + number + b"}" in encode(event)
    [whole] = events_of_part(decode(bodies[1]), 0, Part(Visibility(("n",))), load_naming())
    assert b'"v":' + numbers[1] + b"}" in encode(whole)
