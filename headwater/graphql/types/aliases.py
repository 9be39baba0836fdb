"""The aliases of datasets in the schema."""

from __future__ import annotations

from datetime import datetime

import strawberry

from headwater.lineage.questions.aliases import Alias as FoundAlias
from headwater.schema.facts import Name


@strawberry.type(description="A namespace and a name in it.")
class QualifiedName:
    namespace: str
    name: str

    @classmethod
    def of(cls, name: Name) -> QualifiedName:
        return cls(namespace=name.namespace, name=name.name)


@strawberry.type(description="Another name of a dataset.")
class Alias:
    name: QualifiedName = strawberry.field(description="The other name.")
    dataset: QualifiedName = strawberry.field(description="The canonical name of the dataset.")
    declared_by: str = strawberry.field(
        description="facet: a symlinks facet declares the alias. manual: an operator did."
    )
    since: datetime = strawberry.field(description="The time of that declaration.")
    via: QualifiedName | None = strawberry.field(
        description="A third name that links both; null if one declaration links them directly."
    )

    @classmethod
    def of(cls, alias: FoundAlias) -> Alias:
        return cls(
            name=QualifiedName.of(alias.name),
            dataset=QualifiedName.of(alias.dataset),
            declared_by=alias.declared_by,
            since=alias.since,
            via=QualifiedName.of(alias.via) if alias.via else None,
        )
