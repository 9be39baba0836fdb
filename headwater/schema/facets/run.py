"""The facets of a run. Source: the facet schemas of the OpenLineage specification 2-0-2."""

from __future__ import annotations

from typing import Any

import msgspec

from headwater.schema.facets.kinds import Expected, Facet, Integer, Part, Time, Uuid


class EnvironmentVariable(Part, frozen=True):
    name: str
    value: str


class EnvironmentVariables(Facet, frozen=True):
    environment_variables: list[EnvironmentVariable]


class ErrorMessage(Facet, frozen=True):
    message: str
    programming_language: Expected[str] = None
    stack_trace: str | None = None


class ExecutionParameter(Part, frozen=True, forbid_unknown_fields=True):
    key: str
    name: str | None = None
    description: str | None = None
    value: str | None = None


class ExecutionParameters(Facet, frozen=True):
    parameters: list[ExecutionParameter] | None = None


class ExternalQuery(Facet, frozen=True):
    external_query_id: str
    source: Expected[str] = None


class ExtractionFailure(Part, frozen=True):
    error_message: str
    stack_trace: str | None = None
    task: str | None = None
    task_number: Integer | None = None


class ExtractionError(Facet, frozen=True):
    errors: list[ExtractionFailure]
    total_tasks: Expected[Integer] = None
    failed_tasks: Expected[Integer] = None


class DependencyJob(Part, frozen=True):
    namespace: str
    name: str


class DependencyRun(Part, frozen=True):
    run_id: Uuid


class JobDependency(Part, frozen=True):
    job: DependencyJob
    run: DependencyRun | None = None
    dependency_type: str | None = msgspec.field(name="dependency_type", default=None)
    sequence_trigger_rule: str | None = msgspec.field(name="sequence_trigger_rule", default=None)
    status_trigger_rule: str | None = msgspec.field(name="status_trigger_rule", default=None)


class JobDependencies(Facet, frozen=True):
    upstream: list[JobDependency] | None = None
    downstream: list[JobDependency] | None = None
    trigger_rule: str | None = msgspec.field(name="trigger_rule", default=None)


class NominalTime(Facet, frozen=True):
    nominal_start_time: Time
    nominal_end_time: Time | None = None


class ProcessingEngine(Facet, frozen=True):
    version: Expected[str] = None
    name: str | None = None
    openlineage_adapter_version: str | None = None


class RunTag(Part, frozen=True):
    key: str
    value: Expected[str] = None
    source: str | None = None


class RunTags(Facet, frozen=True):
    tags: list[RunTag] | None = None


class TestExecution(Part, frozen=True):
    name: str
    status: str
    severity: str | None = None
    type: str | None = None
    description: str | None = None
    expected: str | None = None
    actual: str | None = None
    content: str | None = None
    content_type: str | None = None
    params: dict[str, Any] | None = None


class Test(Facet, frozen=True):
    tests: list[TestExecution]


class AirflowTimetable(Part, frozen=True):
    """The serialised timetable of a DAG: cron expressions in a time zone, or `delta` seconds."""

    expression: str | None = None
    expressions: list[str] | None = None
    timezone: str | None = None
    delta: float | None = None


class AirflowDag(Part, frozen=True):
    timetable: AirflowTimetable | None = None


class AirflowState(Facet, frozen=True):
    """The facets `airflow` and `airflowDagRun` of Airflow's provider; no part of the
    specification.
    """

    dag: AirflowDag | None = None


class AirflowMappedTask(Facet, frozen=True):
    """The facet `airflow_mappedTask` of Airflow's provider; no part of the specification."""

    map_index: int
