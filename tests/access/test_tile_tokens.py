"""Tokens of tiles: what they open, when they end, and forged ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.access.keys import Keys
from headwater.access.principal import ANONYMOUS, Scope
from headwater.access.secret_file import replace_secret
from headwater.access.tile_tokens import TileTokens
from headwater.errors import ForbiddenError, NotFoundError

MINUTE = 60


@pytest.fixture
def secret_path(tmp_path: Path) -> Path:
    return tmp_path / "tile.key"


@pytest.fixture
def tokens(keys: Keys, secret_path: Path) -> TileTokens:
    return TileTokens(keys, secret_path, required=True)


def test_a_token_has_the_visibility_of_its_key(tokens: TileTokens, keys: Keys) -> None:
    _, key = keys.create("wall", [Scope.READ], namespaces=["own"])
    token = tokens.sign("coverage", key, seconds=MINUTE)
    assert tokens.principal("coverage", token) == key.principal


def test_a_token_opens_one_figure(tokens: TileTokens, keys: Keys) -> None:
    _, key = keys.create("wall", [Scope.READ])
    token = tokens.sign("coverage", key, seconds=MINUTE)
    with pytest.raises(NotFoundError, match="not valid"):
        tokens.principal("failing-runs", token)


def test_every_changed_token_is_refused(tokens: TileTokens, keys: Keys) -> None:
    _, key = keys.create("wall", [Scope.READ])
    token = tokens.sign("coverage", key, seconds=MINUTE)
    for position, character in enumerate(token):
        other = "0" if character != "0" else "1"
        with pytest.raises(NotFoundError):
            tokens.principal("coverage", token[:position] + other + token[position + 1 :])
    for bad in ("", "-", "..", f"{token}x", "é"):
        with pytest.raises(NotFoundError):
            tokens.principal("coverage", bad)


def test_a_token_ends_at_its_time_with_its_key_and_with_the_secret(
    tokens: TileTokens, keys: Keys, secret_path: Path
) -> None:
    _, key = keys.create("wall", [Scope.READ])
    with pytest.raises(NotFoundError, match="expired"):
        tokens.principal("coverage", tokens.sign("coverage", key, seconds=0))
    token = tokens.sign("coverage", key, seconds=MINUTE)
    keys.revoke("wall")
    with pytest.raises(NotFoundError, match="key of this tile"):
        tokens.principal("coverage", token)
    _, key = keys.create("other", [Scope.READ])
    token = tokens.sign("coverage", key, seconds=MINUTE)
    replace_secret(secret_path)
    with pytest.raises(NotFoundError, match="not valid"):
        tokens.principal("coverage", token)


def test_a_key_that_may_not_read_signs_nothing(tokens: TileTokens, keys: Keys) -> None:
    _, key = keys.create("sender", [Scope.INGEST])
    with pytest.raises(ForbiddenError, match="scope read"):
        tokens.sign("coverage", key, seconds=MINUTE)


def test_a_token_without_a_key_counts_while_none_is_required(
    tokens: TileTokens, keys: Keys, secret_path: Path
) -> None:
    free = TileTokens(keys, secret_path, required=False)
    token = free.sign("coverage", None, seconds=MINUTE)
    assert free.principal("coverage", token) == ANONYMOUS
    with pytest.raises(NotFoundError, match="requires one"):
        tokens.principal("coverage", token)
