"""The facets of a dataset as a run's input or output. Source: the facet schemas of the OpenLineage
specification 2-0-2.
"""

from __future__ import annotations

from typing import Any

from headwater.schema.facets.dataset import DataQualityMetrics
from headwater.schema.facets.kinds import Facet, Integer, Part


class Assertion(Part, frozen=True):
    assertion: str
    success: bool
    column: str | None = None
    severity: str | None = None
    name: str | None = None
    description: str | None = None
    expected: str | None = None
    actual: str | None = None
    content: str | None = None
    content_type: str | None = None
    params: dict[str, Any] | None = None


class DataQualityAssertions(Facet, frozen=True):
    assertions: list[Assertion]


class InputDataQualityMetrics(DataQualityMetrics, frozen=True):
    """The metrics of the dataset, measured on the input of a run."""


class InputStatistics(Facet, frozen=True):
    row_count: Integer | None = None
    size: Integer | None = None
    file_count: Integer | None = None


class OutputStatistics(Facet, frozen=True):
    row_count: Integer | None = None
    size: Integer | None = None
    file_count: Integer | None = None


class LocationCondition(Part, frozen=True, tag="location", tag_field="type"):
    locations: list[str]


class Partition(Part, frozen=True):
    dimensions: dict[str, Any]
    identifier: str | None = None


class PartitionCondition(Part, frozen=True, tag="partition", tag_field="type"):
    partitions: list[Partition]


class FieldExpression(Part, frozen=True, tag="field", tag_field="type"):
    field: str


class LiteralExpression(Part, frozen=True, tag="literal", tag_field="type"):
    value: str


class CompareCondition(Part, frozen=True, tag="compare", tag_field="type"):
    left: FieldExpression | LiteralExpression
    right: FieldExpression | LiteralExpression
    comparison: str


class BinaryCondition(Part, frozen=True, tag="binary", tag_field="type"):
    left: Condition
    right: Condition
    operator: str


Condition = LocationCondition | PartitionCondition | BinaryCondition | CompareCondition


class InputSubset(Facet, frozen=True):
    input_condition: Condition


class OutputSubset(Facet, frozen=True):
    output_condition: Condition
