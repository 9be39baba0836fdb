"""What a sample of events says about all of them: a share with its bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

# The 97.5th percentile of the normal distribution: between the bounds are 95 %.
_Z = 1.959963984540054


@dataclass(frozen=True)
class ShareEstimate:
    """The share of events in a sample, and the bounds of the share among all events."""

    share: float
    low: float
    high: float


def estimate_share(found: int, sampled: int) -> ShareEstimate:
    """Estimate the share of events with a property from a sample.

    Args:
        found: The number of sampled events with the property.
        sampled: The number of sampled events.

    Returns:
        The share in the sample, and the 95 % bounds of E. B. Wilson's score interval (Journal of
        the American Statistical Association 22, 1927), which also holds for shares near 0 and 1.

    Raises:
        ValueError: `sampled` is not above 0, or `found` is not between 0 and `sampled`.
    """
    if sampled <= 0 or not 0 <= found <= sampled:
        raise ValueError(f"`found` must be between 0 and `sampled`, not {found!r} of {sampled!r}")
    share, square = found / sampled, _Z * _Z
    center = (share + square / (2 * sampled)) / (1 + square / sampled)
    spread = math.sqrt(share * (1 - share) / sampled + square / (4 * sampled * sampled))
    half = _Z * spread / (1 + square / sampled)
    # Rounding must not move the bounds of none and of all.
    low = center - half if found else 0.0
    high = center + half if found < sampled else 1.0
    return ShareEstimate(share, low, high)


def miss_probability(events: int, rate: float) -> float:
    """Return the probability that a sample holds none of some events: (1 - rate) ** events.

    Raises ValueError if `rate` is not between 0 and 1, or `events` is negative.
    """
    if not 0.0 <= rate <= 1.0:
        raise ValueError(f"`rate` must be between 0 and 1, not {rate!r}")
    if events < 0:
        raise ValueError(f"`events` must not be negative, not {events!r}")
    return float((1 - rate) ** events)
