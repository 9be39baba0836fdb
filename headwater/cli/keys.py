"""Commands about who may do what: `keys create`, `keys list`, `keys revoke`, `keys log`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.options import Home, Json, settings_of
from headwater.errors import HeadwaterError

if TYPE_CHECKING:
    from headwater.access.keys import Key
    from headwater.access.store import AccessStore

_WHO = "the command line"
_COLUMNS = ["id", "name", "scopes", "namespaces", "created", "expires", "state"]
_NEVER = "never"


def create(
    name: Annotated[str, typer.Argument(help="What it is called, in lists and in the log.")],
    scope: Annotated[
        list[str], typer.Option(help="ingest, read, steward, cypher or admin; may be given again.")
    ],
    namespace: Annotated[
        list[str] | None,
        typer.Option(
            help="Only namespaces like this, * standing for anything; may be given again.",
            show_default="all",
        ),
    ] = None,
    expires: Annotated[
        str, typer.Option(help="After how long it ends: 12h, 90d, 52w, or never.")
    ] = "365d",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Make a key and print it: it is shown this once, and kept only as a hash."""
    from headwater.access.keys import Keys
    from headwater.access.log import AccessLog
    from headwater.access.principal import scopes_of
    from headwater.cli import render as show
    from headwater.schema.durations import parse_duration
    from headwater.schema.visibility import ALL

    days = (
        None
        if expires == _NEVER
        else parse_duration(expires, name="--expires").total_seconds() / 86_400
    )
    with _store(home) as store:
        secret, key = Keys(store).create(
            name, scopes_of(scope), namespaces=namespace or [ALL], days=days
        )
        AccessLog(store).append(
            _WHO, "keys create", "done", key=key.id, name=name, scopes=scope, namespaces=namespace
        )
    if as_json:
        show.json_of({"key": secret, **_shown(key)})
        return
    print(secret)
    ends = key.expires.date().isoformat() if key.expires else _NEVER
    typer.echo(
        f"Keep it now, it is not shown again. Scopes: {', '.join(key.scopes)}; namespaces: "
        f"{', '.join(key.namespaces)}; ends: {ends}. Send it as `Authorization: Bearer ...`.",
        err=True,
    )


def listed(home: Home = None, as_json: Json = False) -> None:
    """List the keys there ever were: what each is for, and whether it is valid."""
    from headwater.access.keys import Keys
    from headwater.cli import render as show

    with _store(home) as store:
        found = [_shown(key) for key in Keys(store).list()]
    show.rows(_COLUMNS, found, as_json=as_json)


def revoke(
    name: Annotated[str, typer.Argument(help="Its name or its id.")],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """End a key: it is refused from the next request on."""
    from headwater.access.keys import Keys
    from headwater.access.log import AccessLog
    from headwater.cli import render as show

    with _store(home) as store:
        key = Keys(store).revoke(name)
        AccessLog(store).append(_WHO, "keys revoke", "done", key=key.id, name=key.name)
    if as_json:
        show.json_of(_shown(key))
    else:
        print(f"revoked: {key.name} ({key.id})")


def log(
    first: Annotated[int, typer.Option(help="At most so many entries, newest first.")] = 50,
    verify: Annotated[
        bool, typer.Option("--verify", help="Look whether every entry is as it was written.")
    ] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Show the log of access: reads by auditors, refusals, administration. Nothing is ever taken out of it."""
    from headwater.access.log import AccessLog
    from headwater.cli import render as show

    with _store(home) as store:
        log = AccessLog(store)
        if verify:
            _verified(*log.verify(), as_json=as_json)
            return
        found = [asdict(entry) for entry in log.entries(first=first)]
    show.rows(["seq", "at", "principal", "action", "outcome", "detail"], found, as_json=as_json)


def _verified(count: int, broken: int | None, *, as_json: bool) -> None:
    from headwater.cli import render as show

    if as_json:
        show.json_of({"entries": count, "broken": broken})
    elif broken is None:
        print(f"{show.counted(count, 'entry', 'entries')}, each as it was written")
    if broken is not None:
        raise HeadwaterError(f"entry {broken} is not as it was written, or one before it is gone")


def _shown(key: Key) -> dict[str, object]:
    return {**asdict(key), "state": key.state}


@contextmanager
def _store(home: str | None) -> Iterator[AccessStore]:
    from headwater.access.store import AccessStore

    store = AccessStore(settings_of(home).access_path)
    try:
        yield store
    finally:
        store.close()


HELP = "API keys: make one, list them, revoke one, see what was asked and refused."
COMMANDS: dict[str, Callable[..., None]] = {
    "create": create,
    "list": listed,
    "revoke": revoke,
    "log": log,
}
