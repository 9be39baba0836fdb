"""F26: 300 heavy questions about lineage at once, while events are accepted and folded.

Events are answered as fast as without the questions. Each question ends: with its whole answer, with
a part that names its bound, or with an error that names the reason.
"""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.warmup import PLANNING_SECONDS_MAX
from headwater.graphql.transport.requests import REQUEST_SECONDS_MAX
from tests.faults.checker import scaled, seeded
from tests.faults.history import endless
from tests.faults.load import Load, figures
from tests.faults.processes import Answer, Installation, slack, wait_for
from tests.lineage.traversal.shapes import JobShape, write_shapes
from tests.run_builders import ds
from tests.torture import in_torture_only

pytestmark = [pytest.mark.slow, pytest.mark.neo4j, pytest.mark.timeout(900)]

QUESTIONS = 300
LEVELS, WIDTH = 12, 50
POST_SECONDS_MAX = 2.0
ACCEPTED = 50
# The deadline of a request, the time to plan statements for the first time, and the answer itself.
ANSWER_SECONDS_MAX = REQUEST_SECONDS_MAX + PLANNING_SECONDS_MAX + 5.0
PROGRESS_SECONDS_MAX = 120.0
ENDS = {
    *("cut by None", "cut by time", "cut by nodes", "cut by edges"),
    *("error UNAVAILABLE", "error TIMEOUT", "429", "503"),
}
# Only Neo4j has the times of edges, so the cache cannot answer.
TEXT = """
query ($urn: ID!) {
  lineage(urn: $urn, direction: DOWNSTREAM, depth: 50, filter: {since: "2025-01-01T00:00:00Z"}) {
    truncatedBy
    nodes { urn }
    edges { source target }
  }
}
"""


def wide_graph(chance: random.Random) -> list[JobShape]:
    """Return levels of jobs, each of which reads four datasets of the level before."""
    return [
        JobShape(
            f"j{level}-{number}",
            [f"d{level}-{chance.randrange(WIDTH)}" for _ in range(4)],
            [f"d{level + 1}-{number}"],
        )
        for level in range(LEVELS)
        for number in range(WIDTH)
    ]


def ask(home: Installation, number: int) -> Answer:
    variables = {"urn": ds(f"d{1 + number % 3}-{number % WIDTH}")}
    body = json.dumps({"query": TEXT, "variables": variables}).encode()
    return home.ask("/graphql", body, timeout=2 * ANSWER_SECONDS_MAX * slack())


def end_of(answer: Answer) -> str:
    """Return how a question ended."""
    if answer.status != 200:
        return str(answer.status)
    if errors := answer.json.get("errors"):
        return f"error {errors[0]['extensions']['code']}"
    return f"cut by {answer.json['data']['lineage']['truncatedBy']}"


@in_torture_only
def test_300_heavy_questions_while_events_come(home: Installation, graph: Database) -> None:
    write_shapes(graph, wide_graph(seeded(20261126)))
    home.start_api()
    home.worker.start()
    with Load(home.port, endless(), clients=2, pause=0.05, seconds_max=600) as load:
        wait_for("some are folded", lambda: home.metric("headwater_events_folded_total") > 0, 120)
        mark = load.acknowledged + ACCEPTED
        with ThreadPoolExecutor(QUESTIONS) as pool:
            asked = pool.map(lambda number: ask(home, number), range(QUESTIONS * scaled(1)))
            wait_for("events go on", lambda: load.acknowledged >= mark, PROGRESS_SECONDS_MAX)
            answers = list(asked)
        before = home.metric("headwater_events_folded_total")
        wait_for(
            "folding goes on",
            lambda: home.metric("headwater_events_folded_total") > before,
            PROGRESS_SECONDS_MAX,
        )
        load.stop()
    ends = sorted(end_of(answer) for answer in answers)
    print({end: ends.count(end) for end in dict.fromkeys(ends)})
    print("events:", figures(load.slowest()))
    print("questions:", figures(sorted(answer.seconds for answer in answers)))
    assert set(ends) <= ENDS
    assert max(answer.seconds for answer in answers) < ANSWER_SECONDS_MAX * slack()
    assert {attempt.status for attempt in load.attempts} == {201}
    assert load.slowest()[-1] < POST_SECONDS_MAX * slack()
    assert home.programs_with_tracebacks() == []
