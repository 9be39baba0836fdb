"""The lake: names of folders and files, manifests, and the removal of uncommitted files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from headwater.errors import QueryError
from headwater.forgetting.linked_walk import walk
from headwater.pipelines.lake import ArchivedRange, DataFile, Lake, data_name, open_lake, spool_of
from headwater.pipelines.lake_folders import find_lakes, lake_folders, validate_glob


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path / "a lake"))


def test_names_of_folders() -> None:
    def folder(namespace: str | None) -> str:
        return data_name("s", "2026-01-31", namespace, 1, 2).split("/")[1]

    assert folder("spark://prod/a=b") == "namespace=spark%3A%2F%2Fprod%2Fa%3Db"
    assert folder(None) == folder("") == "namespace=__HIVE_DEFAULT_PARTITION__"
    # A namespace of this name has a folder of its own.
    assert folder("__HIVE_DEFAULT_PARTITION__") == "namespace=%5F_HIVE_DEFAULT_PARTITION__"
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
    [
        "s3://KEY:secret-1@bucket/lake",
        "s3a://KEY:sec/ret-1@bucket/x",
        "nosuch://u:secret-1@x",
        "file://u:secret-1@x",
    ],
)
def test_an_address_with_a_password_is_refused_without_it(address: str) -> None:
    with pytest.raises(QueryError, match="without a secret and with known options") as caught:
        Lake(address)
    assert "ret-1" not in caught.value.message + caught.value.hint


def test_an_empty_name_is_not_the_current_folder() -> None:
    for name in ("", " "):
        with pytest.raises(QueryError, match="is empty"):
            Lake(name)


@pytest.mark.parametrize("address", ["nosuch://x", "hdfs://host:99999/x"])
def test_a_store_that_cannot_be_opened_is_an_error_with_a_hint(address: str) -> None:
    with pytest.raises(QueryError, match="cannot be opened") as caught:
        Lake(address)
    assert "s3://" in caught.value.hint


def test_what_a_killed_writer_has_left_is_removed_also_within_the_committed_events(
    lake: Lake,
) -> None:
    old, new = (data_name("s", "2026-01-31", name, 1, 10) for name in ("old", "new"))
    parts = [
        f"{new[: new.rindex('/')]}/.{new.rpartition('/')[2]}.part",
        "_archived/s/.1-10.json.part",
    ]
    others = [data_name("t", "2026-01-31", "n", 1, 10), f"nested/{old}", f"date=1/{old}"]
    for name in (old, new, *parts, *others):
        lake.put(name, b"events")
    lake.add("s", ArchivedRange(1, 10, [DataFile(new, 10, 6)]))
    assert sorted(lake.leftovers("s")) == sorted([old, *parts])
    assert lake.remove_uncommitted("s") == 3
    assert not Path(lake.root, old).parent.exists(), "an empty folder has the namespace"
    left = {str(path.relative_to(lake.root)) for path in Path(lake.root).rglob("*.parquet")}
    assert left == {new, *others}


@pytest.mark.parametrize("size", [None, 5])
def test_the_only_other_copy_of_a_missing_file_stays(lake: Lake, size: int | None) -> None:
    old, new, later = (
        data_name("s", "2026-01-31", name, *seqs)
        for name, seqs in (("old", (1, 10)), ("new", (1, 10)), ("n", (11, 20)))
    )
    for name in (old, later):
        lake.put(name, b"events")
    if size is not None:
        lake.put(new, b"." * size)
    lake.add("s", ArchivedRange(1, 10, [DataFile(new, 10, 6)]))
    assert lake.missing_files("s", 1, 10) == lake.missing_files("s", 10, 99) == [new]
    assert lake.missing_files("s", 11, 99) == []
    assert lake.leftovers("s") == [later]


@pytest.mark.parametrize("name", ["foo", "1-2-3", ".0000000000000001-0000000000000009"])
def test_a_file_that_is_no_manifest_is_named(lake: Lake, name: str) -> None:
    lake.put(f"_archived/s/{name}.json", b"{}")
    for read in (lake.archived, lake.ranges, lake.leftovers, lake.remove_uncommitted):
        with pytest.raises(QueryError, match=f"the manifest _archived/s/{name}.json of") as caught:
            read("s")
        assert caught.value.hint == "Restore the lake."


def test_a_range_beyond_a_gap_is_removed_with_its_manifest(lake: Lake) -> None:
    names = {first: data_name("s", "2026-01-31", "n", first, first + 9) for first in (1, 21)}
    for first, name in names.items():
        lake.put(name, b"events")
        lake.add("s", ArchivedRange(first, first + 9, [DataFile(name, 10, 6)]))
    assert lake.leftovers("s") == [], "only the spool shows whether it has these events"
    assert lake.remove_uncommitted("s") == 1
    assert [one.first for one in lake.ranges("s")] == [1]
    assert lake.missing_files("s", 1, 99) == []


def test_only_the_owner_can_read_a_lake(lake: Lake) -> None:
    umask = os.umask(0)
    try:
        lake.put(data_name("s", "2026-01-31", "n", 1, 10), b"events")
        lake.add("s", ArchivedRange(1, 10, []))
    finally:
        os.umask(umask)
    paths = [Path(lake.root), *Path(lake.root).rglob("*")]
    modes = {(path.is_dir(), path.stat().st_mode & 0o777) for path in paths}
    assert modes == {(True, 0o700), (False, 0o600)}


def test_lakes_below_a_folder_are_found(tmp_path: Path) -> None:
    for name in ("a", "home/b", "home/b/c", "elsewhere"):
        Lake(str(tmp_path / name)).add("s", ArchivedRange(1, 10, []))
    Lake(str(tmp_path / "home/d")).put(data_name("s", "2026-01-31", "n", 1, 10), b"killed")
    (tmp_path / "home" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "home" / "date=2026-01-31" / "namespace=n").mkdir(parents=True)
    home = tmp_path / "home"
    assert sorted(find_lakes(home, walk(home))) == [
        home / name for name in ("b", "b/c", "d", "link")
    ]
    assert {path.name for path in lake_folders(home / "d")} == {"date=2026-01-31"}
    Lake(str(home)).add("s", ArchivedRange(1, 10, []))
    assert next(find_lakes(home, walk(home))) == home


def test_a_lake_is_known_by_each_of_its_names(lake: Lake, tmp_path: Path) -> None:
    Path(lake.root).mkdir()
    (tmp_path / "link").symlink_to(lake.root)
    assert lake.is_at(f"file://{tmp_path}/x/../link")
    assert not lake.is_at(str(tmp_path))
    assert not lake.is_at("s3://bucket/lake")


@pytest.mark.parametrize(
    "path", ["s3a://bucket/2026-01-0?.jsonl", "hdfs://nn:8020/day=0?/ns=a", "/data/?.jsonl"]
)
def test_a_question_mark_of_a_glob_is_no_query(path: str) -> None:
    validate_glob(path)


def test_a_query_of_a_glob_is_one() -> None:
    with pytest.raises(QueryError, match="without a secret and"):
        validate_glob("abfss://c@a.dfs.core.windows.net/x?sig=S3CRET")


def test_a_glob_is_not_a_lake(tmp_path: Path) -> None:
    assert open_lake(f"{tmp_path}/*/events") is None
    assert open_lake("nosuchscheme://bucket/lake") is None
    found = open_lake(str(tmp_path))
    assert found is not None
    assert (found.root, found.spools()) == (str(tmp_path), [])
