"""A bound on the work of resolving the queries of SQL.

A query that reads another one twice has its columns twice. So a chain of such queries doubles the
columns at each link, and a short text would take hours.
"""

from __future__ import annotations

from headwater.code_analysis.model import UnreadableError

# People's SQL takes some thousands. This many take about a second.
STEPS_MAX = 500_000


class Steps:
    """The steps that the reading of SQL has taken: one for each column that a query passes on."""

    def __init__(self, steps_max: int = STEPS_MAX) -> None:
        self.count = 0
        self._max = steps_max

    def take(self, count: int) -> None:
        """Count steps before they are taken. Raises UnreadableError past the bound."""
        self.count += count
        if self.count > self._max:
            raise UnreadableError(f"the SQL takes more than {self._max} steps to resolve")
