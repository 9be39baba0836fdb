"""The command that writes the snapshot of the figures of dashboards: `snapshot`."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from headwater.cli.options import Home, Json, graph


def snapshot(
    home: Home = None,
    days: Annotated[
        int,
        typer.Option(help="Also fill this number of past days, as far as the graph knows them."),
    ] = 0,
    as_json: Json = False,
) -> None:
    """Write the figures of today to the graph, in place of an earlier snapshot of today.

    The API does so once a day. For example: headwater snapshot --days 90"""
    from headwater.cli import render
    from headwater.health.figures.snapshots import backfill, take_snapshot
    from headwater.lineage.view import GraphView

    with closing(graph(home)) as database:
        view = GraphView(database)
        found = take_snapshot(view)
        filled = backfill(view, days) if days else 0
    data = {
        "takenAt": found[0].as_of.isoformat(),
        "figures": {one.definition.name: one.value for one in found},
        "daysExamined": filled,
    }
    if as_json:
        render.print_json(data)
        return
    print(f"snapshot of {len(found)} figures, {filled} past days examined")


COMMANDS = {"snapshot": snapshot}
