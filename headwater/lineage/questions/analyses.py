"""The results of lake analyses, stored as nodes for dashboards; each analysis replaces the last."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from headwater.chunks import chunks
from headwater.cypher.driver.database import Database
from headwater.cypher.driver.write_lock import acquire_write_lock, identify_graph
from headwater.lineage.view import GraphView

BATCH_SIZE = 1_000
HOLDER = "analyse"
LIMIT_MAX = 1_000


@dataclass(frozen=True)
class Finding:
    """One row of a table. `subject` is the urn of a dataset or job, "" for the whole lake."""

    table: str
    subject: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Analysis:
    """The visible findings, the time of the newest analysed event, and the time of the analysis."""

    newest_event_at: datetime
    analysed_at: datetime
    findings: list[Finding]


def save_analysis(
    database: Database,
    findings: Sequence[Finding],
    *,
    newest_event_at: datetime,
    analysed_at: datetime,
) -> None:
    """Replace the findings of the last analysis, in batches under the write lock.

    Raises GraphErasedError if the graph is erased meanwhile, and UnavailableError.
    """
    graph = identify_graph(database, HOLDER)
    rows = []
    for finding in sorted(findings, key=lambda finding: (finding.table, finding.subject)):
        properties = {
            "table": finding.table,
            "subject": finding.subject,
            "values": json.dumps(finding.values, default=_encode_date, sort_keys=True),
            "newestEventAt": newest_event_at,
            "analysedAt": analysed_at,
        }
        urn = f"analysis:{finding.table}:{finding.subject}"
        rows.append({"urn": urn, "subject": finding.subject, "properties": properties})
    for batch in chunks(rows, BATCH_SIZE):
        with database.write() as transaction:
            acquire_write_lock(transaction, HOLDER, graph=graph)
            transaction.run("write/maintenance/analyses", rows=batch)
    with database.write() as transaction:
        acquire_write_lock(transaction, HOLDER, graph=graph)
        transaction.run("write/maintenance/delete_old_analyses", analysed=analysed_at)


def read_analysis(view: GraphView, *, table: str = "", limit: int = LIMIT_MAX) -> Analysis | None:
    """Read the findings of the last analysis, of one table or of all; None without an analysis.

    Findings about the whole lake count hidden nodes too. So only unrestricted callers get them.
    """
    rows = view.read(
        "read/estate/analyses", table=table, visible=view.visibility.regexes, limit=limit
    )
    if not rows:
        return None
    findings = [Finding(row["table"], row["subject"], json.loads(row["values"])) for row in rows]
    return Analysis(rows[0]["newestEventAt"], rows[0]["analysedAt"], findings)


def _encode_date(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"a finding cannot hold a {type(value).__name__}")
