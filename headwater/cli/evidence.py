"""The command `evidence`: write an evidence pack of one node, as JSON and as a page, or verify
one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from headwater.cli.backend.choice import open_backend
from headwater.cli.names import resolve
from headwater.cli.options import Home, Json, Profile, Url, existing
from headwater.cli.times import instant_of
from headwater.errors import HeadwaterError, QueryError

NAME_CHARACTERS_MAX = 60


def evidence(
    node: Annotated[
        str | None,
        typer.Argument(
            help="A name or a urn, for example delays or dataset:file:/data/marts/delays."
        ),
    ] = None,
    out: Annotated[
        str,
        typer.Option(
            help="Folder for both files, or one file that ends in .json or .html.",
            metavar="DIR|FILE",
        ),
    ] = ".",
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
    as_json: Json = False,
) -> None:
    """Write an evidence pack of a node: lineage, runs, code, versions, freshness, violations,
    owners, hash.

    With --verify, exit code 1 means that a pack was changed after it was written; the output lists
    the differences.

    For example: headwater evidence delays --out evidence/
    """
    if (node is None) == (verify is None):
        raise QueryError("expected either a name or urn, or a file with --verify")
    if verify is not None:
        _verify(verify, expected_hash, as_json=as_json)
    elif node is not None:
        instant = instant_of("--at", at) or datetime.now(UTC)
        with open_backend(url, profile, home) as backend:
            urn = resolve(backend, node)
            document = backend.evidence(urn, at=instant, depth=depth)
        _write_pack(urn, document, out, as_json=as_json)


def _write_pack(urn: str, document: dict[str, Any], out: str, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(document, indent=2, sort_keys=True))
        if out == ".":
            return
    for path in _paths(urn, Path(out)):
        _write(path, document)
        if not as_json:
            print(f"written: {path}")
    if not as_json:
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


def _verify(file: str, expected_hash: str, *, as_json: bool) -> None:
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
    if as_json:
        print(json.dumps({"file": file, "verified": not found, "differences": found}))
    else:
        print(f"{file}: " + ("not as it was sealed" if found else "as it was sealed"))
        for one in found:
            print(f"  {one}")
    if found:
        raise typer.Exit(1)


COMMANDS = {"evidence": evidence}
