"""The other files of a home: rewritten as text or JSON, or removed."""

from __future__ import annotations

import gzip
import json
import os
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from headwater.forgetting.contents import UnsearchedError
from headwater.forgetting.files import (
    Stores,
    graph_files,
    other_files,
    rename_entries,
    rewrite_file,
)
from headwater.ingest.receive.forgotten import Forgotten, hash_value, mask_of

SEARCH = Forgotten(b"key", [hash_value(b"key", "ann smith")])
MASK = mask_of(hash_value(b"key", "ann smith")[0])


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.log", b'one\n{"by": "Ann Smith"}\nann smith\n', f'one\n{{"by": "{MASK}"}}\n{MASK}\n'),
        ("a.json", b'{\n "x": ["ann", "smith", "ann_smith"]\n}', None),
        ("a.log.gz", gzip.compress(b"ann smith", mtime=0), MASK),
    ],
)
def test_text_is_rewritten(tmp_path: Path, name: str, before: bytes, after: str | None) -> None:
    path = tmp_path / name
    path.write_bytes(before)
    path.chmod(0o640)
    assert rewrite_file(path, SEARCH, dry_run=True) == "files rewritten"
    assert path.read_bytes() == before
    assert rewrite_file(path, SEARCH, dry_run=False) == "files rewritten"
    data = path.read_bytes()
    data = gzip.decompress(data) if name.endswith(".gz") else data
    if after is None:
        assert json.loads(data) == {"x": ["ann", "smith", MASK]}
    else:
        assert data.decode() == after
    assert path.stat().st_mode & 0o777 == 0o640
    assert rewrite_file(path, SEARCH, dry_run=False) == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_rewritten_file_keeps_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "config.txt"
    path.write_text("owner: ann smith")
    os.chown(path, 65534, 65534)
    assert rewrite_file(path, SEARCH, dry_run=False) == "files rewritten"
    assert (path.stat().st_uid, path.stat().st_gid) == (65534, 65534)


def test_a_binary_file_with_the_value_is_removed(tmp_path: Path) -> None:
    (tmp_path / "with.db").write_bytes(b"\0\1ann smith\0")
    (tmp_path / "without.db").write_bytes(b"\0\1ann\0")
    assert rewrite_file(tmp_path / "with.db", SEARCH, dry_run=False) == "files removed"
    assert rewrite_file(tmp_path / "without.db", SEARCH, dry_run=False) == ""
    assert [path.name for path in tmp_path.iterdir()] == ["without.db"]


def write_database(path: Path, cell: bytes) -> str:
    """Write a database with one value, and return the text of its file."""
    path.unlink(missing_ok=True)
    with closing(apsw.Connection(str(path))) as connection:
        connection.pragma("synchronous", "off")
        connection.execute("CREATE TABLE t(a)")
        connection.execute("INSERT INTO t VALUES(?)", (cell,))
    return path.read_bytes().decode("latin-1")


def test_a_database_with_the_value_on_two_pages_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "spool.db.damaged-1"
    cells = (b"-" * length + b" ann smith " + b"-" * 8_000 for length in range(0, 4_100, 3))
    cut = next(cell for cell in cells if "smith" not in write_database(path, cell))
    assert rewrite_file(path, SEARCH, dry_run=False) == "files removed"
    assert not path.exists()
    write_database(path, cut.replace(b"smith", b"jones"))
    assert rewrite_file(path, SEARCH, dry_run=False) == ""
    path.write_bytes(path.read_bytes()[:700])
    assert rewrite_file(path, SEARCH, dry_run=False) == "files removed", "it cannot be searched"


def test_secrets_and_the_data_of_neo4j_are_left_out(tmp_path: Path) -> None:
    for name in (
        "data/store",
        "data.damaged-1/store",
        "logs/data/x.log",
        "redaction.key",
        "spool.db",
        "lake/x.parquet",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    excluded = Stores([tmp_path / "spool.db", tmp_path / "lake"])
    found = [str(path.relative_to(tmp_path)) for path in other_files(tmp_path, excluded)]
    assert found == ["logs/data/x.log"]


def test_names_are_rewritten_and_stay_apart(tmp_path: Path) -> None:
    (tmp_path / "of ann smith").mkdir()
    for name in ("ann_smith.json", "ANN-SMITH.json", "of ann smith/ann smith.log", "joann smith"):
        (tmp_path / name).write_text(name)
    problems: dict[Path, str] = {}
    for dry_run in (True, False):
        number = rename_entries(tmp_path, Stores(), SEARCH, problems.__setitem__, dry_run=dry_run)
        assert number == 4
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert found == {
        f"{MASK}.json",
        f"{MASK}.json-2",
        f"of {MASK}",
        f"of {MASK}/{MASK}.log",
        "joann smith",
    }
    assert problems == {}
    assert rename_entries(tmp_path, Stores(), SEARCH, problems.__setitem__, dry_run=False) == 0


def test_the_name_of_a_store_and_of_the_target_of_a_link_are_problems(tmp_path: Path) -> None:
    lake = tmp_path / "ann smith" / "lake"
    lake.mkdir(parents=True)
    (tmp_path / "link").symlink_to("/mnt/ann-smith/x")
    problems: dict[Path, str] = {}
    rename_entries(tmp_path, Stores([lake]), SEARCH, problems.__setitem__, dry_run=False)
    assert problems == {
        lake.parent: "its name has the value, and settings or the spool name it",
        tmp_path / "link": "the target of this link has the value",
    }
    assert lake.is_dir()


def test_an_unreadable_file_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.log"
    path.write_text("ann smith")

    def refuse(_path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(UnsearchedError, match="Permission denied"):
        rewrite_file(path, SEARCH, dry_run=False)


def test_a_link_in_the_place_of_the_partial_file_is_not_followed(tmp_path: Path) -> None:
    path, victim = tmp_path / "a.log", tmp_path / "victim"
    path.write_text("ann smith")
    victim.write_text("stays")
    (tmp_path / ".a.log.forget").symlink_to(victim)
    assert rewrite_file(path, SEARCH, dry_run=False) == "files rewritten"
    assert (path.read_text(), victim.read_text()) == (MASK, "stays")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.log", "victim"]


def test_files_of_the_graph_are_searched(tmp_path: Path) -> None:
    (tmp_path / "data" / "databases").mkdir(parents=True)
    (tmp_path / "data" / "databases" / "log").write_bytes(b"\0\1x\0ANN.Smith\0")
    (tmp_path / "data" / "databases" / "empty").write_bytes(b"")
    (tmp_path / "data" / "databases" / "other").write_bytes(b"\0ann")
    assert graph_files(tmp_path, "ann smith", lambda *_: None) == 1
