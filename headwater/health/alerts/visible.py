"""An alert as a receiver may see it: without the names of hidden nodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from headwater.access.keys import Keys
from headwater.access.store import AccessStore
from headwater.health.alerts.grouping import alert_with, alerts_of
from headwater.health.alerts.models import Alert
from headwater.health.alerts.receivers import Receiver
from headwater.health.findings.listing import visible_findings
from headwater.health.findings.models import Finding
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility

NOTHING = Visibility(())


class ReceiverViews:
    """The graph as each receiver may see it; a key that is not valid sees nothing."""

    def __init__(self, view: GraphView, access: AccessStore | None = None) -> None:
        """Create the views. Without `access`, receivers with a key see nothing."""
        self._view = view
        self._access = access

    def view_of(self, receiver: Receiver) -> GraphView:
        """Return the graph as a receiver may see it now. Raises UnavailableError."""
        return self._view.visible_to(self._visibility(receiver))

    def _visibility(self, receiver: Receiver) -> Visibility:
        if not receiver.key:
            return receiver.visibility
        if self._access is None:
            return NOTHING
        valid: Collection[Visibility] = [
            key.principal.visibility
            for key in Keys(self._access).list()
            if key.name == receiver.key and key.state == "valid"
        ]
        return next(iter(valid), NOTHING)


def visible_alerts(view: GraphView, findings: Sequence[Finding], instant: datetime) -> list[Alert]:
    """Return the alerts of the visible ones of these findings, the most urgent first.

    Hidden findings decide neither whether an alert fires nor since when.
    """
    visible = visible_findings(view, findings)
    # Findings with one hidden root are one alert.
    grouped = [replace(visible[one.id], root=one.root) for one in findings if one.id in visible]
    alerts = [_with_visible_root(one, visible) for one in alerts_of(grouped, instant)]
    return sorted(alerts, key=lambda alert: (alert.tier, alert.since, alert.dedup_key))


def _with_visible_root(alert: Alert, visible: Mapping[str, Finding]) -> Alert:
    shown = [visible[one.id] for one in alert.findings]
    return replace(alert, dedup_key=_visible_key(shown), findings=tuple(shown))


def _visible_key(shown: Sequence[Finding]) -> str:
    """Return the root of findings of one group as the caller sees it.

    That of the first finding stays the same while others begin and end.
    """
    return min(shown, key=lambda one: (one.episode.first_seen, one.id)).root


def visible_alert(view: GraphView, alert: Alert) -> Alert | None:
    """Return an alert without what is hidden, None if all of its findings are.

    If the root is hidden, the key of the alert is the stub of the first of its findings: the same
    in each message.
    """
    if view.visibility.is_unrestricted:
        return alert
    visible = visible_findings(view, alert.findings)
    shown = [visible[one.id] for one in alert.findings if one.id in visible]
    if not shown:
        return None
    summary = alert_with(_visible_key(shown), alert.status, shown)
    return replace(
        summary,
        resolved_at=alert.resolved_at,
        # The key of another alert may name a hidden node.
        merged_into="",
        more_findings=0,
    )
