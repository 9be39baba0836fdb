"""An API whose callers a provider authenticates, on a real socket. It needs no Neo4j."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from headwater.server import create_app
from headwater.settings import load
from tests.access.oidc.test_code_flow import settings_of
from tests.end_to_end.conftest import answers_at, wait_for


@contextmanager
def serving_api(home: Path, issuer: str, port: int, **settings: Any) -> Iterator[str]:
    """Serve the whole application; yield its address."""
    url = f"http://127.0.0.1:{port}"
    environment = {"HEADWATER_HOME": str(home), "HEADWATER_NEO4J_URI": "bolt://127.0.0.1:1"}
    named = settings_of(issuer, public_url=url, **settings)
    app = create_app(load(environment, require_keys=True, **named))
    config = uvicorn.Config(app, port=port, log_level="error", lifespan="on", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_for(lambda: answers_at(f"{url}/healthz"))
        yield url
    finally:
        server.should_exit = True
        thread.join()
