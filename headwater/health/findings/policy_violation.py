"""Rule `policy-violation`: a node violates a standing policy.

The finding is derived from the graph, the policies and the instant. It begins with the first event
that names the node, because the graph does not keep when owners and tags came. It vanishes once the
node no longer violates the policy. A policy that cannot be assessed gives no finding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime

from headwater.governance.policies.check import CheckRequest, check_known_nodes
from headwater.governance.policies.models import Violation
from headwater.governance.policies.store import PolicyStore
from headwater.health.findings.models import Episode
from headwater.lineage.view import GraphView

RULE = "policy-violation"
_KINDS = ("dataset:", "job:", "answer:")
_UNDATED = datetime(1970, 1, 1, tzinfo=UTC)


def policy_episodes(
    view: GraphView, store: PolicyStore, urns: Sequence[str], instant: datetime
) -> dict[str, list[Episode]]:
    """Return the episodes of these nodes under the policies in force, by node."""
    policies = store.read().policies
    if not policies.standing:
        return {}
    subjects = [urn for urn in urns if urn.startswith(_KINDS)]
    request = CheckRequest(test_consumers=store.test_consumers)
    found: dict[str, list[Episode]] = defaultdict(list)
    for violation in check_known_nodes(view, policies, subjects, instant, request).violations:
        found[violation.urn].append(_episode(violation))
    return found


def _episode(violation: Violation) -> Episode:
    since = violation.since or _UNDATED
    return Episode(
        rule=RULE,
        subject=violation.urn,
        key=violation.policy,
        first_seen=since,
        last_seen=since,
        evidence={
            "policy": violation.policy,
            "severity": str(violation.severity),
            "enforce": str(violation.enforce),
            "message": violation.message,
            "notify": list(violation.notify),
            "variables": dict(violation.evidence),
        },
    )
