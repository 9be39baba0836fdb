"""Outlier detection for a number, given earlier ones.

The rule is the modified z-score of Iglewicz and Hoaglin ("How to Detect and Handle Outliers",
1993), in the form of the NIST e-Handbook of Statistical Methods (1.3.5.17). The score is the
distance to the median of the earlier numbers, times 0.6745, over the median of their absolute
deviations (MAD). A score above 3.5 is an outlier. Medians are used because the earlier numbers may
hold an outlier themselves. If most of them are equal, the MAD is 0. Then the mean absolute
deviation times the square root of half of pi replaces it; both estimate the same standard
deviation. If all of them are equal, any other number is an outlier.

Two conditions are added. At least three earlier numbers must be known, and the newest ten count.
The distance must be at least `share` of the median, so a small change of a constant is no outlier.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

EARLIER_MIN = 3
EARLIER_MAX = 10
SCORE_MAX = 3.5
SHARE = 0.1
_PER_MAD = 0.6745
_PER_MEAN = math.sqrt(math.pi / 2)


@dataclass(frozen=True)
class Outlier:
    """A number with its modified z-score, which is infinite if all earlier numbers are equal."""

    value: float
    median: float
    score: float


def find_outlier(value: float, earlier: Sequence[float], *, share: float = SHARE) -> Outlier | None:
    """Return the number as an outlier of earlier ones, newest first; None if it is not one."""
    known = earlier[:EARLIER_MAX]
    if len(known) < EARLIER_MIN:
        return None
    middle = float(median(known))
    distance = abs(value - middle)
    score = _score(distance, [abs(number - middle) for number in known])
    if score <= SCORE_MAX or distance < share * abs(middle):
        return None
    return Outlier(value, middle, score)


def _score(distance: float, deviations: Sequence[float]) -> float:
    if distance == 0:
        return 0.0
    spread = median(deviations) / _PER_MAD or fmean(deviations) * _PER_MEAN
    return distance / spread if spread else math.inf
