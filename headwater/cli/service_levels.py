"""The command about service levels: `slo`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.figures import value_text
from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.client.backend import Backend

if TYPE_CHECKING:
    from rich.console import Console

Data = dict[str, Any]
_COLUMNS = ("level", "name", "value", "target", "budget left", "burn rate", "state")
# The exit code of --check if a level is missed or its budget burns too fast.
MISSED = 1
URGENT_BURN_RATE = 4.0
# A shape for each word, for people who do not see colours.
_STATES = {"OK": "● ok", "AT_RISK": "▲ at risk", "MISSED": "✕ missed", "UNKNOWN": "– no data"}


@question
def slo(
    backend: Backend,
    ids: Annotated[
        list[str] | None, typer.Argument(help="Only these levels, for example M1.", metavar="ID")
    ] = None,
    days: Annotated[int, typer.Option(help="Number of past days of values in --json.")] = 30,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="End with exit code 1 if a level is missed, or its budget burns more than 4 times "
            "too fast.",
        ),
    ] = False,
) -> Result:
    """Show the service levels with their budgets of errors: M1 to M10 and the key figures.

    For example: headwater slo M1 M5 --check"""
    found = backend.ask("service_levels", ids=ids or None, days=days)["serviceLevels"]
    rows = [_row(one) for one in found]
    is_broken = any(map(_is_broken, found))
    return Result(
        data={"serviceLevels": found},
        columns=_COLUMNS,
        rows=rows,
        records=found,
        show=partial(_show, rows=rows),
        exit_code=MISSED if check and is_broken else 0,
    )


def _is_broken(level: Data) -> bool:
    return level["verdict"] == "MISSED" or (level["burnRate"] or 0) > URGENT_BURN_RATE


def _show(out: Console, *, rows: list[Data]) -> None:
    from headwater.cli import render

    render.print_table(out, _COLUMNS, rows)


def _row(level: Data) -> Data:
    from headwater.cli import render

    sign = "≥" if level["goodDirection"] == "UP" else "≤"
    left, rate = level["budgetLeft"], level["burnRate"]
    return {
        "level": level["id"],
        "name": level["name"],
        "value": "" if level["value"] is None else value_text(level["value"], level["unit"]),
        "target": f"{sign} {value_text(level['target'], level['unit'])}",
        "budget left": "" if left is None else render.percent(left),
        "burn rate": "" if rate is None else f"{rate:.1f}",
        "state": _STATES[level["verdict"] or "UNKNOWN"],
    }


COMMANDS = {"slo": slo}
