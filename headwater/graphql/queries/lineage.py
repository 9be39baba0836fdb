"""What is connected to what, as the schema shows it: lineages, the trace of an answer, columns and their ways."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import strawberry

from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.graphql.context import Info
from headwater.graphql.types.enums import Direction, NodeKind
from headwater.graphql.types.fields import resolver
from headwater.graphql.types.nodes import Answer, Artifact, Column, PipelineRun, Source
from headwater.graphql.types.results import REASON, Node
from headwater.graphql.types.scalars import ID, Long
from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.node_names import node_names_of
from headwater.lineage.questions import column_lineage as columns
from headwater.lineage.questions import lineage
from headwater.lineage.questions.lineage import Difference
from headwater.lineage.questions.lineage import Lineage as WalkedLineage
from headwater.lineage.questions.lineage import Trace as WalkedTrace
from headwater.lineage.questions.trace_tree import Branch, trace_tree
from headwater.lineage.traversal.filters import EVERY_NODE, Filter
from headwater.lineage.traversal.request import DEPTH_DEFAULT, LineageRequest
from headwater.schema.urns import dataset_urn, job_urn

CONTINUATIONS_MAX = 1_000
BRANCHES_MAX = 20_000


@strawberry.input(description="A dataset by the two halves of its name.")
class DatasetName:
    namespace: str
    name: str


@strawberry.input(description="A job by the two halves of its name.")
class JobName:
    namespace: str
    name: str


@strawberry.input(
    description="What a walk may use. What does not pass is neither shown nor walked through; where it starts passes, "
    "and so does what may not be seen. Of several values any will do; of several fields all must hold. "
    "Datasets, their versions and columns are judged by namespaces, tags and owners, jobs and their runs by the "
    "fields named for them."
)
class LineageFilter:
    namespaces: list[str] | None = strawberry.field(
        default=None, description="Of datasets; * stands for any characters."
    )
    tags: list[str] | None = strawberry.field(
        default=None, description="Of datasets or columns: key=value, or a key with any value."
    )
    owners: list[str] | None = strawberry.field(default=None, description="Of datasets.")
    job_namespaces: list[str] | None = strawberry.field(
        default=None, description="* stands for any characters."
    )
    job_tags: list[str] | None = None
    job_owners: list[str] | None = None
    job_types: list[str] | None = strawberry.field(
        default=None, description="DAG, TASK, QUERY, ..."
    )
    since: datetime | None = strawberry.field(
        default=None,
        description="Edges of the map that were seen then or later, runs under way, versions and answers made.",
    )
    until: datetime | None = strawberry.field(
        default=None, description="The same, then or earlier."
    )

    def read(self) -> Filter:
        lists = {
            name: tuple(value or ())
            for name, value in vars(self).items()
            if name not in {"since", "until"}
        }
        return Filter(**lists, since=self.since, until=self.until)


@strawberry.input(description="Two instants at which the map is compared.")
class TimeComparison:
    from_: datetime = strawberry.field(name="from")
    to: datetime


@strawberry.type(description="An edge of the graph; data flows from `source` to `target`.")
class LineageEdge:
    source: ID = strawberry.field(description="The urn of the node that data flows from.")
    target: ID = strawberry.field(description="The urn of the node that data flows to.")
    type: str = strawberry.field(description="FEEDS, PRODUCED or CITED_BY.")

    @classmethod
    def all(cls, edges: list[Edge]) -> list[LineageEdge]:
        return [cls(source=edge.source, target=edge.target, type=edge.type) for edge in edges]


@strawberry.type(description="A node from which there is more than is shown.")
class Continuation:
    urn: ID
    cursor: str = strawberry.field(
        description="Pass it as `after`, with the same arguments, to go on from there."
    )
    omitted_count: int = strawberry.field(
        description="How many nodes next to it are known that are not shown: 0 where the walk did not look, or where "
        "all there is may not be seen."
    )


@strawberry.type(description="How the map at one instant differs from the map at another.")
class LineageDifference:
    added_nodes: list[Node] = strawberry.field(description="At the second and not at the first.")
    removed_nodes: list[Node] = strawberry.field(description="At the first and not at the second.")
    added_edges: list[LineageEdge]
    removed_edges: list[LineageEdge]

    @classmethod
    def of(cls, found: Difference) -> LineageDifference:
        return cls(
            added_nodes=[Node.of(node) for node in found.added_nodes],
            removed_nodes=[Node.of(node) for node in found.removed_nodes],
            added_edges=LineageEdge.all(found.added_edges),
            removed_edges=LineageEdge.all(found.removed_edges),
        )


@strawberry.type(description="What lies upstream or downstream of a node, nearest first.")
class Lineage:
    starts: list[ID] = strawberry.field(
        description="The urns it starts from, at the level asked for."
    )
    nodes: list[Node]
    edges: list[LineageEdge]
    truncated: bool
    truncated_by: str | None = strawberry.field(description=REASON)
    omitted_count: int = strawberry.field(
        description="How many nodes next to those shown are known that are not shown, as far as the walk looked. What "
        "may not be seen is not counted."
    )
    difference: LineageDifference | None = strawberry.field(description="With `between` only.")
    walked: strawberry.Private[WalkedLineage]

    @resolver("The nodes from which there is more, nearest first.")
    def continuations(
        self, first: Annotated[int, strawberry.argument(description="At most this many.")] = 100
    ) -> list[Continuation]:
        if not 0 <= first <= CONTINUATIONS_MAX:
            raise QueryError(f"first {first} is not between 0 and {CONTINUATIONS_MAX}")
        return [
            Continuation(urn=one.urn, cursor=one.cursor, omitted_count=one.omitted_count)
            for one in self.walked.continuations[:first]
        ]

    @classmethod
    def of(cls, walked: WalkedLineage) -> Lineage:
        return cls(
            starts=walked.starts,
            nodes=[Node.of(node, walked.distances.get(node.urn)) for node in walked.nodes],
            edges=LineageEdge.all(walked.edges),
            truncated=walked.truncated,
            truncated_by=walked.reason or None,
            omitted_count=walked.omitted_count,
            difference=LineageDifference.of(walked.difference) if walked.difference else None,
            walked=walked,
        )


@strawberry.type(description="A place in the tree of a trace.")
class TraceBranch:
    urn: ID
    kind: NodeKind
    name: str
    depth: int = strawberry.field(description="0 for the answer; each edge is one more.")
    parent_index: int | None = strawberry.field(
        description="The index of the branch above; null for the answer."
    )
    type: str | None = strawberry.field(description="The type of the edge to the branch above.")
    repeated: bool = strawberry.field(
        description="What it came from stands where it was met first."
    )
    status: str | None = strawberry.field(
        description="Of a run, or of the run that made a version."
    )
    code_version: str | None = strawberry.field(description="Of a run.")
    row_count: Long | None = strawberry.field(description="Of a version or a source.")


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
    walked: strawberry.Private[WalkedTrace]

    @resolver(
        "The same as a tree in preorder: the answer, and below each node what it came from. A node is unfolded where "
        "it is met first, so there are as many branches as edges and one more."
    )
    def tree(
        self,
        first: Annotated[
            int, strawberry.argument(description="At most this many branches.")
        ] = 5_000,
    ) -> list[TraceBranch]:
        if not 0 <= first <= BRANCHES_MAX:
            raise QueryError(f"first {first} is not between 0 and {BRANCHES_MAX}")
        rows = self.walked.rows
        branches = trace_tree(self.walked.answer["urn"], self.walked.edges)[:first]
        return [_branch(branch, rows.get(branch.urn, {})) for branch in branches]

    @classmethod
    def of(cls, walked: WalkedTrace) -> Trace:
        return cls(
            answer=_answer(walked.answer),
            sources=[Source.of(row) for row in walked.sources],
            artifacts=[Artifact.of(row) for row in walked.artifacts],
            runs=[PipelineRun.of(row) for row in walked.runs],
            answers=[_answer(row) for row in walked.answers],
            columns=[Column.of(row) for row in walked.columns],
            edges=LineageEdge.all(walked.edges),
            truncated=walked.truncated,
            truncated_by=walked.reason or None,
            walked=walked,
        )


@strawberry.type(description="How one column comes from another in one job.")
class ColumnDerivation:
    job_urn: ID | None = strawberry.field(
        description="The urn of the job; null where it is not told or may not be seen."
    )
    transformations: list[str] = strawberry.field(
        description="DIRECT:IDENTITY, INDIRECT:FILTER, ...; :masked where it was."
    )
    dataset_level: bool = strawberry.field(
        description="The source feeds the whole of the dataset that the target is in."
    )
    masked: bool = strawberry.field(description="Whether there is no way past a mask.")


@strawberry.type(
    description="An edge between columns, or from a column to an answer that cites it."
)
class ColumnEdge:
    source: ID
    target: ID
    type: str
    derivations: list[ColumnDerivation]


@strawberry.type(description="Where a column comes from and goes to, nearest first.")
class ColumnLineage:
    nodes: list[Node]
    edges: list[ColumnEdge]
    truncated: bool
    truncated_by: str | None = strawberry.field(description=REASON)
    omitted_count: int = strawberry.field(description="As for a lineage.")

    @classmethod
    def of(cls, found: columns.ColumnLineage) -> ColumnLineage:
        walked = found.lineage
        return cls(
            nodes=[Node.of(node, walked.distances.get(node.urn)) for node in walked.nodes],
            edges=[
                ColumnEdge(
                    source=edge.source,
                    target=edge.target,
                    type=edge.type,
                    derivations=[
                        ColumnDerivation(
                            job_urn=way.job,
                            transformations=way.transformations,
                            dataset_level=way.dataset_level,
                            masked=way.masked,
                        )
                        for way in found.derivations.get(edge, [])
                    ],
                )
                for edge in walked.edges
            ],
            truncated=walked.truncated,
            truncated_by=walked.reason or None,
            omitted_count=walked.omitted_count,
        )


Urn = Annotated[ID | None, strawberry.argument(description="For example dataset:file:/raw/planes.")]
Urns = Annotated[
    list[ID] | None, strawberry.argument(description="Several to start from together.")
]
Depth = Annotated[int, strawberry.argument(description="Hops, 1 to 50.")]
Level = Annotated[
    str,
    strawberry.argument(
        description="DATASET_AND_JOB, COLUMN or RUN: walk the map, columns or history, from what of it belongs to the "
        "start: the columns of a dataset, its versions in the range of time of `filter`, the runs of a job. TOP, or a "
        "job type such as DAG, TASK or APPLICATION: show jobs and runs as what contains them, the outermost or the "
        "nearest of that type. Empty: as they are."
    ),
]
AsOf = Annotated[
    datetime | None,
    strawberry.argument(
        description="The map (datasets, jobs) as it was then; without it only what is current."
    ),
]
After = Annotated[
    str | None,
    strawberry.argument(
        description="The cursor of a continuation: go on from there with the same question."
    ),
]

Fresh = Annotated[
    bool,
    strawberry.argument(
        description="Answer with all that was in the graph when this was asked: a map that the server holds in memory "
        "may otherwise be up to a second behind."
    ),
]


@strawberry.type
class LineageQueries:
    @resolver("Where an answer came from: back to its raw sources, with every run between.")
    async def trace(self, info: Info, answer_id: ID) -> Trace:
        walked = await info.context.run_in_thread(lineage.trace, info.context.view, answer_id)
        for urn, row in walked.rows.items():
            info.context.nodes.prime(urn, row)
        return Trace.of(walked)

    @resolver(
        "What is connected to a node, or to several: urn, dataset or job names one, urns several. A hop is the "
        "crossing of one job (datasets and jobs), one run (runs, versions, answers) or one column edge; a way through "
        "what may not be seen is one hop too, and is shown as a stub of kind HIDDEN."
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
    ) -> Lineage:
        request = LineageRequest(
            tuple(read_starts(urn, dataset, job, urns)),
            direction=direction.value,
            depth=depth,
            level=level,
            as_of=as_of,
            between=(between.from_, between.to) if between else None,
            filter=filter.read() if filter else EVERY_NODE,
            after=after,
            fresh=fresh,
        )
        found = lineage.answer_at_once(info.context.view, request)
        if found is None:
            found = await info.context.run_in_thread(lineage.lineage, info.context.view, request)
        return Lineage.of(found)

    @resolver(
        "Where the values of one column come from and go to, and in which ways. By any name of its dataset."
    )
    async def column_lineage(
        self,
        info: Info,
        dataset: DatasetName,
        column: str,
        direction: Direction = Direction.BOTH,
        depth: Depth = DEPTH_DEFAULT,
        fresh: Fresh = False,
    ) -> ColumnLineage:
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
    one = [
        *([urn] if urn is not None else []),
        *([dataset_urn(dataset.namespace, dataset.name)] if dataset else []),
        *([job_urn(job.namespace, job.name)] if job else []),
    ]
    if len(one) > 1 or not (one or urns):
        raise QueryError(
            "a lineage starts from exactly one of urn, dataset and job, or from urns",
            hint="Name several starts with urns.",
        )
    return [*one, *(urns or [])]


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


def _answer(row: Row) -> Answer:
    return Answer(urn=row["urn"], answer_id=row.get("answerId") or "")
