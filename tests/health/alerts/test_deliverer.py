"""Deliveries to real HTTP receivers: none is lost, and none takes effect twice."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from typing import Any

import pytest
from neo4j import Driver

from headwater.cypher.driver.database import Database
from headwater.health.alerts.deliverer import (
    ATTEMPTS_PER_DAY,
    LEASE_SECONDS,
    Deliverer,
    ReceiverWorker,
)
from headwater.health.alerts.receivers import Kind, Receiver
from headwater.health.alerts.senders import idempotency_key, signature
from headwater.health.alerts.visible import ReceiverViews
from headwater.health.findings.models import Affected, Tier
from headwater.lineage.view import GraphView
from tests.conftest import Neo4jServer
from tests.health.alerts.alert_stores import (
    change,
    deliveries,
    enqueue_at,
    enqueue_now,
    store,
)
from tests.health.alerts.finding_builders import consumer, finding
from tests.health.alerts.http_receivers import HttpReceiver, http_receiver

pytestmark = pytest.mark.neo4j


@pytest.fixture(autouse=True)
def _clean(clean_graph: Driver) -> None:
    del clean_graph


@pytest.fixture
def peer() -> Iterator[HttpReceiver]:
    with http_receiver() as found:
        yield found


def webhook(url: str, name: str = "hook", **fields: object) -> Receiver:
    return Receiver(name, Kind.WEBHOOK, url, **fields)  # type: ignore[arg-type]


def worker(database: Database, receiver: Receiver) -> ReceiverWorker:
    return ReceiverWorker(database, receiver, ReceiverViews(GraphView(database)))


def clock(ahead: timedelta) -> type[datetime]:
    """Return `datetime` with a clock that is ahead."""

    class Ahead(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            return datetime.now(tz) + ahead

    return Ahead


def until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.02)


def test_a_message_has_the_body_and_the_header_that_clients_rely_on(
    database: Database, peer: HttpReceiver
) -> None:
    hook = webhook(peer.url, secret="s3cret")
    report = consumer("answer:report", "board")
    failed = finding(
        tier=Tier.P1, owners=("etl",), affected=Affected(answers=1, consumers=(report,))
    )
    store(database, failed)
    enqueue_now(database, hook)
    worker(database, hook).pass_once()
    (received,) = peer.received
    assert received.key == idempotency_key(f"delivery:hook:{failed.id}:1")
    assert received.headers["X-Headwater-Signature"] == signature("s3cret", received.text.encode())
    body = received.body
    assert (body["dedupKey"], body["tier"], body["status"]) == (failed.id, "P1", "firing")
    assert body["title"] == "orders failed. Affected: 1 answer"
    assert [one["id"] for one in body["findings"]] == [failed.id]
    assert [one["urn"] for one in body["consumers"]] == ["answer:report"]
    assert (body["owners"], body["links"]) == (["etl", "board"], {})
    (delivery,) = deliveries(database)
    assert (delivery["state"], delivery["attempts"]) == ("delivered", 1)
    assert "lease" not in delivery


def test_each_message_has_another_key_and_each_attempt_the_same(
    database: Database, peer: HttpReceiver
) -> None:
    hook = webhook(peer.url)
    sender = worker(database, hook)
    store(database, finding(tier=Tier.P2))
    enqueue_now(database, hook)
    peer.answers = [(503, {})]
    assert sender.pass_once() > 1
    change(database, nextAt=datetime.now(UTC))
    sender.pass_once()
    store(database, finding(tier=Tier.P1))
    enqueue_now(database, hook)
    sender.pass_once()
    first, again, update = peer.received
    assert (first.key, first.text) == (again.key, again.text)
    assert (update.key != first.key, update.body["dedupKey"]) == (True, first.body["dedupKey"])


def test_the_receiver_may_ask_to_wait(database: Database, peer: HttpReceiver) -> None:
    hook = webhook(peer.url)
    store(database, finding())
    enqueue_now(database, hook)
    peer.answers = [(429, {"Retry-After": "120"})]
    before = datetime.now(UTC)
    assert worker(database, hook).pass_once() == 120
    (delivery,) = deliveries(database)
    assert delivery["state"] == "waiting"
    assert delivery["error"] == "the receiver answered 429"
    assert delivery["nextAt"] >= before + timedelta(seconds=120)


def test_a_body_that_is_refused_is_a_dead_letter(database: Database, peer: HttpReceiver) -> None:
    hook = webhook(peer.url)
    store(database, finding(), finding(subject="job:etl:other"))
    enqueue_now(database, hook)
    peer.answers = [(422, {})]
    worker(database, hook).pass_once()
    states = sorted((one["state"], one.get("error")) for one in deliveries(database))
    assert states == [("dead", "the receiver answered 422"), ("delivered", None)]


def test_a_redirect_is_not_followed(database: Database, peer: HttpReceiver) -> None:
    hook = webhook(peer.url)
    store(database, finding())
    enqueue_now(database, hook)
    peer.answers = [(307, {"Location": peer.url})]
    worker(database, hook).pass_once()
    assert len(peer.received) == 1
    assert deliveries(database)[0]["error"] == "the receiver answered 307"


def test_a_message_that_failed_for_a_day_is_a_dead_letter(database: Database) -> None:
    hook = webhook("http://127.0.0.1:9/")
    store(database, finding())
    enqueue_now(database, hook)
    worker(database, hook).pass_once()
    assert deliveries(database)[0]["state"] == "waiting"
    now = datetime.now(UTC)
    day_ago = now - timedelta(days=1, seconds=1)
    change(database, queuedAt=day_ago, nextAt=now, attempts=ATTEMPTS_PER_DAY - 1)
    worker(database, hook).pass_once()
    (delivery,) = deliveries(database)
    assert delivery["state"] == "dead"
    assert delivery["error"].startswith("no answer: ")


def test_a_receiver_that_failed_for_a_day_gets_no_older_message(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = webhook("http://127.0.0.1:9/")
    store(database, finding())
    enqueue_now(database, hook)
    sender = worker(database, hook)
    sender.pass_once()
    now, began = datetime.now(UTC), time.monotonic()
    change(database, queuedAt=now - timedelta(days=1, seconds=1), nextAt=now)
    monkeypatch.setattr(time, "monotonic", lambda: began + 86_401)
    sender.pass_once()
    assert [(one["state"], one["attempts"]) for one in deliveries(database)] == [("dead", 2)]


def test_a_clock_that_is_ahead_for_a_while_gives_no_message_up(
    database: Database, peer: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are sent once the clock is right, though leases and pauses end days later."""
    store(database, finding())
    enqueue_now(database, webhook("http://127.0.0.1:9/"))
    sender = worker(database, webhook("http://127.0.0.1:9/"))
    sender.pass_once()
    ahead = timedelta(days=10)
    with monkeypatch.context() as patch:
        patch.setattr("headwater.health.alerts.deliverer.datetime", clock(ahead))
        for _ in range(6):
            change(database, nextAt=datetime.now(UTC) + ahead)
            sender.pass_once()
        store(database, finding(), finding(subject="job:etl:other"))
        enqueue_at(database, datetime.now(UTC) + ahead, webhook("http://127.0.0.1:9/"))
        sender.pass_once()
        # As of a process that was killed while it sent.
        sender._lease()
    states = [(one["state"], one["nextAt"] > datetime.now(UTC)) for one in deliveries(database)]
    assert states == [("waiting", True)] * 2
    worker(database, webhook(peer.url)).pass_once()
    assert len(peer.received) == 2
    assert {one["state"] for one in deliveries(database)} == {"delivered"}
    assert all(one["queuedAt"] <= datetime.now(UTC) for one in deliveries(database))


