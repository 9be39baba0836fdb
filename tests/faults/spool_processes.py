"""Processes of a fork server that accept events, fold them or migrate a graph until they are killed.

They run the code of the API and of the worker, but start in milliseconds: so a test can kill a
hundred of them.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
from collections.abc import Sequence
from contextlib import closing
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from headwater.cypher import migrate
from headwater.cypher.driver.database import Database
from headwater.ingest.spool.group_commit import GroupCommitter
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from tests.conftest import Neo4jServer
from tests.faults.history import events_of

CLIENTS = 4
PAUSE_SECONDS = 0.1

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.faults.spool_processes", "neo4j"])


def accept(path: Path, first: int, acknowledgements: Connection) -> None:
    """Accept the runs from `first` on without end; send each sequence number and its run."""

    async def client(committer: GroupCommitter, number: int) -> None:
        for run in range(first + number, first + 10**6, CLIENTS):
            seq = await committer.append(events_of(run))
            acknowledgements.send((seq, run))

    async def clients(committer: GroupCommitter) -> None:
        await asyncio.gather(*(client(committer, number) for number in range(CLIENTS)))

    with closing(GroupCommitter(Spool(path))) as committer:
        asyncio.run(clients(committer))


def accept_slowly(path: Path, first: int, acknowledgements: Connection) -> None:
    """Accept one run after another, with pauses; send each sequence number and its run."""

    async def client(committer: GroupCommitter) -> None:
        for run in range(first, first + 10**6):
            seq = await committer.append(events_of(run))
            acknowledgements.send((seq, run))
            await asyncio.sleep(PAUSE_SECONDS)

    with closing(GroupCommitter(Spool(path))) as committer:
        asyncio.run(client(committer))


def fold(server: Neo4jServer, path: Path, events_max: int, log: Path) -> None:
    """Fold the spool until killed."""
    logging.basicConfig(filename=log, level=logging.INFO)
    database = Database(server.uri, server.user, server.password)
    with closing(database), closing(Spool(path)) as spool:
        Worker(database, spool, events_max=events_max).run()


def migrate_until_killed(server: Neo4jServer, statements_max: int) -> None:
    """Apply the pending migrations, and kill this process after some statements."""
    run, count = migrate._run, 0

    def run_and_count(database: Database, statements: Sequence[str]) -> None:
        nonlocal count
        run(database, statements)
        count += 1
        if count == statements_max:
            os.kill(os.getpid(), signal.SIGKILL)

    migrate._run = run_and_count
    migrate.migrate(Database(server.uri, server.user, server.password))


def started(target: Any, *arguments: Any) -> BaseProcess:
    """Start a function in a process of its own."""
    process = _context.Process(target=target, args=arguments, daemon=True)
    process.start()
    return process


def pipe() -> tuple[Connection, Connection]:
    """Return the reading and the writing end of a pipe."""
    return _context.Pipe(duplex=False)


def kill(process: BaseProcess) -> None:
    """Send kill -9 and wait for the end."""
    process.kill()
    process.join()
