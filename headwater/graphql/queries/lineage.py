"""Lineage in the schema: traversals, the trace of an answer, and column lineage."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import strawberry

from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.graphql.context import Info
from headwater.graphql.types.enums import Direction, NodeKind
from headwater.graphql.types.fields import resolver
from headwater.graphql.types.lineage_node import LineageNode
from headwater.graphql.types.nodes import Answer, Artifact, Column, PipelineRun, Source
from headwater.graphql.types.results import TRUNCATED_BY
from headwater.graphql.types.scalars import ID, Long
from headwater.graphql.types.stale import StaleInput
from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.node_names import node_names_of
from headwater.lineage.pagination import require_between
from headwater.lineage.questions import column_lineage as columns
from headwater.lineage.questions import lineage
from headwater.lineage.questions.lineage import Difference
from headwater.lineage.questions.lineage import Lineage as LineageResult
from headwater.lineage.questions.lineage import Trace as TraceResult
from headwater.lineage.questions.stale_inputs import stale_inputs_of_trace
from headwater.lineage.questions.trace_tree import Branch, trace_tree
from headwater.lineage.traversal.filters import EVERY_NODE, Filter
from headwater.lineage.traversal.request import DEPTH_DEFAULT, NODES_MAX, LineageRequest
from headwater.schema.urns import dataset_urn, job_urn

CONTINUATIONS_MAX = 1_000
BRANCHES_MAX = 20_000


@strawberry.input(description="A dataset by namespace and name.")
class DatasetName:
    namespace: str
    name: str


@strawberry.input(description="A job by namespace and name.")
class JobName:
    namespace: str
    name: str


@strawberry.input(
    description="A filter of a traversal. A node that does not pass is neither returned nor "
    "traversed; starts "
    "and hidden nodes always pass. One of several values must match; all given fields must match. "
    "`namespaces`, `tags` and `owners` filter datasets, their versions and columns; the fields "
    "that begin with `job` filter jobs and their runs."
)
class LineageFilter:
    namespaces: list[str] | None = strawberry.field(
        default=None, description="Namespaces of datasets; * matches any characters."
    )
    tags: list[str] | None = strawberry.field(
        default=None, description="Tags of datasets or columns: key=value, or a key with any value."
    )
    owners: list[str] | None = strawberry.field(default=None, description="Owners of datasets.")
    job_namespaces: list[str] | None = strawberry.field(
        default=None, description="Namespaces of jobs; * matches any characters."
    )
    job_tags: list[str] | None = None
    job_owners: list[str] | None = None
    job_types: list[str] | None = strawberry.field(
        default=None, description="Types of jobs: DAG, TASK, QUERY, ..."
    )
    since: datetime | None = strawberry.field(
        default=None,
        description="Only edges of the lineage graph seen, runs under way, and versions and "
        "answers "
        "created at this time or later.",
    )
    until: datetime | None = strawberry.field(
        default=None, description="The same, at this time or earlier."
    )

    def to_filter(self) -> Filter:
        """Return the filter of the traversal."""
        lists = {
            name: tuple(value or ())
            for name, value in vars(self).items()
            if name not in {"since", "until"}
        }
        return Filter(**lists, since=self.since, until=self.until)


@strawberry.input(description="Two instants at which the lineage graph is compared.")
class TimeComparison:
    from_: datetime = strawberry.field(name="from")
    to: datetime


@strawberry.type(description="An edge of the graph; data flows from `source` to `target`.")
class LineageEdge:
    source: ID = strawberry.field(description="The node that data flows from.")
    target: ID = strawberry.field(description="The node that data flows to.")
    type: str = strawberry.field(description="FEEDS, PRODUCED or CITED_BY.")

    @classmethod
    def all(cls, edges: list[Edge]) -> list[LineageEdge]:
        return [cls(source=edge.source, target=edge.target, type=edge.type) for edge in edges]


@strawberry.type(description="A node where the traversal can continue.")
class Continuation:
    urn: ID
    cursor: str = strawberry.field(
        description="Pass it as `after`, with the same arguments, to continue there."
    )
    omitted_count: int = strawberry.field(
        description="The number of its known neighbours that are omitted; 0 if the traversal did "
        "not read them, or "
        "if all are hidden."
    )


@strawberry.type(description="The differences between the lineage graph at two instants.")
class LineageDifference:
    added_nodes: list[LineageNode] = strawberry.field(
        description="Nodes at the second instant only."
    )
    removed_nodes: list[LineageNode] = strawberry.field(
        description="Nodes at the first instant only."
    )
    added_edges: list[LineageEdge]
    removed_edges: list[LineageEdge]

    @classmethod
    def of(cls, found: Difference, request: LineageRequest) -> LineageDifference:
        before, after = request.between or (None, None)
        return cls(
            added_nodes=[LineageNode.of(node, as_of=after) for node in found.added_nodes],
            removed_nodes=[LineageNode.of(node, as_of=before) for node in found.removed_nodes],
            added_edges=LineageEdge.all(found.added_edges),
            removed_edges=LineageEdge.all(found.removed_edges),
        )


@strawberry.type(description="The nodes upstream or downstream of the starts, nearest first.")
class Lineage:
    starts: list[ID] = strawberry.field(
        description="The urns of the starts, at the requested level."
    )
    nodes: list[LineageNode]
    edges: list[LineageEdge]
    truncated: bool
    truncated_by: str | None = strawberry.field(description=TRUNCATED_BY)
    omitted_count: int = strawberry.field(
        description="The number of known neighbours that are omitted, as far as the traversal "
        "read them. Hidden "
        "nodes are not counted."
    )
    difference: LineageDifference | None = strawberry.field(
        description="Set if `between` is given."
    )
    result: strawberry.Private[LineageResult]

    @resolver("The nodes where the traversal can continue, nearest first.")
    def continuations(
        self,
        first: Annotated[int, strawberry.argument(description="The most entries to return.")] = 100,
    ) -> list[Continuation]:
        require_between("first", first, 0, CONTINUATIONS_MAX)
        return [
            Continuation(urn=one.urn, cursor=one.cursor, omitted_count=one.omitted_count)
            for one in self.result.continuations[:first]
        ]

    @classmethod
    def of(cls, result: LineageResult, request: LineageRequest) -> Lineage:
        as_of = request.between[1] if request.between else request.as_of
        return cls(
            starts=result.starts,
            nodes=[
                LineageNode.of(node, result.distances.get(node.urn), as_of) for node in result.nodes
            ],
            edges=LineageEdge.all(result.edges),
            truncated=result.truncated,
            truncated_by=result.reason or None,
            omitted_count=result.omitted_count,
            difference=(
                LineageDifference.of(result.difference, request) if result.difference else None
            ),
            result=result,
        )


@strawberry.type(description="A branch of the tree of a trace.")
class TraceBranch:
    urn: ID
    kind: NodeKind
    name: str
    depth: int = strawberry.field(description="0 for the answer, 1 more for each edge.")
    parent_index: int | None = strawberry.field(
        description="The index of the parent branch; null for the answer."
    )
    type: str | None = strawberry.field(description="The type of the edge to the parent branch.")
    repeated: bool = strawberry.field(
        description="True if the branches below it stand at its first occurrence."
    )
    status: str | None = strawberry.field(
        description="The status of the run, or of the run that created the version."
    )
    code_version: str | None = strawberry.field(description="The code version of the run.")
    row_count: Long | None = strawberry.field(description="The rows of the version or source.")


@strawberry.type(description="An answer with all its upstream nodes, nearest first.")
class Trace:
    answer: Answer
    sources: list[Source]
    artifacts: list[Artifact]
    runs: list[PipelineRun]
    answers: list[Answer] = strawberry.field(
        description="Other answers that it cites, directly or through others."
    )
    columns: list[Column] = strawberry.field(description="The cited columns.")
    edges: list[LineageEdge]
    truncated: bool
    truncated_by: str | None = strawberry.field(description=TRUNCATED_BY)
    result: strawberry.Private[TraceResult]

    @resolver("What is out of date behind the answer, the cited datasets first.")
    async def stale(self, info: Info) -> list[StaleInput]:
        view = info.context.view
        found = await info.context.run_in_thread(stale_inputs_of_trace, view, self.result)
        return StaleInput.all(found)

    @resolver(
        "The same as a tree in preorder, with the answer as its root. The branches below a "
        "node are "
        "listed at its first occurrence, so there is one branch more than edges."
    )
    def tree(
        self,
        first: Annotated[
            int, strawberry.argument(description="The most branches to return.")
        ] = 5_000,
    ) -> list[TraceBranch]:
        require_between("first", first, 0, BRANCHES_MAX)
        rows = self.result.rows
        branches = trace_tree(self.result.answer["urn"], self.result.edges)[:first]
        return [_branch(branch, rows.get(branch.urn, {})) for branch in branches]

    @classmethod
    def of(cls, result: TraceResult) -> Trace:
        return cls(
            answer=Answer.of(result.answer),
            sources=[Source.of(row) for row in result.sources],
            artifacts=[Artifact.of(row) for row in result.artifacts],
            runs=[PipelineRun.of(row) for row in result.runs],
            answers=[Answer.of(row) for row in result.answers],
            columns=[Column.of(row) for row in result.columns],
            edges=LineageEdge.all(result.edges),
            truncated=result.truncated,
            truncated_by=result.reason or None,
            result=result,
        )


@strawberry.type(description="How one job derives a column from another.")
class ColumnDerivation:
    job_urn: ID | None = strawberry.field(description="The job; null if it is unknown or hidden.")
    transformations: list[str] = strawberry.field(
        description="DIRECT:IDENTITY, INDIRECT:FILTER, ...; with the suffix :masked if the values"
        " are masked."
    )
    dataset_level: bool = strawberry.field(
        description="True if the source column affects all columns of the target dataset."
    )
    masked: bool = strawberry.field(description="True if every transformation masks the values.")


@strawberry.type(
    description="An edge between columns, or from a column to an answer that cites it."
)
class ColumnEdge:
    source: ID
    target: ID
    type: str
    derivations: list[ColumnDerivation]


@strawberry.type(description="The columns upstream and downstream of a column, nearest first.")
class ColumnLineage:
    nodes: list[LineageNode]
    edges: list[ColumnEdge]
    truncated: bool
    truncated_by: str | None = strawberry.field(description=TRUNCATED_BY)
    omitted_count: int = strawberry.field(description="As in Lineage.")

    @classmethod
    def of(cls, found: columns.ColumnLineage) -> ColumnLineage:
        result = found.lineage
        edges = []
        for edge in result.edges:
            derivations = [_derivation(one) for one in found.derivations.get(edge, [])]
            edges.append(
                ColumnEdge(
                    source=edge.source,
                    target=edge.target,
                    type=edge.type,
                    derivations=derivations,
                )
            )
        return cls(
            nodes=[LineageNode.of(node, result.distances.get(node.urn)) for node in result.nodes],
            edges=edges,
            truncated=result.truncated,
            truncated_by=result.reason or None,
            omitted_count=result.omitted_count,
        )


Urn = Annotated[ID | None, strawberry.argument(description="For example dataset:file:/raw/planes.")]
Urns = Annotated[
    list[ID] | None, strawberry.argument(description="Several starts of one traversal.")
]
Depth = Annotated[int, strawberry.argument(description="The most hops, 1 to 50.")]
Level = Annotated[
    str,
    strawberry.argument(
        description="DATASET_AND_JOB, COLUMN or RUN: traverse the lineage graph, columns or the "
        "run history, from "
        "the nodes that belong to the start: the columns of a dataset, its versions in the "
        "time range "
        "of `filter`, the runs of a job. TOP, or a job type such as DAG, TASK or APPLICATION:"
        " replace "
        "jobs and runs by their container, the outermost or the nearest of that type. Empty: "
        "return "
        "nodes as they are."
    ),
]
AsOf = Annotated[
    datetime | None,
    strawberry.argument(
        description="The lineage graph of datasets and jobs at this time; null for its current "
        "edges."
    ),
]
After = Annotated[
    str | None,
    strawberry.argument(
        description="The cursor of a continuation; the other arguments must be the same."
    ),
]

Fresh = Annotated[
    bool,
    strawberry.argument(
        description="Include everything committed before this request. Otherwise the lineage "
        "cache of the server "
        "may be up to a second behind."
    ),
]

To = Annotated[
    ID | None,
    strawberry.argument(
        description="Another node: return only the nodes and edges on paths between the starts and "
        "it, in the given direction; with BOTH downstream, or else upstream."
    ),
]
NodesMax = Annotated[
    int,
    strawberry.argument(
        description="The number of nodes at which the traversal in each direction is cut short, 1 "
        "to 5000."
    ),
]


@strawberry.type
class LineageQueries:
    @resolver("The upstream nodes of an answer, back to its raw sources, with every run between.")
    async def trace(self, info: Info, answer_id: ID) -> Trace | None:
        result = await info.context.run_in_thread(lineage.trace, info.context.view, answer_id)
        for urn, row in result.rows.items():
            info.context.nodes.prime(urn, row)
        return Trace.of(result)

    @resolver(
        "The nodes connected to one start (`urn`, `dataset` or `job`) or several (`urns`). A "
        "hop crosses "
        "one job (datasets and jobs), one run (runs, versions, answers) or one column edge. A path "
        "through hidden nodes is one hop and one node of kind HIDDEN."
    )
    async def lineage(
        self,
        info: Info,
        urn: Urn = None,
        dataset: DatasetName | None = None,
        job: JobName | None = None,
        direction: Direction = Direction.BOTH,
        depth: Depth = DEPTH_DEFAULT,
        level: Level = "",
        as_of: AsOf = None,
        urns: Urns = None,
        filter: LineageFilter | None = None,
        between: TimeComparison | None = None,
        after: After = None,
        fresh: Fresh = False,
        nodes_max: NodesMax = NODES_MAX,
        to: To = None,
    ) -> Lineage | None:
        require_between("nodesMax", nodes_max, 1, NODES_MAX)
        request = LineageRequest(
            tuple(read_starts(urn, dataset, job, urns)),
            direction=direction.value,
            depth=depth,
            level=level,
            as_of=as_of,
            between=(between.from_, between.to) if between else None,
            filter=filter.to_filter() if filter else EVERY_NODE,
            after=after,
            fresh=fresh,
            nodes_max=nodes_max,
            to=to or "",
        )
        found = lineage.answer_from_cache(info.context.view, request)
        if found is None:
            found = await info.context.run_in_thread(lineage.lineage, info.context.view, request)
        return Lineage.of(found, request)

    @resolver(
        "The lineage of one column, with the transformations on each edge. Aliases of its "
        "dataset work "
        "too."
    )
    async def column_lineage(
        self,
        info: Info,
        dataset: DatasetName,
        column: str,
        direction: Direction = Direction.BOTH,
        depth: Depth = DEPTH_DEFAULT,
        fresh: Fresh = False,
    ) -> ColumnLineage | None:
        found = await info.context.run_in_thread(
            columns.column_lineage,
            info.context.view,
            dataset.namespace,
            dataset.name,
            column,
            direction=direction.value,
            depth=depth,
            fresh=fresh,
        )
        return ColumnLineage.of(found)


def read_starts(
    urn: ID | None, dataset: DatasetName | None, job: JobName | None, urns: list[str] | None
) -> list[str]:
    """Return the urns of the starts. Raises QueryError unless exactly one form is given."""
    one = [
        *([urn] if urn is not None else []),
        *([dataset_urn(dataset.namespace, dataset.name)] if dataset else []),
        *([job_urn(job.namespace, job.name)] if job else []),
    ]
    if len(one) > 1 or not (one or urns):
        raise QueryError(
            "lineage needs exactly one of urn, dataset and job, or urns",
            hint="Give several starts as urns.",
        )
    return [*one, *(urns or [])]


def _derivation(found: columns.ColumnDerivation) -> ColumnDerivation:
    return ColumnDerivation(
        job_urn=found.job,
        transformations=found.transformations,
        dataset_level=found.dataset_level,
        masked=found.masked,
    )


def _branch(branch: Branch, row: Row) -> TraceBranch:
    (name,) = node_names_of([branch.urn], {branch.urn: row})
    return TraceBranch(
        urn=branch.urn,
        kind=NodeKind(name.kind),
        name=name.name,
        depth=branch.depth,
        parent_index=None if branch.parent < 0 else branch.parent,
        type=branch.type or None,
        repeated=branch.repeated,
        status=row.get("status"),
        code_version=row.get("version") if branch.urn.startswith("run:") else None,
        row_count=row.get("rowCount"),
    )
