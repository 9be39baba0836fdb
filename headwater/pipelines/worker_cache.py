"""The caches of a Python worker of Spark, shared by its tasks.

A worker runs many tasks, one after the other, on similar events. Each task gets new copies of its
arguments, whose caches are empty. So all tasks use the copies of the first task.
"""

from __future__ import annotations

import gc
from functools import lru_cache

import msgspec

from headwater.ingest.receive.redact import Redactor
from headwater.schema.naming import Naming

redactor = lru_cache(maxsize=1)(Redactor)
_namings: dict[bytes, Naming] = {}


def naming(given: Naming) -> Naming:
    """Return the first naming of this worker that has the same rules."""
    rules = msgspec.json.encode(given.__reduce__()[1], order="sorted")
    return _namings.setdefault(rules, given)


def freeze() -> None:
    """Exclude all current objects from garbage collection; call this at the end of a task.

    Spark collects garbage after each task. In the caches this would take longer than many tasks.
    """
    gc.freeze()
