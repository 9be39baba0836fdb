"""`headwater impact`: the assets that a planned change would affect."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.options import existing
from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.client.backend import Backend
from headwater.client.names import resolve
from headwater.errors import QueryError

if TYPE_CHECKING:
    from rich.console import Console

Data = dict[str, Any]
Values = list[str] | None
_STYLES = {
    "breaking": "bold red",
    "unknown": "magenta",
    "warning": "yellow",
    "high": "bold red",
    "medium": "yellow",
    "low": "green",
}
_EVIDENCE_SHOWN = 3
_COLUMNS = (
    "severity", "kind", "asset", "asset_type", "affected_references", "owners", "certified", "urn",
)  # fmt: skip


@question
def impact(
    backend: Backend,
    node: Annotated[
        str,
        typer.Argument(
            help="The dataset or job that changes, by name or urn: raw.orders, "
            "dataset:db:raw.orders.",
        ),
    ],
    rename: Annotated[Values, typer.Option(help="Rename a column.", metavar="FROM:TO")] = None,
    drop: Annotated[Values, typer.Option(help="Drop a column.", metavar="COLUMN")] = None,
    change_type: Annotated[
        Values, typer.Option(help="Change the type of a column.", metavar="COLUMN:TYPE")
    ] = None,
    add: Annotated[
        Values, typer.Option(help="Add a column that must not be null.", metavar="COLUMN")
    ] = None,
    change_semantics: Annotated[
        Values, typer.Option(help="Change the meaning of a column.", metavar="COLUMN")
    ] = None,
    drop_table: Annotated[bool, typer.Option("--drop-table", help="Drop the dataset.")] = False,
    rename_table: Annotated[
        str | None, typer.Option(help="Rename the dataset.", metavar="NAME")
    ] = None,
    delete_job: Annotated[bool, typer.Option("--delete-job", help="Delete the job.")] = False,
    file: Annotated[
        Values,
        typer.Option(help="Code to include: .sql, .py, .ipynb, manifest.json.", metavar="FILE"),
    ] = None,
    dialect: Annotated[
        str, typer.Option(help="The SQL dialect of those files: spark, snowflake, ...")
    ] = "",
    include_stale: Annotated[
        bool, typer.Option(help="Include jobs that no longer read the dataset.")
    ] = False,
) -> Result:
    """Assess planned changes: the affected assets, the severity and the evidence.

    Change options are repeatable.

    For example: headwater impact raw.orders --rename order_total:total_amount"""
    changes = [
        *_renames(rename),
        *_column_changes("column_drop", drop),
        *_type_changes(change_type),
        *_column_changes("column_add", add, nullable=False),
        *_column_changes("semantics_change", change_semantics),
    ]
    if drop_table:
        changes.append({"type": "table_drop"})
    if rename_table:
        changes.append({"type": "table_rename", "to": rename_table})
    if delete_job:
        changes.append({"type": "job_delete"})
    if not changes:
        raise QueryError(
            "no change is given",
            hint="For example --rename order_total:total_amount, or --drop-table.",
        )
    files = {
        path: existing(path).read_text(encoding="utf-8", errors="replace") for path in file or ()
    }
    found = backend.assess(
        resolve(backend, node, ("DATASET", "JOB")),
        changes,
        files=files,
        dialect=dialect,
        include_stale=include_stale,
    )
    rows = [{**one, "asset": one["name"]} for one in found["affected_assets"]]
    return Result(
        data=found,
        columns=_COLUMNS,
        rows=rows,
        records=found["affected_assets"],
        show=partial(_print_report, report=found),
    )


def _column_changes(kind: str, columns: Values, **fields: Any) -> list[dict[str, Any]]:
    return [{"type": kind, "column": column, **fields} for column in columns or ()]


def _renames(pairs: Values) -> list[dict[str, Any]]:
    halves = _split_pairs("--rename", "FROM:TO", pairs)
    return [{"type": "column_rename", "from": old, "to": new} for old, new in halves]


def _type_changes(pairs: Values) -> list[dict[str, Any]]:
    halves = _split_pairs("--change-type", "COLUMN:TYPE", pairs)
    return [{"type": "column_type_change", "column": column, "to": to} for column, to in halves]


def _split_pairs(option: str, form: str, pairs: Values) -> list[tuple[str, str]]:
    halves = []
    for pair in pairs or ():
        left, colon, right = pair.partition(":")
        if not colon or not left or not right:
            raise QueryError(
                f"{option} {pair!r} is not of the form {form}", hint=f"Write {option} {form}."
            )
        halves.append((left, right))
    return halves


def _print_report(out: Console, *, report: Data) -> None:
    from rich.table import Table

    from headwater.cli.render import escape, with_noun

    level = report["risk_level"]
    counts = f"{report['affected_count']} affected, {report['breaking_count']} breaking"
    if report["unknown_count"]:
        counts += f", {report['unknown_count']} unknown"
    counts += ", " + with_noun(report["warning_count"], "warning")
    out.print(f"risk [{_STYLES[level]}]{level}[/]  {counts}")
    headers = ("severity", "asset", "type", "references", "evidence", "owners")
    table = Table(*headers, box=None, header_style="bold", pad_edge=False)
    for one in report["affected_assets"]:
        severity = f"[{_STYLES[one['severity']]}]{one['severity']}[/]"
        name = escape(one["name"]) + (" [cyan]certified[/]" if one["certified"] else "")
        evidence = "\n".join(map(escape, _evidence_lines(one)))
        references, owners = ", ".join(one["affected_references"]), ", ".join(one["owners"])
        table.add_row(
            severity, name, escape(one["asset_type"]), escape(references), evidence, escape(owners)
        )
    if report["affected_assets"]:
        out.print(table)
    if report["owners"]:
        out.print(f"notify {escape(', '.join(report['owners']))}")
    for note in report["notes"]:
        out.print(f"[yellow]{escape(note)}[/]")
    if report["hidden_affected"]:
        out.print("[yellow]an asset that you may not see is affected too[/]")
    if report["truncated"]:
        out.print(f"[yellow]cut off at the bound on {report['truncated']}: there is more[/]")


def _evidence_lines(one: Data) -> list[str]:
    """Return the strongest evidence of an asset, one line each."""
    lines = [_evidence_line(evidence) for evidence in one["evidence"][:_EVIDENCE_SHOWN]]
    more = len(one["evidence"]) - len(lines)
    return [*lines, f"and {more} more"] if more > 0 else lines


def _evidence_line(evidence: Data) -> str:
    from headwater.schema.urns import parse_urn

    if evidence["kind"] == "SQL_LINE":
        return f"{evidence['file'] or 'its code'} line {evidence['line']}: {evidence['text']}"
    if evidence["kind"] == "COLUMN_PATH":
        return " → ".join(".".join(parse_urn(urn).parts[1:] or (urn,)) for urn in evidence["path"])
    unknown = "; ".join(evidence["unknown"])
    return f"reads it ({unknown})" if unknown else "reads it"


COMMANDS = {"impact": impact}
