"""Nasty bodies, over real HTTP, through the real worker, into the real graph: never a 5xx, nothing stops the line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headwater.cypher.database import Database
from headwater.ingest.spool import Dead, Spool
from headwater.ingest.worker import Worker
from headwater.ingest.writer import read_checkpoint
from tests.canonical import canonical, empty
from tests.ingest.conftest import Api
from tests.ingest.nasty import ACCEPTED, REFUSED, event


@pytest.mark.parametrize("body", REFUSED.values(), ids=list(REFUSED))
def test_refused_with_a_word_why(api: Api, body: bytes) -> None:
    before = api.last()
    answer = api.post(body)
    assert answer.status in {400, 422}
    assert 0 < len(answer.body["error"]["message"]) < 500
    assert api.last() == before


@pytest.mark.parametrize("body", ACCEPTED.values(), ids=list(ACCEPTED))
def test_accepted_and_on_disk(api: Api, body: bytes) -> None:
    before = api.last()
    assert api.post(body).status == 201
    assert api.last() == before + 1


def test_all_in_one_batch_the_good_ones_are_kept(api: Api) -> None:
    before = api.last()
    good = [body for body in ACCEPTED.values() if len(body) < 20_000]
    # What leaves the array itself in doubt cannot be told from its neighbours.
    unclear = {"cut short", "an array nested 30,000 deep", "a comma too many", "UTF-16", "twice", "nothing"}
    bad = [body for name, body in REFUSED.items() if name not in unclear and len(body) < 20_000]
    mixed = [body for pair in zip(good, bad * len(good), strict=False) for body in pair]
    answer = api.batch(b"[" + b",".join(mixed) + b"]")
    assert answer.status == 200
    assert answer.body["summary"]["successful"] == len(good) == api.last() - before
    assert answer.body["summary"]["failed"] == len(mixed) - len(good)


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with closing(Spool(tmp_path / "spool.db")) as spool:
        yield spool


def fold_all(database: Database, spool: Spool, events_max: int) -> list[Dead]:
    empty(database)
    worker = Worker(database, spool, events_max=events_max)
    while worker.step():
        pass
    assert read_checkpoint(database, spool.id).position == spool.last()
    return spool.dead(limit=1_000)


@pytest.mark.neo4j
def test_what_was_accepted_is_folded_and_none_of_it_is_set_aside(api: Api, spool: Spool, database: Database) -> None:
    before = api.last()
    for body in ACCEPTED.values():
        assert api.post(body).status == 201
    assert api.post(event("neighbour")).status == 201
    spool.append(api.kept(before), received=1)
    assert fold_all(database, spool, 1_000) == []
    at_once = canonical(database)
    rows = database.ask("MATCH (r:PipelineRun {runId: 'neighbour'}) RETURN r.status AS status", {})
    assert rows == [{"status": "COMPLETE"}]
    assert fold_all(database, spool, 20) == []
    assert canonical(database) == at_once, "whatever the batches"


@pytest.mark.neo4j
@pytest.mark.slow
def test_what_neo4j_refuses_is_set_aside_alone_with_the_reason(spool: Spool, database: Database) -> None:
    """Nothing that passes the door is known to be refused for what it says, only for how much: so many columns need
    more memory than a transaction may have."""
    columns = [{"name": f"column {number}", "type": "string"} for number in range(60_000)]
    huge = event("huge", outputs=[{"namespace": "db", "name": "wide", "facets": {"schema": {"fields": columns}}}])
    spool.append([event("before"), huge, event("after")], received=1)
    dead = fold_all(database, spool, 2)
    assert [one.seq for one in dead] == [2]
    assert "needs too much memory" in dead[0].reason
    assert json.loads(dead[0].body)["run"]["runId"] == "huge"
    found = {row["id"] for row in database.ask("MATCH (r:PipelineRun) RETURN r.runId AS id", {})}
    assert found == {"before", "after"}
    checkpoint = read_checkpoint(database, spool.id)
    assert (checkpoint.folded, checkpoint.dead) == (2, 1)
