"""A transaction of SQLite that writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import apsw


@contextmanager
def write_transaction(connection: apsw.Connection) -> Iterator[None]:
    """Write in one transaction, which no other writer can precede once it has begun.

    A transaction that reads first would fail at once if another process wrote after the read.
    Raises apsw.Error.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # On a full disk SQLite has rolled back already.
        with suppress(apsw.Error):
            connection.execute("ROLLBACK")
        raise
