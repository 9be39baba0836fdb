"""The command `policy competing`: datasets that tell the same, and which of them to prefer."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from headwater.cli.backend.choice import open_backend
from headwater.cli.options import Home, Json, Profile, Url
from headwater.client.names import resolve

_PAGE = 200


def competing(
    node: Annotated[
        str | None,
        typer.Argument(help="Only what competes with this dataset, by name or urn."),
    ] = None,
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
    as_json: Json = False,
) -> None:
    """List datasets that tell the same: equal columns, made from the same sources.

    For example: headwater policy competing marts.revenue"""
    groups: list[dict[str, Any]] = []
    with open_backend(url, profile, home) as backend:
        urn = resolve(backend, node) if node else None
        after = None
        while True:
            answer = backend.ask("competing_datasets", urn=urn, first=_PAGE, after=after)
            page = answer["competingDatasets"]
            groups += page["nodes"]
            if not page["pageInfo"]["hasNextPage"]:
                break
            after = page["pageInfo"]["endCursor"]
    if as_json:
        typer.echo(json.dumps({"competing": groups}, indent=2))
        return
    for group in groups:
        _print(group)
    if not groups:
        typer.echo("no datasets compete")


def _print(group: dict[str, Any]) -> None:
    from headwater.cells import one_line

    typer.echo(one_line(f"same columns: {', '.join(group['columns'])}"))
    for one in group["datasets"]:
        marks = [name for name in ("certified", "deprecated") if one[name]]
        mark = f" ({', '.join(marks)})" if marks else ""
        word = "prefer" if one["urn"] == group["preferred"] else "      "
        typer.echo(one_line(f"  {word} {one['urn']}{mark}"))
    typer.echo(one_line(f"  from   {', '.join(group['sources'])}"))
