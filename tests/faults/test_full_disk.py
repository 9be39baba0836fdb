"""An installation on a full disk.

The API answers 503 with Retry-After, keeps every acknowledged event, and accepts events again as
soon as the disk has room. The whole home is on that disk, as by default: the spool, and the metrics
that the processes share.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from tests.conftest import Neo4jServer
from tests.faults.disks import small_disk
from tests.faults.history import history
from tests.faults.processes import Answer, Installation, installation, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.neo4j]

MEGABYTES = 4
BALLAST_BYTES = 1 << 20
EVENTS_MAX = 20_000
BACK_SECONDS_MAX = 5.0


@pytest.fixture
def cramped(graph: Database, neo4j_server: Neo4jServer, tmp_path: Path) -> Iterator[Installation]:
    assert graph.uri == neo4j_server.uri
    with (
        small_disk(tmp_path / "disk", MEGABYTES) as disk,
        installation(disk / "home", neo4j_server) as installed,
    ):
        for program in (installed.api, installed.worker):
            program.log = tmp_path / f"{program.name}.log"
        yield installed


def post(home: Installation, body: bytes) -> Answer:
    answer = home.ask("/api/v1/lineage", body)
    assert answer.status in (201, 503), answer.body
    return answer


def fill(home: Installation, bodies: Iterator[bytes], acknowledged: dict[int, bytes]) -> Answer:
    """Post until an event is refused; return that answer."""
    for _ in range(EVENTS_MAX):
        body = next(bodies)
        answer = post(home, body)
        if answer.status != 201:
            return answer
        acknowledged[answer.json["sequence"]] = body
    raise AssertionError("the disk never filled up")


def test_a_full_disk(cramped: Installation, graph: Database) -> None:
    home = cramped
    ballast = home.home.parent / "ballast"
    ballast.write_bytes(bytes(BALLAST_BYTES))
    home.start_api()
    home.worker.start()
    wait_for("ready", lambda: home.ask("/readyz").status == 200, 60)

    acknowledged: dict[int, bytes] = {}
    # Large events first (spaces after an event are ignored), then small ones fill the rest.
    large = (body + b" " * 20_000 for body in history(1_000))
    refusal = fill(home, large, acknowledged)
    refusal = fill(home, iter(history(4_000, first=1_000)), acknowledged)
    assert int(refusal.headers["retry-after"]) > 0
    assert refusal.json["error"]["code"] == "SpoolFull"
    slowest = max(post(home, body).seconds for body in history(5, first=5_000))
    print(f"{len(acknowledged)} accepted until it was full; refused within {slowest * 1000:.0f} ms")
    assert slowest < 2

    ready = home.ask("/readyz")
    assert ready.status == 503
    assert ready.json["checks"]["spool"]["ok"] is False
    assert "spool" in ready.json["checks"]["spool"]["reason"]
    assert ready.json["checks"]["neo4j"]["ok"] is True
    # Folding, metrics and queries continue.
    home.wait_folded(graph, 60)
    assert home.metric("headwater_spool_depth") == 0
    for path in ("/healthz", "/metrics"):
        assert home.ask(path).status == 200
    assert home.graphql('{ search(text: "mart") { __typename } }').status == 200

    ballast.unlink()
    later = history(1, first=9_000)[0]
    seconds = wait_for("accepted again", lambda: post(home, later).status == 201, BACK_SECONDS_MAX)
    print(f"accepted again {seconds:.2f} s after there was room")
    wait_for("ready again", lambda: home.ask("/readyz").status == 200, BACK_SECONDS_MAX)

    stored = home.records()
    assert {sequence: stored[sequence] for sequence in acknowledged} == acknowledged
    checkpoint = home.wait_folded(graph, 60)
    assert (checkpoint.folded, checkpoint.dead) == (len(stored), 0)
    assert home.programs_with_tracebacks() == []
    assert home.api.running
    assert home.worker.running
