"""Commands that import lineage: the events of an importer, sent to the API or written to a file.

Every import uses `deliver`. The ids of its runs are stable, so importing twice changes nothing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from headwater.cli.options import OUTPUT, api_address
from headwater.cli.send import batches_of, post_batch, progress_bar
from headwater.errors import EventError, QueryError
from headwater.importers.report import ImportReport
from headwater.schema.headwater_facets import Event

HELP = "Import lineage from sources that send no events."
SHOWN_MAX = 20

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
    lines = (json.dumps(event, ensure_ascii=False).encode("utf-8", "replace") for event in events)
    if delivery.dry_run and delivery.output:
        raise QueryError("--dry-run and --output exclude each other", hint="Give one of them.")
    if delivery.dry_run:
        delivered = _write_to(sys.stdout.buffer, lines)
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
    read = ", ".join(f"{number:,} {noun}" for noun, number in report.counts.items() if number)
    print(f"read: {read or 'nothing'}", file=out)
    refused = f", {len(delivered.refused):,} refused" if is_sent else ""
    print(f"{with_noun(delivered.events, 'event')} {word}{refused}", file=out)
    for one in delivered.refused[:SHOWN_MAX]:
        print(f"  event {one['event']}: {one['reason']}", file=sys.stderr)
    if report.problems:
        print(f"{len(report.problems):,} passed over:", file=sys.stderr)
    for problem in report.problems[:SHOWN_MAX]:
        print(f"  {problem.place}: {problem.reason}", file=sys.stderr)
    if len(report.problems) > SHOWN_MAX:
        print("  ... --json lists all of them", file=sys.stderr)


COMMANDS: dict[str, Callable[..., None]] = {}
