"""What is taken from one event: the event, how names are read, and the facts found so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import msgspec

from headwater.schema import facts
from headwater.schema.events import Event
from headwater.schema.facts import (
    Claim,
    Claims,
    DatasetFacts,
    GraphDelta,
    JobFacts,
    Name,
    Register,
    RunFacts,
    Span,
    Usage,
)
from headwater.schema.naming import Naming
from headwater.schema.urns import dataset_urn, job_urn, run_urn

RENAME, DROP = "RENAME", "DROP"


class Named(Protocol):
    """Anything with the two halves of a name as they were sent."""

    @property
    def namespace(self) -> str: ...

    @property
    def name(self) -> str: ...


class Identifier(msgspec.Struct):
    namespace: str
    name: str


class Lifecycle(msgspec.Struct, rename="camel"):
    lifecycle_state_change: str
    previous_identifier: Identifier | None = None


IDENTIFIER = msgspec.json.Decoder(Identifier)
LIFECYCLE = msgspec.json.Decoder(Lifecycle)


@dataclass(frozen=True)
class Said:
    """One event, how names are read, and what has been taken from the event so far."""

    event: Event
    naming: Naming
    delta: GraphDelta

    @property
    def span(self) -> Span:
        return Span(self.event.instant, self.event.instant)

    def claim(self, name: Name) -> Claim:
        return Claim(name, self.event.instant, self.event.instant)

    def register(self, value: str) -> Register:
        return Register(self.event.instant, self.event.rank, value)

    def name(self, named: Named) -> Name:
        return self.naming.normalise(named.namespace, named.name)

    def run(self, run: RunFacts) -> None:
        facts.absorb(self.delta, GraphDelta(runs={run_urn(run.run_id): run}))

    def job(self, job: JobFacts) -> str:
        urn = job_urn(job.job.namespace, job.job.name)
        facts.absorb(self.delta, GraphDelta(jobs={urn: job}))
        return urn

    def dataset(self, dataset: DatasetFacts) -> str:
        urn = dataset_urn(*halves(dataset.dataset))
        facts.absorb(self.delta, GraphDelta(datasets={urn: dataset}))
        return urn

    def mention(self, name: Name) -> str:
        """A dataset that the event only refers to: it is in the graph, and nothing more is said of it."""
        return self.dataset(DatasetFacts(name))


def halves(name: Name) -> tuple[str, str]:
    return name.namespace, name.name


def renamed_from(said: Said, dataset: Name, lifecycle: Lifecycle | None) -> Name | None:
    """The name that a dataset had before; None unless it was renamed from another."""
    if lifecycle is None or lifecycle.lifecycle_state_change.upper() != RENAME:
        return None
    previous = lifecycle.previous_identifier
    old = said.name(previous) if previous and is_named(previous) else dataset
    return None if old == dataset else old


def is_named(named: Named) -> bool:
    return bool(named.namespace.strip() and named.name.strip())


def add_claim(claims: Claims, urn: str, claim: Claim) -> None:
    mine = claims.get(urn)
    claims[urn] = claim if mine is None else facts.join_claims(mine, claim)


def add_usage(used: dict[str, Usage], usage: Usage) -> None:
    urn = dataset_urn(*halves(usage.dataset))
    mine = used.get(urn)  # one event may name a dataset twice
    used[urn] = usage if mine is None else facts.join_usages(mine, usage)


def json_of(value: object) -> str:
    """Canonical JSON."""
    return msgspec.json.encode(value, order="sorted").decode()
