"""A provider of OpenID Connect in a process of its own: the accounts of the tests of signing in."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headwater.local.ports import free_port
from tests.end_to_end.conftest import answers_at, wait_for

USERS = (
    {"sub": "ann", "name": "Ann Ray", "groups": ["headwater-viewer"]},
    {"sub": "dan", "name": "Dan Db", "groups": ["db-readers"]},
    {"sub": "eve", "groups": ["sales"]},
)


@contextmanager
def serving_provider(folder: Path) -> Iterator[str]:
    """Run the provider; yield its issuer."""
    port = free_port()
    words = [word for user in USERS for word in ("--user-claims", json.dumps(user))]
    with (folder / "provider.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "oidc_provider_mock", "-p", str(port), "-n", "true", *words],
            stdout=log,
            stderr=log,
        )
    issuer = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: answers_at(f"{issuer}/.well-known/openid-configuration"))
        yield issuer
    finally:
        process.terminate()
        process.wait(15)
