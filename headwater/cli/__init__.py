"""The command `headwater`.

Every question takes `--url`, `--profile` or `--home`, and `--format` and `--output`. Exit codes:

| code | meaning |
|---|---|
| 0 | done |
| 1 | an error that is not listed below |
| 2 | wrong arguments, settings or query |
| 3 | a problem with a local server, Java or its jars |
| 4 | events were refused |
| 5 | Neo4j, the API or the disk does not answer now; a retry may help |
| 6 | the requested node is not in the graph |
| 7 | several nodes have the given name |
| 130 | Ctrl-C |

Heavy imports happen inside the commands, so that `headwater --help` answers at once.
"""

from __future__ import annotations

import sys

import typer

from headwater.cells import without_controls
from headwater.cli import (
    alerts,
    aliases,
    approvals,
    audit,
    backups,
    checks,
    conformance,
    contract,
    dead_letters,
    detect,
    estate,
    evidence,
    export,
    failures,
    figures,
    findings,
    forget,
    game_day,
    gate,
    graph_admin,
    impact,
    imports,
    inventory,
    keys,
    lists,
    mcp,
    model,
    models,
    personal_data,
    pipeline,
    policy,
    query,
    run,
    scenario,
    send,
    serve,
    service_levels,
    setup_commands,
    snapshot,
    spool,
    status,
    tile,
    token,
    traces,
    watch,
)
from headwater.cli.panels import PanelCommand, PanelGroup
from headwater.errors import HeadwaterError

app = typer.Typer(
    cls=PanelGroup,
    help="Data lineage from source to answer.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain help: importing rich's help and its lexers took a third of the time of `headwater
    # --help`.
    rich_markup_mode=None,
    context_settings={"max_content_width": 110},
    epilog="Exit codes: 0 done, 1 error, 2 wrong arguments, 3 local server or Java, 4 events "
    "refused, 5 unavailable, 6 not found, 7 several nodes of one name.",
)
for panel, modules in (
    (
        "Ask",
        (
            query,
            lists,
            findings,
            models,
            failures,
            checks,
            estate,
            figures,
            service_levels,
            impact,
            evidence,
            conformance,
            traces,
            personal_data,
        ),
    ),
    ("Run", (serve, detect, status, watch, mcp, setup_commands, scenario, game_day)),
    ("Send and check", (send, gate, approvals)),
    ("Maintain", (export, graph_admin, backups, forget, snapshot, tile)),
):
    for commands in modules:
        for name, command in commands.COMMANDS.items():
            app.command(name, cls=PanelCommand, rich_help_panel=panel)(command)
for group, group_name, panel in (
    (aliases, "aliases", "Ask"),
    (model, "model", "Ask"),
    (run, "run", "Ask"),
    (contract, "contract", "Send and check"),
    (imports, "import", "Send and check"),
    (inventory, "inventory", "Send and check"),
    (policy, "policy", "Send and check"),
    (alerts, "alerts", "Maintain"),
    (audit, "audit", "Maintain"),
    (dead_letters, "dead-letters", "Maintain"),
    (spool, "spool", "Maintain"),
    (keys, "keys", "Maintain"),
    (token, "token", "Maintain"),
    (pipeline, "pipeline", "Maintain"),
):
    subcommands = typer.Typer(
        cls=PanelGroup, help=group.HELP, no_args_is_help=True, rich_markup_mode=None
    )
    for name, command in group.COMMANDS.items():
        subcommands.command(name, cls=PanelCommand)(command)
    app.add_typer(subcommands, name=group_name, rich_help_panel=panel)

_backup = typer.Typer(
    cls=backups.BackupGroup,
    help=backups.HELP,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"ignore_unknown_options": True},
)
for name, command in backups.GROUP.items():
    _backup.command(name, cls=PanelCommand)(command)
app.add_typer(_backup, name="backup", rich_help_panel="Maintain")


@app.callback(invoke_without_command=True)
def _version(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        from headwater import __version__

        print(__version__)
        raise typer.Exit


def main() -> None:
    """Run a command; print an error as one or two plain lines with an exit code, never a stack
    trace.
    """
    try:
        app()
    except HeadwaterError as error:
        print(without_controls(f"headwater: {error.message}"), file=sys.stderr)
        if error.hint:
            print(without_controls(f"  {error.hint}"), file=sys.stderr)
        sys.exit(error.exit_code)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        message = without_controls(f"headwater: {where}{error.strerror or error}")
        print(message, file=sys.stderr)
        print("  Check that the file or folder exists, is writable and has room.", file=sys.stderr)
        sys.exit(HeadwaterError.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
