"""Commands about the whole estate: `freshness`, `coverage`, `unused`, `usage`, `owners`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.options import Home, Json, graph_view

if TYPE_CHECKING:
    from datetime import datetime

    from headwater.lineage.pagination import Page
    from headwater.lineage.questions.coverage import BlastRadius, CertifiedPaths, Counts
    from headwater.lineage.questions.freshness import SourceAge

Days = Annotated[int, typer.Option(help="Number of past days.")]
First = Annotated[int, typer.Option(help="Maximum number of results.")]
After = Annotated[str | None, typer.Option(help="Continue after this cursor.")]
Namespace = Annotated[str, typer.Option(help="Only this namespace.")]

# Exit codes of the freshness gate.
EXIT_CODES = {"FRESH": 0, "STALE": 1, "UNKNOWN": 2}


def freshness(
    urn: Annotated[
        str, typer.Argument(help="A dataset, for example dataset:file:/data/marts/delays.")
    ],
    within: Annotated[str, typer.Option(help="Maximum age of the data: 90m, 24h, 7d.")],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Check freshness: fail if a dataset, or a source whose data went into it, is too old.

    The exit code is 0 if everything is fresh, 1 if something is stale, 2 if the age is unknown. The
    output names the causes.
    """
    from datetime import UTC, datetime

    from headwater.cli import render
    from headwater.errors import QueryError
    from headwater.lineage.nodes import require_node
    from headwater.lineage.questions.freshness import evaluate
    from headwater.lineage.questions.freshness import freshness as find_freshness
    from headwater.schema.durations import parse_duration
    from headwater.schema.urns import parse_urn

    length = parse_duration(within, name="--within")
    if parse_urn(urn).kind != "dataset":
        raise QueryError(f"{urn!r} is not the urn of a dataset")
    view = graph_view(home)
    dataset = str(require_node(view, urn)["urn"])
    now = datetime.now(UTC)
    found = find_freshness(view, [dataset])[dataset]
    verdict = evaluate(found, max_age=length, now=now)
    if as_json:
        render.print_json(
            {
                "dataset": dataset,
                "state": verdict.state,
                "explanation": verdict.explanation,
                "causes": render.data_of(verdict.causes),
                "within": within,
                "newestAt": found.newest_at,
                "effectiveAt": found.effective_at,
                "exact": found.exact,
                "sources": render.data_of(found.sources),
                "incompleteReason": found.reason or None,
            }
        )
    else:
        style = {"FRESH": "bold green", "STALE": "bold red", "UNKNOWN": "bold yellow"}[
            verdict.state
        ]
        _print_line(f"[{style}]{verdict.state}[/]", dataset, verdict.explanation)
        for one in verdict.causes or found.sources:
            _print_line("  ", one.dataset, _age(one, now))
    raise typer.Exit(EXIT_CODES[verdict.state])


def _print_line(before: str, urn: str, after: str) -> None:
    from rich.markup import escape

    from headwater.cli import render

    render.console().print(f"{before} {escape(urn)}  [dim]{escape(after)}[/]", soft_wrap=True)


def _age(reached: SourceAge, now: datetime) -> str:
    from headwater.cli import render

    if reached.newest_at is None:
        return "age unknown"
    age = render.age_of(now - reached.newest_at)
    return f"{age} old" if reached.exact else f"at least {age} old: no capture time was reported"


