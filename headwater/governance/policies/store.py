"""The policies of a server: a directory, read again when a file changes.

A broken file keeps the last good policies. The error is logged once, and shown until the files are
right again.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from headwater.governance.policies.facts import test_consumer_patterns
from headwater.governance.policies.files import ENDINGS, load_policies
from headwater.governance.policies.models import PolicyError, PolicySet
from headwater.settings import Settings

# How often the directory is looked at.
POLL_SECONDS = 2.0

log = logging.getLogger("headwater.policies")

NO_POLICY_SET = PolicySet()


@dataclass(frozen=True)
class PolicyState:
    """The policies in force.

    directory: where they are; empty without one.
    error: why the files of now could not be read; then these policies are older. Otherwise empty.
    loaded_at: when these policies were read.
    """

    policies: PolicySet = NO_POLICY_SET
    directory: str = ""
    error: str = ""
    loaded_at: datetime | None = None


NO_POLICIES = PolicyState()


class PolicyStore:
    """The policies of a directory, as its files are now."""

    def __init__(
        self,
        directory: Path | None,
        *,
        test_consumers: tuple[str, ...] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create a store.

        Args:
            directory: The directory of the policies; None: there are none.
            test_consumers: Patterns of the namespaces and names of consumers that are tests.
            clock: Returns seconds, which say when the directory is looked at again.
        """
        self.test_consumers = test_consumers
        self._directory = directory
        self._clock = clock
        self._lock = threading.Lock()
        self._looked_at = float("-inf")
        self._seen: object = self
        self._state = PolicyState(directory=str(directory)) if directory else NO_POLICIES

    def read(self) -> PolicyState:
        """Return the policies in force."""
        if self._directory is None:
            return self._state
        with self._lock:
            if self._clock() - self._looked_at >= POLL_SECONDS:
                self._looked_at = self._clock()
                seen = _signature(self._directory)
                if seen != self._seen:
                    self._seen = seen
                    self._state = self._load(self._directory)
            return self._state

    def _load(self, directory: Path) -> PolicyState:
        try:
            policies = load_policies(directory)
        except PolicyError as error:
            message = f"{error.message} {error.hint}".strip()
            log.error("policies_broken directory=%s error=%r", directory, message[:2_000])
            last = self._state
            return PolicyState(last.policies, last.directory, message, last.loaded_at)
        log.info("policies_loaded directory=%s count=%d", directory, len(policies.policies))
        return PolicyState(policies, str(directory), "", datetime.now(UTC))


def policy_store(settings: Settings) -> PolicyStore:
    """Return the store of the directory that the settings name.

    Without a setting it is `policies` in the home, if that exists.
    """
    home = settings.home_path / "policies"
    directory = home if home.is_dir() else None
    if settings.policies:
        directory = Path(settings.policies).expanduser()
    return PolicyStore(directory, test_consumers=test_consumer_patterns(settings.test_consumers))


def _signature(directory: Path) -> object:
    """Return a value that changes with the files of a directory."""
    found = []
    for folder, names, files in os.walk(directory):
        names[:] = [name for name in names if not name.startswith(".")]
        for name in files:
            if name.endswith(ENDINGS):
                path = os.path.join(folder, name)
                try:
                    status = os.stat(path)
                except OSError:
                    continue
                found.append((path, status.st_mtime_ns, status.st_size, status.st_ino))
    return sorted(found) if found or directory.is_dir() else None
