"""The commands `backup`, `backup verify` and `restore`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.options import Home, Json, settings_of
from headwater.cli.panels import PanelGroup
from headwater.cli.up_lock import home_without_servers

if TYPE_CHECKING:
    from headwater.backups.backup import OnProgress
    from headwater.backups.manifest import Manifest

HELP = """Write the events, the keys and the settings into a folder, while Headwater runs.

`headwater backup DIR` is short for `headwater backup create DIR`.

For example: headwater backup /backups/2026-01-31"""


class BackupGroup(PanelGroup):
    """A group of commands in which `backup DIR` is short for `backup create DIR`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the named command; without one it is `create`."""
        named = bool(args) and args[0] in self.commands
        return super().resolve_command(ctx, args if named else ["create", *args])


def create(
    target: Annotated[
        str,
        typer.Argument(metavar="DIR", help="A folder that does not exist yet, or is empty."),
    ],
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace the backup in DIR once the new one is complete."),
    ] = False,
    without_lake: Annotated[
        bool,
        typer.Option(
            "--without-lake",
            help="Leave out the events that were cut from the spool; back up their lake yourself.",
        ),
    ] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Write a backup: the events up to one position, dead letters, keys, access log, secrets,
    policies, settings, and the lake if events were cut.

    Headwater may run; events that arrive meanwhile are not in it. The graph is not in it: it is
    rebuilt from the events. The backup holds secrets, and only its owner can read it. A killed or
    interrupted backup leaves nothing in DIR.

    For example: headwater backup /backups/2026-01-31"""
    from headwater.backups.backup import back_up
    from headwater.cli import render
    from headwater.cli.administration import record

    settings = settings_of(home)
    with steps_bar(quiet=as_json) as on_progress:
        manifest = back_up(
            settings,
            Path(target).expanduser().absolute(),
            overwrite=overwrite,
            without_lake=without_lake,
            on_progress=on_progress,
        )
    record(settings, "backup", path=target, position=manifest.spool.position)
    if as_json:
        render.print_json({"path": target, **_facts(manifest)})
    else:
        _print(target, manifest)


def verify(
    source: Annotated[str, typer.Argument(metavar="DIR", help="The folder of a backup.")],
    as_json: Json = False,
) -> None:
    """Verify a backup: the checksum of each file and of each event.

    Exit code 0: it is whole. 1: something is damaged or missing.

    For example: headwater backup verify /backups/2026-01-31"""
    from headwater.backups.verify import verify
    from headwater.cli import render

    with steps_bar(quiet=as_json) as on_progress:
        manifest, problems = verify(Path(source).expanduser(), on_progress)
    if as_json:
        facts = {"path": source, **_facts(manifest), "problems": problems, "whole": not problems}
        render.print_json(facts)
    else:
        _print(source, manifest)
        for problem in problems:
            print(f"damaged    {problem}")
        if not problems:
            print("whole      every file and every event has its checksum")
    if problems:
        raise typer.Exit(1)


def restore(
    source: Annotated[str, typer.Argument(metavar="DIR", help="The folder of a backup.")],
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Move the files of a home that is not empty into a folder in it."
        ),
    ] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Verify a backup and write it into an empty home; nothing may run in that home.

    Then build the graph from the events with `headwater rebuild`. Senders may send again what they
    sent after the backup: an event that comes twice changes nothing.

    For example: headwater restore /backups/2026-01-31 --home /var/lib/headwater"""
    from headwater.backups.restore import restore
    from headwater.cli import render
    from headwater.cli.administration import record

    settings = settings_of(home)
    with (
        home_without_servers(settings.home_path, "restore"),
        steps_bar(quiet=as_json) as on_progress,
    ):
        done = restore(
            settings, Path(source).expanduser(), replace=replace, on_progress=on_progress
        )
        record(settings, "restore", path=source, position=done.manifest.spool.position)
    command = f"headwater rebuild --erase --home {settings.home_path}"
    if as_json:
        replaced = [str(folder) for folder in done.replaced]
        facts = _facts(done.manifest)
        home_path = str(settings.home_path)
        render.print_json({"home": home_path, "replaced": replaced, "next": command, **facts})
        return
    _print(source, done.manifest)
    print(f"restored   into {settings.home_path}")
    for folder in done.replaced:
        print(f"replaced   the files that were there are in {folder}")
    print(f"settings   {Path(source) / 'settings.json'} lists those of the backup")
    print(f"next       {command}")
    print("           builds the graph of these events; then `headwater up`")


def _facts(manifest: Manifest) -> dict[str, Any]:
    spool = manifest.spool
    return {
        "at": manifest.at,
        "headwater": manifest.headwater,
        "migration": manifest.migration,
        "spool": spool.id,
        "spoolVersion": spool.version,
        "position": spool.position,
        "cut": spool.cut,
        "files": len(manifest.files),
        "bytes": sum(file.bytes for file in manifest.files),
        "graph": manifest.graph,
        "missing": manifest.missing,
    }


def _print(folder: str, manifest: Manifest) -> None:
    from headwater.cli import render

    spool = manifest.spool
    size = sum(file.bytes for file in manifest.files)
    print(f"backup     {folder}, of {manifest.at} by Headwater {manifest.headwater}")
    print(f"events     up to {spool.position:,} of the spool {spool.id}")
    if spool.cut:
        print(f"           of them 1 to {spool.cut:,} in a lake")
    files = render.with_noun(len(manifest.files), "file")
    print(f"files      {files}, {render.with_noun(size, 'byte')}")
    print(f"graph      {manifest.graph}")
    for missing in manifest.missing:
        print(f"missing    {missing}")


@contextmanager
def steps_bar(*, quiet: bool) -> Iterator[OnProgress]:
    """Show progress on standard error, if that is a terminal."""
    from headwater.cli.graph_admin import progress_bar

    with progress_bar(quiet=quiet) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda step, done, total: bar.update(
            task, description=step, completed=done, total=total or None
        )


GROUP: dict[str, Callable[..., None]] = {"create": create, "verify": verify}
COMMANDS = {"restore": restore}
