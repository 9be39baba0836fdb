"""What questions answer with: a lineage, a trace, and what every page of a list says of itself."""

from __future__ import annotations

from typing import Any

import strawberry

from headwater.cypher.database import Row
from headwater.cypher.lineage import Lineage as WalkedLineage
from headwater.cypher.lineage import Trace as WalkedTrace
from headwater.cypher.nodes import NodeName
from headwater.cypher.pages import Page
from headwater.cypher.walk import Edge
from headwater.graphql.enums import NodeKind
from headwater.graphql.types import Answer, Artifact, Column, PipelineRun, Source

REASON = "Which bound cut it short: depth, nodes, edges or time; null when it is whole."


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
    truncated_by: str | None = strawberry.field(description=REASON)

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
    truncated_by: str | None = strawberry.field(description=REASON)

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


@strawberry.type
class PageInfo:
    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None

    @classmethod
    def of(cls, page: Page[Any], after: str | None) -> PageInfo:
        return cls(
            has_next_page=page.has_next,
            has_previous_page=bool(after),
            start_cursor=page.cursors[0] if page.cursors else None,
            end_cursor=page.cursors[-1] if page.cursors else None,
        )


def _answer(row: Row) -> Answer:
    return Answer(urn=row["urn"], answer_id=row.get("answerId") or "")
