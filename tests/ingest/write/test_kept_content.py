"""A late version changes the links of all later versions in few reads, whatever the page size."""

from __future__ import annotations

import random
from typing import Any

import pytest

from headwater.cypher.driver.database import Database, Row, Transaction
from headwater.ingest.write import kept_content
from headwater.ingest.write.cache import WriteCache
from tests.canonical import canonical, edges, empty
from tests.event_builders import dataset, run_event, write_batch
from tests.run_builders import Event, version

pytestmark = pytest.mark.neo4j

SPARK = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
OVERWRITE = {"lifecycleStateChange": {"lifecycleStateChange": "OVERWRITE"}}
DROP = {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}}


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the number of instants of each read of versions."""
    sizes: list[int] = []
    run_statement = Transaction.run

    def counted(self: Transaction, name: str, /, **parameters: Any) -> list[Row]:
        if name == "read/versions/versions_around":
            sizes.append(len(parameters["rows"]))
        return run_statement(self, name, **parameters)

    monkeypatch.setattr(Transaction, "run", counted)
    return sizes


def copies(count: int) -> list[Event]:
    """Return runs of one job that read the same dataset: each keeps what the first one kept."""
    return [
        run_event(f"c{number}", "COMPLETE", 10 + number, inputs=["src"], outputs=["d"])
        for number in range(count)
    ]


def kept(database: Database) -> set[tuple[str, str]]:
    """Return the versions of `d` that another one kept, each with that one."""
    return {
        (target, source)
        for source, _, target in edges(database, "FEEDS")
        if source.startswith("artifact:") and target.startswith("artifact:")
    }


@pytest.mark.parametrize(("count", "reads_max"), [(20, 2), (100, 3), (400, 4)])
def test_a_late_first_version_changes_a_long_chain_in_few_reads(
    database: Database, reads: list[int], count: int, reads_max: int
) -> None:
    empty(database)
    write_batch(database, copies(count))
    assert kept(database) == set()
    reads.clear()
    write_batch(database, [run_event("late", "COMPLETE", 1, job="other", outputs=["d"])])
    assert kept(database) == {
        (version("d", f"c{number}"), version("d", "late")) for number in range(count)
    }
    assert 1 <= len(reads) <= reads_max


def test_late_versions_of_one_batch_share_the_reads(database: Database, reads: list[int]) -> None:
    empty(database)
    write_batch(database, copies(100))
    late = [
        run_event(f"l{number}", "COMPLETE", number, job=f"other{number}", outputs=["d"])
        for number in range(9)
    ]
    reads.clear()
    write_batch(database, late)
    assert len(reads) <= 4
    assert (version("d", "c99"), version("d", "l8")) in kept(database)


def history(chance: random.Random, count: int) -> list[Event]:
    """Return runs that write `d` in every mode, some of which fail, drop it or end together."""
    events = []
    for number in range(count):
        kind = chance.choices(
            ["copy", "other", "append", "overwrite", "fail", "drop"], [12, 2, 2, 1, 2, 1]
        )[0]
        event = run_event(
            f"r{number}",
            "FAIL" if kind == "fail" else "COMPLETE",
            chance.randrange(count),
            job="other" if kind == "other" else "copy",
            inputs=["src"],
            outputs=[dataset("d", {"overwrite": OVERWRITE, "drop": DROP}.get(kind))],
        )
        events.append({**event, "producer": SPARK} if kind == "append" else event)
    return events


@pytest.mark.parametrize("seed", range(6))
def test_pages_of_any_size_give_the_links_of_an_early_write(
    database: Database, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)
    events = history(chance, 60)
    empty(database)
    in_order = sorted(events, key=lambda event: str(event["eventTime"]))
    cache = WriteCache()
    for start in range(0, len(events), 6):
        write_batch(database, in_order[start : start + 6], cache)
    expected = canonical(database)
    monkeypatch.setattr(kept_content, "_PAGE_SIZES", chance.choice([(1,), (1, 2, 5), (1, 3, 64)]))
    chance.shuffle(events)
    empty(database)
    while events:
        batch, events = events[:7], events[7:]
        write_batch(database, batch)
    assert canonical(database) == expected
