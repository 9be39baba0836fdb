"""F29: wrong configurations. Nothing starts, and the message names the setting."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import msgspec
import pytest

from headwater.errors import SettingsError
from headwater.settings import PREFIX, Settings, load

POSITIVE = (
    "event_bytes_max",
    "batch_bytes_max",
    "spool_bytes_max",
    "fold_events_max",
    "query_cost_max",
    "session_seconds",
    "heartbeat_timeout_seconds",
    "slow_event_seconds",
    "connections_max",
    "body_memory_max",
)
NOT_NEGATIVE = ("stream_lag_limit", "future_seconds", "storage_price", "storage_cost_target")
NO_ORIGINS = (
    "*",
    "example.com",
    "https://",
    "https://Example.com",
    "https://example.com/",
    "https://example.com:443",
    "http://example.com:80",
    "ftp://example.com",
    "https://example.com:0",
    "https://exa mple.com",
    "null",
)
NO_NEO4J = (
    "",
    "127.0.0.1:7687",
    "ftp://127.0.0.1",
    "bolt://",
    "http://a:7474",
    "bolt+x://a",
    "bolt://a b",
)


def typed(kind: type) -> list[str]:
    """Return the names of the settings of a type."""
    return [field.name for field in msgspec.structs.fields(Settings) if field.type is kind]


def wrong_values() -> list[tuple[str, str]]:
    """Return settings with a wrong value each."""
    cases = list(product(typed(int), ("", "many", "1.5", "1 000")))
    cases += product(typed(bool), ("", "perhaps", "2"))
    cases += product(typed(float), ("", "cheap", "inf", "nan"))
    cases += product(POSITIVE, ("0", "-1"))
    cases += [(name, "-1") for name in NOT_NEGATIVE]
    cases += [("port", value) for value in ("-1", "65536", "http")]
    cases += product(
        ("cors_origins", "tile_origins"), (*NO_ORIGINS, f"https://a.example {NO_ORIGINS[0]}")
    )
    cases += [
        ("public_url", value) for value in ("example.com", "https://", "ftp://a", "https://a?b")
    ]
    cases += [("trace_url", value) for value in ("example.com/{traceId}", "https://a/trace")]
    cases += [("neo4j_uri", value) for value in NO_NEO4J]
    cases += [("redaction_key", "short"), ("redaction_key", "x" * 15)]
    return cases


def misspelled() -> list[str]:
    """Return the name of every setting with its last letter doubled."""
    return [f"{field.name}{field.name[-1]}" for field in msgspec.structs.fields(Settings)]


def test_there_are_a_hundred() -> None:
    assert len(wrong_values()) >= 100


@pytest.mark.parametrize(("name", "value"), wrong_values())
def test_a_wrong_value_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(SettingsError) as refusal:
        load({f"{PREFIX}{name.upper()}": value})
    assert f"{PREFIX}{name.upper()}" in refusal.value.message
    assert refusal.value.exit_code == 2


@pytest.mark.parametrize("name", misspelled())
def test_an_unknown_setting_is_refused_with_the_one_meant(name: str) -> None:
    with pytest.raises(SettingsError, match=f"Did you mean {PREFIX}{name[:-1].upper()}\\?"):
        load({f"{PREFIX}{name.upper()}": "1"})


def test_settings_that_exclude_each_other() -> None:
    with pytest.raises(SettingsError, match="exclude each other"):
        load({f"{PREFIX}REQUIRE_KEYS": "true", f"{PREFIX}ALLOW_ANONYMOUS": "true"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "setting", "value"),
    [
        ("serve", "HOST", "0.0.0.0"),
        ("serve", "NAMING_FILE", "nowhere.toml"),
        ("detect", "ALERT_RECEIVERS", "nowhere.toml"),
        ("serve", "NEO4J_PASSWORD_FILE", "nowhere"),
        ("worker", "FOLD_EVENTS_MAX", "0"),
        ("worker", "NEO4J_URI", "ftp://127.0.0.1"),
    ],
)
def test_no_program_starts_with_it(tmp_path: Path, command: str, setting: str, value: str) -> None:
    environment = {
        name: text for name, text in os.environ.items() if not name.startswith(PREFIX)
    } | {f"{PREFIX}HOME": str(tmp_path), f"{PREFIX}{setting}": value}
    ended = subprocess.run(
        [sys.executable, "-m", "headwater", command],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    printed = ended.stderr + ended.stdout
    print(printed)
    assert ended.returncode in (2, 3)
    assert "Traceback" not in printed
    assert len(printed) < 2_000
    assert f"{PREFIX}{setting}" in printed or value in printed or "ALLOW_ANONYMOUS" in printed
