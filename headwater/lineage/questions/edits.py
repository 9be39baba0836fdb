"""What people decided about datasets and jobs: who, when, what, and what it was before."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

import msgspec

from headwater.lineage.node_visibility import find_hidden, select_visible
from headwater.lineage.view import GraphView
from headwater.schema.dataset_aliases import SAME
from headwater.schema.edits import (
    ALIAS,
    APPROVAL,
    DELETION,
    DEPRECATION,
    DESCRIPTION,
    OWNER,
    TAG,
    Approval,
)
from headwater.schema.events import to_datetime
from headwater.schema.facets.headwater import Deprecation
from headwater.schema.facts import EDITS_MAX, Edit
from headwater.schema.tags import ADDED
from headwater.schema.urns import parse_urn

KINDS = {OWNER: "OWNER", TAG: "TAG", ALIAS: "ALIAS", APPROVAL: "APPROVAL"}


@dataclass(frozen=True)
class NamedEdit:
    """One edit. `id` is shared by the edits of one request.

    `kind` is DESCRIPTION, OWNER, TAG, DEPRECATION, APPROVAL, ALIAS or DELETION. `before` and
    `after` are the values in words; None for a value that did not exist or is not known. `column`
    is the column of a tag.
    """

    id: str
    at: datetime
    by: str | None
    kind: str
    column: str | None
    before: str | None
    after: str | None


class _History(msgspec.Struct):
    history: set[Edit] = set()


def edits_of(view: GraphView, urns: Iterable[str]) -> dict[str, list[NamedEdit]]:
    """Return the newest edits of those of these datasets and jobs that are visible, newest first.

    Edits under every name of a dataset count. Edits that name a hidden node are left out.
    """
    visible = select_visible(view, dict.fromkeys(urns))
    found: dict[str, set[Edit]] = defaultdict(set)
    datasets = [urn for urn in visible if urn.startswith("dataset:")]
    jobs = [urn for urn in visible if urn.startswith("job:")]
    if datasets:
        for row in view.read("read/nodes/alias_groups", urns=datasets):
            found[row["canonical"]] |= _history(row["facts"])
    if jobs:
        for row in view.read("read/nodes/facts", urns=jobs):
            found[row["urn"]] |= _history(row["facts"])
    every = list(chain.from_iterable(found.values()))
    hidden = find_hidden(view, filter(None, map(_named_urn, every)))
    return {urn: _named(found[urn], hidden) for urn in visible if urn in found}


def _history(facts: str | None) -> set[Edit]:
    return msgspec.json.decode(facts, type=_History).history if facts else set()


def _named(edits: set[Edit], hidden: set[str]) -> list[NamedEdit]:
    shown = [edit for edit in sorted(edits)[-EDITS_MAX:] if _named_urn(edit) not in hidden]
    deprecations: dict[str, str | None] = {}
    named = []
    for edit in shown:
        before = deprecations.get(edit.key)
        named.append(_named_edit(edit, before))
        deprecations[edit.key] = named[-1].after
    return named[::-1]


def _named_edit(edit: Edit, previous: str | None) -> NamedEdit:
    """Return an edit in words; `previous` is the value after the last edit of the same key."""
    prefix, _, rest = edit.key.partition(":")
    kind = KINDS.get(f"{prefix}:", edit.key.upper())
    column, before, after = None, previous, None
    if edit.key == DESCRIPTION:
        before = edit.before or previous
        after = msgspec.json.decode(edit.value, type=str) if edit.value else None
    elif edit.key == DEPRECATION:
        after = _deprecation(edit.value).reason if edit.value else None
    elif kind == "APPROVAL":
        after = f"{rest}: {_approval(edit.value).reason}" if edit.value else None
    elif edit.key == DELETION:
        before, after = None, None
    else:
        text = rest
        if kind == "TAG":
            column, text = json.loads(rest)
        elif kind == "ALIAS":
            text = " ".join(parse_urn(rest).parts) or rest
        is_added = edit.value in (ADDED, SAME)
        before, after = (None, text) if is_added else (text, None)
    instant = to_datetime(edit.instant)
    return NamedEdit(
        str(edit.instant), instant, edit.by or None, kind, column or None, before, after
    )


def _deprecation(value: str) -> Deprecation:
    return msgspec.json.decode(value, type=Deprecation)


def _approval(value: str) -> Approval:
    return msgspec.json.decode(value, type=Approval)


def _named_urn(edit: Edit) -> str | None:
    """Return the urn of another node that an edit names."""
    if edit.key.startswith(ALIAS):
        return edit.key.removeprefix(ALIAS)
    return None
