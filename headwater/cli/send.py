"""The command that sends events: `ingest`."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.backoff import Backoff
from headwater.cli.options import Home, Json, Profile, Url, api_address, existing
from headwater.client.address import Address
from headwater.errors import EventError, UnauthorizedError, UnavailableError
from headwater.schema.stored_json import decode, encode

if TYPE_CHECKING:
    from rich.progress import Progress

BATCH_EVENTS_MAX = 1_000
BATCH_BYTES_MAX = 8 * 2**20
TRIES = 8
BACKOFF = Backoff(first_seconds=0.25, max_seconds=5.0)
SHOWN_MAX = 20


def ingest(
    files: Annotated[
        list[str],
        typer.Argument(
            help="Files of OpenLineage JSON, JSON arrays or JSON lines, gz too; - is stdin."
        ),
    ],
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
    as_json: Json = False,
) -> None:
    """Send OpenLineage events from files. Exit code 4 means that some were refused; the others are
    in.
    """
    from headwater.cli import render

    address = api_address(home, url, profile)
    accepted = 0
    refused: list[dict[str, Any]] = []
    with progress_bar(as_json) as bar:
        task = bar.add_task("sending", total=None)
        for file in files:
            for number, lines in _batches(file):
                result = post_batch(address, lines)
                accepted += result["summary"]["successful"]
                refused += [
                    {"file": file, "event": number + one["index"], **one}
                    for one in result["failed_events"]
                ]
                bar.update(task, advance=len(lines), description=f"sending {file}")
    if as_json:
        print(json.dumps({"accepted": accepted, "refused": refused}))
    else:
        print(f"{render.with_noun(accepted, 'event')} accepted, {len(refused):,} refused")
        for failed in refused[:SHOWN_MAX]:
            print(
                f"  {failed['file']}, event {failed['event'] + 1}: {failed['reason']}",
                file=sys.stderr,
            )
    if refused:
        raise typer.Exit(EventError.exit_code)


def _batches(file: str) -> Iterator[tuple[int, list[bytes]]]:
    """Yield batches of a file, as `batches_of` does."""
    with open_unpacked(file) as stream:
        yield from batches_of(_events(stream))


def batches_of(events: Iterable[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield batches within the limits of a request: the number of the first event, and the events.

    Each event is JSON on one line.
    """
    batch: list[bytes] = []
    size, first = 0, 0
    for number, event in enumerate(events, 1):
        batch.append(event)
        size += len(event)
        if len(batch) >= BATCH_EVENTS_MAX or size >= BATCH_BYTES_MAX:
            yield first, batch
            batch, size, first = [], 0, number
    if batch:
        yield first, batch


def _events(stream: io.BufferedIOBase) -> Iterator[bytes]:
    """Yield single events, each on one line: from JSON lines one by one, from an array or object at
    once.
    """
    first = stream.readline()
    while first and not first.strip():
        first = stream.readline()
    try:
        alone = isinstance(decode(first), dict)
    except EventError:
        alone = False
    if alone:
        yield first.strip()
        yield from (line.strip() for line in stream if line.strip())
        return
    rest = first + stream.read()
    try:
        parsed = decode(rest)
    except EventError:
        # Not JSON as a whole: perhaps one broken line among good ones; the server names it.
        yield from (line.strip() for line in rest.splitlines() if line.strip())
        return
    for event in parsed if isinstance(parsed, list) else [parsed]:
        yield encode(event)


@contextmanager
def open_unpacked(file: str) -> Iterator[io.BufferedIOBase]:
    """Open a file or stdin, and unpack gzip whatever the file's name."""
    source = sys.stdin.fileno() if file == "-" else existing(file)
    with open(source, "rb", closefd=file != "-") as stream:
        if stream.peek(2)[:2] != b"\x1f\x8b":
            yield stream
            return
        with gzip.GzipFile(fileobj=stream) as unpacked:
            yield unpacked


def post_batch(address: Address, lines: list[bytes]) -> dict[str, Any]:
    """Send one batch, and retry while the API is down or full.

    Raises UnavailableError, UnauthorizedError, or EventError for a refused batch.
    """
    from headwater.client.address import API_KEY
    from headwater.transport import HttpSender, bearer_headers

    url = address.url
    sender = HttpSender(timeout_seconds=60, pauses=BACKOFF.pauses(TRIES - 1))
    headers = bearer_headers(address.api_key, "application/x-ndjson")
    headers["Content-Encoding"] = "gzip"
    packed = gzip.compress(b"\n".join(lines), 1)
    try:
        response = sender.post(f"{url}/api/v1/lineage/batch", packed, headers)
    except UnavailableError as error:
        raise _unavailable(url, error.message) from error
    if response.status in (401, 403):
        raise UnauthorizedError(
            f"{url} answered {response.status}: {response.text()}", hint=f"Set {API_KEY}."
        )
    if response.status == 503:
        raise _unavailable(url, response.text(200))
    if not response.is_success:
        raise EventError(f"{url} answered {response.status}: {response.text()}")
    return dict(json.loads(response.body))


def _unavailable(url: str, reason: str) -> UnavailableError:
    return UnavailableError(
        f"{url} does not accept events: {reason}",
        hint="Start it with `headwater up`, or name another address with --url.",
    )


def progress_bar(quiet: bool) -> Progress:
    """Return a bar on standard error; it is hidden if `quiet`, or if that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(
        *columns, console=Console(stderr=True), disable=quiet or not sys.stderr.isatty()
    )


COMMANDS = {"ingest": ingest}
