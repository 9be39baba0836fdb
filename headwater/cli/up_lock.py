"""The lock by which one `headwater up` at a time has a home, or one command that rewrites it."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from headwater.client.address import UP_LOCK
from headwater.errors import HomeInUseError

# The argument of `headwater.cli.supervised` that makes a process the guard of Neo4j.
GUARD = "guard"
# The guard writes this into the lock while it ends Neo4j.
ENDING = "ending"
LOCK_SECONDS_MAX = 2.0
_POLL_SECONDS = 0.1


def take_lock(lock_file: IO[str]) -> bool:
    """Take the lock of an open file; return False if another process has it."""
    try:
        fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def up_lock(home: Path, holder: str = "") -> Iterator[None]:
    """Hold the lock of `up`; wait while the guard of a killed `up` ends its Neo4j.

    `holder` is the command that holds it, if that is not `up`. Raises HomeInUseError.
    """
    lock = home / UP_LOCK
    refused_at = time.monotonic() + LOCK_SECONDS_MAX
    with lock.open("a+") as lock_file:
        while not take_lock(lock_file):
            # The guard has the lock for a moment before and after it writes that.
            other = lock.read_text(encoding="utf-8")
            if other == ENDING:
                refused_at = time.monotonic() + LOCK_SECONDS_MAX
            elif time.monotonic() > refused_at:
                raise HomeInUseError(
                    f"`headwater {other or 'up'}` runs in {home} already",
                    hint="End it, or choose another folder with --home DIR.",
                )
            time.sleep(_POLL_SECONDS)
        lock_file.truncate(0)
        lock_file.write(holder)
        lock_file.flush()
        yield


@contextmanager
def home_without_servers(home: Path, holder: str) -> Iterator[None]:
    """Let neither `headwater up` nor the local Neo4j start in a home.

    `holder` is the command that needs it. Raises HomeInUseError if one of them runs.
    """
    from headwater.local.neo4j import LocalNeo4j

    # Neo4j is tested first: the guard that ends the Neo4j of a killed `up` needs the lock of `up`.
    with LocalNeo4j(home).kept_stopped(), up_lock(home, holder):
        yield
