"""The command `export`: the graph or a part of it, in the format of another tool."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from headwater.cli.graph_admin import progress_bar
from headwater.cli.options import Home, graph, settings_of
from headwater.client.times import instant_of
from headwater.errors import NotFoundError, QueryError

if TYPE_CHECKING:
    from headwater.cypher.driver.database import Database
    from headwater.exports.openlineage import TimeRange
    from headwater.exports.part import Part
    from headwater.schema.visibility import Visibility

STDOUT = "-"
DEPTH = 10
FORMAT, PART = "Format", "Part"


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
    canonical: Annotated[
        bool,
        typer.Option(
            "--canonical",
            help=(
                "Print only facts from events: two graphs are equal if and only if these "
                "outputs are."
            ),
            rich_help_panel=FORMAT,
        ),
    ] = False,
    openlineage: Annotated[
        bool,
        typer.Option(
            "--openlineage",
            help="Print OpenLineage events, from the stored ones.",
            rich_help_panel=FORMAT,
        ),
    ] = False,
    urn: Annotated[
        list[str] | None,
        typer.Option(
            help="Only the lineage of this dataset or job; may be repeated.",
            metavar="URN",
            rich_help_panel=PART,
        ),
    ] = None,
    depth: Annotated[
        int, typer.Option(help="The number of hops from --urn.", rich_help_panel=PART)
    ] = DEPTH,
    direction: Annotated[
        str, typer.Option(help="upstream, downstream or both, from --urn.", rich_help_panel=PART)
    ] = "both",
    namespace: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this namespace, and the jobs and datasets next to it; * matches anything; "
            "may be repeated.",
            metavar="NS",
            rich_help_panel=PART,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            help="Only events of this time or later: 2h, 7d, 2026-01-01.", rich_help_panel=PART
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Only events before this time.", rich_help_panel=PART)
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            help="Only what the API key of this name may see.",
            metavar="NAME",
            rich_help_panel=PART,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="Write to this file; - is stdout.",
            show_default="stdout",
            metavar="FILE",
        ),
    ] = None,
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
    if canonical and openlineage:
        raise QueryError("--canonical and --openlineage exclude each other")
    with closing(graph(home)) as database:
        if openlineage:
            _export_openlineage(database, home, selection, target)
            return
        if selection != _Selection():
            raise QueryError(
                "a part of the graph needs a format", hint="Give --openlineage, for example."
            )
        _export_rows(database, target, canonical=canonical)


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
            line = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
            out.write(line.encode("utf-8", "replace") + b"\n")
            bar.update(task, completed=counts.read)
    if counts.cut:
        _warn(
            f"{with_noun(counts.cut, 'event')} of the beginning were cut from the spool and are "
            f"not exported"
        )
    if counts.malformed:
        _warn(f"{with_noun(counts.malformed, 'event')} that cannot be read were left out")
    if target is not None:
        print(f"{with_noun(counts.written, 'event')} written to {target}")


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
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
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
