"""Commands about the whole estate: `fresh`, `coverage`, `unused`, `usage`, `owners`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.options import Home, Json, graph_view

if TYPE_CHECKING:
    from datetime import datetime

    from headwater.lineage.pagination import Page
    from headwater.lineage.questions.freshness import Reached

Days = Annotated[int, typer.Option(help="The last so many days.")]
First = Annotated[int, typer.Option(help="At most so many.")]
After = Annotated[str | None, typer.Option(help="Go on after this cursor.")]
Namespace = Annotated[str, typer.Option(help="Only of this namespace.")]

# How the freshness gate ends.
EXIT_CODES = {"FRESH": 0, "STALE": 1, "UNKNOWN": 2}


def fresh(
    urn: Annotated[
        str, typer.Argument(help="A dataset, for example dataset:file:/data/marts/delays.")
    ],
    within: Annotated[str, typer.Option(help="How old data may be: 90m, 24h, 7d.")],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Gate on freshness: fail when a dataset, or any source whose data went into it, is too old.

    Ends with 0 when all is fresh, 1 when something is stale, 2 when that cannot be told; whatever is the matter is
    named.
    """
    from datetime import UTC, datetime

    from headwater.cli import render as show
    from headwater.errors import QueryError
    from headwater.lineage.nodes import require_node
    from headwater.lineage.questions.freshness import freshness, judge
    from headwater.schema.durations import parse_duration
    from headwater.schema.urns import parse_urn

    length = parse_duration(within, name="--within")
    if parse_urn(urn).kind != "dataset":
        raise QueryError(f"{urn!r} is not the urn of a dataset")
    view = graph_view(home)
    dataset = str(require_node(view, urn)["urn"])
    now = datetime.now(UTC)
    found = freshness(view, [dataset])[dataset]
    verdict = judge(found, within=length, now=now)
    if as_json:
        show.json_of(
            {
                "dataset": dataset,
                "state": verdict.state,
                "explanation": verdict.explanation,
                "causes": show.data_of(verdict.causes),
                "within": within,
                "newestAt": found.at,
                "effectiveAt": found.effective_at,
                "exact": found.exact,
                "sources": show.data_of(found.sources),
                "incompleteReason": found.reason or None,
            }
        )
    else:
        style = {"FRESH": "bold green", "STALE": "bold red", "UNKNOWN": "bold yellow"}[
            verdict.state
        ]
        _say(f"[{style}]{verdict.state}[/]", dataset, verdict.explanation)
        for one in verdict.causes or found.sources:
            _say("  ", one.dataset, _age(one, now))
    raise typer.Exit(EXIT_CODES[verdict.state])


def _say(before: str, urn: str, after: str) -> None:
    from rich.markup import escape

    from headwater.cli import render as show

    show.console().print(f"{before} {escape(urn)}  [dim]{escape(after)}[/]", soft_wrap=True)


def _age(reached: Reached, now: datetime) -> str:
    from headwater.cli import render as show

    if reached.newest_at is None:
        return "no time is told"
    age = show.age_of(now - reached.newest_at)
    return f"{age} old" if reached.exact else f"at least {age} old: no capture of it is told"


def coverage(
    home: Home = None, days: Days = 30, namespace: Namespace = "", as_json: Json = False
) -> None:
    """Show how much lineage covers: coverage, unknown downstreams, median blast radius, certified paths."""
    from headwater.cli import render as show
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
        show.json_of(
            {
                "since": found.since,
                "until": found.until,
                "total": _counts(found.total),
                "namespaces": by_namespace,
                "blastRadius": {**show.data_of(radius), "sampled": radius.sampled},
                "certifiedPaths": {**integrity, "broken": show.data_of(paths.broken)},
            }
        )
        return
    counts, shares = found.total, found.total.shares
    owned = counts.owned_datasets + counts.owned_jobs
    median = "-" if radius.median is None else f"{radius.median:g}"
    sampled = f" (of {radius.sample_size} sampled)" if radius.sampled else ""
    lines = [
        (
            "lineage coverage",
            show.percent(shares.lineage),
            f"{show.counted(counts.datasets, 'dataset')}, {show.counted(counts.jobs, 'job')}",
        ),
        (
            "datasets in lineage",
            show.percent(shares.datasets),
            f"{counts.connected} of {counts.datasets}",
        ),
        (
            "jobs with inputs and outputs",
            show.percent(shares.jobs),
            f"{counts.with_inputs_and_outputs} of {counts.jobs}",
        ),
        (
            "column lineage",
            show.percent(shares.column_lineage),
            f"{counts.with_column_lineage} of {counts.produced}",
        ),
        (
            "unknown downstreams",
            str(counts.unknown_downstreams),
            f"of {counts.produced} made, read by nobody known",
        ),
        (
            "median blast radius",
            median,
            f"datasets and jobs downstream; at most {radius.largest}{sampled}",
        ),
        (
            "certified-path integrity",
            show.percent(paths.integrity),
            f"of {show.counted(paths.datasets, 'certified dataset')}",
        ),
        (
            "runs that ended",
            show.percent(shares.ended),
            f"{counts.ended} of {counts.runs} in {show.counted(days, 'day')}",
        ),
        (
            "with an owner",
            show.percent(shares.owned),
            show.counted(owned, "dataset or job", "datasets and jobs"),
        ),
        (
            "with a description",
            show.percent(shares.described),
            f"{counts.described_datasets} of {counts.datasets}",
        ),
        (
            "with a schema",
            show.percent(shares.schema),
            f"{counts.with_schema} of {counts.datasets}",
        ),
    ]
    show.table(
        ["figure", "value", "of"],
        [dict(zip(("figure", "value", "of"), line, strict=True)) for line in lines],
    )
    for path in paths.broken:
        _say(
            "[red]broken[/]",
            path.dataset,
            ", ".join(path.ends) or "leads out of sight, or farther than was walked",
        )


