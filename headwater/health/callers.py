"""Metrics of callers by name: requests that were admitted or refused by limits, and events."""

from __future__ import annotations

from prometheus_client import Counter

# More names than a team has keys. Names of people who sign in are without end.
NAMES_MAX = 200
OTHER = "other"

requests = Counter(
    "headwater_caller_requests",
    "Requests of a caller: admitted, or refused by its limits.",
    ["caller", "outcome"],
)
events = Counter("headwater_caller_events", "Events accepted from a caller.", ["caller"])
_names: set[str] = set()


def observe_request(name: str, outcome: str) -> None:
    """Count a request of a caller."""
    requests.labels(_label(name), outcome).inc()


def observe_events(name: str, count: int) -> None:
    """Count events of a caller."""
    events.labels(_label(name)).inc(count)


def _label(name: str) -> str:
    """Return the name for a label; `other` after too many names."""
    if name not in _names:
        if len(_names) >= NAMES_MAX:
            return OTHER
        _names.add(name)
    return name
