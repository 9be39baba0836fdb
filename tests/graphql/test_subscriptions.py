"""The messages of subscribers, from a real graph over a real socket."""

from __future__ import annotations

import json
import time
import urllib.request

import pytest

from headwater.cypher.driver.database import Database
from headwater.graphql import feed as news
from tests.graphql.subscribers import (
    EVENTS,
    Served,
    is_quiet,
    receive,
    receive_data,
    send,
    subscribe,
    working,
)
from tests.run_builders import answer, run, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph", "quick")]

Patch = pytest.MonkeyPatch


def test_runs_are_delivered_in_their_current_state(open_to_all: Served, database: Database) -> None:
    write_events(database, run("before", "load", [], ["a"]))
    with open_to_all.begun() as client:
        subscribe(client)
        begun = run("r1", "load", [], ["a"])[:1]
        write_events(database, begun)
        assert receive_data(client, 1) == [{"runId": "r1", "status": "RUNNING"}]
        write_events(database, run("r1", "load", [], ["a"]))
        assert receive_data(client, 1) == [{"runId": "r1", "status": "COMPLETE"}]
        # Repeated events and events without a change are not delivered.
        write_events(database, run("r1", "load", [], ["a"]), answer("report", "a"))
        assert is_quiet(client)
        # Changes of one transaction are all delivered.
        write_events(database, *(run(f"m{n:02d}", "load", [], ["a"]) for n in range(30)))
        assert receive_data(client, 30) == [
            {"runId": f"m{n:02d}", "status": "COMPLETE"} for n in range(30)
        ]
        # A change by the end of another run is delivered too.
        write_events(database, run("child", "load", [], ["a"], parent="dag")[:1])
        assert {row["runId"] for row in receive_data(client, 2)} == {"child", "dag"}
        write_events(database, run("dag", "dag", minute=5))
        assert {"runId": "child", "status": "ABANDONED"} in receive_data(client, 2)
        send(client, type="complete", id="1")
        write_events(database, run("after", "load", [], ["a"]))
        assert is_quiet(client)


def test_filters(open_to_all: Served, database: Database) -> None:
    with open_to_all.begun() as client:
        subscribe(client, id="p", p="load")
        subscribe(client, id="s", s="FAIL")
        subscribe(client, id="n", n="nowhere")
        subscribe(
            client,
            "subscription { failures { runId error downstream { datasets { name } } } }",
            id="f",
        )
        write_events(
            database,
            run("ok", "load", [], ["a"]),
            run("bad", "build", ["a"], ["b"], minute=3, status="FAIL", error="disk full"),
        )
        messages = [receive(client) for _ in range(3)]
        assert sorted(
            ((message["id"], message["payload"]["data"]) for message in messages), key=str
        ) == [
            (
                "f",
                {
                    "failures": {
                        "runId": "bad",
                        "error": "disk full",
                        "downstream": {"datasets": [{"name": "b"}]},
                    }
                },
            ),
            ("p", {"runEvents": {"runId": "ok", "status": "COMPLETE"}}),
            ("s", {"runEvents": {"runId": "bad", "status": "FAIL"}}),
        ]
        # The failed run changes again, but does not fail again.
        write_events(
            database,
            run("bad", "build", ["a", "c"], ["b"], minute=3, status="FAIL", error="disk full"),
        )
        assert receive(client)["id"] == "s"
        assert is_quiet(client)


def test_delivered_runs_are_read_again(open_to_all: Served, database: Database) -> None:
    with open_to_all.begun() as client:
        subscribe(client, "subscription { runEvents { runId inputs { name description } } }")
        write_events(database, run("r", "load", ["a"], []))
        assert receive_data(client, 1)[0]["inputs"] == [{"name": "a", "description": None}]
        write_events(database, run("r", "load", ["a", "b"], []))
        assert [row["name"] for row in receive_data(client, 1)[0]["inputs"]] == ["a", "b"]


def test_hidden_runs_are_not_delivered(keyed: Served, database: Database) -> None:
    everything, other = keyed.begun(keyed.key("all")), keyed.begun(keyed.key("other", "team-*"))
    query = "subscription { runEvents { runId inputs { name } children { runId } } }"
    with everything, other:
        for client in (everything, other):
            subscribe(client, query, id="r")
            subscribe(client, query.replace("runEvents", "failures"), id="f")
        subscribe(other, EVENTS, id="n", n="etl")
        theirs = run("theirs", "secret", ["hidden"], [], status="FAIL")
        ours = json.loads(
            json.dumps(run("ours", "mine", ["hidden"], [])).replace('"etl"', '"team-a"')
        )
        write_events(database, theirs, ours)
        assert [row["runId"] for row in receive_data(everything, 3)] == ["ours", "theirs", "theirs"]
        (row,) = receive_data(other, 1)
        assert (row["runId"], row["inputs"], row["children"]) == ("ours", row["inputs"], [])
        assert "hidden" not in json.dumps(row)
        assert is_quiet(other)


def test_a_late_subscriber_gets_an_error(
    open_to_all: Served, database: Database, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(news, "PENDING_MAX", 5)
    with open_to_all.begun() as client:
        subscribe(client)
        write_events(database, *(run(f"r{n:02d}", "load") for n in range(60)))
        messages = [receive(client)]
        while messages[-1]["type"] != "complete":
            messages.append(receive(client))
        assert messages[-2]["payload"]["errors"][0]["extensions"]["code"] == "TOO_SLOW"


def test_no_poll_without_a_subscriber(open_to_all: Served) -> None:
    time.sleep(0.5)
    assert working() == []
    with open_to_all.begun() as client:
        subscribe(client, id="1")
        subscribe(client, id="2")
        assert sorted(working()) == ["Feed._poll", "_stream_results", "_stream_results"]
    time.sleep(0.5)
    assert working() == []


def test_subscriptions_are_not_for_http(open_to_all: Served) -> None:
    body = json.dumps({"query": EVENTS}).encode()
    url = f"http://127.0.0.1:{open_to_all.port}/graphql"
    http_request = urllib.request.Request(url, body, {"content-type": "application/json"})
    with urllib.request.urlopen(http_request) as answered:
        (error,) = json.load(answered)["errors"]
    assert (error["extensions"]["code"], "WebSocket" in error["message"]) == ("BAD_REQUEST", True)
