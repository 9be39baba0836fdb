"""A value is planted in every store, forgotten, and then stands in no byte of the home."""

from __future__ import annotations

import gzip
import json
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any

import apsw
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from headwater.access.keys import Keys
from headwater.access.log import AccessLog
from headwater.access.principal import ANONYMOUS, Scope
from headwater.access.store import AccessStore
from headwater.cli import app
from headwater.cypher.driver.database import Database
from headwater.errors import EventError, HomeInUseError, QueryError
from headwater.ingest.receive.accept import EventAcceptor
from headwater.ingest.receive.forgotten import load_forgotten, read_forgotten
from headwater.ingest.receive.redact import Redactor
from headwater.ingest.spool.group_commit import GroupCommitter
from headwater.ingest.spool.reader import SpoolReader
from headwater.ingest.spool.salvage import check, salvage
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.pipelines.archive import write_part
from headwater.pipelines.lake import ArchivedRange, Lake
from headwater.schema.naming import load_naming
from headwater.settings import Settings
from tests.canonical import canonical, empty
from tests.conftest import Neo4jServer
from tests.faults.oracle import folded_at_once
from tests.run_builders import run

VALUE = "zoltan.example@kestrel.test"
# What is searched for: no other text of the tests has it.
TRACES = (b"zoltan", b"kestrel")
RECEIVED = 1_769_817_600_000_000


