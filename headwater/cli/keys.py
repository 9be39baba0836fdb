"""Commands about access: `keys create`, `list`, `revoke`, `limit`, `end-sessions` and `log`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.administration import access_store, record
from headwater.cli.options import Home, Json, settings_of
from headwater.errors import HeadwaterError

if TYPE_CHECKING:
    from headwater.access.chain import Verification
    from headwater.access.keys import Key

_COLUMNS = ["id", "name", "scopes", "namespaces", "created", "expires", "state"]
_NEVER = "never"
_LIMITS = ["name", "requests", "events", "concurrency"]


def create(
    name: Annotated[str, typer.Argument(help="Name of the key in lists and in the log.")],
    scope: Annotated[
        list[str], typer.Option(help="ingest, read, steward, cypher or admin; repeatable.")
    ],
    namespace: Annotated[
        list[str] | None,
        typer.Option(
            help="Only namespaces that match; * matches any characters; repeatable.",
            show_default="all",
        ),
    ] = None,
    expires: Annotated[
        str, typer.Option(help="Time until it expires: 12h, 90d, 52w, or never.")
    ] = "365d",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Create a key and print it once; only its hash is stored."""
    from headwater.access.keys import Keys
    from headwater.access.principal import scopes_of
    from headwater.cli import render
    from headwater.schema.durations import parse_duration
    from headwater.schema.visibility import ALL

    days = (
        None
        if expires == _NEVER
        else parse_duration(expires, name="--expires").total_seconds() / 86_400
    )
    settings = settings_of(home)
    with access_store(settings) as store:
        secret, key = Keys(store).create(
            name, scopes_of(scope), namespaces=namespace or [ALL], days=days
        )
    record(settings, "keys create", key=key.id, name=name, scopes=scope, namespaces=namespace)
    if as_json:
        render.print_json({"key": secret, **_shown(key)})
        return
    print(secret)
    ends = key.expires.date().isoformat() if key.expires else _NEVER
    typer.echo(
        f"Store it now; it is not shown again. Scopes: {', '.join(key.scopes)}; namespaces: "
        f"{', '.join(key.namespaces)}; expires: {ends}. Send it as `Authorization: Bearer ...`.",
        err=True,
    )


def list_keys(home: Home = None, as_json: Json = False) -> None:
    """List all keys ever created, with their rights and state."""
    from headwater.access.keys import Keys
    from headwater.cli import render

    with access_store(settings_of(home)) as store:
        found = [_shown(key) for key in Keys(store).list()]
    render.print_rows(_COLUMNS, found, as_json=as_json)


def revoke(
    name: Annotated[str, typer.Argument(help="Name or id of the key.")],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Revoke a key: it is refused from the next request on."""
    from headwater.access.keys import Keys
    from headwater.cli import render

    settings = settings_of(home)
    with access_store(settings) as store:
        key = Keys(store).revoke(name)
    record(settings, "keys revoke", key=key.id, name=key.name)
    if as_json:
        render.print_json(_shown(key))
    else:
        print(f"revoked: {key.name} ({key.id})")


def limit(
    name: Annotated[
        str | None, typer.Argument(help="Name of a key, or of a person who signs in.")
    ] = None,
    requests: Annotated[
        float | None, typer.Option(help="Requests a second.", show_default="no limit")
    ] = None,
    events: Annotated[
        float | None,
        typer.Option(help="Events a second; a batch counts its events.", show_default="no limit"),
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(help="Requests at one time.", show_default="no limit")
    ] = None,
    clear: Annotated[
        bool,
        typer.Option("--clear", help="Remove the limits of NAME; those of the settings count."),
    ] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Limit a caller by its name, or list all limits. Running APIs follow within two seconds.

    The given limits replace all earlier ones of NAME, and 0 is no limit. For example:
    headwater keys limit nightly-ci --events 200 --concurrency 4"""
    from headwater.access.keys import Keys
    from headwater.access.limit_store import Limits, LimitStore
    from headwater.cli import render

    given = [value is not None for value in (requests, events, concurrency)]
    if clear == any(given) and (clear or name is not None):
        raise typer.BadParameter("give --clear, or one of --requests, --events and --concurrency")
    if name is None and (clear or any(given)):
        raise typer.BadParameter("a limit needs the NAME of a caller")
    settings = settings_of(home)
    with access_store(settings) as store:
        limits = LimitStore(store)
        if name is not None and clear:
            limits.remove(name)
        elif name is not None:
            limits.set(name, Limits(requests or 0.0, events or 0.0, concurrency or 0))
            if all(key.name != name for key in Keys(store).list()):
                render.warn(
                    f"no key has the name {name!r}; the limits are for a person of that name"
                )
        found = [{"name": one, **asdict(own)} for one, own in limits.list().items()]
    if name is not None:
        record(
            settings,
            "keys limit",
            name=name,
            clear=clear,
            requests=requests,
            events=events,
            concurrency=concurrency,
        )
    render.print_rows(_LIMITS, found, as_json=as_json)


def end_sessions(home: Home = None) -> None:
    """End every session of the page; their keys stay valid."""
    from headwater.access.secret_file import replace_secret

    settings = settings_of(home)
    replace_secret(settings.session_key_path)
    record(settings, "keys end-sessions")
    print("ended: every session of the page")


def log(
    first: Annotated[int, typer.Option(help="Maximum number of entries, newest first.")] = 50,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check that no entry was changed or removed.")
    ] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Show the access log: reads by auditors, refusals, administration. Entries are never
    removed.
    """
    from headwater.access.log import AccessLog
    from headwater.cli import render

    with access_store(settings_of(home)) as store:
        log = AccessLog(store)
        if verify:
            _print_verification(log.verify(), as_json=as_json)
            return
        found = [asdict(entry) for entry in log.entries(first=first)]
    render.print_rows(
        ["seq", "at", "principal", "action", "outcome", "detail"], found, as_json=as_json
    )


def _print_verification(verified: Verification, *, as_json: bool) -> None:
    from headwater.cli import render

    problem = verified.problem
    if as_json:
        broken = problem.position if problem else None
        render.print_json({"entries": verified.entries, "broken": broken})
    elif problem is None:
        print(f"{render.with_noun(verified.entries, 'entry', 'entries')}, all unchanged")
    if problem is not None:
        raise HeadwaterError(problem.reason)


def _shown(key: Key) -> dict[str, object]:
    return {**asdict(key), "state": key.state}


HELP = "Create, list and revoke API keys, and read the access log."
COMMANDS: dict[str, Callable[..., None]] = {
    "create": create,
    "list": list_keys,
    "revoke": revoke,
    "limit": limit,
    "end-sessions": end_sessions,
    "log": log,
}
