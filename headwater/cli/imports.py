"""Commands that import lineage: the events of an importer, sent to the API or written to a file.

Every import uses `deliver`. The ids of its runs are stable, so importing twice changes nothing.
"""

from __future__ import annotations

import glob
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, cast

import typer

from headwater.cells import one_line
from headwater.cli.options import OUTPUT, Home, Json, Profile, Url, api_address, existing
from headwater.cli.output.standard_output import standard_output
from headwater.cli.send import batches_of, open_unpacked, post_batch, progress_bar
from headwater.client.times import instant_of
from headwater.errors import EventError, QueryError
from headwater.importers.report import ImportReport
from headwater.schema.headwater_facets import Event
from headwater.schema.stored_json import encode

if TYPE_CHECKING:
    from headwater.client.backend import Backend
    from headwater.importers.sql.logs import SqlFile

STDIN = "-"
HELP = "Import lineage from sources that send no events."
SHOWN_MAX = 20
LINE_CHARACTERS_MAX = 1_000
# The exit code of a program that Ctrl-C ended.
INTERRUPTED = 130

DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Print the events as JSON lines; send nothing.", rich_help_panel=OUTPUT
    ),
]
EventsFile = Annotated[
    str | None,
    typer.Option(
        "--output",
        help="Write the events to this file as JSON lines; send nothing.",
        metavar="FILE",
        rich_help_panel=OUTPUT,
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="End with exit code 4 if anything was passed over.")
]


@dataclass(frozen=True)
class Delivery:
    """The options of an import that say where its events go and what is printed."""

    home: str | None = None
    url: str | None = None
    profile: str | None = None
    dry_run: bool = False
    output: str | None = None
    as_json: bool = False
    strict: bool = False

    def opener(self) -> Callable[[], AbstractContextManager[Backend]] | None:
        """Return a function that opens the backend; None if the events are not sent."""
        from headwater.cli.backend.choice import open_backend

        if self.dry_run or self.output:
            return None
        return partial(open_backend, self.url, self.profile, self.home)


@dataclass
class _Delivered:
    """The number of events that the API accepted or a file holds, and those that were refused."""

    events: int = 0
    refused: list[dict[str, Any]] = field(default_factory=list)


def deliver(events: Iterable[Event], report: ImportReport, delivery: Delivery) -> None:
    """Send the events of an importer, or write them, and print what became of them.

    `report` is the one that the importer fills. Exit code 4: the API refused events, nothing
    could be read, or with `--strict` something was passed over.
    """
    lines = map(encode, events)
    if delivery.dry_run and delivery.output:
        raise QueryError("--dry-run and --output exclude each other", hint="Give one of them.")
    if delivery.dry_run:
        delivered = _write_to(standard_output(), lines)
    elif delivery.output:
        with _new_file(delivery.output) as file:
            delivered = _write_to(file, lines)
    else:
        delivered = _send(lines, delivery)
    _print_summary(delivered, report, delivery)
    is_empty = bool(report.problems) and not delivered.events
    if delivered.refused or is_empty or (delivery.strict and report.problems):
        raise typer.Exit(EventError.exit_code)


def _send(lines: Iterator[bytes], delivery: Delivery) -> _Delivered:
    address = api_address(delivery.home, delivery.url, delivery.profile)
    delivered = _Delivered()
    with progress_bar(delivery.as_json) as bar:
        task = bar.add_task("sending", total=None)
        for first, batch in batches_of(lines):
            result = post_batch(address, batch)
            delivered.events += result["summary"]["successful"]
            delivered.refused += [
                {**one, "event": first + one["index"] + 1} for one in result["failed_events"]
            ]
            bar.update(task, advance=len(batch))
    return delivered


def _write_to(stream: BinaryIO, lines: Iterator[bytes]) -> _Delivered:
    delivered = _Delivered()
    for line in lines:
        stream.write(line + b"\n")
        delivered.events += 1
    stream.flush()
    return delivered


