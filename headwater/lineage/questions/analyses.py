"""What the analyses of the lake found, as nodes of the graph: read by dashboards, replaced by the next analysis."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.write_lock import lock
from headwater.lineage.view import GraphView

PIECE = 1_000
HOLDER = "analyse"
LIMIT_MAX = 1_000


@dataclass(frozen=True)
class Finding:
    """One line of a table: `subject` is the urn of the dataset or job, "" for what is about the whole."""

    table: str
    subject: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Analysis:
    """The findings that may be seen, and the instants of the events and of the analysis."""

    until: datetime
    analysed: datetime
    findings: list[Finding]


def save_analysis(
    database: Database, findings: Sequence[Finding], *, until: datetime, analysed: datetime
) -> None:
    """Put these in place of those of the last analysis, in pieces under the write lock. Raises UnavailableError."""
    rows = [
        {
            "urn": f"analysis:{one.table}:{one.subject}",
            "subject": one.subject,
            "properties": {
                "table": one.table,
                "values": json.dumps(one.values, default=_text, sort_keys=True),
            }
            | {"subject": one.subject, "newestEventAt": until, "analysedAt": analysed},
        }
        for one in sorted(findings, key=lambda one: (one.table, one.subject))
    ]
    for start in range(0, len(rows), PIECE):
        with database.write() as transaction:
            lock(transaction, HOLDER)
            transaction.run("write/maintenance/analyses", rows=rows[start : start + PIECE])
    with database.write() as transaction:
        lock(transaction, HOLDER)
        transaction.run("write/maintenance/delete_old_analyses", analysed=analysed)


def read_analysis(view: GraphView, *, table: str = "", limit: int = LIMIT_MAX) -> Analysis | None:
    """What the last analysis found, of one table or of all; None when there was none. What is about the whole is told
    only to those who may see everything, since it counts what others may not see."""
    rows = view.read("read/estate/analyses", table=table, sees=view.visibility.regexes, limit=limit)
    if not rows:
        return None
    found = [Finding(row["table"], row["subject"], json.loads(row["values"])) for row in rows]
    return Analysis(rows[0]["newestEventAt"], rows[0]["analysedAt"], found)


def _text(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is nothing that a table holds")
