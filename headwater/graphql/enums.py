"""The enumerations of the schema."""

from __future__ import annotations

from enum import Enum

import strawberry


@strawberry.enum(description="How a run stands. ABANDONED: it never ended, and too long ago to be running still.")
class RunStatus(Enum):
    RUNNING = "RUNNING"
    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    ABORT = "ABORT"
    ABANDONED = "ABANDONED"


@strawberry.enum(description="Which way a lineage is walked.")
class Direction(Enum):
    UPSTREAM = "UPSTREAM"
    DOWNSTREAM = "DOWNSTREAM"
    BOTH = "BOTH"


@strawberry.enum(description="What a node is.")
class NodeKind(Enum):
    DATASET = "DATASET"
    JOB = "JOB"
    PIPELINE_RUN = "PIPELINE_RUN"
    SOURCE = "SOURCE"
    ARTIFACT = "ARTIFACT"
    ANSWER = "ANSWER"
    COLUMN = "COLUMN"
