"""The command `conformance`: rules of the specification that producers break, and their clock
skew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.options import Home, Json, graph_view

if TYPE_CHECKING:
    from rich.table import Table

    from headwater.lineage.questions.conformance import Producer


def conformance(
    home: Home = None,
    producer: Annotated[
        str | None, typer.Option(help="Only producers whose name begins with this.")
    ] = None,
    first: Annotated[int, typer.Option(help="Maximum number of producers.")] = 100,
    as_json: Json = False,
) -> None:
    """Show how each producer's events violate the specification, and how to fix it."""
    from headwater.cli import render
    from headwater.lineage.questions.conformance import producers

    found = producers(graph_view(home), producer=producer or "", first=first)
    if as_json:
        render.print_json([_data(one) for one in found])
        return
    for one in found:
        _show(one)
    render.console().print(f"[dim]{render.with_noun(len(found), 'producer')}[/]")


def _data(found: Producer) -> dict[str, Any]:
    from headwater.cli import render

    skew = found.skew
    return {
        "producer": found.producer,
        "events": found.events,
        "firstReceivedAt": found.first_received_at,
        "lastReceivedAt": found.last_received_at,
        "futureEvents": found.future_events,
        "skewSeconds": {"min": skew.min, "median": skew.median, "max": skew.max} if skew else None,
        "findings": [render.data_of(finding) for finding in found.findings],
    }


def _show(found: Producer) -> None:
    """Print a producer as a heading and a table; below it, one fix per rule."""
    from rich.markup import escape

    from headwater.cli import render

    out = render.console()
    out.print(
        f"[bold]{escape(found.producer or '(no producer)')}[/]  "
        f"{render.with_noun(found.events, 'event')}"
    )
    if found.skew is not None:
        skew = found.skew
        out.print(
            f"  [dim]received {_seconds(skew.median)} after they happened "
            f"(from {_seconds(skew.min)} to {_seconds(skew.max)}), {found.future_events:,} "
            f"from the future[/]"
        )
    if found.findings:
        out.print(_table(found))
        resolves = {finding.rule: f"{finding.meaning} {finding.hint}" for finding in found.findings}
        for rule, text in resolves.items():
            out.print(f"  [bold]{escape(rule)}[/]  {escape(text)}")
    out.print()


def _table(found: Producer) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        "count",
        "rule",
        "field",
        "detail",
        "sequence",
        box=None,
        header_style="bold",
        pad_edge=False,
    )
    for finding in found.findings:
        style = "red" if finding.severity == "error" else "yellow"
        table.add_row(
            f"{finding.count:,}",
            f"[{style}]{escape(finding.rule)}[/]",
            escape(finding.field),
            escape(finding.detail),
            str(finding.sequence),
        )
    return table


def _seconds(seconds: float) -> str:
    return f"{seconds:,.3f} s" if abs(seconds) < 10 else f"{seconds:,.0f} s"


COMMANDS = {"conformance": conformance}
