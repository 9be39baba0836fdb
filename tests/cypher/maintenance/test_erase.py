"""Erasure of the whole graph, and an erasure that was interrupted."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.write_lock import acquire_write_lock
from headwater.cypher.maintenance.erase import PIECE, erase, forget_checkpoints, is_empty
from headwater.errors import UnavailableError
from headwater.ingest.write.transaction import read_checkpoint
from tests.canonical import canonical
from tests.cypher.maintenance.test_export import STORY as EVENTS
from tests.run_builders import SPOOL, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


def test_an_erasure_leaves_only_migrations_and_the_lock(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_events(database, EVENTS)
    assert not is_empty(database)
    pieces: list[int] = []
    monkeypatch.setattr("headwater.cypher.maintenance.erase.PIECE", 5)
    erase(database, holder="tests", on_piece=pieces.append)
    assert max(pieces) == 5 < PIECE
    assert is_empty(database)
    left = database.ask("MATCH (n) UNWIND labels(n) AS label RETURN DISTINCT label", {})
    assert {row["label"] for row in left} == {"Migration", "WriteLock"}


def test_an_interrupted_erasure_stops_every_writer_until_it_ends(database: Database) -> None:
    write_events(database, EVENTS)
    before_erasure = canonical(database)

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        erase(database, holder="tests", on_piece=interrupt)
    assert not is_empty(database)
    with pytest.raises(UnavailableError, match="being erased"):
        write_events(database, EVENTS)
    with pytest.raises(UnavailableError, match="being erased"), database.write() as transaction:
        acquire_write_lock(transaction, "tests")
    erase(database, holder="tests")
    write_events(database, EVENTS)
    assert canonical(database) == before_erasure


def test_checkpoints_are_deleted(database: Database) -> None:
    write_events(database, EVENTS)
    forget_checkpoints(database, holder="tests")
    assert read_checkpoint(database, SPOOL).position == 0
