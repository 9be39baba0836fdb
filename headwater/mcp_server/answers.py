"""The answers of tools whose question has no type of its own in the Python client."""

from __future__ import annotations

import msgspec

from headwater.client.records import (
    AnswerDetails,
    DatasetDetails,
    FailedRun,
    Finding,
    JobDetails,
    Node,
    RunDetails,
)


class Found(msgspec.Struct, frozen=True, rename="camel"):
    """The nodes that a search found, equal names first."""

    nodes: tuple[Node, ...]
    total_count: int | None


class FailedRuns(msgspec.Struct, frozen=True, rename="camel"):
    """Failed runs, newest first; `more` is True if there are others."""

    failed_runs: tuple[FailedRun, ...]
    more: bool


class Findings(msgspec.Struct, frozen=True, rename="camel"):
    """Detected problems, newest evidence first; `more` is True if there are others."""

    findings: tuple[Finding, ...]
    more: bool


class Description(msgspec.Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """A node of one of these kinds with everything that is known about it."""

    dataset: DatasetDetails | None = None
    job: JobDetails | None = None
    run: RunDetails | None = None
    answer: AnswerDetails | None = None
