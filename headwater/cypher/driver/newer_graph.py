"""The refusal of a graph that a newer version of Headwater has migrated."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from headwater.cypher.query_catalog import load_queries
from headwater.errors import NewerVersionError


def refuse_newer(read: Callable[..., list[dict[str, Any]]]) -> None:
    """Check that this version has every migration of the graph.

    `read` runs a query of the catalog. Raises NewerVersionError if a newer Headwater migrated the
    graph: its facts may have other forms. Raises what `read` raises.
    """
    newest = _newest()
    rows = read("read/state/migrations_after", name=newest)
    newer = [row["name"] for row in rows if _number(row["name"]) > _number(newest)]
    if newer:
        raise NewerVersionError(
            f"a newer Headwater has migrated this graph to {max(newer)}; this one knows the "
            f"migrations up to {newest}",
            hint="Install that version again, or a newer one.",
        )


@cache
def _newest() -> str:
    return max(name for name in load_queries() if name.startswith("migrations/"))


def _number(name: str) -> int:
    """Return the number of a migration, for example 27 of `migrations/0027_alerts`; else 0."""
    digits = name.removeprefix("migrations/")[:4]
    return int(digits) if digits.isdecimal() else 0
