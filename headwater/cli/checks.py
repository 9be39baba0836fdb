"""Commands about the results of data quality checks: `quality`, `failed-checks`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.namespace_notes import note_namespace
from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.client.backend import Backend
from headwater.client.names import resolve
from headwater.client.times import instant_of

if TYPE_CHECKING:
    from rich.console import Console

Data = dict[str, Any]
_OLDER = "older reports exist; give a shorter period"
_FAILED_COLUMNS = (
    "reportedAt", "namespace", "dataset", "column", "check", "severity", "expected", "actual",
    "pipeline", "runId",
)  # fmt: skip
_QUALITY_COLUMNS = ("check", "column", "success", "severity", "expected", "actual", "reportedAt")


@question
def quality(
    backend: Backend,
    dataset: Annotated[str, typer.Argument(help="A dataset by name or urn, or a version by urn.")],
    first: Annotated[int, typer.Option(help="Maximum number of measurements.")] = 1,
) -> Result:
    """Show the newest result of each check of a dataset or version, failed ones first, and its
    measurements.

    For example: headwater quality delays --format markdown"""
    urn = resolve(backend, dataset, ("DATASET",))
    found = backend.ask("quality", urn=urn, first=first)["quality"]
    rows = [{**one, "check": one["name"]} for one in found["assertions"]]
    return Result(
        data=found,
        columns=_QUALITY_COLUMNS,
        rows=rows,
        records=found["assertions"],
        show=partial(_show_quality, found=found, rows=rows),
    )


@question
def failed_checks(
    backend: Backend,
    since: Annotated[
        str | None,
        typer.Option(help="Only reports at or after this time: 2h, yesterday, ISO 8601."),
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Only reports before this time: 2h, yesterday, ISO 8601.")
    ] = None,
    namespace: Annotated[str, typer.Option(help="Only this namespace.")] = "",
    dataset: Annotated[
        str | None, typer.Option(help="Only this dataset, by name or urn.", metavar="DATASET")
    ] = None,
    column: Annotated[str | None, typer.Option(help="Only checks of this column.")] = None,
    check: Annotated[str | None, typer.Option(help="Only checks of this name.")] = None,
    run: Annotated[str | None, typer.Option(help="Only reports of the run of this id.")] = None,
    first: Annotated[int, typer.Option(help="Maximum number of results.")] = 20,
    after: Annotated[str | None, typer.Option(help="Continue after this cursor.")] = None,
) -> Result:
    """List failed data quality checks, newest first.

    For example: headwater failed-checks --since 7d --column email"""
    from headwater.cli import render

    found = backend.ask(
        "failed_checks",
        since=_iso("--since", since),
        until=_iso("--until", until),
        namespace=namespace,
        dataset=resolve(backend, dataset, ("DATASET",)) if dataset else None,
        column=column,
        name=check,
        runId=run,
        first=first,
        after=after,
    )["failedChecks"]
    rows = [_failed_check(cursor, node) for cursor, node in render.cursors(found)]
    page, count = found["pageInfo"], found["totalCount"]

    def show(out: Console) -> None:
        render.print_table(out, _FAILED_COLUMNS, rows)
        out.print(f"[dim]{render.with_noun(len(rows), 'failed check')}[/]")
        if page["hasNextPage"]:
            render.print_more(out, page["endCursor"], count)

    note = "" if rows else note_namespace(backend, namespace)
    more = {"truncated": found["truncated"], "hasNextPage": page["hasNextPage"]}
    data = {"failedChecks": rows, "totalCount": count, **more}
    return Result(
        data=data,
        columns=_FAILED_COLUMNS,
        rows=rows,
        show=show,
        note=_OLDER if found["truncated"] else note,
    )


def _failed_check(cursor: str, node: Data) -> Data:
    dataset, run = node["dataset"] or {}, node["run"] or {}
    return {
        "cursor": cursor,
        "reportedAt": node["reportedAt"],
        "namespace": dataset.get("namespace"),
        "dataset": dataset.get("name"),
        "column": node["column"],
        "check": node["name"],
        "severity": node["severity"],
        "expected": node["expected"],
        "actual": node["actual"],
        "pipeline": run.get("pipelineName"),
        "runId": run.get("runId"),
        "datasetUrn": dataset.get("urn"),
        "versionUrn": node["versionUrn"],
    }


def _iso(option: str, text: str | None) -> str | None:
    instant = instant_of(option, text)
    return instant.isoformat() if instant else None


def _show_quality(out: Console, *, found: Data, rows: list[Data]) -> None:
    from headwater.cli import render

    if rows:
        render.print_table(out, _QUALITY_COLUMNS, rows)
    checks = render.with_noun(len(rows), "check")
    out.print(f"[bold]{checks}[/], {found['failed']:,} failed")
    for one in found["metrics"]:
        counts = [
            render.with_noun(one["rowCount"], "row") if one["rowCount"] is not None else "",
            render.bytes_of(one["bytes"]),
        ]
        measured = ", ".join(filter(None, counts)) or "no totals"
        out.print(f"measured {render.second_of(one['reportedAt'])}: {measured}")
        if one["columns"]:
            columns = ("column", "nullCount", "distinctCount", "count", "min", "max")
            render.print_table(out, columns, one["columns"])


COMMANDS = {"quality": quality, "failed-checks": failed_checks}
