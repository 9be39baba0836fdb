"""The facet of a data contract: what a producer promises about one dataset.

`headwater_contract_HASH` holds one version of one contract; the hash is that of its id and its
version, so that each version has a register of its own.
"""

from __future__ import annotations

from headwater.schema.facets.headwater import PersonName
from headwater.schema.facets.kinds import Facet, Label, Part


class ContractColumn(Part, frozen=True):
    """A promised column, a nested one by its dotted path."""

    name: str
    logical_type: str | None = None
    physical_type: str | None = None
    required: bool | None = None
    unique: bool | None = None
    primary_key: bool | None = None
    classification: str | None = None


class ContractRule(Part, frozen=True):
    """A promised measure or check of the data; `column` is absent for the whole dataset.

    operator: one of the standard, as mustBeLessThan; `values` has one value, or two of a range.
    """

    metric: str | None = None
    name: str | None = None
    column: str | None = None
    operator: str | None = None
    values: list[float] | None = None
    unit: str | None = None


class ServiceLevel(Part, frozen=True):
    """A promised service level of the contract, as freshness: 24 hours."""

    property: str
    value: float | None = None
    unit: str | None = None
    driver: str | None = None


class ContractFacet(Facet, frozen=True):
    """One version of a contract about one dataset.

    effective_from: when the contract was created, by itself. digest: the hash of its content.
    allowed: the only columns that data may have; then none of `columns` is promised to be there.
    """

    contract_id: str
    version: Label
    name: str | None = None
    status: str | None = None
    domain: str | None = None
    object: str | None = None
    effective_from: str | None = None
    digest: str | None = None
    owners: list[PersonName] | None = None
    columns: list[ContractColumn] | None = None
    rules: list[ContractRule] | None = None
    service_levels: list[ServiceLevel] | None = None
    allowed: list[str] | None = None
