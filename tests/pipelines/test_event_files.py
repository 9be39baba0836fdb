"""Archives of events: columns of a lake, and paths with glob characters.

test_backfill.py reads them.
"""

from __future__ import annotations

from headwater.pipelines.event_files import _escape_glob, is_own


def test_a_lake_is_known_by_its_columns() -> None:
    assert is_own(["spool", "seq", "received", "event_time", "checksum", "body"])
    assert not is_own(["received", "body"])


def test_glob_characters_are_escaped() -> None:
    assert _escape_glob("/a[1]/{b}*?.json") == r"/a\[1\]/\{b\}\*\?.json"
    assert _escape_glob("/plain/a.json") == "/plain/a.json"