@contextmanager
def _new_file(path: str) -> Iterator[BinaryIO]:
    """Open a file for writing; remove it if it cannot be completed. Raises QueryError."""
    file = Path(path)
    try:
        stream = file.open("wb")
    except OSError as error:
        raise QueryError(f"--output {path} cannot be written: {error.strerror}") from error
    with stream:
        try:
            yield stream
        except BaseException:
            file.unlink(missing_ok=True)
            raise


def _print_summary(delivered: _Delivered, report: ImportReport, delivery: Delivery) -> None:
    from headwater.cli.render import with_noun

    # With --dry-run the standard output is for the events.
    out = sys.stderr if delivery.dry_run else sys.stdout
    is_sent = not delivery.dry_run and not delivery.output
    word = "accepted" if is_sent else "written"
    if delivery.as_json:
        summary = {word: delivered.events, "refused": delivered.refused, **report.to_json()}
        print(json.dumps(summary), file=out)
        return
    read = ", ".join(f"{noun} {number:,}" for noun, number in report.counts.items() if number)
    print(f"read: {read or 'nothing'}", file=out)
    refused = f", {len(delivered.refused):,} refused" if is_sent else ""
    print(f"{with_noun(delivered.events, 'event')} {word}{refused}", file=out)
    for one in delivered.refused[:SHOWN_MAX]:
        _print_line(f"  event {one['event']}: {one['reason']}")
    for note in report.notes:
        _print_line(f"note: {note}")
    if report.problems:
        print(f"{len(report.problems):,} passed over:", file=sys.stderr)
    for problem in report.problems[:SHOWN_MAX]:
        _print_line(f"  {problem.place}: {problem.reason}")
    if len(report.problems) > SHOWN_MAX:
        print("  ... --json lists all of them", file=sys.stderr)


def _print_line(text: str) -> None:
    """Print a text with names of a source as one line without control characters."""
    line = one_line(text)
    cut = line if len(line) <= LINE_CHARACTERS_MAX else f"{line[:LINE_CHARACTERS_MAX]}…"
    print(cut, file=sys.stderr)


def dbt(
    target: Annotated[
        str,
        typer.Argument(help="The target folder of a dbt project, or the project.", metavar="DIR"),
    ] = "target",
    namespace: Annotated[
        str | None,
        typer.Option(
            help="Namespace of the datasets, for example postgres://warehouse:5432.",
            show_default="from profiles.yml, as openlineage-dbt names it",
        ),
    ] = None,
    job_namespace: Annotated[
        str | None,
        typer.Option(help="Namespace of the jobs.", show_default="OPENLINEAGE_NAMESPACE, or dbt"),
    ] = None,
    profiles_dir: Annotated[
        str, typer.Option(help="The folder of profiles.yml.", metavar="DIR")
    ] = "",
    dbt_profile: Annotated[
        str, typer.Option("--dbt-profile", help="The profile of dbt.", metavar="NAME")
    ] = "",
    dbt_target: Annotated[
        str, typer.Option("--target", help="The target in the profile of dbt.", metavar="NAME")
    ] = "",
    strict: Strict = False,
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
    dry_run: DryRun = False,
    output: EventsFile = None,
    as_json: Json = False,
) -> None:
    """Import the artifacts of dbt: models, seeds, snapshots, sources, tests, exposures and runs.

    It reads manifest.json and, if they are there, run_results.json, catalog.json and sources.json.
    For example: headwater import dbt target/ --profiles-dir ~/.dbt
    """
    from headwater.importers.dbt.artifacts import read_artifacts
    from headwater.importers.dbt.importer import DbtOptions, read_dbt
    from headwater.importers.dbt.locate import ProfileOptions, find_namespace, target_folder

    report = ImportReport()
    folder = target_folder(Path(target))
    artifacts = read_artifacts(folder, report)
    choice = ProfileOptions(profiles_dir, dbt_profile, dbt_target)
    options = DbtOptions(
        namespace or find_namespace(artifacts, folder, choice, os.environ),
        job_namespace or os.environ.get("OPENLINEAGE_NAMESPACE") or "dbt",
    )
    delivery = Delivery(home, url, profile, dry_run, output, as_json, strict)
    deliver(read_dbt(artifacts, options, report), report, delivery)


