"""Commands about the access log: `audit export`, `head`, `verify` and `public-key`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from headwater.cli.administration import access_store, record
from headwater.cli.options import Home, Json, existing, settings_of
from headwater.cli.output.standard_output import standard_output
from headwater.errors import HeadwaterError, QueryError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from headwater.access.chain import Verification
    from headwater.access.signed_head import SignedHead
    from headwater.settings import Settings

HELP = "Export the access log, sign its head, and prove that no entry was changed or removed."
_STDOUT = "-"


def export(
    file: Annotated[str, typer.Argument(help="The file to write; - is the standard output.")],
    since: Annotated[
        str | None, typer.Option(help="Only entries of this time or later: 2h, 7d, 2026-01-01.")
    ] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Write the access log as JSON lines for a SIEM, one entry a line, the oldest first.

    The fields have the names of the Elastic Common Schema. The export is itself an entry of the
    log. A file that exists is replaced.

    For example: headwater audit export audit.jsonl --since 30d"""
    from headwater.access.audit_export import export_line
    from headwater.access.log import AccessLog
    from headwater.cli import render
    from headwater.cli.export import to_microseconds
    from headwater.client.times import instant_of

    settings = settings_of(home)
    instant = instant_of("--since", since)
    record(settings, "audit export", file=file, since=since)
    count, first = 0, 1
    with access_store(settings) as store, _output(file) as stream:
        for link in AccessLog(store).links(since=to_microseconds(instant) or 0):
            try:
                line = export_line(link)
            except ValueError as error:
                raise HeadwaterError(
                    f"entry {link.seq} cannot be exported: its detail is no JSON",
                    hint="Run `headwater audit verify`.",
                ) from error
            stream.write(f"{line}\n".encode())
            count, first = count + 1, link.seq if not count else first
    if as_json and file != _STDOUT:
        render.print_json({"file": file, "entries": count, "first": first})
        return
    part = f" --first {first}" if first > 1 else ""
    print(
        f"{render.with_noun(count, 'entry', 'entries')} in {file}; "
        f"`headwater audit verify {file}{part}` checks it",
        file=sys.stderr if file == _STDOUT else sys.stdout,
    )


def head(home: Home = None) -> None:
    """Print a signed head: the number of entries, the hash of the newest, the time, a signature.

    Store it where nobody on this machine can change it. Later, `audit verify --head` finds any
    change to the entries that the log had then, also if somebody computed the whole chain again.

    For example: headwater audit head > head-2026-11-24.json"""
    import msgspec

    from headwater.access.log import AccessLog
    from headwater.access.signed_head import load_signing_key, sign_head

    settings = settings_of(home)
    key = load_signing_key(settings.audit_key_path)
    with access_store(settings) as store:
        print(msgspec.json.encode(sign_head(*AccessLog(store).head(), key)).decode())


def public_key(home: Home = None) -> None:
    """Print the public key that verifies the heads of this installation, as PEM.

    For example: headwater audit public-key > audit.pub"""
    from headwater.access.signed_head import load_signing_key, public_pem

    key = load_signing_key(settings_of(home).audit_key_path)
    print(public_pem(key.public_key()), end="")


def verify(
    file: Annotated[
        str | None, typer.Argument(help="An export.", show_default="the log of the home")
    ] = None,
    heads: Annotated[
        list[str] | None,
        typer.Option("--head", help="A file with a signed head; repeatable.", metavar="FILE"),
    ] = None,
    public_key_file: Annotated[
        str | None,
        typer.Option(
            "--public-key",
            help="A file with the public key of the heads.",
            show_default="the key of the home",
            metavar="FILE",
        ),
    ] = None,
    first: Annotated[
        int, typer.Option(help="Number of the first entry of an export that begins later.", min=1)
    ] = 1,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Verify the access log, or an export of it: find a change, a gap, a swap or a cut end.

    Without a head, neither a cut end nor a chain that was computed again can be found. Exit code 0:
    all entries are as they were written. 1: they are not, or a file has none; the first problem is
    printed.

    For example: headwater audit verify audit.jsonl --head head.json --public-key audit.pub"""
    from headwater.access.audit_export import LINE_BYTES_MAX, read_export
    from headwater.access.chain import verify_chain
    from headwater.access.log import AccessLog
    from headwater.access.signed_head import read_head

    settings = settings_of(home)
    known: list[SignedHead] = []
    if heads:
        key = _public_key(settings, public_key_file)
        known = [read_head(existing(each), key) for each in heads]
    if file is not None:
        with existing(file).open("rb") as lines:
            links = read_export(iter(lambda: lines.readline(LINE_BYTES_MAX), b""))
            verified = verify_chain(links, first=first, heads=known)
        if not verified.entries and not verified.problem:
            raise HeadwaterError(f"{file} has no entries", hint="Export the access log again.")
    elif first > 1:
        raise QueryError("--first is for an export", hint="Name its file.")
    else:
        if not settings.access_path.is_file():
            raise HeadwaterError(f"there is no {settings.access_path}", hint="Check --home.")
        with access_store(settings) as store:
            verified = AccessLog(store).verify(known)
    _report(verified, known, as_json=as_json)


def _public_key(settings: Settings, file: str | None) -> Ed25519PublicKey:
    from headwater.access.signed_head import load_signing_key, read_public_key

    if file is not None:
        return read_public_key(existing(file))
    if not settings.audit_key_path.is_file():
        raise QueryError(
            f"{settings.audit_key_path} does not exist, so no head can be verified",
            hint="Give the public key of the installation with --public-key FILE.",
        )
    return load_signing_key(settings.audit_key_path).public_key()


def _report(verified: Verification, heads: list[SignedHead], *, as_json: bool) -> None:
    from headwater.cli import render

    problem = verified.problem
    if as_json:
        found = {
            "entries": verified.entries,
            "first": verified.first,
            "last": verified.last,
            "heads": len(heads),
            "problem": problem and {"position": problem.position, "reason": problem.reason},
        }
        render.print_json(found)
        if problem:
            raise typer.Exit(1)
        return
    if problem:
        raise HeadwaterError(problem.reason)
    agrees = f", in agreement with {render.with_noun(len(heads), 'head')}" if heads else ""
    print(f"{render.with_noun(verified.entries, 'entry', 'entries')}, all unchanged{agrees}")


@contextmanager
def _output(file: str) -> Iterator[IO[bytes]]:
    """Open a private file that takes its name when it is complete, or the standard output."""
    if file == _STDOUT:
        stdout = standard_output()
        yield stdout
        stdout.flush()
        return
    path = Path(file)
    partial = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
    finally:
        with suppress(FileNotFoundError):
            partial.unlink()


COMMANDS: dict[str, Callable[..., None]] = {
    "export": export,
    "head": head,
    "verify": verify,
    "public-key": public_key,
}
