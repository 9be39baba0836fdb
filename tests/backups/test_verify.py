"""Verified backups: every damage is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.backups.backup import back_up
from headwater.backups.manifest import BackupError
from headwater.backups.restore import restore
from headwater.backups.verify import verify
from headwater.settings import Settings
from tests.backups.test_backup import settings  # noqa: F401
from tests.ingest.spool.test_damage import change


def test_every_damage_is_found(settings: Settings, tmp_path: Path) -> None:  # noqa: F811
    target = tmp_path / "one"
    back_up(settings, target)
    key = target / "redaction.key"
    key.write_text("another secret of it")
    (target / "policies" / "team" / "owners.yaml").unlink()
    # A changed event, with its file checksum corrected: its own checksum shows it.
    change(target / "spool.db", "UPDATE event SET body = 'x' WHERE seq IN (3, 4)")
    problems = verify(target)[1]
    assert len(problems) == 4
    text = "\n".join(problems)
    assert "redaction.key has changed: 20 bytes" in text
    assert "policies/team/owners.yaml is missing" in text
    assert "spool.db has changed" in text
    assert "the spool's events 3 to 4 are damaged" in text
    with pytest.raises(BackupError, match=r"is damaged: .*owners\.yaml is missing"):
        restore(Settings(home=str(tmp_path / "new")), target)
    assert not (tmp_path / "new").exists()


def test_a_spool_of_another_position_is_found(settings: Settings, tmp_path: Path) -> None:  # noqa: F811
    target = tmp_path / "one"
    back_up(settings, target)
    change(target / "spool.db", "DELETE FROM event WHERE seq = 60")
    change(target / "spool.db", "UPDATE sqlite_sequence SET seq = 59 WHERE name = 'event'")
    assert any("spool.db ends at event 59 of" in problem for problem in verify(target)[1])