def planted() -> list[bytes]:
    """Return events that have the value in names, facets, keys, escapes, and a number."""
    events = [
        *run("r1", "load", ["raw"], [f"home/{VALUE}/orders"], minute=0),
        *run("r2", "report", [f"home/{VALUE}/orders"], ["page"], minute=5),
        *run("r3", "other", ["raw"], ["calm"], minute=9),
    ]
    events[0]["run"]["facets"] = {
        "note": {
            "_producer": "https://example.com/p",
            "_schemaURL": "https://example.com/s",
            "sender": VALUE.upper(),
            f"of {VALUE}": "https://example.com/?mail=zoltan.example%40kestrel.test",
        }
    }
    bodies = [json.dumps(event).encode() for event in events]
    bodies[2] = bodies[2].replace(b"zoltan", rb"\u007aoltan")
    return [*bodies, b"no event of " + VALUE.encode()]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return the settings of a home that has the value in every store."""
    home = tmp_path / "home"
    made = Settings(home=str(home))
    with closing(Spool(made.spool_path)) as spool:
        spool.append(planted(), received=RECEIVED)
        spool.dead_letter([(7, f"cannot parse {VALUE}")])
    with closing(AccessStore(made.access_path)) as store:
        log = AccessLog(store)
        log.append("the command line", "create key", "done", name="etl")
        log.append(VALUE, "read", "done", statement=f"MATCH (n {{name: '{VALUE}'}}) RETURN n")
        log.append("etl", "read", "refused")
        Keys(store).create(VALUE, [Scope.READ])
    # A salvaged spool leaves the damaged file beside the new one.
    salvage(made.spool_path)
    (home / "evidence").mkdir()
    pack = {"about": {"owner": VALUE}, "hash": "0"}
    (home / "evidence" / "pack.json").write_text(json.dumps(pack, indent=1))
    (home / "evidence" / "pack.html").write_text(f"<p>{VALUE}</p>")
    (home / "serve.log").write_text(f"line one\nrequest principal={VALUE}\n")
    (home / "serve.log.1.gz").write_bytes(gzip.compress(VALUE.encode()))
    return made


def forget(settings: Settings, *words: str, stdin: str = "") -> tuple[int, Any]:
    result = CliRunner().invoke(
        app, ["forget", *words, "--home", settings.home, "--json"], input=stdin
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, json.loads(result.stdout)


def holding(folder: Path) -> list[str]:
    """Return the files below a folder that have a trace of the value, in name or content."""
    found = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        if path.suffix == ".gz":
            data += gzip.decompress(data)
        if path.suffix == ".parquet":
            data += str(pq.read_table(path, partitioning=None).to_pylist()).encode()
        text = str(path.relative_to(folder)).encode() + data
        if any(trace in text.lower() for trace in TRACES):
            found.append(str(path.relative_to(folder)))
    return found


def bodies_of(settings: Settings) -> list[bytes]:
    with closing(Spool(settings.spool_path)) as spool:
        records = spool.read(0, events_max=99, bytes_max=2**20)
    assert all(record.intact for record in records)
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert [record.received for record in records] == [RECEIVED + n for n in range(len(records))]
    return [record.body for record in records]


def other_bytes(settings: Settings) -> dict[Path, bytes]:
    """Return the bytes of every file but the spool, whose header counts who opened it."""
    paths = [path for path in settings.home_path.rglob("*") if path.is_file()]
    return {path: path.read_bytes() for path in paths if path != settings.spool_path}


def test_a_dry_run_counts_and_changes_nothing(settings: Settings) -> None:
    # Creates the key of redaction.
    forget(settings, VALUE, "--dry-run")
    before, events = other_bytes(settings), bodies_of(settings)
    code, facts = forget(settings, "-", "--dry-run", stdin=f"{VALUE}\n")
    assert code == 0
    assert facts == {
        "dryRun": True,
        "counts": {
            "events": 5,
            "dead letters": 1,
            "entries of the access log": 1,
            "keys and sessions": 1,
            "files rewritten": 4,
            "files removed": 1,
        },
        "problems": [],
    }
    assert other_bytes(settings) == before
    assert bodies_of(settings) == events


@pytest.fixture
def graph_settings(
    settings: Settings, neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    monkeypatch.setenv("HEADWATER_NEO4J_URI", neo4j_server.uri)
    monkeypatch.setenv("HEADWATER_NEO4J_USER", neo4j_server.user)
    monkeypatch.setenv("HEADWATER_NEO4J_PASSWORD", neo4j_server.password)
    return settings


def everything(database: Database) -> bytes:
    rows = database.ask("MATCH (n) RETURN properties(n) AS p", {})
    rows += database.ask("MATCH ()-[e]->() RETURN properties(e) AS p", {})
    return str(rows).lower().encode()


@pytest.mark.neo4j
def test_a_forgotten_value_stands_nowhere(graph_settings: Settings, database: Database) -> None:
    settings = graph_settings
    empty(database)
    with closing(Spool(settings.spool_path)) as spool:
        Worker(database, spool).run(until_done=True)
        lake = Lake(str(settings.home_path / "lake"))
        parts = write_part(SpoolReader(spool.path), lake, spool.id, 1, 7)
        lake.add(spool.id, ArchivedRange(1, 7, sorted(parts)))
        spool_id = spool.id
    assert TRACES[0] in everything(database)
    assert len(holding(settings.home_path)) >= 9
    code, facts = forget(settings, VALUE, "--yes", "--lake", lake.root)
    assert (code, facts["counts"]["events"], facts["counts"]["events of the lake"]) == (0, 5, 5)
    assert holding(settings.home_path) == []
    assert TRACES[0] not in everything(database)
    assert database.ask("MATCH (n:PipelineRun) RETURN count(n) AS n", {}) == [{"n": 0}]
    bodies = bodies_of(settings)
    assert [event["eventType"] for event in map(json.loads, bodies[:6])] == [
        "START",
        "COMPLETE",
    ] * 3
    assert _lake_bodies(lake, spool_id) == bodies
    assert check(settings.spool_path).is_whole
    with closing(Spool(settings.spool_path)) as spool:
        assert spool.id == spool_id
        Worker(database, spool).run(until_done=True)
    rebuilt = canonical(database)
    # The two runs still meet at one dataset.
    mask = facts["mask"]
    names = database.ask("MATCH (d:Dataset) RETURN d.name AS name", {})
    assert {row["name"] for row in names} == {"raw", "page", "calm", f"home/{mask}/orders"}
    assert canonical(database) == rebuilt
    assert folded_at_once(database, bodies[:6]) == rebuilt
    assert TRACES[0] not in everything(database)
    empty(database)
    _check_record(settings, facts)


def _lake_bodies(lake: Lake, spool: str) -> list[bytes]:
    (one,) = lake.ranges(spool)
    paths = [Path(lake.root) / file.name for file in one.files]
    tables = [pq.read_table(path, partitioning=None).to_pylist() for path in paths]
    rows = sorted(chain.from_iterable(tables), key=lambda row: row["seq"])
    return [row["body"] for row in rows]


def _check_record(settings: Settings, facts: dict[str, Any]) -> None:
    """Check the record, that the log verifies, and that a further change of it is found."""
    (record,) = read_forgotten(settings.forgotten_path)
    assert (record.hash, record.words, record.later) == (facts["hash"], 4, True)
    assert record.counts == facts["counts"]
    assert settings.forgotten_path.stat().st_mode & 0o777 == 0o600
    with closing(AccessStore(settings.access_path)) as store:
        log = AccessLog(store)
        assert log.verify() == (5, 1, 5, None)
        newest = log.entries(first=1)[0]
        assert (newest.action, newest.detail["hash"]) == ("forget", record.hash)
        names = [key.name for key in Keys(store).list()]
        assert names == [facts["mask"]]
        assert log.entries()[-2].principal == facts["mask"]
    with closing(apsw.Connection(str(settings.access_path))) as connection:
        with pytest.raises(apsw.ConstraintError, match="the log stays"):
            connection.execute("UPDATE entry SET principal = 'x' WHERE seq = 2")
        connection.execute("DROP TRIGGER entry_stays")
        connection.execute("UPDATE entry SET principal = 'x' WHERE seq = 2")
    with closing(AccessStore(settings.access_path)) as store:
        problem = AccessLog(store).verify().problem
        assert problem is not None
        assert problem.position == 2


def test_a_later_event_is_searched_too(settings: Settings) -> None:
    _, facts = forget(settings, VALUE, "--yes")
    key = settings.redaction_key_path.read_text().strip().encode()
    forgotten = load_forgotten(settings.forgotten_path, key)
    with closing(Spool(settings.spool_path)) as spool:
        committer = GroupCommitter(spool)
        acceptor = EventAcceptor(Redactor(key), load_naming(), committer, forgotten=forgotten)
        body = json.dumps(run("r9", "load", [f"of {VALUE}"], ["x"])[0]).encode()
        stored = acceptor.accept(ANONYMOUS, body, RECEIVED)
        assert stored == body.replace(VALUE.encode(), facts["mask"].encode())
        committer.close()
    assert forget(settings, VALUE, "--dry-run") == (
        0,
        {"dryRun": True, "counts": {}, "problems": []},
    )
    # A repeated run finds nothing, and leaves one record.
    assert forget(settings, VALUE, "--yes")[1]["counts"] == {}
    assert len(read_forgotten(settings.forgotten_path)) == 1
    forget(settings, "somebody else", "--yes", "--past-only")
    assert load_forgotten(settings.forgotten_path, key) is not None
    assert len(read_forgotten(settings.forgotten_path)) == 2


def test_a_lake_of_cut_events_is_rewritten(settings: Settings, tmp_path: Path) -> None:
    event = run("r8", "load", ["raw"], ["x"])[0]
    event["job"]["namespace"] = VALUE
    lake = Lake(str(tmp_path / "lake"))
    with closing(Spool(settings.spool_path)) as spool:
        spool.append([json.dumps(event).encode()] * 2, received=RECEIVED + 7)
        for first, last in ((1, 4), (5, 9)):
            parts = write_part(SpoolReader(spool.path), lake, spool.id, first, last)
            lake.add(spool.id, ArchivedRange(first, last, sorted(parts)))
        spool.cut(8, lake=lake.root, events_max=99)
        spool_id = spool.id
    assert any("namespace=zoltan" in name for name in holding(tmp_path / "lake"))
    _, facts = forget(settings, VALUE, "--yes")
    assert facts["counts"]["events of the lake"] == 7
    assert facts["next"] == f"headwater rebuild --home {settings.home}"
    assert holding(tmp_path) == []
    assert not [path for path in tmp_path.rglob("*") if "zoltan" in path.name], "no empty folder"
    assert lake.archived(spool_id) == 9
    files = {file.name: file for one in lake.ranges(spool_id) for file in one.files}
    on_disk = {str(p.relative_to(lake.root)) for p in Path(lake.root).rglob("*.parquet")}
    assert set(files) == on_disk
    assert sum(file.events for file in files.values()) == 9
    for name, file in files.items():
        assert Path(lake.root, name).stat().st_size == file.bytes


def test_a_lake_in_another_store_is_refused(settings: Settings) -> None:
    with closing(Spool(settings.spool_path)) as spool:
        spool.cut(3, lake="s3://bucket/lake", events_max=99)
    with pytest.raises(QueryError, match="is in another store"):
        forget(settings, VALUE, "--yes")
    assert TRACES[0] in settings.spool_path.read_bytes(), "nothing was changed"
    assert forget(settings, VALUE, "--yes", "--without-lake")[0] == 0


@pytest.mark.parametrize("name", ["link", "home/../home", "home"])
@pytest.mark.parametrize("is_link", [False, True])
def test_stores_are_known_by_each_of_their_names(
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    is_link: bool,
) -> None:
    (tmp_path / "link").symlink_to(settings.home_path)
    if is_link:
        (tmp_path / "elsewhere.db").hardlink_to(settings.spool_path)
        settings.spool_path.unlink()
        settings.spool_path.symlink_to(tmp_path / "elsewhere.db")
    monkeypatch.setenv("HEADWATER_SPOOL", str(settings.spool_path))
    other = Settings(home=str(tmp_path / name))
    code, facts = forget(other, VALUE, "--dry-run")
    assert (code, facts["counts"]["files removed"]) == (0, 1), "only the copy of a damaged spool"
    assert forget(other, VALUE, "--yes")[0] == 0
    assert holding(settings.home_path) == []
    assert len(bodies_of(settings)) == 7
    with closing(AccessStore(settings.access_path)) as store:
        assert len(Keys(store).list()) == 1


def test_a_used_home_is_refused(settings: Settings) -> None:
    with closing(Spool(settings.spool_path)) as spool:
        spool.last()
        with pytest.raises(HomeInUseError, match="another process uses the spool"):
            forget(settings, VALUE, "--dry-run")


def test_a_change_needs_a_yes(settings: Settings) -> None:
    with pytest.raises(QueryError, match="erases the graph"):
        forget(settings, VALUE)
    result = CliRunner().invoke(app, ["forget", VALUE, "--home", settings.home], input="n\n")
    assert result.exit_code == 1
    assert "5  events" in result.stdout
    assert TRACES[0] in settings.spool_path.read_bytes()


def test_an_event_stays_an_event(settings: Settings) -> None:
    with closing(Spool(settings.spool_path)) as spool:
        spool.append(planted()[:1], received=RECEIVED + 7)
    time = json.loads(planted()[0])["eventTime"]
    with pytest.raises(QueryError, match="event 1 would no longer be an event"):
        forget(settings, time, "--yes")
    for short in ("ab", "x" * 3, " ".join(["word"] * 17)):
        with pytest.raises(QueryError, match="a value needs 4 letters"):
            forget(settings, short, "--dry-run")
    assert EventError.exit_code == 4


POLICY = f"""policies:
  - name: owned
    owner: {VALUE}
    message: ask {VALUE}
