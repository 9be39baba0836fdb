"""The progress of Spark's stages, from its own reports."""

from __future__ import annotations

from pyspark import SparkStageInfo

from headwater.pipelines.spark_progress import TaskProgress, task_progress


def stage(number: int, done: int, total: int) -> SparkStageInfo:
    return SparkStageInfo(number, 0, "mapInArrow", total, min(1, total - done), done, 0)


def test_without_a_stage_there_is_no_progress() -> None:
    assert task_progress([]) is None
    # One that Spark has forgotten.
    assert task_progress([None]) is None


def test_tasks_of_all_running_stages_are_shown_under_the_latest() -> None:
    assert task_progress([stage(0, 3, 8)]) == TaskProgress(stage=1, done=3, total=8)
    assert task_progress([stage(4, 0, 2), None, stage(2, 5, 16)]) == TaskProgress(
        stage=5, done=5, total=18
    )


def test_done_never_exceeds_the_total() -> None:
    assert task_progress([stage(0, 9, 8)]) == TaskProgress(stage=1, done=8, total=8)
