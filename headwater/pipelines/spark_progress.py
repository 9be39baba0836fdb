"""The progress of Spark for a waiting user: a shuffle yields nothing until all input is read.

A query becomes stages, one after the other. Spark reports the tasks of each stage, total and done,
but not the number of stages to come. So the progress is a stage with its tasks, not a percentage.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark import SparkStageInfo, StatusTracker
    from pyspark.sql import SparkSession

POLL_SECONDS = 0.5


class TaskProgress(NamedTuple):
    """The running stages: the number of the latest, from 1, and their tasks, done and total."""

    stage: int
    done: int
    total: int


def task_progress(stages: Iterable[SparkStageInfo | None]) -> TaskProgress | None:
    """Return the progress of these stages; None if there is none.

    Spark may have dropped a stage (None), and may count a retried task twice.
    """
    present = [stage for stage in stages if stage is not None]
    if not present:
        return None
    return TaskProgress(
        max(stage.stageId for stage in present) + 1,
        sum(min(stage.numCompletedTasks, stage.numTasks) for stage in present),
        sum(stage.numTasks for stage in present),
    )


@contextmanager
def report_progress(
    spark: SparkSession, on_progress: Callable[[TaskProgress], object]
) -> Iterator[None]:
    """Call `on_progress` from a thread whenever the progress of Spark has changed."""
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
        except Exception:  # Spark has ended; its caller gets the error
            return
        if now is not None and now != before:
            on_progress(now)
            before = now
