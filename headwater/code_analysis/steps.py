"""A bound on the work of reading code.

A query that reads another one twice has its columns twice, and `n = n + n` doubles a text. A chain
of such lines would take hours and all the memory, though it is short. A script may run one text of
SQL a thousand times.
"""

from __future__ import annotations

from headwater.code_analysis.model import UnreadableError

# People's code takes some ten thousands. This many take seconds.
STEPS_MAX = 500_000
# A reference takes as long as this many columns that are passed on.
REFERENCE_STEPS = 5


class Steps:
    """The steps that the reading of code has taken: one for each column that a query or a frame
    passes on, and for each character of a text that is put together, read through a variable or
    parsed as SQL."""

    def __init__(self, steps_max: int = STEPS_MAX) -> None:
        self.count = 0
        self._max = steps_max

    def take(self, count: int) -> None:
        """Count steps before they are taken. Raises UnreadableError past the bound."""
        self.count += count
        if self.count > self._max:
            raise UnreadableError(f"the code takes more than {self._max} steps to read")
