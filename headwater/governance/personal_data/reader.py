"""Read the graph over which personal data propagates: one statement for each hop of datasets.

The graph is read whatever the caller's visibility; `listing` hides what the caller may not see.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from itertools import chain
from typing import Any

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row
from headwater.governance.personal_data.classes import class_of_name, classes_of_tags
from headwater.governance.personal_data.declassification import active_declassifications
from headwater.governance.personal_data.propagate import (
    Citation,
    ColumnEdge,
    Crossing,
    DatasetLinks,
    Kind,
    PersonalDataGraph,
    Root,
)
from headwater.lineage.view import GraphView
from headwater.schema.edits import NodeApproval
from headwater.schema.urns import column_urn, parse_urn

DATASETS_MAX = 50_000
_DATASETS_PER_QUERY = 500
_SECONDS_MAX = 30.0
_COLUMN, _DATASET = "column:", "dataset:"
MODEL_TYPES = frozenset({"model"})
EXPORT_TYPES = frozenset({"export", "report", "dashboard"})
EXPORT_TAGS = frozenset({"export", "export=true", "external-consumer", "external-consumer=true"})


def read_graph(view: GraphView, today: date, *, with_suggested: bool = False) -> PersonalDataGraph:
    """Return everything that personal data may reach, from the classified nodes on.

    today: declassifications that ended before this day no longer count.
    with_suggested: columns whose names suggest a class are classified too.
    """
    roots = list(_read_roots(view))
    if with_suggested:
        known = {root.urn for root in roots}
        roots += [root for root in _suggested(view) if root.urn not in known]
    declassified: dict[str, dict[str, NodeApproval]] = {}
    datasets: dict[str, DatasetLinks] = {}
    for row in _read_links(view, {root.dataset for root in roots}):
        datasets[row["urn"]] = _links(row)
        declassified.update(active_declassifications(row["urn"], row["approvals"], today))
    cited = chain.from_iterable(links.citations for links in datasets.values())
    answers = {one.answer for one in cited}
    return PersonalDataGraph(
        datasets=datasets,
        roots=roots,
        citing=_read_citing(view, answers),
        declassified=declassified,
    )


def _read_roots(view: GraphView) -> Iterable[Root]:
    for row in view.read("read/personal_data/classified", seconds=_SECONDS_MAX):
        # The tags of columns stand on their columns as well; their keys contain a colon.
        own = classes_of_tags(tag for tag in row["tags"] if ":" not in tag.partition("=")[0])
        if not row["columns"]:
            yield from (Root(row["urn"], row["urn"], one) for one in sorted(own))
        for urn, tags in row["columns"]:
            for one in sorted(own | classes_of_tags(tags)):
                yield Root(urn, row["urn"], one)


def _suggested(view: GraphView) -> Iterable[Root]:
    rows = view.read("read/personal_data/named_columns", seconds=_SECONDS_MAX, limit=DATASETS_MAX)
    for row in rows:
        named = [(column, class_of_name(column)) for column in row["columns"]]
        parts = parse_urn(row["urn"]).parts if any(one for _, one in named) else ()
        if len(parts) == 2:
            namespace, name = parts
            for column, one in named:
                if one is not None:
                    yield Root(column_urn(namespace, name, column), row["urn"], one, "name")


def _read_links(view: GraphView, starts: Collection[str]) -> Iterator[Row]:
    """Yield the rows of these datasets and of all that are reached from them."""
    seen, border = set(starts), set(starts)
    while border:
        after: set[str] = set()
        for urns in chunks(sorted(border), _DATASETS_PER_QUERY):
            rows = view.read("read/personal_data/links", seconds=_SECONDS_MAX, urns=urns)
            for row in rows:
                after.update(
                    dataset or dataset_of(target) for _, target, _, _, dataset in row["edges"]
                )
                after.update(output for _, output, _ in row["crossings"])
                after.update(output for output, _ in row["feeds"])
            yield from rows
        border = after - seen if len(seen) < DATASETS_MAX else set()
        seen |= border


def _links(row: Row) -> DatasetLinks:
    stale = {(job, output) for job, output in row["stale"]}
    edges = [
        ColumnEdge(
            source,
            target,
            dataset or dataset_of(target),
            job or "",
            tuple(transformations or ()),
        )
        for source, target, job, transformations, dataset in row["edges"]
    ]
    crossings = [Crossing(job, output, has) for job, output, has in row["crossings"]]
    crossings += [Crossing("", output, has) for output, has in row["feeds"]]
    columns = row["columns"]
    return DatasetLinks(
        urn=row["urn"],
        kind=kind_of(row["type"], row["tags"]),
        is_gone=row["isGone"],
        columns=frozenset(map(str.casefold, columns)) if columns else None,
        edges=sorted(
            (
                edge
                for edge in edges
                if (edge.job, None) not in stale and (edge.job, edge.target_dataset) not in stale
            ),
            key=_edge_key,
        ),
        crossings=sorted(crossings, key=lambda one: (one.output, one.job)),
        citations=sorted(
            (Citation(answer, column) for answer, column in row["citations"]),
            key=lambda one: (one.answer, one.column),
        ),
    )


def _edge_key(edge: ColumnEdge) -> tuple[Any, ...]:
    return edge.source, edge.target, edge.job, edge.transformations


def dataset_of(urn: str) -> str:
    """Return the urn of the dataset of a column, or of a dataset itself."""
    if urn.startswith(_DATASET):
        return urn
    return _DATASET + urn.removeprefix(_COLUMN).rpartition(":")[0]


def kind_of(type: str | None, tags: Iterable[str] | None) -> Kind:
    """Return the kind of a dataset: by its type, or as an export by its tags."""
    word = (type or "").casefold()
    if word in MODEL_TYPES:
        return Kind.MODEL
    is_export = word in EXPORT_TYPES or any(tag.casefold() in EXPORT_TAGS for tag in tags or ())
    return Kind.EXPORT if is_export else Kind.DATASET


def _read_citing(view: GraphView, answers: Collection[str]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    border = set(answers)
    while border:
        after: set[str] = set()
        for urns in chunks(sorted(border), _DATASETS_PER_QUERY):
            for row in view.read("read/personal_data/citing_answers", urns=urns):
                found[row["urn"]] = sorted(row["answers"])
                after.update(row["answers"])
        border = after - found.keys()
    return found
