"""Code that producers sent: what is cached and shared, and the bounds of one assessment."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from headwater.bounded_process import OutOfBoundsError, OutOfTimeError, call_bounded
from headwater.code_analysis.files import NO_TIME
from headwater.code_analysis.model import References
from headwater.code_analysis.names import KnownColumns
from headwater.impact import read_source as module
from headwater.impact.read_source import ResultCache, SourceReader
from tests.code_analysis.slow_code import SLOW_SQL

NONE = KnownColumns(())
WIDE = KnownColumns(((("w",), tuple(f"column_{number}" for number in range(2_000))),))
WIDE_SQL = "".join(f"insert into o{number} select * from w;" for number in range(40))


@dataclass
class Calls:
    """A stand-in for calls in children: it counts them, and each takes some seconds of a clock."""

    takes: float = 0.0
    error: OutOfBoundsError | None = None
    now: float = 1_000.0
    reads: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def __call__(self, function: Any, *arguments: Any, seconds: float, cpu_seconds: int) -> Any:
        assert cpu_seconds == module.CPU_SECONDS_MAX
        self.reads.append(arguments[0])
        self.seconds.append(seconds)
        self.now += min(self.takes, max(seconds, 0.0))
        if self.takes >= seconds:
            raise OutOfTimeError
        if self.error is not None:
            raise self.error
        return function(*arguments)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    calls = Calls()
    monkeypatch.setattr(module, "_cache", ResultCache(module.CACHED_BYTES_MAX))
    monkeypatch.setattr(module, "call_bounded", calls)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: calls.now))
    return calls


def read(
    reader: SourceReader | None = None,
    sql: str = "select a from t",
    columns: KnownColumns = NONE,
    *,
    is_hidden: bool = False,
) -> References:
    """Return the references of SQL; each reader is that of another assessment."""
    reader = reader or SourceReader(math.inf)
    return reader.read([(sql, "sql")], "", columns, is_hidden=is_hidden)


def test_the_result_that_was_used_longest_ago_goes() -> None:
    cache = ResultCache(10)
    cache.put(b"a", b"1234")
    cache.put(b"b", b"1234")
    assert cache.get(b"a") == b"1234"
    cache.put(b"c", b"1234")
    assert [cache.get(key) for key in (b"a", b"b", b"c")] == [b"1234", None, b"1234"]
    cache.put(b"a", b"123456")
    assert [cache.get(key) for key in (b"a", b"c")] == [b"123456", b"1234"]


def test_large_results_are_not_kept() -> None:
    cache = ResultCache(10 * 2**20)
    cache.put(b"a", b"x" * (2**20 + 1))
    assert cache.get(b"a") is None


def test_the_same_code_is_read_once(calls: Calls) -> None:
    found = [read() for _ in range(3)]
    assert found[0] == found[1] == found[2]
    assert [one.column for one in found[0].read] == ["a"]
    known = KnownColumns(((("t",), ("a", "b")),))
    assert read(sql="select * from t", columns=known).outputs == ("a", "b")
    assert read(sql="select * from t").outputs == ()
    assert len(calls.reads) == 3


def test_many_references_of_short_code_are_kept_packed(calls: Calls) -> None:
    for _ in range(2):
        assert len(read(sql=WIDE_SQL, columns=WIDE).flows) == 80_000
    assert len(calls.reads) == 1
    assert module._cache._bytes < 2**19


@pytest.mark.usefixtures("calls")
def test_jobs_with_the_same_code_share_its_references() -> None:
    reader = SourceReader(math.inf)
    sources = [("select a from t", "sql"), ("spark.table('t').select('b')", "python")]
    first, second = (reader.read(sources, "", NONE, is_hidden=False) for _ in range(2))
    assert first is second
    assert [one.column for one in first.read] == ["a", "b"]


@pytest.mark.usefixtures("calls")
def test_references_beyond_the_memory_of_an_assessment_are_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "BYTES_MAX", 10_000)
    reader = SourceReader(math.inf)
    assert read(reader, WIDE_SQL, WIDE).unknown == (module._TOO_LARGE,)
    assert [one.column for one in read(reader).read] == ["a"]
    found = [read(reader, f"select a{number} from t") for number in range(40)]
    assert found[-1].unknown == (module._TOO_LARGE,)


def test_code_that_exceeds_a_bound_is_remembered(calls: Calls) -> None:
    calls.error = OutOfBoundsError("takes more than 4 s of processor time")
    for _ in range(3):
        assert read().unknown == ("it takes more than 4 s of processor time",)
    assert len(calls.reads) == 1


def test_the_kernel_ends_slow_code_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_cache", ResultCache(1_000_000))
    monkeypatch.setattr(module, "CPU_SECONDS_MAX", 0)
    assert read(sql=SLOW_SQL).unknown == ("it takes more than 0 s of processor time",)
    monkeypatch.setattr(module, "call_bounded", None)
    assert read(sql=SLOW_SQL).unknown == ("it takes more than 0 s of processor time",)


def test_no_time_is_not_remembered(calls: Calls) -> None:
    assert read(SourceReader(calls.now)).unknown == (NO_TIME,)
    calls.takes = 5.0
    assert read(SourceReader(calls.now + 4.0)).unknown == (NO_TIME,)
    assert calls.seconds == [0.0, 4.0]
    assert read(SourceReader(calls.now + 6.0)).unknown == ()


def test_all_code_of_an_assessment_has_ten_seconds(calls: Calls) -> None:
    calls.takes = 4.0
    reader = SourceReader(math.inf)
    found = [read(reader, f"select a{number} from t") for number in range(5)]
    assert [one.unknown for one in found] == [(), (), (NO_TIME,), (NO_TIME,), (NO_TIME,)]
    assert calls.now == 1_000.0 + module.SECONDS_MAX
    # What was read is cached for the next assessment, so that it comes further.
    reader = SourceReader(math.inf)
    found = [read(reader, f"select a{number} from t") for number in range(5)]
    assert [one.unknown for one in found] == [(), (), (), (), (NO_TIME,)]


def test_the_code_of_hidden_jobs_takes_no_time_from_the_others(calls: Calls) -> None:
    calls.takes = 2.0
    reader = SourceReader(math.inf)
    hidden = [read(reader, f"select h{one} from t", is_hidden=True) for one in range(30)]
    assert [one.unknown for one in hidden[:2]] == [(), (NO_TIME,)]
    assert calls.now == 1_000.0 + module.HIDDEN_SECONDS_MAX
    visible = [read(reader, f"select a{one} from t") for one in range(4)]
    assert [one.unknown for one in visible] == [()] * 4


def test_a_visible_job_is_read_though_a_hidden_one_has_its_code(calls: Calls) -> None:
    calls.takes = 5.0
    reader = SourceReader(math.inf)
    assert read(reader, is_hidden=True).unknown == (NO_TIME,)
    assert read(reader).unknown == ()


def test_a_real_child_reads_packed_references() -> None:
    arguments = ("select a from t", "sql", "", NONE)
    assert isinstance(call_bounded(module._packed_references, *arguments), bytes)
