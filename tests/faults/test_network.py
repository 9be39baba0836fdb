"""F09 and F10: a proxy between the programs and Neo4j, and between clients and the API.

It cuts, delays, slices and holds back their bytes, while events are accepted.
"""

from __future__ import annotations

import random
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.spool.spool import Spool
from headwater.ingest.write.transaction import read_checkpoint
from tests.conftest import Neo4jServer
from tests.faults.checker import assert_nothing_lost, scaled, seeded
from tests.faults.history import endless, events_of, history
from tests.faults.load import Load
from tests.faults.processes import Installation, installation, wait_for
from tests.faults.proxy import BOLT_COMMIT, FaultProxy, Faults

pytestmark = [pytest.mark.slow, pytest.mark.neo4j, pytest.mark.timeout(1800)]

PROGRESS_SECONDS_MAX = 120.0
# No question hangs: its answer or its error comes long before this.
QUESTION_SECONDS_MAX = 60.0
ACCEPTED_DURING_A_FAULT = 10
NEO4J_FAULTS = 2
COMMIT_CUTS = 20
CLIENT_FAULTS = 20
QUESTION = '{ search(text: "mart") { __typename } }'


@contextmanager
def away_from_neo4j(
    neo4j_server: Neo4jServer, home: Path, **settings: object
) -> Iterator[tuple[Installation, FaultProxy]]:
    """Yield an installation that reaches Neo4j through a proxy."""
    target = urlsplit(neo4j_server.uri).port
    assert target is not None
    with FaultProxy(target) as proxy:
        behind = Neo4jServer(
            f"bolt://127.0.0.1:{proxy.port}", neo4j_server.user, neo4j_server.password
        )
        with installation(home, behind, **settings) as installed:
            yield installed, proxy


class Progress:
    """Waits for acknowledgements and for folded events."""

    def __init__(self, load: Load, graph: Database, spool_path: Path) -> None:
        self._load = load
        self._graph = graph
        spool = Spool(spool_path)
        self._spool_id = spool.id
        spool.close()

    def folded(self) -> int:
        return read_checkpoint(self._graph, self._spool_id).position

    def wait_accepted(self, number: int = ACCEPTED_DURING_A_FAULT) -> None:
        mark = self._load.acknowledged + number
        wait_for(
            "more accepted during the fault",
            lambda: self._load.acknowledged >= mark,
            PROGRESS_SECONDS_MAX,
        )

    def wait_folded(self, beyond: int) -> None:
        wait_for("folding again", lambda: self.folded() > beyond, PROGRESS_SECONDS_MAX)


def neo4j_faults(chance: random.Random) -> dict[str, Faults]:
    return {
        "black hole": Faults(black_hole=True),
        "refused": Faults(refuse=True),
        "late": Faults(delay_seconds=chance.uniform(0.2, 2.0)),
        "sliced": Faults(slice_bytes=chance.randint(1, 7)),
        "narrow": Faults(bytes_per_second=chance.randint(2_000, 20_000), slice_bytes=200),
        "cut": Faults(cut_after=chance.randint(0, 5_000)),
    }


