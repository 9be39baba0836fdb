"""What questions answer with: a lineage, a trace, a page of failed runs and what each of them touches."""

from __future__ import annotations

import strawberry

from headwater.cypher.database import Row
from headwater.cypher.failures import Downstream as TouchedUrns
from headwater.cypher.failures import FailedRunPage
from headwater.cypher.lineage import Lineage as WalkedLineage
from headwater.cypher.lineage import Trace as WalkedTrace
from headwater.cypher.nodes import NodeName
from headwater.cypher.walk import Edge
from headwater.graphql.context import Info
from headwater.graphql.enums import NodeKind
from headwater.graphql.fields import resolved
from headwater.graphql.types import Answer, Artifact, Column, Dataset, Job, PipelineRun, Source

_REASON = "Which bound cut it short: depth, nodes, edges or time; null when it is whole."


@strawberry.type(description="A node of a lineage, or one that a search found.")
class Node:
    urn: str
    kind: NodeKind
    namespace: str | None
    name: str = strawberry.field(description="A run has the name of its pipeline, an answer its id.")

    @classmethod
    def of(cls, node: NodeName) -> Node:
        return cls(urn=node.urn, kind=NodeKind(node.kind), namespace=node.namespace, name=node.name)


@strawberry.type(description="An edge of the graph; data flows from `source` to `target`.")
class LineageEdge:
    source: str = strawberry.field(description="The urn of the node that data flows from.")
    target: str = strawberry.field(description="The urn of the node that data flows to.")
    type: str = strawberry.field(description="FEEDS, PRODUCED or CITED_BY.")

    @classmethod
    def of(cls, edge: Edge) -> LineageEdge:
        return cls(source=edge.source, target=edge.target, type=edge.type)


@strawberry.type(description="What lies upstream or downstream of a node, nearest first.")
class Lineage:
    nodes: list[Node]
    edges: list[LineageEdge]
    truncated: bool
    truncated_by: str | None = strawberry.field(description=_REASON)

    @classmethod
    def of(cls, walked: WalkedLineage) -> Lineage:
        return cls(
            nodes=[Node.of(node) for node in walked.nodes],
            edges=[LineageEdge.of(edge) for edge in walked.edges],
            truncated=walked.truncated,
            truncated_by=walked.reason or None,
        )


@strawberry.type(description="An answer and all it came from, nearest first.")
class Trace:
    answer: Answer
    sources: list[Source]
    artifacts: list[Artifact]
    runs: list[PipelineRun]
    answers: list[Answer] = strawberry.field(description="Other answers that this one rests on.")
    columns: list[Column] = strawberry.field(description="Columns that were cited.")
    edges: list[LineageEdge]
    truncated: bool
    truncated_by: str | None = strawberry.field(description=_REASON)

    @classmethod
    def of(cls, walked: WalkedTrace) -> Trace:
        return cls(
            answer=_answer(walked.answer),
            sources=[Source.of(row) for row in walked.sources],
            artifacts=[Artifact.of(row) for row in walked.artifacts],
            runs=[PipelineRun.of(row) for row in walked.runs],
            answers=[_answer(row) for row in walked.answers],
            columns=[Column.of(row) for row in walked.columns],
            edges=[LineageEdge.of(edge) for edge in walked.edges],
            truncated=walked.truncated,
            truncated_by=walked.reason or None,
        )


@strawberry.type(
    description="What a failed run touches: what is stale because of it, and what was made from its output."
)
class Downstream:
    truncated: bool
    truncated_by: str | None = strawberry.field(description=_REASON)
    touched: strawberry.Private[TouchedUrns]

    @resolved("Stale: its own outputs and every dataset made from them.")
    async def datasets(self, info: Info) -> list[Dataset]:
        return await Dataset.all(info, self.touched.datasets)

    @resolved("The jobs that read those.")
    async def jobs(self, info: Info) -> list[Job]:
        return await Job.all(info, self.touched.jobs)

    @resolved("Answers that cite versions of those datasets current when it started, or later ones.")
    async def answers(self, info: Info) -> list[Answer]:
        return await Answer.all(info, self.touched.answers)

    @resolved("What it did write before it failed, and every version made from that.")
    async def artifacts(self, info: Info) -> list[Artifact]:
        return [Artifact.of(row) for row in await info.context.found(self.touched.artifacts)]

    @resolved("The runs that read what it wrote, directly or not.")
    async def runs(self, info: Info) -> list[PipelineRun]:
        return [PipelineRun.of(row) for row in await info.context.found(self.touched.runs)]

    @classmethod
    def of(cls, touched: TouchedUrns) -> Downstream:
        return cls(truncated=touched.truncated, truncated_by=touched.reason or None, touched=touched)


@strawberry.type(description="A failed run.")
class FailedRun(PipelineRun):
    @resolved("What it touches.")
    async def downstream(self, info: Info) -> Downstream:
        return Downstream.of(await info.context.downstream.load(self.urn))


@strawberry.type
class FailedRunEdge:
    cursor: str = strawberry.field(description="Pass it as `after` for the runs that follow.")
    node: FailedRun


@strawberry.type
class PageInfo:
    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


@strawberry.type(description="A page of failed runs, newest failure first.")
class FailedRunConnection:
    edges: list[FailedRunEdge]
    page_info: PageInfo

    @classmethod
    def of(cls, page: FailedRunPage, *, is_first: bool) -> FailedRunConnection:
        edges = [FailedRunEdge(cursor=run.cursor, node=_failed(run.properties)) for run in page.runs]
        return cls(
            edges=edges,
            page_info=PageInfo(
                has_next_page=page.has_next,
                has_previous_page=not is_first,
                start_cursor=edges[0].cursor if edges else None,
                end_cursor=edges[-1].cursor if edges else None,
            ),
        )


def _answer(row: Row) -> Answer:
    return Answer(urn=row["urn"], answer_id=row.get("answerId") or "")


def _failed(row: Row) -> FailedRun:
    run = FailedRun.of(row)
    assert isinstance(run, FailedRun)
    return run
