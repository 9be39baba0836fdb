"""Files that settings name: what is no file of a few megabytes is an error and blocks nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.access.oidc.roles import read_roles
from headwater.client.profiles import read_profiles
from headwater.errors import SettingsError
from headwater.governance.policies.files import read_policy_file
from headwater.governance.policies.models import PolicyError
from headwater.graphql.persisted_queries import read_trusted_queries
from headwater.health.alerts.receivers import load_receivers
from headwater.schema import naming_rules, retention
from headwater.schema.settings_files import BYTES_MAX, read_settings_file
from headwater.settings import Settings

READERS: list[Callable[[Path], object]] = [
    naming_rules.read_rules,
    retention.read_rules,
    read_profiles,
    read_trusted_queries,
    lambda path: read_roles(path, "groups"),
    lambda path: load_receivers(Settings(alert_receivers=str(path))),
    lambda path: Settings(neo4j_password_file=str(path)).password(),
]


@pytest.mark.parametrize("reader", READERS)
def test_a_device_is_refused(reader: Callable[[Path], object]) -> None:
    with pytest.raises(SettingsError, match="it is no regular file"):
        reader(Path("/dev/null"))


def test_a_large_file_a_folder_and_a_missing_one_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "large"
    with file.open("wb") as large:
        large.truncate(BYTES_MAX + 1)
    with pytest.raises(OSError, match="more than 8,388,608 bytes"):
        read_settings_file(file)
    with pytest.raises(OSError, match="no regular file"):
        read_settings_file(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_settings_file(tmp_path / "none")


def test_a_byte_order_mark_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("é", encoding="utf-8-sig")
    assert read_settings_file(tmp_path / "file") == "é"


def test_a_policy_that_is_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(PolicyError, match=r"pipe\.yaml: cannot be read: it is no regular file"):
        read_policy_file(tmp_path / "pipe.yaml")
