"""Malformed bodies over real HTTP, through the real worker, into the real graph.

No response is 5xx, and no event stops the worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.spool.spool import DeadLetter, Spool
from headwater.ingest.worker import Worker
from headwater.ingest.write.transaction import read_checkpoint
from tests.canonical import canonical, empty
from tests.ingest.conftest import Api
from tests.ingest.malformed_envelopes import CASES, Case
from tests.ingest.malformed_events import answer, dataset, event, job_named, output
from tests.run_builders import RECEIVED

MEGABYTE = "m" * 2**20
MEGABYTES = [
    job_named(MEGABYTE),
    event(MEGABYTE),
    event(inputs=[dataset(MEGABYTE)], facets={"errorMessage": {"message": MEGABYTE}}),
    output({"schema": {"fields": [{"name": MEGABYTE, "type": MEGABYTE}]}}),
    answer(content=MEGABYTE),
]
# These bodies make the end of an array element ambiguous, but not that of a line.
UNCLEAR = {
    "malformed: nothing",
    "malformed: cut short",
    "malformed: twice",
    "malformed: a comma too many",
    "malformed: UTF-16",
    "malformed: an array nested 30,000 deep",
}


def test_the_corpus_of_malformed_events_is_large_enough() -> None:
    assert len({case.body for case in CASES.values()}) == len(CASES) >= 200
    assert sum(case.status != 201 for case in CASES.values()) >= 150


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_a_single_event_is_stored_or_refused_with_its_field(api: Api, case: Case) -> None:
    before = api.last()
    answer = api.post(case.body)
    assert answer.status == case.status
    assert api.last() - before == (case.status == 201)
    if case.status != 201:
        assert answer.body["error"]["field"] == case.field
        assert 0 < len(answer.body["error"]["message"]) < 500


def between(case: Case, *, lines: bool) -> bytes:
    bodies = (event("before"), case.body, event("after"))
    return b"\n".join(bodies) if lines else b"[" + b",".join(bodies) + b"]"


@pytest.mark.parametrize("lines", [True, False], ids=["lines", "array"])
def test_its_neighbours_in_a_batch_are_stored(api: Api, lines: bool) -> None:
    for name, case in CASES.items():
        if name == "malformed: nothing" or (name in UNCLEAR and not lines):
            continue
        before = api.last()
        answer = api.batch(between(case, lines=lines))
        assert answer.status == 200, name
        failed = [(one["index"], one["field"]) for one in answer.body["failed_events"]]
        assert failed == ([] if case.status == 201 else [(1, case.field)]), name
        stored = api.stored(before)
        assert (stored[0], stored[-1], len(stored)) == (
            event("before"),
            event("after"),
            3 - len(failed),
        ), name


def test_a_batch_above_the_limit_is_refused_whole(api: Api) -> None:
    before = api.last()
    for body in (b"[" + b"1," * 100_000 + b"1]", b"1\n" * 100_001):
        answer = api.batch(body)
        assert (answer.status, answer.body["error"]["field"]) == (413, "body")
    assert api.last() == before


def test_a_batch_at_the_limit_names_every_event(api: Api) -> None:
    answer = api.batch(b"[" + event("first") + b",1" * 20_000 + b"]")
    assert answer.body["summary"] | {"failed": 20_000, "successful": 1} == answer.body["summary"]
    assert {one["field"] for one in answer.body["failed_events"]} == {"body"}


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with closing(Spool(tmp_path / "spool.db")) as spool:
        yield spool


def fold_all(database: Database, spool: Spool, events_max: int) -> list[DeadLetter]:
    empty(database)
    worker = Worker(database, spool, events_max=events_max)
    while worker.step():
        pass
    assert read_checkpoint(database, spool.id).position == spool.last()
    return spool.dead_letters(limit=1_000)


@pytest.mark.neo4j
def test_every_accepted_event_is_folded_without_dead_letters(
    api: Api, spool: Spool, database: Database
) -> None:
    before = api.last()
    for case in CASES.values():
        assert api.post(case.body).status == case.status
    assert api.post(event("neighbour")).status == 201
    # Too large for the API of these tests, which has a lower limit than the default.
    spool.append([*api.stored(before), *MEGABYTES], received=RECEIVED)
    assert fold_all(database, spool, 1_000) == []
    batch = canonical(database)
    rows = database.ask("MATCH (r:PipelineRun {runId: 'neighbour'}) RETURN r.status AS status", {})
    assert rows == [{"status": "COMPLETE"}]
    assert fold_all(database, spool, 20) == []
    assert canonical(database) == batch, "whatever the batches"
