"""`GET /api/v1/analyses`: what the last analysis of the lake found, for dashboards."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from headwater.errors import NotFoundError
from headwater.lineage.questions.analyses import LIMIT_MAX, read
from headwater.rest.lineage_table import Refused, refused
from headwater.rest.operations import Api, Asked, Operation


class WhichFindings(msgspec.Struct, kw_only=True):
    """`table`: of one table only."""

    table: Literal["", "row_counts", "run_times", "dataset_use", "schema_changes", "summary"] = ""
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = LIMIT_MAX


class FindingShown(msgspec.Struct):
    """A line of a table; `subject` is the urn of a dataset or a job, empty for what is about the whole. `values` has
    the columns of the table (docs/how-to/pipelines.md)."""

    table: str
    subject: str
    values: dict[str, Any]


class AnalysisShown(msgspec.Struct):
    """The findings that the reader may see; `until` is the time of the newest event that was looked at."""

    until: datetime
    analysed: datetime
    findings: list[FindingShown]


def get_analyses(asked: Asked) -> AnalysisShown:
    which: WhichFindings = asked.arguments
    found = read(asked.database, table=which.table, limit=which.limit)
    if found is None:
        raise NotFoundError(
            "nothing was found by any analysis", hint="`headwater pipeline analyse` makes one."
        )
    shown = [FindingShown(one.table, one.subject, one.values) for one in found.findings]
    return AnalysisShown(found.until, found.analysed, shown)


def analyses_api() -> Api:
    """The one route of analyses."""
    operation = Operation(
        "GET",
        "/analyses",
        "What the last analysis of the lake found: drift, slower jobs, unused datasets, and a summary",
        get_analyses,
        AnalysisShown,
        arguments=WhichFindings,
        refusals={404: "There was no analysis, or it found nothing of that table."},
    )
    return Api("Analyses", ("/api/v1",), (operation,), Refused, refused)
