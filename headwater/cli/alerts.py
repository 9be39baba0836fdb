"""Commands about alerts: `alerts list`, `dead`, `retry`, `test` and `figures`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from datetime import datetime
from typing import Annotated, Any

import typer

from headwater.cli.options import Home, Json, graph, settings_of
from headwater.errors import UnavailableError

HELP = "List the alerts that were sent, and messages that were given up; send a test."
_COLUMNS = ("status", "tier", "at", "title", "receivers")
_DEAD_COLUMNS = ("receiver", "createdAt", "tier", "status", "title", "error")


def list_alerts(
    home: Home = None,
    firing: Annotated[bool, typer.Option("--firing", help="Only those that fire.")] = False,
    as_json: Json = False,
) -> None:
    """List the alerts that fire, and those of the last 30 days.

    For example: headwater alerts list --firing --json"""
    from headwater.cli import render
    from headwater.health.alerts.listing import sent_alerts
    from headwater.lineage.view import GraphView

    with closing(graph(home)) as database:
        found = sent_alerts(GraphView(database), resolved=not firing)
    if as_json:
        data = [
            {
                "dedupKey": one.dedup_key,
                "status": one.status,
                "tier": one.tier,
                "title": one.title,
                "at": one.at.isoformat(),
                "deliveries": dict(one.deliveries),
            }
            for one in found
        ]
        render.print_json({"alerts": data})
        return
    rows = [
        {
            "status": one.status,
            "tier": one.tier,
            "at": render.second_of(one.at.isoformat()),
            "title": one.title,
            "receivers": ", ".join(f"{name} {state}" for name, state in one.deliveries.items()),
        }
        for one in found
    ]
    render.print_table(render.console(), _COLUMNS, rows)


def dead(home: Home = None, as_json: Json = False) -> None:
    """List the messages that were given up, with the reason.

    For example: headwater alerts dead"""
    from headwater.cli import render
    from headwater.health.alerts.listing import dead_letters
    from headwater.lineage.view import GraphView

    with closing(graph(home)) as database:
        found = dead_letters(GraphView(database))
    rows = [_iso(one) for one in found]
    if as_json:
        render.print_json({"deadLetters": rows})
        return
    render.print_table(render.console(), _DEAD_COLUMNS, rows)


def _iso(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with its instants as text."""
    return {
        key: value.isoformat() if isinstance(value, datetime) else value
        for key, value in row.items()
    }


def retry(
    receiver: Annotated[
        str, typer.Argument(help="Only messages to this receiver.", show_default="all")
    ] = "",
    home: Home = None,
) -> None:
    """Queue the messages again that were given up. `headwater detect` sends them.

    For example: headwater alerts retry on-call"""
    from headwater.cli import render
    from headwater.health.alerts import listing

    with closing(graph(home)) as database:
        count = listing.retry(database, receiver)
    print(f"{render.with_noun(count, 'message')} queued again")


def send_trial_alert(
    receiver: Annotated[str, typer.Argument(help="The name of the receiver.")],
    home: Home = None,
) -> None:
    """Send a marked test alert to a receiver, and then that it is resolved.

    For example: headwater alerts test on-call"""
    from headwater.health.alerts.receivers import find_receiver, load_receivers
    from headwater.health.alerts.trial import send_trial

    settings = settings_of(home)
    found = find_receiver(load_receivers(settings), receiver)
    attempt = send_trial(found, settings.public_url)
    if not attempt.is_delivered:
        raise UnavailableError(f"{receiver}: {attempt.error}")
    print(f"{receiver}: the test arrived")


def figures(
    home: Home = None,
    days: Annotated[int, typer.Option(help="Number of past days.", min=1, max=30)] = 30,
    as_json: Json = False,
) -> None:
    """Show how many alerts there are a day, how many were acted upon, and how many flapped.

    For example: headwater alerts figures --days 7"""
    from headwater.cli import render
    from headwater.health.alerts import listing
    from headwater.lineage.view import GraphView

    with closing(graph(home)) as database:
        found = listing.figures(GraphView(database), days)
    if as_json:
        render.print_json(
            {
                "days": found.days,
                "fired": found.fired,
                "perDay": found.per_day,
                "byDay": {day.isoformat(): count for day, count in found.by_day.items()},
                "byTier": dict(found.by_tier),
                "resolved": found.resolved,
                "actedUpon": found.acted_upon,
                "actedUponShare": found.acted_upon_share,
                "flapping": found.flapping,
            }
        )
        return
    fired, span = render.with_noun(found.fired, "alert"), render.with_noun(days, "day")
    print(f"{fired} in {span}, {found.per_day:,.1f} a day")
    print(f"{found.resolved:,} resolved, {render.percent(found.acted_upon_share)} by an action")
    print(f"{found.flapping:,} fired again within an hour")


COMMANDS = {
    "list": list_alerts,
    "dead": dead,
    "retry": retry,
    "test": send_trial_alert,
    "figures": figures,
}
