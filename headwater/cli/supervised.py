"""Run a command that ends in order when its parent dies: `python -m headwater.cli.supervised
serve PID LOG FD`. PID is the parent, LOG the file of its output, FD a socket for it that the parent
has bound.

`up` ends its processes. After kill -9 it cannot, and an API without it would hold the port against
the next one. Neo4j does not know its parent, so a guard beside it waits for the death of `up` and
then ends it: `python -m headwater.cli.supervised guard HOME PID`.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from headwater.cli.passed_sockets import pass_on
from headwater.cli.up_lock import ENDING, GUARD, take_lock

POLL_SECONDS = 0.5


def _wait_for_end(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(POLL_SECONDS)


def _end_after(parent: int) -> None:
    _wait_for_end(parent)
    os.kill(os.getpid(), signal.SIGTERM)


def _end_neo4j(home: Path) -> None:
    """End the Neo4j that a killed `up` started, unless another `up` has the home by now."""
    from headwater.client.address import UP_LOCK
    from headwater.local.neo4j import LocalNeo4j

    with (home / UP_LOCK).open("a+") as lock_file:
        if not take_lock(lock_file):
            return
        lock_file.truncate(0)
        lock_file.write(ENDING)
        lock_file.flush()
        local = LocalNeo4j(home)
        server = local.home.server()
        if server is not None and server.owner == "up":
            local.stop()
        lock_file.truncate(0)


def _rotate_logs(path: Path) -> None:
    from headwater.errors import HeadwaterError
    from headwater.logs.rotation import rotate_output
    from headwater.settings import load

    # The command itself prints a wrong setting.
    with suppress(HeadwaterError):
        settings = load(os.environ)
        rotate_output(path, bytes_max=settings.log_bytes_max, files_max=settings.log_files_max)


if __name__ == "__main__":
    if sys.argv[1] == GUARD:
        _wait_for_end(int(sys.argv[3]))
        _end_neo4j(Path(sys.argv[2]))
        sys.exit()
    # Not `os.getppid()`: the parent may have died during the start of this process.
    parent = int(sys.argv.pop(2))
    threading.Thread(target=_end_after, args=[parent], name="end-with-parent", daemon=True).start()
    from headwater.cli import main

    if len(sys.argv) > 3:
        pass_on(int(sys.argv.pop(3)))
    if len(sys.argv) > 2:
        _rotate_logs(Path(sys.argv.pop(2)))
    main()
