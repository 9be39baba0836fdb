"""The steps of a run in the schema."""

from __future__ import annotations

import strawberry
from strawberry.scalars import JSON

from headwater.graphql.types.scalars import Long, long_or_none
from headwater.lineage.questions import run_steps as known


@strawberry.type(description="A data frame that a step read or returned, without its values.")
class StepFrame:
    fingerprint: str = strawberry.field(
        description="A hash of the columns, the number of rows and the content."
    )
    kind: str = strawberry.field(description="pandas or pyspark.")
    columns: list[str] = strawberry.field(description="The names of its columns, in order.")
    row_count: Long | None = strawberry.field(description="Null if it was not measured.")
    null_counts: JSON | None = strawberry.field(
        description="The number of nulls by column, without columns that have none."
    )
    content_hash: str = strawberry.field(description="A hash of the rows in any order.")
    from_step: int | None = strawberry.field(
        description="The number of the step that made it; null for the data of another origin."
    )

    @classmethod
    def of(cls, frame: known.StepFrame) -> StepFrame:
        nulls = frame.null_counts
        return cls(
            fingerprint=frame.fingerprint,
            kind=frame.kind,
            columns=[column.name for column in frame.columns],
            row_count=long_or_none(frame.row_count),
            null_counts=JSON(nulls) if nulls is not None else None,
            content_hash=frame.content_hash,
            from_step=frame.from_step,
        )


@strawberry.type(description="How many rows a step kept, dropped and added, by their keys.")
class StepRows:
    key: str = strawberry.field(description="The column that identifies a row.")
    kept: Long = strawberry.field(description="The number of keys before and after the step.")
    dropped: Long = strawberry.field(description="The number of keys only before the step.")
    added: Long = strawberry.field(description="The number of keys only after the step.")
    dropped_sample: list[str] = strawberry.field(
        description="Some dropped keys, if the job sends them."
    )
    added_sample: list[str] = strawberry.field(
        description="Some added keys, if the job sends them."
    )

    @classmethod
    def of(cls, rows: known.StepRows) -> StepRows:
        return cls(
            key=rows.key,
            kept=Long(rows.kept),
            dropped=Long(rows.dropped),
            added=Long(rows.added),
            dropped_sample=rows.dropped_sample,
            added_sample=rows.added_sample,
        )


@strawberry.type(description="One call of a tracked function inside a run.")
class RunStep:
    number: int = strawberry.field(description="Its order in the run, from 1.")
    name: str = strawberry.field(description="The name of the function, or a given one.")
    code_hash: str = strawberry.field(description="A hash of the source of the function.")
    seconds: float | None = strawberry.field(description="How long the function took.")
    error: str | None = strawberry.field(description="Why the function failed; null if it did not.")
    inputs: list[StepFrame] = strawberry.field(description="The data frames among the arguments.")
    outputs: list[StepFrame] = strawberry.field(description="The data frames in the result.")
    rows: StepRows | None = strawberry.field(
        description="Null unless the job compares rows by a key."
    )

    @classmethod
    def of(cls, step: known.RunStep) -> RunStep:
        return cls(
            number=step.number,
            name=step.name,
            code_hash=step.code_hash,
            seconds=step.seconds,
            error=step.error,
            inputs=[StepFrame.of(frame) for frame in step.inputs],
            outputs=[StepFrame.of(frame) for frame in step.outputs],
            rows=StepRows.of(step.rows) if step.rows else None,
        )
