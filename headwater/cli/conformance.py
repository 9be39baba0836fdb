"""The command `conformance`: rules of the specification that producers break, and their clock
skew.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.client.backend import Backend

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_COLUMNS = ("producer", "events", "rule", "severity", "field", "count", "detail", "sequence")


@question
def conformance(
    backend: Backend,
    producer: Annotated[
        str | None, typer.Option(help="Only producers whose name begins with this.")
    ] = None,
    first: Annotated[int, typer.Option(help="Maximum number of producers.")] = 100,
) -> Result:
    """Show how each producer's events violate the specification, and how to fix it.

    For example: headwater conformance --producer https://github.com/apache/airflow"""
    found = backend.ask("conformance", producer=producer or "", first=first)["conformance"]
    producers = found["producers"]
    return Result(
        data=producers,
        columns=_COLUMNS,
        rows=_rows(producers),
        records=producers,
        show=partial(_show, producers=producers),
    )


def _rows(producers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row for each broken rule; a producer without one has a row of its own."""
    rows = []
    for one in producers:
        named = {"producer": one["producer"], "events": one["events"]}
        rows += [{**finding, **named} for finding in one["findings"]] or [named]
    return rows


def _show(out: Console, *, producers: list[dict[str, Any]]) -> None:
    from headwater.cli import render

    for one in producers:
        _show_producer(out, one)
    out.print(f"[dim]{render.with_noun(len(producers), 'producer')}[/]")


def _show_producer(out: Console, found: dict[str, Any]) -> None:
    """Print a producer as a heading and a table; below it, one fix per rule."""
    from headwater.cli import render

    out.print(
        f"[bold]{render.escape(found['producer'] or '(no producer)')}[/]  "
        f"{render.with_noun(found['events'], 'event')}"
    )
    skew = found["skewSeconds"]
    if skew is not None:
        out.print(
            f"  [dim]received {_length_of(skew['median'])} after they happened "
            f"(from {_length_of(skew['min'])} to {_length_of(skew['max'])}), "
            f"{found['futureEvents']:,} from the future[/]"
        )
    findings = found["findings"]
    if findings:
        out.print(_table(findings))
        fixes = {one["rule"]: f"{one['meaning']} {one['hint']}" for one in findings}
        for rule, text in fixes.items():
            out.print(f"  [bold]{render.escape(rule)}[/]  {render.escape(text)}")
    out.print()


def _table(findings: list[dict[str, Any]]) -> Table:
    from rich.table import Table

    from headwater.cli import render

    columns = ("count", "rule", "field", "detail", "sequence")
    table = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for finding in findings:
        style = "red" if finding["severity"] == "error" else "yellow"
        table.add_row(
            f"{finding['count']:,}",
            f"[{style}]{render.escape(finding['rule'])}[/]",
            render.escape(finding["field"]),
            render.escape(finding["detail"]),
            str(finding["sequence"]),
        )
    return table


def _length_of(seconds: float) -> str:
    """Return a difference of times for people: 0.010 s, 42 s, 1d 16h."""
    from headwater.cli import render

    if abs(seconds) < 10:
        return f"{seconds:,.3f} s"
    if abs(seconds) < 60:
        return f"{seconds:,.0f} s"
    return f"{'-' if seconds < 0 else ''}{render.age_of(timedelta(seconds=abs(seconds)))}"


COMMANDS = {"conformance": conformance}
