"""The command about traces: `trace-id`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.client.backend import Backend

if TYPE_CHECKING:
    from rich.console import Console

Data = dict[str, Any]
_COLUMNS = ("trace", "startedAt", "status", "job", "runId")


@question
def trace_id(
    backend: Backend,
    id: Annotated[
        str | None,
        typer.Argument(help="A trace id, or none for the newest traces.", metavar="ID"),
    ] = None,
    first: Annotated[int, typer.Option(help="Maximum number of traces.", min=1)] = 20,
) -> Result:
    """List the runs that name a trace id, or the newest traces with their runs.

    For example: headwater trace-id 4bf92f3577b34da6a3ce929d0e0e4736"""
    found = backend.ask("traces", traceId=id, first=first)["traces"]
    rows: list[Data] = []
    for one in found:
        rows += [_row(one["traceId"], run) for run in one["runs"]]
    return Result(
        data={"traces": found},
        columns=_COLUMNS,
        rows=rows,
        records=rows,
        show=partial(_show, found=found, rows=rows),
    )


def _row(trace_id: str, run: Data) -> Data:
    return {
        "trace": trace_id,
        "startedAt": run["startedAt"] or "",
        "status": run["status"],
        "job": f"{run['namespace']} {run['pipelineName']}",
        "runId": run["runId"],
    }


def _show(out: Console, *, found: list[Data], rows: list[Data]) -> None:
    from headwater.cli import render

    render.print_table(out, _COLUMNS, rows)
    out.print(f"{render.with_noun(len(found), 'trace')}, {render.with_noun(len(rows), 'run')}")
    for one in found:
        if one["link"]:
            out.print(one["link"], markup=False, highlight=False, soft_wrap=True)


COMMANDS: dict[str, Callable[..., None]] = {"trace-id": trace_id}
