"""What people decide about a dataset or a job, over what its producers send. Pure.

Each decision is a register of its own, so edits of two people at once lose nothing. The newest
counts, whatever a producer sends later; a withdrawn one lets the producer's value count again.

| key of a register | value |
|---|---|
| `description` | JSON of the text, or "" if it was withdrawn |
| `deprecation` | JSON of the deprecation, or "" if it was withdrawn |
| `owner:NAME` | `added` or `removed` |

The history of edits has three more keys: `tag:` with the key of the tag, `alias:` with the urn of
the other name (`same` or `apart`), and `deletion`.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from headwater.schema.facets.headwater import Deprecation
from headwater.schema.facts import Registers
from headwater.schema.tags import ADDED, REMOVED

DESCRIPTION, DEPRECATION, DELETION = "description", "deprecation", "deletion"
OWNER, TAG, ALIAS = "owner:", "tag:", "alias:"


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
