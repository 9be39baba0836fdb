"""The Neo4j driver, imported without numpy, pandas and pyarrow.

The driver imports them where they are installed, for types of parameters and results that Headwater
does not use. That took half of the time of a restart of the API, and doubled its memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def _without(*names: str) -> Iterator[None]:
    """Make modules that are not imported yet unavailable within the block."""
    hidden = [name for name in names if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


with _without("numpy", "pandas", "pyarrow"):
    import neo4j
    import neo4j.exceptions
    import neo4j.graph
    import neo4j.time

__all__ = ["neo4j"]
