"""The command `evidence`: write an evidence pack of one node, as JSON and as a page, or verify
one.

`--format` and `--output` print the entries of the pack as those of every other command are; JSON is
the whole pack with its digest, which `--verify` takes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cells import text_of
from headwater.cli.backend.choice import open_backend
from headwater.cli.options import OUTPUT, Home, Json, Profile, Url, existing
from headwater.cli.question import Output, chosen_format
from headwater.cli.result import Format, Result, write
from headwater.client.names import resolve
from headwater.client.times import instant_of
from headwater.errors import HeadwaterError, QueryError

if TYPE_CHECKING:
    from rich.console import Console

NAME_CHARACTERS_MAX = 60
_COLUMNS = ("section", "urn", "at", "detail")
# The first of these keys that an entry has is the node, and the time, that it is about.
_URN_KEYS = ("urn", "dataset", "job", "source")
_TIME_KEYS = ("at", "reportedAt", "startedAt", "createdAt", "capturedAt", "updatedAt")


def evidence(
    node: Annotated[
        str | None,
        typer.Argument(
            help="A name or a urn, for example delays or dataset:file:/data/marts/delays."
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            help="Folder for both files, or one file that ends in .json or .html.",
            show_default="., without --format and --output",
            metavar="DIR|FILE",
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(help="Instant of the pack: 2h, yesterday, ISO 8601.", show_default="now"),
    ] = None,
    depth: Annotated[
        int, typer.Option(help="Number of jobs or runs to cross in each direction.")
    ] = 10,
    verify: Annotated[
        str | None, typer.Option(help="Verify this pack instead, JSON or HTML.", metavar="FILE")
    ] = None,
    expected_hash: Annotated[
        str,
        typer.Option("--hash", help="With --verify: the hash recorded when the pack was written."),
    ] = "",
    url: Url = None,
    profile: Profile = None,
    home: Home = None,
    format: Annotated[
        Format | None,
        typer.Option(
            help="Print the pack in this format: json with its digest, else one row an entry.",
            rich_help_panel=OUTPUT,
            case_sensitive=False,
        ),
    ] = None,
    output: Output = None,
    as_json: Json = False,
) -> None:
    """Write an evidence pack of a node: lineage, runs, code, versions, freshness, violations,
    owners, hash.

    With --verify, exit code 1 means that a pack was changed after it was written; the output lists
    the differences.

    For example: headwater evidence delays --out evidence/, or
    headwater evidence delays --format csv --output delays.csv
    """
    if (node is None) == (verify is None):
        raise QueryError(
            "expected either a name or urn, or a file with --verify",
            hint="For example: headwater evidence delays, "
            "or headwater evidence --verify evidence.json",
        )
    chosen = chosen_format(format, as_json=as_json)
    if verify is not None:
        result = _verified(verify, expected_hash)
        write(result, chosen, output)
        if result.exit_code:
            raise typer.Exit(result.exit_code)
    elif node is not None:
        instant = instant_of("--at", at) or datetime.now(UTC)
        with open_backend(url, profile, home) as backend:
            urn = resolve(backend, node)
            document = backend.evidence(urn, at=instant, depth=depth)
        prints = bool(format or output or as_json)
        if prints:
            write(_pack_result(document), chosen, output)
        if out or not prints:
            _write_pack(urn, document, Path(out or "."), is_silent=prints)


def _pack_result(document: dict[str, Any]) -> Result:
    """Return a pack as the answer of a command: each entry is a row."""
    from headwater.evidence.entries import entries

    found = entries(document["pack"])
    # The file that --verify takes has sorted keys, as the sealed file has.
    data = json.loads(json.dumps(document, sort_keys=True))
    return Result(data, _COLUMNS, [_row(entry) for entry in found], records=found)


def _row(entry: dict[str, Any]) -> dict[str, Any]:
    urn = next((key for key in _URN_KEYS if entry.get(key)), "")
    time = next((key for key in _TIME_KEYS if entry.get(key)), "")
    details = [
        f"{key}: {text}"
        for key, value in entry.items()
        if key not in {"section", urn, time} and (text := text_of(value))
    ]
    return {
        "section": entry["section"],
        "urn": entry.get(urn),
        "at": entry.get(time),
        "detail": "; ".join(details),
    }


def _write_pack(urn: str, document: dict[str, Any], out: Path, *, is_silent: bool) -> None:
    paths = _paths(urn, out)
    for path in paths:
        _write(path, document)
    if not is_silent:
        for path in paths:
            print(f"written: {path}")
        print(f"{document['digest']['algorithm']} {document['digest']['hash']}")


def _paths(urn: str, out: Path) -> list[Path]:
    if out.suffix in {".json", ".html"}:
        return [out]
    readable = re.sub(r"[^A-Za-z0-9]+", "-", urn).strip("-")[:NAME_CHARACTERS_MAX]
    name = f"evidence-{readable}-{hashlib.sha256(urn.encode()).hexdigest()[:8]}"
    return [out / f"{name}.json", out / f"{name}.html"]


def _write(path: Path, document: dict[str, Any]) -> None:
    """Write a file completely or not at all. Raise HeadwaterError if the folder is not writable."""
    from headwater.evidence.page import render_page

    text = (
        render_page(document)
        if path.suffix == ".html"
        else json.dumps(document, indent=2, sort_keys=True) + "\n"
    )
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text, encoding="utf-8", newline="\n")
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise HeadwaterError(f"{path} cannot be written: {error.strerror}") from error


def _verified(file: str, expected_hash: str) -> Result:
    """Return what differs between a pack on disk and its digest."""
    from headwater.evidence.digest import differences, parse_document
    from headwater.evidence.page import page_differences

    path = existing(file)
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise QueryError(f"{file} cannot be read: {error}") from error
    is_page = text.lstrip().startswith("<")
    found = (
        page_differences(text, expected_hash=expected_hash)
        if is_page
        else differences(parse_document(text), expected_hash=expected_hash)
    )
    data = {"file": file, "verified": not found, "differences": found}
    return Result(
        data,
        ("file", "difference"),
        [{"file": file, "difference": one} for one in found],
        records=[data],
        show=partial(_show_verified, file=file, found=found),
        exit_code=1 if found else 0,
    )


def _show_verified(out: Console, *, file: str, found: list[str]) -> None:
    from headwater.cli.render import escape

    out.print(escape(f"{file}: " + ("not as it was sealed" if found else "as it was sealed")))
    for one in found:
        out.print(f"  {escape(one)}")


COMMANDS = {"evidence": evidence}
