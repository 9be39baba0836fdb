"""Spells of trouble of single items (columns, checks) of a dataset, and the episodes they make.

Items that got into trouble with the same run or version make one episode, so that one bad load is
one finding. It ends when the last of them is well again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.health.findings.models import Episode

ITEMS_MAX = 20


@dataclass(frozen=True)
class Spell:
    """Trouble of one item, from the run or version `began_with` to `resolved_by`."""

    began_with: str
    item: tuple[str, ...]
    first_seen: datetime
    last_seen: datetime
    evidence: Mapping[str, Any]
    resolved_at: datetime | None = None
    resolved_by: str | None = None


def episodes_of(rule: str, subject: str, spells: Iterable[Spell], items: str) -> Iterator[Episode]:
    """Yield an episode for the spells of each beginning; `items` names their list in the evidence.

    The evidence has the first item's own values as well.
    """
    by_beginning: dict[str, list[Spell]] = defaultdict(list)
    for spell in spells:
        by_beginning[spell.began_with].append(spell)
    for began_with, some in sorted(by_beginning.items()):
        yield _episode(rule, subject, began_with, sorted(some, key=lambda one: one.item), items)


def _episode(rule: str, subject: str, key: str, spells: list[Spell], items: str) -> Episode:
    ends = [spell.resolved_at for spell in spells if spell.resolved_at is not None]
    is_over = len(ends) == len(spells)
    last = max(spells, key=lambda one: (one.resolved_at or one.last_seen, one.item))
    listed = [dict(spell.evidence) for spell in spells[:ITEMS_MAX]]
    return Episode(
        rule=rule,
        subject=subject,
        key=key,
        first_seen=min(spell.first_seen for spell in spells),
        last_seen=max(spell.last_seen for spell in spells),
        resolved_at=max(ends) if is_over else None,
        resolved_by=last.resolved_by if is_over else None,
        evidence={"begunBy": key, items: listed, "count": len(spells)},
    )
