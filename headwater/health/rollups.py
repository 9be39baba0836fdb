"""The state of the rollups of a graph: a check of `/readyz` and `headwater status`."""

from __future__ import annotations

from typing import Any

from headwater.cypher.driver.database import Database
from headwater.errors import HeadwaterError
from headwater.schema.retention import decode_horizons

_SECONDS_MAX = 2.0


def check_rollups(database: Database) -> dict[str, Any]:
    """Return the number of late runs that the writer left out.

    Raises HeadwaterError for horizons that cannot be read, UnavailableError.
    """
    for row in database.read("read/state/retention", seconds=_SECONDS_MAX):
        _, unreadable = decode_horizons(row["horizons"])
        if unreadable:
            raise HeadwaterError(
                f"stored horizons of rollups that cannot be read: {unreadable}. Their late runs "
                "are written",
                hint="Run `headwater pipeline rollup`; it replaces them.",
            )
        return {"lateRuns": row["lateRuns"]}
    return {"lateRuns": 0}
