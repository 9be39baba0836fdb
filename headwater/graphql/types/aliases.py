"""The names that go by one dataset, as the schema shows them."""

from __future__ import annotations

from datetime import datetime

import strawberry

from headwater.lineage.questions.aliases import Symlink as FoundSymlink
from headwater.schema.facts import Name


@strawberry.type(description="A name of a dataset.")
class OtherName:
    namespace: str
    name: str

    @classmethod
    def of(cls, name: Name) -> OtherName:
        return cls(namespace=name.namespace, name=name.name)


@strawberry.type(description="A name that goes by another dataset.")
class Symlink:
    name: OtherName
    dataset: OtherName = strawberry.field(description="The name by which the dataset goes.")
    by: str = strawberry.field(
        description="facet: a symlinks facet says so. hand: somebody decided it."
    )
    since: datetime
    through: OtherName | None = strawberry.field(
        description="The third name that both are joined to, if not directly."
    )

    @classmethod
    def of(cls, found: FoundSymlink) -> Symlink:
        return cls(
            name=OtherName.of(found.name),
            dataset=OtherName.of(found.dataset),
            by=found.by,
            since=found.since,
            through=OtherName.of(found.through) if found.through else None,
        )
