"""Guards of routes for tests."""

from __future__ import annotations

from headwater.access.guard import Guard
from headwater.access.keys import Keys
from headwater.access.log import AccessLog
from headwater.access.sessions import Sessions
from headwater.access.store import AccessStore

SESSION_SECONDS = 3_600


def guard_of(store: AccessStore, *, required: bool = False) -> Guard:
    """Return a guard with the keys, the log and the sessions of a store."""
    keys = Keys(store)
    secret = store.path.with_name("session.key")
    sessions = Sessions(keys, store, secret, seconds=SESSION_SECONDS)
    return Guard(keys, AccessLog(store), sessions, required=required)
