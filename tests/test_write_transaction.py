"""One transaction of SQLite: all or nothing, and no other writer between its reads and writes."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from headwater.write_transaction import write_transaction


def test_all_or_nothing_and_no_other_writer(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    with closing(apsw.Connection(path)) as one, closing(apsw.Connection(path)) as other:
        one.execute("CREATE TABLE t(x)")
        with write_transaction(one):
            assert one.execute("SELECT count(*) FROM t").get == 0
            with pytest.raises(apsw.BusyError), write_transaction(other):
                pass
            one.execute("INSERT INTO t VALUES(1)")
        with pytest.raises(apsw.SQLError, match="no such table"), write_transaction(one):
            one.execute("INSERT INTO t VALUES(2); INSERT INTO missing VALUES(3)")
        assert other.execute("SELECT x FROM t").fetchall() == [(1,)]
