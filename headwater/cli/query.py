"""Commands that query the graph: `trace`, `lineage`, `search`, `cypher`."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Annotated

import typer

from headwater.cli.options import Home, Json, graph, graph_view
from headwater.errors import EventError, QueryError


def trace(
    answer_id: Annotated[str, typer.Argument(help="The answer's id.")],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Trace an answer back to its sources, with every run and version on the way."""
    from headwater.cli import render
    from headwater.lineage.questions.lineage import trace as traced

    found = traced(graph_view(home), answer_id)
    if as_json:
        render.print_json(render.trace_data(found))
    else:
        render.print_trace(found)


def lineage(
    urns: Annotated[
        list[str],
        typer.Argument(help="Urns, for example dataset:file:/data/marts/delays.", metavar="URN"),
    ],
    home: Home = None,
    direction: Annotated[str, typer.Option(help="upstream, downstream or both.")] = "both",
    depth: Annotated[int, typer.Option(help="Number of jobs or runs to cross.")] = 10,
    level: Annotated[
        str,
        typer.Option(
            help=(
                "Traverse column, run or dataset_and_job; or show jobs by their container: "
                "top, dag, task, ..."
            )
        ),
    ] = "",
    as_of: Annotated[
        str | None, typer.Option(help="Show the lineage graph of this time (ISO 8601).")
    ] = None,
    between: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Show how the lineage graph of the second time differs from the first."),
    ] = None,
    namespace: Annotated[
        list[str] | None,
        typer.Option(help="Only datasets of this namespace; * matches any characters."),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Only datasets with this tag: key=value, or key.")
    ] = None,
    owner: Annotated[list[str] | None, typer.Option(help="Only datasets of this owner.")] = None,
    job_type: Annotated[list[str] | None, typer.Option(help="Only jobs of this type.")] = None,
    since: Annotated[
        str | None, typer.Option(help="Only nodes and runs seen at this time or later.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Only nodes and runs seen at this time or earlier.")
    ] = None,
    after: Annotated[
        str | None, typer.Option(help="Continue after this cursor of continuations in the JSON.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the lineage upstream and downstream of datasets, jobs, runs, versions or columns."""
    from headwater.cli import render
    from headwater.lineage.questions.lineage import lineage as found_lineage
    from headwater.lineage.traversal.filters import Filter
    from headwater.lineage.traversal.request import LineageRequest

    filter_ = Filter(
        namespaces=tuple(namespace or ()),
        tags=tuple(tag or ()),
        owners=tuple(owner or ()),
        job_types=tuple(job_type or ()),
        since=time_of("--since", since),
        until=time_of("--until", until),
    )
    found = found_lineage(
        graph_view(home),
        LineageRequest(
            tuple(urns),
            direction=direction.upper(),
            depth=depth,
            level=level,
            as_of=time_of("--as-of", as_of),
            between=_times("--between", between),
            filter=filter_,
            after=after,
        ),
    )
    if as_json:
        render.print_json(render.lineage_data(found))
    elif found.difference:
        render.print_difference(found.difference)
    else:
        render.print_lineage(found)


def _times(option: str, pair: tuple[str, str] | None) -> tuple[datetime, datetime] | None:
    if pair is None:
        return None
    since, until = (time_of(option, text) for text in pair)
    if since is None or until is None:
        raise QueryError(f"{option} expects two times")
    return since, until


def search(
    text: Annotated[
        str, typer.Argument(help="A word of a name, a description, a column or a tag.")
    ],
    home: Home = None,
    kind: Annotated[str, typer.Option(help="Only this kind: dataset, job, answer, ...")] = "",
    namespace: Annotated[str, typer.Option(help="Only this namespace.")] = "",
    tag: Annotated[str, typer.Option(help="Only with this tag: key=value, or key.")] = "",
    owner: Annotated[str, typer.Option(help="Only this owner.")] = "",
    first: Annotated[int, typer.Option(help="Maximum number of results.")] = 20,
    after: Annotated[str | None, typer.Option(help="Continue after this cursor.")] = None,
    as_json: Json = False,
) -> None:
    """Find datasets, jobs and answers by words."""
    from headwater.cli import render
    from headwater.lineage.questions.search import SearchFilters
    from headwater.lineage.questions.search import search as find

    filters = SearchFilters(kind.upper(), namespace, tag, owner)
    found = find(graph_view(home), text, filters=filters, first=first, after=after)
    nodes = [hit.node for hit in found.page.entries]
    rows = [
        {"kind": node.kind, "namespace": node.namespace, "name": node.name, "urn": node.urn}
        for node in nodes
    ]
    if as_json:
        counts = {
            name: list(map(vars, getattr(found, name))) for name in ("kinds", "namespaces", "tags")
        }
        hits = [
            {"cursor": cursor, **row} for cursor, row in zip(found.page.cursors, rows, strict=True)
        ]
        more = {
            "totalCount": found.count,
            "truncated": found.truncated,
            "hasNextPage": found.page.has_next,
        }
        render.print_json({"hits": hits, **more, **counts})
    else:
        render.print_rows(["kind", "namespace", "name", "urn"], rows, as_json=False)
        render.print_more(found.page, found.count)


def cypher(
    name: Annotated[
        str | None, typer.Argument(help="A query of the library; - reads Cypher from stdin.")
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option(help="A parameter as name=value; repeatable.")
    ] = None,
    home: Home = None,
    source: Annotated[
        bool, typer.Option("--source", help="Print the query instead of running it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run an audit query, read-only; without a name, list the library."""
    from headwater.cli import render
    from headwater.cypher.query_catalog import find_query, load_queries
    from headwater.cypher.sandbox.parameters import json_or_text
    from headwater.cypher.sandbox.run import run_audit, run_text

    if name is None:
        audits = [one for key, one in load_queries().items() if key.startswith("audit/")]
        listed = [
            {
                "name": one.name.removeprefix("audit/"),
                "parameters": ", ".join(
                    f"{p.name} {p.type}" + ("" if p.required else f" = {p.default}")
                    for p in one.parameters
                ),
                "purpose": one.purpose,
            }
            for one in audits
        ]
        render.print_rows(["name", "parameters", "purpose"], listed, as_json=as_json)
        return
    if source and name != "-":
        print(find_query(name).text, end="")
        return
    parameters = _parameters(param or [])
    if name == "-":
        found = run_text(
            graph(home),
            sys.stdin.read(),
            {key: json_or_text(value) for key, value in parameters.items()},
        )
    else:
        found = run_audit(graph(home), name, parameters)
    render.print_rows(found.columns, found.rows, as_json=as_json)
    if found.truncated:
        print(
            f"headwater: {render.with_noun(len(found.rows), 'row')} shown; more rows exist",
            file=sys.stderr,
        )


def time_of(option: str, text: str | None) -> datetime | None:
    """Parse a time given as an option. Raise QueryError if it is no time."""
    from headwater.schema.events import parse_instant, to_datetime

    try:
        return to_datetime(parse_instant(text, field=option)) if text else None
    except EventError as error:
        raise QueryError(error.message, hint=error.hint) from error


def _parameters(pairs: list[str]) -> dict[str, str]:
    parameters = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise QueryError(f"--param {pair!r} is not name=value")
        parameters[key] = value
    return parameters


COMMANDS = {"trace": trace, "lineage": lineage, "search": search, "cypher": cypher}
