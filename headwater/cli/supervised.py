"""Run a command that ends in order when its parent dies: `python -m headwater.cli.supervised
serve`.

`up` ends its processes. After kill -9 it cannot, and an API without it would hold the port against
the next one.
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