def test_a_lease_of_a_clock_that_differs_a_little_is_respected(
    database: Database, peer: HttpReceiver
) -> None:
    hook = webhook(peer.url)
    store(database, finding())
    enqueue_now(database, hook)
    leased_until = datetime.now(UTC) + timedelta(seconds=LEASE_SECONDS + 60)
    change(database, lease="other", leasedUntil=leased_until)
    worker(database, hook).pass_once()
    assert peer.received == []


def test_messages_about_one_alert_keep_their_order(database: Database, peer: HttpReceiver) -> None:
    hook = webhook(peer.url)
    sender = worker(database, hook)
    store(database, finding())
    enqueue_now(database, hook)
    peer.answers = [(500, {})]
    sender.pass_once()
    store(database)
    enqueue_now(database, hook)
    # The first waits for its next attempt, so the second must wait too.
    sender.pass_once()
    assert [one.body["status"] for one in peer.received] == ["firing"]
    change(database, nextAt=datetime.now(UTC))
    sender.pass_once()
    sender.pass_once()
    assert [one.body["status"] for one in peer.received] == ["firing", "firing", "resolved"]


def test_the_outage_of_one_receiver_stops_no_other(database: Database, peer: HttpReceiver) -> None:
    away, hook = webhook("http://127.0.0.1:9/", "away"), webhook(peer.url)
    store(database, finding())
    enqueue_now(database, away, hook)
    deliverer = Deliverer(database, [away, hook], ReceiverViews(GraphView(database)))
    deliverer.start()
    until(lambda: len(peer.received) == 1)
    until(lambda: all(one["attempts"] > 0 for one in deliveries(database)))
    deliverer.stop(60)
    states = {one["receiver"]: one["state"] for one in deliveries(database)}
    assert states == {"away": "waiting", "hook": "delivered"}


