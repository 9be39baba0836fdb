"""Datasets that were removed, as the policies would have seen it: which removals they refuse.

Each removal is evaluated as a proposed delete at the moment before it, on the lineage of then.
Owners, tags and descriptions are the last that the graph has.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain

from headwater.governance.policies.check import SECONDS_MAX, Checked, policies_of, require_time
from headwater.governance.policies.evaluate import OutcomesOf, evaluate_all, outcomes_here
from headwater.governance.policies.facts import FactsRequest, read_facts
from headwater.governance.policies.models import Change, Facts, PolicySet, Violation
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.nodes import read_nodes
from headwater.lineage.view import GraphView

DELETE = "delete"
# The newest removals that are evaluated.
REMOVALS_MAX = 200
_CONSUMERS = "consumers.activeUrns"
_MOMENT = timedelta(microseconds=1)


def check_removals(
    view: GraphView,
    policies: PolicySet,
    since: datetime,
    until: datetime,
    *,
    test_consumers: tuple[str, ...] = (),
    outcomes_of: OutcomesOf = outcomes_here,
) -> Checked:
    """Return the policies that removals of datasets violated, from one instant to another.

    A violation is since the removal. It notifies the owners of the active consumers, too. Raises
    QueryError if the evaluation takes longer than `SECONDS_MAX`.
    """
    deadline = time.monotonic() + SECONDS_MAX + view.planning_seconds
    wanted = policies_of(policies, DELETE)
    rows = view.read(
        "read/policies/removed_datasets",
        since=since,
        until=until,
        visible=view.visibility.regexes,
        limit=REMOVALS_MAX,
    )
    visible = set(select_visible(view, [row["urn"] for row in rows]))
    needs = {*chain.from_iterable(policy.variables for policy in wanted), _CONSUMERS}
    request = FactsRequest(needs, past=True, test_consumers=test_consumers)
    removals = [(row["urn"], row["removed"]) for row in rows if row["urn"] in visible]
    found: list[Violation] = []
    for urn, removed in removals if wanted else ():
        instant = removed - _MOMENT
        for facts in read_facts(view, [urn], instant, Change(DELETE), request).values():
            violations = evaluate_all(wanted, [facts], instant, outcomes_of)
            require_time(deadline)
            told = _owners(view, facts) if violations else frozenset[str]()
            for one in violations:
                notify = tuple(sorted({*one.notify, *told}))
                found.append(replace(one, since=removed, notify=notify))
    return Checked(
        tuple(one for one in found if not one.unknown),
        tuple(one for one in found if one.unknown),
        len(removals),
        len(wanted),
    )


def _owners(view: GraphView, facts: Facts) -> Collection[str]:
    """Return the owners of the active consumers of a dataset."""
    rows = read_nodes(view, facts.values.get(_CONSUMERS, ()))
    return frozenset(chain.from_iterable(row.get("owners") or () for row in rows.values()))
