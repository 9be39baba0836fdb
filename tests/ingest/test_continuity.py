"""A spool that is older than the graph: nothing is folded until an operator decides."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.migrate import check_not_newer, migrations
from headwater.errors import NewerVersionError
from headwater.health.folding import FoldingState
from headwater.ingest.continuity import (
    DiscontinuityError,
    check_continuity,
    reset_checkpoint,
)
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.ingest.write.transaction import Checkpoint, read_checkpoint
from tests.cypher.test_migrate import migrated_later
from tests.ingest.test_worker import body
from tests.run_builders import RECEIVED

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


@pytest.fixture
def old(database: Database, tmp_path: Path) -> Iterator[Spool]:
    """Yield the copy of a spool from before its last two of five events; the graph has all five."""
    path = tmp_path / "spool.db"
    with closing(Spool(path)) as spool:
        spool.append([body(1), body(2), body(3)], received=RECEIVED)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copy(path, tmp_path / "old.db")
        spool.append([body(4), body(5)], received=RECEIVED + 10)
        Worker(database, spool).run(until_done=True)
    with closing(Spool(tmp_path / "old.db")) as old:
        yield old


def runs(database: Database) -> set[str]:
    return {row["id"] for row in database.ask("MATCH (r:PipelineRun) RETURN r.runId AS id", {})}


def test_a_spool_that_ends_before_the_checkpoint_is_refused(database: Database, old: Spool) -> None:
    with pytest.raises(DiscontinuityError, match="5 events of the spool, and the spool only 3"):
        Worker(database, old).step()
    with pytest.raises(DiscontinuityError, match="older than the graph") as caught:
        FoldingState(database, old).check()
    assert "headwater spool salvage" in caught.value.hint


def test_it_is_refused_as_well_when_it_has_grown_beyond_the_checkpoint(
    database: Database, old: Spool
) -> None:
    old.append([body(number) for number in (6, 7, 8)], received=RECEIVED + 1_000_000)
    with pytest.raises(DiscontinuityError, match="event 5 of the spool is not the one"):
        Worker(database, old).step()
    assert runs(database) == {"r1", "r2", "r3", "r4", "r5"}


def test_the_spool_that_was_folded_goes_on(database: Database, old: Spool) -> None:
    with closing(Spool(old.path.with_name("spool.db"))) as spool:
        spool.append([body(6)], received=RECEIVED + 1_000_000)
        Worker(database, spool).run(until_done=True)
        assert read_checkpoint(database, spool.id).received == RECEIVED + 1_000_000
        FoldingState(database, spool).check()
    assert len(runs(database)) == 6


def test_a_checkpoint_without_a_receipt_is_not_compared(old: Spool) -> None:
    check_continuity(old, Checkpoint(3, 3, 0))
    check_continuity(old, Checkpoint(3, 3, 0, received=RECEIVED + 2))
    with pytest.raises(DiscontinuityError):
        check_continuity(old, Checkpoint(3, 3, 0, received=RECEIVED))


def test_a_graph_of_a_newer_version_is_refused(database: Database, old: Spool) -> None:
    check_not_newer(database)
    with (
        migrated_later(database),
        pytest.raises(NewerVersionError, match="to migrations/9999_later; this one knows"),
    ):
        Worker(database, old).step()
    assert migrations()[-1].name < "migrations/9999"


def test_folding_that_stands_still_is_seen(
    database: Database, old: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Spool(old.path.with_name("spool.db"))) as spool:
        state = FoldingState(database, spool)
        spool.append([body(6)], received=RECEIVED + 1_000_000)
        monkeypatch.setattr("headwater.health.folding.STALL_SECONDS", 0.0)
        with pytest.raises(Exception, match="1 events wait, and none was folded for 0 s"):
            state.check()
        Worker(database, spool).run(until_done=True)
        state.check()


def test_a_reset_checkpoint_lets_the_old_spool_go_on_and_loses_nothing(
    database: Database, old: Spool
) -> None:
    old.append([body(number) for number in (6, 7, 8)], received=RECEIVED + 1_000_000)
    assert reset_checkpoint(database, old) == Checkpoint(0, 0, 0)
    Worker(database, old).run(until_done=True)
    assert runs(database) == {f"r{number}" for number in range(1, 9)}
    check_continuity(old, read_checkpoint(database, old.id))


def test_a_reset_goes_back_to_the_cut_only(database: Database, old: Spool) -> None:
    old.dead_letter([(1, "malformed")])
    old.cut(2, lake="/lake", events_max=10)
    assert reset_checkpoint(database, old) == Checkpoint(2, 1, 1)
    Worker(database, old).run(until_done=True)
