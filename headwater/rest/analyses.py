"""`GET /api/v1/analyses`: the findings of the last analysis of the lake, for dashboards."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from headwater.errors import NotFoundError
from headwater.lineage.questions.analyses import LIMIT_MAX, read_analysis
from headwater.rest.lineage_table import ErrorBody, error_body
from headwater.rest.operations import Api, Operation, OperationRequest


class FindingsParams(msgspec.Struct, kw_only=True):
    """Parameters of the findings: `table` selects one table; empty selects all."""

    table: Literal["", "row_counts", "run_times", "dataset_use", "schema_changes", "summary"] = ""
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = LIMIT_MAX


class FindingShown(msgspec.Struct):
    """A row of an analysis table.

    `subject` is the urn of a dataset or a job; it is empty for the summary. `values` holds the
    columns of the table (docs/how-to/pipelines.md).
    """

    table: str
    subject: str
    values: dict[str, Any]


class AnalysisShown(msgspec.Struct):
    """The findings visible to the caller; `until` is the time of the newest event."""

    until: datetime
    analysed: datetime
    findings: list[FindingShown]


def get_analyses(request: OperationRequest) -> AnalysisShown:
    """Return the findings of the last analysis. Raises NotFoundError if there is none."""
    params: FindingsParams = request.params
    analysis = read_analysis(request.view, table=params.table, limit=params.limit)
    if analysis is None:
        raise NotFoundError("no analysis has findings", hint="Run `headwater pipeline analyse`.")
    findings = [
        FindingShown(finding.table, finding.subject, finding.values)
        for finding in analysis.findings
    ]
    return AnalysisShown(analysis.newest_event_at, analysis.analysed_at, findings)


def analyses_api() -> Api:
    """Return the route of analyses."""
    operation = Operation(
        "GET",
        "/analyses",
        "The findings of the last analysis: drift, slower jobs, unused datasets, a summary",
        get_analyses,
        AnalysisShown,
        params=FindingsParams,
        errors={404: "No analysis has run, or it has no finding in this table."},
    )
    return Api("Analyses", ("/api/v1",), (operation,), ErrorBody, error_body)
