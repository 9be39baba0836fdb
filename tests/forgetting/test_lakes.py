"""Lakes below the home and elsewhere: rewritten or refused, and never taken for other files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pyarrow.parquet as pq
import pytest

from headwater.errors import QueryError, SpoolFullError
from headwater.ingest.receive.forgotten import hash_value, mask_of
from headwater.ingest.spool.reader import SpoolReader
from headwater.ingest.spool.spool import Spool
from headwater.pipelines import archive as pipeline
from headwater.pipelines.lake import ArchivedRange, Lake
from headwater.settings import Settings
from tests.forgetting.test_forget import RECEIVED, TRACES, VALUE, forget, holding, settings  # noqa: F401
from tests.run_builders import run
from tests.test_addresses import SECRET_STORES


def archive(settings: Settings, lake: Lake, *, cut: int = 0) -> str:  # noqa: F811
    """Archive the spool of a home in parts of two events; return the id of the spool."""
    with closing(Spool(settings.spool_path)) as spool:
        for first in range(lake.archived(spool.id) + 1, spool.last() + 1, 2):
            last = min(first + 1, spool.last())
            files = pipeline.write_part(SpoolReader(spool.path), lake, spool.id, first, last)
            lake.add(spool.id, ArchivedRange(first, last, sorted(files)))
        if cut:
            pipeline.cut(spool, lake, cut, pause=lambda _: None)
        return spool.id


def seqs(lake: Lake) -> list[int]:
    """Return the seqs of every event in the files of a lake, by seq."""
    tables = [pq.read_table(path, partitioning=None) for path in Path(lake.root).rglob("*.parquet")]
    return sorted(seq for table in tables for seq in table.column("seq").to_pylist())


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(params=["lake", "replaced/lake", "."])
def inner(settings: Settings, request: pytest.FixtureRequest) -> Lake:  # noqa: F811
    """Return a lake in the home that no setting and no spool names."""
    return Lake(str(settings.home_path / request.param))


def test_a_lake_in_the_home_is_rewritten_before_a_cut_too(
    settings: Settings,  # noqa: F811
    inner: Lake,
) -> None:
    spool_id = archive(settings, inner)
    code, facts = forget(settings, VALUE, "--yes")
    assert (code, facts["counts"]["events of the lake"]) == (0, 5)
    assert holding(settings.home_path) == []
    assert seqs(inner) == list(range(1, 8))
    assert inner.missing_files(spool_id, 1, 7) == []
    archive(settings, inner, cut=7)
    assert seqs(inner) == list(range(1, 8))


def test_a_lake_that_is_left_out_loses_nothing(
    settings: Settings,  # noqa: F811
    inner: Lake,
) -> None:
    archive(settings, inner, cut=7)
    before = content(Path(inner.root) / "_archived")
    code, facts = forget(settings, VALUE, "--yes", "--without-lake")
    assert (code, "events of the lake" in facts["counts"]) == (0, False)
    assert seqs(inner) == list(range(1, 8))
    assert content(Path(inner.root) / "_archived") == before


def test_a_lake_of_cut_events_without_its_manifests_loses_nothing(
    settings: Settings,  # noqa: F811
    inner: Lake,
) -> None:
    archive(settings, inner, cut=7)
    shutil.rmtree(Path(inner.root) / "_archived")
    with pytest.raises(QueryError, match=r"events 1 to 6, which are in the lake .* not all there"):
        forget(settings, VALUE, "--yes")
    assert forget(settings, VALUE, "--yes", "--without-lake")[0] == 0
    assert seqs(inner) == list(range(1, 8))


def test_the_files_of_another_spool_stay_and_are_named(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
) -> None:
    lake = Lake(str(settings.home_path / "lake"))
    other = Settings(home=str(tmp_path / "other"))
    with closing(Spool(other.spool_path)) as spool:
        events = run("r1", "load", [VALUE], ["calm"])
        spool.append([json.dumps(event).encode() for event in events], received=RECEIVED)
    archive(settings, lake)
    other_id = archive(other, lake, cut=2)
    code, facts = forget(settings, VALUE, "--yes")
    [file] = [file for one in lake.ranges(other_id) for file in one.files]
    reason = "it is of another spool, and has the value: forget it there, with --lake"
    assert facts["problems"] == [{"path": str(Path(lake.root) / file.name), "problem": reason}]
    assert (code, facts["counts"]["files of other spools"]) == (1, 1)
    assert seqs(lake) == sorted([*range(1, 8), 1, 2])
    assert forget(other, VALUE, "--yes", "--lake", lake.root)[0] == 0
    assert holding(settings.home_path) == []
    assert lake.missing_files(other_id, 1, 2) == []


@pytest.mark.parametrize("place", ["home/lake", "lake"])
def test_a_file_of_a_lake_that_nobody_owns_is_searched(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
    place: str,
) -> None:
    lake = Lake(str(tmp_path / place))
    spool_id = archive(settings, lake, cut=7)
    path = min(Path(lake.root).rglob("*-0000000000000001-*.parquet"))
    data = path.read_bytes()
    manifests = Path(lake.root, "_archived", spool_id)
    copies = [path.with_name(f"{path.name}.bak"), path.parent.with_name(path.name)]
    notes = [manifests / "note.txt", path.with_name(f".{path.name}.crc"), manifests.parent / "x"]
    named = path.with_name(f"{VALUE}.txt")
    for copy in copies:
        copy.write_bytes(data)
    for note in notes:
        note.write_text(f"of {VALUE}")
    for calm in (named, path.with_name("calm"), manifests / "calm"):
        calm.write_text("calm")
    others = sorted(map(str, [*copies, *notes, named]))
    for word in ("--dry-run", "--yes"):
        code, facts = forget(settings, VALUE, word)
        assert facts["counts"]["unknown files of the lake"] == 6
        assert (code, sorted(problem["path"] for problem in facts["problems"])) == (1, others)
        reasons = {problem["problem"] for problem in facts["problems"]}
        assert reasons == {"no manifest names it, and it has the value: remove it"}
    for other in others:
        Path(other).unlink()
    assert forget(settings, VALUE, "--yes")[:1] == (0,)


def test_a_lake_that_is_not_there_is_refused_before_anything_changes(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
) -> None:
    forget(settings, VALUE, "--dry-run")
    before = content(settings.home_path)
    (tmp_path / "empty").mkdir()
    for name in ("none", "empty"):
        for word in ("--yes", "--dry-run"):
            with pytest.raises(QueryError, match=f"{name} has no events of the spool") as caught:
                forget(settings, VALUE, word, "--lake", str(tmp_path / name))
            assert "--lake" in caught.value.hint
    assert not (tmp_path / "none").exists()
    del before[settings.spool_path]
    after = content(settings.home_path)
    assert {path: after[path] for path in before} == before
    lake = Lake(str(tmp_path / "lake"))
    archive(settings, lake, cut=7)
    Path(lake.root).rename(tmp_path / "unmounted")
    with pytest.raises(QueryError, match="are not all there") as caught:
        forget(settings, VALUE, "--yes")
    assert "--without-lake" in caught.value.hint
    assert TRACES[0] in settings.spool_path.read_bytes()
    assert forget(settings, VALUE, "--yes", "--without-lake")[0] == 0


@pytest.fixture
def lake(settings: Settings, tmp_path: Path) -> Iterator[Lake]:  # noqa: F811
    """Return a lake of cut events that have the value as their namespace too."""
    event = run("r8", "load", ["raw"], ["x"])[0]
    event["job"]["namespace"] = VALUE
    with closing(Spool(settings.spool_path)) as spool:
        spool.append([json.dumps(event).encode()] * 2, received=RECEIVED + 7)
    lake = Lake(str(tmp_path / "lake"))
    archive(settings, lake, cut=9)
    yield lake
    assert seqs(lake) == list(range(1, 10))
    assert holding(tmp_path) == []
    assert not [path for path in tmp_path.rglob("*") if "zoltan" in path.name]
    assert lake.missing_files(lake.spools()[0], 1, 9) == []


class KilledError(Exception):
    """The end of a run, as by kill -9."""


@pytest.mark.usefixtures("lake")
@pytest.mark.parametrize(
    ("method", "calls"),
    [*product(["put", "add"], range(4)), ("remove", 0), ("remove", 1)],
)
def test_a_killed_run_is_repeated(
    settings: Settings,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    calls: int,
) -> None:
    done: list[int] = []
    original = getattr(Lake, method)

    def kill_later(*arguments: object) -> None:
        if len(done) == calls:
            raise KilledError
        done.append(1)
        original(*arguments)

    with monkeypatch.context() as context:
        context.setattr(Lake, method, kill_later)
        with pytest.raises(KilledError):
            forget(settings, VALUE, "--yes")
    assert forget(settings, VALUE, "--yes")[0] == 0
    assert forget(settings, VALUE, "--dry-run")[1]["counts"] == {}


def test_events_that_a_killed_run_has_in_two_files_stay_once(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The new name of a namespace may be that of a file which is there already."""
    forget(settings, VALUE, "--dry-run")
    key = settings.redaction_key_path.read_text().strip().encode()
    lake = Lake(str(tmp_path / "lake"))
    archive(settings, lake)
    bodies = []
    for namespace in (mask_of(hash_value(key, VALUE)[0]), VALUE):
        event = run("r8", "load", ["raw"], ["x"])[0]
        event["job"]["namespace"] = namespace
        bodies.append(json.dumps(event).encode())
    with closing(Spool(settings.spool_path)) as spool:
        spool.append(bodies, received=RECEIVED + 7)
    spool_id = archive(settings, lake, cut=9)
    add = Lake.add

    def kill_at_the_last(*arguments: Any) -> None:
        if arguments[2].last == 9:
            raise KilledError
        add(*arguments)

    with monkeypatch.context() as context:
        context.setattr(Lake, "add", kill_at_the_last)
        with pytest.raises(KilledError):
            forget(settings, VALUE, "--yes")
    assert seqs(lake) == [*range(1, 9), 9, 9]
    assert lake.missing_files(spool_id, 1, 9) != [], "a file has another size than in its manifest"
    assert forget(settings, VALUE, "--yes")[0] == 0
    assert seqs(lake) == list(range(1, 10))
    assert lake.missing_files(spool_id, 1, 9) == []
    assert holding(tmp_path) == []


