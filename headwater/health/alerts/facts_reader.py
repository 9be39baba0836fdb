"""Reads what the lineage graph adds to an alert, with the visibility of its receiver.

Each part has its own limits of time and size. If one cannot be read, the alert goes out without it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TypeVar

from headwater.errors import HeadwaterError
from headwater.health.alerts.facts import (
    AlertFacts,
    Cause,
    DatasetAge,
    LastSuccess,
    Replay,
    TraceOfRun,
    Violation,
)
from headwater.health.alerts.headlines import headline
from headwater.health.alerts.models import Alert, Status
from headwater.health.findings.listing import findings_of
from headwater.health.findings.models import Finding, Impact
from headwater.health.findings.rules import RULES
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.questions.freshness import freshness
from headwater.lineage.questions.replay import Rerun, replay_plan
from headwater.lineage.questions.root_cause import STARTS, root_cause
from headwater.lineage.questions.traces import trace_link
from headwater.lineage.view import GraphView

SECONDS_MAX = 2.0
CAUSES_MAX, VIOLATIONS_MAX, SUCCESSES_MAX, STEPS_MAX = 3, 5, 5, 20
DATASETS_MAX, TRACES_MAX = 5, 20
RECENT = timedelta(days=7)
_CHECK = "failed-check"

T = TypeVar("T")
logger = logging.getLogger(__name__)


def read_facts(view: GraphView, alert: Alert, trace_url: str = "") -> AlertFacts:
    """Return what the graph adds to an alert; nothing to one that is resolved.

    trace_url: the address of a trace, with `{traceId}` for its id; "" for none.
    """
    if alert.status is Status.RESOLVED:
        return AlertFacts()
    subject = alert.head.episode.subject
    none: list[str] = []
    upstream = _or_empty(lambda: _upstream(view, subject), none)
    return AlertFacts(
        freshness=_or_empty(lambda: _freshness(view, upstream), ()),
        violations=_or_empty(lambda: _violations(view, alert, upstream), ()),
        last_successes=_or_empty(lambda: _last_successes(view, alert), ()),
        causes=_or_empty(lambda: _causes(view, alert.head), ()),
        replay=_or_empty(lambda: _replay(view, alert.head), None),
        traces=_or_empty(lambda: _traces(view, alert, trace_url), ()),
    )


def _or_empty(read: Callable[[], T], empty: T) -> T:
    try:
        return read()
    except HeadwaterError as error:
        logger.info("alert_fact_missing error=%s", error.message)
        return empty


def _upstream(view: GraphView, subject: str) -> list[str]:
    rows = view.read("read/alerts/upstream_datasets", urn=subject, limit=DATASETS_MAX)
    return select_visible(view, [row["urn"] for row in rows])


def _freshness(view: GraphView, datasets: list[str]) -> tuple[DatasetAge, ...]:
    ages = freshness(view, datasets, seconds=SECONDS_MAX)
    found = []
    for urn, age in sorted(ages.items()):
        oldest = age.sources[0] if age.sources else None
        found.append(
            DatasetAge(
                urn,
                age.newest_at,
                oldest.dataset if oldest else None,
                oldest.newest_at if oldest else None,
            )
        )
    return tuple(found)


def _violations(view: GraphView, alert: Alert, upstream: list[str]) -> tuple[Violation, ...]:
    """Return the failed checks and drifts near the root in the week before, newest first."""
    nodes = dict.fromkeys([alert.head.episode.subject, *upstream])
    own = {finding.id for finding in alert.findings}
    since = alert.since - RECENT
    found: list[Finding] = []
    for findings in findings_of(view, nodes).values():
        found += findings
    recent = [
        one
        for one in found
        if one.id not in own and _is_violation(one) and one.episode.last_seen >= since
    ]
    recent.sort(key=lambda one: (one.episode.first_seen, one.id), reverse=True)
    return tuple(
        Violation(
            one.episode.subject,
            headline(one.episode.rule, one.episode.subject),
            one.episode.first_seen,
        )
        for one in recent[:VIOLATIONS_MAX]
    )


def _is_violation(finding: Finding) -> bool:
    rule = finding.episode.rule
    return rule == _CHECK or RULES[rule].impact is Impact.DRIFT


def _last_successes(view: GraphView, alert: Alert) -> tuple[LastSuccess, ...]:
    nodes = [alert.head.episode.subject, *(consumer.urn for consumer in alert.consumers)]
    wanted = [urn for urn in dict.fromkeys(nodes) if urn.startswith(("job:", "dataset:"))]
    wanted = select_visible(view, wanted[:SUCCESSES_MAX])
    rows = view.read("read/alerts/last_successes", urns=wanted)
    runs = set(select_visible(view, [row["run"] for row in rows if row["run"]]))
    return tuple(
        LastSuccess(row["urn"], row["run"] if row["run"] in runs else None, row["succeededAt"])
        for row in rows
    )


def _causes(view: GraphView, head: Finding) -> tuple[Cause, ...]:
    start = _begun_by(head) or head.episode.subject
    if start.partition(":")[0] not in STARTS:
        return ()
    found = root_cause(view, start, first=CAUSES_MAX, timeout_seconds=SECONDS_MAX)
    return tuple(
        Cause(one.urn, one.reason, one.occurred_at)
        for one in found.candidates
        # The alert already reports the run that failed.
        if one.urn != start
    )


def _replay(view: GraphView, head: Finding) -> Replay | None:
    start = _begun_by(head)
    if start is None:
        return None
    plan = replay_plan(view, start, timeout_seconds=SECONDS_MAX)
    steps = [_jobs(step) for step in plan.steps]
    return Replay(
        run=plan.corrupt_runs[0] if plan.corrupt_runs else start,
        steps=tuple(steps[:STEPS_MAX]),
        runs=sum(map(len, plan.steps)),
        answers=len(plan.answers),
    )


def _traces(view: GraphView, alert: Alert, trace_url: str) -> tuple[TraceOfRun, ...]:
    """Return the traces of the visible runs that show the findings, the root first."""
    starts = list(filter(None, map(_begun_by, [alert.head, *alert.findings])))
    rows = view.read("read/alerts/traces", urns=list(dict.fromkeys(starts)))
    visible = set(select_visible(view, [row["run"] for row in rows]))
    found = {
        trace_id: TraceOfRun(trace_id, row["run"], trace_link(trace_url, trace_id))
        for row in rows
        if row["run"] in visible
        for trace_id in row["traceIds"]
    }
    order = {urn: number for number, urn in enumerate(starts)}
    first = sorted(found.values(), key=lambda one: (order.get(one.run, len(order)), one.trace_id))
    return tuple(first[:TRACES_MAX])


def _jobs(step: Iterable[Rerun]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(rerun.job or rerun.run for rerun in step))


def _begun_by(head: Finding) -> str | None:
    """Return the run or the version that began a problem, None if time did."""
    for value in (head.episode.key, head.episode.evidence.get("run")):
        if isinstance(value, str) and value.startswith(("run:", "artifact:")):
            return value
    return None
