"""Violations of the whole graph: filters, and results that the next caller gets."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from headwater.cypher.driver.database import Database
from headwater.governance.policies.check import Checked, check_graph
from headwater.governance.policies.files import PolicyFile, parse_policies
from headwater.governance.policies.models import PolicySet
from headwater.governance.policies.standing import (
    AGE_MAX,
    COMMIT_VISIBLE_SECONDS_MAX,
    ViolationFilter,
    _Result,
    policy_violations,
)
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.counted_database import CountedDatabase
from tests.event_builders import dataset_event
from tests.run_builders import ds, write_events

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def parsed(*rules: str) -> PolicySet:
    return parse_policies([PolicyFile("a.yaml", "policies:\n" + "\n".join(rules))])


POLICIES = parsed(
    "- {name: a, rule: required-owners, severity: P1}",
    "- {name: b, rule: no-delete-with-consumers}",
    "- {name: c, rule: required-description}",
)


def test_a_filter_of_policies() -> None:
    first, second, _ = POLICIES.policies
    assert ViolationFilter().includes_policy(first)
    assert ViolationFilter(policy="a").includes_policy(first)
    assert not ViolationFilter(policy="a").includes_policy(second)
    assert not ViolationFilter(severity="P2").includes_policy(first)


def test_a_filter_of_namespaces() -> None:
    filter = ViolationFilter(namespace="db")
    assert filter.includes_node("dataset:db:orders")
    assert not filter.includes_node("dataset:db2:orders")
    assert not filter.includes_node("answer:db")


@pytest.mark.neo4j
class TestResults:
    @pytest.fixture
    def counted(self, database: Database) -> Iterator[CountedDatabase]:
        empty(database)
        write_events(database, [dataset_event("orders", 1), dataset_event("sums", 2)])
        yield CountedDatabase(database)
        empty(database)

    def evaluations(self, database: CountedDatabase) -> int:
        """Return how often the graph was evaluated since the last call."""
        count = len([name for name in database.queries if name == "read/policies/nodes"])
        database.queries.clear()
        return count

    def found(
        self,
        database: Database,
        *,
        after: timedelta = timedelta(0),
        sees: str = "*",
        policies: PolicySet = POLICIES,
        filter: ViolationFilter | None = None,
    ) -> list[tuple[str, str]]:
        view = GraphView(database).visible_to(Visibility((sees,)))
        found = policy_violations(view, policies, NOW + after, filter or ViolationFilter())
        return [(one.policy, one.urn) for one in found]

    def settled(self, database: CountedDatabase) -> None:
        """Ask until two questions in a row share a result."""
        while True:
            self.found(database)
            time.sleep(COMMIT_VISIBLE_SECONDS_MAX)
            self.evaluations(database)
            self.found(database)
            if not self.evaluations(database):
                return

    def test_one_evaluation_answers_until_something_changes(
        self, counted: CountedDatabase, database: Database
    ) -> None:
        both = [("a", ds("orders")), ("a", ds("sums")), ("c", ds("orders")), ("c", ds("sums"))]
        assert self.found(counted) == both
        self.settled(counted)
        assert self.found(counted, filter=ViolationFilter(policy="c")) == both[2:]
        assert self.found(counted, filter=ViolationFilter(severity="P1")) == both[:2]
        assert self.found(counted, filter=ViolationFilter(namespace="other")) == []
        assert self.evaluations(counted) == 0
        # Another caller, the clock, and other policies.
        assert self.found(counted, sees="other") == []
        assert self.found(counted, after=2 * AGE_MAX) == both
        assert self.evaluations(counted) == 1
        assert (
            self.found(counted, policies=parsed("- {name: a, rule: required-owners}")) == both[:2]
        )
        assert self.evaluations(counted) == 1
        owners = {"ownership": {"owners": [{"name": "ann"}]}}
        write_events(database, [dataset_event("orders", 3, owners)])
        assert self.found(counted) == both[1:]

    def test_the_number_of_statements_does_not_grow_with_the_datasets(
        self, counted: CountedDatabase, database: Database
    ) -> None:
        masked = parsed("- {name: m, rule: masked-personal-data}")
        view = GraphView(counted)
        check_graph(view, masked, NOW)
        counted.queries.clear()
        check_graph(view, masked, NOW)
        of_two = len(counted.queries)
        write_events(database, [dataset_event(f"d{number}", 3) for number in range(20)])
        check_graph(view, masked, NOW)
        counted.queries.clear()
        check_graph(view, masked, NOW)
        assert len(counted.queries) <= of_two + 1, counted.queries

    def test_a_result_of_a_revision_that_is_still_arriving_is_kept_for_a_moment(self) -> None:
        checked = Checked((), (), 0, 0)
        now = time.monotonic()
        settled = _Result(checked, NOW, 1, now - 10, is_settled=True)
        arriving = _Result(checked, NOW, 1, now - 10, is_settled=False)
        new = _Result(checked, NOW, 1, now + 60, is_settled=False)
        assert settled.answers(1, NOW)
        assert not settled.answers(2, NOW)
        assert not settled.answers(1, NOW + 2 * AGE_MAX)
        assert not arriving.answers(1, NOW)
        assert new.answers(1, NOW)
