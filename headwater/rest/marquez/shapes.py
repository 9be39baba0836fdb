"""Nodes of the graph in Marquez' shapes. A page costs a few statements, whatever its length."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from headwater.cypher.driver.database import Row
from headwater.lineage.history_pages import read_history_pages
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.nodes import read_all_facets, read_nodes
from headwater.lineage.pagination import PageRequest
from headwater.lineage.view import GraphView
from headwater.rest.marquez import models
from headwater.schema.urns import guid_of, parse_urn

# The maximum number of inputs, outputs or parents of one node.
LINKS_MAX = 1_000
NEVER = datetime.fromtimestamp(0, UTC)
_STATES: dict[str, models.RunState] = {
    "RUNNING": "RUNNING",
    "COMPLETE": "COMPLETED",
    "FAIL": "FAILED",
    "ABORT": "ABORTED",
    "ABANDONED": "ABORTED",
}
STATUSES = {"NEW": (), "RUNNING": ("RUNNING",), "COMPLETED": ("COMPLETE",), "FAILED": ("FAIL",)} | {
    "ABORTED": ("ABORT", "ABANDONED")
}
_STREAMS = ("STREAM", "TOPIC")


def name_of(row: Mapping[str, Any]) -> models.Name:
    """Return the name of a dataset or job."""
    return models.Name(namespace=row["namespace"], name=row["name"])


def names_of(urns: Iterable[str]) -> list[models.Name]:
    """Return the names in these urns, without urns that are a hash."""
    parts = (parse_urn(urn).parts for urn in urns)
    return [models.Name(namespace=part[0], name=part[1]) for part in parts if len(part) >= 2]


def version_of(row: Row) -> models.Version:
    """Return the name of a version; its UUID comes from the urn."""
    return models.Version(namespace=row["namespace"], name=row["name"], version=guid_of(row["urn"]))


def source_of(row: Row) -> models.Source:
    """Return a data source."""
    scheme = url_scheme(row["uri"] or row["name"])
    return models.Source(
        type=scheme.upper(),
        name=row["name"],
        created_at=row["first"] or NEVER,
        updated_at=row["last"] or NEVER,
        connection_url=row["uri"] or "",
    )


def url_scheme(text: str) -> str:
    """Return the scheme of a URL; empty if the text is not a URL."""
    try:
        return urlsplit(text).scheme
    except ValueError:
        return ""


def runs(view: GraphView, urns: Iterable[str]) -> dict[str, models.Run]:
    """Return the existing runs of these urns, by urn."""
    rows = read_nodes(view, urns)
    links = _links(view, "read/nodes/run_links", list(rows))
    facets = read_all_facets(view, rows)
    linked: set[str] = set()
    for link in links.values():
        linked.update(link["jobs"])
        linked.update(dataset["urn"] for dataset in (*link["inputs"], *link["outputs"]))
    visible_rows = read_nodes(view, sorted(linked))
    return {
        urn: _run(row, links.get(urn, {}), visible_rows, facets.get(urn, {}))
        for urn, row in rows.items()
    }


def jobs_of(view: GraphView, run: str) -> list[str]:
    """Return the urns of the jobs of a run."""
    links = _links(view, "read/nodes/run_links", [run])
    return list(chain.from_iterable(link["jobs"] for link in links.values()))


def _links(view: GraphView, query: str, urns: list[str]) -> dict[str, Row]:
    listed = (
        view.read(query, urns=urns, limit=LINKS_MAX, visible=view.visibility.regexes)
        if urns
        else []
    )
    return {row["urn"]: row for row in listed}


def _run(row: Row, links: Row, visible: Mapping[str, Row], facets: dict[str, Any]) -> models.Run:
    started, ended = row.get("startedAt"), row.get("finishedAt")
    job = next((visible[urn] for urn in links.get("jobs", ()) if urn in visible), None)
    return models.Run(
        id=row["runId"],
        created_at=started or row.get("lastSeen") or NEVER,
        updated_at=row.get("lastSeen") or started or NEVER,
        nominal_start_time=row.get("nominalStart"),
        nominal_end_time=row.get("nominalEnd"),
        state=_STATES.get(row.get("status", ""), "NEW"),
        started_at=started,
        ended_at=ended,
        duration_ms=round((ended - started).total_seconds() * 1_000) if started and ended else None,
        args={},
        job_version=version_of(job) if job else None,
        input_versions=[
            version_of(visible[dataset["urn"]])
            for dataset in links.get("inputs", ())
            if dataset["urn"] in visible
        ],
        output_versions=[
            version_of(visible[dataset["urn"]])
            for dataset in links.get("outputs", ())
            if dataset["urn"] in visible
        ],
        facets=facets,
    )


def datasets(
    view: GraphView, urns: Sequence[str], *, with_columns: bool = False
) -> dict[str, models.Dataset]:
    """Return the existing datasets of these urns, by urn, in order.

    `with_columns` adds the column lineage.
    """
    rows = read_nodes(view, urns)
    facets = read_all_facets(view, rows)
    newest = _newest_versions(view, list(rows))
    columns = {urn: column_lineage(view, urn, rows[urn]) for urn in rows} if with_columns else {}
    return {
        urn: _dataset(rows[urn], facets.get(urn, {}), newest.get(urn), columns.get(urn) or None)
        for urn in urns
        if urn in rows
    }


def _newest_versions(view: GraphView, urns: list[str]) -> dict[str, Row]:
    pages = (
        read_history_pages(view, "read/nodes/dataset_versions", urns, PageRequest(1))
        if urns
        else {}
    )
    newest = {urn: page.entries[0] for urn, page in pages.items() if page.entries}
    rows = read_nodes(view, newest.values())
    return {urn: rows[version] for urn, version in newest.items() if version in rows}


def _dataset(
    row: Row, facets: dict[str, Any], newest: Row | None, columns: list[models.OutputField] | None
) -> models.Dataset:
    return models.Dataset(
        id=name_of(row),
        type=dataset_type(row),
        name=row["name"],
        physical_name=row["name"],
        created_at=row.get("firstSeen") or NEVER,
        updated_at=row.get("lastSeen") or NEVER,
        namespace=row["namespace"],
        source_name=row.get("sourceName") or row["namespace"],
        fields=fields(row, facets),
        tags=split_tags(row)[""],
        last_modified_at=newest.get("createdAt") if newest else None,
        last_lifecycle_state=row.get("lifecycle") or "",
        description=row.get("description"),
        current_version=guid_of(newest["urn"]) if newest else None,
        column_lineage=columns,
        facets=facets,
        deleted=row.get("droppedAt") is not None,
    )


def dataset_type(row: Mapping[str, Any]) -> models.DatasetType:
    """Return Marquez' type of a dataset."""
    return "STREAM" if str(row.get("type") or "").upper() in _STREAMS else "DB_TABLE"


