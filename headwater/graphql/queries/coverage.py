"""How much lineage covers, as the schema shows it."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime

import strawberry

from headwater.graphql.context import Info
from headwater.graphql.types.fields import After, First, resolver
from headwater.graphql.types.nodes import Dataset
from headwater.graphql.types.results import Connection
from headwater.graphql.types.scalars import ID
from headwater.lineage.pagination import cut_page
from headwater.lineage.questions import coverage as covered


@strawberry.type(description="Shares between 0 and 1; null of nothing.")
class CoverageShares:
    lineage: float | None = strawberry.field(
        description="Lineage coverage: of datasets and jobs together those that are in lineage, as in the next two."
    )
    datasets: float | None = strawberry.field(
        description="Of datasets those that a job makes or reads."
    )
    jobs: float | None = strawberry.field(description="Of jobs those with both inputs and outputs.")
    column_lineage: float | None = strawberry.field(
        description="Of datasets that are made those with column lineage."
    )
    owned: float | None = strawberry.field(description="Of datasets and jobs those with an owner.")
    described: float | None = strawberry.field(description="Of datasets those with a description.")
    schema: float | None = strawberry.field(description="Of datasets those with a schema.")
    ended: float | None = strawberry.field(
        description="Of runs those that ended: their last event arrived."
    )
    reported: float | None = strawberry.field(
        description="Of runs that made something those that told which inputs any of it came from."
    )


@strawberry.type(description="What there is, and how much of it is told.")
class CoverageCounts:
    datasets: int = strawberry.field(description="Without those that were dropped.")
    connected: int = strawberry.field(description="Datasets that a job makes or reads.")
    produced: int = strawberry.field(description="Datasets that something known makes.")
    with_column_lineage: int = strawberry.field(
        description="Of those: whose columns are known to come from columns."
    )
    unknown_downstreams: int = strawberry.field(
        description="Of those: that nothing ever read or cited."
    )
    owned_datasets: int
    described_datasets: int
    with_schema: int
    jobs: int = strawberry.field(description="Without those that only contain others.")
    with_inputs: int
    with_outputs: int
    with_inputs_and_outputs: int
    owned_jobs: int
    runs: int = strawberry.field(description="That began in the window.")
    ended: int = strawberry.field(description="Of those: whose COMPLETE, FAIL or ABORT arrived.")
    runs_with_outputs: int = strawberry.field(description="Of those: that made something.")
    reported: int = strawberry.field(
        description="Of those: that told which inputs any of it came from."
    )
    shares: CoverageShares

    @classmethod
    def of(cls, counts: covered.Counts) -> CoverageCounts:
        numbers = {one.name: getattr(counts, one.name) for one in fields(counts)}
        return cls(**numbers, shares=CoverageShares(**vars(counts.shares)))


@strawberry.type(description="What there is in one namespace.")
class NamespaceCoverage:
    namespace: str = strawberry.field(description="Empty: runs of which no job is told.")
    counts: CoverageCounts


@strawberry.type(description="How many datasets and jobs lie downstream of a dataset.")
class BlastRadius:
    median: float | None = strawberry.field(description="Over datasets; null without any.")
    largest: int
    largest_dataset: Dataset | None = strawberry.field(
        description="The one with the most downstream."
    )
    datasets: int = strawberry.field(description="How many there are.")
    sample_size: int = strawberry.field(
        description="From how many it was walked: beyond 500 those of the smallest hashes."
    )
    truncated: bool = strawberry.field(
        description="Whether a walk met a bound, so that the median may be larger."
    )


@strawberry.type(description="A certified dataset whose lineage is not complete.")
class BrokenPath:
    urn: ID = strawberry.field(description="The dataset.")
    ends: list[ID] = strawberry.field(
        description="Where its lineage breaks off, by urn; none where it leads out of sight or a walk met a bound."
    )


@strawberry.type(
    description="Of the datasets tagged certified or canonical those whose whole upstream is complete: every way up "
    "ends at a source that somebody registered or that a run is known to have read."
)
class CertifiedPaths:
    integrity: float | None = strawberry.field(
        description="Their share, 0 to 1; null without certified datasets."
    )
    datasets: int = strawberry.field(description="How many are certified.")
    sample_size: int = strawberry.field(
        description="How many were looked at: beyond 500 those of the smallest hashes."
    )
    broken: list[BrokenPath]


@strawberry.type(description="How much of the estate lineage covers.")
class Coverage:
    since: datetime = strawberry.field(description="Runs are counted that began from then")
    until: datetime = strawberry.field(description="until then.")
    total: CoverageCounts
    found: strawberry.Private[covered.Coverage]
    namespace: strawberry.Private[str]

    @resolver("The counts by namespace, by name.")
    def namespaces(self, first: First = 100, after: After = None) -> Connection[NamespaceCoverage]:
        entries = list(self.found.namespaces.items())
        shown = cut_page(entries, lambda one: (one[0],), first=first, after=after, shape=("",))
        nodes = [
            NamespaceCoverage(namespace=name, counts=CoverageCounts.of(counts))
            for name, counts in shown.entries
        ]
        return Connection.of(shown, nodes, after)

    @resolver("How far a change reaches: the median over datasets.")
    async def blast_radius(self, info: Info) -> BlastRadius:
        found = await info.context.run_in_thread(
            covered.blast_radius, info.context.view, namespace=self.namespace
        )
        widest = (
            await Dataset.all(info, [found.largest_dataset]) if found.largest_dataset else [None]
        )
        return BlastRadius(
            median=found.median,
            largest=found.largest,
            largest_dataset=widest[0],
            datasets=found.datasets,
            sample_size=found.sample_size,
            truncated=found.truncated,
        )

    @resolver("Whether what is certified rests on complete lineage.")
    async def certified_paths(self, info: Info) -> CertifiedPaths:
        found = await info.context.run_in_thread(
            covered.certified_paths, info.context.view, namespace=self.namespace
        )
        broken = [BrokenPath(urn=path.dataset, ends=path.ends) for path in found.broken]
        return CertifiedPaths(
            integrity=found.integrity,
            datasets=found.datasets,
            sample_size=found.sample_size,
            broken=broken,
        )
