"""A restored spool and a lake that is ahead of it: nothing is cut that is in no lake."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import apsw
import pyarrow.parquet as pq
import pytest

from headwater.errors import QueryError
from headwater.ingest.spool.copy import copy_spool
from headwater.ingest.spool.reader import SpoolReader
from headwater.ingest.spool.spool import Spool
from headwater.pipelines import archive as pipeline
from headwater.pipelines.lake import Lake

SECOND = 1_000_000
OLD, LOST, NEW = 1_000 * SECOND, 2_000 * SECOND, 3_000 * SECOND


def bodies(name: str, count: int) -> list[bytes]:
    return [json.dumps({"run": {"runId": f"{name}-{number}"}}).encode() for number in range(count)]


def archive(spool: Spool, lake: Lake) -> int:
    """Archive as Spark's workers do; return the number of written events."""
    write = partial(pipeline.write_part, SpoolReader(spool.path), lake, spool.id)
    return pipeline.archive_with(write, spool, lake).events


def in_lake(lake: Lake, spool: Spool) -> list[str]:
    """Return the ids of the runs in a lake, by seq."""
    files = [file for one in lake.ranges(spool.id) for file in one.files]
    tables = [pq.ParquetFile(Path(lake.root, file.name)).read().to_pylist() for file in files]
    rows = sorted((row for table in tables for row in table), key=lambda row: row["seq"])
    return [json.loads(row["body"])["run"]["runId"] for row in rows]


def in_spool(spool: Spool) -> list[str]:
    records = spool.read(0, events_max=1_000, bytes_max=2**30)
    return [json.loads(record.body)["run"]["runId"] for record in records]


def content(lake: Lake) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in Path(lake.root).rglob("*") if path.is_file()}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path / "lake"))


@pytest.fixture
def other(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path / "other"))


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with closing(Spool(tmp_path / "spool.db")) as spool:
        spool.append(bodies("old", 5), received=OLD)
        yield spool


def restored(spool: Spool, lake: Lake, *, lost: int = 5) -> Spool:
    """Archive events that come after a backup, and return the spool of that backup."""
    backup = spool.path.with_name("backup.db")
    copy_spool(spool.path, backup, lambda *_: None)
    spool.append(bodies("lost", lost), received=LOST)
    archive(spool, lake)
    spool.close()
    for path in spool.path.parent.glob("spool.db*"):
        path.unlink()
    shutil.move(backup, spool.path)
    return Spool(spool.path)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (0, "holds 10 events of the spool, and the spool only 5: the spool is older than the lake"),
        (5, "event 6 of the spool is not the one that the lake"),
        (7, "event 6 of the spool is not the one that the lake"),
    ],
)
def test_a_lake_of_another_history_is_refused_unchanged(
    spool: Spool, lake: Lake, new: int, message: str
) -> None:
    with closing(restored(spool, lake)) as again:
        again.append(bodies("new", new), received=NEW)
        before = content(lake)
        for write in (partial(archive, again, lake), partial(pipeline.cut, again, lake, 12)):
            with pytest.raises(QueryError, match=message) as caught:
                write()
            assert "Archive into an empty folder." in caught.value.hint
            assert f"headwater pipeline backfill {lake.root}" in caught.value.hint
        assert content(lake) == before
        assert again.cut_events() == (0, "")
        assert len(in_spool(again)) == 5 + new


def test_an_empty_folder_takes_every_event_of_a_restored_spool(
    spool: Spool, lake: Lake, other: Lake
) -> None:
    with closing(restored(spool, lake)) as again:
        again.append(bodies("new", 7), received=NEW)
        assert archive(again, other) == 12
        assert pipeline.cut(again, other, 12) == 11
        assert in_lake(other, again) == [f"old-{n}" for n in range(5)] + [
            f"new-{n}" for n in range(7)
        ]
        # The lake of the lost events is refused later, too, when it has nothing to be compared.
        with pytest.raises(QueryError, match="lacks events 11 to 11") as caught:
            archive(again, lake)
        assert caught.value.hint == f"Name the lake {other.root}, or an empty folder."


@pytest.mark.parametrize("more", [0, 3])
def test_a_lake_of_as_many_events_is_refused_after_a_cut(
    spool: Spool, lake: Lake, other: Lake, more: int
) -> None:
    with closing(restored(spool, lake)) as again:
        again.append(bodies("new", 5), received=NEW)
        archive(again, other)
        again.append(bodies("more", more), received=NEW + SECOND)
        assert pipeline.cut(again, other, 10 + more) == 9
        with pytest.raises(QueryError, match="event 10 of the spool is not the one"):
            archive(again, lake)


def test_a_retried_event_in_the_same_place_does_not_hide_the_difference(
    spool: Spool, lake: Lake
) -> None:
    spool.dead_letter([(2, "dead")])
    backup = spool.path.with_name("backup.db")
    copy_spool(spool.path, backup, lambda *_: None)
    histories = []
    for path, received in ((spool.path, LOST), (backup, NEW)):
        with closing(Spool(path)) as one:
            one.append(bodies("more", 2), received=received)
            one.retry([2])
            assert one.last() == 8
            histories.append(one.received_at(8))
            if path == spool.path:
                archive(one, lake)
                continue
            with pytest.raises(QueryError, match="event 6 of the spool is not the one"):
                archive(one, lake)
    assert histories[0] == histories[1]


def test_a_lake_takes_the_next_events_of_its_own_spool(spool: Spool, lake: Lake) -> None:
    archive(spool, lake)
    with closing(apsw.Connection(str(spool.path))) as connection:
        connection.execute("DELETE FROM event WHERE seq = 5")
    spool.append(bodies("new", 3), received=NEW)
    assert archive(spool, lake) == 3, "a damaged event is not compared"


