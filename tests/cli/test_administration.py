"""Entries of commands in the access log."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from headwater.access.log import AccessLog
from headwater.cli.administration import PRINCIPAL, access_store, record
from headwater.settings import load


def test_a_command_is_recorded_with_its_user(tmp_path: Path) -> None:
    settings = load({"HEADWATER_HOME": str(tmp_path)})
    record(settings, "rebuild", events=3)
    record(settings, "restore", "failed")
    with access_store(settings) as store:
        newest, first = AccessLog(store).entries(first=2)
    user = pwd.getpwuid(os.getuid()).pw_name
    assert (first.principal, first.action, first.outcome) == (PRINCIPAL, "rebuild", "done")
    assert first.detail == {"user": user, "events": 3}
    assert (newest.action, newest.outcome, newest.detail) == ("restore", "failed", {"user": user})
