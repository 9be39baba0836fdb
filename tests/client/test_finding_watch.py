"""Which changes a watch reports; `tests/cli/test_watch.py` watches a real server."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.client.address import Address
from headwater.client.finding_watch import FindingChange, FindingWatch
from headwater.errors import QueryError, UnavailableError


def node(severity: str, resolved_at: str | None = None) -> dict[str, Any]:
    return {"id": "f", "severity": severity, "resolvedAt": resolved_at}


def message(change: str, finding: dict[str, Any] | None) -> dict[str, Any]:
    changed = {"id": "f", "change": change, "finding": finding}
    return {"type": "next", "payload": {"data": {"findingChanges": changed}}}


def reported(watch: FindingWatch, given: dict[str, Any]) -> list[str]:
    """Return the kinds of changes that a message reports, and handle them."""
    kinds = []
    for change in watch._of_message(given):
        watch.done(change)
        kinds.append(change.kind)
    return kinds


def test_each_state_is_reported_once() -> None:
    watch = FindingWatch(Address("http://127.0.0.1:1"), with_existing=True)
    assert reported(watch, message("OPENED", node("P2"))) == ["OPENED"]
    assert reported(watch, message("OPENED", node("P2"))) == []
    assert reported(watch, message("OPENED", node("P1"))) == ["CHANGED"]
    assert reported(watch, message("RESOLVED", node("P1", "2026-01-01T00:00:00Z"))) == ["RESOLVED"]
    assert reported(watch, message("WITHDRAWN", None)) == []
    # It may open again.
    assert reported(watch, message("OPENED", node("P1"))) == ["OPENED"]
    assert reported(watch, message("WITHDRAWN", None)) == ["WITHDRAWN"]


def test_a_change_that_was_not_handled_comes_again() -> None:
    watch = FindingWatch(Address("http://127.0.0.1:1"), with_existing=True)
    given = message("OPENED", node("P2"))
    assert [change.kind for change in watch._of_message(given)] == ["OPENED"]
    assert [change.kind for change in watch._of_message(given)] == ["OPENED"]


def test_errors_of_the_server() -> None:
    watch = FindingWatch(Address("http://127.0.0.1:1"), with_existing=True)
    for code, kind in (("TOO_SLOW", UnavailableError), ("BAD_REQUEST", QueryError)):
        error = {"message": "no", "extensions": {"code": code}}
        with pytest.raises(kind):
            list(watch._of_message({"type": "error", "payload": [error]}))
    assert list(watch._of_message({"type": "pong"})) == []


def test_states() -> None:
    assert FindingChange("f", "OPENED", node("P1")).state == "P1"
    assert FindingChange("f", "RESOLVED", node("P1", "2026-01-01T00:00:00Z")).state == ""
    assert FindingChange("f", "WITHDRAWN", None).state == ""


def test_a_server_that_cannot_be_reached_at_first_ends_the_watch() -> None:
    watch = FindingWatch(Address("http://127.0.0.1:1"))
    with pytest.raises(UnavailableError, match="is lost"):
        next(watch.changes())
