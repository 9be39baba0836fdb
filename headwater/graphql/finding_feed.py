"""The feed of findings that open, change their severity, resolve, or are withdrawn.

Another process, the detector, writes findings, so the feed polls Neo4j for those that are open. A
finding that opens and resolves between two polls is not delivered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import anyio.to_thread

from headwater.cypher.driver.database import Row
from headwater.graphql.feed import Feed
from headwater.lineage.view import GraphView

# The newest open findings that are compared; older ones deliver no change.
OPEN_MAX = 10_000


class FindingFeed(Feed):
    """The changed findings of a graph, for all subscribers of this process.

    A state has `urn` (the id of the finding), `subject`, `tier`, `namespaces` and `change`: OPENED,
    CHANGED or CLOSED.
    """

    kind = "findings"

    def __init__(self, view: GraphView) -> None:
        """Create a feed. `view` is unrestricted: each subscriber filters by its visibility."""
        super().__init__()
        self._view = view
        self._open: dict[str, Row] | None = None

    def _reset(self) -> None:
        self._open = None

    async def _deliver_changes(self) -> None:
        rows = await anyio.to_thread.run_sync(self._read_open)
        found = {row["urn"]: row for row in rows}
        for change in compare(self._open, found) if self._open is not None else ():
            self._deliver(change)
        self._open = found
        self._started.set()

    def _read_open(self) -> list[Row]:
        return self._view.read("read/findings/open_states", limit=OPEN_MAX)


def compare(before: Mapping[str, Row], after: Mapping[str, Row]) -> Iterable[Row]:
    """Yield each difference of two sets of open findings, the closed ones first."""
    for urn in before.keys() - after.keys():
        yield {**before[urn], "change": "CLOSED"}
    for urn, row in after.items():
        if urn not in before:
            yield {**row, "change": "OPENED"}
        elif before[urn]["tier"] != row["tier"]:
            yield {**row, "change": "CHANGED"}
