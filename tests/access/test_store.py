"""The file of keys and access log."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from headwater.access.store import AccessStore
from headwater.errors import UnavailableError

INSERT = (
    "INSERT INTO entry(at, principal, action, outcome, detail, hash)"
    " VALUES(1, 'ci', 'read', 'done', '{}', 'h')"
)


def count(store: AccessStore) -> int:
    """Return the number of entries of the log."""
    with store.read() as connection:
        return int(connection.execute("SELECT count(*) FROM entry").get)


def test_a_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    store = AccessStore(tmp_path / "new" / "access.db")
    with pytest.raises(UnavailableError), store.write() as connection:
        connection.execute(f"{INSERT}; SELECT no_such_column FROM entry")
    assert count(store) == 0
    with store.write() as connection:
        connection.execute(INSERT)
    store.close()
    assert count(store) == 1
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    store.close()


def test_an_unusable_file_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "access.db").write_bytes(b"no database" * 100)
    store = AccessStore(tmp_path / "access.db")
    with pytest.raises(UnavailableError, match="access log"), store.read():
        pass
