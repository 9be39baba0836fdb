"""Redaction of the access log: a value leaves its entries, and the chain still verifies.

A redacted entry keeps the hash by which the chain goes on, so a head that was stored elsewhere
stays right. A later entry has the hash of its new values. An entry whose values agree neither with
its own hash nor with such an entry was changed by somebody else.
"""

from __future__ import annotations

from collections.abc import Callable

from headwater.access.chain import REDACT, values_hash
from headwater.access.log import AccessLog
from headwater.access.store import AccessStore

_ENTRIES_PER_RECORD = 200
_TRIGGERS = """
CREATE TRIGGER IF NOT EXISTS entry_stays BEFORE UPDATE ON entry
  BEGIN SELECT raise(ABORT, 'the log stays'); END;
"""


def redact_entries(
    store: AccessStore, rewrite: Callable[[str], str], *, by: str, dry_run: bool
) -> int:
    """Rewrite the entries that a function changes, and record them; return their number.

    `rewrite` returns the same object for a text that stays. Raises UnavailableError.
    """
    with store.read() as connection:
        rows = connection.execute("SELECT seq, at, principal, action, outcome, detail FROM entry")
        changed = [
            (seq, at, *new)
            for seq, at, *old in rows
            if (new := [rewrite(text) for text in old]) != old
        ]
    if dry_run or not changed:
        return len(changed)
    # The record comes first: a killed redaction leaves a record of entries that did not change.
    log = AccessLog(store)
    for begin in range(0, len(changed), _ENTRIES_PER_RECORD):
        some = changed[begin : begin + _ENTRIES_PER_RECORD]
        log.append(by, REDACT, "done", entries={str(seq): values_hash(*row) for seq, *row in some})
    with store.write() as connection:
        connection.execute("DROP TRIGGER entry_stays")
        connection.executemany(
            "UPDATE entry SET principal = ?, action = ?, outcome = ?, detail = ? WHERE seq = ?",
            [(*new, seq) for seq, _at, *new in changed],
        )
        connection.execute(_TRIGGERS)
    return len(changed)
