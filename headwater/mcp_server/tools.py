"""The tools: their arguments, their descriptions for assistants and people, and what they ask.

Each tool asks one question with a `Client`, so an answer holds what the caller's key may see. Every
tool only reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

import msgspec

from headwater.client.arguments import Direction, Kind, Tier
from headwater.client.client import Client
from headwater.client.results import Impact, Lineage, RootCause, Trace
from headwater.errors import QueryError
from headwater.mcp_server import summaries
from headwater.mcp_server.answers import Description, FailedRuns, Findings, Found
from headwater.schema.urns import parse_urn

NODES_MAX = 300
A = TypeVar("A", bound=msgspec.Struct)
R = TypeVar("R", bound=msgspec.Struct)

ChangeType = Literal[
    "column_rename",
    "column_drop",
    "column_type_change",
    "column_add",
    "semantics_change",
    "table_drop",
    "table_rename",
    "job_delete",
]
NodeText = Annotated[
    str,
    msgspec.Meta(
        description="A urn such as `dataset:warehouse:marts.delays`, or a name or the end of one "
        "that only one node has. `search` finds names.",
        min_length=1,
        max_length=4_000,
    ),
]
Since = Annotated[
    str | None,
    msgspec.Meta(description="An age (`2h`, `7d`), `today`, `yesterday`, a date or ISO 8601."),
]
Limit = Annotated[int, msgspec.Meta(description="Most entries to return.", ge=1, le=100)]


class _Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of a tool."""


class SearchArguments(_Arguments, frozen=True, kw_only=True):
    text: Annotated[
        str,
        msgspec.Meta(
            description="Words of a name, a description, a column, a tag or an owner.",
            min_length=1,
            max_length=1_000,
        ),
    ]
    kind: Annotated[Kind | None, msgspec.Meta(description="Only this kind of node.")] = None
    namespace: Annotated[str, msgspec.Meta(description="Only this namespace.")] = ""
    owner: Annotated[str, msgspec.Meta(description="Only nodes of this owner.")] = ""
    tag: Annotated[str, msgspec.Meta(description="Only with this tag: `key=value`, or a key.")] = ""
    limit: Limit = 20


class TraceArguments(_Arguments, frozen=True, kw_only=True):
    answer: Annotated[
        str,
        msgspec.Meta(
            description="The answer's id, the end of it, or its urn, for example `churn-q1`.",
            min_length=1,
            max_length=4_000,
        ),
    ]


class LineageArguments(_Arguments, frozen=True, kw_only=True):
    node: NodeText
    direction: Annotated[
        Direction,
        msgspec.Meta(description="`upstream`: where data comes from. `downstream`: who uses it."),
    ] = "both"
    depth: Annotated[
        int, msgspec.Meta(description="Number of jobs or runs to cross.", ge=1, le=50)
    ] = 3
    as_of: Annotated[
        str | None, msgspec.Meta(description="Show the lineage graph of this earlier time.")
    ] = None
    limit: Annotated[
        int, msgspec.Meta(description="Most nodes to return, nearest first.", ge=1, le=NODES_MAX)
    ] = 100


class FailedRunsArguments(_Arguments, frozen=True, kw_only=True):
    since: Since = None
    until: Since = None
    pipeline: Annotated[str | None, msgspec.Meta(description="Only runs of this job.")] = None
    namespace: Annotated[
        str | None, msgspec.Meta(description="Only runs of jobs in this namespace.")
    ] = None
    limit: Limit = 10


class FindingsArguments(_Arguments, frozen=True, kw_only=True):
    tier: Annotated[
        Tier | None, msgspec.Meta(description="Only this severity; P1 is the most urgent.")
    ] = None
    rule: Annotated[
        str | None, msgspec.Meta(description="Only this rule, for example `failed-run`.")
    ] = None
    node: Annotated[
        str | None, msgspec.Meta(description="Only findings on this node: its urn or its name.")
    ] = None
    namespace: Annotated[
        str | None, msgspec.Meta(description="Only findings on nodes of this namespace.")
    ] = None
    include_resolved: Annotated[bool, msgspec.Meta(description="Return resolved findings too.")] = (
        False
    )
    limit: Limit = 10


class RootCauseArguments(_Arguments, frozen=True, kw_only=True):
    node: NodeText
    since: Since = None
    limit: Limit = 10


class ImpactArguments(_Arguments, frozen=True, kw_only=True):
    node: NodeText
    change: Annotated[
        ChangeType,
        msgspec.Meta(
            description="What changes. `column_rename`, `column_drop`, `column_type_change`, "
            "`column_add` and `semantics_change` need `column`; renames and type changes need `to`."
        ),
    ]
    column: Annotated[str | None, msgspec.Meta(description="The column that changes.")] = None
    to: Annotated[
        str | None, msgspec.Meta(description="The new name, or the new type of the column.")
    ] = None


class DescribeArguments(_Arguments, frozen=True, kw_only=True):
    node: NodeText


class Tool(NamedTuple, Generic[A, R]):
    """A tool: `ask` answers its arguments with a client, `summarise` says the answer in lines."""

    name: str
    title: str
    description: str
    arguments: type[A]
    result: type[R]
    ask: Callable[[Client, A], R]
    summarise: Callable[[R], list[str]]


def _search(client: Client, given: SearchArguments) -> Found:
    found = client.search(
        given.text,
        kind=given.kind,
        namespace=given.namespace,
        owner=given.owner,
        tag=given.tag,
        limit=given.limit,
    )
    nodes = tuple(found)
    return Found(nodes, found.total_count if len(nodes) == given.limit else len(nodes))


