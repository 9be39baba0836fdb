"""Commands about one trained model: `model versions`, `model diff`, `model check`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.client.backend import Backend
from headwater.client.names import resolve
from headwater.errors import NotFoundError

if TYPE_CHECKING:
    from rich.console import Console

HELP = "Show versions of a trained model, what changed, and whether data fits it."
Data = dict[str, Any]
_VERSION_COLUMNS = ("version", "createdAt", "features", "traced", "data", "code", "urn")
_CHANGE_COLUMNS = ("part", "name", "before", "after")
_DRIFT_COLUMNS = ("feature", "measure", "training", "value", "deviations", "change")
_PROBLEM_COLUMNS = ("feature", "expected", "actual", "reason")
ModelArgument = Annotated[str, typer.Argument(help="A model by name or urn.", metavar="MODEL")]


@question
def versions(
    backend: Backend,
    model: ModelArgument,
    first: Annotated[int, typer.Option(help="Maximum number of versions.")] = 10,
) -> Result:
    """List the newest complete versions of a model, with the share of its features that lead to a
    source.

    For example: headwater model versions churn --json"""
    from headwater.cli import render

    urn = resolve(backend, model, ("DATASET",))
    found = _ask(backend, "model_versions", urn=urn, first=first)["versions"]
    rows = [
        {
            "version": one["version"] or "",
            "createdAt": one["createdAt"],
            "features": len(one["features"]),
            "traced": render.percent(one["featureCompleteness"]),
            "data": len(one["trainingData"]),
            "code": one["code"] or "",
            "urn": one["urn"],
        }
        for one in found
    ]
    return Result(
        data={"modelVersions": found},
        columns=_VERSION_COLUMNS,
        rows=rows,
        records=found,
        show=lambda out: render.print_table(out, _VERSION_COLUMNS, rows),
    )


@question
def diff(
    backend: Backend,
    model: ModelArgument,
    before: Annotated[
        str | None, typer.Argument(help="The older version, by name or urn.", metavar="OLDER")
    ] = None,
    after: Annotated[str | None, typer.Argument(help="The newer version.", metavar="NEWER")] = None,
) -> Result:
    """Show what changed between two versions of a model, by default its newest two: parameters,
    metrics, training data, features and code.

    For example: headwater model diff churn 1 2"""
    from headwater.cli import render

    urn = resolve(backend, model, ("DATASET",))
    found = _ask(backend, "model_changes", urn=urn, before=before, after=after)["changes"]

    def show(out: Console) -> None:
        render.print_table(out, _CHANGE_COLUMNS, found)
        out.print(f"[dim]{render.with_noun(len(found), 'change')}[/]")

    return Result(data={"modelChanges": found}, columns=_CHANGE_COLUMNS, rows=found, show=show)


@question
def check(
    backend: Backend,
    model: ModelArgument,
    input: Annotated[
        str,
        typer.Option(help="The dataset to use for inference, by name or urn.", metavar="DATASET"),
    ],
) -> Result:
    """Check that a dataset has the features of the newest version of a model, and that they are
    like its training data. Exits with 1 if not, and with 2 if one of the schemas is unknown.

    For example: headwater model check churn --input /lake/today"""
    urn = resolve(backend, model, ("DATASET",))
    dataset = resolve(backend, input, ("DATASET",))
    found = _ask(backend, "model_input_check", urn=urn, input=dataset)["inputCheck"]
    return Result(
        data=found,
        columns=_PROBLEM_COLUMNS,
        rows=found["problems"],
        show=partial(_show_check, found=found),
        exit_code=1 if found["drift"] else {True: 0, False: 1, None: 2}[found["fits"]],
    )


def _show_check(out: Console, *, found: Data) -> None:
    from headwater.cli import render

    if found["fits"] is None:
        out.print(f"cannot be assessed: {found['reason']}")
    elif found["fits"]:
        out.print("fits: the dataset has every feature")
    else:
        render.print_table(out, _PROBLEM_COLUMNS, found["problems"])
        out.print(f"does not fit: {render.with_noun(len(found['problems']), 'problem')}")
    if found["drift"]:
        rows = [_drift_row(one) for one in found["drift"]]
        render.print_table(out, _DRIFT_COLUMNS, rows)
        out.print(f"unlike the training data: {render.with_noun(len(rows), 'measure')}")


def _drift_row(one: Data) -> Data:
    from headwater.cli import render

    deviations = one["deviations"]
    return {
        **one,
        "value": f"{one['value']:g}",
        "training": f"{one['training']:g}",
        "deviations": "" if deviations is None else f"{deviations:.1f}",
        "change": render.percent(one["share"]),
    }


def _ask(backend: Backend, document: str, **variables: Any) -> Data:
    """Return the answer about one model. Raises NotFoundError if it was deleted."""
    nodes: list[Data] = backend.ask(document, **variables)["models"]["nodes"]
    if not nodes:
        raise NotFoundError(f"the model {variables['urn']} was deleted")
    return nodes[0]


COMMANDS: dict[str, Callable[..., None]] = {"versions": versions, "diff": diff, "check": check}
