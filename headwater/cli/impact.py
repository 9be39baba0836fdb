"""`headwater impact`: who a change would affect, before it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.options import Home, Json, existing, graph_view
from headwater.errors import QueryError

if TYPE_CHECKING:
    from headwater.impact.report import Affected, Report

Pairs = list[str] | None
_STYLES = {
    "breaking": "bold red",
    "warning": "yellow",
    "high": "bold red",
    "medium": "yellow",
    "low": "green",
}
_EVIDENCE_SHOWN = 3


def impact(
    urn: Annotated[
        str,
        typer.Argument(help="The dataset or job that changes, for example dataset:db:raw.orders."),
    ],
    rename: Annotated[
        Pairs, typer.Option(help="A column has another name.", metavar="FROM:TO")
    ] = None,
    drop: Annotated[Pairs, typer.Option(help="A column goes.", metavar="COLUMN")] = None,
    retype: Annotated[
        Pairs, typer.Option(help="A column has another type.", metavar="COLUMN:TYPE")
    ] = None,
    add: Annotated[
        Pairs, typer.Option(help="A column is new and must not be null.", metavar="COLUMN")
    ] = None,
    meaning: Annotated[
        Pairs, typer.Option(help="A column means something else.", metavar="COLUMN")
    ] = None,
    drop_table: Annotated[bool, typer.Option("--drop-table", help="The dataset goes.")] = False,
    rename_table: Annotated[
        str | None, typer.Option(help="The dataset has another name.", metavar="NAME")
    ] = None,
    delete_job: Annotated[bool, typer.Option("--delete-job", help="The job goes.")] = False,
    file: Annotated[
        Pairs, typer.Option(help="Code that counts too: .sql, .py, .ipynb, manifest.json.")
    ] = None,
    dialect: Annotated[
        str, typer.Option(help="What the SQL of those files is in: spark, snowflake, ...")
    ] = "",
    include_stale: Annotated[
        bool, typer.Option(help="Count who read once and reads no more.")
    ] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Tell who would be affected by changes, how badly, and how one knows. An option may be given again."""
    from headwater.impact.assess import assess
    from headwater.impact.changes import parse_changes
    from headwater.impact.report import report_json

    given: list[dict[str, Any]] = [
        *(
            {"type": "column_rename", "from": old, "to": new}
            for old, new in _pairs("--rename", rename)
        ),
        *({"type": "column_drop", "column": name} for name in drop or ()),
        *(
            {"type": "column_type_change", "column": name, "to": to}
            for name, to in _pairs("--retype", retype)
        ),
        *({"type": "column_add", "column": name, "nullable": False} for name in add or ()),
        *({"type": "semantics_change", "column": name} for name in meaning or ()),
        *([{"type": "table_drop"}] if drop_table else []),
        *([{"type": "table_rename", "to": rename_table}] if rename_table else []),
        *([{"type": "job_delete"}] if delete_job else []),
    ]
    if not given:
        raise QueryError(
            "no change is named",
            hint="For example --rename order_total:total_amount, or --drop-table.",
        )
    files = {
        path: existing(path).read_text(encoding="utf-8", errors="replace") for path in file or ()
    }
    report = assess(
        graph_view(home),
        parse_changes(given, urn),
        files=files,
        dialect=dialect,
        include_stale=include_stale,
    )
    if as_json:
        from headwater.cli import render as show

        show.json_of(report_json(report))
    else:
        _print(report)


def _pairs(option: str, given: Pairs) -> list[tuple[str, str]]:
    found = []
    for one in given or ():
        left, colon, right = one.partition(":")
        if not colon or not left or not right:
            raise QueryError(
                f"{option} {one!r} has no two halves", hint=f"Write {option} before:after."
            )
        found.append((left, right))
    return found


def _print(report: Report) -> None:
    from rich.markup import escape
    from rich.table import Table

    from headwater.cli import render as show

    out = show.console()
    level = report.risk_level
    counted = f"{report.affected_count} affected, {report.breaking_count} breaking"
    counted += ", " + show.counted(report.warning_count, "warning")
    out.print(f"risk [{_STYLES[level]}]{level}[/]  {counted}")
    table = Table(
        "severity",
        "asset",
        "type",
        "references",
        "why",
        "owners",
        box=None,
        header_style="bold",
        pad_edge=False,
    )
    for one in report.affected:
        severity = f"[{_STYLES[one.severity]}]{one.severity}[/]"
        name = escape(one.name) + (" [cyan]certified[/]" if one.certified else "")
        cells = [one.asset_type, ", ".join(one.references), _why(one), ", ".join(one.owners)]
        table.add_row(severity, name, *map(escape, cells))
    if report.affected:
        out.print(table)
    if report.owners:
        out.print(f"tell {escape(', '.join(report.owners))}")
    for note in report.notes:
        out.print(f"[yellow]{escape(note)}[/]")
    if report.hidden_affected:
        out.print("[yellow]something that may not be seen is affected too[/]")
    if report.truncated:
        out.print(f"[yellow]there is more: a bound on {report.truncated} was met[/]")


def _why(one: Affected) -> str:
    """The evidence in a few words, the strongest first."""
    from headwater.schema.urns import parse_urn

    told = []
    for found in one.evidence[:_EVIDENCE_SHOWN]:
        if found.kind == "SQL_LINE":
            told.append(f"{found.file or 'its code'} line {found.line}: {found.text}")
        elif found.kind == "COLUMN_PATH":
            told.append(
                " → ".join(".".join(parse_urn(urn).parts[1:] or (urn,)) for urn in found.path)
            )
        else:
            told.append("reads it" + (f" ({'; '.join(found.unknown)})" if found.unknown else ""))
    more = len(one.evidence) - len(told)
    return "\n".join([*told, *([f"and {more} more"] if more > 0 else [])])


COMMANDS = {"impact": impact}
