"""The enumerations of the schema."""

from __future__ import annotations

from enum import Enum
from typing import Any

import strawberry


def described(value: str, description: str) -> Any:
    """Return a described member; the type checker sees its value."""
    return strawberry.enum_value(value, description=description)


@strawberry.enum(
    description="The status of a run. ABANDONED: it sent no end, and its last event is too old for "
    "it to be running."
)
class RunStatus(Enum):
    RUNNING = described("RUNNING", "It has started and not ended.")
    COMPLETE = described("COMPLETE", "It succeeded.")
    FAIL = described("FAIL", "It failed.")
    ABORT = described("ABORT", "It was stopped.")
    ABANDONED = described("ABANDONED", "Its parent ended without it, or its heartbeat is lost.")


@strawberry.enum(description="The direction of a traversal.")
class Direction(Enum):
    UPSTREAM = described("UPSTREAM", "Towards the sources.")
    DOWNSTREAM = described("DOWNSTREAM", "Towards the answers.")
    BOTH = described("BOTH", "Both directions, each from the starts.")


@strawberry.enum(description="The order of a list of runs or answers.")
class TimeOrder(Enum):
    NEWEST = described("NEWEST", "The newest first.")
    OLDEST = described("OLDEST", "The oldest first.")


@strawberry.enum(description="The order of a list of datasets or jobs.")
class CatalogOrder(Enum):
    NAME = described("NAME", "By namespace and name.")
    NEWEST = described(
        "NEWEST",
        "The last seen first. An entry that is seen again moves to the beginning.",
    )
    OLDEST = described("OLDEST", "The last seen last.")


@strawberry.enum(description="The sign of a possible root cause, the likeliest first.")
class RootCauseKind(Enum):
    FAILED = described("FAILED", "The run failed, and others could read its output.")
    TESTS_FAILED = described("TESTS_FAILED", "Tests of an input or output of the run failed.")
    INPUT_CHANGED = described("INPUT_CHANGED", "The job reads other datasets than its runs before.")
    SCHEMA_CHANGED = described(
        "SCHEMA_CHANGED",
        "The schema differs from that of the version before, or of the dataset that it replaced.",
    )
    ROW_COUNT_OUTLIER = described(
        "ROW_COUNT_OUTLIER", "The row count is an outlier among earlier versions."
    )
    COLUMN_MEASURE_CHANGED = described(
        "COLUMN_MEASURE_CHANGED",
        "The mean, the share of nulls or the distinct count of a column left the baseline of "
        "earlier versions.",
    )
    CODE_CHANGED = described(
        "CODE_CHANGED",
        "The version or the hash of the code differs from the job's last successful run before.",
    )
    INPUT_LATE = described("INPUT_LATE", "An input was much older than usual.")


@strawberry.enum(description="The kind of a node.")
class NodeKind(Enum):
    DATASET = described("DATASET", "A named collection of data: a table, a path, a topic, a model.")
    JOB = described("JOB", "A named process that reads and writes datasets.")
    PIPELINE_RUN = described("PIPELINE_RUN", "One execution of a job.")
    SOURCE = described("SOURCE", "A capture of data that no known run produced.")
    ARTIFACT = described("ARTIFACT", "A version of a dataset, created by a run.")
    ANSWER = described("ANSWER", "A report, a figure, a prediction or a decision with citations.")
    COLUMN = described("COLUMN", "A column of a dataset.")
    HIDDEN = described(
        "HIDDEN", "A node that is not visible to the key; its lineage continues here."
    )


@strawberry.enum(description="The unit of a figure.")
class FigureUnit(Enum):
    SHARE = described("SHARE", "A part of the whole, between 0 and 1.")
    COUNT = described("COUNT", "A number.")
    SECONDS = described("SECONDS", "A time in seconds.")
    COST = described("COST", "An amount in the currency of HEADWATER_STORAGE_PRICE.")


@strawberry.enum(description="What the budget of errors of a service level counts.")
class BudgetUnit(Enum):
    PARTS = described("PARTS", "Bad parts: events, runs, datasets.")
    DAYS = described("DAYS", "Days on which the value missed its target.")