def coverage(
    home: Home = None, days: Days = 30, namespace: Namespace = "", as_json: Json = False
) -> None:
    """Show coverage of lineage, unknown downstreams, median blast radius and certified paths."""
    from headwater.cli import render
    from headwater.lineage.questions import coverage as covered

    view = graph_view(home)
    found = covered.coverage(view, days=days, namespace=namespace)
    radius = covered.blast_radius(view, namespace=namespace)
    paths = covered.certified_paths(view, namespace=namespace)
    if as_json:
        by_namespace = {name: _counts(counts) for name, counts in found.namespaces.items()}
        integrity = {
            "integrity": paths.integrity,
            "datasets": paths.datasets,
            "sampleSize": paths.sample_size,
        }
        render.print_json(
            {
                "since": found.since,
                "until": found.until,
                "total": _counts(found.total),
                "namespaces": by_namespace,
                "blastRadius": {**render.data_of(radius), "sampled": radius.sampled},
                "certifiedPaths": {**integrity, "broken": render.data_of(paths.broken)},
            }
        )
        return
    lines = _coverage_lines(found.total, radius, paths, days)
    render.print_table(
        ["figure", "value", "of"],
        [dict(zip(("figure", "value", "of"), line, strict=True)) for line in lines],
    )
    for path in paths.broken:
        _print_line(
            "[red]broken[/]",
            path.dataset,
            ", ".join(path.ends) or "leads to hidden nodes or beyond the bounds",
        )


def _coverage_lines(
    counts: Counts, radius: BlastRadius, paths: CertifiedPaths, days: int
) -> list[tuple[str, str, str]]:
    """Return the lines of the coverage table: the name of a figure, its value, and its base."""
    from headwater.cli import render

    shares = counts.shares
    owned = counts.owned_datasets + counts.owned_jobs
    median = "-" if radius.median is None else f"{radius.median:g}"
    sampled = f" (of {radius.sample_size} sampled)" if radius.sampled else ""
    return [
        (
            "lineage coverage",
            render.percent(shares.lineage),
            (
                f"{render.with_noun(counts.datasets, 'dataset')}, "
                f"{render.with_noun(counts.jobs, 'job')}"
            ),
        ),
        (
            "datasets in lineage",
            render.percent(shares.datasets),
            f"{counts.connected} of {counts.datasets}",
        ),
        (
            "jobs with inputs and outputs",
            render.percent(shares.jobs),
            f"{counts.with_inputs_and_outputs} of {counts.jobs}",
        ),
        (
            "column lineage",
            render.percent(shares.column_lineage),
            f"{counts.with_column_lineage} of {counts.produced}",
        ),
        (
            "unknown downstreams",
            str(counts.unknown_downstreams),
            f"of {counts.produced} produced datasets, without a known reader",
        ),
        (
            "median blast radius",
            median,
            f"datasets and jobs downstream; at most {radius.largest}{sampled}",
        ),
        (
            "certified-path integrity",
            render.percent(paths.integrity),
            f"of {render.with_noun(paths.datasets, 'certified dataset')}",
        ),
        (
            "runs that ended",
            render.percent(shares.ended),
            f"{counts.ended} of {counts.runs} in {render.with_noun(days, 'day')}",
        ),
        (
            "with an owner",
            render.percent(shares.owned),
            render.with_noun(owned, "dataset or job", "datasets and jobs"),
        ),
        (
            "with a description",
            render.percent(shares.described),
            f"{counts.described_datasets} of {counts.datasets}",
        ),
        (
            "with a schema",
            render.percent(shares.schema),
            f"{counts.with_schema} of {counts.datasets}",
        ),
    ]


def _counts(counts: Any) -> dict[str, Any]:
    from headwater.cli import render

    return {**render.data_of(counts), "shares": render.data_of(counts.shares)}


def _with_cursors(page: Page[Any]) -> list[dict[str, Any]]:
    from headwater.cli import render

    pairs = zip(page.cursors, page.entries, strict=True)
    return [{"cursor": cursor, **render.data_of(entry)} for cursor, entry in pairs]


def unused(
    home: Home = None,
    days: Days = 30,
    namespace: Namespace = "",
    first: First = 20,
    after: After = None,
    as_json: Json = False,
) -> None:
    """List datasets without recent reads, the largest first: storage to reclaim."""
    from headwater.cli import render
    from headwater.lineage.questions.usage import unused as find

    found = find(graph_view(home), days=days, namespace=namespace, first=first, after=after)
    if as_json:
        totals = {
            "totalCount": found.count,
            "bytes": found.bytes,
            "unknownSizeCount": found.unknown_size_count,
        }
        render.print_json(
            {"datasets": _with_cursors(found.page), **totals, "hasNextPage": found.page.has_next}
        )
        return
    rows = [
        {
            "dataset": one.dataset,
            "size": render.bytes_of(one.bytes),
            "lastReadAt": one.last_read_at or "never",
        }
        for one in found.page.entries
    ]
    render.print_table(["dataset", "size", "lastReadAt"], rows)
    unknown = f"; size unknown for {found.unknown_size_count:,}" if found.unknown_size_count else ""
    render.console().print(
        f"[bold]{render.bytes_of(found.bytes)}[/] to reclaim in "
        f"{render.with_noun(found.count, 'dataset')}{unknown}"
    )
    render.print_more(found.page, found.count)


