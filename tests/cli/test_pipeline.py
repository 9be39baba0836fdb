"""The group `pipeline`: its commands, and arguments that they refuse before Spark starts."""

from __future__ import annotations

from contextlib import closing, nullcontext
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli import app, pipeline
from headwater.cypher.driver.database import Database
from headwater.cypher.driver.write_lock import identify_graph
from headwater.errors import QueryError, UnavailableError
from headwater.ingest.producer_stats import ProducerStats
from headwater.ingest.spool.spool import Spool
from headwater.ingest.write.transaction import Checkpoint
from headwater.pipelines import archive, session
from headwater.pipelines.archive import ArchiveReport
from headwater.pipelines.chunk_writer import advance_checkpoint


def test_the_commands_of_the_group() -> None:
    assert list(pipeline.COMMANDS) == ["backfill", "archive", "stream", "rollup", "analyse"]
    shown = CliRunner().invoke(app, ["pipeline", "--help"]).stdout
    for name in pipeline.COMMANDS:
        assert f"  {name} " in shown


@pytest.mark.parametrize(
    "command",
    [
        ["backfill", "."],
        ["archive", "lake"],
        ["stream", "--checkpoint", "c"],
        ["analyse", "lake", "out"],
    ],
)
def test_a_missing_package_is_named(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        pipeline, "find_spec", lambda package: None if package == "pyarrow" else package
    )
    result = CliRunner().invoke(app, ["pipeline", *command])
    assert isinstance(result.exception, QueryError)
    assert "pyarrow" in result.exception.message
    assert result.exception.hint == "pip install 'headwater[pipelines]'"


def test_an_archive_needs_a_spool(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        app, ["pipeline", "archive", str(tmp_path / "lake"), "--home", str(tmp_path)]
    )
    assert "there is no spool" in str(result.exception)
    assert not (tmp_path / "lake").exists()


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph", "settings_of_tests")
def test_nothing_is_cut_by_the_checkpoint_of_another_history(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    database: Database,
) -> None:
    with closing(Spool(tmp_path / "spool.db")) as spool:
        spool.append([b"{}"] * 5, received=3_000)
    stats = ProducerStats()
    graph = identify_graph(database, "tests")
    advance_checkpoint(
        database,
        spool.id,
        Checkpoint(),
        4,
        received=2_003,
        dead=0,
        producer_stats=stats,
        graph=graph,
    )
    monkeypatch.setattr(session, "spark_session", lambda _: nullcontext())
    monkeypatch.setattr(archive, "archive", lambda *_, **__: ArchiveReport(spool.id, archived=5))
    words = ["pipeline", "archive", str(tmp_path / "lake"), "--cut", "--home", str(tmp_path)]
    result = CliRunner().invoke(app, words)
    assert isinstance(result.exception, UnavailableError)
    assert "event 4 of the spool is not the one that the graph holds" in str(result.exception)
    with closing(Spool(tmp_path / "spool.db")) as spool:
        assert len(spool.read(0, events_max=10, bytes_max=2**20)) == 5