def _counts(counts: Any) -> dict[str, Any]:
    from headwater.cli import render as show

    return {**show.data_of(counts), "shares": show.data_of(counts.shares)}


def _with_cursors(page: Page[Any]) -> list[dict[str, Any]]:
    from headwater.cli import render as show

    pairs = zip(page.cursors, page.entries, strict=True)
    return [{"cursor": cursor, **show.data_of(entry)} for cursor, entry in pairs]


def unused(
    home: Home = None,
    days: Days = 30,
    namespace: Namespace = "",
    first: First = 20,
    after: After = None,
    as_json: Json = False,
) -> None:
    """List datasets that nobody read lately, the largest first: storage to reclaim."""
    from headwater.cli import render as show
    from headwater.lineage.questions.usage import unused as find

    found = find(graph_view(home), days=days, namespace=namespace, first=first, after=after)
    if as_json:
        totals = {
            "totalCount": found.count,
            "bytes": found.bytes,
            "unknownSizeCount": found.unknown_size_count,
        }
        show.json_of(
            {"datasets": _with_cursors(found.page), **totals, "hasNextPage": found.page.has_next}
        )
        return
    rows = [
        {
            "dataset": one.dataset,
            "size": show.bytes_of(one.bytes),
            "lastReadAt": one.last_read_at or "never",
        }
        for one in found.page.entries
    ]
    show.table(["dataset", "size", "lastReadAt"], rows)
    unknown = (
        f"; of {found.unknown_size_count:,} no size is told" if found.unknown_size_count else ""
    )
    show.console().print(
        f"[bold]{show.bytes_of(found.bytes)}[/] to reclaim in {show.counted(found.count, 'dataset')}{unknown}"
    )
    show.say_more(found.page, found.count)


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
    """Show who reads a dataset and what that costs, by job and by owner."""
    from headwater.cli import render as show
    from headwater.lineage.questions.usage import chargeback, consumers_page
    from headwater.lineage.questions.usage import usage as find

    found = find(graph_view(home), urn, days=days)
    page, charges = consumers_page(found, first=first, after=after), chargeback(found.consumers)
    if as_json:
        show.json_of(
            {
                "dataset": found.dataset,
                "since": found.since,
                "until": found.until,
                "consumers": _with_cursors(page),
                "hasNextPage": page.has_next,
                "chargeback": show.data_of(charges),
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
            "bytes": show.bytes_of(one.bytes),
            "seconds": f"{one.seconds:,.1f}",
        }
        for one in page.entries
    ]
    show.table(columns, rows)
    show.say_more(page, len(found.consumers))
    for charge in charges:
        _say(
            f"[bold]{charge.seconds:,.1f}[/] s",
            charge.owner or "(nobody's jobs)",
            show.counted(charge.jobs, "job"),
        )
    for answer in found.answers[:first]:
        _say("[cyan]cited by[/]", answer, "")


def owners(
    owner: Annotated[
        str | None, typer.Argument(help="List what this owner owns; '' for what nobody owns.")
    ] = None,
    home: Home = None,
    first: First = 20,
    after: After = None,
    as_json: Json = False,
) -> None:
    """List owners with how much each owns, or what one of them owns."""
    from headwater.cli import render as show
    from headwater.lineage.questions import owners as owning

    if owner is not None:
        nodes = owning.nodes_of_owner(graph_view(home), owner, first=first, after=after)
        if as_json:
            show.json_of({"owned": _with_cursors(nodes), "hasNextPage": nodes.has_next})
            return
        show.table(["kind", "namespace", "name", "urn"], [vars(node) for node in nodes.entries])
        if nodes.has_next:
            show.console().print(f"[dim]for more: --after {nodes.cursors[-1]}[/]")
        return
    found = owning.owners(graph_view(home), first=first, after=after)
    if as_json:
        unowned = {"unownedDatasets": found.unowned_datasets, "unownedJobs": found.unowned_jobs}
        show.json_of(
            {
                "owners": _with_cursors(found.page),
                "totalCount": found.count,
                **unowned,
                "hasNextPage": found.page.has_next,
            }
        )
        return
    show.table(["name", "datasets", "jobs"], [vars(one) for one in found.page.entries])
    datasets, jobs = (
        show.counted(found.unowned_datasets, "dataset"),
        show.counted(found.unowned_jobs, "job"),
    )
    show.console().print(f"without an owner: [bold]{datasets}[/] and [bold]{jobs}[/]")
    show.say_more(found.page, found.count)


COMMANDS = {
    "fresh": fresh,
    "coverage": coverage,
    "unused": unused,
    "usage": usage,
    "owners": owners,
}
