"""The address of an API with its key, from options, the environment or a profile.

The options are those of the command line; the Python client has parameters of the same names.

| first that is given | leads to |
|---|---|
| `--url` | that API, with the key in `HEADWATER_API_KEY` |
| `--profile` | the API of the profile, with its key; without one, that in `HEADWATER_API_KEY` |
| `--home` | this home, and never another server |
| `HEADWATER_URL` | that API, with the key in `HEADWATER_API_KEY` |
| `HEADWATER_PROFILE` | as `--profile` |
| none of them | the home of the settings |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from headwater.addresses import is_plain, shown
from headwater.client.profiles import config_path, find_profile, key_of
from headwater.credentials import parse_token
from headwater.errors import QueryError, SettingsError, UnavailableError
from headwater.settings import Settings, load

API_KEY = "HEADWATER_API_KEY"
URL = "HEADWATER_URL"
PROFILE = "HEADWATER_PROFILE"
# Files that `headwater up` keeps in its home.
API_FILE = "api.url"
UP_LOCK = "up.lock"
# Commands that hold this lock instead, with their names in it.
LOCKING_COMMANDS = ("forget", "restore")


@dataclass(frozen=True)
class Address:
    """An API: its URL, the key to send or "", and the option or setting that named it."""

    url: str
    api_key: str = field(default="", repr=False)
    named_by: str = ""


def choose_address(
    url: str | None,
    profile: str | None,
    home: str | None,
    environment: Mapping[str, str],
    *,
    prefix: str = "--",
) -> Address | None:
    """Return the API that a caller names, or None for the home.

    `prefix` begins the names of the options in errors. Raises QueryError for options that exclude
    each other, SettingsError for a bad URL, key or profile.
    """
    given = [
        f"{prefix}{name}"
        for name, value in (("url", url), ("profile", profile), ("home", home))
        if value
    ]
    if len(given) > 1:
        raise QueryError(f"{' and '.join(given)} exclude each other", hint="Give one of them.")
    if url:
        return _address(url, environment.get(API_KEY, ""), f"{prefix}url")
    if profile:
        return _of_profile(profile, environment, f"{prefix}profile")
    if home is not None:
        return None
    if environment.get(URL):
        return _address(environment[URL], environment.get(API_KEY, ""), URL)
    if environment.get(PROFILE):
        return _of_profile(environment[PROFILE], environment, PROFILE)
    return None


def find_address(
    url: str | None,
    profile: str | None,
    home: str | None,
    environment: Mapping[str, str],
    *,
    prefix: str = "--",
) -> Address:
    """Return the API that a caller names, or else the one of the home.

    Raises as `choose_address` and `address_of_home` do.
    """
    return choose_address(url, profile, home, environment, prefix=prefix) or address_of_home(
        load(environment, home=home), home, environment
    )


def with_key(address: Address, api_key: str) -> Address:
    """Return an address with another key, or with none for "". Raises SettingsError."""
    return _address(address.url, api_key, address.named_by)


def address_of_home(
    settings: Settings, home: str | None, environment: Mapping[str, str]
) -> Address:
    """Return the API that `headwater up` runs in a home.

    Without `--home` and without such an API, it is the address of the settings, for
    `headwater serve`. Raises UnavailableError if nothing runs in the home that `--home` names.
    """
    key = environment.get(API_KEY, "")
    folder = settings.home_path
    written = folder / API_FILE
    if written.is_file() and is_up(folder):
        return _address(written.read_text(encoding="utf-8").strip(), key, str(written))
    if home:
        raise nothing_runs(folder)
    return _address(f"{settings.scheme}://{settings.host}:{settings.port}", key, "the settings")


def is_up(folder: Path) -> bool:
    """Return True if a `headwater up` holds the lock of a home."""
    # Windows has neither this module nor `headwater up`.
    import fcntl

    holder = ""
    try:
        with (folder / UP_LOCK).open(encoding="utf-8") as lock:
            holder = lock.read()
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return holder not in LOCKING_COMMANDS
    return False


def nothing_runs(folder: Path) -> UnavailableError:
    """Return the error for a home in which no server runs, or does not run yet."""
    if is_up(folder):
        return UnavailableError(
            f"`headwater up` is starting or restarting its servers in {folder}",
            hint="Wait some seconds; `headwater doctor` shows what is missing.",
        )
    return UnavailableError(
        f"nothing runs in {folder}",
        hint=f"Start it with `headwater up --home {folder}`, or name an API with --url or "
        "--profile.",
    )


def _of_profile(name: str, environment: Mapping[str, str], named_by: str) -> Address:
    path = config_path()
    profile = find_profile(path, name)
    key = key_of(path, name, profile, environment) or environment.get(API_KEY, "")
    return _address(profile.url, key, f"{named_by} {name}")


def _address(url: str, api_key: str, named_by: str) -> Address:
    key = parse_token(api_key, f"the API key for {named_by}")
    return Address(_check_url(url.strip(), named_by), key, named_by)


def _check_url(url: str, named_by: str) -> str:
    """Return a URL without a slash at its end. Raises SettingsError."""
    if "@" in url:
        raise SettingsError(
            f"{named_by}: the address must not hold a user or a password",
            hint=f"Set the key in {API_KEY} or in a profile.",
        )
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        # The error would have a part of a password.
        raise SettingsError(
            f"{named_by}: the address is malformed",
            hint="Write for example https://headwater.example.com or http://127.0.0.1:8000.",
        ) from error
    if parts.scheme not in ("http", "https") or not host or not is_plain(re.split("[?#]", url)[0]):
        raise SettingsError(
            f"{named_by} {shown(url)!r} is no address of an API",
            hint="Write for example https://headwater.example.com or http://127.0.0.1:8000.",
        )
    if parts.query or parts.fragment or not url.isprintable() or " " in url:
        # They may hold a key.
        raise SettingsError(
            f"{named_by} {shown(url)!r} must be an address without a query, a fragment or spaces",
            hint=f"Set the key in {API_KEY} or in a profile.",
        )
    return url.rstrip("/")
