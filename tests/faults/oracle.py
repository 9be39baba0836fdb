"""Expected graphs, folded from the same events without any fault."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing

from headwater.cypher.driver.database import Database
from headwater.ingest.fold import fold
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.ingest.write.transaction import Checkpoint, WriteRequest, write
from headwater.schema.events import parse
from tests.canonical import Graph, canonical, empty
from tests.faults.processes import Installation


def replayed(database: Database, home: Installation) -> Graph:
    """Return the graph of the spool, folded from its beginning by an undisturbed worker."""
    empty(database)
    with closing(Spool(home.spool_path)) as spool:
        worker = Worker(database, spool, events_max=500)
        while worker.step():
            pass
    return canonical(database)


def folded_at_once(database: Database, bodies: Iterable[bytes]) -> Graph:
    """Return the graph of a set of events, written in one transaction."""
    empty(database)
    delta = fold(parse(body, received=0) for body in bodies)
    write(
        database,
        WriteRequest(
            delta, spool="oracle", before=Checkpoint(), after=Checkpoint(1, 1, 0), holder="test"
        ),
    )
    return canonical(database)
