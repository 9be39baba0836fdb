"""Marquez' lineage, column lineage, search, and counts over time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from msgspec import Meta

from headwater.lineage.nodes import read_nodes
from headwater.lineage.questions import catalog
from headwater.lineage.questions.lineage import lineage
from headwater.lineage.questions.search import SEARCH_MAX, SearchFilters, search
from headwater.lineage.traversal.request import DEPTH_MAX, LineageRequest
from headwater.lineage.view import GraphView
from headwater.rest.marquez import models, shapes
from headwater.rest.marquez.events import is_within, parse_time
from headwater.rest.marquez.node_ids import node_id, urn_of
from headwater.rest.operations import ArgumentError, Operation, OperationRequest
from headwater.schema.urns import parse_urn

_GRAPH_NODES_MAX = 1_000
# Marquez' name of the order by time is UPDATE_AT; UPDATED_AT is that of its column.
_SORTS = ("name", "update_at", "updated_at")
Depth = Annotated[int, Meta(ge=0, le=DEPTH_MAX)]


class NodeParams(models.Model, kw_only=True):
    node_id: models.Text
    depth: Depth = 20


class ColumnLineageParams(NodeParams, kw_only=True):
    with_downstream: bool = False


class SearchParams(models.Model, kw_only=True):
    q: Annotated[str, Meta(max_length=500)]
    filter: str = ""
    sort: str = "name"
    limit: Annotated[int, Meta(ge=0, le=SEARCH_MAX)] = 10
    namespace: models.Text = ""
    before: str = ""
    after: str = ""


class StatsParams(models.Model, kw_only=True):
    period: Literal["DAY", "WEEK"] = "DAY"
    timezone: Annotated[str, Meta(max_length=100)] = "UTC"


class CountsParams(StatsParams, kw_only=True):
    asset: Literal["jobs", "datasets", "sources"]


def get_lineage(request: OperationRequest) -> models.LineageGraph:
    params: NodeParams = request.params
    urn = urn_of(request.view, params.node_id, kinds=("dataset", "job"))
    urns, flows = [urn], set()
    if params.depth:
        result = lineage(
            request.view, LineageRequest((urn,), depth=params.depth, nodes_max=_GRAPH_NODES_MAX)
        )
        urns = [node.urn for node in result.nodes if node.kind in ("DATASET", "JOB")]
        flows = {(edge.source, edge.target) for edge in result.edges}
    deleted = {
        member for member, row in read_nodes(request.view, urns).items() if row.get("deletedAt")
    }
    urns = [member for member in urns if member not in deleted]
    incoming, outgoing = _edges({node_id(urn) for urn in urns}, flows, set(urns))
    datasets = shapes.datasets(request.view, _of_kind("dataset", urns))
    jobs = shapes.jobs(request.view, _of_kind("job", urns))
    graph: list[models.DatasetNode | models.JobNode] = []
    for member in sorted(urns, key=node_id):
        id = node_id(member)
        before = [models.Edge(origin=other, destination=id) for other in sorted(incoming[id])]
        after = [models.Edge(origin=id, destination=other) for other in sorted(outgoing[id])]
        if member.startswith("job:"):
            graph.append(
                models.JobNode(id=id, data=jobs.get(member), in_edges=before, out_edges=after)
            )
        else:
            graph.append(
                models.DatasetNode(
                    id=id, data=datasets.get(member), in_edges=before, out_edges=after
                )
            )
    return models.LineageGraph(graph=graph)


def _of_kind(kind: str, urns: Iterable[str]) -> list[str]:
    return [urn for urn in urns if urn.startswith(f"{kind}:")]


def _edges(
    ids: set[str], flows: Iterable[tuple[str, str]], shown: set[str]
) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return the sources and targets of each node; nodes that are not shown have no edges."""
    incoming: dict[str, set[str]] = {id: set() for id in ids}
    outgoing: dict[str, set[str]] = {id: set() for id in ids}
    for source, target in flows:
        if source in shown and target in shown:
            outgoing[node_id(source)].add(node_id(target))
            incoming[node_id(target)].add(node_id(source))
    return incoming, outgoing


def get_column_lineage(request: OperationRequest) -> models.ColumnGraph:
    params: ColumnLineageParams = request.params
    urn = urn_of(request.view, params.node_id, kinds=("dataset", "datasetField", "job"))
    result = catalog.column_graph(
        request.view, [urn], depth=max(params.depth, 1), downstream=params.with_downstream
    )
    columns = {column for column in result.columns if len(parse_urn(column).parts) == 3}
    flows = {(edge.source, edge.target) for edge in result.edges}
    types = {
        column: row.get("type") for column, row in read_nodes(request.view, sorted(columns)).items()
    }
    incoming, outgoing = _edges({node_id(column) for column in columns}, flows, columns)
    sources: dict[str, list[str]] = defaultdict(list)
    for source, target in flows:
        sources[target].append(source)
    nodes = [
        _column_node(
            column,
            types.get(column),
            shapes.input_fields(sources[column], columns),
            incoming,
            outgoing,
        )
        for column in columns
    ]
    return models.ColumnGraph(graph=sorted(nodes, key=lambda node: node.id))


