"""What is told of Spark's stages is what Spark says of them."""

from __future__ import annotations

from pyspark import SparkStageInfo

from headwater.pipelines.spark_progress import Tasks, tasks


def stage(number: int, done: int, total: int) -> SparkStageInfo:
    return SparkStageInfo(number, 0, "mapInArrow", total, min(1, total - done), done, 0)


def test_of_no_stage_nothing_is_told() -> None:
    assert tasks([]) is None
    # One that Spark has forgotten.
    assert tasks([None]) is None


def test_tasks_of_all_that_run_now_are_told_under_the_latest_stage() -> None:
    assert tasks([stage(0, 3, 8)]) == Tasks(stage=1, done=3, total=8)
    assert tasks([stage(4, 0, 2), None, stage(2, 5, 16)]) == Tasks(stage=5, done=5, total=18)


def test_no_more_is_done_than_there_is() -> None:
    assert tasks([stage(0, 9, 8)]) == Tasks(stage=1, done=8, total=8)
