"""The MCP server without the settings of the developer that name an API, and a real API."""

from __future__ import annotations

from tests.cli.conftest import own_connection
from tests.keyed_api import api, graph, home, keys

__all__ = ["api", "graph", "home", "keys", "own_connection"]