def _column_node(
    column: str,
    type: str | None,
    inputs: list[models.InputField],
    incoming: dict[str, set[str]],
    outgoing: dict[str, set[str]],
) -> models.ColumnNode:
    namespace, dataset, field = parse_urn(column).parts
    id = node_id(column)
    return models.ColumnNode(
        id=id,
        type="DATASET_FIELD",
        data=models.ColumnData(
            namespace=namespace,
            dataset=dataset,
            dataset_version=None,
            field=field,
            field_type=type,
            transformation_description=None,
            transformation_type=None,
            input_fields=inputs,
        ),
        # As in Marquez, the node is the origin of both for columns, not for datasets and jobs.
        in_edges=[models.Edge(origin=id, destination=other) for other in sorted(incoming[id])],
        out_edges=[models.Edge(origin=id, destination=other) for other in sorted(outgoing[id])],
    )


def get_search(request: OperationRequest) -> models.SearchResults:
    params: SearchParams = request.params
    kinds = [kind for kind in ("DATASET", "JOB") if params.filter.upper() in ("", "ALL", kind)]
    if not kinds:
        raise ArgumentError("`filter` must be dataset or job", field="filter")
    if params.sort.lower() not in _SORTS:
        raise ArgumentError(f"`sort` must be one of {', '.join(_SORTS)}", field="sort")
    begin, end = parse_time(params.after, "after"), parse_time(params.before, "before")
    results: list[models.SearchResult] = []
    total = 0
    for kind in kinds:
        filters = SearchFilters(kind=kind, namespace=params.namespace)
        hits = search(request.view, params.q.replace("%", " "), filters=filters, first=SEARCH_MAX)
        total += hits.count
        results.extend(_results(request.view, [hit.node.urn for hit in hits.page.entries]))
    matching = [
        result for result in results if is_within(_microseconds(result.updated_at), begin, end)
    ]
    if params.sort.lower() == "name":
        matching.sort(key=lambda result: (result.name, result.namespace, result.type))
    else:
        matching.sort(key=lambda result: (result.updated_at, result.name), reverse=True)
    return models.SearchResults(
        total_count=total if begin is None and end is None else len(matching),
        results=matching[: params.limit],
    )


def _results(view: GraphView, urns: list[str]) -> list[models.SearchResult]:
    rows = read_nodes(view, urns)
    return [
        models.SearchResult(
            type="JOB" if urn.startswith("job:") else "DATASET",
            name=row["name"],
            updated_at=row.get("lastSeen") or shapes.NEVER,
            namespace=row["namespace"],
            node_id=node_id(urn),
        )
        for urn, row in rows.items()
        if parse_urn(urn).parts
    ]


def _microseconds(instant: datetime) -> int:
    return round(instant.timestamp() * 1_000_000)


def get_run_counts(request: OperationRequest) -> list[models.RunCounts]:
    edges = _intervals(request.params, datetime.now(UTC))
    return [
        models.RunCounts(
            start_interval=begin,
            end_interval=end,
            fail=counts["FAIL"],
            start=counts["START"],
            complete=counts["COMPLETE"],
            abort=counts["ABORT"] + counts["ABANDONED"],
        )
        for begin, end, counts in zip(
            edges, edges[1:], catalog.run_counts(request.view, edges), strict=False
        )
    ]


def get_counts(request: OperationRequest) -> list[models.Count]:
    params: CountsParams = request.params
    edges = _intervals(params, datetime.now(UTC))
    counts = catalog.node_counts(request.view, params.asset, edges)
    return [
        models.Count(start_interval=begin, end_interval=end, count=count)
        for begin, end, count in zip(edges, edges[1:], counts, strict=False)
    ]


def _intervals(params: StatsParams, now: datetime) -> list[datetime]:
    """Return the begin of each of the last 24 hours or 7 days, and the end of the last one."""
    if params.period == "DAY":
        hour = now.replace(minute=0, second=0, microsecond=0)
        return [hour - timedelta(hours=back) for back in range(23, -2, -1)]
    try:
        zone = ZoneInfo(params.timezone)
    except (KeyError, ValueError, OSError) as error:
        raise ArgumentError(f"{params.timezone!r} is not a time zone", field="timezone") from error
    today = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    return [(today - timedelta(days=back)).astimezone(UTC) for back in range(6, -2, -1)]


_NOT_FOUND = {404: "No node has this id."}


OPERATIONS = (
    Operation(
        "GET",
        "/lineage",
        "The lineage of a dataset or job",
        get_lineage,
        models.LineageGraph,
        NodeParams,
        errors=_NOT_FOUND,
    ),
    Operation(
        "GET",
        "/column-lineage",
        "The lineage of columns",
        get_column_lineage,
        models.ColumnGraph,
        ColumnLineageParams,
        errors=_NOT_FOUND,
    ),
    Operation(
        "GET",
        "/search",
        "Datasets and jobs by name",
        get_search,
        models.SearchResults,
        SearchParams,
    ),
    Operation(
        "GET",
        "/stats/lineage-events",
        "Runs by outcome and interval",
        get_run_counts,
        list[models.RunCounts],
        StatsParams,
    ),
    Operation(
        "GET",
        "/stats/{asset}",
        "The number of jobs, datasets or sources by interval",
        get_counts,
        list[models.Count],
        CountsParams,
    ),
)
