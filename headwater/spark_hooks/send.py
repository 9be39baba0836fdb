"""One event to Headwater over HTTP, within a deadline that holds whatever the other side does.

Plain `http.client` on a thread of its own: a socket timeout alone restarts with every byte, and a name server
can hang before there is a socket. No redirect is followed and no proxy is taken from the environment: the
listener inside the JVM does neither, and both must speak to the same place. Refused connections and 5xx are
tried again while time remains; 4xx are not, for the same event would meet the same answer.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from headwater.errors import EventError, HeadwaterError, UnavailableError

_PAUSE_SECONDS = 0.2


def _attempt(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> None:
    parts = urlsplit(url)
    connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = connect(parts.netloc, timeout=timeout)
    try:
        connection.request("POST", parts.path, body, dict(headers))
        response = connection.getresponse()
        status, text = response.status, response.read(2_000).decode("utf-8", "replace")
    except (OSError, HTTPException) as fault:
        raise UnavailableError(f"Headwater at {url} did not answer: {fault}") from fault
    finally:
        connection.close()
    if status >= 500:
        raise UnavailableError(f"Headwater at {url} answered {status}: {text}")
    if not 200 <= status < 300:
        raise EventError(
            f"Headwater at {url} refused the event with {status}: {text}", status=status
        )


def _until(deadline: float, url: str, body: bytes, headers: Mapping[str, str]) -> None:
    while True:
        try:
            return _attempt(url, body, headers, max(deadline - time.monotonic(), 0.01))
        except UnavailableError:
            if time.monotonic() + _PAUSE_SECONDS >= deadline:
                raise
        time.sleep(_PAUSE_SECONDS)


def post(url: str, event: Mapping[str, Any], *, api_key: str | None, seconds: float) -> None:
    """Send `event`; raises UnavailableError or EventError when it was not taken within `seconds`."""
    body = json.dumps(event).encode()
    headers = {"Content-Type": "application/json"}
    if api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    faults: list[HeadwaterError] = []

    def work() -> None:
        try:
            _until(time.monotonic() + seconds, url, body, headers)
        except HeadwaterError as fault:
            faults.append(fault)

    thread = threading.Thread(target=work, name="headwater-answer", daemon=True)
    thread.start()
    thread.join(seconds + _PAUSE_SECONDS)
    if thread.is_alive():
        raise UnavailableError(f"Headwater at {url} did not answer within {seconds:g} s")
    if faults:
        raise faults[0]
