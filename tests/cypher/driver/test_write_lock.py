"""The write lock: revisions grow by one, and an erasure keeps writers out."""

from __future__ import annotations

from concurrent.futures import wait

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.write_lock import (
    acquire_write_lock,
    identify_graph,
    wait_for_write_lock,
)
from headwater.errors import UnavailableError

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


def test_each_transaction_makes_the_next_revision(database: Database) -> None:
    revisions = []
    for _ in range(3):
        with database.write() as transaction:
            revisions.append(acquire_write_lock(transaction, "tests"))
    assert revisions == [revisions[0], revisions[0] + 1, revisions[0] + 2]


def test_rolled_back_transaction_makes_no_revision(database: Database) -> None:
    with database.write() as transaction:
        first = acquire_write_lock(transaction, "tests")
    abandoned = database.begin()
    assert acquire_write_lock(abandoned, "tests") == first + 1
    abandoned.roll_back()
    with database.write() as transaction:
        submitted = transaction.submit("write/maintenance/lock_graph", holder="tests")
        assert wait_for_write_lock(submitted) == first + 1


def test_a_lock_that_is_deleted_while_a_writer_waits_for_it(database: Database) -> None:
    with database.write() as transaction:
        acquire_write_lock(transaction, "tests")
    waiting = database.begin()
    with database._transaction("WRITE", 60.0) as deleting:
        deleting.run("MATCH (l:WriteLock) DETACH DELETE l").consume()
        submitted = waiting.submit("write/maintenance/lock_graph", holder="tests")
        assert not wait([submitted], 1).done
    with pytest.raises(UnavailableError, match="deleted meanwhile"):
        wait_for_write_lock(submitted)
    waiting.roll_back()


def test_graph_that_is_being_erased_cannot_be_written(database: Database) -> None:
    with database.write() as transaction:
        acquire_write_lock(transaction, "tests")
        transaction.run("write/maintenance/begin_erasure", erasure="tests")
    with (
        pytest.raises(UnavailableError, match="is being erased") as refusal,
        database.write() as transaction,
    ):
        acquire_write_lock(transaction, "tests")
    assert "rebuild --erase" in refusal.value.hint


def test_a_writer_that_waited_for_the_start_of_an_erasure_does_not_write(
    database: Database,
) -> None:
    waiting = database.begin()
    with database.write() as transaction:
        acquire_write_lock(transaction, "tests")
        submitted = waiting.submit("write/maintenance/lock_graph", holder="tests")
        assert not wait([submitted], 1).done
        transaction.run("write/maintenance/begin_erasure", erasure="tests")
    with pytest.raises(UnavailableError, match="is being erased"):
        wait_for_write_lock(submitted)
    waiting.roll_back()


def test_a_lock_of_an_older_version_without_an_id_is_a_graph(database: Database) -> None:
    with database.write() as transaction:
        acquire_write_lock(transaction, "tests")
    with database._transaction("WRITE", 60.0) as changing:
        changing.run("MATCH (l:WriteLock) REMOVE l.graph").consume()
    graph = identify_graph(database, "tests")
    with database.write() as transaction:
        acquire_write_lock(transaction, "tests", graph=graph)
