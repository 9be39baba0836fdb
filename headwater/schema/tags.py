"""The tags of a dataset or a job: those of its `tags` facet, with the edits of people. Pure.

A person's newest edit of a tag overrides the facet, whichever came later: a producer repeats its
facet with every run. A tag is identified by its field and its text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from headwater.schema.facets.dataset import DatasetTag
from headwater.schema.facets.job import JobTag
from headwater.schema.facets.run import RunTag
from headwater.schema.facts import Registers

ADDED, REMOVED = "added", "removed"
# A node with one of these tags is critical.
CRITICAL_TAGS = (
    "critical",
    "critical=true",
    "criticality=critical",
    "criticality=high",
    "tier=1",
)
_NO_VALUES = frozenset({"false", "no", "none", "0"})
Tag = DatasetTag | JobTag | RunTag


def tag_text(tag: Tag) -> str:
    """Return a tag as `key=value`.

    A tag without a value, or with its key or "true" for a value, is its key alone.
    """
    return tag.key if tag.value in (None, "", "true", tag.key) else f"{tag.key}={tag.value}"


def tag_key(tag: Tag) -> str:
    """Return the key of a tag among the edits: JSON of its field ("" without one) and its text."""
    field = tag.field if isinstance(tag, DatasetTag) else None
    return json.dumps([field or "", tag_text(tag)])


def edited_tags(tags: Iterable[Tag] | None, edits: Registers) -> list[Tag]:
    """Return the tags of a facet with the edits of people."""
    found = {tag_key(tag): tag for tag in tags or ()}
    for key, register in sorted(edits.items()):
        if register.value == REMOVED:
            found.pop(key, None)
        elif key not in found:
            field, text = json.loads(key)
            found[key] = DatasetTag(text, field=field or None)
    return list(found.values())


def has_tag(tags: Iterable[str], *keys: str) -> bool:
    """Return True if one of the tags has one of these keys, and no value that denies it."""
    for text in tags:
        key, _, value = text.casefold().partition("=")
        if key.strip() in keys and value.strip() not in _NO_VALUES:
            return True
    return False


def tag_value(tags: Iterable[str], key: str) -> str:
    """Return the value of the first tag with a key; "" without one."""
    for text in tags:
        found, _, value = text.partition("=")
        if found.strip().casefold() == key and value.strip():
            return value.strip()
    return ""
