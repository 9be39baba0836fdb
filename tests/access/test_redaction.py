"""The access log after a redaction: it verifies, and every other change is found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from headwater.access.log import AccessLog
from headwater.access.redaction import redact_entries
from headwater.access.store import AccessStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AccessStore]:
    with closing(AccessStore(tmp_path / "access.db")) as store:
        log = AccessLog(store)
        for name in ("ann", "bob", "ann"):
            log.append(name, "read", "done", of=name)
        yield store


def without_ann(text: str) -> str:
    return text.replace("ann", "*") if "ann" in text else text


def change(store: AccessStore, statement: str) -> None:
    store.close()
    with closing(apsw.Connection(str(store.path))) as connection:
        connection.execute("DROP TRIGGER entry_stays")
        connection.execute("DROP TRIGGER entry_kept")
        connection.execute(statement)


def test_a_redacted_log_verifies_and_keeps_its_hashes(store: AccessStore) -> None:
    log = AccessLog(store)
    before = log.entries()
    assert redact_entries(store, without_ann, by="tests", dry_run=True) == 2
    assert log.entries() == before
    assert redact_entries(store, without_ann, by="tests", dry_run=False) == 2
    record, *after = log.entries()
    assert [entry.principal for entry in after] == ["*", "bob", "*"]
    assert [entry.hash for entry in after] == [entry.hash for entry in before]
    assert set(record.detail["entries"]) == {"1", "3"}
    assert log.verify() == (4, 1, 4, None)
    assert redact_entries(store, without_ann, by="tests", dry_run=False) == 0


@pytest.mark.parametrize(
    ("statement", "position"),
    [
        ("UPDATE entry SET principal = 'eve' WHERE seq = 1", 1),
        ("UPDATE entry SET principal = 'eve' WHERE seq = 2", 2),
        # A record that was changed excuses nothing.
        ("UPDATE entry SET outcome = 'x' WHERE seq = 4", 1),
        ("DELETE FROM entry WHERE seq = 3", 1),
        ("DELETE FROM entry WHERE seq = 4", 1),
    ],
)
def test_every_other_change_is_found(store: AccessStore, statement: str, position: int) -> None:
    redact_entries(store, without_ann, by="tests", dry_run=False)
    change(store, statement)
    problem = AccessLog(store).verify().problem
    assert problem is not None
    assert problem.position == position
