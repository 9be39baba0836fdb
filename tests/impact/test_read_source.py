"""The cache of read code: what it keeps, and that bytes bound it."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.bounded_process import call_bounded
from headwater.code_analysis.names import KnownColumns
from headwater.impact import read_source as module
from headwater.impact.read_source import ResultCache, read_source

NONE = KnownColumns(())


def test_the_result_that_was_used_longest_ago_goes() -> None:
    cache = ResultCache(10)
    cache.put(b"a", b"1234")
    cache.put(b"b", b"1234")
    assert cache.get(b"a") == b"1234"
    cache.put(b"c", b"1234")
    assert [cache.get(key) for key in (b"a", b"b", b"c")] == [b"1234", None, b"1234"]
    cache.put(b"a", b"123456")
    assert [cache.get(key) for key in (b"a", b"c")] == [b"123456", b"1234"]


def test_the_same_code_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_cache", ResultCache(1_000_000))
    reads: list[str] = []

    def counted(function: Any, *arguments: Any) -> Any:
        reads.append(arguments[0])
        return call_bounded(function, *arguments)

    monkeypatch.setattr(module, "call_bounded", counted)
    found = [read_source("select a from t", "sql", "", NONE) for _ in range(3)]
    assert found[0] == found[1] == found[2]
    assert [one.column for one in found[0].read] == ["a"]
    known = KnownColumns(((("t",), ("a", "b")),))
    assert read_source("select * from t", "sql", "", known).outputs == ("a", "b")
    assert read_source("select * from t", "sql", "", NONE).outputs == ()
    assert len(reads) == 3


def test_large_results_of_short_code_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ResultCache(10 * 2**20)
    monkeypatch.setattr(module, "_cache", cache)
    wide = KnownColumns(((("w",), tuple(f"column_{number}" for number in range(2_000))),))
    source = "".join(f"insert into o{number} select * from w;" for number in range(40))
    assert len(read_source(source, "sql", "", wide).flows) > 10_000
    assert not cache._results
