"""The backend that the options and the environment of a command name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from headwater.client.address import choose_address
from headwater.client.backend import Backend
from headwater.errors import QueryError


@contextmanager
def open_backend(url: str | None, profile: str | None, home: str | None) -> Iterator[Backend]:
    """Open the backend that the options and the environment name."""
    address = choose_address(url, profile, home, os.environ)
    if address is not None:
        from headwater.client.remote import RemoteBackend

        yield RemoteBackend(address)
        return
    try:
        from headwater.cli.backend.home import graph
        from headwater.cli.backend.local import LocalBackend
    except ImportError as error:
        raise QueryError(
            f"the graph of a home cannot be asked without the package {error.name}",
            hint="Name an API with --url or --profile, or pip install 'headwater[server]'.",
        ) from error
    backend = LocalBackend(partial(graph, home), home)
    try:
        yield backend
    finally:
        backend.close()
