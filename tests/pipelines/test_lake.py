"""The lake: names of folders and files, manifests, and the removal of uncommitted files."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import QueryError
from headwater.pipelines.lake import ArchivedRange, DataFile, Lake, data_name, open_lake, spool_of


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path / "a lake"))


def test_names_of_folders() -> None:
    def folder(namespace: str | None) -> str:
        return data_name("s", "2026-01-31", namespace, 1, 2).split("/")[1]

    assert folder("spark://prod/a=b") == "namespace=spark%3A%2F%2Fprod%2Fa%3Db"
    assert folder(None) == folder("") == "namespace=__HIVE_DEFAULT_PARTITION__"
    long = [folder("é" * 99 + end) for end in "ab"]
    assert all(len(name) < 200 for name in long)
    assert (long[0] != long[1], "%-" in long[0]) == (True, False)
    assert spool_of(f"/x/{data_name('a-b', '2026-01-31', 'n', 1, 2)}") == "a-b"
    assert spool_of("file:///x/part-0.parquet") is None


def test_a_gap_ends_the_archived_range(lake: Lake) -> None:
    for first, last in ((1, 10), (11, 30), (41, 50)):
        lake.add("s", ArchivedRange(first, last, [DataFile("f", 1, 1)]))
    assert (lake.archived("s"), lake.archived("t"), lake.spools()) == (30, 0, ["s"])


def test_uncommitted_files_are_removed_and_committed_ones_stay(lake: Lake) -> None:
    committed = data_name("s", "2026-01-31", "n", 1, 10)
    partial = data_name("s", "2026-01-31", "n", 11, 20)
    other = data_name("t", "2026-01-31", "n", 11, 20)
    for name in (committed, partial, other):
        lake.put(name, b"events")
    lake.add("s", ArchivedRange(1, 10, [DataFile(committed, 10, 6)]))
    assert lake.remove_uncommitted("s") == 1
    left = {str(path.relative_to(lake.root)) for path in Path(lake.root).rglob("*.parquet")}
    assert left == {committed, other}


@pytest.mark.parametrize(
    "address",
    ["s3://KEY:secret-1@bucket/lake", "s3a://KEY:sec/ret-1@bucket/x", "nosuch://u:secret-1@x"],
)
def test_an_address_with_a_password_is_refused_without_it(address: str) -> None:
    with pytest.raises(QueryError, match="must not hold a password") as caught:
        Lake(address)
    assert "ret-1" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("address", ["nosuch://x", "s3://[bad", "hdfs://host:99999/x"])
def test_a_store_that_cannot_be_opened_is_an_error_with_a_hint(address: str) -> None:
    with pytest.raises(QueryError, match="cannot be opened") as caught:
        Lake(address)
    assert "s3://" in caught.value.hint


def test_a_glob_is_not_a_lake(tmp_path: Path) -> None:
    assert open_lake(f"{tmp_path}/*/events") is None
    assert open_lake("nosuchscheme://bucket/lake") is None
    found = open_lake(str(tmp_path))
    assert found is not None
    assert (found.root, found.spools()) == (str(tmp_path), [])
