"""Send one event to Headwater within a deadline that holds whatever the server does.

The request runs in a thread of its own. A socket timeout restarts with every byte, and a name
server can hang before there is a socket. The sender takes no proxy from the environment, as the
listener in the JVM takes none: both must reach the same address. It repeats refused connections and
5xx responses while time remains. It does not repeat 4xx: the same event would get the same
response.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from itertools import repeat
from typing import Any

from headwater.errors import EventError, HeadwaterError, UnavailableError
from headwater.transport import HttpSender, bearer_headers

PAUSE_SECONDS = 0.2
QUIET_SECONDS = 30.0


class RecentFailures:
    """Addresses that failed within `quiet_seconds`.

    A job that cites a hundred answers must not wait for an absent server a hundred times.
    """

    def __init__(self, quiet_seconds: float = QUIET_SECONDS) -> None:
        self._quiet_seconds = quiet_seconds
        self._failed_at: dict[str, float] = {}

    def includes(self, url: str) -> bool:
        """Return True if the address failed within the quiet time."""
        failed_at = self._failed_at.get(url)
        return failed_at is not None and time.monotonic() - failed_at < self._quiet_seconds

    def add(self, url: str) -> None:
        """Record a failure now."""
        self._failed_at[url] = time.monotonic()

    def remove(self, url: str) -> None:
        """Forget the failures of an address."""
        self._failed_at.pop(url, None)


def post(url: str, event: Mapping[str, Any], *, api_key: str | None, seconds: float) -> None:
    """Send one event.

    Args:
        url: Address of the endpoint that accepts events.
        event: An OpenLineage event as JSON values.
        api_key: Sent as a bearer token, unless it is None or empty.
        seconds: Time for all attempts together.

    Raises:
        UnavailableError: No response arrived in time, or the last one was a 5xx.
        EventError: The server refused the event or redirected the request.
    """
    body = json.dumps(event).encode()
    faults: list[HeadwaterError] = []

    def work() -> None:
        try:
            _send(url, body, api_key, seconds)
        except HeadwaterError as fault:
            faults.append(fault)

    thread = threading.Thread(target=work, name="headwater-answer", daemon=True)
    thread.start()
    thread.join(seconds + PAUSE_SECONDS)
    if thread.is_alive():
        raise UnavailableError(f"Headwater at {url} did not answer within {seconds:g} s")
    if faults:
        raise faults[0]


def _send(url: str, body: bytes, api_key: str | None, seconds: float) -> None:
    sender = HttpSender(
        timeout_seconds=seconds,
        pauses=repeat(PAUSE_SECONDS),
        retry_statuses=range(500, 600),
        uses_proxies=False,
    )
    deadline = time.monotonic() + seconds
    try:
        response = sender.post(url, body, bearer_headers(api_key), deadline=deadline)
    except UnavailableError as error:
        raise UnavailableError(
            f"Headwater at {url} did not answer: {error.message}", hint=error.hint
        ) from error
    if response.status >= 500:
        raise UnavailableError(
            f"Headwater at {url} answered {response.status}: {response.text(2_000)}"
        )
    if not response.is_success:
        raise EventError(
            f"Headwater at {url} refused the event with {response.status}: {response.text(2_000)}",
            status=response.status,
        )
