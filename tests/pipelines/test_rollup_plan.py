"""The parts of the roll-up plan: sets of urns, version sets, summaries, and one graph for all."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.write_lock import GraphErasedError
from headwater.cypher.maintenance.erase import erase
from headwater.pipelines.rollup import roll_up
from headwater.pipelines.rollup_plan import UrnSet, summaries, to_datetime, version_set
from tests.canonical import Graph, canonical
from tests.pipelines.test_rollup import daily, horizon
from tests.run_builders import write_events


def run(**properties: Any) -> dict[str, Any]:
    defaults = {
        "urn": "run:1",
        "job": "job:etl:load",
        "status": "COMPLETE",
        "startedAt": datetime(2026, 1, 1, 10, tzinfo=UTC),
        "finishedAt": datetime(2026, 1, 1, 10, 1, tzinfo=UTC),
        "version": "v1",
        "errors": 0,
        "reads": [["dataset:db:raw", "s1"]],
        "writes": [["dataset:db:mart", "s2"]],
        "rowsRead": [10, None],
        "rowsWritten": [],
        "bytesWritten": [100],
    }
    return {**defaults, **properties}


def test_set_returns_each_urn_once() -> None:
    urns = UrnSet()
    assert urns.add_new(["a", "b", "a"]) == ["a", "b"]
    assert urns.add_new(["b", "c"]) == ["c"]
    assert (len(urns), "a" in urns, "d" in urns) == (3, True, False)
    other = UrnSet()
    other.add_new(["d"])
    urns.update(other)
    assert (len(urns), "d" in urns) == (4, True)


def test_version_set_depends_on_code_datasets_and_schemas() -> None:
    reads = [["dataset:db:raw", "s1"], ["dataset:db:old", None]]
    same = version_set(run(reads=reads))
    assert version_set(run(urn="run:2", reads=reads[::-1], rowsRead=[])) == same
    assert len({same, version_set(run(version="v2", reads=reads)), version_set(run())}) == 3


def test_runs_of_one_job_day_status_and_version_set_are_summed() -> None:
    late = datetime(2026, 1, 1, 23, tzinfo=UTC)
    rows = [
        run(),
        run(urn="run:2", startedAt=late, finishedAt=None, errors=2, rowsRead=[5]),
        run(urn="run:3", startedAt=datetime(2026, 1, 2, tzinfo=UTC), finishedAt=None),
    ]
    first, second = summaries(rows)
    assert first["urn"].startswith("summary:etl:load:2026-01-01:COMPLETE:")
    assert (first["runs"], first["timed"], first["seconds"], first["errors"]) == (2, 1, 60.0, 2)
    assert (first["secondsMin"], first["secondsMax"], first["last"]) == (60.0, 60.0, late)
    assert (first["rowsRead"], first["rowsWritten"], first["bytesWritten"]) == (15, 0, 200)
    assert first["properties"]["reads"] == ["dataset:db:raw"]
    assert (second["properties"]["day"], second["timed"], second["secondsMin"]) == (
        "2026-01-02",
        0,
        None,
    )


def test_instants_are_microseconds_since_1970() -> None:
    assert to_datetime(1_500_000) == datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph")
def test_a_rollup_ends_if_the_graph_is_erased_meanwhile(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_events(database, daily())
    monkeypatch.setattr("headwater.pipelines.rollup.BATCH_SIZE", 2)
    built_again: list[Graph] = []

    def rebuild(phase: str, _: int) -> None:
        if phase == "summarising" and not built_again:
            erase(database, holder="tests")
            write_events(database, daily())
            built_again.append(canonical(database))

    with pytest.raises(GraphErasedError):
        roll_up(database, horizon(25), progress=rebuild)
    assert [canonical(database)] == built_again
