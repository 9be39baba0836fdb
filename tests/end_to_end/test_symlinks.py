"""Names merged and split by hand, through the real API and worker: nothing is lost."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import pytest

from headwater.client import Headwater
from headwater.cypher.driver.database import Database
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.schema import headwater_facets as native
from tests.canonical import edges, empty
from tests.conftest import Neo4jServer
from tests.end_to_end.conftest import Running
from tests.end_to_end.test_commands import Command

pytestmark = pytest.mark.neo4j

PATH, TABLE = ("file", "/names/t"), ("catalog", "names.t")
MADE, MADE_OF_BOTH = "artifact:file:/names/t:names-w", "artifact:catalog:names.t:names-w"
Edges = set[tuple[str, str, str]]

EVENTS = [
    *native.run_events(
        "names-w",
        pipeline_name="names-write",
        started_at="2026-03-01T00:00:00Z",
        finished_at="2026-03-01T00:10:00Z",
        outputs=[{"namespace": PATH[0], "name": PATH[1]}],
    ),
    *native.run_events(
        "names-r",
        pipeline_name="names-read",
        started_at="2026-03-01T01:00:00Z",
        finished_at="2026-03-01T01:10:00Z",
        inputs=[{"namespace": TABLE[0], "name": TABLE[1]}],
    ),
    native.answer_event(
        "names-answer",
        cites=[{"namespace": TABLE[0], "name": TABLE[1]}],
        generated_at="2026-03-01T02:00:00Z",
    ),
]


@pytest.fixture
def command(running: Running, neo4j_server: Neo4jServer) -> Command:
    return Command(running, neo4j_server)


def about_names(database: Database) -> Edges:
    """Return the alias edges of this test."""
    return {edge for edge in edges(database) if "names" in f"{edge[0]} {edge[2]}"}


DECISIONS = {"merge": "merged", "split": "split"}


def decide(command: Command, running: Running, decision: str) -> Edges:
    code, out, _ = command("aliases", decision, *PATH, *TABLE, "--url", running.url, "--json")
    names = [{"namespace": namespace, "name": name} for namespace, name in (PATH, TABLE)]
    assert (code, json.loads(out)) == (0, {DECISIONS[decision]: names})
    running.wait_folded()
    return about_names(running.database)


def listed(command: Command) -> list[dict[str, Any]]:
    code, out, _ = command("aliases", "list", "--json")
    assert code == 0
    # Other tests may have added names to the same graph.
    return [row for row in json.loads(out) if row["dataset"]["name"].startswith("names.")]


def test_names_are_merged_split_and_merged_again(command: Command, running: Running) -> None:
    assert (
        command.ingest("-", stdin=b"\n".join(json.dumps(event).encode() for event in EVENTS))[0]
        == 0
    )
    running.wait_folded()
    apart = about_names(running.database)
    assert ("run:names-w", "PRODUCED", MADE) in apart
    assert ("source:catalog:names.t", "FEEDS", "run:names-r") in apart
    assert ("source:catalog:names.t", "CITED_BY", "answer:names-answer") in apart

    one = decide(command, running, "merge")
    assert (MADE_OF_BOTH, "FEEDS", "run:names-r") in one
    assert (MADE_OF_BOTH, "CITED_BY", "answer:names-answer") in one
    (found,) = listed(command)
    # An event used both, so the smaller urn gives the name.
    assert (found["dataset"], found["name"]) == (
        {"namespace": TABLE[0], "name": TABLE[1]},
        {"namespace": PATH[0], "name": PATH[1]},
    )
    assert (found["declaredBy"], found["via"]) == ("manual", None)
    assert str(found["since"]).startswith("20")

    assert decide(command, running, "split") == apart
    assert listed(command) == []
    assert decide(command, running, "merge") == one


def test_the_decision_survives_a_rebuild(running: Running, database: Database) -> None:
    lived = about_names(database)
    assert any(type == "SYMLINK_OF" for _, type, _ in lived)
    empty(database)
    with closing(Spool(running.home / "spool.db")) as spool:
        Worker(database, spool).run(until_done=True)
    assert about_names(database) == lived


def test_a_facet_dates_an_alias_and_a_manual_decision_outweighs_it(
    command: Command, running: Running
) -> None:
    facet = {"identifiers": [{"namespace": "file", "name": "/names/u", "type": "TABLE"}]}
    event = {
        "eventTime": "2026-03-02T00:00:00Z",
        "dataset": {"namespace": "catalog", "name": "names.u", "facets": {"symlinks": facet}},
    }
    assert command.ingest("-", stdin=json.dumps(event).encode())[0] == 0
    running.wait_folded()
    (found,) = [row for row in listed(command) if "names.u" in str(row)]
    assert (found["declaredBy"], found["since"], found["via"]) == (
        "facet",
        "2026-03-02T00:00:00Z",
        None,
    )
    client = Headwater(running.url)
    client.split_aliases(("file", "/names/u"), ("catalog", "names.u"))
    running.wait_folded()
    assert [row for row in listed(command) if "names.u" in str(row)] == []
    client.merge_aliases(("catalog", "names.u"), ("file", "/names/u"))
    client.merge_aliases(("file", "/names/u"), ("file", "/names/v"))
    running.wait_folded()
    by_name = {
        row["name"]["name"]: row for row in listed(command) if "names.u" in str(row["dataset"])
    }
    assert {name: row["declaredBy"] for name, row in by_name.items()} == {
        "/names/u": "manual",
        "/names/v": "manual",
    }
    assert by_name["/names/v"]["via"] == {"namespace": "file", "name": "/names/u"}


def test_a_malformed_name_is_refused(command: Command, running: Running) -> None:
    code, _, printed = command("aliases", "merge", "", "", *TABLE, "--url", running.url)
    assert code != 0
    assert "Traceback" not in printed
