"""One attempt to send to a real receiver, and what its answer means."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta

import pytest

from headwater.health.alerts.receivers import Kind, Receiver
from headwater.health.alerts.senders import (
    Attempt,
    idempotency_key,
    retry_after_seconds,
    send,
    signature,
)
from headwater.health.alerts.trial import TITLE, send_trial
from tests.health.alerts.http_receivers import http_receiver


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("", 0),
        ("120", 120),
        ("99999", 3600),
        ("Thu, 01 Jan 1970 00:01:00 GMT", 50),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0),
        ("soon", 0),
    ],
)
def test_retry_after(value: str, seconds: float) -> None:
    assert retry_after_seconds(value, now=10.0) == seconds


def test_pagerduty_gets_its_routing_key() -> None:
    with http_receiver() as peer:
        receiver = Receiver("pager", Kind.PAGERDUTY, peer.url, routing_key="r0uting")
        assert send_trial(receiver).is_delivered
    assert [one.body["routing_key"] for one in peer.received] == ["r0uting"] * 2


@pytest.mark.filterwarnings("ignore:'imghdr':DeprecationWarning")
def test_apprise_sends_to_a_real_receiver() -> None:
    with http_receiver() as peer:
        url = peer.url.replace("http://", "json://")
        assert send_trial(Receiver("mail", Kind.APPRISE, url)).is_delivered
    first = peer.received[0].body
    assert first["title"] == f"P3: {TITLE}"
    assert "Act when there is time." in first["message"]


@pytest.mark.filterwarnings("ignore:'imghdr':DeprecationWarning")
def test_an_unknown_address_of_apprise_is_a_failure() -> None:
    receiver = Receiver("mail", Kind.APPRISE, "nosuchscheme://x")
    assert send(receiver, '{"title": "a", "body": "b"}', "k").error == (
        "apprise does not know the address"
    )


def hook(url: str, secret: str = "") -> Receiver:
    return Receiver("hook", Kind.WEBHOOK, url, secret=secret)


def test_a_request_has_its_key_and_a_signature() -> None:
    with http_receiver() as peer:
        assert send(hook(peer.url, "s3cret"), '{"a":"é"}', "key-1") == Attempt(True)
        assert send(hook(peer.url), "{}", "key-2") == Attempt(True)
    first, second = peer.received
    assert first.headers["Idempotency-Key"] == "key-1"
    expected = hmac.new(b"s3cret", '{"a":"é"}'.encode(), hashlib.sha256).hexdigest()
    assert first.headers["X-Headwater-Signature"] == f"sha256={expected}"
    assert "X-Headwater-Signature" not in second.headers


@pytest.mark.parametrize(
    ("status", "is_final"),
    [(400, True), (413, True), (415, True), (422, True), (401, False), (404, False), (500, False)],
)
def test_a_refused_body_is_never_sent_again(status: int, is_final: bool) -> None:
    with http_receiver() as peer:
        peer.answers.append((status, {}))
        found = send(hook(peer.url), "{}", "k")
    assert found == Attempt(False, f"the receiver answered {status}", is_final)
    assert len(peer.received) == 1


def test_a_busy_receiver_says_how_long_to_wait() -> None:
    with http_receiver() as peer:
        peer.answers.append((429, {"Retry-After": "7"}))
        found = send(hook(peer.url), "{}", "k")
    assert (found.is_delivered, found.is_final, found.retry_after_seconds) == (False, False, 7.0)


def test_no_redirect_is_followed() -> None:
    with http_receiver() as other, http_receiver() as peer:
        peer.answers.append((307, {"Location": other.url}))
        assert not send(hook(peer.url), "{}", "k").is_delivered
    assert other.received == []


def test_a_receiver_that_is_away_is_a_failure() -> None:
    with http_receiver() as peer:
        url = peer.url
    found = send(hook(url), "{}", "k")
    assert (found.is_delivered, found.is_final) == (False, False)
    assert found.error.startswith("no answer: ")


def test_an_alertmanager_gets_an_end_that_lies_ahead() -> None:
    before = datetime.now(UTC)
    fired = [{"labels": {"rule": "a"}}, {"labels": {"rule": "b"}, "endsAt": "2026-01-01T00:00:00Z"}]
    with http_receiver() as peer:
        receiver = Receiver("am", Kind.ALERTMANAGER, f"{peer.url}/")
        assert send(receiver, json.dumps(fired), "k").is_delivered
    assert peer.received[0].path == "/hook/api/v2/alerts"
    open_alert, ended = peer.received[0].body
    assert ended["endsAt"] == "2026-01-01T00:00:00Z"
    ends = datetime.fromisoformat(open_alert["endsAt"])
    assert (
        timedelta(minutes=15)
        <= ends - before
        <= timedelta(minutes=15) + (datetime.now(UTC) - before)
    )


def test_each_message_has_a_key_of_its_own() -> None:
    assert idempotency_key("a firing") == idempotency_key("a firing")
    assert idempotency_key("a firing") != idempotency_key("a resolved")


def test_a_signature_as_rfc_4231_has_it() -> None:
    # Test case 2 of RFC 4231.
    assert signature("Jefe", b"what do ya want for nothing?") == (
        "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    )
