"""Keys: their creation, storage, refusal and end."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from headwater.access.keys import Keys, create_first_key
from headwater.access.principal import Principal, Scope, scopes_of
from headwater.access.store import AccessStore
from headwater.errors import (
    ForbiddenError,
    NotFoundError,
    QueryError,
    SettingsError,
    UnauthorizedError,
)
from headwater.schema.visibility import UNRESTRICTED, Visibility


def test_a_key_is_shown_once_and_stored_as_a_hash(keys: Keys, store: AccessStore) -> None:
    token, key = keys.create(
        "ci", [Scope.READ, Scope.INGEST], namespaces=["spark*", "s3://lake"], days=1
    )
    assert re.fullmatch(r"hw_[0-9a-f]{12}_[\w-]{43}", token)
    assert (key.scopes, key.namespaces, key.state) == (
        (Scope.INGEST, Scope.READ),
        ("spark*", "s3://lake"),
        "valid",
    )
    assert key.expires is not None
    assert (key.expires - key.created).total_seconds() == 86_400
    secret = token[16:]
    store.close()
    assert secret.encode() not in store.path.read_bytes()
    assert store.path.stat().st_mode & 0o077 == 0
    principal = keys.principal(token)
    assert principal == Principal(
        "ci", frozenset({Scope.READ, Scope.INGEST}), Visibility(("spark*", "s3://lake"))
    )


@pytest.mark.parametrize("changed", ["", "x", "hw_", "hw_000000000000_" + "a" * 43, "HW", "hw_ü"])
def test_malformed_keys_are_refused(keys: Keys, changed: str) -> None:
    keys.create("ci", [Scope.READ])
    with pytest.raises(UnauthorizedError):
        keys.principal(changed)


def test_a_key_with_one_character_changed_is_refused(keys: Keys) -> None:
    token, _ = keys.create("ci", [Scope.READ])
    for position in (3, 16, len(token) - 2):
        other = "a" if token[position] != "a" else "b"
        with pytest.raises(UnauthorizedError):
            keys.principal(token[:position] + other + token[position + 1 :])


def test_a_key_ends_by_expiry_or_revocation(keys: Keys) -> None:
    brief, _ = keys.create("brief", [Scope.READ], days=1e-9)
    with pytest.raises(UnauthorizedError, match="expired"):
        keys.principal(brief)
    token, _ = keys.create("long", [Scope.READ], days=None)
    assert keys.principal(token).name == "long"
    assert keys.has_valid_key()
    assert keys.revoke("long").state == "revoked"
    with pytest.raises(UnauthorizedError, match="revoked"):
        keys.principal(token)
    assert not keys.has_valid_key()
    with pytest.raises(NotFoundError):
        keys.revoke("long")
    # The name is free again, and the id distinguishes the two keys.
    second, key = keys.create("long", [Scope.READ])
    assert keys.principal(second).name == "long"
    assert keys.revoke(key.id).id == key.id
    assert [key.state for key in keys.list()] == ["expired", "revoked", "revoked"]


def test_a_revocation_by_another_process_applies_at_once(keys: Keys, store: AccessStore) -> None:
    token, _ = keys.create("ci", [Scope.READ])
    other = AccessStore(store.path)
    Keys(other).revoke("ci")
    other.close()
    with pytest.raises(UnauthorizedError):
        keys.principal(token)


@pytest.mark.parametrize(
    ("name", "scopes", "namespaces", "days"),
    [
        ("", [Scope.READ], ["*"], 1),
        ("  ", [Scope.READ], ["*"], 1),
        ("a\nb", [Scope.READ], ["*"], 1),
        ("x" * 101, [Scope.READ], ["*"], 1),
        ("ci", [], ["*"], 1),
        ("ci", [Scope.READ], [], 1),
        ("ci", [Scope.READ], [""], 1),
        ("ci", [Scope.READ], ["*"], 0),
        ("ci", [Scope.READ], ["*"], -1),
        ("ci", [Scope.READ], ["*"], 1e9),
        ("ci", [Scope.CYPHER], ["spark"], 1),
        ("ci", [Scope.ADMIN], ["spark"], 1),
        ("taken", [Scope.READ], ["*"], 1),
    ],
)
def test_a_key_without_use_is_not_created(
    keys: Keys, name: str, scopes: list[Scope], namespaces: list[str], days: float
) -> None:
    keys.create("taken", [Scope.READ])
    with pytest.raises(QueryError):
        keys.create(name, scopes, namespaces=namespaces, days=days)
    assert len(keys.list()) == 1


def test_two_processes_create_the_same_name_at_once(tmp_path: Path) -> None:
    created: list[str] = []
    refused: list[Exception] = []

    def make() -> None:
        store = AccessStore(tmp_path / "access.db")
        try:
            created.append(Keys(store).create("ci", [Scope.READ])[0])
        except QueryError as error:
            refused.append(error)
        finally:
            store.close()

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(created), len(refused)) == (1, 3)


def test_the_first_key_is_written_to_a_private_file_once(keys: Keys, tmp_path: Path) -> None:
    path = tmp_path / "first.key"
    create_first_key(keys, path)
    token = path.read_text().strip()
    assert path.stat().st_mode & 0o777 == 0o600
    assert keys.principal(token) == Principal("first", frozenset({Scope.INGEST, Scope.READ}))
    create_first_key(keys, path)
    assert [key.name for key in keys.list()] == ["first"]
    assert path.read_text().strip() == token


def test_a_first_key_that_cannot_be_written_is_revoked(keys: Keys, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="HEADWATER_FIRST_KEY_FILE"):
        create_first_key(keys, tmp_path / "file" / "first.key")
    assert [key.state for key in keys.list()] == ["revoked"]


def test_scopes() -> None:
    assert scopes_of(["read", "admin"]) == [Scope.READ, Scope.ADMIN]
    with pytest.raises(QueryError, match="'fly' is an unknown scope"):
        scopes_of(["fly"])
    reader = Principal("r", frozenset({Scope.READ}))
    reader.require(Scope.READ)
    for scope in set(Scope) - {Scope.READ}:
        with pytest.raises(ForbiddenError):
            reader.require(scope)
    for scope in Scope:
        Principal("a", frozenset({Scope.ADMIN})).require(scope)
    narrow = Principal("n", frozenset({Scope.CYPHER}), Visibility(("a",)))
    with pytest.raises(ForbiddenError, match="limited to namespaces"):
        narrow.require(Scope.CYPHER)
    assert UNRESTRICTED.is_unrestricted


def test_a_namespace_that_is_not_utf8_is_refused(keys: Keys) -> None:
    with pytest.raises(QueryError, match=r"pattern 'x\\udcff' is not UTF-8"):
        keys.create("ci", [Scope.READ], namespaces=["ok", "x\udcff"])
