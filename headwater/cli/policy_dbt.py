"""The command `policy dbt`: ask the policies before dbt writes its models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from headwater.cli.options import Home, Json, Profile, Url, api_address
from headwater.errors import HeadwaterError, QueryError

REFUSED_EXIT_CODE, UNKNOWN_EXIT_CODE = 1, 2


def dbt(
    manifest: Annotated[
        str, typer.Argument(help="dbt's manifest.json; `dbt parse` writes it.", metavar="FILE")
    ],
    namespace: Annotated[
        str,
        typer.Option(
            help="The namespace of the warehouse, as dbt's events have it: "
            "postgres://warehouse:5432.",
            metavar="TEXT",
        ),
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(help="Ask for this model only. Repeatable.", metavar="NAME"),
    ] = None,
    purpose: Annotated[str, typer.Option(help="What the data is for.")] = "",
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
    as_json: Json = False,
) -> None:
    """Ask the policies of the API whether dbt may write its models. Run it before `dbt run`.

    Exit code 0: it may. 1: a policy refuses a model. 2: the API does not answer, or the manifest
    cannot be read.

    For example: headwater policy dbt target/manifest.json --namespace postgres://db:5432"""
    from headwater.policy_requests import ask_policies

    try:
        tables = _tables(Path(manifest), model or ())
        address = api_address(home, url, profile)
        rows = []
        for name, table in tables:
            request = {
                "action": "write",
                "dataset": {"namespace": namespace, "name": table},
                "purpose": purpose,
                "actor": "dbt",
            }
            answer = ask_policies(address.url, request, api_key=address.api_key)
            rows.append(
                {
                    "model": name,
                    "table": table,
                    "allowed": answer.allowed,
                    "violations": [dict(one) for one in answer.violations],
                    "explanation": answer.explain(),
                }
            )
    except HeadwaterError as error:
        typer.echo(f"headwater: {error.message}", err=True)
        if error.hint:
            typer.echo(f"  {error.hint}", err=True)
        raise typer.Exit(UNKNOWN_EXIT_CODE) from error
    _print(rows, as_json=as_json)
    if not all(row["allowed"] for row in rows):
        raise typer.Exit(REFUSED_EXIT_CODE)


def _tables(manifest: Path, chosen: list[str] | tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the name and the table of the models of a manifest, by name."""
    from headwater.code_analysis.dbt.manifest import read_manifest

    try:
        models = read_manifest(manifest.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        message = f"{manifest} cannot be read: {error.strerror}"
        raise QueryError(message, hint="`dbt parse` writes target/manifest.json.") from error
    found = {one.name: ".".join(one.table) for one in models}
    unknown = sorted(set(chosen) - found.keys())
    if unknown:
        raise QueryError(f"the manifest has no model {unknown[0]!r}")
    return sorted((name, table) for name, table in found.items() if not chosen or name in chosen)


def _print(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"models": rows}, indent=2))
        return
    for row in rows:
        if not row["allowed"]:
            typer.echo(f"refused: {row['model']}: {row['explanation']}")
        elif row["violations"]:
            typer.echo(f"warning: {row['model']}: {row['explanation']}")
    refused = sum(not row["allowed"] for row in rows)
    typer.echo(f"{len(rows)} models, {refused} refused")
