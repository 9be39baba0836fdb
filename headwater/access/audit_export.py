"""The access log as JSON lines for a SIEM, with the field names of the Elastic Common Schema.

A line has all values of its entry, so an export is verified without the store. A line is written in
one way only: any other bytes are a change.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.access.chain import Link, MalformedEntryError

ECS_VERSION = "8.11"
# A line of an entry is shorter: its values are bounded, and ASCII escapes six times as long.
LINE_BYTES_MAX = 10 * 2**20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_OUTCOMES = (
    ("done", "success"),
    ("answered", "success"),
    ("refused", "failure"),
    ("failed", "failure"),
)


def export_line(link: Link) -> str:
    """Return an entry as one line of ASCII. Raises ValueError if its detail is no JSON."""
    fields = {
        "@timestamp": (_EPOCH + link.at * _MICROSECOND).isoformat(timespec="microseconds"),
        "ecs.version": ECS_VERSION,
        "event.dataset": "headwater.audit",
        "event.kind": "event",
        "event.category": [_category(link.action)],
        "event.action": link.action,
        "event.outcome": _outcome(link.outcome),
        "event.sequence": link.seq,
        "event.hash": link.hash,
        "user.name": link.principal,
        "headwater.audit.outcome": link.outcome,
        "headwater.audit.detail": json.loads(link.detail),
        "headwater.audit.previous_hash": link.previous,
    }
    return json.dumps(fields, ensure_ascii=True, separators=(",", ":"))


def read_export(lines: Iterable[bytes]) -> Iterator[Link]:
    """Return the entries of an export. Raises MalformedEntryError at a line that was changed."""
    for line in lines:
        try:
            link = _parse(json.loads(line))
            rendered = export_line(link).encode() + b"\n"
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raise MalformedEntryError("is no entry of an export") from None
        if line != rendered:
            raise MalformedEntryError("was changed: its line is not as it was written")
        yield link


def _parse(fields: dict[str, Any]) -> Link:
    at = (datetime.fromisoformat(fields["@timestamp"]) - _EPOCH) // _MICROSECOND
    seq = fields["event.sequence"]
    if type(seq) is not int:
        raise ValueError("no sequence number")
    texts = ("user.name", "event.action", "headwater.audit.outcome")
    principal, action, outcome = (str(fields[name]) for name in texts)
    detail = json.dumps(fields["headwater.audit.detail"], ensure_ascii=True, sort_keys=True)
    previous, hash = str(fields["headwater.audit.previous_hash"]), str(fields["event.hash"])
    return Link(seq, at, principal, action, outcome, detail, previous, hash)


def _category(action: str) -> str:
    if action.startswith(("keys ", "token ")) or "/access/" in action:
        return "iam"
    if "/session" in action:
        return "authentication"
    if "/cypher" in action:
        return "database"
    return "web" if "/" in action else "configuration"


def _outcome(outcome: str) -> str:
    return next((shown for start, shown in _OUTCOMES if outcome.startswith(start)), "unknown")