"""


@pytest.fixture
def policy_settings(tmp_path: Path) -> Settings:
    """Return the settings of a home that has the value in a policy only, and a graph."""
    made = Settings(home=str(tmp_path / "home"))
    with closing(Spool(made.spool_path)) as spool:
        spool.append([b"calm"], received=RECEIVED)
    for folder in ("policies", "data"):
        (made.home_path / folder).mkdir()
    (made.home_path / "data" / "store").write_bytes(b"\0")
    (made.home_path / "policies" / "owners.yaml").write_text(POLICY)
    return made


def test_a_value_of_a_policy_erases_the_graph(policy_settings: Settings) -> None:
    code, facts = forget(policy_settings, VALUE, "--yes")
    assert (code, facts["counts"]) == (0, {"files rewritten": 1})
    assert facts["next"] == f"headwater rebuild --home {policy_settings.home}"
    assert not (policy_settings.home_path / "data").exists()
    assert holding(policy_settings.home_path) == []


def test_a_value_that_only_the_graph_has_erases_it(policy_settings: Settings) -> None:
    (policy_settings.home_path / "policies" / "owners.yaml").unlink()
    assert forget(policy_settings, VALUE, "--yes")[1]["next"] == ""
    assert (policy_settings.home_path / "data").exists(), "nothing was found, so the graph stays"
    (policy_settings.home_path / "data" / "log").write_bytes(b"\0" + VALUE.encode() + b"\0")
    code, facts = forget(policy_settings, VALUE, "--yes")
    assert (code, facts["counts"]) == (0, {"files of the graph": 1})
    assert facts["next"]
    assert holding(policy_settings.home_path) == []


def test_a_policy_outside_of_the_home_is_named(
    policy_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer = tmp_path / "policies"
    (policy_settings.home_path / "policies").rename(outer)
    monkeypatch.setenv("HEADWATER_POLICIES", str(outer))
    code, facts = forget(policy_settings, VALUE, "--yes")
    assert (code, facts["counts"]) == (1, {"files outside of the home": 1})
    assert facts["problems"] == [
        {
            "path": str(outer / "owners.yaml"),
            "problem": "it is outside of the home, and has the value",
        }
    ]
    assert (outer / "owners.yaml").read_text() == POLICY
    assert not (policy_settings.home_path / "data").exists()


def test_files_that_cannot_be_read_are_named_and_all_others_rewritten(
    settings: Settings,
) -> None:
    home = settings.home_path
    damaged = gzip.compress(VALUE.encode() * 99)
    for name, data in (
        ("logs.gz", damaged[:20] + b"\xff" * 20 + damaged[40:]),
        ("damaged.parquet", b"PAR1"),
        (f"evidence/{VALUE}.json", b"{}"),
        ("logs.cut.gz", gzip.compress(VALUE.encode())[:-9]),
    ):
        (home / name).write_bytes(data)
    code, facts = forget(settings, VALUE, "--dry-run")
    assert (code, len(facts["problems"])) == (1, 2)
    code, facts = forget(settings, VALUE, "--yes")
    assert code == 1
    assert facts["counts"]["files renamed"] == 1
    assert facts["counts"]["files rewritten"] == 5
    assert [one["path"] for one in facts["problems"]] == [
        str(home / "damaged.parquet"),
        str(home / "logs.gz"),
    ]
    for name in ("damaged.parquet", "logs.gz"):
        (home / name).unlink()
    assert (home / "evidence" / f"{facts['mask']}.json").is_file()
    assert holding(home) == []
    result = CliRunner().invoke(app, ["forget", VALUE, "--home", settings.home, "--yes"])
    assert (result.exit_code, result.stdout.splitlines()[0]) == (
        0,
        "no place that was searched has the value",
    )


def test_a_damaged_file_of_a_lake_is_named(settings: Settings, tmp_path: Path) -> None:
    lake = Lake(str(tmp_path / "lake"))
    with closing(Spool(settings.spool_path)) as spool:
        for first, last in ((1, 4), (5, 7)):
            parts = write_part(SpoolReader(spool.path), lake, spool.id, first, last)
            lake.add(spool.id, ArchivedRange(first, last, sorted(parts)))
        damaged = Path(lake.root) / sorted(parts)[0].name
        spool.cut(7, lake=lake.root, events_max=99)
    damaged.write_bytes(b"PAR1")
    code, facts = forget(settings, VALUE, "--yes")
    assert code == 1
    assert [one["path"] for one in facts["problems"]] == [str(damaged)]
    assert facts["counts"]["events of the lake"] == 4
    assert check(settings.spool_path).is_whole
