"""How far Spark is, for whoever waits for it: nothing comes out of a shuffle until all has gone in.

A question becomes stages, one after the other, and of a stage Spark knows how many tasks it has and how many of them
are done. How many stages will follow it does not say: so the stage and its tasks are on_progress, and no share of the whole.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark import SparkStageInfo, StatusTracker
    from pyspark.sql import SparkSession

# As often as a person would look.
POLL_SECONDS = 0.5


class TaskProgress(NamedTuple):
    """Of the stages that run now: the number of the latest, from 1, and how many of their tasks are done, and are."""

    stage: int
    done: int
    total: int


def task_progress(stages: Iterable[SparkStageInfo | None]) -> TaskProgress | None:
    """How far these stages are; None where there is none. Spark may have forgotten one, and a task that is tried again
    may be done twice."""
    known = [stage for stage in stages if stage is not None]
    if not known:
        return None
    return TaskProgress(
        max(stage.stageId for stage in known) + 1,
        sum(min(stage.numCompletedTasks, stage.numTasks) for stage in known),
        sum(stage.numTasks for stage in known),
    )


@contextmanager
def report_progress(
    spark: SparkSession, on_progress: Callable[[TaskProgress], object]
) -> Iterator[None]:
    """While this lasts, `on_progress` hears every so often, from a thread of its own, how far Spark is, if that is another
    than before."""
    ended = threading.Event()
    tracker = spark.sparkContext.statusTracker()
    watching = threading.Thread(
        target=_watch, args=(tracker, on_progress, ended), name="spark-progress", daemon=True
    )
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()


def _watch(
    tracker: StatusTracker, on_progress: Callable[[TaskProgress], object], ended: threading.Event
) -> None:
    before = None
    while not ended.wait(POLL_SECONDS):
        try:
            now = task_progress(map(tracker.getStageInfo, tracker.getActiveStageIds()))
        except Exception:  # Spark has ended, and whoever waits for it hears why
            return
        if now is not None and now != before:
            on_progress(now)
            before = now
