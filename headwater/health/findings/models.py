"""What a detector reports, and what is kept of it.

A detector is a pure function of the history of one node and an instant. It reports episodes: each
has a beginning, and an end once the history shows one. So the same history gives the same episodes,
in whatever order its events arrived. A finding is an episode with what the rest of the graph adds:
how severe it is by who is affected, its owners, and the finding that caused it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Tier(StrEnum):
    """Who is called, and when: P1 a person now, P2 and P3 a ticket. They sort by urgency."""

    P1 = "P1"
    P2 = "P2"
    P3 = "P3"


class Impact(StrEnum):
    """What kind of harm a rule reports; the tier of a finding follows from it and from whom it
    affects."""

    OUTAGE = "outage"
    DRIFT = "drift"
    METADATA = "metadata"
    LEGAL = "legal"


@dataclass(frozen=True)
class Episode:
    """A problem of one node, from its beginning until the history shows its end.

    rule: a name in `rules.toml`.
    subject: the urn of the node.
    key: which episode of the rule on this node it is: the urn or the time of what began it. It
      must not change when later events arrive.
    first_seen, last_seen: the times, by the events, of the first and the newest evidence.
    resolved_at: the time of the event that ended it; None while it is open.
    resolved_by: the urn of the run or version that ended it, or a few words.
    evidence: what shows it, as JSON values: numbers with what they were compared with, urns, names.
      A detector lists at most 20 items of anything.
    """

    rule: str
    subject: str
    key: str
    first_seen: datetime
    last_seen: datetime
    resolved_at: datetime | None = None
    resolved_by: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Return the urn of the finding."""
        return f"finding:{self.rule}:{self.subject}@{self.key}"


@dataclass(frozen=True)
class Consumer:
    """A node downstream of a finding. `is_critical`: certified, of a critical tier, or a model."""

    urn: str
    kind: str
    owners: tuple[str, ...]
    is_critical: bool


@dataclass(frozen=True)
class Affected:
    """Who is downstream of a node: counts of all reached, and the first by urgency.

    Answers come first, then critical nodes, then the others, each by urn.
    """

    datasets: int = 0
    jobs: int = 0
    answers: int = 0
    critical: int = 0
    consumers: tuple[Consumer, ...] = ()
    truncated: bool = False


@dataclass(frozen=True)
class Finding:
    """An episode with its tier, the people, and the finding that caused it.

    root: the id of the finding at the beginning of the chain of causes; its own if none is known.
    """

    episode: Episode
    tier: Tier
    root: str
    owners: tuple[str, ...] = ()
    affected: Affected = Affected()

    @property
    def id(self) -> str:
        """Return the urn of the finding."""
        return self.episode.id

    @property
    def is_open(self) -> bool:
        """Return True until the history shows the end."""
        return self.episode.resolved_at is None
