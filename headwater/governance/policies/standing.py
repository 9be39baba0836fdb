"""The violations of the policies in force on the whole graph, evaluated once a revision.

The next caller with the same visibility gets the result of the last one, until the graph or the
policies change. Some conditions read the clock, so a result is kept for `AGE_MAX` only.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from weakref import WeakKeyDictionary

from headwater.cypher.driver.database import Database
from headwater.governance.policies.check import Checked, CheckRequest, check_graph, check_nodes
from headwater.governance.policies.models import Policy, PolicySet, Violation
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

AGE_MAX = timedelta(seconds=30)
# Neo4j shows a commit piece by piece; after this long all of it is visible.
COMMIT_VISIBLE_SECONDS_MAX = 1.0
# The results that are kept for one database: of this many visibilities.
RESULTS_MAX = 8


@dataclass(frozen=True)
class ViolationFilter:
    """Conditions on violations; an empty one matches everything.

    include_unknown: also what cannot be assessed.
    """

    policy: str = ""
    severity: str = ""
    namespace: str = ""
    urn: str = ""
    include_unknown: bool = False

    def includes_policy(self, policy: Policy) -> bool:
        """Return True if the violations of a policy are wanted."""
        return self.policy in ("", policy.name) and self.severity in ("", policy.severity)

    def includes_node(self, urn: str) -> bool:
        """Return True if the violations of a node are wanted."""
        if not self.namespace:
            return True
        parts = parse_urn(urn).parts
        return urn.startswith(("dataset:", "job:")) and parts[:1] == (self.namespace,)


@dataclass(frozen=True)
class _Result:
    """What was found at an instant, for a revision of the graph.

    began: when the evaluation began, a reading of time.monotonic(). is_settled: all of the revision
      was visible then.
    """

    checked: Checked
    instant: datetime
    revision: object
    began: float
    is_settled: bool

    def answers(self, revision: object, instant: datetime) -> bool:
        """Return True if the result is that of another evaluation now."""
        is_whole = self.is_settled or time.monotonic() - self.began <= COMMIT_VISIBLE_SECONDS_MAX
        is_recent = abs(instant - self.instant) <= AGE_MAX
        return is_whole and is_recent and self.revision == revision


@dataclass
class _Results:
    """The results of one database by what they are about, and a lock of each for its evaluation.

    seen: the newest revision that was read, and when it was read first.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    found: OrderedDict[object, _Result] = field(default_factory=OrderedDict)
    evaluating: dict[object, threading.Lock] = field(default_factory=dict)
    seen: tuple[object, float] = (None, 0.0)


_all_results: WeakKeyDictionary[Database, _Results] = WeakKeyDictionary()
_lock = threading.Lock()


def policy_violations(
    view: GraphView,
    policies: PolicySet,
    instant: datetime,
    filter: ViolationFilter = ViolationFilter(),
    *,
    test_consumers: tuple[str, ...] = (),
) -> list[Violation]:
    """Return the violations of standing policies on the nodes that the caller sees."""
    if not any(filter.includes_policy(one) for one in policies.standing):
        return []
    if filter.urn:
        request = CheckRequest(test_consumers=test_consumers)
        found = check_nodes(view, policies, [filter.urn], instant, request)
    else:
        found = _check_graph(view, policies, instant, test_consumers)
    wanted = {one.name for one in policies.standing if filter.includes_policy(one)}
    unknown = found.unknown if filter.include_unknown else ()
    return [
        one
        for one in (*found.violations, *unknown)
        if one.policy in wanted and filter.includes_node(one.urn)
    ]


def _check_graph(
    view: GraphView, policies: PolicySet, instant: datetime, test_consumers: tuple[str, ...]
) -> Checked:
    with _lock:
        results = _all_results.setdefault(view.database, _Results())
    key = (policies.digest, view.visibility, test_consumers)
    revision = _revision(view)
    with results.lock:
        evaluating = results.evaluating.setdefault(key, threading.Lock())
        if results.seen[0] != revision:
            results.seen = revision, time.monotonic()
        seen_at = results.seen[1]
    # Callers that ask at the same time wait for one evaluation.
    with evaluating:
        known = results.found.get(key)
        if known is not None and known.answers(revision, instant):
            return known.checked
        began = time.monotonic()
        checked = check_graph(view, policies, instant, test_consumers=test_consumers)
        is_settled = began - seen_at > COMMIT_VISIBLE_SECONDS_MAX
        with results.lock:
            results.found[key] = _Result(checked, instant, revision, began, is_settled)
            results.found.move_to_end(key)
            while len(results.found) > RESULTS_MAX:
                old, _ = results.found.popitem(last=False)
                results.evaluating.pop(old, None)
    return checked


def _revision(view: GraphView) -> object:
    rows = view.read("read/cache/revision")
    return (rows[0]["graph"], rows[0]["revision"]) if rows else None
