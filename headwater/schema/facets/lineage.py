"""Facets of data lineage: `columnLineage`, and `lineage` on datasets and jobs.

Source: the facet schemas of the OpenLineage specification 2-0-2.
"""

from __future__ import annotations

from headwater.schema.facets.kinds import Facet, Part, Uuid


class Transformation(Part, frozen=True):
    type: str
    subtype: str | None = None
    description: str | None = None
    masking: bool | None = None


class InputField(Part, frozen=True):
    namespace: str
    name: str
    field: str
    transformations: list[Transformation] | None = None


class OutputField(Part, frozen=True):
    """One field of the dataset. The two older words beside its inputs went out of use with version
    1-1-0.
    """

    input_fields: list[InputField]
    transformation_description: str | None = None
    transformation_type: str | None = None


class ColumnLineage(Facet, frozen=True):
    fields: dict[str, OutputField]
    dataset: list[InputField] | None = None


class LineageDatasetInput(Part, frozen=True, tag="DATASET", tag_field="type"):
    namespace: str
    name: str
    field: str | None = None
    transformations: list[Transformation] | None = None


class _MaybeJob(Part, frozen=True, kw_only=True):
    """A job by its name, or, without one, the event's own."""

    namespace: str | None = None
    name: str | None = None
    run_id: Uuid | None = None

    def __post_init__(self) -> None:
        if (self.namespace is None) != (self.name is None):
            raise ValueError("namespace and name of a job go together")


class LineageJobInput(_MaybeJob, frozen=True, tag="JOB", tag_field="type"):
    transformations: list[Transformation] | None = None


LineageInput = LineageDatasetInput | LineageJobInput


class LineageField(Part, frozen=True):
    inputs: list[LineageInput]


class LineageDatasetEntry(Part, frozen=True, tag="DATASET", tag_field="type"):
    namespace: str
    name: str
    inputs: list[LineageInput] | None = None
    fields: dict[str, LineageField] | None = None


class LineageJobEntry(_MaybeJob, frozen=True, tag="JOB", tag_field="type"):
    inputs: list[LineageInput] | None = None


class DatasetLineage(Facet, frozen=True):
    inputs: list[LineageInput] | None = None
    fields: dict[str, LineageField] | None = None


class JobLineage(Facet, frozen=True):
    entries: list[LineageDatasetEntry | LineageJobEntry]
