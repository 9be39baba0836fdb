"""The enumerations of the schema."""

from __future__ import annotations

from enum import Enum

import strawberry


@strawberry.enum(
    description="How a run stands. ABANDONED: it never ended, and too long ago to be running still."
)
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


@strawberry.enum(
    description="How something shows that it may have gone wrong, the likeliest first."
)
class RootCauseKind(Enum):
    FAILED = strawberry.enum_value(
        "FAILED", description="The run failed, and its outputs could be read."
    )
    TESTS_FAILED = strawberry.enum_value(
        "TESTS_FAILED", description="Tests of what it read or made failed."
    )
    SCHEMA_CHANGED = strawberry.enum_value(
        "SCHEMA_CHANGED", description="The schema is not that of the version before."
    )
    ROW_COUNT_OUTLIER = strawberry.enum_value(
        "ROW_COUNT_OUTLIER", description="The row count is out of the ordinary."
    )
    CODE_CHANGED = strawberry.enum_value(
        "CODE_CHANGED", description="Not the code of the job's success before."
    )
    INPUT_LATE = strawberry.enum_value(
        "INPUT_LATE", description="It read something much older than usual."
    )


@strawberry.enum(description="What a node is.")
class NodeKind(Enum):
    DATASET = "DATASET"
    JOB = "JOB"
    PIPELINE_RUN = "PIPELINE_RUN"
    SOURCE = "SOURCE"
    ARTIFACT = "ARTIFACT"
    ANSWER = "ANSWER"
    COLUMN = "COLUMN"
    HIDDEN = strawberry.enum_value(
        "HIDDEN", description="A stub: here a way leads through what may not be seen."
    )
