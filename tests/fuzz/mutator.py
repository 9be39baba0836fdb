"""Random inputs made from seeds and tokens, with a pool that grows by new outcomes.

A target returns the outcome of an input: the kind of its result, or the kind of its error. An input
with a new outcome joins the pool, so that later inputs build on what reaches further.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

POOL_MAX = 2_000
CHARACTERS_MAX = 4_000
HARD = (
    "", " ", "\x00", "\ufeff", "\u2028", "\ud800", "\U0001f642", "\u0130", "\r", "\n", "\t", "\\",
    "\\u0000", "\\ud800", "%00", "%", "'", '"', "`", "{", "}", "[", "]", "(", ")", "<", ">", ":",
    ";", "--", "/*", "*/", "#", "$", "0", "-1", "1e999", "9" * 400, "null", "NaN", "a" * 300,
)  # fmt: skip


_VALUES = re.compile(r"['\"`].*|\d+", re.DOTALL)


class Mutator:
    """A source of inputs for one target; the same seed gives the same inputs."""

    def __init__(self, seeds: Sequence[str], tokens: Sequence[str], seed: str) -> None:
        self._pool = list(seeds)
        self._tokens = [*tokens, *HARD]
        self._chance = random.Random(seed)
        self._outcomes: set[str] = set()

    @property
    def outcomes(self) -> int:
        """Return the number of different outcomes so far."""
        return len(self._outcomes)

    def next(self) -> str:
        """Return the next input: a member of the pool with up to eight changes."""
        chance = self._chance
        text = chance.choice(self._pool)
        for _ in range(chance.choice((1, 1, 2, 3, 8))):
            text = self._changed(text)
        return text[:CHARACTERS_MAX]

    def report(self, text: str, outcome: str) -> None:
        """Add an input to the pool if its outcome, without values in it, is new."""
        outcome = _VALUES.sub("", outcome)
        if outcome not in self._outcomes and len(self._pool) < POOL_MAX:
            self._outcomes.add(outcome)
            self._pool.append(text)

    def _changed(self, text: str) -> str:
        chance = self._chance
        start = chance.randint(0, len(text))
        end = min(len(text), start + chance.choice((0, 1, 2, 8, 40)))
        piece = text[start:end]
        other = chance.choice(self._pool)
        cut = chance.randint(0, len(other))
        replacements = (
            chance.choice(self._tokens),
            "",
            piece * chance.choice((2, 3, 30)),
            chr(chance.choice((chance.randrange(128), chance.randrange(0x11000)))),
            other[cut : cut + chance.choice((1, 8, 60))],
            piece[::-1],
            piece.swapcase(),
        )
        return text[:start] + chance.choice(replacements) + text[end:]
