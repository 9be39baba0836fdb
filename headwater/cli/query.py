"""Commands that query the graph: `trace`, `lineage`, `search`, `cypher`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from headwater.cli.namespace_notes import note_namespace
from headwater.cli.question import picture_question, question
from headwater.cli.result import Result
from headwater.client.backend import Backend, Rows
from headwater.client.names import answer_id_of, resolve
from headwater.client.rows import picture_of, trace_rows
from headwater.client.times import instant_of
from headwater.errors import QueryError

NodeArgument = typer.Argument(
    help="Names or urns, for example delays or dataset:file:/data/marts/delays.", metavar="NODE"
)
_NODE_COLUMNS = ("kind", "namespace", "name", "urn")


class Direction(StrEnum):
    """The direction of a traversal."""

    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"
    BOTH = "both"


class Kind(StrEnum):
    """The kinds of nodes that a search finds."""

    DATASET = "dataset"
    JOB = "job"
    ANSWER = "answer"
    PIPELINE_RUN = "pipeline_run"
    SOURCE = "source"
    ARTIFACT = "artifact"
    COLUMN = "column"


@picture_question
def trace(
    backend: Backend,
    answer: Annotated[
        str, typer.Argument(help="The answer's id, or its urn.", metavar="ANSWER_ID")
    ],
) -> Result:
    """Trace an answer back to its sources, with every run and version on the way.

    For example: headwater trace churn-q1 --format svg --output churn.svg"""
    return ask_trace(backend, answer_id_of(backend, answer))


def ask_trace(backend: Backend, answer_id: str) -> Result:
    """Return the trace of an answer, given by its id."""
    from headwater.cli import render

    found = backend.ask("trace", answerId=answer_id)["trace"]
    found["stale"] = render.stale_data(found)
    rows = trace_rows(found)
    return Result(
        data=found,
        columns=("kind", "namespace", "name", "status", "at", "rowCount", "urn"),
        rows=rows,
        show=partial(render.print_trace, found=found),
        picture=picture_of(rows, found["edges"], found["answer"]["urn"]),
    )


@picture_question
def lineage(
    backend: Backend,
    nodes: Annotated[list[str], NodeArgument],
    direction: Annotated[
        Direction, typer.Option(help="Direction of the traversal.", case_sensitive=False)
    ] = Direction.BOTH,
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
        str | None, typer.Option(help="Show the lineage graph of this time: yesterday, ISO 8601.")
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
        str | None,
        typer.Option(help="Only nodes and runs seen at this time or later: 2h, yesterday, ISO."),
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Only nodes and runs seen at this time or earlier.")
    ] = None,
    after: Annotated[
        str | None, typer.Option(help="Continue after this cursor of continuations in the JSON.")
    ] = None,
) -> Result:
    """Show the lineage upstream and downstream of datasets, jobs, runs, versions or columns.

    For example: headwater lineage delays --direction upstream --format mermaid"""
    from headwater.cli import render

    filter_ = {
        "namespaces": namespace,
        "tags": tag,
        "owners": owner,
        "jobTypes": job_type,
        "since": _iso("--since", since),
        "until": _iso("--until", until),
    }
    found = backend.ask(
        "lineage",
        urns=[resolve(backend, node) for node in nodes],
        direction=direction.upper(),
        depth=depth,
        level=level,
        asOf=_iso("--as-of", as_of),
        between=_times("--between", between),
        filter={key: value for key, value in filter_.items() if value},
        after=after,
    )["lineage"]
    difference = found["difference"]
    if difference is None:
        del found["difference"]
    return Result(
        data=found,
        columns=(*_NODE_COLUMNS, "distance"),
        rows=found["nodes"],
        show=partial(render.print_difference, found=difference)
        if difference
        else partial(render.print_lineage, found=found),
        picture=picture_of(found["nodes"], found["edges"], next(iter(found["starts"]), "")),
    )


def _iso(option: str, text: str | None) -> str | None:
    instant = instant_of(option, text)
    return instant.isoformat() if instant else None


def _times(option: str, pair: tuple[str, str] | None) -> dict[str, str] | None:
    if pair is None:
        return None
    since, until = (_iso(option, text) for text in pair)
    if since is None or until is None:
        raise QueryError(f"{option} expects two times")
    return {"from": since, "to": until}


@question
def search(
    backend: Backend,
    text: Annotated[
        str, typer.Argument(help="A word of a name, a description, a column or a tag.")
    ],
    kind: Annotated[Kind | None, typer.Option(help="Only this kind.", case_sensitive=False)] = None,
    namespace: Annotated[str, typer.Option(help="Only this namespace.")] = "",
    tag: Annotated[str, typer.Option(help="Only with this tag: key=value, or key.")] = "",
    owner: Annotated[str, typer.Option(help="Only this owner.")] = "",
    first: Annotated[int, typer.Option(help="Maximum number of results.")] = 20,
    after: Annotated[str | None, typer.Option(help="Continue after this cursor.")] = None,
) -> Result:
    """Find datasets, jobs and answers by words.

    For example: headwater search delays --kind dataset"""
    from headwater.cli import render

    found = backend.ask(
        "search",
        text=text,
        kind=kind.upper() if kind else None,
        namespace=namespace,
        tag=tag,
        owner=owner,
        first=first,
        after=after,
    )["search"]
    hits = [{"cursor": cursor, **node} for cursor, node in render.cursors(found)]
    page, count = found["pageInfo"], found["totalCount"]

    def show(out: Any) -> None:
        render.print_table(out, _NODE_COLUMNS, hits)
        out.print(f"[dim]{render.with_noun(len(hits), 'row')}[/]")
        if page["hasNextPage"]:
            render.print_more(out, page["endCursor"], count)

    counts = {name: found[name] for name in ("kinds", "namespaces", "tags")}
    more = {"truncated": found["truncated"], "hasNextPage": page["hasNextPage"]}
    return Result(
        data={"hits": hits, "totalCount": count, **more, **counts},
        columns=_NODE_COLUMNS,
        rows=hits,
        show=show,
        note="" if hits else note_namespace(backend, namespace),
    )


@question
def cypher(
    backend: Backend,
    name: Annotated[
        str | None, typer.Argument(help="A query of the library; - reads Cypher from stdin.")
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option(help="A parameter as name=value; repeatable.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(help="Run the Cypher of this file.", exists=True, dir_okay=False),
    ] = None,
    source: Annotated[
        bool,
        typer.Option("--source", "--print", help="Print the query to paste into cypher-shell."),
    ] = False,
) -> Result:
    """Run an audit query, read-only; without a name, list the library. With --print, show the query
    and its parameters as `:param` lines. A statement of your own may begin with such lines.

    For example: headwater cypher failed_runs --param since=2026-01-01 --format csv"""
    from headwater.cli import render
    from headwater.cli.unknown_names import unknown_names

    parameters, notes = _parameters(param or []), list[str]()
    if file is not None and name not in (None, "-"):
        raise QueryError(f"{name} and --file exclude each other")
    if file is not None or name == "-":
        text = sys.stdin.read() if file is None else file.read_text(encoding="utf-8")
        found = _run_statement(backend, text, parameters)
        notes = unknown_names(text)
    elif name is None:
        return _library(backend)
    elif source:
        return _source(name, parameters)
    else:
        found = backend.run_audit(name, parameters)
    if found.truncated:
        notes.append(f"{render.with_noun(len(found.rows), 'row')} shown; more rows exist")
    return Result(data=found.rows, columns=found.columns, rows=found.rows, note="; ".join(notes))


def _run_statement(backend: Backend, text: str, parameters: Mapping[str, str]) -> Rows:
    from headwater.cli.shell_parameters import parse_shell_statement
    from headwater.cypher.sandbox.parameters import json_or_text

    statement = parse_shell_statement(text, given=parameters)
    values = {key: json_or_text(value) for key, value in parameters.items()}
    return backend.run_statement(statement.text, statement.parameters | values)


def _library(backend: Backend) -> Result:
    rows = [
        {
            "name": one["name"],
            "parameters": ", ".join(map(_parameter_text, one["parameters"])),
            "purpose": one["purpose"],
        }
        for one in backend.list_audits()
    ]
    return Result(rows, ("name", "parameters", "purpose"), rows, prose=frozenset({"purpose"}))


def _parameter_text(one: dict[str, Any]) -> str:
    default = "" if one["required"] else f" = {one['default']}"
    return f"{one['name']} {one['type']}{default}"


def _source(name: str, parameters: dict[str, str]) -> Result:
    from headwater.cypher.query_catalog import find_query
    from headwater.cypher.shell_text import shell_text

    text = shell_text(find_query(name), parameters)
    row = {"name": name, "query": text}

    def show(out: Any) -> None:
        out.print(text, end="", markup=False)

    return Result(row, ("name", "query"), [row], show=show)


def _parameters(pairs: list[str]) -> dict[str, str]:
    parameters = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise QueryError(f"--param {pair!r} is not name=value")
        parameters[key] = value
    return parameters


COMMANDS = {"trace": trace, "lineage": lineage, "search": search, "cypher": cypher}
