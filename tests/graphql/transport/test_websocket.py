"""The subscription protocol on a real server: keys, limits, and the ends of connections."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from headwater.access.principal import Scope
from headwater.cypher.driver.database import Database
from headwater.graphql.transport import websocket as sockets
from headwater.websocket_protocol import FRAMES_AT_ONCE_MAX
from tests.graphql.subscribers import (
    EVENTS,
    Serve,
    Served,
    closed_with,
    receive,
    receive_data,
    send,
    subscribe,
    working,
)
from tests.run_builders import run, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph", "quick")]

Patch = pytest.MonkeyPatch


def test_keys(keyed: Served) -> None:
    bad: dict[int, list[str | None]] = {
        4401: [None, "nonsense", "hw_" + "0" * 12 + "_" + "x" * 43],
        4403: [keyed.key("sender", scope=Scope.INGEST)],
    }
    for code, keys in bad.items():
        for key in keys:
            with keyed.connect() as client:
                payload = {"authorization": f"Bearer {key}"} if key else {}
                send(client, type="connection_init", payload=payload)
                assert closed_with(client) == code, key
    # A subscription before connection_init is refused.
    with keyed.connect() as client:
        send(client, type="subscribe", id="1", payload={"query": EVENTS})
        assert closed_with(client) == 4401
    reader = keyed.key("reader")
    keyed.begun(reader).close()
    with keyed.connect(additional_headers={"authorization": f"Bearer {reader}"}) as client:
        send(client, type="connection_init")
        assert receive(client) == {"type": "connection_ack"}


def test_a_key_that_ends_cuts_its_connections(keyed: Served, monkeypatch: Patch) -> None:
    monkeypatch.setattr(sockets, "RECHECK_SECONDS", 0.3)
    revoked, expiring, staying = (
        keyed.key("gone"),
        keyed.key("short", days=2 / 86_400),
        keyed.key("stays"),
    )
    with (
        keyed.begun(revoked) as first,
        keyed.begun(expiring) as second,
        keyed.begun(staying) as third,
    ):
        subscribe(first)
        keyed.keys.revoke("gone")
        assert closed_with(first) == 4401
        assert closed_with(second) == 4401
        send(third, type="ping")
        assert receive(third) == {"type": "pong"}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("nonsense", 4400),
        ("[]", 4400),
        ("5", 4400),
        ("[" * 30_000, 4400),
        ('"\\ud800"', 4400),
        (b"\x00\x01", 4400),
        ("{}", 4400),
        ('{"type": "start", "id": "1"}', 4400),
        ('{"type": "subscribe", "id": 5}', 4400),
        ('{"type": "subscribe", "id": ""}', 4400),
        ('{"type": "subscribe", "id": {"a": []}}', 4400),
        ('{"type": "subscribe", "id": "1"}', 4400),
        ('{"type": "subscribe", "id": "1", "payload": {"query": 5}}', 4400),
        ('{"type": "subscribe", "id": "1", "payload": {"query": "{a}", "variables": []}}', 4400),
        ('{"type": "connection_init"}', 4429),
        ('{"type": "ping", "payload": "' + "x" * 70_000 + '"}', 1009),
        ('{"type": "ping", "payload": "' + "x" * 300_000 + '"}', 1009),
    ],
)
def test_malformed_messages_end_the_connection(
    open_to_all: Served, message: str | bytes, code: int
) -> None:
    with open_to_all.begun() as client:
        client.send(message)
        assert closed_with(client) == code


def test_the_protocol(open_to_all: Served, monkeypatch: Patch) -> None:
    with open_to_all.connect(protocol="graphql-ws") as client:
        assert closed_with(client) == 4406
    payloads: tuple[Any, ...] = (5, [], "hw_", {"authorization": 5})
    for payload in payloads:
        with open_to_all.connect() as client:
            send(client, type="connection_init", payload=payload)
            assert closed_with(client) == 4400, payload
    monkeypatch.setattr(sockets, "INIT_SECONDS_MAX", 0.2)
    with open_to_all.connect() as client:
        assert closed_with(client) == 4408
    with open_to_all.begun() as client:
        subscribe(client)
        send(client, type="subscribe", id="1", payload={"query": EVENTS})
        assert closed_with(client) == 4409


def test_refused_subscriptions(open_to_all: Served) -> None:
    with open_to_all.begun() as client:
        refused = {
            "{ nothing": "BAD_REQUEST",
            '{ run(runId: "x") { runId } }': "BAD_REQUEST",
            'mutation { registerSource(input: {name: "x"}) { urn } }': "BAD_REQUEST",
            "subscription { runEvents { nothing } }": "BAD_REQUEST",
            "subscription { runEvents { runId } failures { runId } }": "BAD_REQUEST",
            "subscription { runEvents { "
            + "children { inputs { " * 3
            + "urn"
            + " } }" * 3
            + " } }": "BAD_REQUEST",
            "subscription { runEvents { "
            + "children { job { " * 6
            + "urn"
            + " } }" * 6
            + " } }": "BAD_REQUEST",
            "subscription { runEvents { "
            + "children { " * 6
            + "urn"
            + " }" * 6
            + " } }": "TOO_COSTLY",
        }
        for query, code in refused.items():
            send(client, type="subscribe", id="1", payload={"query": query})
            message = receive(client)
            assert (message["type"], message["id"]) == ("error", "1"), query
            assert {error["extensions"]["code"] for error in message["payload"]} == {code}, query
        # The id is free again, and the connection goes on.
        subscribe(client)


def test_numbers_are_bounded(keyed: Served, monkeypatch: Patch) -> None:
    monkeypatch.setattr(sockets, "CONNECTIONS_PER_KEY_MAX", 2)
    monkeypatch.setattr(sockets, "SUBSCRIPTIONS_PER_CONNECTION_MAX", 3)
    key, other = keyed.key("one"), keyed.key("two")
    first, second = keyed.begun(key), keyed.begun(key)
    third = keyed.connect()
    send(third, type="connection_init", payload={"authorization": f"Bearer {key}"})
    assert closed_with(third) == 4429
    keyed.begun(other).close()
    for n in range(3):
        subscribe(first, id=str(n))
    send(first, type="subscribe", id="3", payload={"query": EVENTS})
    assert receive(first)["payload"][0]["message"] == "the connection has 3 subscriptions already"
    send(first, type="complete", id="0")
    time.sleep(0.2)
    subscribe(first, id="4")
    # A slot is free again once its connection has ended.
    second.close()
    time.sleep(0.2)
    keyed.begun(key).close()
    first.close()
    monkeypatch.setattr(sockets, "CONNECTIONS_MAX", 0)
    with pytest.raises(InvalidStatus) as refused:
        keyed.connect()
    assert refused.value.response.status_code == 403


def test_connections_without_connection_init_make_room(keyed: Served, monkeypatch: Patch) -> None:
    monkeypatch.setattr(sockets, "CONNECTIONS_MAX", 2)
    key = keyed.key("waits")
    first, second = keyed.connect(), keyed.connect()
    third = keyed.begun(key)
    assert closed_with(first) == 1013
    fourth = keyed.begun(key)
    assert closed_with(second) == 1013
    send(third, type="ping")
    assert receive(third) == {"type": "pong"}
    third.close()
    fourth.close()


def test_messages_before_connection_init_are_few(keyed: Served) -> None:
    with keyed.connect() as client:
        for _ in range(sockets.MESSAGES_BEFORE_INIT_MAX):
            send(client, type="ping")
            assert receive(client) == {"type": "pong"}
        send(client, type="ping")
        assert closed_with(client) == 4429


def test_a_flood_of_messages_ends_its_own_connection_only(keyed: Served) -> None:
    with keyed.begun(keyed.key("floods")) as hostile, keyed.begun(keyed.key("asks")) as other:
        with suppress(ConnectionClosed):
            for _ in range(2 * FRAMES_AT_ONCE_MAX):
                send(hostile, type="ping")
        assert closed_with(hostile) == 1008
        assert hostile.close_reason == "too many frames; send at most 25 a second"
        # A burst of an honest client is answered whole.
        for n in range(50):
            send(other, type="subscribe", id=str(n), payload={"query": EVENTS})
        refused = [receive(other)["payload"][0]["message"] for _ in range(30)]
        assert set(refused) == {"the connection has 20 subscriptions already"}
        send(other, type="ping")
        assert receive(other) == {"type": "pong"}


def test_pages_of_other_sites_are_refused(open_to_all: Served) -> None:
    own = f"http://127.0.0.1:{open_to_all.port}"
    open_to_all.begun(origin=own).close()
    for origin in (
        "https://evil.example",
        "null",
        f"{own}0",
        own.replace("127.0.0.1", "localhost"),
    ):
        with pytest.raises(InvalidStatus) as refused:
            open_to_all.connect(origin=origin)
        assert refused.value.response.status_code == 403
    # A host name that an attacker points at this server.
    with socket.create_connection(("127.0.0.1", open_to_all.port)) as raw:
        lines = (
            "GET /graphql HTTP/1.1",
            "Host: evil.example",
            "Connection: Upgrade",
            "Upgrade: websocket",
        )
        more = ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: " + "A" * 22 + "==", "", "")
        raw.sendall("\r\n".join((*lines, *more)).encode())
        assert raw.recv(100).startswith(b"HTTP/1.1 403")


def test_a_client_that_does_not_read_is_dropped(
    open_to_all: Served, database: Database, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(sockets, "SEND_SECONDS_MAX", 0.5)
    large = "x" * 200_000
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_192)
    narrow.connect(("127.0.0.1", open_to_all.port))
    with open_to_all.begun(max_queue=1, sock=narrow) as stalled, open_to_all.begun() as reader:
        subscribe(
            stalled,
            "subscription { runEvents { " + " ".join(f"e{n}: error" for n in range(30)) + " } }",
        )
        subscribe(reader)
        # The client's socket is full, and no task reads from it.
        write_events(
            database, *(run(f"r{n:02d}", "load", status="FAIL", error=large) for n in range(80))
        )
        assert len(receive_data(reader, 80)) == 80
        time.sleep(2)
        # The close frame may not arrive: the client reads nothing.
        assert closed_with(stalled) in (1006, 1013)


def test_the_end_of_the_server_ends_them(serve: Serve) -> None:
    served = serve()
    with served.begun() as client, served.begun() as idle:
        subscribe(client)
        assert served.stop() < 3
        assert closed_with(client) == closed_with(idle) == 1012
    time.sleep(0.3)
    assert working() == []


def test_a_subscription_counts_as_a_question(serve: Serve) -> None:
    # One in 100 s: the second would wait too long, whatever the speed of this machine.
    limited = serve(require_keys=True, requests_per_second=0.01)
    with limited.begun(limited.key("limited")) as client:
        subscribe(client, id="1")
        send(client, type="subscribe", id="2", payload={"query": EVENTS})
        refused = receive(client)
        assert (refused["type"], refused["id"]) == ("error", "2")
        assert refused["payload"][0]["extensions"]["code"] == "TOO_MANY_REQUESTS"
        assert "0.01 requests a second" in refused["payload"][0]["message"]
        # The first one goes on, and so does the connection.
        send(client, type="ping")
        assert receive(client) == {"type": "pong"}
