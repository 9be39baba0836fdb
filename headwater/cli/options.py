"""Options that several commands share, and the API that they select."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.backend.home import connect as connect
from headwater.cli.backend.home import graph as graph
from headwater.cli.backend.home import graph_settings as graph_settings
from headwater.cli.backend.home import settings_of as settings_of
from headwater.cli.backend.home import with_local_neo4j as with_local_neo4j
from headwater.client.address import Address, find_address
from headwater.client.profiles import profile_names

CONNECTION = "Connection"
OUTPUT = "Output"

Home = Annotated[
    str | None,
    typer.Option(
        help="Folder of the spool and the local Neo4j.",
        show_default="~/.headwater",
        metavar="DIR",
        rich_help_panel=CONNECTION,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel=OUTPUT)]
Url = Annotated[
    str | None,
    typer.Option(
        help="Address of the API; its key is read from HEADWATER_API_KEY.",
        show_default="HEADWATER_URL, or the home",
        rich_help_panel=CONNECTION,
    ),
]
Profile = Annotated[
    str | None,
    typer.Option(
        help="Profile of the configuration file, with the address and the key of an API.",
        show_default="HEADWATER_PROFILE",
        metavar="NAME",
        autocompletion=profile_names,
        rich_help_panel=CONNECTION,
    ),
]


def api_address(home: str | None, url: str | None, profile: str | None = None) -> Address:
    """Return the API that a command sends to: as the options name it, or the one of the home."""
    return find_address(url, profile, home, os.environ)


def existing(path: str) -> Path:
    """Return the path of a file that must exist. Raise typer.BadParameter."""
    found = Path(path)
    if found.is_dir():
        raise typer.BadParameter(
            f"{path} is a folder; name the files in it, for example {path}/*.json"
        )
    if not found.exists():
        raise typer.BadParameter(f"{path}: no such file")
    return found
