"""Options that several commands share, and the settings, graph and address that they select."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from headwater.settings import Settings, load

if TYPE_CHECKING:
    from headwater.cypher.driver.database import Database
    from headwater.lineage.view import GraphView

Home = Annotated[
    str | None,
    typer.Option(
        help="Folder of the spool and the local Neo4j.", show_default="~/.headwater", metavar="DIR"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Url = Annotated[
    str | None,
    typer.Option(help="Address of the API.", show_default="the one `up` runs in the home"),
]

API_FILE = "api.url"


def settings_of(home: str | None = None, **overrides: object) -> Settings:
    """Return the settings of the environment and of the given options."""
    return load(os.environ, home=home, **overrides)


def with_local_neo4j(settings: Settings) -> Settings:
    """Return the settings; without a set password, use the Neo4j that runs in the home, if any."""
    if settings.neo4j_password or settings.neo4j_password_file:
        return settings
    from headwater.local.neo4j import LocalNeo4j

    local = LocalNeo4j(settings.home_path)
    status = local.status()
    if not status.running:
        return settings
    return msgspec.structs.replace(
        settings, neo4j_uri=status.uri, neo4j_password=local.home.password() or ""
    )


def graph(home: str | None) -> Database:
    """Return the graph that the settings name, or the one in the home."""
    return connect(with_local_neo4j(settings_of(home)))


def graph_view(home: str | None) -> GraphView:
    """Return a view of that graph for a caller who sees everything, without a cache."""
    from headwater.lineage.view import GraphView

    return GraphView(graph(home))


def connect(settings: Settings) -> Database:
    """Return the graph that the settings name; it connects with the first query."""
    from headwater.cypher.driver.database import Database

    return Database(
        settings.neo4j_uri,
        settings.neo4j_user,
        settings.password(),
        database=settings.neo4j_database,
    )


def api_url(home: str | None, url: str | None) -> str:
    """Return the API's address: as given, as `up` wrote it into the home, or from the settings."""
    if url:
        return url.rstrip("/")
    settings = settings_of(home)
    written = settings.home_path / API_FILE
    if written.is_file():
        return written.read_text(encoding="utf-8").strip()
    return f"http://{settings.host}:{settings.port}"


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
