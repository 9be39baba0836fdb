"""A backup under load: the restored home gives the graph of exactly its events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from headwater.backups.backup import back_up
from headwater.backups.restore import restore
from headwater.backups.verify import verify
from headwater.cypher.driver.database import Database
from headwater.ingest.continuity import DiscontinuityError, check_continuity
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.ingest.write.transaction import read_checkpoint
from headwater.settings import Settings
from tests.canonical import canonical, empty
from tests.conftest import Neo4jServer
from tests.faults.history import history
from tests.faults.load import Load
from tests.faults.processes import Installation, installation, wait_for

pytestmark = pytest.mark.neo4j
RUNS = 600


@pytest.fixture
def home(neo4j_server: Neo4jServer, tmp_path: Path) -> Iterator[Installation]:
    with installation(tmp_path / "home", neo4j_server) as installed:
        yield installed


def reached(load: Load, mark: int) -> bool:
    return load.acknowledged >= mark


def fold(database: Database, spool: Spool) -> None:
    Worker(database, spool).run(until_done=True)


def test_a_restored_backup_has_the_graph_of_its_position(
    home: Installation, database: Database, tmp_path: Path
) -> None:
    empty(database)
    settings = Settings(home=str(home.home))
    home.start_api()
    taken = []
    groups = [[body] for body in history(RUNS)]
    with Load(home.port, groups, clients=3) as load:
        for number in range(3):
            mark = (number + 1) * 2 * RUNS // 5
            wait_for(f"{mark} events", partial(reached, load, mark), 60)
            before = load.acknowledged
            target = tmp_path / f"backup-{number}"
            manifest = back_up(settings, target)
            taken.append((target, manifest.spool.position))
            assert before <= manifest.spool.position, "what was acknowledged before is in it"
        assert load.busy, "events arrived during the backups"
    positions = [position for _, position in taken]
    assert positions == sorted(positions)
    assert positions[-1] < 2 * RUNS == len(home.records())
    records = home.records()
    target, position = taken[1]
    assert verify(target)[1] == []
    restored = Settings(home=str(tmp_path / "restored"))
    restore(restored, target)
    with closing(Spool(restored.spool_path)) as spool:
        bodies = {one.seq: one.body for one in spool.read(0, events_max=10**6, bytes_max=2**30)}
        assert bodies == {seq: body for seq, body in records.items() if seq <= position}
        fold(database, spool)
        rebuilt = canonical(database)
        check_continuity(spool, read_checkpoint(database, spool.id))
    empty(database)
    with closing(Spool(tmp_path / "expected.db")) as expected:
        for seq in range(1, position + 1):
            received = _received(settings.spool_path, seq)
            expected.append([records[seq]], received=received)
        fold(database, expected)
    assert canonical(database) == rebuilt
    assert len(rebuilt[0]) > 100
    _check_older_spool(database, settings, restored, position)
    empty(database)


def _received(path: Path, seq: int) -> int:
    with closing(Spool(path)) as spool:
        received = spool.received_at(seq)
    assert received is not None
    return received


def _check_older_spool(
    database: Database, settings: Settings, restored: Settings, position: int
) -> None:
    """Check that a graph that is ahead of a restored spool is not folded into in silence."""
    empty(database)
    with closing(Spool(settings.spool_path)) as spool:
        fold(database, spool)
    with closing(Spool(restored.spool_path)) as spool:
        checkpoint = read_checkpoint(database, spool.id)
        with pytest.raises(DiscontinuityError, match=f"and the spool only {position}") as caught:
            check_continuity(spool, checkpoint)
        assert "headwater spool salvage" in caught.value.hint
