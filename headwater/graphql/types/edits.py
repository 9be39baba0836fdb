"""Edits by people, and deprecations, in the schema."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import Enum

import strawberry

from headwater.graphql.types.enums import described
from headwater.graphql.types.scalars import ID
from headwater.lineage.questions.edits import NamedEdit
from headwater.schema.edits import NodeApproval


@strawberry.enum(description="What a person decided about a dataset or a job.")
class EditKind(Enum):
    DESCRIPTION = described("DESCRIPTION", "A description.")
    OWNER = described("OWNER", "An owner.")
    TAG = described("TAG", "A tag of it or of one of its columns; `certified` is one.")
    DEPRECATION = described("DEPRECATION", "That nobody should use it any longer, and why.")
    APPROVAL = described("APPROVAL", "That what a policy would block may be done, and why.")
    ALIAS = described("ALIAS", "Another name of the dataset.")
    DELETION = described("DELETION", "That it exists no longer, until an event names it.")


@strawberry.type(description="One decision of a person about a dataset or a job.")
class Edit:
    id: ID = strawberry.field(description="The edits of one request have the same id.")
    at: datetime = strawberry.field(description="The time of the edit.")
    by: str | None = strawberry.field(description="The name of the key; null if none was named.")
    kind: EditKind
    column: str | None = strawberry.field(description="The column that has the tag.")
    before: str | None = strawberry.field(description="The value that it replaced or removed.")
    after: str | None = strawberry.field(description="The new value; null if it was removed.")

    @classmethod
    def of(cls, edit: NamedEdit) -> Edit:
        return cls(
            id=edit.id,
            at=edit.at,
            by=edit.by,
            kind=EditKind(edit.kind),
            column=edit.column,
            before=edit.before,
            after=edit.after,
        )


@strawberry.type(description="Why nobody should use a dataset or a job any longer.")
class Deprecation:
    reason: str = strawberry.field(description="Why.")
    replacement_urn: ID | None = strawberry.field(
        description="What to use instead; null without one, and if the key does not see it."
    )
    until: str | None = strawberry.field(description="The date from which nobody should use it.")
    since: datetime | None = strawberry.field(description="The time of the decision.")


@strawberry.type(description="That a person allows, under one policy, what it would block.")
class Approval:
    policy: str = strawberry.field(description="The name of the policy.")
    reason: str = strawberry.field(description="Why.")
    by: str | None = strawberry.field(description="The name of the key; null if none was named.")
    at: datetime = strawberry.field(description="The time of the approval.")
    until: str | None = strawberry.field(description="The last day on which it counts.")
    active: bool = strawberry.field(description="True if it counts today.")

    @classmethod
    def of(cls, approval: NodeApproval) -> Approval:
        return cls(
            policy=approval.policy,
            reason=approval.reason,
            by=approval.by or None,
            at=approval.at,
            until=approval.until,
            active=approval.is_active(datetime.now(UTC).date()),
        )


@strawberry.type(
    description="An accepted edit. It is on disk; the graph follows within about a second."
)
class EditReceipt:
    urn: ID = strawberry.field(description="The dataset or the job.")
    edit_id: ID = strawberry.field(description="The `id` of the edit in `edits`, once it is there.")
    accepted: bool
