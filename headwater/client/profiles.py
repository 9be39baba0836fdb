"""Named profiles: the addresses and keys of APIs, in one TOML file of the user.

    [profiles.production]
    url = "https://headwater.example.com"
    api_key_file = "production.key"

The file is `config.toml` in the user's configuration folder for `headwater`: on Linux
`~/.config/headwater`, or `headwater` in `XDG_CONFIG_HOME`. A key is in a file of its own
(`api_key_file`, relative to that folder), in an environment variable (`api_key_env`), or in the
profile (`api_key`). A file that holds a key must be readable by its owner only.
"""

from __future__ import annotations

import difflib
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from headwater.addresses import shown
from headwater.errors import SettingsError
from headwater.schema.settings_files import read_settings_file

FILE = "config.toml"
KEY_SOURCES = ("api_key", "api_key_env", "api_key_file")
_GROUP_AND_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One profile as the file writes it."""

    url: str
    api_key: str = ""
    api_key_env: str = ""
    api_key_file: str = ""

    def __repr__(self) -> str:
        return f"Profile(url={shown(self.url)!r})"


def config_path() -> Path:
    """Return the path of the file of profiles."""
    from platformdirs import user_config_path

    return user_config_path("headwater", appauthor=False) / FILE


def read_profiles(path: Path) -> dict[str, Profile]:
    """Return the profiles of a file by name; none if there is no file. Raises SettingsError."""
    try:
        content = tomllib.loads(read_settings_file(path))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} is not TOML: {error}") from error
    unknown = sorted(content.keys() - {"profiles"})
    tables = content.get("profiles", {})
    if unknown or not isinstance(tables, dict):
        raise SettingsError(
            f"{path}: {', '.join(unknown) or 'profiles'} is not a table of profiles",
            hint='Write a table for each profile: [profiles.NAME] with a line url = "...".',
        )
    return {name: _parse(path, name, table) for name, table in tables.items()}


def profile_names() -> list[str]:
    """Return the names of all profiles, for the completion of a shell."""
    try:
        return sorted(read_profiles(config_path()))
    except SettingsError:
        return []


def find_profile(path: Path, name: str) -> Profile:
    """Return a profile by name. Raises SettingsError if the file has none of that name."""
    profiles = read_profiles(path)
    if name in profiles:
        return profiles[name]
    close = difflib.get_close_matches(name, profiles, n=1)
    meant = f" Did you mean {close[0]}?" if close else ""
    known = f"It has {', '.join(sorted(profiles))}." if profiles else "It has none."
    raise SettingsError(
        f"there is no profile {name!r} in {path}. {known}{meant}",
        hint=f'Add a table [profiles.{name}] with a line url = "https://...".',
    )


def key_of(path: Path, name: str, profile: Profile, environment: Mapping[str, str]) -> str:
    """Return the key of a profile, or "" if it names none. Raises SettingsError."""
    where = f"profile {name!r} in {path}"
    if profile.api_key:
        _require_private(path)
        return profile.api_key
    if profile.api_key_env:
        if not environment.get(profile.api_key_env):
            raise SettingsError(
                f"{where}: the environment variable {profile.api_key_env} is not set",
                hint="Set it to the API key, or change `api_key_env`.",
            )
        return environment[profile.api_key_env]
    if not profile.api_key_file:
        return ""
    file = path.parent / Path(profile.api_key_file).expanduser()
    try:
        key = read_settings_file(file).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{where}: `api_key_file` cannot be read: {error}") from error
    if not key:
        raise SettingsError(f"{where}: `api_key_file` {file} is empty")
    _require_private(file)
    return key


def _parse(path: Path, name: str, table: Any) -> Profile:
    try:
        profile = msgspec.convert(table, Profile)
    except msgspec.ValidationError as error:
        raise SettingsError(
            f"profile {name!r} in {path}: {error}",
            hint=f"A profile has url and one of {', '.join(KEY_SOURCES)}.",
        ) from error
    if sum(bool(getattr(profile, source)) for source in KEY_SOURCES) > 1:
        raise SettingsError(
            f"profile {name!r} in {path} names several keys",
            hint=f"Keep one of {', '.join(KEY_SOURCES)}.",
        )
    return profile


def _require_private(path: Path) -> None:
    """Raise SettingsError if others than the owner can read or write a file with a key."""
    mode = path.stat().st_mode
    if mode & _GROUP_AND_OTHERS:
        raise SettingsError(
            f"{path} holds an API key, and its mode {stat.S_IMODE(mode):04o} lets others use it",
            hint=f"chmod 600 {path}",
        )
