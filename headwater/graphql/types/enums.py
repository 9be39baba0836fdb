"""The enumerations of the schema."""

from __future__ import annotations

from enum import Enum

import strawberry


@strawberry.enum(
    description="The status of a run. ABANDONED: it sent no end, and its last event is too old for "
    "it to be running."
)
class RunStatus(Enum):
    RUNNING = "RUNNING"
    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    ABORT = "ABORT"
    ABANDONED = "ABANDONED"


@strawberry.enum(description="The direction of a traversal.")
class Direction(Enum):
    UPSTREAM = "UPSTREAM"
    DOWNSTREAM = "DOWNSTREAM"
    BOTH = "BOTH"


@strawberry.enum(description="The sign of a possible root cause, the likeliest first.")
class RootCauseKind(Enum):
    FAILED = strawberry.enum_value(
        "FAILED", description="The run failed, and others could read its output."
    )
    TESTS_FAILED = strawberry.enum_value(
        "TESTS_FAILED", description="Tests of an input or output of the run failed."
    )
    INPUT_CHANGED = strawberry.enum_value(
        "INPUT_CHANGED", description="The job reads other datasets than its runs before."
    )
    SCHEMA_CHANGED = strawberry.enum_value(
        "SCHEMA_CHANGED",
        description="The schema differs from that of the version before, or of the dataset that it "
        "replaced.",
    )
    ROW_COUNT_OUTLIER = strawberry.enum_value(
        "ROW_COUNT_OUTLIER", description="The row count is an outlier among earlier versions."
    )
    COLUMN_MEASURE_CHANGED = strawberry.enum_value(
        "COLUMN_MEASURE_CHANGED",
        description="The mean, the share of nulls or the distinct count of a column left the "
        "baseline of earlier versions.",
    )
    CODE_CHANGED = strawberry.enum_value(
        "CODE_CHANGED",
        description="The version or the hash of the code differs from the job's last successful "
        "run before.",
    )
    INPUT_LATE = strawberry.enum_value(
        "INPUT_LATE", description="An input was much older than usual."
    )


@strawberry.enum(description="The kind of a node.")
class NodeKind(Enum):
    DATASET = "DATASET"
    JOB = "JOB"
    PIPELINE_RUN = "PIPELINE_RUN"
    SOURCE = "SOURCE"
    ARTIFACT = "ARTIFACT"
    ANSWER = "ANSWER"
    COLUMN = "COLUMN"
    HIDDEN = strawberry.enum_value(
        "HIDDEN", description="A node that is not visible to the key; its lineage continues here."
    )
