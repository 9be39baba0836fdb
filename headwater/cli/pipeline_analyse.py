"""The command `pipeline analyse`: questions about the whole history."""

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


# The finding that each table contributes to the graph.
_FOUND = {
    "row_counts": "datasets with row counts that drifted",
    "run_times": "jobs that became slower",
    "schema_changes": "datasets whose schema changed",
    "dataset_use": "datasets that are written and never read",
}


def analyse(
    lake: Annotated[
        str, typer.Argument(help="Parquet with a column `body`, as `pipeline archive` writes it.")
    ],
    out: Annotated[str, typer.Argument(help="Folder for the tables, with one subfolder each.")],
    home: Home = None,
    until: Annotated[
        datetime | None,
        typer.Option(help="Analyse as of this time, UTC.", show_default="that of the newest event"),
    ] = None,
    graph: Annotated[
        bool, typer.Option("--graph/--no-graph", help="Write the findings to the graph too.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Analyse the lake with Spark SQL: coverage, drift, slower jobs, unused datasets, blast
    radius.
    """
    from headwater.cli import render
    from headwater.pipelines.analyse import analyse, findings, write_tables
    from headwater.pipelines.session import spark_session
    from headwater.schema.naming import load_naming

    settings = settings_of(home)
    with spark_session("analyse") as spark:
        moment = until.replace(tzinfo=UTC) if until is not None and until.tzinfo is None else until
        found = analyse(spark, lake, load_naming(settings.naming_path), until=moment)
        write_tables(found, out)
        saved = findings(found)
        if graph:
            _save(settings, found, saved)
    saved_tables = [one.table for one in saved]
    counts = {name: saved_tables.count(name) for name in found.tables}
    summary = {
        "until": found.until.isoformat(),
        "events": found.events,
        "out": out,
        "findings": counts,
    }
    if as_json:
        render.print_json(summary)
    else:
        print(
            f"{render.with_noun(found.events, 'event')} until {summary['until']}; tables in {out}"
        )
        for name, count in counts.items():
            if count:
                print(f"  {_FOUND[name]}: {count:,} (table {name})")
        if not saved[:-1]:
            print("  no findings")


def _save(settings: Settings, found: AnalysisResult, saved: list[Finding]) -> None:
    from headwater.cypher.migrate import migrate
    from headwater.lineage.questions.analyses import save_analysis

    with closing(connect(with_local_neo4j(settings))) as database:
        migrate(database)
        save_analysis(
            database, saved, newest_event_at=found.until, analysed_at=datetime.now(tz=UTC)
        )
