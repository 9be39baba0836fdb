"""The option `rebuild --remove-data`: damaged data of the local Neo4j is moved away."""

from __future__ import annotations

import json
import sys
from contextlib import closing

import typer

from headwater.cli.render import with_noun
from headwater.client.address import is_up
from headwater.errors import HomeInUseError
from headwater.ingest.spool.spool import Spool
from headwater.local.neo4j import LocalNeo4j
from headwater.settings import Settings


def remove_damaged_data(settings: Settings, *, yes: bool, as_json: bool) -> bool:
    """Move the data of the home's Neo4j away.

    Return False if a running `up` builds the graph again, and True if the caller must build it.
    Raises ServerError if Neo4j runs.
    """
    home, runs_up = settings.home_path, is_up(settings.home_path)
    with closing(Spool(settings.spool_path, bytes_max=settings.spool_bytes_max)) as spool:
        events, (cut, lake) = spool.last(), spool.cut_events()
    counted = with_noun(events, "event")
    if cut and runs_up:
        raise HomeInUseError(
            f"events 1 to {cut} are in the lake {lake}, and `headwater up` does not read it",
            hint="End `headwater up`, and run this command again.",
        )
    if sys.stdin.isatty() and not yes:
        typer.confirm(
            f"Move the graph's data in {home} away, and build the graph from {counted}?",
            abort=True,
            err=True,
        )
    moved = LocalNeo4j(home).move_data()
    text = f"the damaged data is in {moved}; remove that folder when the graph is complete"
    print(text, file=sys.stderr if as_json else sys.stdout)
    if not runs_up:
        return True
    if as_json:
        print(json.dumps({"moved": str(moved), "events": events}))
    else:
        print(f"`headwater up` builds the graph from {counted} now")
    return False