def test_the_files_of_a_killed_archive_are_removed(
    settings: Settings,  # noqa: F811
    lake: Lake,
) -> None:
    with closing(Spool(settings.spool_path)) as spool:
        spool.append([b"no event of " + VALUE.encode()] * 2, received=RECEIVED + 9)
        [file] = pipeline.write_part(SpoolReader(spool.path), lake, spool.id, 10, 11)
        path = Path(lake.root) / file.name
        path.with_name(f".{path.name}.part").write_bytes(VALUE.encode())
        manifest = Path(lake.root) / "_archived" / spool.id / ".12-13.json.part"
        manifest.write_text(VALUE)
    code, facts = forget(settings, VALUE, "--dry-run")
    assert (code, facts["counts"]["unfinished files of the lake"]) == (0, 3)
    assert path.is_file()
    assert forget(settings, VALUE, "--yes")[0] == 0
    assert not path.exists()


def test_the_folders_of_a_killed_archive_are_removed(
    settings: Settings,  # noqa: F811
    inner: Lake,
) -> None:
    archive(settings, inner)
    forget(settings, VALUE, "--yes")
    name = quote(VALUE, safe="")
    for folder in (f"date=2026-01-31/namespace={name}", f"date={name}", "_archived/x"):
        Path(inner.root, folder).mkdir(parents=True)
    assert forget(settings, VALUE, "--dry-run")[1]["counts"] == {"empty folders of the lake": 2}
    assert len(list(Path(inner.root).glob("date=*/"))) == 2
    code, facts = forget(settings, VALUE, "--yes")
    assert (code, facts["counts"]) == (0, {"empty folders of the lake": 2})
    assert not [path for path in Path(inner.root).rglob("*") if "zoltan" in path.name]
    assert not Path(inner.root, "_archived/x").exists()
    assert seqs(inner) == list(range(1, 8))


