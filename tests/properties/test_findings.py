"""Findings depend only on the set of events: not on order, duplicates, batches, or on when the
detector looked."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from headwater.cypher.driver.database import Database, Row
from headwater.health.findings.detector import Detector
from headwater.health.findings.sweep import OvertakenError, sweep
from headwater.ingest.fold import fold
from headwater.ingest.write.transaction import (
    Checkpoint,
    WriteRequest,
    read_checkpoint,
    write,
)
from headwater.lineage.view import GraphView
from headwater.schema.events import parse
from tests.canonical import canonical, empty
from tests.run_builders import FACET, SPOOL, Event, answer, run

pytestmark = pytest.mark.neo4j
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PIPELINE = (("load", "raw", "clean"), ("build", "clean", "mart"), ("export", "mart", "files"))
USUAL_ROWS = (1_000, 1_010, 990, 1_005)


def story(chance: random.Random) -> list[Event]:
    """Return ten rounds of a pipeline of three jobs, with failures, retries, drifts and checks.

    In half of the stories the jobs are tasks of a DAG.
    """
    events: list[Event] = list(answer("revenue", "mart", minute=20))
    has_dag = chance.random() < 0.5
    for index in range(10):
        dag = f"round-{index}" if has_dag else None
        if dag:
            events += run(dag, "dag", minute=index * 60)
        for step, (job, read, written) in enumerate(PIPELINE):
            minute = index * 60 + step * 5
            status = chance.choices(["COMPLETE", "FAIL"], [8, 2])[0]
            rows = chance.choice(USUAL_ROWS) if chance.random() < 0.9 else 9_000
            first = run(
                f"{job}-{index}",
                job,
                [read],
                [written],
                minute=minute,
                status=status,
                rows=rows,
                parent=dag,
            )
            events += [_described(event, chance) for event in first]
            if status == "FAIL" and chance.random() < 0.5:
                events += run(
                    f"{job}-{index}-again",
                    job,
                    [read],
                    [written],
                    minute=minute + 3,
                    rows=rows,
                    parent=dag,
                )
    return events


def _described(event: Event, chance: random.Random) -> Event:
    """Add a schema to each output, and sometimes a check of an input or tags."""
    for output in event.get("outputs", ()):
        amount = "long" if chance.random() < 0.9 else "string"
        fields = [{"name": "id", "type": "long"}, {"name": "amount", "type": amount}]
        output.setdefault("facets", {})["schema"] = {**FACET, "fields": fields}
        if chance.random() < 0.1:
            tags = [{"key": "certified", "value": "true", "source": "USER"}]
            output["facets"]["tags"] = {**FACET, "tags": tags}
    for read in event.get("inputs", ()):
        if chance.random() < 0.2:
            checks = [{"assertion": "not_null", "success": chance.random() < 0.6, "column": "id"}]
            read.setdefault("inputFacets", {})["dataQualityAssertions"] = {
                **FACET,
                "assertions": checks,
            }
    return event


def write_some(database: Database, events: list[Event]) -> None:
    bodies = [json.dumps(event).encode() for event in events]
    before = read_checkpoint(database, SPOOL)
    after = Checkpoint(before.position + len(bodies), before.folded + len(bodies), before.dead)
    delta = fold(parse(body, received=0) for body in bodies)
    write(database, WriteRequest(delta, spool=SPOOL, before=before, after=after, holder="tests"))


def stored_findings(database: Database) -> dict[str, Row]:
    """Return every finding with all its properties but the time at which it was written."""
    rows = database.ask("MATCH (f:Finding) RETURN f {.*, changedAt: null} AS p", {})
    return {row["p"]["urn"]: row["p"] for row in rows}


def detector_of(database: Database) -> Detector:
    return Detector(database, clock=lambda: NOW)


def catch_up(detector: Detector) -> None:
    """Step until nothing is left to do."""
    while detector.step() is not None:
        pass


def cut(events: list[Event], chance: random.Random) -> Iterator[list[Event]]:
    """Cut shuffled events, some of them twice, into a few batches."""
    shuffled = events + chance.choices(events, k=len(events) // 4)
    chance.shuffle(shuffled)
    cuts = sorted(chance.sample(range(len(shuffled)), k=6))
    for begin, end in zip([0, *cuts], [*cuts, len(shuffled)], strict=True):
        yield shuffled[begin:end]


def findings_at_once(database: Database, events: list[Event]) -> dict[str, Row]:
    """Return the findings of one full pass over a new graph with all events."""
    empty(database)
    write_some(database, events)
    detector_of(database).full_pass()
    return stored_findings(database)


@pytest.mark.parametrize("seed", range(3))
def test_passes_in_between_change_nothing(database: Database, seed: int) -> None:
    chance = random.Random(seed)
    events = story(chance)
    expected = findings_at_once(database, events)
    empty(database)
    detector = detector_of(database)
    catch_up(detector)
    for batch in cut(events, chance):
        write_some(database, batch)
        if chance.random() < 0.7:
            catch_up(detector)
        if chance.random() < 0.2:
            # It was killed: the next one begins at the saved cursor.
            detector = detector_of(database)
    catch_up(detector)
    assert stored_findings(database) == expected
    graph = canonical(database)
    detector.full_pass()
    assert stored_findings(database) == expected
    assert canonical(database) == graph, "findings are no part of the canonical export"
    empty(database)


def test_a_rebuilt_graph_has_the_same_findings(database: Database) -> None:
    events = story(random.Random(7))
    expected = findings_at_once(database, events)
    assert len({row["rule"] for row in expected.values()}) >= 3
    with database._transaction("WRITE", 60.0) as transaction:
        transaction.run(
            "MATCH (n) WHERE NOT n:Migration AND NOT n:Finding AND NOT n:Detector DETACH DELETE n"
        ).consume()
    detector = detector_of(database)
    write_some(database, list(reversed(events)))
    catch_up(detector)
    assert stored_findings(database) == expected
    empty(database)


def test_a_pass_that_was_overtaken_writes_nothing(database: Database) -> None:
    events = story(random.Random(3))
    empty(database)
    one, other = detector_of(database), detector_of(database)
    write_some(database, events[: len(events) // 2])
    catch_up(one)
    write_some(database, events[len(events) // 2 :])
    swept: list[object] = []

    def overtake() -> None:
        """Let the second detector write, once, after the first one has read."""
        if not swept:
            swept.append(other.full_pass())

    with pytest.raises(OvertakenError):
        sweep(GraphView(database), None, NOW, on_chunk=overtake)
    catch_up(one)
    assert stored_findings(database) == findings_at_once(database, events)
    empty(database)


def test_an_open_interval_ends_as_the_clock_goes_on(database: Database) -> None:
    """A detector that is asked again later gives what a new one would give at that time."""
    events = story(random.Random(11))
    empty(database)
    write_some(database, events)
    now = [NOW]
    detector = Detector(database, clock=lambda: now[0])
    catch_up(detector)
    for hours in (1, 5, 48):
        now[0] = NOW + timedelta(hours=hours)
        catch_up(detector)
    live = stored_findings(database)
    Detector(database, clock=lambda: now[0]).full_pass()
    assert stored_findings(database) == live
    empty(database)
