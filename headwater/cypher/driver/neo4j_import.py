"""The Neo4j driver, imported without numpy, pandas and pyarrow.

It imports them where they are installed, for parameters and results that nobody here asks for. That took half of the
time in which the API started again after it had been killed, and twice the memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def _without(*names: str) -> Iterator[None]:
    """Modules that were not imported yet cannot be in this block, and can be again after it."""
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
    from neo4j._codec.packstream import Structure

__all__ = ["Structure", "neo4j"]