def test_an_uncommitted_file_whose_events_are_nowhere_else_stays(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
) -> None:
    copy = Lake(str(tmp_path / "copy"))
    spool_id = archive(settings, copy)
    archive(settings, Lake(str(tmp_path / "lake")), cut=7)
    for manifest in sorted(Path(copy.root).rglob("*.json"))[1:]:
        manifest.unlink()
    code, facts = forget(settings, VALUE, "--yes", "--lake", copy.root)
    assert (code, len(facts["problems"])) == (1, 1), (
        "event 7 is in the spool; events 5 and 6 have no value"
    )
    for problem in facts["problems"]:
        assert problem["problem"].startswith("it has the value; no manifest names it")
        assert Path(problem["path"]).is_file()
    assert seqs(copy) == list(range(1, 7))
    assert copy.archived(spool_id) == 2


def test_an_uncommitted_file_without_the_value_is_no_problem(
    settings: Settings,  # noqa: F811
    inner: Lake,
    tmp_path: Path,
) -> None:
    with closing(Spool(settings.spool_path)) as spool:
        spool.append([b"calm"] * 4, received=RECEIVED + 7)
        [file] = pipeline.write_part(SpoolReader(spool.path), inner, spool.id, 8, 9)
    archive(settings, Lake(str(tmp_path / "lake")), cut=11)
    code, facts = forget(settings, VALUE, "--yes")
    assert (code, facts["problems"]) == (0, [])
    Path(inner.root, file.name).write_bytes(b"damaged")
    code, facts = forget(settings, VALUE, "--yes")
    assert (code, [problem["path"] for problem in facts["problems"]]) == (
        1,
        [str(Path(inner.root, file.name))],
    )