def usage(
    urn: Annotated[
        str, typer.Argument(help="A dataset, for example dataset:file:/data/marts/delays.")
    ],
    home: Home = None,
    days: Days = 30,
    first: First = 20,
    after: After = None,
    as_json: Json = False,
) -> None:
    """Show the readers of a dataset and their cost, by job and by owner."""
    from headwater.cli import render
    from headwater.lineage.questions.usage import chargeback, consumers_page
    from headwater.lineage.questions.usage import usage as find

    found = find(graph_view(home), urn, days=days)
    page, charges = consumers_page(found, first=first, after=after), chargeback(found.consumers)
    if as_json:
        render.print_json(
            {
                "dataset": found.dataset,
                "since": found.since,
                "until": found.until,
                "consumers": _with_cursors(page),
                "hasNextPage": page.has_next,
                "chargeback": render.data_of(charges),
                "answers": found.answers,
                "truncated": found.truncated,
            }
        )
        return
    columns = ["job", "owners", "runs", "last read", "rows", "bytes", "seconds"]
    rows = [
        {
            **vars(one),
            "owners": ", ".join(one.owners),
            "last read": one.last_read_at,
            "bytes": render.bytes_of(one.bytes),
            "seconds": f"{one.seconds:,.1f}",
        }
        for one in page.entries
    ]
    render.print_table(columns, rows)
    render.print_more(page, len(found.consumers))
    for charge in charges:
        _print_line(
            f"[bold]{charge.seconds:,.1f}[/] s",
            charge.owner or "(no owner)",
            render.with_noun(charge.jobs, "job"),
        )
    for answer in found.answers[:first]:
        _print_line("[cyan]cited by[/]", answer, "")


def owners(
    owner: Annotated[
        str | None,
        typer.Argument(help="List the nodes of this owner; '' for nodes without an owner."),
    ] = None,
    home: Home = None,
    first: First = 20,
    after: After = None,
    as_json: Json = False,
) -> None:
    """List owners with the number of their nodes, or the nodes of one owner."""
    from headwater.cli import render
    from headwater.lineage.questions import owners as owning

    if owner is not None:
        nodes = owning.nodes_of_owner(graph_view(home), owner, first=first, after=after)
        if as_json:
            render.print_json({"owned": _with_cursors(nodes), "hasNextPage": nodes.has_next})
            return
        render.print_table(
            ["kind", "namespace", "name", "urn"], [vars(node) for node in nodes.entries]
        )
        if nodes.has_next:
            render.console().print(f"[dim]continue with --after {nodes.cursors[-1]}[/]")
        return
    found = owning.owners(graph_view(home), first=first, after=after)
    if as_json:
        unowned = {"unownedDatasets": found.unowned_datasets, "unownedJobs": found.unowned_jobs}
        render.print_json(
            {
                "owners": _with_cursors(found.page),
                "totalCount": found.count,
                **unowned,
                "hasNextPage": found.page.has_next,
            }
        )
        return
    render.print_table(["name", "datasets", "jobs"], [vars(one) for one in found.page.entries])
    datasets, jobs = (
        render.with_noun(found.unowned_datasets, "dataset"),
        render.with_noun(found.unowned_jobs, "job"),
    )
    render.console().print(f"without an owner: [bold]{datasets}[/] and [bold]{jobs}[/]")
    render.print_more(found.page, found.count)


COMMANDS = {
    "freshness": freshness,
    "coverage": coverage,
    "unused": unused,
    "usage": usage,
    "owners": owners,
}
