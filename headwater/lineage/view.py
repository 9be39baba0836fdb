"""The graph as one caller may see it: a connection to Neo4j, the caller's visibility, and the
lineage cache.

Every question of `headwater.lineage` takes a `GraphView`. `Database` itself knows neither
visibility nor the cache.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from headwater.cypher.driver.database import READ_SECONDS_MAX, Database, Row
from headwater.lineage.cache.cache_refresher import CacheRefresher
from headwater.schema.visibility import UNRESTRICTED, Visibility


@dataclass(frozen=True)
class GraphView:
    """A Neo4j database, the visibility of the caller, and the cached lineage graph of this process.

    `cache` is None in processes that keep no cache, and for questions that Neo4j alone must answer.
    Views share the connections of `database`: closing it ends them all.
    """

    database: Database
    visibility: Visibility = UNRESTRICTED
    cache: CacheRefresher | None = None

    def visible_to(self, visibility: Visibility) -> GraphView:
        """Return the same view for a caller with this visibility."""
        return replace(self, visibility=visibility)

    def without_cache(self) -> GraphView:
        """Return the same view with Neo4j answering everything."""
        return replace(self, cache=None)

    def up_to_date(self) -> GraphView:
        """Return a view whose answers include everything committed before this call.

        The cache is used if it catches up in time; otherwise Neo4j answers.
        """
        if self.cache is None or self.cache.catch_up():
            return self
        return self.without_cache()

    @property
    def planning_seconds(self) -> float:
        """Return how much longer a question may take because Neo4j plans the first queries."""
        return self.database.planning_seconds

    def read(
        self, name: str, /, *, seconds: float = READ_SECONDS_MAX, **parameters: Any
    ) -> list[Row]:
        """Return the rows of a catalog query, whatever the visibility.

        Raises UnavailableError or QueryError, as `Database.read` does.
        """
        return self.database.read(name, seconds=seconds, **parameters)
