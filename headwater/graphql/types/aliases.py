"""The names that go by one dataset, as the schema shows them."""

from __future__ import annotations

from datetime import datetime

import strawberry

from headwater.lineage.questions.aliases import Alias as FoundAlias
from headwater.schema.facts import Name


@strawberry.type(description="A name of a dataset.")
class QualifiedName:
    namespace: str
    name: str

    @classmethod
    def of(cls, name: Name) -> QualifiedName:
        return cls(namespace=name.namespace, name=name.name)


@strawberry.type(description="A name that goes by another dataset.")
class Alias:
    name: QualifiedName
    dataset: QualifiedName = strawberry.field(description="The name by which the dataset goes.")
    declared_by: str = strawberry.field(
        description="facet: a symlinks facet says so. manual: somebody decided it."
    )
    since: datetime
    via: QualifiedName | None = strawberry.field(
        description="The third name that both are joined to, if not directly."
    )

    @classmethod
    def of(cls, found: FoundAlias) -> Alias:
        return cls(
            name=QualifiedName.of(found.name),
            dataset=QualifiedName.of(found.dataset),
            declared_by=found.declared_by,
            since=found.since,
            via=QualifiedName.of(found.via) if found.via else None,
        )
