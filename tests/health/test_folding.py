"""For how long events have waited without a commit."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import HeadwaterError
from headwater.health.folding import FoldingState, seconds_without_progress
from headwater.ingest.spool.spool import Spool


@pytest.mark.parametrize(
    ("oldest_waiting", "committed_at", "started_at", "expected"),
    [
        (None, None, 0.0, 0.0),
        (None, 10.0, 0.0, 0.0),
        (40.0, None, 0.0, 60.0),
        (40.0, 70.0, 0.0, 30.0),
        (80.0, 70.0, 0.0, 20.0),
        (40.0, 70.0, 95.0, 5.0),
        (101.0, None, 0.0, 0.0),
    ],
    ids=[
        "nothing waits",
        "all is folded",
        "nothing was ever folded",
        "a commit since",
        "the event came after the commit",
        "this process has just started",
        "an event of the next moment",
    ],
)
def test_the_time_since_something_could_have_been_folded(
    oldest_waiting: float | None,
    committed_at: float | None,
    started_at: float,
    expected: float,
) -> None:
    found = seconds_without_progress(
        oldest_waiting=oldest_waiting, committed_at=committed_at, started_at=started_at, now=100.0
    )
    assert found == expected


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph")
def test_an_erasure_is_the_reason_until_it_has_ended(database: Database, tmp_path: Path) -> None:
    with closing(Spool(tmp_path / "spool.db")) as spool:
        state = FoldingState(database, spool)
        state.check()
        with database.write() as transaction:
            transaction.run("write/maintenance/lock_graph", holder="tests")
            transaction.run("write/maintenance/begin_erasure", erasure="tests")
        with pytest.raises(HeadwaterError, match="the graph is being erased") as refusal:
            state.check()
        assert "headwater rebuild --erase" in refusal.value.hint
        with database.write() as transaction:
            transaction.run("write/maintenance/end_erasure")
        state.check()