def split_tags(row: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the tags of a dataset by column, with those of the dataset itself under ""."""
    columns = sorted(row.get("columns") or (), key=len, reverse=True)
    tags: dict[str, list[str]] = defaultdict(list)
    for text in row.get("tags") or ():
        column = next((name for name in columns if text.startswith(f"{name}:")), "")
        tags[column].append(text.removeprefix(f"{column}:"))
    return tags


def fields(row: Mapping[str, Any], facets: Mapping[str, Any]) -> list[models.Field]:
    """Return the columns of a dataset: their tags, and types and descriptions from its facets."""
    schema = {
        field["name"]: field
        for field in _listed(facets, "schema", "fields")
        if isinstance(field.get("name"), str)
    }
    tags = split_tags(row)
    return [
        models.Field(
            name=name,
            type=_text(schema.get(name, {}).get("type")),
            tags=tags[name],
            description=_text(schema.get(name, {}).get("description")),
        )
        for name in row.get("columns") or ()
    ]


def _listed(facets: Mapping[str, Any], facet: str, key: str) -> list[dict[str, Any]]:
    content = facets.get(facet)
    listed = content.get(key) if isinstance(content, dict) else None
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def column_lineage(view: GraphView, urn: str, row: Row) -> list[models.OutputField]:
    """Return the input columns of each column of a dataset."""
    columns = [column["urn"] for column in view.read("read/nodes/columns", urns=[urn], limit=1_000)]
    sources: dict[str, list[str]] = defaultdict(list)
    for edge in (
        view.read("read/traversal/column_sources", urns=columns, limit=20_000) if columns else ()
    ):
        sources[edge["target"]].append(edge["source"])
    visible_inputs = set(select_visible(view, chain.from_iterable(sources.values())))
    names = dict.fromkeys(row.get("columns") or ())
    inputs_by_column = {
        parse_urn(column).parts[2:]: input_fields(sources[column], visible_inputs)
        for column in sources
    }
    inputs_by_name = {
        name[0]: inputs for name, inputs in inputs_by_column.items() if name and inputs
    }
    ordered = [*names, *sorted(inputs_by_name.keys() - names.keys())]
    return [
        models.OutputField(name=name, input_fields=inputs_by_name[name])
        for name in ordered
        if name in inputs_by_name
    ]


def input_fields(urns: Iterable[str], shown: set[str]) -> list[models.InputField]:
    """Return the input columns of these urns that are in `shown`."""
    parts = (parse_urn(urn).parts for urn in sorted(set(urns)) if urn in shown)
    return [
        models.InputField(namespace=part[0], dataset=part[1], field=part[2])
        for part in parts
        if len(part) == 3
    ]


def versions(view: GraphView, dataset: str, urns: Sequence[str]) -> list[models.DatasetVersion]:
    """Return versions of one dataset, in order."""
    rows = read_nodes(view, [*urns, dataset])
    made_by = runs(view, [row["run"] for row in rows.values() if row.get("run")])
    facets = read_all_facets(view, [dataset]).get(dataset, {})
    dataset_row = rows.get(dataset, {})
    return [_version(rows[urn], dataset_row, facets, made_by) for urn in urns if urn in rows]


def _version(
    row: Row, dataset: Row, facets: dict[str, Any], made_by: Mapping[str, models.Run]
) -> models.DatasetVersion:
    return models.DatasetVersion(
        id=version_of(row),
        type=dataset_type(dataset),
        name=row["name"],
        physical_name=row["name"],
        created_at=row.get("createdAt") or row.get("startedAt") or NEVER,
        version=guid_of(row["urn"]),
        namespace=row["namespace"],
        source_name=dataset.get("sourceName") or row["namespace"],
        fields=fields(dataset, facets),
        tags=split_tags(dataset)[""],
        description=dataset.get("description"),
        lifecycle_state=row.get("lifecycle") or "",
        created_by_run=made_by.get(row.get("run", "")),
        facets=facets,
    )


def jobs(view: GraphView, urns: Sequence[str], *, runs_max: int = 1) -> dict[str, models.Job]:
    """Return the existing jobs of these urns, by urn, in order, each with its newest runs."""
    rows = read_nodes(view, urns)
    listed = list(rows)
    links = _links(view, "read/nodes/job_links", listed)
    pages = (
        read_history_pages(view, "read/nodes/job_runs", listed, PageRequest(runs_max))
        if rows
        else {}
    )
    newest_runs = {urn: page.entries for urn, page in pages.items()}
    runs_by_urn = runs(view, chain.from_iterable(newest_runs.values()))
    facets = read_all_facets(view, rows)
    linked: set[str] = set()
    for link in links.values():
        linked.update(link["inputs"], link["outputs"], link["parents"])
    visible_urns = set(select_visible(view, sorted(linked)))
    jobs: dict[str, models.Job] = {}
    for urn in urns:
        if urn in rows:
            latest = [runs_by_urn[run] for run in newest_runs.get(urn, ()) if run in runs_by_urn]
            jobs[urn] = _job(
                rows[urn], links.get(urn, {}), visible_urns, latest, facets.get(urn, {})
            )
    return jobs


def _job(
    row: Row, links: Row, visible: set[str], newest: list[models.Run], facets: dict[str, Any]
) -> models.Job:
    parent = next((urn for urn in links.get("parents", ()) if urn in visible), None)
    parent_name = names_of([parent])[0].name if parent and parse_urn(parent).parts else None
    simple_name = row["name"].removeprefix(f"{parent_name}.") if parent_name else row["name"]
    return models.Job(
        id=name_of(row),
        type=_job_type(row),
        name=row["name"],
        simple_name=simple_name,
        parent_job_name=parent_name,
        parent_job_uuid=guid_of(parent) if parent else None,
        created_at=row.get("firstSeen") or NEVER,
        updated_at=row.get("lastSeen") or NEVER,
        namespace=row["namespace"],
        inputs=names_of(urn for urn in links.get("inputs", ()) if urn in visible),
        outputs=names_of(urn for urn in links.get("outputs", ()) if urn in visible),
        tags=list(row.get("tags") or ()),
        location=row.get("codeUrl"),
        description=row.get("description"),
        latest_run=newest[0] if newest else None,
        latest_runs=newest or None,
        facets=facets,
        current_version=guid_of(row["urn"]),
    )


def _job_type(row: Row) -> models.JobType:
    kind = f"{row.get('processing') or ''} {row.get('type') or ''}".upper()
    if "STREAM" in kind:
        return "STREAM"
    return "SERVICE" if "SERVICE" in kind else "BATCH"
