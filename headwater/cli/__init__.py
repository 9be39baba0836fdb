"""The command `headwater`.

Every command that prints data takes `--json`. Exit codes:

| code | meaning |
|---|---|
| 0 | done |
| 1 | something went wrong that is not below |
| 2 | wrong arguments, settings or query |
| 3 | a local server, Java or its jars are not as they should be |
| 4 | events were refused |
| 5 | Neo4j, the API or the disk does not answer now; trying again may help |
| 6 | what was asked for is not in the graph |
| 130 | Ctrl-C |

Heavy imports happen inside the commands, so that `headwater --help` answers at once.
"""

from __future__ import annotations

import sys

import typer

from headwater.cli import aliases as symlinks
from headwater.cli import (
    conformance,
    estate,
    evidence,
    failures,
    gate,
    impact,
    keys,
    pipeline,
    send,
    serve,
)
from headwater.cli import graph_admin as whole
from headwater.cli import query as ask
from headwater.cli import setup_commands as set_up
from headwater.cli.light import load_help
from headwater.errors import HeadwaterError

app = typer.Typer(
    help="Data lineage from source to answer.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog="Exit codes: 0 done, 1 error, 2 wrong arguments, 3 local server or Java, 4 events refused, "
    "5 unavailable, 6 not found.",
)
for room in (
    serve,
    send,
    ask,
    failures,
    estate,
    impact,
    gate,
    evidence,
    whole,
    conformance,
    set_up,
):
    for name, command in room.COMMANDS.items():
        app.command(name)(command)
for group, group_name in ((symlinks, "symlinks"), (keys, "keys"), (pipeline, "pipeline")):
    below = typer.Typer(help=group.HELP, no_args_is_help=True, rich_markup_mode="rich")
    for name, command in group.COMMANDS.items():
        below.command(name)(command)
    app.add_typer(below, name=group_name)


@app.callback(invoke_without_command=True)
def _version(
    version: bool = typer.Option(False, "--version", help="Print the version and end."),
) -> None:
    if version:
        from headwater import __version__

        print(__version__)
        raise typer.Exit


def main() -> None:
    """Run a command; an error is one or two plain lines and an exit code, never a stack trace."""
    if "--help" in sys.argv or len(sys.argv) == 1:
        load_help()
    try:
        app()
    except HeadwaterError as error:
        print(f"headwater: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"  {error.hint}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
