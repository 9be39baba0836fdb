"""Past removals: which the policies refuse on the lineage of then, and whom they would have told.

raw -> load -> orders -> report -> board, all at 00:10. `orders` is dropped at 01:00 while `report`,
whose owner is team:bi, reads it. `board` is dropped at 02:00, and nobody reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from headwater.cypher.driver.database import Database
from headwater.governance.policies.check import check_graph
from headwater.governance.policies.files import PolicyFile, parse_policies
from headwater.governance.policies.removals import check_removals
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, job_event, run_event
from tests.run_builders import Event, ds, job, write_events

pytestmark = pytest.mark.neo4j
DAY = datetime(2026, 1, 1, tzinfo=UTC)
POLICIES = parse_policies(
    [
        PolicyFile(
            "all.yaml",
            """
policies:
- {name: kept, rule: no-delete-with-consumers, notify: [oncall]}
- {name: owned, rule: required-owners}
- {name: reach, rule: approval-for-blast-radius, with: {over: 1}, enforce: warn}
""",
        )
    ]
)


def owned_by(name: str) -> Event:
    return {"ownership": {"owners": [{"name": name}]}}


def dropped(name: str) -> Event:
    return dataset(name, {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}})


@pytest.fixture(scope="module")
def graph(database: Database) -> Iterator[GraphView]:
    empty(database)
    write_events(
        database,
        [
            dataset_event("orders", 1, owned_by("team:sales")),
            job_event("report", 2, facets=owned_by("team:bi")),
            run_event("l1", minute=10, job="load", inputs=["raw"], outputs=["orders"]),
            run_event("r1", minute=10, job="report", inputs=["orders"], outputs=["board"]),
            run_event("d1", minute=60, job="clean", outputs=[dropped("orders")]),
            run_event("d2", minute=120, job="clean", outputs=[dropped("board")]),
        ],
    )
    yield GraphView(database)
    empty(database)


def test_a_removal_with_an_active_consumer_would_have_been_refused(graph: GraphView) -> None:
    found = check_removals(graph, POLICIES, DAY, DAY + timedelta(days=1))
    assert (found.nodes, found.policies) == (2, 2)
    kept, reach = found.violations
    assert (kept.policy, kept.urn, kept.since) == (
        "kept",
        ds("orders"),
        DAY + timedelta(hours=1),
    )
    assert kept.blocks
    assert kept.message == f"orders has 1 active consumers: {job('report')}"
    assert (kept.owners, kept.notify) == (("team:sales",), ("oncall", "team:bi"))
    assert (reach.policy, reach.urn, reach.blocks) == ("reach", ds("orders"), False)
    assert found.unknown == ()


def test_only_removals_of_the_time(graph: GraphView) -> None:
    late = check_removals(graph, POLICIES, DAY + timedelta(minutes=61), DAY + timedelta(days=1))
    assert (late.nodes, late.violations) == (1, ())
    early = check_removals(graph, POLICIES, DAY, DAY + timedelta(minutes=60))
    assert early.nodes == 0


def test_hidden_removals_are_left_out(graph: GraphView) -> None:
    hidden = graph.visible_to(Visibility(("other",)))
    assert check_removals(hidden, POLICIES, DAY, DAY + timedelta(days=1)).nodes == 0


def test_a_past_evaluation_has_the_datasets_that_were_removed_later(graph: GraphView) -> None:
    before = check_graph(graph, POLICIES, DAY + timedelta(minutes=90), past=True)
    assert [one.urn for one in before.violations if one.policy == "owned"] == [
        ds("board"),
        ds("raw"),
    ]
    now = check_graph(graph, POLICIES, DAY + timedelta(days=1))
    assert [one.urn for one in now.violations if one.policy == "owned"] == [ds("raw")]