DAMAGES = {
    "empty": b"",
    "cut": b'{"first":1',
    "wrong type": b'{"first":1,"last":2,"files":[{"name":5,"events":1,"bytes":2}]}',
    "no text": b'{"first":1,"last":2,"files":[{"name":"\xff","events":1,"bytes":2}]}',
    "deep": b"[" * 100_000,
    "other seqs": b'{"first":1,"last":3,"files":[]}',
    "spelling": b".//date=",
    "way round": b"../lake/date=",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_manifest_is_named_before_anything_changes(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
    damage: str,
) -> None:
    lake = Lake(str(tmp_path / "lake"))
    archive(settings, lake, cut=7)
    forget(settings, "nobody", "--yes")
    manifest = min(Path(lake.root, "_archived").rglob("*.json"))
    data = DAMAGES[damage]
    whole = manifest.read_bytes()
    manifest.write_bytes(whole.replace(b"date=", data) if data.endswith(b"date=") else data)
    before = (content(Path(lake.root)), settings.forgotten_path.read_bytes())
    message = f"the manifest .*{manifest.name} of the lake"
    with pytest.raises(QueryError, match=message) as caught:
        forget(settings, VALUE, "--yes")
    assert caught.value.hint == "Restore the lake."
    assert (content(Path(lake.root)), settings.forgotten_path.read_bytes()) == before


def test_a_file_with_other_events_than_its_manifest_says_is_named(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
) -> None:
    lake = Lake(str(tmp_path / "lake"))
    spool_id = archive(settings, lake, cut=7)
    one = lake.ranges(spool_id)[0]
    more = [msgspec.structs.replace(file, events=file.events + 1) for file in one.files]
    lake.add(spool_id, msgspec.structs.replace(one, files=more))
    code, facts = forget(settings, VALUE, "--yes")
    assert code == 1
    assert facts["problems"][0]["problem"] == "it has other events than its manifest says"


def test_a_spool_that_is_archived_is_refused(settings: Settings, tmp_path: Path) -> None:  # noqa: F811
    lake = Lake(str(tmp_path / "lake"))
    archive(settings, lake)
    with (
        pipeline.exclusive(settings.spool_path),
        pytest.raises(SpoolFullError, match="archived already by another"),
    ):
        forget(settings, VALUE, "--yes", "--lake", lake.root)


def test_a_lake_or_spool_in_the_data_of_neo4j_is_refused(
    settings: Settings,  # noqa: F811
) -> None:
    lake = Lake(str(settings.home_path / "data" / "lake"))
    archive(settings, lake, cut=7)
    for words in (["--yes"], ["--yes", "--without-lake"]):
        with pytest.raises(QueryError, match="of Neo4j's data holds the spool or a lake too"):
            forget(settings, VALUE, *words)
    assert seqs(lake) == list(range(1, 8))


@pytest.mark.parametrize("address", SECRET_STORES)
def test_no_error_about_a_lake_prints_a_password(
    settings: Settings,  # noqa: F811
    address: str,
) -> None:
    with pytest.raises(QueryError) as caught:
        forget(settings, VALUE, "--lake", address, "--dry-run")
    assert "S3C" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("place", ["home/lake", "lake"])
def test_a_file_of_a_lake_behind_a_link_is_rewritten_there(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
    place: str,
) -> None:
    lake = Lake(str(tmp_path / place))
    spool_id = archive(settings, lake, cut=6)
    (tmp_path / "cold").mkdir()
    for number, path in enumerate(sorted(Path(lake.root).rglob("*.parquet"))):
        target = shutil.move(path, tmp_path / "cold" / f"{number}.parquet")
        path.symlink_to(target)
    code, facts = forget(settings, VALUE, "--yes")
    assert (code, facts["problems"]) == (0, [])
    assert holding(tmp_path) == []
    assert seqs(lake) == list(range(1, 8))
    assert lake.missing_files(spool_id, 1, 7) == []


def test_a_lake_deep_behind_a_link_is_rewritten(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
) -> None:
    lake = Lake(str(tmp_path / "disk" / "deep" / "lake"))
    spool_id = archive(settings, lake)
    (settings.home_path / "disk").symlink_to(tmp_path / "disk")
    assert forget(settings, VALUE, "--yes")[0] == 0
    assert holding(tmp_path) == []
    assert lake.missing_files(spool_id, 1, 7) == []
