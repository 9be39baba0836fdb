"""The chain of the access log: each entry has the hash of its predecessor's hash and its own
values.

The check finds a change, a gap, a swap and a repeated entry, in the store or in an export. A chain
that somebody computed again, or whose end was cut off, is found by a head that was stored elsewhere
(`signed_head`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from headwater.errors import QueryError

# The action of an entry that has the new hashes of redacted entries, by their seqs.
REDACT = "redact access log"


class Link(NamedTuple):
    """An entry as it is stored. `at` is in microseconds since 1970, UTC; `detail` is JSON text."""

    seq: int
    at: int
    principal: str
    action: str
    outcome: str
    detail: str
    previous: str
    hash: str


class ChainHead(Protocol):
    """The number of entries at some time, and the hash of the newest of them."""

    @property
    def entries(self) -> int: ...

    @property
    def hash(self) -> str: ...


class Problem(NamedTuple):
    """The first problem of a chain, and the number of the entry at which it is."""

    position: int
    reason: str


class Verification(NamedTuple):
    """The entries that were read, the number of the last one, and the first problem."""

    entries: int
    first: int
    last: int
    problem: Problem | None


class MalformedEntryError(Exception):
    """An entry of an export that no longer has the form in which it was written."""


def link_hash(
    previous: str, at: int, principal: str, action: str, outcome: str, detail: str
) -> str:
    """Return the hash of an entry."""
    values = [previous, at, principal, action, outcome, detail]
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def verify_chain(
    links: Iterable[Link], *, first: int = 1, heads: Sequence[ChainHead] = ()
) -> Verification:
    """Check a chain whose first entry has the number `first`, and that it agrees with each head.

    The hash before entry `first` is not known unless it is 1, so that of the entry itself counts.

    Raises QueryError for a head that is older than the first entry.
    """
    _require_usable(heads, first)
    hash_at: dict[int, str] = {}
    wanted = {head.entries for head in heads}
    count, last, before, problem = 0, first - 1, "" if first == 1 else None, None
    changed = _ChangedEntries()
    try:
        for link in links:
            count += 1
            before = link.previous if before is None else before
            found = _problem_of(link, last + 1, before)
            if found is None:
                changed.excuse(link)
            elif link.seq == last + 1 and link.previous == before:
                changed.add(link, found)
            else:
                problem = problem or found
            if link.seq - 1 in wanted and link.seq == first:
                hash_at[link.seq - 1] = link.previous
            if link.seq in wanted:
                hash_at[link.seq] = link.hash
            last, before = link.seq, link.hash
    except MalformedEntryError as error:
        problem = problem or Problem(last + 1, f"entry {last + 1} {error}")
    problem = changed.first_problem(problem) or _disagreement(heads, hash_at, last)
    return Verification(count, first, last, problem)


class _ChangedEntries:
    """The entries whose values changed, until the record of a redaction has their new hash."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[str, Problem]] = {}

    def add(self, link: Link, problem: Problem) -> None:
        """Note an entry that stands in its place and does not have its own hash."""
        self._entries[link.seq] = values_hash(*link[1:6]), problem

    def excuse(self, link: Link) -> None:
        """Remove the entries that an intact record of a redaction names."""
        if link.action != REDACT or not self._entries:
            return
        for seq, hash in json.loads(link.detail).get("entries", {}).items():
            if self._entries.get(int(seq), ("", None))[0] == hash:
                del self._entries[int(seq)]

    def first_problem(self, other: Problem | None) -> Problem | None:
        """Return the first problem of these entries and another one."""
        problems = [problem for _, problem in self._entries.values()]
        problems += [other] if other is not None else []
        return min(problems, key=lambda problem: problem.position, default=None)


def values_hash(at: int, principal: str, action: str, outcome: str, detail: str) -> str:
    """Return the hash of the values of an entry without that of its predecessor."""
    return link_hash("", at, principal, action, outcome, detail)


def _problem_of(link: Link, expected: int, before: str) -> Problem | None:
    if link.seq > expected:
        missing = f"entry {expected} is"
        if link.seq > expected + 1:
            missing = f"entries {expected} to {link.seq - 1} are"
        return Problem(link.seq, f"{missing} missing before entry {link.seq}")
    if link.seq < expected:
        return Problem(link.seq, f"entry {link.seq} stands where entry {expected} should be")
    if link.hash != link_hash(before, *link[1:6]) or link.previous != before:
        return Problem(
            link.seq, f"entry {link.seq} was changed, or entries before it were replaced"
        )
    return None


def _disagreement(heads: Sequence[ChainHead], hash_at: dict[int, str], last: int) -> Problem | None:
    for head in sorted(heads, key=lambda head: head.entries):
        if head.entries > last:
            return Problem(
                last + 1, f"entries {last + 1} to {head.entries} are missing: a head has them"
            )
        if head.entries and hash_at.get(head.entries) != head.hash:
            return Problem(
                head.entries,
                f"entry {head.entries} is not the one of the head: an entry up to it was changed, "
                f"and the chain was computed again",
            )
    return None


def _require_usable(heads: Sequence[ChainHead], first: int) -> None:
    for head in heads:
        if head.entries < first - 1:
            raise QueryError(
                f"the head of {head.entries} entries is older than entry {first}, the first here",
                hint="Use a newer head, or an export that begins earlier.",
            )
