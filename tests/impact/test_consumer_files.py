"""The files of jobs: merged when they are needed, once for all jobs, and within bounds."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Iterable

import pytest

from headwater.code_analysis.files import NO_TIME, CodeFile
from headwater.code_analysis.model import References, merge_references
from headwater.impact import consumer_files
from headwater.impact.consumer_files import ConsumerFiles
from headwater.impact.model import Consumer


def file(path: str, *words: str, makes: str = "") -> CodeFile:
    made = frozenset({(makes,)} if makes else ())
    return CodeFile(path, made, References(words=frozenset(words)))


@pytest.fixture
def merges(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the number of files of each merge."""
    counts: list[int] = []

    def counted(pieces: Iterable[References]) -> References:
        listed = list(pieces)
        counts.append(len(listed))
        return merge_references(listed)

    monkeypatch.setattr(consumer_files, "merge_references", counted)
    return counts


def code_of(files: ConsumerFiles, path: str, *tables: str) -> Consumer:
    group = files.find(path, tables)
    assert group is not None
    return group.as_code_of(Consumer("job:etl:j"))


def test_files_are_merged_once_for_all_jobs_with_the_same_ones(merges: list[int]) -> None:
    files = ConsumerFiles([file(f"d{one}/m.py", f"word{one}") for one in range(20)], math.inf)
    jobs = [code_of(files, "m.py") for _ in range(60)]
    assert merges == []
    codes = {id(job.code) for job in jobs}
    assert (len(codes), merges) == (1, [20])
    assert jobs[0].code is not None
    assert len(jobs[0].code.words) == 20
    assert {job.path for job in jobs} == {"d0/m.py"}


def test_finding_files_copies_none_of_their_numbers() -> None:
    files = ConsumerFiles([file("m.sql", makes=f"a{one}") for one in range(20_000)], math.inf)
    tracemalloc.start()
    groups = [files.find("m.sql", [f"a{one}"]) for one in range(300)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(groups) == 300
    assert peak < 2**20


def test_the_files_of_a_path_and_of_outputs_count_together() -> None:
    codes = [file("o.sql", "a", makes="o"), file("jobs/j.sql", "b"), file("p.sql", "c", makes="p")]
    files = ConsumerFiles(codes, math.inf)
    both = code_of(files, "repo/jobs/j.sql", "db.o")
    assert both.code == References(words=frozenset("ab"))
    assert both.path == "o.sql"
    assert files.find("", []) is None
    assert files.find("x.sql", ["db.q"]) is None


def test_one_file_is_not_copied(merges: list[int]) -> None:
    code = file("j.sql", "a")
    assert code_of(ConsumerFiles([code], math.inf), "j.sql").code is code.references
    assert merges == []


def test_files_beyond_what_is_merged_are_unknown(
    merges: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer_files, "MERGED_MAX", 100)
    codes = [file(f"d{one}/m.py", *map(str, range(19))) for one in range(3)]
    codes += [file(f"o{one}.sql", makes=f"o{one}") for one in range(10)]
    files = ConsumerFiles(codes, math.inf)
    found = [code_of(files, "m.py", f"o{one}").code for one in range(10)]
    unknown = [one.unknown for one in found if one is not None]
    assert unknown == [()] + [("too many files have its path or make its outputs",)] * 9
    assert merges == [4]
    assert code_of(files, "", "o1").code == References()


def test_files_that_are_needed_too_late_are_unknown(merges: list[int]) -> None:
    files = ConsumerFiles([file("a/m.py"), file("b/m.py")], -math.inf)
    code = code_of(files, "m.py").code
    assert code is not None
    assert code.unknown == (NO_TIME,)
    assert merges == []
