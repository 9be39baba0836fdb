"""What a Python worker of Spark remembers from one task for the next.

A worker takes many tasks, one after the other, and the events of all of them are alike. But what a task is given it is
given anew, and has forgotten what the last one had learnt: so the first that came is taken each time.
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
    """The naming of the same rules that was there first."""
    said = msgspec.json.encode(given.__reduce__()[1], order="sorted")
    return _namings.setdefault(said, given)


def freeze() -> None:
    """To be called at the end of a task: Spark has Python look for cycles behind each, also in all that is remembered,
    which takes longer than many a task. What is there now is passed over."""
    gc.freeze()
