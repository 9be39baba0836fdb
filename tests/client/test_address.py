"""Which API a command asks: options before the environment, a home never another server."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from headwater.client.address import (
    API_FILE,
    UP_LOCK,
    Address,
    address_of_home,
    choose_address,
)
from headwater.errors import QueryError, SettingsError, UnavailableError
from headwater.settings import load

ENVIRONMENT = {"HEADWATER_URL": "http://env:1", "HEADWATER_API_KEY": "hw_key"}


def test_an_option_wins_over_the_environment() -> None:
    assert choose_address("http://given:2/", None, None, ENVIRONMENT) == Address(
        "http://given:2", "hw_key", "--url"
    )
    assert choose_address(None, None, None, ENVIRONMENT) == Address(
        "http://env:1", "hw_key", "HEADWATER_URL"
    )
    assert choose_address(None, None, None, {}) is None


def test_a_home_is_never_another_server() -> None:
    assert choose_address(None, None, "/some/home", ENVIRONMENT) is None
    # Its settings refuse it.
    assert choose_address(None, None, "", ENVIRONMENT) is None


@pytest.mark.parametrize(
    ("url", "profile", "home"),
    [("http://a", "p", None), ("http://a", None, "h"), (None, "p", "h")],
)
def test_options_that_exclude_each_other(
    url: str | None, profile: str | None, home: str | None
) -> None:
    with pytest.raises(QueryError, match="exclude each other"):
        choose_address(url, profile, home, {})


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "ftp://host",
        "http://",
        "http://host:port",
        "http://host:99999",
        "http://[::1",
        "http://host/?a=1",
        "http://host/#a",
        "http://host/a b",
        "http://host/\x00",
        "file:///etc/passwd",
    ],
)
def test_a_malformed_address_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="--url"):
        choose_address(url, None, None, {})


@pytest.mark.parametrize(
    "url",
    [
        "https://me:secret@host",
        "https://me:secret/1@host",
        "https://host/?key=secret",
        "https://host/#secret",
        "me:secret@host",
        "http:me:secret@host",
        "http:///me:secret@host",
        "http:\\\\me:secret@host",
        "//me:secret@host",
        "me:secret@host/x?y",
        "http://127.0.0.1:1/me:secret@host",
        "http://host;key=secret",
        "http://host:secret",
    ],
)
def test_an_address_with_a_password_is_refused_without_printing_it(url: str) -> None:
    with pytest.raises(SettingsError) as error:
        choose_address(url, None, None, {})
    assert "secret" not in error.value.message + error.value.hint


def test_the_api_of_a_home_is_the_one_that_up_runs_there(tmp_path: Path) -> None:
    home = str(tmp_path)
    settings = load({}, home=home)
    assert address_of_home(settings, None, {}).url == "http://127.0.0.1:8000"
    with pytest.raises(UnavailableError, match="nothing runs in") as error:
        address_of_home(settings, home, {})
    assert f"headwater up --home {home}" in error.value.hint
    # An address that a killed `up` left behind may be that of another server by now.
    (tmp_path / API_FILE).write_text("http://127.0.0.1:4711\n", encoding="utf-8")
    with pytest.raises(UnavailableError, match="nothing runs in"):
        address_of_home(settings, home, {})
    (tmp_path / UP_LOCK).touch()
    with pytest.raises(UnavailableError, match="nothing runs in"):
        address_of_home(settings, home, {})
    with (tmp_path / UP_LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert address_of_home(settings, home, {}).url == "http://127.0.0.1:4711"
        assert address_of_home(settings, None, {}).url == "http://127.0.0.1:4711"
        (tmp_path / API_FILE).unlink()
        with pytest.raises(UnavailableError, match="starting or restarting its servers") as error:
            address_of_home(settings, home, {})
        assert error.value.hint.startswith("Wait")


@pytest.mark.parametrize(
    "url", ["http://h/?key=SECRETPW", "http://h/#SECRETPW", "ftp://h/?SECRETPW"]
)
def test_a_query_is_refused_and_not_printed(url: str) -> None:
    with pytest.raises(SettingsError, match=r"--url '\w+://h/[?#]\.\.\.' ") as error:
        choose_address(url, None, None, {})
    assert "SECRET" not in error.value.message + error.value.hint