def test_faults_between_headwater_and_neo4j(
    graph: Database, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    chance = seeded(20261109)
    with away_from_neo4j(neo4j_server, tmp_path / "home", fold_events_max=40) as (home, proxy):
        home.start_api()
        home.worker.start()
        with Load(home.port, endless(), clients=2, pause=0.1, seconds_max=1_500) as load:
            progress = Progress(load, graph, home.spool_path)
            progress.wait_folded(0)
            for _ in range(scaled(NEO4J_FAULTS)):
                for name, faults in neo4j_faults(chance).items():
                    with proxy.injecting(faults):
                        ended = proxy.reset() if name in ("refused", "cut") else 0
                        progress.wait_accepted()
                    progress.wait_folded(progress.folded())
                    print(f"{name}: {ended} connections reset, folding again")
                ended = proxy.half_open()
                progress.wait_accepted()
                progress.wait_folded(progress.folded())
                print(f"half open: {ended}")
            load.stop()
        assert {attempt.status for attempt in load.attempts} == {201}
        assert_nothing_lost(home, graph, load.attempts)


def test_commits_whose_reply_is_cut_take_effect_once(
    graph: Database, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    with away_from_neo4j(neo4j_server, tmp_path / "home", fold_events_max=40) as (home, proxy):
        home.start_api()
        home.worker.start()
        with Load(home.port, endless(), clients=2, pause=0.1, seconds_max=1_500) as load:
            progress = Progress(load, graph, home.spool_path)
            progress.wait_folded(0)
            committed = 0
            for _ in range(scaled(COMMIT_CUTS)):
                before, folded = proxy.cuts, progress.folded()
                proxy.faults = Faults(cut_reply_to=BOLT_COMMIT, once=True)
                wait_for(
                    "a commit was cut",
                    lambda: proxy.cuts > before,  # noqa: B023
                    PROGRESS_SECONDS_MAX,
                )
                committed += progress.folded() > folded
                progress.wait_folded(progress.folded())
            load.stop()
        print(f"{scaled(COMMIT_CUTS)} commits cut, about {committed} of them committed")
        assert {attempt.status for attempt in load.attempts} == {201}
        assert "waiting_to_retry" in home.worker.output()
        assert_nothing_lost(home, graph, load.attempts)


def test_questions_end_with_an_error_that_names_neo4j(
    graph: Database, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    assert graph.uri == neo4j_server.uri
    with away_from_neo4j(neo4j_server, tmp_path / "home") as (home, proxy):
        home.start_api()
        wait_for("an answer", partial(answers, home), PROGRESS_SECONDS_MAX)
        for name, faults in {
            "black hole": Faults(black_hole=True),
            "refused": Faults(refuse=True),
            "cut": Faults(cut_after=20),
            "cut reply": Faults(cut_reply_to=b"CALL db.index.fulltext"),
        }.items():
            with proxy.injecting(faults):
                if name != "black hole":
                    proxy.reset()
                answer = home.graphql(QUESTION, timeout=QUESTION_SECONDS_MAX)
                assert "Neo4j" in answer.json["errors"][0]["message"], name
                posted = home.ask("/api/v1/lineage", events_of(1)[0])
                assert posted.status == 201, name
                print(f"{name}: an error after {answer.seconds:.1f} s")
            wait_for("an answer again", partial(answers, home), PROGRESS_SECONDS_MAX)
        assert home.programs_with_tracebacks() == []


def answers(home: Installation) -> bool:
    return "errors" not in home.graphql(QUESTION, timeout=QUESTION_SECONDS_MAX).json


def half_request(port: int, chance: random.Random) -> None:
    """Send a part of a request, then reset the connection."""
    body = events_of(99_000)[0]
    head = b"POST /api/v1/lineage HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n"
    request = head % len(body) + body
    with socket.create_connection(("127.0.0.1", port)) as connection, suppress(OSError):
        connection.sendall(request[: chance.randrange(1, len(request))])
        if chance.random() < 0.5:
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


def client_faults(chance: random.Random) -> Faults:
    return chance.choice(
        [
            Faults(cut_after=chance.randint(0, 2_000)),
            Faults(refuse=True),
            Faults(delay_seconds=chance.uniform(0, 0.2)),
            Faults(slice_bytes=chance.randint(1, 40)),
            Faults(cut_reply_to=b"eventTime"),
            Faults(black_hole=True),
        ]
    )


def test_faults_between_clients_and_the_api(home: Installation, graph: Database) -> None:
    chance = seeded(20261110)
    home.start_api()
    home.worker.start()
    with FaultProxy(home.port) as proxy:
        work = ([body] for body in history(100 * scaled(1)))
        near = Load(home.port, endless(first=10_000), clients=2, pause=0.05, seconds_max=1_500)
        far = Load(proxy.port, work, clients=3, pause=0.02, seconds_max=1_500)
        with near, far:
            progress = Progress(near, graph, home.spool_path)
            for _ in range(scaled(CLIENT_FAULTS)):
                with proxy.injecting(client_faults(chance)):
                    half_request(home.port, chance)
                    progress.wait_accepted()
                if chance.random() < 0.6:
                    chance.choice([proxy.reset, proxy.half_open])()
            wait_for("the far clients are through", lambda: not far.busy, PROGRESS_SECONDS_MAX)
            near.stop()
        print(f"{proxy.cuts} connections cut, {scaled(CLIENT_FAULTS)} half requests")
    assert {attempt.status for attempt in near.attempts} == {201}
    assert {attempt.status for attempt in far.attempts} <= {0, 201}
    stored = set(home.records().values())
    assert events_of(99_000)[0] not in stored
    assert stored == set(
        chain.from_iterable(attempt.bodies for attempt in [*near.acked(), *far.acked()])
    )
    assert_nothing_lost(home, graph, [*near.attempts, *far.attempts])
