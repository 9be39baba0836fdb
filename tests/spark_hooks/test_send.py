"""One event over HTTP: statuses that count as accepted, statuses that are retried, and the
deadline.
"""

from __future__ import annotations

import pytest

from headwater.errors import EventError, UnavailableError
from headwater.spark_hooks.send import post
from tests.spark_hooks.servers import closed_port, recorder, silent_server

EVENT = {"eventTime": "2026-01-01T00:00:00Z"}


def test_an_event_that_is_taken_is_sent_once_with_its_key() -> None:
    with recorder(201) as server:
        post(server.url + "/api/v1/lineage", EVENT, api_key="k", seconds=2)
    assert server.events == [EVENT]
    assert server.keys == {"Bearer k"}
    assert server.paths == {"/api/v1/lineage"}


def test_a_server_that_is_full_for_a_moment_is_retried() -> None:
    with recorder(503, 503, 201) as server:
        post(server.url + "/x", EVENT, api_key=None, seconds=5)
    assert len(server.events) == 3


@pytest.mark.parametrize("status", [301, 307, 400, 401, 413, 422])
def test_a_refusal_and_a_redirect_are_faults_and_not_tried_again(status: int) -> None:
    with recorder(status) as server, pytest.raises(EventError, match=str(status)):
        post(server.url + "/x", EVENT, api_key=None, seconds=2)
    assert len(server.events) == 1


@pytest.mark.timeout(60)
def test_a_silent_server_is_an_error_within_the_deadline() -> None:
    """Without a deadline, the second call would wait for ever."""
    with pytest.raises(UnavailableError):
        post(closed_port() + "/x", EVENT, api_key=None, seconds=0.5)
    with silent_server() as url, pytest.raises(UnavailableError):
        post(url + "/x", EVENT, api_key=None, seconds=0.5)
