"""Commands about the whole estate: `freshness`, `coverage`, `unused`, `usage`, `owners`."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.client.backend import Backend
from headwater.client.names import resolve
from headwater.errors import QueryError

if TYPE_CHECKING:
    from rich.console import Console

Data = dict[str, Any]
Days = Annotated[int, typer.Option(help="Number of past days.")]
First = Annotated[int, typer.Option(help="Maximum number of results.")]
After = Annotated[str | None, typer.Option(help="Continue after this cursor.")]
Namespace = Annotated[str, typer.Option(help="Only this namespace.")]
DatasetArgument = Annotated[
    str,
    typer.Argument(
        help="A dataset by name or urn, for example delays or dataset:file:/data/marts/delays.",
        metavar="DATASET",
    ),
]

# Exit codes of the freshness gate.
EXIT_CODES = {"FRESH": 0, "STALE": 1, "UNKNOWN": 2}
_STATE_STYLES = {"FRESH": "bold green", "STALE": "bold red", "UNKNOWN": "bold yellow"}
# The largest Int of GraphQL.
_SECONDS_MAX = 2**31 - 1


@question
def freshness(
    backend: Backend,
    dataset: DatasetArgument,
    within: Annotated[str, typer.Option(help="Maximum age of the data: 90m, 24h, 7d.")],
) -> Result:
    """Check freshness: fail if a dataset, or a source whose data went into it, is too old.

    The exit code is 0 if everything is fresh, 1 if something is stale, 2 if the age is unknown. The
    output names the causes.

    For example: headwater freshness delays --within 24h"""
    from headwater.schema.durations import parse_duration
    from headwater.schema.urns import parse_urn

    length = parse_duration(within, name="--within")
    urn = resolve(backend, dataset, ("DATASET",))
    if parse_urn(urn).kind != "dataset":
        raise QueryError(f"{urn!r} is not the urn of a dataset")
    seconds = min(math.ceil(length.total_seconds()), _SECONDS_MAX)
    answer = backend.ask("freshness", urn=urn, maxAgeSeconds=seconds)
    found = answer["freshness"]
    verdict = found["verdict"]
    causes = [_source_age(one) for one in verdict["causes"]]
    sources = [_source_age(one) for one in found["sources"]]
    data = {
        "dataset": answer["dataset"]["urn"],
        "state": verdict["state"],
        "explanation": verdict["explanation"],
        "causes": causes,
        "within": within,
        "newestAt": found["newestAt"],
        "effectiveAt": found["effectiveAt"],
        "exact": found["exact"],
        "sources": sources,
        "incompleteReason": found["incompleteReason"],
    }
    rows = [{"state": data["state"], **one} for one in causes or sources]
    return Result(
        data=data,
        columns=("state", "dataset", "newestAt", "exact"),
        rows=rows,
        records=[data],
        show=partial(_show_freshness, data=data),
        exit_code=EXIT_CODES[verdict["state"]],
    )


def _source_age(one: Data) -> Data:
    return {"dataset": one["urn"], "newestAt": one["newestAt"], "exact": one["exact"]}


def _show_freshness(out: Console, *, data: Data) -> None:
    from headwater.cli import render

    style = _STATE_STYLES[data["state"]]
    render.print_line(out, f"[{style}]{data['state']}[/]", data["dataset"], data["explanation"])
    now = datetime.now(UTC)
    for one in data["causes"] or data["sources"]:
        render.print_line(out, "  ", one["dataset"], _age(one, now))


def _age(source: Data, now: datetime) -> str:
    from headwater.cli import render

    if source["newestAt"] is None:
        return "age unknown"
    age = render.age_of(now - datetime.fromisoformat(source["newestAt"]))
    return f"{age} old" if source["exact"] else f"at least {age} old: no capture time was reported"


@question
def coverage(backend: Backend, days: Days = 30, namespace: Namespace = "") -> Result:
    """Show coverage of lineage, unknown downstreams, median blast radius and certified paths.

    For example: headwater coverage --namespace warehouse --days 7"""
    found = backend.ask("coverage", days=days, namespace=namespace, after=None)["coverage"]
    namespaces = _namespaces(backend, found, days, namespace)
    radius, paths = found["blastRadius"], found["certifiedPaths"]
    largest = radius["largestDataset"]
    data = {
        "since": found["since"],
        "until": found["until"],
        "total": found["total"],
        "namespaces": namespaces,
        "blastRadius": {
            **radius,
            "largestDataset": largest["urn"] if largest else None,
            "sampled": radius["sampleSize"] < radius["datasets"],
        },
        "certifiedPaths": {
            **paths,
            "broken": [{"dataset": one["urn"], "ends": one["ends"]} for one in paths["broken"]],
        },
    }
    rows = [dict(zip(_FIGURE, line, strict=True)) for line in _coverage_lines(data, days)]
    return Result(data, _FIGURE, rows, show=partial(_show_coverage, data=data, rows=rows))


_FIGURE = ("figure", "value", "of")


def _namespaces(backend: Backend, found: Data, days: int, namespace: str) -> Data:
    """Return the counts of every namespace, page by page."""
    counts: Data = {}
    while True:
        connection = found["namespaces"]
        counts |= {one["node"]["namespace"]: one["node"]["counts"] for one in connection["edges"]}
        page = connection["pageInfo"]
        if not page["hasNextPage"]:
            return counts
        after = page["endCursor"]
        found = backend.ask("coverage", days=days, namespace=namespace, after=after)["coverage"]


def _show_coverage(out: Console, *, data: Data, rows: list[Data]) -> None:
    from headwater.cli import render

    render.print_table(out, _FIGURE, rows)
    for path in data["certifiedPaths"]["broken"]:
        ends = ", ".join(path["ends"]) or "leads to hidden nodes or beyond the bounds"
        render.print_line(out, "[red]broken[/]", path["dataset"], ends)


def _coverage_lines(data: Data, days: int) -> list[tuple[str, str, str]]:
    """Return the lines of the coverage table: the name of a figure, its value, and its base."""
    from headwater.cli import render

    counts, radius, paths = data["total"], data["blastRadius"], data["certifiedPaths"]
    shares = {name: render.percent(share) for name, share in counts["shares"].items()}
    datasets, jobs = counts["datasets"], counts["jobs"]
    produced = counts["produced"]
    owned = counts["ownedDatasets"] + counts["ownedJobs"]
    median = "-" if radius["median"] is None else f"{radius['median']:g}"
    sampled = f" (of {radius['sampleSize']} sampled)" if radius["sampled"] else ""
    certified = render.with_noun(paths["datasets"], "certified dataset")
    past = render.with_noun(days, "day")
    nodes = f"{render.with_noun(datasets, 'dataset')}, {render.with_noun(jobs, 'job')}"
    reach = f"datasets and jobs downstream; at most {radius['largest']}{sampled}"
    both = counts["withInputsAndOutputs"]
    owners = render.with_noun(owned, "dataset or job", "datasets and jobs")
    return [
        ("lineage coverage", shares["lineage"], nodes),
        ("datasets in lineage", shares["datasets"], f"{counts['connected']} of {datasets}"),
        ("jobs with inputs and outputs", shares["jobs"], f"{both} of {jobs}"),
        ("column lineage", shares["columnLineage"], f"{counts['withColumnLineage']} of {produced}"),
        (
            "unknown downstreams",
            str(counts["unknownDownstreams"]),
            f"of {produced} produced datasets, without a known reader",
        ),
        ("median blast radius", median, reach),
        ("certified-path integrity", render.percent(paths["integrity"]), f"of {certified}"),
        ("runs that ended", shares["ended"], f"{counts['ended']} of {counts['runs']} in {past}"),
        ("with an owner", shares["owned"], owners),
        ("with a description", shares["described"], f"{counts['describedDatasets']} of {datasets}"),
        ("with a schema", shares["schema"], f"{counts['withSchema']} of {datasets}"),
    ]


@question
def unused(
    backend: Backend,
    days: Days = 30,
    namespace: Namespace = "",
    first: First = 20,
    after: After = None,
) -> Result:
    """List datasets without recent reads, the largest first: storage to reclaim.

    For example: headwater unused --days 90 --format csv"""
    from headwater.cli import render

    found = backend.ask("unused", days=days, namespace=namespace, first=first, after=after)
    found = found["unusedDatasets"]
    datasets = [
        {"cursor": cursor, **node, "dataset": node["dataset"]["urn"]}
        for cursor, node in render.cursors(found)
    ]
    totals = {name: found[name] for name in ("totalCount", "bytes", "unknownSizeCount")}
    has_next = found["pageInfo"]["hasNextPage"]
    return Result(
        data={"datasets": datasets, **totals, "hasNextPage": has_next},
        columns=("dataset", "bytes", "lastReadAt"),
        rows=datasets,
        show=partial(_show_unused, found=found, datasets=datasets),
    )


def _show_unused(out: Console, *, found: Data, datasets: list[Data]) -> None:
    from headwater.cli import render

    rows = [
        {
            **one,
            "size": render.bytes_of(one["bytes"]),
            "lastReadAt": one["lastReadAt"] or "never",
        }
        for one in datasets
    ]
    render.print_table(out, ("dataset", "size", "lastReadAt"), rows)
    sizes, count = found["unknownSizeCount"], found["totalCount"]
    unknown = f"; size unknown for {sizes:,}" if sizes else ""
    out.print(
        f"[bold]{render.bytes_of(found['bytes'])}[/] to reclaim in "
        f"{render.with_noun(count, 'dataset')}{unknown}"
    )
    page = found["pageInfo"]
    if page["hasNextPage"]:
        render.print_more(out, page["endCursor"], count)


@question
def usage(
    backend: Backend,
    dataset: DatasetArgument,
    days: Days = 30,
    first: First = 20,
    after: After = None,
) -> Result:
    """Show the readers of a dataset and their cost, by job and by owner.

    For example: headwater usage delays --days 7"""
    from headwater.cli import render

    urn = resolve(backend, dataset, ("DATASET",))
    answer = backend.ask("usage", urn=urn, days=days, first=first, after=after)
    found = answer["usage"]
    consumers = [
        {"cursor": cursor, **node, "job": node["job"]["urn"]}
        for cursor, node in render.cursors(found["consumers"])
    ]
    data = {
        "dataset": answer["dataset"]["urn"],
        "since": found["since"],
        "until": found["until"],
        "consumers": consumers,
        "hasNextPage": found["consumers"]["pageInfo"]["hasNextPage"],
        "chargeback": found["chargeback"],
        "answers": render.urns(found["answers"]),
        "truncated": found["truncated"],
    }
    page = found["consumers"]["pageInfo"]
    return Result(
        data=data,
        columns=("job", "owners", "runs", "lastReadAt", "rows", "bytes", "seconds"),
        rows=consumers,
        show=partial(_show_usage, data=data, end_cursor=page["endCursor"], first=first),
    )


def _show_usage(out: Console, *, data: Data, end_cursor: str | None, first: int) -> None:
    from headwater.cli import render

    rows = [
        {
            **one,
            "last read": one["lastReadAt"],
            "bytes": render.bytes_of(one["bytes"]),
            "seconds": f"{one['seconds']:,.1f}",
        }
        for one in data["consumers"]
    ]
    columns = ("job", "owners", "runs", "last read", "rows", "bytes", "seconds")
    render.print_table(out, columns, rows)
    if data["hasNextPage"]:
        render.print_more(out, end_cursor)
    for charge in data["chargeback"]:
        render.print_line(
            out,
            f"[bold]{charge['seconds']:,.1f}[/] s",
            charge["owner"] or "(no owner)",
            render.with_noun(charge["jobs"], "job"),
        )
    for answer in data["answers"][:first]:
        render.print_line(out, "[cyan]cited by[/]", answer, "")


@question
def owners(
    backend: Backend,
    owner: Annotated[
        str | None,
        typer.Argument(help="List the nodes of this owner; '' for nodes without an owner."),
    ] = None,
    first: First = 20,
    after: After = None,
) -> Result:
    """List owners with the number of their nodes, or the nodes of one owner.

    For example: headwater owners team:insight"""
    if owner is not None:
        return _owned(backend, owner, first, after)
    from headwater.cli import render

    found = backend.ask("owners", first=first, after=after)["owners"]
    listed = [{"cursor": cursor, **node} for cursor, node in render.cursors(found)]
    counts = {name: found[name] for name in ("totalCount", "unownedDatasets", "unownedJobs")}
    has_next = found["pageInfo"]["hasNextPage"]
    return Result(
        data={"owners": listed, **counts, "hasNextPage": has_next},
        columns=("name", "datasets", "jobs"),
        rows=listed,
        show=partial(_show_owners, found=found, listed=listed),
    )


def _show_owners(out: Console, *, found: Data, listed: list[Data]) -> None:
    from headwater.cli import render

    render.print_table(out, ("name", "datasets", "jobs"), listed)
    datasets = render.with_noun(found["unownedDatasets"], "dataset")
    jobs = render.with_noun(found["unownedJobs"], "job")
    out.print(f"without an owner: [bold]{datasets}[/] and [bold]{jobs}[/]")
    page = found["pageInfo"]
    if page["hasNextPage"]:
        render.print_more(out, page["endCursor"], found["totalCount"])


def _owned(backend: Backend, owner: str, first: int, after: str | None) -> Result:
    from headwater.cli import render

    found = backend.ask("owned_by", owner=owner, first=first, after=after)["ownedBy"]
    owned = [{"cursor": cursor, **node} for cursor, node in render.cursors(found)]
    page = found["pageInfo"]
    columns = ("kind", "namespace", "name", "urn")

    def show(out: Console) -> None:
        render.print_table(out, columns, owned)
        if page["hasNextPage"]:
            render.print_more(out, page["endCursor"])

    return Result({"owned": owned, "hasNextPage": page["hasNextPage"]}, columns, owned, show=show)


COMMANDS = {
    "freshness": freshness,
    "coverage": coverage,
    "unused": unused,
    "usage": usage,
    "owners": owners,
}
