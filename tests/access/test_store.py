"""The file of keys and access log."""

from __future__ import annotations

import stat
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from headwater.access.store import AccessStore
from headwater.errors import NewerVersionError, UnavailableError

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


def test_the_first_error_is_kept_if_sqlite_has_rolled_back_already(tmp_path: Path) -> None:
    store = AccessStore(tmp_path / "access.db")
    insert = "INSERT INTO ended_session(id, expires) VALUES(?, 1)"
    with store.read() as connection:
        pages = connection.pragma("page_count")
        connection.pragma("max_page_count", pages)
    with pytest.raises(UnavailableError, match="is full") as caught, store.write() as connection:
        connection.execute(insert, ("x" * 100_000,))
    assert "room" in caught.value.hint
    with store.write() as connection:
        connection.execute(insert, ("short",))


def test_a_commit_that_fails_ends_the_transaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwater.access.store._BUSY_MS", 10)
    store = AccessStore(tmp_path / "access.db")
    insert = "INSERT INTO ended_session(id, expires) VALUES(?, 1)"
    with store.write() as connection:
        connection.execute(insert, ("one",))
    with closing(apsw.Connection(str(store.path))) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM ended_session").get == 1
        with pytest.raises(UnavailableError, match="locked"), store.write() as connection:
            connection.execute(insert, ("two",))
    with store.write() as connection:
        connection.execute(insert, ("three",))
    with store.read() as connection:
        ids = connection.execute("SELECT id FROM ended_session ORDER BY id").fetchall()
    assert ids == [("one",), ("three",)]


def test_an_unusable_file_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "access.db").write_bytes(b"no database" * 100)
    store = AccessStore(tmp_path / "access.db")
    with pytest.raises(UnavailableError, match="access log"), store.read():
        pass


def test_a_newer_file_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    store = AccessStore(tmp_path / "access.db")
    with store.write() as connection:
        connection.pragma("user_version", 1)
    store.close()
    before = store.path.read_bytes()
    for _ in range(2):
        with pytest.raises(NewerVersionError, match="a newer Headwater wrote the file"):
            count(store)
    assert store.path.read_bytes() == before
