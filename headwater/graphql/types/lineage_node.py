"""The nodes of lineage graphs in the schema, and their findings, which lead back to nodes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import strawberry
from strawberry.scalars import JSON

from headwater.graphql.context import Info
from headwater.graphql.types.enums import NodeKind, Tier
from headwater.graphql.types.fields import resolver
from headwater.graphql.types.node import Node
from headwater.graphql.types.overview import NodeOverview
from headwater.graphql.types.scalars import ID
from headwater.health.findings.models import Affected, Consumer
from headwater.health.findings.models import Finding as KnownFinding
from headwater.health.findings.rules import RULES
from headwater.health.findings.runbooks import runbook_url
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.lineage.node_names import NodeName
from headwater.lineage.questions.traces import trace_link
from headwater.schema.urns import KINDS

Open = Annotated[
    bool | None,
    strawberry.argument(description="True: only open findings. False: only resolved ones."),
]


@strawberry.type(
    description="A node of a lineage graph or a search result. It has no `id`, because `distance` "
    "differs from answer to answer; `node(id:)` takes its urn."
)
class LineageNode:
    urn: ID
    kind: NodeKind
    namespace: str | None
    name: str = strawberry.field(
        description="Of a run the name of its pipeline, of an answer its id."
    )
    distance: int | None = strawberry.field(
        description="Hops from the nearest start of the lineage; 0 for a start."
    )
    as_of: strawberry.Private[datetime | None] = None

    @resolver("What a picture shows of the node; null for a hidden node.")
    async def overview(self, info: Info) -> NodeOverview | None:
        known = await info.context.overviews.load((self.urn, self.as_of))
        is_past = self.as_of is not None
        return NodeOverview.of(self.urn, known, is_past=is_past) if known else None

    @resolver("Its findings, open ones first; at most 20.")
    async def findings(self, info: Info, open: Open = None) -> list[Finding]:
        return await findings_of_node(info, self.urn, open=open)

    @classmethod
    def of(
        cls, node: NodeName, distance: int | None = None, as_of: datetime | None = None
    ) -> LineageNode:
        return cls(
            urn=node.urn,
            kind=NodeKind(node.kind),
            namespace=node.namespace,
            name=node.name,
            distance=distance,
            as_of=as_of,
        )


@strawberry.type(description="A node downstream of a finding.")
class AffectedConsumer:
    urn: ID
    owners: list[str]
    is_critical: bool = strawberry.field(
        description="True if it is certified, of a critical tier, or a model."
    )

    @resolver("The node.")
    async def node(self, info: Info) -> LineageNode | None:
        return await _lineage_node(info, self.urn)

    @classmethod
    def of(cls, consumer: Consumer) -> AffectedConsumer:
        return cls(urn=consumer.urn, owners=[*consumer.owners], is_critical=consumer.is_critical)


@strawberry.type(description="Who is downstream of a finding: numbers of all nodes reached.")
class AffectedByFinding:
    datasets: int = strawberry.field(description="The number of datasets.")
    jobs: int = strawberry.field(description="The number of jobs.")
    answers: int = strawberry.field(description="The number of answers.")
    critical: int = strawberry.field(
        description="How many of them are certified, of a critical tier, or models."
    )
    consumers: list[AffectedConsumer] = strawberry.field(
        description="The first 20 by urgency that the key may see: answers, critical nodes, others."
    )
    truncated: bool

    @classmethod
    def of(cls, affected: Affected) -> AffectedByFinding:
        return cls(
            datasets=affected.datasets,
            jobs=affected.jobs,
            answers=affected.answers,
            critical=affected.critical,
            consumers=[AffectedConsumer.of(one) for one in affected.consumers],
            truncated=affected.truncated,
        )


@strawberry.type(
    description="A problem of one node, from its beginning until the history shows its end."
)
class Finding(Node):
    urn: ID = strawberry.field(description="The node that has the problem.")
    rule: str = strawberry.field(description="The name of the rule, for example failed-run.")
    title: str = strawberry.field(description="What the rule says, in a few words.")
    severity: Tier = strawberry.field(
        description="How urgent it is, by the harm and by who is affected."
    )
    first_seen: datetime = strawberry.field(
        description="The time of the first evidence, by the events."
    )
    last_seen: datetime = strawberry.field(
        description="The time of the newest evidence, by the events."
    )
    resolved_at: datetime | None = strawberry.field(
        description="The time of the event that ended it; null while it is open."
    )
    resolved_by: str | None = strawberry.field(
        description="The urn of the run or version that ended it, or a few words."
    )
    evidence: JSON = strawberry.field(
        description="What shows it: values with what they were compared with, urns and names."
    )
    root: ID = strawberry.field(
        description="The id of the finding that caused it; its own if none is known."
    )
    owners: list[str]
    affected: AffectedByFinding = strawberry.field(description="Who is downstream of the node.")
    runbook: str = strawberry.field(
        description="The path on this server of the page on what the rule means and what to do."
    )
    known: strawberry.Private[KnownFinding]

    @resolver("The id of the finding: its rule, its node, and what began it.")
    def id(self) -> ID:
        return self.known.id

    @resolver("The node that has the problem; null for a producer of events.")
    async def node(self, info: Info) -> LineageNode | None:
        return await _lineage_node(info, self.urn)

    @resolver("The finding of `root`; null if that is itself or is not visible to the key.")
    async def cause(self, info: Info) -> Finding | None:
        if self.root == self.known.id:
            return None
        found = await info.context.finding.load(self.root)
        return Finding.of(found) if found else None

    @resolver("The ids of the traces of the run that shows it; none if the key cannot see the run.")
    async def trace_ids(self, info: Info) -> list[str]:
        return await _trace_ids(info, self.known)

    @resolver("The addresses of `traceIds` by the setting HEADWATER_TRACE_URL, in their order.")
    async def trace_links(self, info: Info) -> list[str]:
        links = (
            trace_link(info.context.trace_url, one) for one in await _trace_ids(info, self.known)
        )
        return [link for link in links if link is not None]

    @classmethod
    def of(cls, finding: KnownFinding) -> Finding:
        episode, rule = finding.episode, RULES.get(finding.episode.rule)
        return cls(
            urn=episode.subject,
            rule=episode.rule,
            title=rule.title if rule else episode.rule,
            severity=Tier(finding.tier.value),
            first_seen=episode.first_seen,
            last_seen=episode.last_seen,
            resolved_at=episode.resolved_at,
            resolved_by=episode.resolved_by,
            evidence=JSON(dict(episode.evidence)),
            root=finding.root,
            owners=[*finding.owners],
            affected=AffectedByFinding.of(finding.affected),
            runbook=runbook_url(episode.rule),
            known=finding,
        )


async def _trace_ids(info: Info, finding: KnownFinding) -> list[str]:
    """Return the trace ids of the run that shows a finding, if the principal may see the run."""
    run = finding.episode.evidence.get("run") or finding.episode.key
    if not isinstance(run, str) or not run.startswith("run:"):
        return []
    row = await info.context.nodes.load(run)
    return list((row or {}).get("traceIds") or [])


async def findings_of_node(info: Info, urn: str, *, open: bool | None) -> list[Finding]:
    """Return the findings of one node, open ones first; `open` chooses between them."""
    found = await info.context.findings.load(urn)
    return [Finding.of(one) for one in found if open is None or one.is_open == open]


async def _lineage_node(info: Info, urn: str) -> LineageNode | None:
    is_node = urn.startswith(HIDDEN) or urn.partition(":")[0] in KINDS
    return LineageNode.of(await info.context.names.load(urn)) if is_node else None
