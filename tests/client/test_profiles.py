"""Profiles in the user's configuration file: addresses, keys, and refusals that name the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.client.address import choose_address
from headwater.client.profiles import config_path, profile_names
from headwater.errors import SettingsError

KEY = "hw_secret-key-of-production"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the configuration file of a user whose folder is empty."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "headwater" / "config.toml"
    path.parent.mkdir()
    return path


def chosen(name: str, **environment: str) -> tuple[str, str]:
    found = choose_address(None, name, None, environment)
    assert found is not None
    assert KEY not in repr(found)
    return found.url, found.api_key


def test_the_file_is_in_the_configuration_folder_of_the_user(config: Path) -> None:
    assert config_path() == config
    assert profile_names() == []


def test_a_key_comes_from_a_file_an_environment_variable_or_the_profile(config: Path) -> None:
    config.write_text(
        """
        [profiles.file]
        url = "https://one.example.com/"
        api_key_file = "one.key"
        [profiles.env]
        url = "https://two.example.com/headwater"
        api_key_env = "TWO_KEY"
        [profiles.here]
        url = "http://127.0.0.1:8000"
        api_key = "hw_here"
        [profiles.none]
        url = "http://127.0.0.1:8000"
        """
    )
    config.chmod(0o600)
    (config.parent / "one.key").write_text(f"{KEY}\n")
    (config.parent / "one.key").chmod(0o600)
    assert chosen("file") == ("https://one.example.com", KEY)
    assert chosen("env", TWO_KEY="hw_two") == ("https://two.example.com/headwater", "hw_two")
    assert chosen("here", HEADWATER_API_KEY="hw_other") == ("http://127.0.0.1:8000", "hw_here")
    assert chosen("none", HEADWATER_API_KEY="hw_other") == ("http://127.0.0.1:8000", "hw_other")
    assert profile_names() == ["env", "file", "here", "none"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666, 0o620])
def test_a_file_with_a_key_must_be_private(config: Path, mode: int) -> None:
    config.write_text('[profiles.p]\nurl = "http://a:1"\napi_key_file = "key"\n')
    key = config.parent / "key"
    key.write_text(KEY)
    key.chmod(mode)
    with pytest.raises(SettingsError, match="lets others use it") as error:
        chosen("p")
    assert error.value.hint == f"chmod 600 {key}"
    config.write_text(f'[profiles.p]\nurl = "http://a:1"\napi_key = "{KEY}"\n')
    config.chmod(mode)
    with pytest.raises(SettingsError, match="lets others use it"):
        chosen("p")
    # A file without a key may be shared.
    config.write_text('[profiles.p]\nurl = "http://a:1"\n')
    assert chosen("p") == ("http://a:1", "")


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", "p", "there is no profile 'p'.*It has none"),
        ('[profiles.prod]\nurl = "http://a"', "prd", "Did you mean prod"),
        ("[profiles", "p", "is not TOML"),
        (f"a = {'[' * 5_000}{']' * 5_000}", "p", "is not TOML"),
        (f"a = {'9' * 5_000}", "p", "is not TOML"),
        ('[profile.p]\nurl = "http://a"', "p", "profile is not a table of profiles"),
        ("profiles = 3", "p", "not a table of profiles"),
        ("[profiles.p]\nurl = 3", "p", "url"),
        ("[profiles.p]\n", "p", "url"),
        ('[profiles.p]\nurl = "http://a"\nuri = "x"', "p", "uri"),
        ('[profiles.p]\nurl = "ftp://a"', "p", "no address of an API"),
        ('[profiles.p]\nurl = "http://a"\napi_key_file = "absent"', "p", "`api_key_file`"),
        ('[profiles.p]\nurl = "http://a"\napi_key_env = "UNSET_KEY"', "p", "UNSET_KEY is not set"),
        (
            f'[profiles.p]\nurl = "http://a"\napi_key = "{KEY}"\napi_key_env = "X"',
            "p",
            "names several keys",
        ),
    ],
)
def test_a_bad_profile_is_named(config: Path, text: str, name: str, message: str) -> None:
    config.write_text(text)
    with pytest.raises(SettingsError, match=message) as error:
        chosen(name)
    assert KEY not in error.value.message + error.value.hint


def test_a_key_with_a_line_break_is_refused_without_printing_it(config: Path) -> None:
    config.write_text('[profiles.p]\nurl = "http://a"\napi_key_env = "BROKEN"')
    with pytest.raises(SettingsError, match="malformed") as error:
        chosen("p", BROKEN=f"{KEY}\nX-Other: 1")
    assert KEY not in str(error.value) + error.value.hint
