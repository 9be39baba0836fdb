"""Mutations of a steward: descriptions, owners, tags, certification, deprecation, approvals, names.

Each is an event in the spool, as a producer could send it. So a rebuilt graph has the edits, and
any order of them gives one graph (docs/decisions/0031). They need a key with scope `steward` that
sees the node.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial
from typing import Annotated, Any

import strawberry

from headwater.cypher.driver.database import Row
from headwater.errors import ForbiddenError, QueryError
from headwater.governance.personal_data.classes import CLASS_CHARACTERS_MAX
from headwater.governance.personal_data.declassification import declassification_policy
from headwater.graphql.context import Info
from headwater.graphql.types.edits import EditReceipt
from headwater.graphql.types.fields import resolver
from headwater.graphql.types.scalars import ID, format_datetime
from headwater.lineage.nodes import read_nodes, require_node
from headwater.schema import headwater_facets as native
from headwater.schema.events import parse_instant
from headwater.schema.urns import column_urn, dataset_urn, parse_urn

TEXT_CHARACTERS_MAX = 10_000
NAME_CHARACTERS_MAX = 500
NAMES_MAX = 50

AssetUrn = Annotated[ID, strawberry.argument(description="The urn of a dataset or a job.")]
TagUrn = Annotated[ID, strawberry.argument(description="The urn of a dataset, a column or a job.")]
ColumnUrn = Annotated[
    ID, strawberry.argument(description="The urn of a column or of a whole dataset.")
]
Classification = Annotated[
    str,
    strawberry.argument(description="A class of personal data as email; pii for every class."),
]
DatasetUrn = Annotated[ID, strawberry.argument(description="The urn of a dataset.")]
OtherUrn = Annotated[
    ID, strawberry.argument(description="The urn of a dataset: another name, in use or not.")
]
PolicyName = Annotated[str, strawberry.argument(description="The name of the policy.")]
Added = Annotated[list[str] | None, strawberry.argument(description="What to add.")]
Removed = Annotated[list[str] | None, strawberry.argument(description="What to remove.")]
Build = Callable[..., dict[str, Any]]


@strawberry.type
class EditMutations:
    @resolver("Describe a dataset or a job. Null withdraws it: the producer's text counts again.")
    async def edit_description(
        self, info: Info, urn: AssetUrn, description: str | None
    ) -> EditReceipt:
        row = await _node(info, urn, "dataset", "job")
        text = _text("description", description) if description is not None else None
        build = partial(
            native.description_edit_event, description=text, before=row.get("description")
        )
        return await _submit(info, row, build)

    @resolver("Add owners to a dataset or a job, and remove owners, over what producers name.")
    async def edit_owners(
        self, info: Info, urn: AssetUrn, add: Added = None, remove: Removed = None
    ) -> EditReceipt:
        row = await _node(info, urn, "dataset", "job")
        added, removed = _names(add, remove)
        return await _submit(
            info, row, partial(native.owner_edits_event, added=added, removed=removed)
        )

    @resolver("Add tags (key or key=value) to a dataset, a column or a job, and remove tags.")
    async def edit_tags(
        self, info: Info, urn: TagUrn, add: Added = None, remove: Removed = None
    ) -> EditReceipt:
        added, removed = _names(add, remove)
        column = None
        if parse_urn(urn).kind == "column":
            urn, column = await _dataset_of_column(info, urn)
        row = await _node(info, urn, "dataset", "job")
        if column is not None and column not in (row.get("columns") or ()):
            raise QueryError(f"`urn`: the dataset has no column {column[:200]!r}")
        build = partial(
            native.tag_edits_event,
            added=[_tag(text, column) for text in added],
            removed=[_tag(text, column) for text in removed],
        )
        return await _submit(info, row, build)

    @resolver("Certify a dataset or a job by the tag `certified`, or withdraw that.")
    async def certify(self, info: Info, urn: AssetUrn, certified: bool = True) -> EditReceipt:
        row = await _node(info, urn, "dataset", "job")
        tags = [{"key": native.CERTIFIED_TAG}]
        build = partial(
            native.tag_edits_event,
            added=tags if certified else [],
            removed=[] if certified else tags,
        )
        return await _submit(info, row, build)

    @resolver("Deprecate a dataset or a job, with the tag `deprecated`. Null withdraws it.")
    async def deprecate(
        self,
        info: Info,
        urn: AssetUrn,
        reason: str | None,
        replacement: Annotated[
            ID | None, strawberry.argument(description="The urn of what to use instead.")
        ] = None,
        until: Annotated[
            str | None,
            strawberry.argument(
                description="The date from which nobody should use it: 2026-12-31."
            ),
        ] = None,
    ) -> EditReceipt:
        row = await _node(info, urn, "dataset", "job")
        if replacement is not None:
            node = await _node(info, replacement, "dataset", "job", argument="replacement")
            replacement = node["urn"]
            if replacement == row["urn"]:
                raise QueryError("`replacement` must be another node than `urn`")
        build = partial(
            native.deprecation_event,
            reason=_text("reason", reason) if reason is not None else None,
            replacement=replacement,
            until=_date("until", until) if until is not None else None,
        )
        return await _submit(info, row, build)

    @resolver("Approve, under one policy, what it would block on a dataset or a job.")
    async def approve(
        self,
        info: Info,
        urn: AssetUrn,
        policy: PolicyName,
        reason: str,
        until: Annotated[
            str | None,
            strawberry.argument(description="The last day on which it counts: 2026-12-31."),
        ] = None,
    ) -> EditReceipt:
        row = await _node(info, urn, "dataset", "job")
        build = partial(
            native.approval_event,
            policy=_policy(policy),
            reason=_text("reason", reason),
            until=_date("until", until) if until is not None else None,
        )
        return await _submit(info, row, build)

    @resolver("Withdraw the approval of a dataset or a job under one policy.")
    async def withdraw_approval(self, info: Info, urn: AssetUrn, policy: PolicyName) -> EditReceipt:
        row = await _node(info, urn, "dataset", "job")
        name = _policy(policy)
        return await _submit(info, row, partial(native.approval_event, policy=name, reason=None))

    @resolver(
        "Approve that a column, or a whole dataset, holds no personal data of a class: values that "
        "arrive there are no exposure. Null withdraws it."
    )
    async def declassify(
        self,
        info: Info,
        urn: ColumnUrn,
        classification: Classification,
        reason: Annotated[
            str | None, strawberry.argument(description="Why; null withdraws the approval.")
        ],
        until: Annotated[
            str | None,
            strawberry.argument(description="The last day on which it counts: 2026-12-31."),
        ] = None,
    ) -> EditReceipt:
        column = None
        if parse_urn(urn).kind == "column":
            urn, column = await _dataset_of_column(info, urn)
        row = await _node(info, urn, "dataset")
        if column is not None and not await _has_column(info, row, column):
            raise QueryError(f"`urn`: the dataset has no column {column[:200]!r}")
        build = partial(
            native.approval_event,
            policy=declassification_policy(_classification(classification), column),
            reason=_text("reason", reason) if reason is not None else None,
            until=_date("until", until) if until is not None else None,
        )
        return await _submit(info, row, build)

    @resolver("Decide that two names are one dataset, over every symlinks facet.")
    async def join_aliases(self, info: Info, urn: DatasetUrn, other: OtherUrn) -> EditReceipt:
        return await _decide_alias(info, urn, other, "same")

    @resolver("Decide that two names are two datasets, over every symlinks facet.")
    async def split_aliases(self, info: Info, urn: DatasetUrn, other: OtherUrn) -> EditReceipt:
        return await _decide_alias(info, urn, other, "apart")


async def _decide_alias(info: Info, urn: str, other: str, verdict: str) -> EditReceipt:
    # Both names as given: a split is between names, whose dataset is still one.
    await _node(info, urn, "dataset")
    _require_kind("other", other, "dataset")
    one, two = _qualified("urn", urn), _qualified("other", other)
    if one == two:
        raise QueryError("`other` must be another name than `urn`")
    if not info.context.view.visibility.includes(two["namespace"]):
        raise ForbiddenError(
            f"`other`: the key does not cover namespace {two['namespace'][:200]!r}",
            hint="Use a key for both namespaces.",
        )
    event = native.symlinks_event(
        one,
        same=[two] if verdict == "same" else [],
        apart=[two] if verdict == "apart" else [],
        by=info.context.principal.name,
        event_time=format_datetime(datetime.now(UTC)),
    )
    return await _receipt(info, urn, event)


async def _node(info: Info, urn: str, *kinds: str, argument: str = "urn") -> Row:
    """Return the properties of a visible node. Raises QueryError for a node of another kind."""
    _require_kind(argument, urn, *kinds)
    return await info.context.run_in_thread(require_node, info.context.view, urn)


def _require_kind(argument: str, urn: str, *kinds: str) -> None:
    kind = parse_urn(urn).kind
    if kind not in kinds:
        raise QueryError(f"`{argument}` is the urn of a {kind}; expected a {' or a '.join(kinds)}")


async def _dataset_of_column(info: Info, urn: str) -> tuple[str, str]:
    parts = parse_urn(urn).parts
    if len(parts) != 3:
        raise QueryError("`urn`: the name of the column is too long to be edited")
    dataset = dataset_urn(parts[0], parts[1])
    return (await _node(info, dataset, "dataset"))["urn"], parts[2]


async def _has_column(info: Info, row: Row, column: str) -> bool:
    """Return True if a column is in the schema of a dataset, or only in column lineage."""
    if column in (row.get("columns") or ()):
        return True
    namespace, name = (_qualified("urn", row["urn"])[key] for key in ("namespace", "name"))
    urn = column_urn(namespace, name, column)
    return bool(await info.context.run_in_thread(read_nodes, info.context.view, [urn]))


def _classification(text: str) -> str:
    stripped = text.strip()
    if not stripped or ":" in stripped or len(stripped) > CLASS_CHARACTERS_MAX:
        raise QueryError(
            f"`classification` must have 1 to {CLASS_CHARACTERS_MAX} characters and no colon",
            hint="Give a class as `personalData` returns it, or pii for every class.",
        )
    return stripped


async def _submit(info: Info, row: Row, build: Build) -> EditReceipt:
    """Send the event of an edit."""
    urn = row["urn"]
    name = _qualified("urn", urn)
    event = build(
        name["namespace"],
        name["name"],
        is_job=urn.startswith("job:"),
        by=info.context.principal.name,
        event_time=format_datetime(datetime.now(UTC)),
    )
    return await _receipt(info, urn, event)


async def _receipt(info: Info, urn: str, event: dict[str, Any]) -> EditReceipt:
    await info.context.submit([event])
    return EditReceipt(urn=urn, edit_id=str(parse_instant(event["eventTime"])), accepted=True)


def _qualified(argument: str, urn: str) -> dict[str, str]:
    """Return the namespace and the name of a dataset or a job. Raises QueryError."""
    parts = parse_urn(urn).parts
    if len(parts) != 2:
        raise QueryError(f"`{argument}`: the name is too long to be edited")
    return {"namespace": parts[0], "name": parts[1]}


def _names(add: list[str] | None, remove: list[str] | None) -> tuple[list[str], list[str]]:
    """Return names to add and to remove, stripped. Raises QueryError for malformed ones."""
    added, removed = _checked("add", add or []), _checked("remove", remove or [])
    if not added and not removed:
        raise QueryError("`add` and `remove` are empty", hint="Give at least one name.")
    both = set(added) & set(removed)
    if both:
        raise QueryError(f"`add` and `remove` both have {min(both)!r}")
    return added, removed


def _checked(argument: str, names: list[str]) -> list[str]:
    if len(names) > NAMES_MAX:
        raise QueryError(f"`{argument}` has {len(names)} names; {NAMES_MAX} are allowed")
    stripped = [name.strip() for name in names]
    for index, name in enumerate(stripped):
        if not name or len(name) > NAME_CHARACTERS_MAX:
            raise QueryError(
                f"`{argument}[{index}]` must have 1 to {NAME_CHARACTERS_MAX} characters"
            )
    return list(dict.fromkeys(stripped))


def _policy(name: str) -> str:
    name = name.strip()
    if not name or len(name) > NAME_CHARACTERS_MAX:
        raise QueryError(f"`policy` must have 1 to {NAME_CHARACTERS_MAX} characters")
    return name


def _text(argument: str, text: str) -> str:
    stripped = text.strip()
    if not stripped or len(stripped) > TEXT_CHARACTERS_MAX:
        raise QueryError(
            f"`{argument}` must have 1 to {TEXT_CHARACTERS_MAX} characters",
            hint="Send null to withdraw the edit.",
        )
    return stripped


def _date(argument: str, text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as error:
        raise QueryError(
            f"`{argument}` {text[:40]!r} is no date", hint="Write it as 2026-12-31."
        ) from error


def _tag(text: str, column: str | None) -> dict[str, str]:
    key, _, value = text.partition("=")
    if not key.strip():
        raise QueryError(f"the tag {text[:100]!r} has no key")
    tag = {"key": key.strip(), "value": value.strip()} if value.strip() else {"key": key.strip()}
    return {**tag, "field": column} if column is not None else tag
