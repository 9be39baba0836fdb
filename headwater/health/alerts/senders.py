"""One attempt to send a message to a receiver.

Addresses come from the operator's settings, so any host is allowed, loopback too. No redirect is
followed, and the certificate of an https address is verified.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from headwater.errors import HeadwaterError, SettingsError, UnavailableError
from headwater.health.alerts.alertmanager import with_ends
from headwater.health.alerts.receivers import PAGERDUTY_URL, Kind, Receiver
from headwater.transport import HttpSender, Response

TIMEOUT_SECONDS = 10.0
RETRY_AFTER_SECONDS_MAX = 3_600.0
# The receiver understood the request and will never take this body.
_REFUSED = frozenset({400, 413, 415, 422})
# The status decides; the beginning of the body is enough for a message.
_ANSWER_BYTES_MAX = 1_000
_ALERTS_PATH = "/api/v2/alerts"


class Attempt(NamedTuple):
    """How an attempt ended.

    is_final: no further attempt can succeed.
    retry_after_seconds: how long the receiver asks to wait.
    """

    is_delivered: bool
    error: str = ""
    is_final: bool = False
    retry_after_seconds: float = 0.0


def send(receiver: Receiver, body: str, idempotency_key: str) -> Attempt:
    """Send a body once. It raises nothing: a failure is the result."""
    try:
        if receiver.kind is Kind.APPRISE:
            return _send_by_apprise(receiver, body)
        url, content, headers = _request(receiver, body, idempotency_key)
        sender = HttpSender(
            timeout_seconds=TIMEOUT_SECONDS, retry_statuses=(), beginning_bytes=_ANSWER_BYTES_MAX
        )
        return _attempt(sender.post(url, content, headers))
    except UnavailableError as error:
        return Attempt(False, f"no answer: {error.message}")
    except HeadwaterError as error:
        return Attempt(False, error.message)
    except ValueError as error:
        return Attempt(False, f"the request cannot be sent: {error}")


def idempotency_key(delivery: str) -> str:
    """Return the key of a delivery: the same at each attempt, another for each message."""
    return hashlib.sha256(delivery.encode()).hexdigest()


def signature(secret: str, body: bytes) -> str:
    """Return the value of the header that shows who sent a body."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def _request(
    receiver: Receiver, body: str, idempotency_key: str
) -> tuple[str, bytes, dict[str, str]]:
    """Return the address, the body and the headers of a request."""
    url = receiver.url
    if receiver.kind is Kind.PAGERDUTY:
        url = url or PAGERDUTY_URL
        body = json.dumps({"routing_key": receiver.routing_key, **json.loads(body)})
    elif receiver.kind is Kind.ALERTMANAGER:
        url = url.rstrip("/") + _ALERTS_PATH
        body = json.dumps(with_ends(json.loads(body), datetime.now(UTC)))
    content = body.encode()
    headers = {
        "Content-Type": "application/json",
        "Idempotency-Key": idempotency_key,
        "User-Agent": "headwater",
    }
    if receiver.secret:
        headers["X-Headwater-Signature"] = signature(receiver.secret, content)
    return url, content, headers


def _attempt(response: Response) -> Attempt:
    if response.is_success:
        return Attempt(True)
    answer = response.text(200).strip()
    error = f"the receiver answered {response.status}{f': {answer}' if answer else ''}"
    return Attempt(
        False, error, response.status in _REFUSED, retry_after_seconds(response.retry_after)
    )


def retry_after_seconds(value: str, now: float | None = None) -> float:
    """Return the seconds that a header Retry-After asks for, 0 for a malformed one.

    It holds seconds or a date (RFC 9110, section 10.2.3).
    """
    if value.strip().isdecimal():
        seconds = float(value)
    else:
        try:
            date = parsedate_to_datetime(value)
        except ValueError:
            return 0.0
        seconds = date.timestamp() - (time.time() if now is None else now)
    return min(max(seconds, 0.0), RETRY_AFTER_SECONDS_MAX)


def _send_by_apprise(receiver: Receiver, body: str) -> Attempt:
    """Send by the library apprise, which says only whether it succeeded."""
    try:
        import apprise
    except ImportError as error:
        raise SettingsError(
            "the package apprise is missing",
            hint="Install it: pip install 'headwater[alerts]'.",
        ) from error
    message = json.loads(body)
    sender = apprise.Apprise()
    if not sender.add(receiver.url):
        return Attempt(False, "apprise does not know the address")
    is_sent = sender.notify(
        title=message["title"], body=message["body"], body_format=apprise.NotifyFormat.MARKDOWN
    )
    return Attempt(True) if is_sent else Attempt(False, "apprise could not send it")
