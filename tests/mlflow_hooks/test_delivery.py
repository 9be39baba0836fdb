"""Delivery within seconds, and never an error."""

from __future__ import annotations

import logging

import pytest

from headwater.errors import SettingsError
from headwater.mlflow_hooks import delivery
from headwater.mlflow_hooks.delivery import Delivery
from headwater.spark_hooks.send import RecentFailures
from tests.spark_hooks.servers import closed_port, recorder

EVENT = {"eventTime": "2026-01-01T00:00:00Z"}


@pytest.fixture(autouse=True)
def no_recent_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the failures of other tests."""
    monkeypatch.setattr(delivery, "_recent_failures", RecentFailures())


def test_an_event_is_sent_at_once_or_in_the_background() -> None:
    with recorder(201) as server:
        sender = Delivery(server.url, "k")
        assert sender.send(EVENT)
        sender.send_in_background(EVENT).join(5)
    assert (server.events, server.keys) == ([EVENT, EVENT], {"Bearer k"})


def test_a_failure_is_logged_and_the_address_is_not_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with recorder(422) as server, caplog.at_level(logging.WARNING):
        sender = Delivery(server.url)
        assert not sender.send(EVENT)
        assert not sender.send(EVENT)
    assert len(server.events) == 1
    assert caplog.text.count("lineage_not_sent") == 2
    assert "recently_unavailable" in caplog.text


def test_a_malformed_address_is_refused_at_once() -> None:
    with pytest.raises(SettingsError, match="http"):
        Delivery(closed_port().replace("http", "ftp"))
