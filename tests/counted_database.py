"""A real database that records the names of the queries that it runs."""

from __future__ import annotations

from typing import Any

from headwater.cypher.driver.database import Database, Row


class CountedDatabase(Database):
    """A database over the connections of another; `queries` lists the names of its reads."""

    def __init__(self, database: Database) -> None:
        self.__dict__.update(database.__dict__)
        self.queries: list[str] = []

    def read(self, name: str, /, **options: Any) -> list[Row]:
        self.queries.append(name)
        return super().read(name, **options)
