"""The command about the figures of dashboards: `figures`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.client.backend import Backend
from headwater.client.times import instant_of

if TYPE_CHECKING:
    from rich.console import Console

Data = dict[str, Any]
_COLUMNS = ("figure", "value", "of", "threshold", "state")


@question
def figures(
    backend: Backend,
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Only these figures, for example coverage.", metavar="FIGURE"),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(help="The last snapshots until this day: 7d, yesterday, ISO 8601."),
    ] = None,
    days: Annotated[int, typer.Option(help="Number of past days of snapshots in --json.")] = 90,
) -> Result:
    """Show the figures of the dashboards: coverage, blast radius, open actions and so on.

    For example: headwater figures coverage failing-runs --json"""
    instant = instant_of("--at", at)
    found = backend.ask(
        "figures", names=names or None, at=instant.isoformat() if instant else None, days=days
    )["figures"]
    rows = [_row(one) for one in found]
    return Result(
        data={"figures": found},
        columns=_COLUMNS,
        rows=rows,
        records=found,
        show=partial(_show, rows=rows),
    )


def _show(out: Console, *, rows: list[Data]) -> None:
    from headwater.cli import render

    render.print_table(out, _COLUMNS, rows)


def _row(figure: Data) -> Data:
    unit, threshold = figure["unit"], figure["threshold"]
    out_of = figure["denominator"]
    state = "out of bounds" if figure["isBelowThreshold"] else "within bounds"
    return {
        "figure": figure["name"],
        "value": value_text(figure["value"], unit),
        "of": "" if out_of is None else f"{out_of:,} {figure['outOf']}",
        "threshold": "" if threshold is None else value_text(threshold, unit),
        "state": "" if threshold is None or figure["value"] is None else state,
    }


def value_text(value: float | None, unit: str) -> str:
    """Return a value with its unit; a share as a percentage."""
    from headwater.cli import render

    if value is None:
        return "-"
    if unit == "SHARE":
        return render.percent(value)
    if unit == "COST":
        return f"{value:,.2f}"
    return f"{value:,.0f} s" if unit == "SECONDS" else f"{value:,g}"


COMMANDS = {"figures": figures}
