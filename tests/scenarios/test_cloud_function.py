"""Times of invocations, worked out by hand."""

from __future__ import annotations

import pytest

from headwater.scenarios.cloud_function import Deployment, invoke


@pytest.mark.parametrize(
    ("package_mb", "memory_mb", "is_warm", "start", "work", "is_timeout"),
    [
        # Half a processor: 40 MB * 0.05 s / 0.5 = 4 s, and 200 rows * 0.02 s / 0.5 = 8 s.
        (40, 512, False, 4.0, 8.0, False),
        # 260 * 0.05 / 0.5 = 26 s; with the work 34 s of 30.
        (260, 512, False, 26.0, 8.0, True),
        # A warm instance has loaded its package before.
        (260, 512, True, 0.0, 8.0, False),
        # A whole processor halves both times; more memory gives no further one.
        (260, 1024, False, 13.0, 4.0, False),
        (260, 4096, False, 13.0, 4.0, False),
    ],
)
def test_memory_and_package_decide_about_a_timeout(
    package_mb: int, memory_mb: int, is_warm: bool, start: float, work: float, is_timeout: bool
) -> None:
    deployment = Deployment("1", package_mb, memory_mb, limit_seconds=30)
    found = invoke(deployment, 200, is_warm=is_warm)
    assert found.is_cold is not is_warm
    assert (found.start_seconds, found.work_seconds) == (start, work)
    assert found.is_timeout is is_timeout
    assert found.seconds == (30.0 if is_timeout else start + work)


def test_the_limit_itself_is_no_timeout() -> None:
    # 0.05 * 440 = 22 s and 8 s of work are exactly 30 s at half a processor.
    found = invoke(Deployment("1", 220, 512, limit_seconds=30), 200, is_warm=False)
    assert found.start_seconds + found.work_seconds == 30.0
    assert not found.is_timeout
