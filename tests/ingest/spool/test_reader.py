"""Reading the stored events of a spool."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import SpoolFullError
from headwater.ingest.spool.reader import SpoolReader
from headwater.ingest.spool.spool import Spool


def test_events_come_back_in_either_order_while_more_are_appended(tmp_path: Path) -> None:
    spool, reader = Spool(tmp_path / "spool.db"), SpoolReader(tmp_path / "spool.db")
    assert (reader.count(), list(reader.bodies(newest_first=True))) == (0, [])
    spool.append([b"1", b"2"], received=1)
    spool.append([b"3"], received=2)
    assert list(reader.bodies(newest_first=True)) == [(3, b"3"), (2, b"2"), (1, b"1")]
    oldest = reader.bodies(newest_first=False)
    assert next(oldest) == (1, b"1")
    spool.append([b"4"], received=3)
    assert reader.count() == 4
    # The reader returns the events of the moment at which it started.
    assert list(oldest) == [(2, b"2"), (3, b"3")]
    assert (reader.body(2), reader.body(5)) == (b"2", None)
    spool.close()


def test_a_missing_spool_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpoolFullError, match="cannot be read"):
        SpoolReader(tmp_path / "nothing.db").count()
    assert not (tmp_path / "nothing.db").exists()
