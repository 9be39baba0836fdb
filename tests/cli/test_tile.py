"""The command `tile`: it signs the address of a figure for a key."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from typer.testing import CliRunner, Result

from headwater.access.keys import Keys
from headwater.access.principal import Scope
from headwater.access.store import AccessStore
from headwater.access.tile_tokens import TileTokens
from headwater.cli import app
from headwater.errors import NotFoundError, QueryError


def invoke(home: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["tile", *arguments, "--home", str(home)])


def test_an_address_for_a_key(tmp_path: Path) -> None:
    with closing(AccessStore(tmp_path / "access.db")) as store:
        keys = Keys(store)
        _, key = keys.create("wall", [Scope.READ], namespaces=["own"])
        found = json.loads(invoke(tmp_path, "coverage", "--key", "wall", "--json").stdout)
        path, _, token = found["path"].partition("?token=")
        assert (found["figure"], path) == ("coverage", "/tiles/coverage")
        tokens = TileTokens(keys, tmp_path / "tile.key", required=True)
        assert tokens.principal("coverage", token) == key.principal


def test_an_address_without_a_key_where_none_is_required(tmp_path: Path) -> None:
    assert invoke(tmp_path, "coverage").stdout.startswith("/tiles/coverage?token=-.")


def test_what_is_refused(tmp_path: Path) -> None:
    unknown = invoke(tmp_path, "wealth").exception
    assert isinstance(unknown, QueryError)
    missing = invoke(tmp_path, "coverage", "--key", "nobody").exception
    assert isinstance(missing, NotFoundError)
