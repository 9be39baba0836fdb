"""Which rows a step dropped and added, by a key column, and samples of them by consent."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

SAMPLE_MAX = 20
_KEYS_MAX = 5_000_000
_VALUE_CHARACTERS_MAX = 100


@dataclass(frozen=True)
class RowTracking:
    """Compare the keys of the rows before and after a step. See `rows`."""

    key: str
    sample: int = 0
    hashed: bool = True


def rows(key: str, *, sample: int = 0, hashed: bool = True) -> RowTracking:
    """Track rows by a key column.

    Args:
        key: The column that identifies a row, in the first input and in the output.
        sample: The number of dropped and of added keys to send with the run, up to 20. By default
            0: keys are data, and leave the process only if you ask for it.
        hashed: Send the first 16 characters of SHA-256 of a sampled key in place of the key.

    Raises:
        ValueError: `sample` is not between 0 and 20.
    """
    if not 0 <= sample <= SAMPLE_MAX:
        raise ValueError(f"`sample` must be between 0 and {SAMPLE_MAX}, not {sample!r}")
    return RowTracking(key, sample, hashed)


def keys_of(frame: Any, tracking: RowTracking) -> set[Any] | None:
    """Return the distinct keys of a frame; None if it lacks the column or has too many rows."""
    if tracking.key not in list(frame.columns):
        return None
    if type(frame).__module__.startswith("pyspark"):
        # PySpark: the keys are collected, so this runs the plan.
        found = frame.select(tracking.key).distinct().limit(_KEYS_MAX + 1).collect()
        keys = {row[0] for row in found}
    else:
        keys = set(frame[tracking.key].dropna().unique().tolist())
    return keys if len(keys) <= _KEYS_MAX else None


def row_changes(
    before: set[Any] | None, after: set[Any] | None, tracking: RowTracking
) -> dict[str, Any] | None:
    """Return how many keys a step kept, dropped and added, as the facet has it."""
    if before is None or after is None:
        return None
    dropped, added = before - after, after - before
    changes: dict[str, Any] = {
        "key": tracking.key,
        "kept": len(before & after),
        "dropped": len(dropped),
        "added": len(added),
    }
    if tracking.sample:
        changes["droppedSample"] = _sample(dropped, tracking)
        changes["addedSample"] = _sample(added, tracking)
    return changes


def _sample(keys: set[Any], tracking: RowTracking) -> list[str]:
    """Return the keys with the smallest hashes: the same ones in every step and every run."""
    digests = {hashlib.sha256(str(key).encode("utf-8", "replace")).hexdigest(): key for key in keys}
    chosen = sorted(digests)[: tracking.sample]
    if tracking.hashed:
        return [digest[:16] for digest in chosen]
    return [str(digests[digest])[:_VALUE_CHARACTERS_MAX] for digest in chosen]
