"""The coverage of lineage in the schema."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime

import strawberry

from headwater.graphql.context import Info
from headwater.graphql.types.fields import LONG_PAGE_DEFAULT, After, First, resolver
from headwater.graphql.types.nodes import Dataset
from headwater.graphql.types.results import Connection, counted
from headwater.graphql.types.scalars import ID
from headwater.lineage.pagination import cut_page, page_request
from headwater.lineage.questions import coverage as covered


@strawberry.type(description="Shares between 0 and 1; null if there is nothing to take a share of.")
class CoverageShares:
    lineage: float | None = strawberry.field(
        description="Datasets and jobs with lineage, of all: the next two shares combined."
    )
    datasets: float | None = strawberry.field(
        description="Datasets that a job reads or writes, of all datasets."
    )
    jobs: float | None = strawberry.field(description="Jobs with inputs and outputs, of all jobs.")
    column_lineage: float | None = strawberry.field(
        description="Datasets with column lineage, of those with a producer."
    )
    owned: float | None = strawberry.field(description="Datasets and jobs with an owner, of all.")
    described: float | None = strawberry.field(
        description="Datasets with a description, of all datasets."
    )
    schema: float | None = strawberry.field(description="Datasets with a schema, of all datasets.")
    ended: float | None = strawberry.field(
        description="Runs whose COMPLETE, FAIL or ABORT event arrived, of all runs."
    )
    reported: float | None = strawberry.field(
        description="Runs that reported which inputs their outputs came from, of those with "
        "outputs."
    )


@strawberry.type(
    description="The numbers of datasets, jobs and runs, and how many of them have lineage."
)
class CoverageCounts:
    datasets: int = strawberry.field(description="Datasets, without dropped ones.")
    connected: int = strawberry.field(description="Datasets that a job reads or writes.")
    produced: int = strawberry.field(description="Datasets with a known producer.")
    with_column_lineage: int = strawberry.field(
        description="Of the produced ones: datasets with column lineage."
    )
    unknown_downstreams: int = strawberry.field(
        description="Of the produced ones: datasets that nothing ever read or cited."
    )
    owned_datasets: int
    described_datasets: int
    with_schema: int
    jobs: int = strawberry.field(description="Jobs, without those that only contain others.")
    with_inputs: int
    with_outputs: int
    with_inputs_and_outputs: int
    owned_jobs: int
    runs: int = strawberry.field(description="Runs that started in the window.")
    ended: int = strawberry.field(
        description="Of the runs: those whose COMPLETE, FAIL or ABORT event arrived."
    )
    runs_with_outputs: int = strawberry.field(
        description="Of the runs: those that wrote a version, successful or not."
    )
    reported: int = strawberry.field(
        description="Of the runs with outputs: those that reported which inputs these came from."
    )
    shares: CoverageShares

    @classmethod
    def of(cls, counts: covered.Counts) -> CoverageCounts:
        numbers = {one.name: getattr(counts, one.name) for one in fields(counts)}
        return cls(**numbers, shares=CoverageShares(**vars(counts.shares)))


@strawberry.type(description="The counts of one namespace.")
class NamespaceCoverage:
    namespace: str = strawberry.field(description="Empty for runs without a known job.")
    counts: CoverageCounts


@strawberry.type(description="The number of datasets and jobs downstream of a dataset.")
class BlastRadius:
    median: float | None = strawberry.field(
        description="The median over datasets; null without datasets."
    )
    largest: int
    largest_dataset: Dataset | None = strawberry.field(
        description="The dataset with the largest number."
    )
    datasets: int = strawberry.field(description="The number of datasets.")
    sample_size: int = strawberry.field(
        description="The number of datasets measured: at most 500, those with the smallest hashes."
    )
    truncated: bool = strawberry.field(
        description="True if a traversal reached a limit, so that the median may be larger."
    )


@strawberry.type(description="A certified dataset whose lineage is incomplete.")
class BrokenPath:
    urn: ID = strawberry.field(description="The dataset.")
    ends: list[ID] = strawberry.field(
        description="The nodes where its lineage ends; empty if the rest is hidden or a limit was"
        " reached."
    )


@strawberry.type(
    description="The lineage of datasets tagged certified or canonical. It is complete if every "
    "upstream path "
    "ends at a registered source, or at a source that a run has read."
)
class CertifiedPaths:
    integrity: float | None = strawberry.field(
        description="The share with complete lineage, 0 to 1; null without certified datasets."
    )
    datasets: int = strawberry.field(description="The number of certified datasets.")
    sample_size: int = strawberry.field(
        description="The number of datasets examined: at most 500, those with the smallest hashes."
    )
    broken: list[BrokenPath]


@strawberry.type(description="How much of all datasets, jobs and runs has lineage.")
class Coverage:
    since: datetime = strawberry.field(description="The start of the window for runs.")
    until: datetime = strawberry.field(description="The end of the window for runs.")
    total: CoverageCounts
    found: strawberry.Private[covered.Coverage]
    namespace: strawberry.Private[str]

    @resolver("The counts by namespace, sorted by name.")
    def namespaces(
        self, first: First = LONG_PAGE_DEFAULT, after: After = None
    ) -> Connection[NamespaceCoverage]:
        entries = list(self.found.namespaces.items())
        page = page_request(first, after, default=LONG_PAGE_DEFAULT)
        shown = cut_page(entries, lambda one: (one[0],), page, shape=("",))
        nodes = [
            NamespaceCoverage(namespace=name, counts=CoverageCounts.of(counts))
            for name, counts in shown.entries
        ]
        return Connection.of(shown, nodes, counted(len(entries)))

    @resolver("How far a change of a dataset reaches.")
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

    @resolver("Whether certified datasets have complete lineage.")
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
