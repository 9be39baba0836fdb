"""The command that lists trained models: `models`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.client.backend import Backend
from headwater.errors import QueryError

if TYPE_CHECKING:
    from rich.console import Console

Data = dict[str, Any]
_COLUMNS = ("model", "version", "createdAt", "features", "traced", "trained on", "deprecated")
_USE_COLUMNS = ("model", "evidence", "urn")


@question
def models(
    backend: Backend,
    using: Annotated[
        str | None,
        typer.Option(help="Only models that use this column or dataset, by urn.", metavar="URN"),
    ] = None,
    deprecated: Annotated[
        bool, typer.Option(help="Only models that were trained on deprecated data.")
    ] = False,
    first: Annotated[int, typer.Option(help="Maximum number of models.")] = 20,
    after: Annotated[str | None, typer.Option(help="Continue after this cursor.")] = None,
) -> Result:
    """List trained models, with their newest versions and training data.

    For example: headwater models --using column:file:/raw/transactions:amount"""
    from headwater.cli import render

    if using is not None:
        if deprecated:
            raise QueryError("--using and --deprecated cannot stand together", hint="Give one.")
        return _models_using(backend, using)
    found = backend.ask("models", deprecatedOnly=deprecated, first=first, after=after)["models"]
    nodes = [edge["node"] for edge in found["edges"]]
    rows = [_model_row(node) for node in nodes]
    page, count = found["pageInfo"], found["totalCount"]

    def show(out: Console) -> None:
        render.print_table(out, _COLUMNS, rows)
        out.print(f"[dim]{render.with_noun(len(rows), 'model')}[/]")
        if page["hasNextPage"]:
            render.print_more(out, page["endCursor"], count)

    data = {"models": nodes, "totalCount": count, "hasNextPage": page["hasNextPage"]}
    return Result(data=data, columns=_COLUMNS, rows=rows, records=nodes, show=show)


def _models_using(backend: Backend, urn: str) -> Result:
    from headwater.cli import render

    found = backend.ask("models_using", urn=urn)["modelsUsing"]
    rows = [
        {
            "model": one["model"]["dataset"]["name"],
            "evidence": one["evidence"],
            "urn": one["model"]["urn"],
        }
        for one in found
    ]
    return Result(
        data={"modelsUsing": found},
        columns=_USE_COLUMNS,
        rows=rows,
        records=found,
        show=lambda out: render.print_table(out, _USE_COLUMNS, rows),
    )


def _model_row(node: Data) -> Data:
    from headwater.cli import render

    newest = node["versions"][0] if node["versions"] else {}
    return {
        "model": node["dataset"]["name"],
        "version": newest.get("version") or "",
        "createdAt": newest.get("createdAt") or "",
        "features": len(newest.get("features") or ()),
        "traced": render.percent(newest.get("featureCompleteness")),
        "trained on": ", ".join(one["name"] for one in node["trainedOn"]),
        "deprecated": ", ".join(one["name"] for one in node["deprecatedInputs"]),
    }


COMMANDS: dict[str, Callable[..., None]] = {"models": models}