def test_events_that_were_cut_come_into_a_new_lake(spool: Spool, lake: Lake, other: Lake) -> None:
    archive(spool, lake)
    assert pipeline.cut(spool, lake, 5) == 4
    with closing(restored(spool, lake)) as again:
        again.append(bodies("new", 7), received=NEW)
        with pytest.raises(QueryError, match="event 6 of the spool is not the one"):
            archive(again, lake)
        assert archive(again, other) == 7, "events 1 to 5 are copied from the lake"
        assert pipeline.cut(again, other, 12) == 7
        assert again.cut_events() == (11, other.root)
        assert in_lake(other, again) == [f"old-{n}" for n in range(5)] + [
            f"new-{n}" for n in range(7)
        ]


def test_a_killed_copy_of_cut_events_is_repeated(
    spool: Spool, lake: Lake, other: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive(spool, lake)
    spool.append(bodies("more", 3), received=LOST)
    archive(spool, lake)
    assert pipeline.cut(spool, lake, 8) == 7
    add = Lake.add

    def add_one_range(self: Lake, spool: str, added: object) -> None:
        if content(other).keys() and any(path.suffix == ".json" for path in content(other)):
            raise KeyboardInterrupt
        add(self, spool, added)  # type: ignore[arg-type]

    monkeypatch.setattr(Lake, "add", add_one_range)
    with pytest.raises(KeyboardInterrupt):
        archive(spool, other)
    assert other.archived(spool.id) == 0
    monkeypatch.undo()
    assert archive(spool, other) == 0
    assert in_lake(other, spool) == in_lake(lake, spool)


def test_a_lake_without_the_events_that_were_cut_is_refused(
    spool: Spool, lake: Lake, other: Lake
) -> None:
    archive(spool, lake)
    archive(spool, other)
    spool.append(bodies("more", 3), received=LOST)
    archive(spool, lake)
    assert pipeline.cut(spool, lake, 8) == 7
    with pytest.raises(QueryError, match="lacks events 6 to 7, which were cut") as caught:
        archive(spool, other)
    assert caught.value.hint == f"Name the lake {lake.root}, or an empty folder."
    shutil.rmtree(lake.root)
    for target in (lake, Lake(f"{other.root}2")):
        with pytest.raises(QueryError, match="lacks events 1 to 7, which were cut") as caught:
            archive(spool, target)
        assert caught.value.hint == "Restore the lake."


def test_a_lake_that_lost_a_manifest_of_cut_events_keeps_their_files(
    spool: Spool, lake: Lake, tmp_path: Path
) -> None:
    archive(spool, lake)
    assert pipeline.cut(spool, lake, 5) == 4
    (tmp_path / "link").symlink_to(lake.root)
    [manifest] = Path(lake.root, "_archived").rglob("*.json")
    manifest.unlink()
    before = content(lake)
    for target in (lake, Lake(str(tmp_path / "link"))):
        with pytest.raises(QueryError, match="lacks events 1 to 4, which were cut") as caught:
            archive(spool, target)
        assert caught.value.hint == "Restore the lake."
    assert content(lake) == before


@pytest.mark.parametrize("data", [None, b"PAR1"])
def test_no_event_is_cut_whose_file_is_not_whole(
    spool: Spool, lake: Lake, data: bytes | None
) -> None:
    archive(spool, lake)
    [path] = Path(lake.root).rglob("*.parquet")
    spool.append(bodies("more", 5), received=LOST)
    archive(spool, lake)
    path.unlink() if data is None else path.write_bytes(data)
    with pytest.raises(
        QueryError, match=rf"lacks files of events .*\(1\): .*{path.name}"
    ) as caught:
        pipeline.cut(spool, lake, 10)
    assert "Nothing was cut." in caught.value.hint
    assert (len(in_spool(spool)), spool.cut_events()) == (10, (0, ""))


def test_no_lake_takes_the_place_of_the_recorded_one_without_its_files(
    spool: Spool, lake: Lake, other: Lake
) -> None:
    for _ in range(2):
        archive(spool, lake)
        archive(spool, other)
        spool.append(bodies("more", 5), received=LOST)
    assert pipeline.cut(spool, lake, 9) == 9
    archive(spool, other)
    [file] = other.ranges(spool.id)[0].files
    whole = other.read(file.name)
    other.remove(file.name)
    with pytest.raises(
        QueryError, match=rf"{other.root} lacks files .* {lake.root}.*\(1\)"
    ) as caught:
        pipeline.cut(spool, other, 15)
    assert f"name the lake {lake.root}" in caught.value.hint
    assert spool.cut_events() == (9, lake.root)
    other.put(file.name, whole)
    assert pipeline.cut(spool, other, 15) == 5
    assert spool.cut_events() == (14, other.root)


def test_the_cut_of_an_older_version_left_nothing_to_compare(
    spool: Spool, lake: Lake, other: Lake
) -> None:
    archive(spool, lake)
    shutil.copytree(lake.root, other.root)
    spool.append(bodies("more", 3), received=LOST)
    assert spool.cut(5, lake=lake.root, events_max=10) == 5
    with pytest.raises(QueryError, match="none of the newest events") as caught:
        archive(spool, other)
    assert caught.value.hint == f"Name the lake {lake.root}, or an empty folder."
    assert archive(spool, lake) == 3


def test_a_file_of_the_lake_that_cannot_be_read_is_named(spool: Spool, lake: Lake) -> None:
    archive(spool, lake)
    [path] = Path(lake.root).rglob("*.parquet")
    path.write_bytes(b"no Parquet")
    with pytest.raises(QueryError, match=f"{path.name} of the lake .* cannot be read") as caught:
        archive(spool, lake)
    assert caught.value.hint == "Restore the lake."
