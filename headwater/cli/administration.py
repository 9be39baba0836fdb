"""Entries of the access log for commands that administer a home."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.access.store import AccessStore
    from headwater.settings import Settings

PRINCIPAL = "the command line"


@contextmanager
def access_store(settings: Settings) -> Iterator[AccessStore]:
    """Open the keys and the access log of a home."""
    from headwater.access.store import AccessStore

    store = AccessStore(settings.access_path)
    try:
        yield store
    finally:
        store.close()


def record(settings: Settings, action: str, outcome: str = "done", **detail: Any) -> None:
    """Append an entry about a command, with the user of the machine that runs it.

    Raises UnavailableError if the access log cannot be written.
    """
    from headwater.access.log import AccessLog

    with access_store(settings) as store:
        AccessLog(store).append(PRINCIPAL, action, outcome, user=_user(), **detail)


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"
