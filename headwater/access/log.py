"""The log of access: reads by auditors, refusals, administration. It only grows.

SQLite refuses to change or cut it (triggers), and every entry carries the SHA-256 of the entry before it and of itself,
so that `verify` finds what somebody with the file in hand has changed or taken out of its middle. Only the newest
entries can be cut off unseen: keep the hash of the last one elsewhere to see that too.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.access.store import AccessStore
from headwater.errors import QueryError

ENTRIES_MAX = 10_000
# Whoever tries keys by the thousand shall not fill the disk: so many refusals a minute are told, the rest are counted.
REFUSALS_PER_MINUTE_MAX = 60
# More than a statement of an auditor may have: what ran must not hide behind a long comment.
_TEXT_CHARACTERS_MAX = 25_000
_MINUTE_SECONDS = 60.0


@dataclass(frozen=True)
class Entry:
    """`principal` is the name of a key, or how it came: anybody, the command line. `detail` is what was asked, as JSON."""

    seq: int
    at: datetime
    principal: str
    action: str
    outcome: str
    detail: dict[str, Any]
    hash: str


class AccessLog:
    """The log in a store."""

    def __init__(self, store: AccessStore) -> None:
        self._store = store
        self._turn = threading.Lock()
        self._minute = 0.0
        self._told = 0
        self._untold = 0

    def append(self, principal: str, action: str, outcome: str, **detail: Any) -> None:
        """One more entry. Raises UnavailableError when it cannot be kept."""
        shown = {key: _short(value) for key, value in detail.items()}
        text = json.dumps(shown, ensure_ascii=True, sort_keys=True)
        at = time.time_ns() // 1_000
        with self._store.write() as connection:
            before = (
                connection.execute("SELECT hash FROM entry ORDER BY seq DESC LIMIT 1").get or ""
            )
            entry = (at, principal, action, outcome, text)
            connection.execute(
                "INSERT INTO entry(at, principal, action, outcome, detail, hash) VALUES(?, ?, ?, ?, ?, ?)",
                (*entry, _hash(str(before), *entry)),
            )

    def record_refusal(self, principal: str, action: str, **detail: Any) -> None:
        """A refusal. It is told, unless too many came within this minute; the next one says how many were not."""
        with self._turn:
            now = time.monotonic()
            if now - self._minute >= _MINUTE_SECONDS:
                self._minute, self._told = now, 0
            if self._told >= REFUSALS_PER_MINUTE_MAX:
                self._untold += 1
                return
            self._told += 1
            untold, self._untold = self._untold, 0
        self.append(
            principal, action, "refused", **detail, **({"untold": untold} if untold else {})
        )

    def entries(self, *, first: int = 100, before: int | None = None) -> list[Entry]:
        """The newest entries, newest first; those with a seq under `before`."""
        if not 0 <= first <= ENTRIES_MAX:
            raise QueryError(f"first {first} is not between 0 and {ENTRIES_MAX}")
        with self._store.read() as connection:
            rows = connection.execute(
                "SELECT seq, at, principal, action, outcome, detail, hash FROM entry WHERE seq < ? ORDER BY seq DESC LIMIT ?",
                (before or 2**62, first),
            )
            return [_entry(*row) for row in rows]

    def verify(self) -> tuple[int, int | None]:
        """How many entries there are, and the seq of the first one that is not as it was written, or whose
        predecessor is gone; None when all are."""
        with self._store.read() as connection:
            count, before, last = 0, "", 0
            rows = connection.execute(
                "SELECT seq, at, principal, action, outcome, detail, hash FROM entry ORDER BY seq"
            )
            broken = None
            for seq, *entry, hash in rows:
                count += 1
                if broken is None and (hash != _hash(before, *entry) or seq != last + 1):
                    broken = seq
                before, last = hash, seq
            return count, broken


def _entry(
    seq: int, at: int, principal: str, action: str, outcome: str, detail: str, hash: str
) -> Entry:
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)
    return Entry(seq, instant, principal, action, outcome, json.loads(detail), hash)


def _hash(before: str, at: int, principal: str, action: str, outcome: str, detail: str) -> str:
    return hashlib.sha256(
        json.dumps([before, at, principal, action, outcome, detail]).encode()
    ).hexdigest()


def _short(value: Any) -> Any:
    return value[:_TEXT_CHARACTERS_MAX] if isinstance(value, str) else value
