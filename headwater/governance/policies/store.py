"""The policies of a server: a directory, read again when a file changes.

A broken policy takes no other policy out of force. Its own last good version stays in force, if
this process read one. The error is logged once, and shown until the files are right again.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from headwater.governance.policies.facts import test_consumer_patterns
from headwater.governance.policies.files import (
    ENDINGS,
    POLICIES_MAX,
    PolicyFile,
    digest_of_texts,
    find_policy_files,
    parse_valid_policies,
    read_policy_file,
)
from headwater.governance.policies.models import Policy, PolicyError, PolicySet
from headwater.settings import Settings

# How often the directory is looked at.
POLL_SECONDS = 2.0
_SHOWN_MAX = 5
_ERROR_CHARACTERS_MAX = 20_000

log = logging.getLogger("headwater.policies")

NO_POLICY_SET = PolicySet()


@dataclass(frozen=True)
class PolicyState:
    """The policies in force.

    directory: where they are; empty without one.
    error: what is wrong in files; otherwise empty.
    broken: the paths of files with an error; "." if the directory cannot be read.
    loaded_at: when policies were last read without an error.
    """

    policies: PolicySet = NO_POLICY_SET
    directory: str = ""
    error: str = ""
    loaded_at: datetime | None = None
    broken: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """Return a sentence for answers that rest on the policies; empty if all files are right."""
        if not self.broken:
            return ""
        more = f" and {len(self.broken) - _SHOWN_MAX} more" if len(self.broken) > _SHOWN_MAX else ""
        shown = ", ".join(self.broken[:_SHOWN_MAX])
        return f"Policies may be missing or old, because files are broken: {shown}{more}"


NO_POLICIES = PolicyState()


@dataclass(frozen=True)
class _ReadPolicy:
    """A policy, and the digest of the text of the file that it was read from."""

    policy: Policy
    digest: str


# The policies in force of a file, by name.
_FilePolicies = dict[str, _ReadPolicy]


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
        self._in_force: dict[str, _FilePolicies] = {}
        self._state = PolicyState(directory=str(directory)) if directory else NO_POLICIES

    def read(self) -> PolicyState:
        """Return the policies in force.

        While another thread reads changed files, it returns those that were in force before.
        """
        is_first = self._seen is self
        if self._directory is None or not self._lock.acquire(blocking=is_first):
            return self._state
        try:
            if self._clock() - self._looked_at >= POLL_SECONDS:
                self._looked_at = self._clock()
                seen = _signature(self._directory)
                if seen != self._seen:
                    self._state = self._load(self._directory)
                    self._seen = seen
            return self._state
        finally:
            self._lock.release()

    def run(self, stop: threading.Event) -> None:
        """Read the directory until `stop` is set, so that no question waits for changed files."""
        while self._directory is not None and not stop.is_set():
            try:
                self.read()
            except Exception:
                log.exception("policies_read_failed directory=%s", self._directory)
            stop.wait(POLL_SECONDS / 4)

    def _load(self, directory: Path) -> PolicyState:
        try:
            paths = find_policy_files(directory)
        except PolicyError as error:
            return self._broken_state(self._state.policies, directory, [_text(error)], ["."])
        in_force: dict[str, _FilePolicies] = {}
        problems: list[str] = []
        broken: list[str] = []
        for path, file in paths:
            others = {name: other for other, some in in_force.items() for name in some}
            found, wrong = self._read_file(path, file, others)
            in_force[path] = found
            if wrong:
                problems += wrong
                broken.append(path)
        self._in_force = in_force
        policies = _merge(in_force)
        if problems:
            return self._broken_state(policies, directory, problems, broken)
        log.info("policies_loaded directory=%s count=%d", directory, len(policies.policies))
        return PolicyState(policies, str(directory), "", datetime.now(UTC))

    def _read_file(
        self, path: str, file: Path, others: Mapping[str, str]
    ) -> tuple[_FilePolicies, list[str]]:
        """Return the policies of a file and its problems; `others` are the names that are taken."""
        earlier = self._in_force.get(path, {})
        try:
            text = read_policy_file(file)
        except PolicyError as error:
            return {name: one for name, one in earlier.items() if name not in others}, [
                _text(error)
            ]
        read, wrong = parse_valid_policies(PolicyFile(path, text))
        problems = [*wrong]
        digest = digest_of_texts([(path, text)])
        found: _FilePolicies = {}
        for policy in read:
            if policy.name in others:
                first = others[policy.name]
                problems.append(f"{path}: name: {policy.name} is in {first} too; rename one")
            elif len(found) + len(others) >= POLICIES_MAX:
                problems.append(f"{path}: there are more than {POLICIES_MAX} policies")
                break
            else:
                found[policy.name] = _ReadPolicy(policy, digest)
        if problems:
            kept = {name: one for name, one in earlier.items() if name not in others}
            found = {**kept, **found}
        return found, problems

    def _broken_state(
        self, policies: PolicySet, directory: Path, problems: list[str], broken: list[str]
    ) -> PolicyState:
        message = "\n".join(problems)[:_ERROR_CHARACTERS_MAX]
        log.error("policies_broken directory=%s error=%r", directory, message[:2_000])
        return PolicyState(policies, str(directory), message, self._state.loaded_at, tuple(broken))


def _merge(in_force: Mapping[str, _FilePolicies]) -> PolicySet:
    """Return the policies of all files as one set."""
    found = {name: one for some in in_force.values() for name, one in some.items()}
    ordered = sorted(found.items())
    digest = digest_of_texts((name, one.digest) for name, one in ordered)
    return PolicySet(tuple(one.policy for _, one in ordered), digest)


def _text(error: PolicyError) -> str:
    return f"{error.message} {error.hint}".strip()


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
