"""Chromium for tests, and a server for it to visit."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from playwright.sync_api import expect
from starlette.applications import Starlette

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
HAS_CHROMIUM = Path(CHROMIUM).exists()
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# How long a browser waits for an element on a loaded machine.
MILLISECONDS_MAX = 120_000
expect.set_options(timeout=MILLISECONDS_MAX)


@contextmanager
def listening(application: Starlette) -> Iterator[str]:
    """Serve an application on a real socket; yield its address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        # From now on connections wait for the server instead of being refused.
        listener.listen()
        config = uvicorn.Config(
            application, log_level="error", ws="websockets-sansio", lifespan="off"
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
