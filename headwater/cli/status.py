"""Commands about what answers: `status` and `open`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cells import text_of
from headwater.cli.options import Home, Profile, Url, api_address
from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.client.backend import Backend
from headwater.errors import UnavailableError

if TYPE_CHECKING:
    from rich.console import Console

_COLUMNS = ("check", "ok", "found")


@question
def status(backend: Backend) -> Result:
    """Show what answers the questions, its version, and whether it is ready. Exit code 5 means
    that it is not.

    For example: headwater status --profile production"""
    found = backend.status()
    rows = [
        {"check": name, "ok": check["ok"], "found": _finding(check)}
        for name, check in found["checks"].items()
    ]

    def show(out: Console) -> None:
        from headwater.cli.render import escape, print_table

        word = "[bold green]ready[/]" if found["ready"] else "[bold red]not ready[/]"
        out.print(f"{escape(found['at'])}  {word}  [dim]version {escape(found['version'])}[/]")
        print_table(out, _COLUMNS, rows, prose={"found"})

    return Result(
        data=found,
        columns=_COLUMNS,
        rows=rows,
        show=show,
        exit_code=0 if found["ready"] else UnavailableError.exit_code,
    )


def _finding(check: Mapping[str, Any]) -> str:
    """Return the words of a check: its reason and hint, or what it measured."""
    sentences = [str(check[name]) for name in ("reason", "hint") if check.get(name)]
    measured = [
        f"{name} {text_of(value)}"
        for name, value in check.items()
        if name not in ("ok", "reason", "hint")
    ]
    return ". ".join(sentences) or ", ".join(measured)


def open_page(
    url: Url = None,
    profile: Profile = None,
    home: Home = None,
    print_only: Annotated[
        bool, typer.Option("--print", help="Print the address without opening a browser.")
    ] = False,
) -> None:
    """Open the web page of the API in a browser, and print its address.

    For example: headwater open --url https://headwater.example.com"""
    from headwater.client.remote import RemoteBackend

    address = api_address(home, url, profile)
    page = f"{address.url}{RemoteBackend(address).page_path()}"
    print(page)
    if not print_only:
        import webbrowser

        webbrowser.open(page)


COMMANDS = {"status": status, "open": open_page}
