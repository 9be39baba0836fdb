"""Tokens of sessions: what they hold, when they end, and forged ones."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from headwater.access.keys import Keys
from headwater.access.principal import Scope
from headwater.access.secret_file import replace_secret
from headwater.access.sessions import Sessions
from headwater.access.store import AccessStore
from headwater.errors import ForbiddenError, UnauthorizedError


@pytest.fixture
def secret_path(tmp_path: Path) -> Path:
    return tmp_path / "session.key"


@pytest.fixture
def sessions(keys: Keys, store: AccessStore, secret_path: Path) -> Sessions:
    return Sessions(keys, store, secret_path, seconds=60)


@pytest.fixture
def key(keys: Keys) -> str:
    return keys.create("ann", [Scope.READ, Scope.STEWARD], namespaces=["own"])[0]


def test_a_session_has_the_rights_of_its_key_and_none_of_its_secret(
    sessions: Sessions, keys: Keys, key: str
) -> None:
    token, session = sessions.start(key)
    assert sessions.session(token) == session
    assert session.principal == keys.principal(key)
    assert key not in token
    assert key.rpartition("_")[2] not in token
    assert 58 < session.expires.timestamp() - time.time() <= 60


def test_each_session_is_another_one(sessions: Sessions, key: str) -> None:
    assert sessions.start(key)[0] != sessions.start(key)[0]


def test_every_changed_token_is_refused(sessions: Sessions, key: str) -> None:
    token, _ = sessions.start(key)
    for position, character in enumerate(token):
        for other in {"0", "1", "a", "."} - {character}:
            with pytest.raises(UnauthorizedError):
                sessions.session(token[:position] + other + token[position + 1 :])
    for forged in ("", token[:-1], token + "A", " " + token, token + "\n", "é" * 50, key):
        with pytest.raises(UnauthorizedError):
            sessions.session(forged)


def test_a_longer_life_or_another_key_needs_another_signature(
    sessions: Sessions, keys: Keys, key: str
) -> None:
    token, _ = sessions.start(key)
    id, session_id, expires, signature = token.split(".")
    _, admin = keys.create("root", [Scope.ADMIN])
    for content in (
        f"{id}.{session_id}.{int(expires) + 1}",
        f"{admin.id}.{session_id}.{expires}",
        f"{id}.{'0' * 32}.{expires}",
    ):
        with pytest.raises(UnauthorizedError, match="not valid"):
            sessions.session(f"{content}.{signature}")


def test_a_revoked_key_ends_its_sessions(sessions: Sessions, keys: Keys, key: str) -> None:
    token, _ = sessions.start(key)
    keys.revoke("ann")
    with pytest.raises(UnauthorizedError, match="revoked"):
        sessions.session(token)


def test_a_session_lasts_no_longer_than_its_key(sessions: Sessions, keys: Keys) -> None:
    text, key = keys.create("short", [Scope.READ], days=30 / 86_400)
    _, session = sessions.start(text)
    assert key.expires is not None
    assert session.expires == key.expires.replace(microsecond=0)


def test_a_session_ends_after_its_time(keys: Keys, store: AccessStore, secret_path: Path) -> None:
    text, _ = keys.create("ann", [Scope.READ])
    token, _ = Sessions(keys, store, secret_path, seconds=0).start(text)
    with pytest.raises(UnauthorizedError, match="ended"):
        Sessions(keys, store, secret_path, seconds=60).session(token)


def test_a_session_that_was_signed_out_is_refused_and_others_stay(
    sessions: Sessions, key: str
) -> None:
    ended, session = sessions.start(key)
    staying, _ = sessions.start(key)
    sessions.end(session)
    sessions.end(session)
    with pytest.raises(UnauthorizedError, match="ended"):
        sessions.session(ended)
    assert sessions.session(staying)


def test_a_clock_that_was_ahead_brings_no_ended_session_back(
    sessions: Sessions, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, session = sessions.start(key)
    sessions.end(session)
    with monkeypatch.context() as ahead:
        ahead.setattr("time.time", lambda: session.expires.timestamp() + 86_400)
        sessions.end(sessions.start(key)[1])
    with pytest.raises(UnauthorizedError, match="the session has ended"):
        sessions.session(token)


def test_few_expired_sessions_are_kept(
    sessions: Sessions, key: str, store: AccessStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwater.access.sessions._EXPIRED_MAX", 3)
    for _ in range(9):
        sessions.end(sessions.start(key)[1])
    with store.write() as connection:
        assert connection.execute("SELECT count(*) FROM ended_session").get == 9
        connection.execute("UPDATE ended_session SET expires = 0")
    sessions.end(sessions.start(key)[1])
    with store.read() as connection:
        assert connection.execute("SELECT count(*) FROM ended_session").get == 4


def test_another_secret_ends_all_sessions(sessions: Sessions, key: str, secret_path: Path) -> None:
    token, _ = sessions.start(key)
    replace_secret(secret_path)
    with pytest.raises(UnauthorizedError, match="not valid"):
        sessions.session(token)
    assert sessions.session(sessions.start(key)[0])


def test_a_key_that_may_not_read_gets_no_session(sessions: Sessions, keys: Keys) -> None:
    sender, _ = keys.create("sender", [Scope.INGEST])
    with pytest.raises(ForbiddenError, match="scope read"):
        sessions.start(sender)
    with pytest.raises(UnauthorizedError):
        sessions.start("hw_000000000000_" + "a" * 43)