def sql(
    files: Annotated[
        list[str],
        typer.Argument(
            help="SQL scripts and query logs (.sql, .jsonl, .csv, gz too), folders of scripts, "
            "patterns; - is stdin."
        ),
    ],
    dialect: Annotated[
        str, typer.Option(help="The dialect of the SQL: postgres, snowflake, bigquery, ...")
    ] = "",
    namespace: Annotated[
        str | None,
        typer.Option(
            help="Namespace of the datasets, for example postgres://warehouse:5432.",
            show_default="the dialect",
        ),
    ] = None,
    database: Annotated[str, typer.Option(help="The database of names without one.")] = "",
    schema: Annotated[str, typer.Option(help="The schema of names without one.")] = "",
    job_namespace: Annotated[
        str | None,
        typer.Option(help="Namespace of the jobs.", show_default="that of the datasets"),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            help="The statements of scripts ran at this time; without it they are declarations.",
            metavar="TIME",
        ),
    ] = None,
    reads: Annotated[
        bool, typer.Option("--reads", help="Import queries that only read as runs, too.")
    ] = False,
    strict: Strict = False,
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
    dry_run: DryRun = False,
    output: EventsFile = None,
    as_json: Json = False,
) -> None:
    """Import SQL: scripts declare lineage, and the queries of a log with times are runs.

    A statement that cannot be read is listed and stops no other. For example:

    headwater import sql etl/ --dialect postgres --namespace postgres://dwh:5432 --database shop
    """
    from headwater.code_analysis.sql.script import require_dialect
    from headwater.importers.sql.importer import SqlOptions, read_sql
    from headwater.importers.sql.names import NameRules

    require_dialect(dialect)
    names = NameRules(namespace or dialect or "sql", dialect, database, schema)
    ran_at = instant_of("--at", at)
    options = SqlOptions(
        names, job_namespace or "", reads, _microseconds(ran_at) if ran_at else None
    )
    report = ImportReport()
    delivery = Delivery(home, url, profile, dry_run, output, as_json, strict)
    deliver(read_sql(_sql_files(files, report), options, report), report, delivery)


def marquez(
    database: Annotated[
        str,
        typer.Argument(
            help="The PostgreSQL of Marquez: postgresql://user@host:5432/marquez.", metavar="URL"
        ),
    ],
    since: Annotated[
        str | None,
        typer.Option(help="Only events of this time or later: 2h, yesterday, 2026-01-01."),
    ] = None,
    strict: Strict = False,
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
    dry_run: DryRun = False,
    output: EventsFile = None,
    as_json: Json = False,
) -> None:
    """Import the events that Marquez keeps in its database, in the order of their times.

    An event that comes twice changes nothing, so an import may be stopped and run again. PGPASSWORD
    holds the password. For example: headwater import marquez postgresql://marquez@db:5432/marquez
    """
    from headwater.importers.marquez import MarquezEvents, parse_database_url

    report = ImportReport()
    events = MarquezEvents(parse_database_url(database), instant_of("--since", since), report)
    delivery = Delivery(home, url, profile, dry_run, output, as_json, strict)
    try:
        deliver(events, report, delivery)
    except KeyboardInterrupt:
        from headwater.cli.render import with_noun

        sent = with_noun(report.counts["events"], "event")
        again = f" with --since {events.resume_at.isoformat()}" if events.resume_at else ""
        print(
            f"stopped after {sent}; run it again{again} to go on",
            file=sys.stderr,
        )
        raise typer.Exit(INTERRUPTED) from None