def test_a_receiver_sees_no_names_of_hidden_nodes(database: Database, peer: HttpReceiver) -> None:
    hook = webhook(peer.url, namespaces=("etl",))
    secret = "dataset:secret:salaries"
    root = finding("stale-source", secret)
    seen = finding(
        "missing-run",
        root=root.id,
        affected=Affected(
            datasets=2, consumers=(consumer("dataset:etl:mart"), consumer(secret, "payroll"))
        ),
    )
    store(database, root, seen, finding("row-count", "dataset:secret:bonus"))
    enqueue_now(database, hook)
    worker(database, hook).pass_once()
    (received,) = peer.received
    assert [one["urn"] for one in received.body["findings"]] == ["job:etl:orders"]
    assert received.body["dedupKey"].startswith("hidden:")
    assert (received.body["affected"]["datasets"], received.body["moreConsumers"]) == (1, 0)
    for name in ("secret", "salaries", "bonus", "payroll"):
        assert name not in received.text


def test_nothing_is_sent_if_nothing_is_visible(database: Database, peer: HttpReceiver) -> None:
    # Without the file of the keys, a receiver with a key sees nothing.
    hook = webhook(peer.url, key="team")
    store(database, finding())
    enqueue_now(database, hook)
    worker(database, hook).pass_once()
    assert (peer.received, deliveries(database)[0]["state"]) == ([], "withheld")


def test_two_processes_send_a_message_once(database: Database, peer: HttpReceiver) -> None:
    hook = webhook(peer.url)
    store(database, *(finding(subject=f"job:etl:{number}") for number in range(20)))
    enqueue_now(database, hook)
    threads = [threading.Thread(target=worker(database, hook).pass_once) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(peer.keys) == len(set(peer.keys)) == 20


def test_the_message_of_a_removed_receiver_is_given_up(database: Database) -> None:
    hook = webhook("http://127.0.0.1:9/")
    store(database, finding())
    enqueue_now(database, hook)
    change(database, queuedAt=datetime.now(UTC) - timedelta(days=2))
    # The clock may be ahead, so the first look gives nothing up.
    deliverer = Deliverer(database, [], ReceiverViews(GraphView(database)))
    deliverer.start()
    until(lambda: deliveries(database)[0]["attempts"] == 1)
    deliverer.stop()
    assert deliveries(database)[0]["state"] == "waiting"
    change(database, attempts=ATTEMPTS_PER_DAY - 1)
    deliverer = Deliverer(database, [], ReceiverViews(GraphView(database)))
    deliverer.start()
    until(lambda: deliveries(database)[0]["state"] == "dead")
    deliverer.stop()
    assert deliveries(database)[0]["error"] == "the settings name no receiver hook"


def test_no_message_is_lost_or_doubled_when_the_process_is_killed(
    database: Database, neo4j_server: Neo4jServer, peer: HttpReceiver
) -> None:
    hook = webhook(peer.url)
    store(database, *(finding(subject=f"job:etl:{number}") for number in range(40)))
    enqueue_now(database, hook)
    expected = {idempotency_key(one["urn"]) for one in deliveries(database)}
    server = neo4j_server
    command = [
        sys.executable, "-m", "tests.health.alerts.deliverer_process",
        server.uri, server.user, server.password, peer.url,
    ]  # fmt: skip
    processes = [subprocess.Popen(command) for _ in range(3)]
    for number, process in enumerate(processes, start=1):
        # Each is killed while it, or another one, is sending.
        until(partial(_has_keys, peer, 8 * number))
        process.kill()
        process.wait()
    assert len(set(peer.keys)) < len(expected)
    last = worker(database, hook)
    while not _are_delivered(database):
        last.pass_once()
    assert set(peer.keys) == expected
    # A receiver that honours the key applies each message once: repeats are the same.
    texts = {one.key: one.text for one in peer.received}
    assert all(one.text == texts[one.key] for one in peer.received)


def _has_keys(peer: HttpReceiver, count: int) -> bool:
    return len(set(peer.keys)) >= count


def _are_delivered(database: Database) -> bool:
    return all(one["state"] == "delivered" for one in deliveries(database))


def test_a_log_shows_no_address(
    database: Database, peer: HttpReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    hook = webhook(f"{peer.url}?token=t0ken")
    store(database, finding())
    enqueue_now(database, hook)
    peer.answers = [(500, {})]
    worker(database, hook).pass_once()
    assert "alert_not_delivered receiver=hook state=waiting" in caplog.text
    shown = caplog.text + repr(hook) + json.dumps(deliveries(database), default=str)
    assert "t0ken" not in shown
