"""`headwater mcp`: the questions as tools for assistants."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from headwater.cli.options import Home, Profile, Url, api_address
from headwater.errors import QueryError


def mcp(
    url: Url = None,
    profile: Profile = None,
    home: Home = None,
    http: Annotated[
        bool, typer.Option("--http", help="Answer over HTTP on loopback instead of stdio.")
    ] = False,
    port: Annotated[
        int, typer.Option(help="With --http: the port; 0 takes a free one.", min=0, max=65_535)
    ] = 8765,
) -> None:
    """Give assistants the questions as tools (Model Context Protocol). The tools only read.

    Over stdio it asks with your key. With --http each caller sends a key of its own.

    For example: headwater mcp --profile production"""
    try:
        from headwater.mcp_server.server import run_http, run_stdio
    except ImportError as error:
        raise QueryError(
            f"headwater mcp needs the package {error.name}", hint="pip install 'headwater[mcp]'"
        ) from error
    address = api_address(home, url, profile)
    if not http:
        run_stdio(address)
        return

    def announce(at: str) -> None:
        print(f"MCP at {at}, which asks {address.url}. Ctrl-C ends it.", file=sys.stderr)

    try:
        run_http(address, port=port, on_ready=announce)
    except OSError as error:
        raise QueryError(
            f"port {port} is not free: {error.strerror}", hint="Name another one with --port."
        ) from error


COMMANDS = {"mcp": mcp}
