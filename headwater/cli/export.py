"""The command `export`: the graph or a part of it, in the format of another tool."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from headwater.cli import export_options as options
from headwater.cli.export_options import DEPTH
from headwater.cli.graph_admin import progress_bar
from headwater.cli.options import Home, graph, settings_of
from headwater.cli.output.standard_output import standard_output
from headwater.client.times import instant_of
from headwater.errors import NotFoundError, QueryError

if TYPE_CHECKING:
    from headwater.cypher.driver.database import Database
    from headwater.exports.openlineage import TimeRange
    from headwater.exports.part import Part
    from headwater.schema.visibility import Visibility

STDOUT = "-"
_TEXTS = ("datahub", "graphml", "audit-csv")


@dataclass(frozen=True)
class _Selection:
    """The options that select a part of the graph."""

    urns: tuple[str, ...] = ()
    depth: int = DEPTH
    direction: str = "both"
    namespaces: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    key: str | None = None

    def part(self, database: Database, home: str | None) -> Part:
        """Return the part; warn if it is cut short. Raises QueryError and NotFoundError."""
        from headwater.exports.part import find_part
        from headwater.lineage.view import GraphView

        if self.urns and self.namespaces:
            raise QueryError("--urn and --namespace exclude each other", hint="Give one of them.")
        part = find_part(
            GraphView(database, _visibility_of(home, self.key)),
            urns=self.urns,
            namespaces=self.namespaces,
            depth=self.depth,
            direction=self.direction,
        )
        if part.is_truncated:
            _warn("the lineage is larger than a traversal may reach; only a part is exported")
        return part

    def times(self) -> TimeRange:
        """Return the range of the times of events. Raises QueryError."""
        from headwater.exports.openlineage import TimeRange

        return TimeRange(
            to_microseconds(instant_of("--since", self.since)),
            to_microseconds(instant_of("--until", self.until)),
        )


def export(
    home: Home = None,
    canonical: options.Canonical = False,
    openlineage: options.Openlineage = False,
    datahub: options.Datahub = False,
    graphml: options.Graphml = False,
    audit_csv: options.AuditCsv = False,
    amundsen: options.Amundsen = None,
    sqlite: options.Sqlite = None,
    duckdb: options.Duckdb = None,
    every: options.Every = None,
    urn: options.Urn = None,
    depth: options.Depth = DEPTH,
    direction: options.Direction = "both",
    namespace: options.Namespace = None,
    since: options.Since = None,
    until: options.Until = None,
    key: options.Key = None,
    output: options.Output = None,
) -> None:
    """Print the graph as JSON lines, or a part of it in another format.

    Without a format: nodes by label and urn, then edges by source, type and target. The graph is
    read page by page, so it may be of any size. If events are folded meanwhile, a warning says so.

    headwater export --openlineage --urn dataset:file:/raw/orders --depth 3 -o orders.jsonl
    """
    target = None if output == STDOUT else output
    selection = _Selection(
        tuple(urn or ()), depth, direction, tuple(namespace or ()), since, until, key
    )
    formats: dict[str, Any] = {
        "canonical": canonical,
        "openlineage": openlineage,
        "datahub": datahub,
        "graphml": graphml,
        "audit-csv": audit_csv,
        "amundsen": amundsen,
        "sqlite": sqlite,
        "duckdb": duckdb,
    }
    chosen = [name for name, value in formats.items() if value]
    _check_options(chosen, selection, every)
    format = chosen[0] if chosen else ""
    with closing(graph(home)) as database:
        if format in ("", "canonical"):
            _export_rows(database, target, canonical=canonical)
        elif format == "openlineage":
            _export_openlineage(database, home, selection, target)
        elif format in _TEXTS:
            _export_text(database, selection.part(database, home), format, target)
        else:
            _export_files(_Job(database, home, selection, format, formats[format]), every)


def _check_options(chosen: list[str], selection: _Selection, every: str | None) -> None:
    """Check that the options fit each other. Raises QueryError."""
    format = chosen[0] if chosen else ""
    if len(chosen) > 1:
        raise QueryError(f"--{chosen[0]} and --{chosen[1]} exclude each other")
    if format in ("", "canonical") and selection != _Selection():
        raise QueryError(
            "a part of the graph needs a format", hint="Give --openlineage, for example."
        )
    if format != "openlineage" and (selection.since or selection.until):
        raise QueryError("--since and --until select events", hint="Give --openlineage too.")
    if every and format not in ("sqlite", "duckdb"):
        raise QueryError("--every refreshes tables", hint="Give --sqlite FILE or --duckdb FILE.")


def _export_rows(database: Database, target: str | None, *, canonical: bool) -> None:
    from headwater.cypher.maintenance import export as graph_export

    with _output_stream(target) as out:
        counts = graph_export.count(database)
        before = graph_export.checkpoints(database)
        with progress_bar(quiet=target is None and sys.stdout.isatty()) as bar:
            task = bar.add_task(
                "exporting", total=sum(size.nodes + size.edges for size in counts.values())
            )
            for line in graph_export.as_lines(
                graph_export.export(database, canonical=canonical, counts=counts)
            ):
                out.write(line.encode() + b"\n")
                bar.advance(task)
        if graph_export.checkpoints(database) != before:
            _warn("events were folded meanwhile, so the export mixes several instants")


def _export_openlineage(
    database: Database, home: str | None, selection: _Selection, target: str | None
) -> None:
    from headwater.cli.render import with_noun
    from headwater.exports.openlineage import EventCounts, stored_events
    from headwater.ingest.spool.reader import SpoolReader
    from headwater.schema.naming import load_naming
    from headwater.schema.stored_json import encode

    settings = settings_of(home)
    if not settings.spool_path.is_file():
        raise NotFoundError(
            f"there is no spool {settings.spool_path}", hint="Name its folder with --home."
        )
    reader, counts = SpoolReader(settings.spool_path), EventCounts()
    times, part = selection.times(), selection.part(database, home)
    naming = load_naming(settings.naming_path)
    with (
        _output_stream(target) as out,
        progress_bar(quiet=target is None and sys.stdout.isatty(), rate=True) as bar,
    ):
        task = bar.add_task("exporting", total=reader.count())
        for event in stored_events(reader, part, naming, times, counts):
            out.write(encode(event) + b"\n")
            bar.update(task, completed=counts.read)
    if counts.cut:
        _warn(
            f"{with_noun(counts.cut, 'event')} of the beginning were cut from the spool and are "
            f"not exported"
        )
    if counts.malformed:
        named = ", ".join(map(str, counts.first_malformed))
        more = ", ..." if counts.malformed > len(counts.first_malformed) else ""
        _warn(
            f"{with_noun(counts.malformed, 'event')} that cannot be read were left out: "
            f"number {named}{more} of the spool"
        )
    if target is not None:
        print(f"{with_noun(counts.written, 'event')} written to {target}")


def _export_text(database: Database, part: Part, format: str, target: str | None) -> None:
    """Write one of the formats that are a stream of text."""
    from headwater.exports.audit_csv import audit
    from headwater.exports.datahub import datahub
    from headwater.exports.graphml import graphml
    from headwater.lineage.view import GraphView

    view = GraphView(database)
    writers = {"datahub": datahub, "graphml": graphml, "audit-csv": audit}
    with _output_stream(target) as out:
        for text in writers[format](view, part):
            out.write(text.encode("utf-8", "replace"))


@dataclass(frozen=True)
class _Job:
    """An export to files: the options that it needs each time it is written."""

    database: Database
    home: str | None
    selection: _Selection
    format: str
    path: Path


def _export_files(job: _Job, every: str | None) -> None:
    """Write tables or the files of Amundsen; with `every`, write them again and again."""
    from headwater.client.times import instant_of

    pause = None
    if every:
        now = datetime.now(UTC)
        past = instant_of("--every", every, now=now)
        pause = (now - past).total_seconds() if past else 0.0
        if pause < 1:
            raise QueryError("--every must be a duration of a second or more, for example 15m")
    while True:
        _write_files(job)
        if pause is None:
            return
        time.sleep(pause)


def _write_files(job: _Job) -> None:
    from headwater.cli.render import with_noun
    from headwater.exports.amundsen import write_amundsen
    from headwater.exports.tables import write_duckdb, write_sqlite
    from headwater.lineage.view import GraphView

    view, part = GraphView(job.database), job.selection.part(job.database, job.home)
    if job.format == "amundsen":
        rows = write_amundsen(view, part, job.path)
    else:
        write = write_sqlite if job.format == "sqlite" else write_duckdb
        rows = sum(write(view, part, job.path).values())
    print(f"{with_noun(rows, 'row')} written to {job.path}", flush=True)


def _visibility_of(home: str | None, key: str | None) -> Visibility:
    """Return what the key of a name may see; without a name, everything."""
    from headwater.access.keys import Keys
    from headwater.access.store import AccessStore
    from headwater.schema.visibility import UNRESTRICTED

    if key is None:
        return UNRESTRICTED
    with closing(AccessStore(settings_of(home).access_path)) as store:
        found = [one for one in Keys(store).list() if one.name == key and one.state == "valid"]
    if not found:
        raise NotFoundError(
            f"no valid API key has the name {key!r}", hint="`headwater keys list` lists them."
        )
    return found[0].principal.visibility


def to_microseconds(time: datetime | None) -> int | None:
    """Return a time as microseconds since 1970, UTC."""
    return None if time is None else round(time.timestamp() * 1_000_000)


@contextmanager
def _output_stream(output: str | None) -> Iterator[BinaryIO]:
    """Yield standard output, or a file that appears only when it is complete."""
    if output is None:
        stdout = standard_output()
        yield stdout
        stdout.flush()
        return
    part = Path(f"{output}.part")
    try:
        with part.open("wb") as stream:
            yield stream
        os.replace(part, output)
    except OSError as error:
        raise QueryError(f"--output {output}: {error}") from error
    finally:
        part.unlink(missing_ok=True)


def _warn(text: str) -> None:
    print(f"headwater: {text}", file=sys.stderr)


COMMANDS = {"export": export}
