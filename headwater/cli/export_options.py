"""The options of the command `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DEPTH = 10
FORMAT, PART = "Format", "Part"

Canonical = Annotated[
    bool,
    typer.Option(
        "--canonical",
        help=(
            "Print only facts from events: two graphs are equal if and only if these outputs are."
        ),
        rich_help_panel=FORMAT,
    ),
]
Openlineage = Annotated[
    bool,
    typer.Option(
        "--openlineage",
        help="Print OpenLineage events, from the stored ones.",
        rich_help_panel=FORMAT,
    ),
]
Datahub = Annotated[
    bool,
    typer.Option(
        "--datahub", help="Print a metadata file for `datahub ingest`.", rich_help_panel=FORMAT
    ),
]
Graphml = Annotated[
    bool,
    typer.Option(
        "--graphml", help="Print GraphML, for networkx, Gephi or yEd.", rich_help_panel=FORMAT
    ),
]
AuditCsv = Annotated[
    bool,
    typer.Option(
        "--audit-csv",
        help="Print one row for each column that a run wrote, with its sources.",
        rich_help_panel=FORMAT,
    ),
]
Amundsen = Annotated[
    Path | None,
    typer.Option(
        "--amundsen",
        help="Write the CSV of Amundsen to this folder.",
        metavar="DIR",
        rich_help_panel=FORMAT,
    ),
]
Sqlite = Annotated[
    Path | None,
    typer.Option(
        "--sqlite",
        help="Write tables to this SQLite file, for Superset or Metabase.",
        metavar="FILE",
        rich_help_panel=FORMAT,
    ),
]
Duckdb = Annotated[
    Path | None,
    typer.Option(
        "--duckdb",
        help="Write tables to this DuckDB file.",
        metavar="FILE",
        rich_help_panel=FORMAT,
    ),
]
Every = Annotated[
    str | None,
    typer.Option(
        help="Write the tables again after this time, until Ctrl-C: 15m, 1h.", metavar="TIME"
    ),
]
Urn = Annotated[
    list[str] | None,
    typer.Option(
        help="Only the lineage of this dataset or job; may be repeated.",
        metavar="URN",
        rich_help_panel=PART,
    ),
]
Depth = Annotated[int, typer.Option(help="The number of hops from --urn.", rich_help_panel=PART)]
Direction = Annotated[
    str, typer.Option(help="upstream, downstream or both, from --urn.", rich_help_panel=PART)
]
Namespace = Annotated[
    list[str] | None,
    typer.Option(
        help="Only this namespace, and the jobs and datasets next to it; * matches anything; "
        "may be repeated.",
        metavar="NS",
        rich_help_panel=PART,
    ),
]
Since = Annotated[
    str | None,
    typer.Option(
        help="Only events of this time or later: 2h, 7d, 2026-01-01.", rich_help_panel=PART
    ),
]
Until = Annotated[
    str | None, typer.Option(help="Only events before this time.", rich_help_panel=PART)
]
Key = Annotated[
    str | None,
    typer.Option(
        help="Only what the API key of this name may see.",
        metavar="NAME",
        rich_help_panel=PART,
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        help="Write to this file; - is stdout.",
        show_default="stdout",
        metavar="FILE",
    ),
]
