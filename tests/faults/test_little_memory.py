"""F16: a valid request is never refused for good because memory is out, and no result is wrong.

The API answers MemoryError with 503 and Retry-After, and the client sends again.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.faults.little_memory import KILLED, NO_MEMORY, RIGHT
from tests.faults.processes import slack
from tests.repo.repository import ROOT

SECONDS_MAX = 60.0


@pytest.fixture(scope="module")
def outcomes() -> dict[str, dict[str, int]]:
    """Return the number of each outcome by case."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.little_memory"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        timeout=SECONDS_MAX * slack(),
        check=True,
    )
    found: dict[str, dict[str, int]] = json.loads(done.stdout)
    print(found)
    return found


@pytest.mark.parametrize("case", ["gzip", "protobuf", "event", "secrets", "thread"])
def test_no_memory_is_no_fault_of_the_request(
    case: str, outcomes: dict[str, dict[str, int]]
) -> None:
    assert outcomes[case].keys() <= {RIGHT, NO_MEMORY, KILLED}
    assert {RIGHT, NO_MEMORY} <= outcomes[case].keys(), "the rooms do not reach both outcomes"
