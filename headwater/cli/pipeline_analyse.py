"""`headwater pipeline analyse`: what only the whole history tells."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.options import Home, Json, connect, settings_of, with_local_neo4j

if TYPE_CHECKING:
    from headwater.lineage.questions.analyses import Finding
    from headwater.pipelines.analyse import AnalysisResult
    from headwater.settings import Settings


# What of each table asks for attention, and becomes facts of the graph.
_FOUND = {
    "row_counts": "datasets with row counts that drifted",
    "run_times": "jobs that became slower",
    "schema_changes": "datasets whose schema changed",
    "dataset_use": "datasets that are written and that nobody reads",
}


def analyse(
    lake: Annotated[
        str, typer.Argument(help="Parquet with a column `body`, as `pipeline archive` writes it.")
    ],
    out: Annotated[str, typer.Argument(help="Folder for the tables, one below it for each.")],
    home: Home = None,
    until: Annotated[
        datetime | None,
        typer.Option(help="Judge as of this time, UTC.", show_default="that of the newest event"),
    ] = None,
    graph: Annotated[
        bool, typer.Option("--graph/--no-graph", help="Write what it found into the graph as well.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Coverage, drift of rows and schemas, slower jobs, unused datasets, blast radius: from the lake, in Spark SQL."""
    from headwater.cli import render as show
    from headwater.pipelines.analyse import analyse, findings, write_tables
    from headwater.pipelines.session import spark_session
    from headwater.schema.naming import load_naming

    settings = settings_of(home)
    with spark_session("analyse") as spark:
        moment = until.replace(tzinfo=UTC) if until is not None and until.tzinfo is None else until
        found = analyse(spark, lake, load_naming(settings.naming_path), until=moment)
        write_tables(found, out)
        told = findings(found)
        if graph:
            _save(settings, found, told)
    counts = {name: sum(one.table == name for one in told) for name in found.tables}
    said = {
        "until": found.until.isoformat(),
        "events": found.events,
        "out": out,
        "findings": counts,
    }
    if as_json:
        show.json_of(said)
    else:
        print(f"{show.counted(found.events, 'event')} until {said['until']}; tables in {out}")
        for name, count in counts.items():
            if count:
                print(f"  {_FOUND[name]}: {count:,} (table {name})")
        if not told[:-1]:
            print("  nothing in them asks for attention")


def _save(settings: Settings, found: AnalysisResult, told: list[Finding]) -> None:
    from headwater.cypher.migrate import migrate
    from headwater.lineage.questions.analyses import save_analysis

    with closing(connect(with_local_neo4j(settings))) as database:
        migrate(database)
        save_analysis(database, told, newest_event_at=found.until, analysed_at=datetime.now(tz=UTC))
