"""Whether a number is out of the ordinary, judged by the ones before it.

The rule is the modified z-score of Iglewicz and Hoaglin ("How to Detect and Handle Outliers", 1993), as the NIST
e-Handbook of Statistical Methods (1.3.5.17) gives it: the distance to the median of the earlier numbers over the median
of their absolute deviations (MAD), times 0.6745, is above 3.5. Medians, since the earlier numbers may hold an outlier
themselves. Where most of them are the same, the MAD is 0, and the mean absolute deviation times the square root of half
of pi stands for it (both estimate the same standard deviation); where all are the same, any other number stands out.

Two things are asked besides: at least three earlier numbers, of which the newest ten count, and a distance of at least
`share` of the median, so that a small change of a steady number is none.
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
    """A number out of the ordinary; `score` is infinite where the earlier ones were all the same."""

    value: float
    median: float
    score: float


def find_outlier(value: float, earlier: Sequence[float], *, share: float = SHARE) -> Outlier | None:
    """How far a number is out of the ordinary, given earlier ones, newest first; None when it is not, or when too few
    are known to tell."""
    known = earlier[:EARLIER_MAX]
    if len(known) < EARLIER_MIN:
        return None
    middle = float(median(known))
    distance = abs(value - middle)
    score = _score(distance, [abs(one - middle) for one in known])
    if score <= SCORE_MAX or distance < share * abs(middle):
        return None
    return Outlier(value, middle, score)


def _score(distance: float, deviations: Sequence[float]) -> float:
    if distance == 0:
        return 0.0
    spread = median(deviations) / _PER_MAD or fmean(deviations) * _PER_MEAN
    return distance / spread if spread else math.inf