def schema_registry(
    address: Annotated[
        str,
        typer.Argument(
            help="The registry: http://registry:8081, or http://apicurio:8080/apis/ccompat/v7.",
            metavar="URL",
        ),
    ],
    namespace: Annotated[
        str,
        typer.Option(
            help="Namespace of the topics: kafka:// with the first broker, as events name it."
        ),
    ],
    topic: Annotated[
        list[str] | None,
        typer.Option(
            help="The topic of a subject that is named after a record (RecordNameStrategy). "
            "Repeatable.",
            metavar="SUBJECT=TOPIC",
        ),
    ] = None,
    strict: Strict = False,
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
    dry_run: DryRun = False,
    output: EventsFile = None,
    as_json: Json = False,
) -> None:
    """Import a schema registry: the schemas of topics, each version a contract of its topic.

    Versions that the graph has are not sent again. SCHEMA_REGISTRY_USER and
    SCHEMA_REGISTRY_PASSWORD, or SCHEMA_REGISTRY_TOKEN, hold the credentials. For example:

    headwater import schema-registry http://registry:8081 --namespace kafka://broker:9092
    """
    from headwater.cli.known_contracts import KnownContracts
    from headwater.importers.schema_registry.client import SchemaRegistry
    from headwater.importers.schema_registry.importer import RegistryOptions, read_registry

    registry = SchemaRegistry(
        address,
        user=os.environ.get("SCHEMA_REGISTRY_USER", ""),
        password=os.environ.get("SCHEMA_REGISTRY_PASSWORD", ""),
        token=os.environ.get("SCHEMA_REGISTRY_TOKEN", ""),
    )
    report = ImportReport()
    delivery = Delivery(home, url, profile, dry_run, output, as_json, strict)
    known = KnownContracts(delivery.opener()).versions_of
    options = RegistryOptions(namespace, datetime.now(UTC), known, _topics(topic or ()))
    deliver(read_registry(registry, options, report), report, delivery)


def _topics(given: Iterable[str]) -> dict[str, list[str]]:
    """Return the topics by subject. Raises typer.BadParameter for another form."""
    found: dict[str, list[str]] = {}
    for one in given:
        subject, _, topic = one.rpartition("=")
        if not subject or not topic:
            raise typer.BadParameter(f"--topic {one}: write SUBJECT=TOPIC, as shop.Order=orders")
        found.setdefault(subject, []).append(topic)
    return found


def _sql_files(patterns: Iterable[str], report: ImportReport) -> Iterator[SqlFile]:
    """Open the files of patterns and folders one after another. Raises typer.BadParameter."""
    from headwater.importers.sql.logs import SqlFile, bounded_lines

    for path in [path for pattern in patterns for path in _paths_of(pattern, report)]:
        with ExitStack() as opened:
            try:
                modified = _microseconds(datetime.now(UTC))
                if path != STDIN:
                    modified = Path(path).stat().st_mtime_ns // 1_000
                stream = opened.enter_context(open_unpacked(path))
            except OSError as error:
                report.add_problem(_shown_path(path), f"it cannot be read: {error.strerror}")
                continue
            text = io.TextIOWrapper(
                cast(BinaryIO, stream), encoding="utf-8-sig", errors="replace", newline=None
            )
            yield SqlFile(_shown_path(path), bounded_lines(text), modified)


def _paths_of(pattern: str, report: ImportReport) -> list[str]:
    """Return the files of a path, a folder or a pattern, by name.

    In a folder, a pipe or a device is a problem of the report: its end may never come.
    """
    if pattern == STDIN:
        return [pattern]
    path = Path(pattern)
    if path.is_dir():
        found = sorted(path.rglob("*.sql"))
        if not found:
            raise typer.BadParameter(f"{pattern}: the folder has no .sql files")
        for one in found:
            if not one.is_file():
                report.add_problem(_shown_path(str(one)), "it is no regular file")
        return [str(one) for one in found if one.is_file()]
    if path.exists() or not glob.has_magic(pattern):
        return [str(existing(pattern))]
    matching = [one for one in sorted(glob.glob(pattern, recursive=True)) if Path(one).is_file()]
    if not matching:
        raise typer.BadParameter(f"{pattern}: no file matches")
    return matching


def _shown_path(path: str) -> str:
    """Return a path as jobs are named: relative to the current folder, if it is in there."""
    if path == STDIN:
        return "stdin"
    # Unlike Path.resolve, it returns a path for links that loop.
    absolute, folder = Path(os.path.realpath(path)), Path.cwd()
    return str(absolute.relative_to(folder)) if absolute.is_relative_to(folder) else path


def _microseconds(time: datetime) -> int:
    return round(time.timestamp() * 1_000_000)


COMMANDS: dict[str, Callable[..., None]] = {
    "dbt": dbt,
    "sql": sql,
    "marquez": marquez,
    "schema-registry": schema_registry,
}