@strawberry.enum(description="How well a service level is kept.")
class Verdict(Enum):
    OK = described("OK", "The value reaches the target.")
    AT_RISK = described(
        "AT_RISK",
        "The value reaches the target, but less than a quarter of the budget of errors is left, or "
        "it burns more than four times too fast.",
    )
    MISSED = described("MISSED", "The value misses the target.")
    UNKNOWN = described("UNKNOWN", "There was nothing to measure.")


@strawberry.enum(description="Whether a data contract is kept.")
class ContractState(Enum):
    KEPT = described("KEPT", "Every clause is kept.")
    VIOLATED = described("VIOLATED", "A clause is broken.")
    UNKNOWN = described("UNKNOWN", "Nothing is broken, and a clause lacks facts.")


@strawberry.enum(description="The direction in which a figure gets better.")
class GoodDirection(Enum):
    UP = described("UP", "Larger values are better.")
    DOWN = described("DOWN", "Smaller values are better.")
    NEITHER = described("NEITHER", "Every value is as good; there is no threshold.")


@strawberry.enum(description="How exactly the lineage of a dataset is known.")
class Fidelity(Enum):
    NONE = described("NONE", "No producer is known.")
    JOB = described("JOB", "A job writes it; all inputs of the job count as its origin.")
    DATASET = described("DATASET", "Events name the datasets that it comes from.")
    COLUMN = described("COLUMN", "Events name the columns that its columns come from.")


@strawberry.enum(
    description="The state of a node in a picture of the lineage. The latest state decides; of "
    "several that hold, the one that stands first here."
)
class NodeState(Enum):
    RUNNING = described(
        "RUNNING", "The newest run of the job runs, or writes the newest version of the dataset."
    )
    FAILED = described("FAILED", "The newest run of the job failed.")
    ABORTED = described("ABORTED", "The newest run of the job was stopped.")
    NO_NEWS = described(
        "NO_NEWS",
        "The newest run of the job, or the run that was to write the dataset, sent no end, and its "
        "last event is too old for it to be running.",
    )
    PARTIAL = described(
        "PARTIAL",
        "The newest version of the dataset was left by a run that failed or was stopped.",
    )
    SKIPPED = described("SKIPPED", "The newest run of the job's DAG succeeded without the job.")
    STALE = described(
        "STALE",
        "A job that writes the dataset failed, was stopped or was skipped since its newest "
        "version, and left no version.",
    )
    UPSTREAM_FAILED = described(
        "UPSTREAM_FAILED",
        "The newest run of a job upstream failed or was stopped, or the job's DAG failed before "
        "the job began.",
    )
    OK = described(
        "OK", "The newest run of the job succeeded; the newest version of the dataset is complete."
    )
    UNKNOWN = described("UNKNOWN", "No run of the job or version of the dataset is known.")


@strawberry.enum(description="How urgent a finding is, by its harm and by who is affected.")
class Tier(Enum):
    P1 = described("P1", "Call a person now: an answer or critical data is missing or wrong.")
    P2 = described("P2", "Open a ticket: data is late or changed.")
    P3 = described("P3", "Open a ticket: what is known about the data is missing or wrong.")


@strawberry.enum(description="What is known about personal data at a node, or on a step to it.")
class PersonalDataState(Enum):
    EXPOSED = described("EXPOSED", "Values are there unmasked.")
    UNKNOWN = described("UNKNOWN", "A job on the path sends no columns.")
    INFLUENCED = described("INFLUENCED", "Values only decided which rows exist.")
    MASKED = described("MASKED", "Every path to it has a masking step.")
    DECLASSIFIED = described("DECLASSIFIED", "A steward approved that there is none.")


@strawberry.enum(description="How a finding changed.")
class FindingChangeKind(Enum):
    OPENED = described("OPENED", "It was found, or is open again.")
    CHANGED = described("CHANGED", "Its severity changed.")
    RESOLVED = described("RESOLVED", "The history shows its end.")
    WITHDRAWN = described("WITHDRAWN", "A late event shows that there was no problem.")


@strawberry.enum(description="The state of an alert.")
class AlertStatus(Enum):
    WAITING = described("WAITING", "It is open, but too short to disturb anybody.")
    FIRING = described("FIRING", "Receivers are told of it.")
    RESOLVED = described("RESOLVED", "None of its findings is open.")
