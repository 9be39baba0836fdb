"""What the history of a dataset says of itself."""

from __future__ import annotations

import pytest

from headwater.health.findings.datasets.history import Producer
from tests.health.findings.datasets.histories import day, history, reader, version


def test_a_dropped_or_deleted_dataset_is_gone() -> None:
    assert not history().is_gone
    assert history(dropped_at=day(1)).is_gone
    assert history(deleted_at=day(1)).is_gone
    # People still read what is only deprecated.
    assert not history(deprecated_at=day(1)).is_gone


def batch(name: str, *, is_retired: bool = False) -> Producer:
    return Producer(f"job:etl:{name}", day(0), is_retired=is_retired)


STREAM = Producer("job:etl:stream", day(0), is_streaming=True)


@pytest.mark.parametrize(
    ("producers", "is_kept_up"),
    [
        ((), False),
        ((batch("a"),), True),
        ((batch("a", is_retired=True),), False),
        ((batch("a", is_retired=True), batch("b")), True),
        # A stream has no versions that could be late.
        ((STREAM,), False),
        ((batch("a"), STREAM), False),
    ],
)
def test_jobs_that_run_in_batches_keep_a_dataset_up(
    producers: tuple[Producer, ...], is_kept_up: bool
) -> None:
    assert history(producers=producers).is_kept_up is is_kept_up


def test_incomplete_versions_are_left_out_and_the_order_stays() -> None:
    made = [version(0), version(1, complete=False), version(2)]
    found = history(versions=tuple(made)).complete_versions
    assert [one.created_at for one in found] == [day(0), day(2)]


def test_former_readers_are_left_out() -> None:
    both = (reader("report", 0), reader("old", 0, is_current=False))
    assert [one.job for one in history(readers=both).current_readers] == ["job:etl:report"]
