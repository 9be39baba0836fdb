"""The command that makes the address of a tile: `tile`."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from headwater.cli.options import Home, Json, settings_of
from headwater.errors import NotFoundError, QueryError


def tile(
    figure: Annotated[str, typer.Argument(help="A figure, for example coverage.")],
    key: Annotated[
        str | None,
        typer.Option(help="Name of the key whose namespaces count.", show_default="no key"),
    ] = None,
    expires: Annotated[str, typer.Option(help="Time until it expires: 12h, 90d.")] = "90d",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Print the address of a figure as a tile for a frame; anybody who has it may read that figure.

    An API that requires keys needs --key. Revoking the key ends the tile.
    For example: headwater tile coverage --key wallboard --expires 30d"""
    from headwater.access.keys import Keys
    from headwater.access.store import AccessStore
    from headwater.access.tile_tokens import TileTokens
    from headwater.cli import render
    from headwater.health.figures.definitions import definitions_of
    from headwater.schema.durations import parse_duration

    [definition] = definitions_of([figure])
    seconds = int(parse_duration(expires, name="--expires").total_seconds())
    settings = settings_of(home)
    if key is None and settings.keys_required:
        raise QueryError(
            "a tile needs a key, because this API requires one",
            hint="Name one with --key; `headwater keys list` lists them.",
        )
    with closing(AccessStore(settings.access_path)) as store:
        keys = Keys(store)
        named = [one for one in keys.list() if one.name == key and one.state == "valid"]
        if key is not None and not named:
            raise NotFoundError(
                f"there is no valid key {key!r}", hint="`headwater keys list` lists them."
            )
        tokens = TileTokens(keys, settings.tile_key_path, required=settings.keys_required)
        token = tokens.sign(definition.name, named[0] if named else None, seconds=seconds)
    path = f"/tiles/{definition.name}?token={token}"
    if as_json:
        render.print_json({"figure": definition.name, "path": path})
        return
    print(path)


COMMANDS = {"tile": tile}
