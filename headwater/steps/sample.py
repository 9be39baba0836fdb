"""The deterministic sample of events: every service chooses the same keys."""

from __future__ import annotations

import hashlib

RATE_DEFAULT = 0.01
_BYTES = 8
_RANGE = 2 ** (8 * _BYTES)


def is_sampled(key: str | bytes | int, rate: float = RATE_DEFAULT) -> bool:
    """Return True if events with this key belong to the sample.

    The decision depends on the key and the rate alone, so each service on the way of an event makes
    the same one, and a larger rate includes the keys of a smaller one.

    Args:
        key: The key of the event, for example of a Kafka record. An integer counts as its decimal
            digits, a text as its UTF-8 bytes.
        rate: The share of keys in the sample, from 0.0 to 1.0.

    Returns:
        True if the first 8 bytes of SHA-256 of the key, as a big-endian integer, are less than
        `rate` times 2**64.

    Raises:
        ValueError: `rate` is not between 0 and 1.
    """
    if not 0.0 <= rate <= 1.0:
        raise ValueError(f"`rate` must be between 0 and 1, not {rate!r}")
    raw = key if isinstance(key, bytes) else str(key).encode("utf-8", "surrogatepass")
    first = int.from_bytes(hashlib.sha256(raw).digest()[:_BYTES], "big")
    return bool(first < rate * _RANGE)
