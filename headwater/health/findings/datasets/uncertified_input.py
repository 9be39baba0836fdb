"""Rule `uncertified-input`: a certified dataset is made from one that is not certified.

There is one finding for each uncertified dataset directly upstream. It begins with the first
observation of the link, once the link is a day old: certifying takes a person.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from headwater.health.findings.datasets.history import DatasetHistory, Upstream
from headwater.health.findings.models import Episode
from headwater.health.findings.severity import CERTIFIED_TAGS

RULE = "uncertified-input"
GRACE = timedelta(days=1)
LISTED_MAX = 20


def detect_uncertified_input(history: DatasetHistory, instant: datetime) -> Iterator[Episode]:
    """Yield an episode for each uncertified dataset from which a certified one is made."""
    if history.is_gone or not _is_certified(history.tags):
        return
    links: dict[str, list[Upstream]] = defaultdict(list)
    for one in history.upstream:
        if not _is_certified(one.tags):
            links[one.urn].append(one)
    for urn, some in sorted(links.items()):
        first = min(one.first_seen for one in some)
        if instant - first >= GRACE:
            yield Episode(
                rule=RULE,
                subject=history.urn,
                key=urn,
                first_seen=first,
                last_seen=max(one.last_seen for one in some),
                evidence={"input": urn, "jobs": sorted({one.job for one in some})[:LISTED_MAX]},
            )


def _is_certified(tags: Sequence[str]) -> bool:
    return any(tag.casefold() in CERTIFIED_TAGS for tag in tags)
