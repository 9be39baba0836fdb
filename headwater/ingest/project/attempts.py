"""The attempt rule: the status of a run, from the set of its state events alone.

1. Events are ordered by instant, a START before the ending events of the same instant.
2. A START after an ending opens a new attempt: Airflow repeats the run id when it reruns a date.
3. Within the last attempt FAIL beats ABORT beats COMPLETE: the Spark listener sends FAIL, then
   COMPLETE.
4. A run without an ending is RUNNING.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from headwater.schema.events import RANKS

_WORST_FIRST = ("FAIL", "ABORT", "COMPLETE")


@dataclass(frozen=True)
class Attempts:
    """The last attempt of a run, the number of attempts, and the earlier ones that succeeded.

    `finished` is the last ending of its status, and so is `failed` if the attempt failed: Airflow
    reruns a date under its run id without a START. `succeeded_before` holds the start and end of
    the earlier attempts. Instants are in microseconds since 1970, UTC.
    """

    status: str
    count: int
    started: int | None
    finished: int | None
    failed: int | None
    succeeded_before: tuple[tuple[int, int], ...] = ()


def attempts(states: Iterable[tuple[int, str]]) -> Attempts:
    """Return the attempts of a run from its (instant, state) events, in any order."""
    count, started, endings = 0, None, list[tuple[int, str]]()
    before = list[tuple[int, int]]()
    for instant, state in sorted(set(states), key=lambda pair: (pair[0], RANKS[pair[1]], pair[1])):
        if state != "START":
            count = max(count, 1)
            endings.append((instant, state))
        elif endings or count == 0:
            if _worst(endings) == "COMPLETE":
                ended = endings[-1][0]
                before.append((ended if started is None else started, ended))
            count, started, endings = count + 1, instant, []
    worst = _worst(endings)
    finished = max((instant for instant, state in endings if state == worst), default=None)
    failed = finished if worst == "FAIL" else None
    return Attempts(worst or "RUNNING", max(count, 1), started, finished, failed, tuple(before))


def _worst(endings: list[tuple[int, str]]) -> str:
    states = {state for _, state in endings}
    return next((worst for worst in _WORST_FIRST if worst in states), "")