def _trace(client: Client, given: TraceArguments) -> Trace:
    return client.trace(given.answer)


def _lineage(client: Client, given: LineageArguments) -> Lineage:
    found = client.lineage(
        given.node, direction=given.direction, depth=given.depth, as_of=given.as_of
    )
    nodes = found.nodes[: given.limit]
    urns = {node.urn for node in nodes}
    edges = tuple(edge for edge in found.edges if {edge.source, edge.target} <= urns)
    cut = len(found.nodes) - len(nodes)
    return msgspec.structs.replace(
        found,
        nodes=nodes,
        edges=edges,
        truncated=found.truncated or cut > 0,
        truncated_by="limit" if cut else found.truncated_by,
        omitted_count=found.omitted_count + cut,
        continuations=(),
    )


def _failed_runs(client: Client, given: FailedRunsArguments) -> FailedRuns:
    runs = tuple(
        client.failed_runs(
            since=given.since,
            until=given.until,
            pipeline=given.pipeline,
            namespace=given.namespace,
            limit=given.limit + 1,
        )
    )
    return FailedRuns(runs[: given.limit], len(runs) > given.limit)


def _findings(client: Client, given: FindingsArguments) -> Findings:
    found = tuple(
        client.findings(
            open=None if given.include_resolved else True,
            tier=given.tier,
            rule=given.rule,
            node=given.node,
            namespace=given.namespace,
            limit=given.limit + 1,
        )
    )
    return Findings(found[: given.limit], len(found) > given.limit)


def _root_cause(client: Client, given: RootCauseArguments) -> RootCause:
    return client.root_cause(given.node, since=given.since, first=given.limit)


def _impact(client: Client, given: ImpactArguments) -> Impact:
    change: dict[str, Any] = {"type": given.change}
    if given.change == "column_rename":
        change["from"] = _needed(given.column, given.change, "column")
    elif given.change.startswith(("column", "semantics")):
        change["column"] = _needed(given.column, given.change, "column")
    if given.change in ("column_rename", "column_type_change", "table_rename"):
        change["to"] = _needed(given.to, given.change, "to")
    if given.change == "column_add":
        change["nullable"] = False
    return client.impact(given.node, change)


def _needed(value: str | None, change: str, name: str) -> str:
    if not value:
        raise QueryError(f"{change} needs `{name}`", hint=f"Give `{name}`, and ask again.")
    return value


def _describe(client: Client, given: DescribeArguments) -> Description:
    urn = client.resolve(given.node)
    kind = parse_urn(urn).kind
    if kind == "dataset":
        return Description(dataset=client.dataset(urn))
    if kind == "job":
        return Description(job=client.job(urn))
    if kind == "run":
        return Description(run=client.run(urn))
    if kind == "answer":
        return Description(answer=client.answer(urn))
    raise QueryError(
        f"{urn!r} is a {kind}; describe takes a dataset, a job, a run or an answer",
        hint="`lineage` takes any node.",
    )


TOOLS: dict[str, Tool[Any, Any]] = {
    tool.name: tool
    for tool in (
        Tool(
            "search",
            "Find nodes by words",
            "Find datasets, jobs, runs and answers by words of their names, descriptions, columns, "
            "tags or owners. Use it first when a name is not known exactly.",
            SearchArguments,
            Found,
            _search,
            summaries.found,
        ),
        Tool(
            "describe",
            "Describe one node",
            "Describe one dataset (schema, owners, producers, readers, newest versions), job "
            "(code, inputs, outputs, newest runs), run (status, error, inputs, outputs) or answer "
            "(content, citations).",
            DescribeArguments,
            Description,
            _describe,
            summaries.description,
        ),
        Tool(
            "trace",
            "Trace an answer to its sources",
            "Answer 'where does this number come from?': every version, run and source behind one "
            "answer (a report, a dashboard number, a prediction, a decision), as they were when it "
            "was made, and what is out of date behind it since.",
            TraceArguments,
            Trace,
            _trace,
            summaries.trace,
        ),
        Tool(
            "lineage",
            "Show lineage up or down",
            "Show the datasets, jobs, columns or runs upstream (sources) or downstream (consumers) "
            "of a node, nearest first, with the edges between them.",
            LineageArguments,
            Lineage,
            _lineage,
            summaries.lineage,
        ),
        Tool(
            "failed_runs",
            "List failed runs",
            "List the runs that failed, newest first, each with its error, the partial data that "
            "it left, the stale data that waits for it, whether it is resolved, and whom to "
            "notify.",
            FailedRunsArguments,
            FailedRuns,
            _failed_runs,
            summaries.failed_runs,
        ),
        Tool(
            "findings",
            "List detected problems",
            "List the problems that Headwater detected: failed and missing runs, stale data, "
            "changed schemas, drifted measures, failed checks. Each has its severity, evidence, "
            "everybody affected downstream, its cause and its owners.",
            FindingsArguments,
            Findings,
            _findings,
            summaries.findings,
        ),
        Tool(
            "root_cause",
            "Rank causes of bad data",
            "Rank the possible causes of bad or late data in a dataset, version, run or answer: "
            "failed runs, failed tests, changed schemas, inputs, measures or code upstream. A "
            "larger weight is more likely.",
            RootCauseArguments,
            RootCause,
            _root_cause,
            summaries.root_cause,
        ),
        Tool(
            "impact",
            "Assess a planned change",
            "Assess one planned change of a dataset or job before it is made: which assets would "
            "break, with evidence and owners. It changes nothing.",
            ImpactArguments,
            Impact,
            _impact,
            summaries.impact,
        ),
    )
}
