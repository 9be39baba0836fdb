"""What people decide about a dataset or a job, over what its producers send. Pure.

Each decision is a register of its own, so edits of two people at once lose nothing. The newest
counts, whatever a producer sends later; a withdrawn one lets the producer's value count again.

| key of a register | value |
|---|---|
| `description` | JSON of the text, or "" if it was withdrawn |
| `deprecation` | JSON of the deprecation, or "" if it was withdrawn |
| `owner:NAME` | `added` or `removed` |
| `approval:POLICY` | JSON of the approval, or "" if it was withdrawn |

The history of edits has three more keys: `tag:` with the key of the tag, `alias:` with the urn of
the other name (`same` or `apart`), and `deletion`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime

import msgspec

from headwater.schema.events import to_datetime
from headwater.schema.facets.headwater import Deprecation
from headwater.schema.facts import Registers
from headwater.schema.tags import ADDED, REMOVED

DESCRIPTION, DEPRECATION, DELETION = "description", "deprecation", "deletion"
OWNER, TAG, ALIAS, APPROVAL = "owner:", "tag:", "alias:", "approval:"


class Approval(msgspec.Struct, frozen=True, omit_defaults=True):
    """The approval of what a policy would block: who gave it, why, and the last day it counts."""

    reason: str
    by: str = ""
    until: str | None = None


class NodeApproval(msgspec.Struct, frozen=True, omit_defaults=True):
    """An approval of a dataset or a job, as its property `approvals` has it."""

    policy: str
    reason: str
    at: datetime
    by: str = ""
    until: str | None = None

    def is_active(self, today: date) -> bool:
        """Return True if the approval counts on a day; an unreadable last day has passed."""
        if self.until is None:
            return True
        try:
            return today <= date.fromisoformat(self.until)
        except ValueError:
            return False


def edited_description(description: str | None, edits: Registers) -> str | None:
    """Return the description of a facet, or that of a person over it."""
    register = edits.get(DESCRIPTION)
    if register is None or not register.value:
        return description
    return msgspec.json.decode(register.value, type=str)


def edited_owners(owners: Iterable[str] | None, edits: Registers) -> list[str] | None:
    """Return the owners of a facet with the edits of people; None if there never were any."""
    found = None if owners is None else dict.fromkeys(owners)
    for key, register in sorted(edits.items()):
        if key.startswith(OWNER):
            found = {} if found is None else found
            name = key.removeprefix(OWNER)
            if register.value == REMOVED:
                found.pop(name, None)
            elif register.value == ADDED:
                found[name] = None
    return None if found is None else list(found)


def deprecation_of(edits: Registers) -> tuple[Deprecation, int] | None:
    """Return the deprecation that counts, and its instant; None without one."""
    register = edits.get(DEPRECATION)
    if register is None or not register.value:
        return None
    return msgspec.json.decode(register.value, type=Deprecation), register.instant


def approvals_of(edits: Registers) -> list[NodeApproval]:
    """Return the approvals that were not withdrawn, by the names of their policies."""
    found = []
    for key, register in sorted(edits.items()):
        if key.startswith(APPROVAL) and register.value:
            approval = msgspec.json.decode(register.value, type=Approval)
            at = to_datetime(register.instant)
            policy = key.removeprefix(APPROVAL)
            found.append(NodeApproval(policy, approval.reason, at, approval.by, approval.until))
    return found


def read_approvals(text: str | None) -> list[NodeApproval]:
    """Return the approvals in the property `approvals` of a node."""
    return msgspec.json.decode(text, type=list[NodeApproval]) if text else []
