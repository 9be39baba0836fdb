"""A function of a cloud provider, as far as its time goes: start, work, and the limit. Pure.

A cold start loads the package of the code and starts the program in it; an instance that is kept
warm did so before. The share of a processor grows with the memory, as with AWS Lambda.
"""

from __future__ import annotations

from dataclasses import dataclass

# The share of a processor is the memory over this.
FULL_PROCESSOR_MB = 1024
LOAD_SECONDS_PER_MB = 0.05
WORK_SECONDS_PER_ROW = 0.02


@dataclass(frozen=True)
class Deployment:
    """What is deployed: the code with its package, the memory, and the limit of an invocation."""

    version: str
    package_mb: int
    memory_mb: int
    limit_seconds: float


@dataclass(frozen=True)
class Invocation:
    """One invocation: the seconds until the handler ran, those of its work, and the limit."""

    is_cold: bool
    start_seconds: float
    work_seconds: float
    limit_seconds: float

    @property
    def is_timeout(self) -> bool:
        """Return True if start and work together take longer than the limit."""
        return self.start_seconds + self.work_seconds > self.limit_seconds

    @property
    def seconds(self) -> float:
        """Return how long the invocation ran; the provider ends it at the limit."""
        return min(self.start_seconds + self.work_seconds, self.limit_seconds)


def invoke(deployment: Deployment, rows: int, *, is_warm: bool) -> Invocation:
    """Return the times of an invocation.

    Args:
        deployment: What is deployed.
        rows: The number of rows of the object that it is invoked for.
        is_warm: Whether an instance with this package was kept running.
    """
    processor = min(deployment.memory_mb / FULL_PROCESSOR_MB, 1.0)
    start = 0.0 if is_warm else deployment.package_mb * LOAD_SECONDS_PER_MB / processor
    work = rows * WORK_SECONDS_PER_ROW / processor
    return Invocation(not is_warm, start, work, deployment.limit_seconds)
