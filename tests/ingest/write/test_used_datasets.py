"""The datasets in use, followed run by run without the graph."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from headwater.ingest.write.used_datasets import EndedRun, UsedDatasets

START = datetime(2026, 1, 1, tzinfo=UTC)


def ended(
    minute: float, *datasets: str, execution: str | None = "run:app", failed: bool = False
) -> EndedRun:
    finished = START + timedelta(minutes=minute)
    return EndedRun("job:etl:j", f"run:{minute}", finished, execution, frozenset(datasets), failed)


def used(
    *datasets: str,
    failed: datetime | None = None,
    execution: str | None = "run:app",
    returning: Sequence[str] = (),
    recent: Sequence[str] = (),
) -> UsedDatasets:
    row = {
        "used": [[dataset, START] for dataset in datasets],
        "succeededAt": START,
        "execution": execution,
        "failedAt": failed,
        "returning": returning,
        "recent": recent,
    }
    found = UsedDatasets.of_row(row)
    assert found is not None
    return found


def test_ten_thousand_siblings_need_no_graph_and_change_one_edge_each() -> None:
    datasets = used("d0")
    for number in range(1, 10_000):
        assert datasets.add(ended(number / 100, f"d{number}")) == {f"d{number}"}
    assert len(datasets.last_uses) == 10_000
    assert datasets.add(ended(50, "d7")) == set(), "a late sibling that reads a known dataset"


def test_the_same_datasets_under_another_parent_change_nothing() -> None:
    datasets = used("a", "b")
    assert datasets.add(ended(1440, "a", "b", execution="run:next")) == set()
    assert datasets.execution == "run:next"
    assert datasets.add(ended(1441, "c", execution="run:next")) is None, "it may count alone"


def test_other_datasets_under_another_parent_need_the_graph() -> None:
    assert used("a").add(ended(1440, "b", execution="run:next")) is None
    assert used("a").add(ended(1440, "a", "b", execution=None)) is None


def test_a_failure_in_the_execution_needs_the_graph_and_one_beside_it_does_not() -> None:
    assert used("a").add(ended(1, "b", failed=True)) is None
    datasets = used("a")
    assert datasets.add(ended(1, "b", execution="run:other", failed=True)) == set()
    assert datasets.add(ended(2, "a", execution="run:other")) is None, "`b` may be current"


def test_an_old_failure_does_not_matter() -> None:
    datasets = used("a", failed=START - timedelta(days=1))
    assert datasets.add(ended(1440, "a", execution="run:next")) == set()


def test_a_dataset_leaves_twelve_hours_after_its_last_use() -> None:
    datasets = used("a")
    assert datasets.add(ended(720, "b")) == {"b"}
    assert datasets.add(ended(721, "b")) == {"a"}
    assert datasets.last_uses.keys() == {"b"}


def test_a_late_run_of_another_execution_changes_nothing() -> None:
    assert used("a").add(ended(-5, "b", execution="run:before")) == set()
    assert used("a").add(ended(-5, "b", execution=None)) == set()


def test_no_run_succeeded() -> None:
    row: dict[str, object] = {
        "used": [],
        "succeededAt": None,
        "execution": None,
        "failedAt": START,
        "returning": [],
        "recent": [],
    }
    assert UsedDatasets.of_row(row) is None


def test_executions_before_a_failed_one_still_count() -> None:
    later = START + timedelta(minutes=1)
    row = {
        "used": [["a", START], ["b", later]],
        "succeededAt": START,
        "execution": "run:app",
        "failedAt": later,
        "returning": [],
        "recent": [],
    }
    datasets = UsedDatasets.of_row(row)
    assert datasets is not None
    assert (datasets.finished, datasets.is_exact) == (later, False)
    assert datasets.add(ended(2, "c")) is None


def test_a_job_that_comes_back_to_datasets_needs_the_graph_for_each_success() -> None:
    def datasets() -> UsedDatasets:
        return used("a", execution=None, returning=["b"], recent=["a", "b"])

    assert datasets().add(ended(1, "a", execution=None)) is None
    assert datasets().add(ended(-1, "a", execution=None)) is None
    assert datasets().add(ended(1, "c", execution="run:other", failed=True)) == set()


def test_a_late_run_may_show_that_the_job_comes_back() -> None:
    datasets = used("a", execution=None, recent=["a", "b"])
    assert datasets.add(ended(1, "a", execution=None)) == set(), "newer than each use of `b`"
    assert datasets.add(ended(-1, "a", execution=None)) is None, "it may be between two of them"
    datasets = used("a", execution=None, recent=["a"])
    assert datasets.add(ended(-1, "a", execution=None)) == set(), "no other dataset is known"
    assert datasets.add(ended(-2, "b", execution=None)) == set(), "its only use so far"
    assert datasets.add(ended(-3, "b", execution=None)) is None, "its second"


def test_the_execution_of_a_newer_run_may_have_used_more_before() -> None:
    datasets = used("c", execution=None, recent=["a", "c"])
    assert datasets.add(ended(700, "c", execution="run:other")) is None, "it may have used `a`"


def test_the_next_execution_of_a_job_that_varies_needs_the_graph() -> None:
    datasets = used("a")
    assert datasets.add(ended(721, "b")) == {"a", "b"}, "`a` left after twelve hours"
    assert datasets.add(ended(800, "b")) == set()
    assert datasets.add(ended(1500, "b", execution="run:next")) is None
    datasets = used("a")
    assert datasets.add(ended(-800, "b")) == set(), "too old for its execution"
    assert datasets.add(ended(1500, "a", execution="run:next")) is None
