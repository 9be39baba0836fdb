"""`python -m headwater.cli.supervised serve`: the command, which ends in order when its parent is gone.

`up` ends what it started; killed with -9 it cannot, and an API without it would hold the port against the next one.
"""

from __future__ import annotations

import os
import signal
import threading
import time

POLL_SECONDS = 0.5


def _end_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(POLL_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(
        target=_end_after, args=[os.getppid()], name="end-with-parent", daemon=True
    ).start()
    from headwater.cli import main

    main()
