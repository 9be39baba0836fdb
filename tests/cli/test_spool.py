"""`headwater spool check` and `salvage`; Neo4j is away. tests/ingest has what they do to a graph."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.ingest.spool.spool import Spool
from tests.ingest.spool.test_damage import EVENTS, change, path  # noqa: F401
from tests.ingest.spool.test_salvage import block


@pytest.fixture(autouse=True)
def _without_neo4j(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_NEO4J_URI", "bolt://127.0.0.1:1")


def run(path: Path, *words: str) -> tuple[int, str]:  # noqa: F811
    result = CliRunner().invoke(app, ["spool", *words, "--home", str(path.parent)])
    return result.exit_code, result.stdout or str(result.exception)


def facts(path: Path, *words: str) -> tuple[int, dict[str, Any]]:  # noqa: F811
    code, text = run(path, *words, "--json")
    return code, json.loads(text)


def test_a_whole_spool(path: Path) -> None:  # noqa: F811
    code, text = run(path, "check")
    assert code == 0
    assert "intact     600 events, the last is 600" in text
    assert "Neo4j does not answer" in text
    code, found = facts(path, "check")
    assert (code, found["whole"], found["folded"], found["discontinuity"]) == (0, True, None, "")
    assert run(path, "salvage")[1].endswith("nothing to repair\n")
    assert sorted(file.name for file in path.parent.glob("*damaged*")) == []


def test_a_damaged_spool_is_described_and_repaired(path: Path) -> None:  # noqa: F811
    change(path, "DELETE FROM event WHERE seq IN (3, 4, 9)")
    code, text = run(path, "check")
    assert code == 1
    assert "intact     597 events, the last is 600" in text
    assert "damaged    3 events: 3-4, 9" in text
    code, found = facts(path, "check")
    assert (code, found["damaged"]) == (1, [{"first": 3, "last": 4}, {"first": 9, "last": 9}])
    code, found = facts(path, "salvage", "--yes")
    assert code == 0
    assert Path(found["damagedCopy"]).is_file()
    with closing(Spool(path)) as spool:
        assert spool.last() == EVENTS
    code, text = run(path, "check")
    assert code == 0, "the damaged events are dead letters now"
    assert "lost       3 damaged events" in text


def test_a_spool_that_refuses_all_events_is_described_and_repaired(path: Path) -> None:  # noqa: F811
    block(path)
    code, text = run(path, "check")
    assert code == 1
    assert "refused    all events: a killed salvage of an older version left its trigger" in text
    code, found = facts(path, "check")
    assert (code, found["whole"], found["refusesEvents"]) == (1, False, True)
    code, text = run(path, "salvage", "--yes")
    assert code == 0
    assert "rewritten" in text
    assert run(path, "check")[0] == 0
    with closing(Spool(path)) as spool:
        assert spool.append([b"accepted"], received=1) == EVENTS + 1


def test_a_change_needs_a_yes(path: Path) -> None:  # noqa: F811
    change(path, "DELETE FROM event WHERE seq = 3")
    code, text = run(path, "salvage", "--json")
    assert (code, text) == (1, "this changes the spool or the graph")
    code, text = run(path, "salvage")
    assert code == 1
    assert "Repair it?" in text
    assert not list(path.parent.glob("*damaged*"))


def test_a_home_without_a_spool_is_named(tmp_path: Path) -> None:
    assert run(tmp_path / "none" / "spool.db", "check")[1].startswith("there is no spool at")


@pytest.mark.parametrize("ending", [signal.SIGHUP, signal.SIGTERM])
def test_a_signal_ends_a_salvage_in_order(path: Path, ending: signal.Signals) -> None:  # noqa: F811
    change(path, "DELETE FROM event WHERE seq = 3")
    program = (
        "import os; from headwater.cli import main; from headwater.ingest.spool import salvage; "
        f"salvage._keep = lambda *_: os.kill(os.getpid(), {ending:d}); main()"
    )
    command = ["spool", "salvage", "--yes", "--home", str(path.parent)]
    ended = subprocess.run(
        [sys.executable, "-c", program, *command], capture_output=True, check=False
    )
    assert ended.returncode == 130, ended.stderr
    assert not list(path.parent.glob("*.new*"))
    assert facts(path, "check")[1]["damaged"] == [{"first": 3, "last": 3}]


def test_a_newer_spool_is_refused_and_stays_as_it_is(path: Path) -> None:  # noqa: F811
    change(path, "UPDATE event SET checksum = 7 WHERE seq = 3")
    change(path, "PRAGMA user_version = 2")
    before = path.read_bytes()
    for words in (["check"], ["salvage", "--yes"]):
        code, text = run(path, *words)
        assert (code, "a newer Headwater wrote the spool" in text) == (1, True)
    assert path.read_bytes() == before
