"""Alerts in the schema: the open findings, grouped by what caused them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import strawberry

from headwater.graphql.context import Info
from headwater.graphql.types.enums import AlertStatus, Tier
from headwater.graphql.types.fields import First, page_length, resolver
from headwater.graphql.types.lineage_node import AffectedConsumer, Finding
from headwater.graphql.types.scalars import ID
from headwater.health.alerts import current
from headwater.health.alerts.headlines import subject_name
from headwater.health.alerts.models import Alert as KnownAlert

FIRST_DEFAULT = 50


@strawberry.type(description="All open findings of one root cause.")
class Alert:
    key: ID = strawberry.field(
        description="The id of the finding that caused the others, the same in each message."
    )
    status: AlertStatus = strawberry.field(description="Whether anybody is told of it.")
    tier: Tier = strawberry.field(description="The most urgent severity of its open findings.")
    title: str = strawberry.field(description="What happened, where, and who is affected.")
    since: datetime = strawberry.field(description="The beginning of its first finding.")
    owners: list[str] = strawberry.field(description="Whom it concerns.")
    findings: list[Finding] = strawberry.field(
        description="The cause first, then the open findings by their beginning, then the others."
    )
    consumers: list[AffectedConsumer] = strawberry.field(
        description="The first 20 who are affected, by urgency."
    )
    more_consumers: int = strawberry.field(description="The number of the others.")

    @classmethod
    def of(cls, alert: KnownAlert) -> Alert:
        return cls(
            key=alert.dedup_key,
            status=AlertStatus(alert.status.value.upper()),
            tier=Tier(alert.tier.value),
            title=alert.title,
            since=alert.since,
            owners=[*alert.owners],
            findings=[Finding.of(finding) for finding in alert.findings],
            consumers=[AffectedConsumer.of(one) for one in alert.consumers],
            more_consumers=alert.more_consumers,
        )


@strawberry.type(description="The alerts that are not resolved, the most urgent first.")
class Alerts:
    nodes: list[Alert] = strawberry.field(description="The first of them.")
    total_count: int = strawberry.field(description="The number of them that the key may see.")


@strawberry.type
class AlertQueries:
    @resolver("The open findings grouped by root cause: one alert for each, the most urgent first.")
    async def alerts(
        self,
        info: Info,
        namespace: Annotated[
            str | None,
            strawberry.argument(description="Only alerts with a finding on a node of it."),
        ] = None,
        first: First = None,
    ) -> Alerts | None:
        now = datetime.now(UTC)
        found = await info.context.run_in_thread(current.current_alerts, info.context.view, now)
        chosen = [one for one in found if namespace is None or _is_in(one, namespace)]
        shown = chosen[: page_length(first, FIRST_DEFAULT)]
        return Alerts(nodes=[Alert.of(one) for one in shown], total_count=len(chosen))


def _is_in(alert: KnownAlert, namespace: str) -> bool:
    subjects = (subject_name(finding.episode.subject) for finding in alert.findings)
    return any(subject.namespace == namespace for subject in subjects)
