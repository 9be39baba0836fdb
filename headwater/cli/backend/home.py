"""The settings of a command, and the graph that they or a home hold."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any

import msgspec

from headwater.client.address import API_FILE, is_up, nothing_runs
from headwater.errors import HeadwaterError
from headwater.settings import Settings, load

Check = dict[str, Any]

if TYPE_CHECKING:
    from headwater.cypher.driver.database import Database


def settings_of(home: str | None = None, **overrides: object) -> Settings:
    """Return the settings of the environment and of the given options."""
    return load(os.environ, home=home, **overrides)


def has_neo4j_password(settings: Settings) -> bool:
    """Return True if the settings have the password of a Neo4j."""
    return bool(settings.neo4j_password or settings.neo4j_password_file)


def names_neo4j(settings: Settings) -> bool:
    """Return True if the settings name a Neo4j other than that of the home."""
    return has_neo4j_password(settings) or settings.neo4j_uri != Settings().neo4j_uri


def with_local_neo4j(settings: Settings) -> Settings:
    """Return the settings; without a set password, use the Neo4j that runs in the home, if any."""
    if has_neo4j_password(settings):
        return settings
    return _of_running_neo4j(settings) or settings


def graph(home: str | None) -> Database:
    """Return the graph that the settings name, or else the one that runs in the home.

    With `--home`, only the one in that home. Raises UnavailableError if none runs there.
    """
    return connect(graph_settings(home))


def graph_settings(home: str | None) -> Settings:
    """Return the settings with the address and the password of that graph.

    Raises UnavailableError if none runs in the home.
    """
    settings = settings_of(home)
    if home is None and names_neo4j(settings):
        return settings
    running = _of_running_neo4j(settings)
    if running is None:
        raise nothing_runs(settings.home_path)
    return running


def _of_running_neo4j(settings: Settings) -> Settings | None:
    """Return the settings of the Neo4j that runs in the home; None if none runs."""
    from headwater.local.neo4j import LocalNeo4j

    local = LocalNeo4j(settings.home_path)
    status = local.status()
    if not status.running:
        return None
    return msgspec.structs.replace(
        settings,
        neo4j_uri=status.uri,
        neo4j_user="neo4j",
        neo4j_password=local.home.password() or "",
        neo4j_password_file="",
    )


def connect(settings: Settings) -> Database:
    """Return the graph that the settings name; it connects with the first query.

    Neo4j may have to plan each question of a command first, so it may take longer.
    """
    from headwater.cypher.driver.database import Database
    from headwater.cypher.driver.warmup import PLANNING_SECONDS_MAX

    return Database(
        settings.neo4j_uri,
        settings.neo4j_user,
        settings.password(),
        database=settings.neo4j_database,
        planning_seconds=PLANNING_SECONDS_MAX,
        ca=settings.neo4j_ca,
    )


def home_status(home: str | None) -> tuple[str, dict[str, Check]]:
    """Return the folder of a home, and the state of the API, Neo4j and the events in it."""
    from headwater.governance.policies.store import policy_store
    from headwater.health.policies import check_policies

    settings = settings_of(home)
    folder = settings.home_path
    api: Check = {"ok": False, "reason": "`headwater up` does not run in this home"}
    if is_up(folder):
        written = folder / API_FILE
        url = written.read_text(encoding="utf-8").strip() if written.is_file() else "starting"
        api = {"ok": True, "address": url}
    checks = {"api": api, "neo4j": _checked(lambda: _check_neo4j(home))}
    if settings.spool_path.is_file():
        checks["events"] = _checked(lambda: _check_events(settings, home))
    checks["rollups"] = _checked(lambda: _check_rollups(home))
    state = policy_store(settings).read()
    if state.directory:
        checks["policies"] = check_policies(state)
    return str(folder), checks


def count_waiting_events(home: str | None, database: Database) -> int | None:
    """Return the number of events in the spool that wait to be folded; None without a spool."""
    from headwater.ingest.spool.spool import Spool
    from headwater.ingest.write.transaction import read_checkpoint

    settings = settings_of(home)
    if not settings.spool_path.is_file():
        return None
    with closing(Spool(settings.spool_path, bytes_max=settings.spool_bytes_max)) as spool:
        return spool.last() - read_checkpoint(database, spool.id).position


def _checked(check: Callable[[], Check]) -> Check:
    try:
        return {"ok": True, **check()}
    except HeadwaterError as error:
        return {"ok": False, "reason": error.message, "hint": error.hint}


def _check_neo4j(home: str | None) -> Check:
    from headwater.cypher.migrate import pending

    with closing(graph(home)) as database:
        missing = len(pending(database))
        if missing:
            raise HeadwaterError(
                f"{missing} migrations are not applied", hint="Start a worker; it applies them."
            )
        return {"address": database.uri}


def _check_rollups(home: str | None) -> Check:
    from headwater.health.rollups import check_rollups

    with closing(graph(home)) as database:
        return check_rollups(database)


def _check_events(settings: Settings, home: str | None) -> Check:
    from headwater.ingest.spool.spool import Spool
    from headwater.ingest.write.transaction import read_checkpoint

    with (
        closing(graph(home)) as database,
        closing(Spool(settings.spool_path, bytes_max=settings.spool_bytes_max)) as spool,
    ):
        done, received = read_checkpoint(database, spool.id), spool.last()
        waiting = received - done.position
        return {"received": received, "folded": done.folded, "waiting": waiting, "dead": done.dead}
