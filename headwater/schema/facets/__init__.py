"""Every facet of the OpenLineage specification 2-0-2 as a type, by the entity it is on and its key.

The same key on two entities is two types. `dataset` is what stands under `facets` of a dataset, `input` and `output`
what stands under its `inputFacets` and `outputFacets`. Unknown fields are allowed, as the specification allows them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import msgspec

from headwater.schema.facets import dataset, job, lineage, parent, run, usage
from headwater.schema.facets.kinds import (
    REMEMBERED_BYTES_MAX,
    Facet,
    Fault,
    fault,
    is_deleted,
    read,
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
    "read",
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

# What is really sent elsewhere than the specification has it: an older spelling, and dbt's assertions on the dataset.
_ELSEWHERE: dict[tuple[Entity, str], type[Facet]] = {
    ("run", "parentRun"): parent.ParentFacet,
    ("dataset", "dataQualityAssertions"): usage.DataQualityAssertions,
    ("dataset", "inputStatistics"): usage.InputStatistics,
    ("dataset", "outputStatistics"): usage.OutputStatistics,
}


def kind_of(entity: Entity, key: str) -> type[Facet] | None:
    """The type that a facet promises by its key; None for one that the specification does not know."""
    return FACETS.get((entity, key)) or _ELSEWHERE.get((entity, key))


def fault_of(entity: Entity, key: str, raw: bytes | msgspec.Raw) -> Fault | None:
    """In what a facet breaks its schema. The one place where that is decided; unknown facets break none."""
    kind = kind_of(entity, key)
    if kind is None:
        return None
    text = bytes(raw)
    return _remembered(kind, text) if len(text) <= REMEMBERED_BYTES_MAX else fault(kind, text)


def is_valid(entity: Entity, key: str, raw: bytes | msgspec.Raw) -> bool:
    """Whether a facet keeps to its schema. Of one that does not, `salvage` still reads what can be read."""
    return fault_of(entity, key, raw) is None


_remembered = lru_cache(maxsize=8_192)(fault)
