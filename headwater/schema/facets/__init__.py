"""Every facet of the OpenLineage specification 2-0-2 as a type, by its entity and its key.

The same key on two entities is two types. The entity `dataset` means the `facets` of a dataset;
`input` and `output` mean its `inputFacets` and `outputFacets`. The specification allows unknown
fields.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import msgspec

from headwater.schema.facets import dataset, job, lineage, parent, run, usage
from headwater.schema.facets.kinds import (
    CACHED_BYTES_MAX,
    Facet,
    Fault,
    fault_in,
    is_deleted,
    salvage,
)
from headwater.schema.facets.parent import PARENT_KEYS, JobName, Parent, ParentFacet, read_parent

__all__ = [
    "FACETS",
    "PARENT_KEYS",
    "Entity",
    "Facet",
    "Fault",
    "JobName",
    "Parent",
    "fault_of",
    "is_deleted",
    "is_valid",
    "kind_of",
    "read_parent",
    "salvage",
]

Entity = Literal["run", "job", "dataset", "input", "output"]

FACETS: dict[tuple[Entity, str], type[Facet]] = {
    ("run", "environmentVariables"): run.EnvironmentVariables,
    ("run", "errorMessage"): run.ErrorMessage,
    ("run", "executionParameters"): run.ExecutionParameters,
    ("run", "externalQuery"): run.ExternalQuery,
    ("run", "extractionError"): run.ExtractionError,
    ("run", "jobDependencies"): run.JobDependencies,
    ("run", "nominalTime"): run.NominalTime,
    ("run", "parent"): ParentFacet,
    ("run", "processing_engine"): run.ProcessingEngine,
    ("run", "tags"): run.RunTags,
    ("run", "test"): run.Test,
    ("job", "documentation"): job.JobDocumentation,
    ("job", "jobType"): job.JobType,
    ("job", "lineage"): lineage.JobLineage,
    ("job", "ownership"): job.JobOwnership,
    ("job", "sourceCode"): job.SourceCode,
    ("job", "sourceCodeLocation"): job.SourceCodeLocation,
    ("job", "sql"): job.Sql,
    ("job", "tags"): job.JobTags,
    ("dataset", "catalog"): dataset.Catalog,
    ("dataset", "columnLineage"): lineage.ColumnLineage,
    ("dataset", "dataQualityMetrics"): dataset.DataQualityMetrics,
    ("dataset", "dataSource"): dataset.DataSource,
    ("dataset", "datasetType"): dataset.DatasetType,
    ("dataset", "documentation"): dataset.DatasetDocumentation,
    ("dataset", "hierarchy"): dataset.Hierarchy,
    ("dataset", "lifecycleStateChange"): dataset.LifecycleStateChange,
    ("dataset", "lineage"): lineage.DatasetLineage,
    ("dataset", "ownership"): dataset.DatasetOwnership,
    ("dataset", "schema"): dataset.Schema,
    ("dataset", "storage"): dataset.Storage,
    ("dataset", "symlinks"): dataset.Symlinks,
    ("dataset", "tags"): dataset.DatasetTags,
    ("dataset", "version"): dataset.DatasetVersion,
    ("input", "dataQualityAssertions"): usage.DataQualityAssertions,
    ("input", "dataQualityMetrics"): usage.InputDataQualityMetrics,
    ("input", "inputStatistics"): usage.InputStatistics,
    ("input", "subset"): usage.InputSubset,
    ("output", "outputStatistics"): usage.OutputStatistics,
    ("output", "subset"): usage.OutputSubset,
}

# Facets that producers send elsewhere: an older spelling of `parent`, and dbt's assertions on the
# dataset.
_ELSEWHERE: dict[tuple[Entity, str], type[Facet]] = {
    ("run", "parentRun"): parent.ParentFacet,
    ("dataset", "dataQualityAssertions"): usage.DataQualityAssertions,
    ("dataset", "inputStatistics"): usage.InputStatistics,
    ("dataset", "outputStatistics"): usage.OutputStatistics,
}


def kind_of(entity: Entity, key: str) -> type[Facet] | None:
    """Return the type of a facet by its key; None for a key that the specification does not
    define.
    """
    return FACETS.get((entity, key)) or _ELSEWHERE.get((entity, key))


def fault_of(entity: Entity, key: str, raw: bytes | msgspec.Raw) -> Fault | None:
    """Return the first fault of a facet; None for a valid or unknown facet."""
    kind = kind_of(entity, key)
    if kind is None:
        return None
    text = bytes(raw)
    return _fault_cached(kind, text) if len(text) <= CACHED_BYTES_MAX else fault_in(kind, text)


def is_valid(entity: Entity, key: str, raw: bytes | msgspec.Raw) -> bool:
    """Return True if a facet keeps to its schema; `salvage` still reads parts of an invalid one."""
    return fault_of(entity, key, raw) is None


_fault_cached = lru_cache(maxsize=8_192)(fault_in)
