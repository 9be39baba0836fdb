"""The access log: queries of auditors, refusals, administration. It only grows.

Triggers of SQLite refuse updates and deletes. Every entry has the SHA-256 of its predecessor's hash
and its own values, so `verify` finds an entry that was changed or removed in the file. The removal
of the newest entries, and a chain that was computed again, are found by a head (`signed_head`).
"""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.access.chain import ChainHead, Link, Verification, link_hash, verify_chain
from headwater.access.store import AccessStore
from headwater.errors import QueryError

ENTRIES_MAX = 10_000
# Further refusals within a minute are only counted: an attack must not fill the disk.
REFUSALS_PER_MINUTE_MAX = 60
# Of one caller and one outcome: allowed decisions must not hide refused ones.
DECISIONS_PER_MINUTE_MAX = 60
_DECISION_CHARACTERS_MAX = 300
_DECISION_POLICIES_MAX = 20
# More than the longest statement of an auditor: a long comment must not hide a statement.
_TEXT_CHARACTERS_MAX = 25_000
_MINUTE_SECONDS = 60.0
_COLUMNS = "seq, at, principal, action, outcome, detail, hash"


@dataclass(frozen=True)
class Entry:
    """An entry. `principal` is the name of a key, `anonymous`, or the command line; `detail` is
    JSON.
    """

    seq: int
    at: datetime
    principal: str
    action: str
    outcome: str
    detail: dict[str, Any]
    hash: str


class _Minute:
    """The entries of one minute that share a bound, and the number of omitted ones."""

    def __init__(self) -> None:
        self.started = 0.0
        self._recorded: set[int] = set()
        self._omitted = 0

    def count(self, entry: int, entries_max: int) -> int | None:
        """Count an entry; return the number omitted before it, or None if it must be omitted too.

        `entry` identifies it: a repetition within the minute is omitted.
        """
        now = time.monotonic()
        if now - self.started >= _MINUTE_SECONDS:
            self.started = now
            self._recorded.clear()
        if entry in self._recorded or len(self._recorded) >= entries_max:
            self._omitted += 1
            return None
        self._recorded.add(entry)
        omitted, self._omitted = self._omitted, 0
        return omitted


class AccessLog:
    """The access log in a store."""

    def __init__(self, store: AccessStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._refusals = _Minute()
        self._refusal = 0
        # By caller and outcome.
        self._decisions: defaultdict[tuple[str, str], _Minute] = defaultdict(_Minute)

    def append(self, principal: str, action: str, outcome: str, **detail: Any) -> None:
        """Append an entry. Raises UnavailableError if the file cannot be written."""
        shortened = {key: _short(value) for key, value in detail.items()}
        text = json.dumps(shortened, ensure_ascii=True, sort_keys=True)
        microseconds = time.time_ns() // 1_000
        with self._store.write() as connection:
            before = (
                connection.execute("SELECT hash FROM entry ORDER BY seq DESC LIMIT 1").get or ""
            )
            entry = (microseconds, principal, action, outcome, text)
            connection.execute(
                "INSERT INTO entry(at, principal, action, outcome, detail, hash)"
                " VALUES(?, ?, ?, ?, ?, ?)",
                (*entry, link_hash(str(before), *entry)),
            )

    def record_refusal(self, principal: str, action: str, **detail: Any) -> None:
        """Append a refusal, unless this minute has too many; a later one records the number
        omitted.
        """
        with self._lock:
            self._refusal += 1
            omitted = self._refusals.count(self._refusal, REFUSALS_PER_MINUTE_MAX)
        if omitted is not None:
            self.append(
                principal, action, "refused", **detail, **({"omitted": omitted} if omitted else {})
            )

    def record_decision(self, principal: str, action: str, outcome: str, **detail: Any) -> None:
        """Append a decision of the policies with shortened names.

        Within a minute, an equal decision of the same caller is omitted, and so are those after
        the first DECISIONS_PER_MINUTE_MAX of one outcome. The caller's next entry of that outcome
        has the number omitted.
        """
        shortened = {key: _short_name(value) for key, value in detail.items()}
        entry = hash(json.dumps([action, outcome, detail], sort_keys=True))
        kind = outcome.partition(" ")[0]
        with self._lock:
            omitted = self._decisions[principal, kind].count(entry, DECISIONS_PER_MINUTE_MAX)
        if omitted is not None:
            self.append(
                principal, action, outcome, **shortened, **({"omitted": omitted} if omitted else {})
            )

    def entries(self, *, first: int = 100, before: int | None = None) -> list[Entry]:
        """Return the newest entries, newest first; with `before`, only those of a lower seq."""
        if not 0 <= first <= ENTRIES_MAX:
            raise QueryError(f"first {first} must be from 0 to {ENTRIES_MAX}")
        with self._store.read() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM entry WHERE seq < ? ORDER BY seq DESC LIMIT ?",
                (before or 2**62, first),
            )
            return [_entry(*row) for row in rows]

    def links(self, *, since: int = 0) -> Iterator[Link]:
        """Return the entries from a time in microseconds on as links, the oldest first."""
        with self._store.read() as connection:
            before, begin = "", 1
            first = "SELECT min(seq) FROM entry WHERE at >= ?"
            if since:
                begin = connection.execute(first, (since,)).get or 2**62
                previous = "SELECT hash FROM entry WHERE seq < ? ORDER BY seq DESC LIMIT 1"
                before = connection.execute(previous, (begin,)).get or ""
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM entry WHERE seq >= ? ORDER BY seq", (begin,)
            )
            for seq, at, principal, action, outcome, detail, hash in rows:
                yield Link(seq, at, principal, action, outcome, detail, before, hash)
                before = hash

    def head(self) -> tuple[int, str]:
        """Return the number and the hash of the newest entry; 0 and an empty text without one."""
        with self._store.read() as connection:
            rows = connection.execute("SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1")
            return next(rows, (0, ""))

    def verify(self, heads: Sequence[ChainHead] = ()) -> Verification:
        """Check that no entry was changed or removed, and that the log agrees with each head."""
        return verify_chain(self.links(), heads=heads)


def _entry(
    seq: int, microseconds: int, principal: str, action: str, outcome: str, detail: str, hash: str
) -> Entry:
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    return Entry(seq, instant, principal, action, outcome, json.loads(detail), hash)


def _short(value: Any) -> Any:
    return value[:_TEXT_CHARACTERS_MAX] if isinstance(value, str) else value


def _short_name(value: Any) -> Any:
    """Return a name, or the first names of a list, within the bounds of a decision."""
    if isinstance(value, list):
        return [_short_name(one) for one in value[:_DECISION_POLICIES_MAX]]
    return value[:_DECISION_CHARACTERS_MAX] if isinstance(value, str) else value
