"""Settings: read from the environment, and nothing guessed."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headwater.errors import SettingsError
from headwater.settings import PREFIX, Settings, load


def test_the_defaults_suit_one_machine() -> None:
    settings = load({})
    assert settings == Settings()
    assert (settings.host, settings.port) == ("127.0.0.1", 8000)
    assert settings.spool_path == Path("~/.headwater/spool.db").expanduser()


def test_variables_set_the_settings() -> None:
    settings = load(
        {
            "HEADWATER_PORT": "9000",
            "HEADWATER_HOME": "/srv/hw",
            "HEADWATER_EVENT_BYTES_MAX": "5",
            "HEADWATER_ALLOW_ANONYMOUS": "true",
            "HEADWATER_HOST": "0.0.0.0",
            "PATH": "/bin",
            "headwater_port": "1",
        }
    )
    assert (settings.port, settings.event_bytes_max, settings.host) == (9000, 5, "0.0.0.0")
    assert settings.home_path == Path("/srv/hw")
    assert settings.spool_path == Path("/srv/hw/spool.db")
    assert load({"HEADWATER_SPOOL": "/x/s.db"}).spool_path == Path("/x/s.db")
    assert load({"HEADWATER_CACHE": "/c"}).cache_path == Path("/c")


def test_an_override_wins_and_none_does_not() -> None:
    assert load({"HEADWATER_PORT": "9000"}, port=7, host=None).port == 7


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HEADWATER_PRT", "1"),
        ("HEADWATER_", "1"),
        ("HEADWATER_PORT", "eighty"),
        ("HEADWATER_PORT", ""),
        ("HEADWATER_PORT", "8000.5"),
        ("HEADWATER_PORT", "65536"),
        ("HEADWATER_PORT", "-1"),
        ("HEADWATER_EVENT_BYTES_MAX", "0"),
        ("HEADWATER_BATCH_BYTES_MAX", "-5"),
        ("HEADWATER_SPOOL_BYTES_MAX", "20GB"),
        ("HEADWATER_FOLD_EVENTS_MAX", "0"),
        ("HEADWATER_FUTURE_SECONDS", "-1"),
        ("HEADWATER_ALLOW_ANONYMOUS", "perhaps"),
        ("HEADWATER_REQUIRE_KEYS", "maybe"),
        ("HEADWATER_REDACTION_KEY", "too short"),
        ("HEADWATER_LOG_LEVEL", "loud"),
        ("HEADWATER_LOG_LEVEL", ""),
        ("HEADWATER_SPOOL", "/"),
        ("HEADWATER_SPOOL", "."),
        ("HEADWATER_HOME", "x\udcff"),
        ("HEADWATER_OIDC_SKEW_SECONDS", "-1"),
        ("HEADWATER_OIDC_SKEW_SECONDS", "1000000"),
        ("HEADWATER_PROXY_ADDRESSES", "proxy.example.com"),
    ],
)
def test_errors_name_the_fault(variable: str, value: str) -> None:
    with pytest.raises(SettingsError) as refusal:
        load({variable: value})
    assert variable in refusal.value.message
    assert refusal.value.exit_code == 2


def test_a_misspelled_variable_gets_a_suggestion() -> None:
    with pytest.raises(SettingsError, match=r"HEADWATER_PRT .* Did you mean HEADWATER_PORT\?"):
        load({"HEADWATER_PRT": "1"})


def test_an_unknown_override_is_refused() -> None:
    with pytest.raises(SettingsError):
        load({}, colour="blue")


def test_the_password_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("s3cret\n", encoding="utf-8")
    assert (
        load(
            {"HEADWATER_NEO4J_PASSWORD_FILE": str(file), "HEADWATER_NEO4J_PASSWORD": "x"}
        ).password()
        == "s3cret"
    )
    assert load({"HEADWATER_NEO4J_PASSWORD": "x"}).password() == "x"
    with pytest.raises(SettingsError, match="HEADWATER_NEO4J_PASSWORD_FILE"):
        load({"HEADWATER_NEO4J_PASSWORD_FILE": str(tmp_path / "none")}).password()


def test_a_password_is_never_shown() -> None:
    assert "hunter2" not in repr(load({"HEADWATER_NEO4J_PASSWORD": "hunter2"}))
    assert "hunter2" not in repr(load({"HEADWATER_REDACTION_KEY": "hunter2" * 3}))


# Settings without which another one is refused.
TLS = {"HEADWATER_TLS_CERT": "cert.pem", "HEADWATER_TLS_KEY": "key.pem"}
OIDC = {
    "HEADWATER_OIDC_ISSUER": "https://idp.example.com",
    "HEADWATER_OIDC_AUDIENCE": "headwater",
    "HEADWATER_OIDC_CLIENT_ID": "page",
    "HEADWATER_PUBLIC_URL": "https://headwater.example.com",
}
COMPANIONS: dict[str, dict[str, str]] = {
    **dict.fromkeys(("tls_cert", "tls_key", "tls_client_ca"), TLS),
    "neo4j_ca": {"HEADWATER_NEO4J_URI": "bolt+s://graph.example.com:7687"},
    **dict.fromkeys(
        (
            "oidc_issuer",
            "oidc_audience",
            "oidc_client_id",
            "oidc_client_secret_file",
            "oidc_roles_file",
        ),
        OIDC,
    ),
}


@pytest.mark.parametrize("field", msgspec.structs.fields(Settings), ids=lambda field: field.name)
def test_every_setting_can_be_set_by_its_variable(field: Any) -> None:
    texts: dict[Any, str] = {int: "7", float: "7", bool: "true"}
    text = texts.get(field.type, "localhost" * 2)
    origin = "http://localhost:3000"
    texts_by_name = {"host": "localhost", "log_format": "json", "log_level": "DEBUG"}
    texts_by_name |= dict.fromkeys(("cors_origins", "tile_origins", "public_url"), origin)
    texts_by_name["neo4j_uri"] = "bolt+s://graph.example.com:7687"
    texts_by_name["proxy_addresses"] = "10.0.0.0/24"
    texts_by_name["oidc_issuer"] = "https://idp.example.com/realms/data"
    texts_by_name["trace_url"] = f"{origin}/{{traceId}}"
    text = texts_by_name.get(field.name, text)
    value: Any = {"7": 7, "true": True}.get(text, text)
    environment = COMPANIONS.get(field.name, {}) | {PREFIX + field.name.upper(): text}
    assert getattr(load(environment), field.name) == value


def test_keys_are_required_on_public_hosts() -> None:
    def needed(**environment: str) -> bool:
        return load(
            {f"HEADWATER_{name}": value for name, value in environment.items()}
        ).keys_required

    assert not needed()
    assert not needed(HOST="::1")
    assert needed(REQUIRE_KEYS="true")
    assert needed(HOST="0.0.0.0")
    assert needed(HOST="10.0.0.1", REQUIRE_KEYS="true")
    assert not needed(HOST="10.0.0.1", ALLOW_ANONYMOUS="true")
    with pytest.raises(SettingsError, match="exclude each other"):
        needed(REQUIRE_KEYS="true", ALLOW_ANONYMOUS="true")


def test_origins_of_other_pages() -> None:
    text = "https://dash.example.com, http://localhost:3000\nhttp://[::1]:8080"
    found = load({"HEADWATER_CORS_ORIGINS": text}).allowed_origins
    assert found == {"https://dash.example.com", "http://localhost:3000", "http://[::1]:8080"}
    assert load({}).allowed_origins == frozenset()


@pytest.mark.parametrize(
    "origin",
    [
        "*",
        "null",
        "dash.example.com",
        "https://*.example.com",
        "https://dash.example.com/",
        "https://dash.example.com/app",
        "https://Dash.example.com",
        "https://dash.example.com:443",
        "http://localhost:80",
        "file://x",
    ],
)
def test_no_origin(origin: str) -> None:
    with pytest.raises(SettingsError, match="HEADWATER_CORS_ORIGINS") as raised:
        load({"HEADWATER_CORS_ORIGINS": origin})
    assert repr(origin) in raised.value.message
    assert raised.value.hint


@pytest.mark.parametrize("password", ["hunter2", "hunter2,2"])
def test_the_password_of_a_proxy_is_not_printed(password: str) -> None:
    with pytest.raises(SettingsError, match="HEADWATER_PROXY_ADDRESSES") as raised:
        load({"HEADWATER_PROXY_ADDRESSES": f"10.0.0.5 http://user:{password}@proxy:3128"})
    assert "hunter2" not in "".join(traceback.format_exception(raised.value))
    assert raised.value.hint


def test_an_empty_home_is_not_the_current_folder() -> None:
    assert load({"HEADWATER_HOME": ""}).home == Settings().home
    with pytest.raises(SettingsError, match="--home is empty"):
        load({"HEADWATER_HOME": "/srv/hw"}, home="")
