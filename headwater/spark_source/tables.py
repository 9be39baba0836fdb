"""The tables of the data source: the columns of each kind, named as graph properties, with types.

Neo4j has no types of properties. `convert` converts each value to the type of its column, so that
no row fails a read by its type.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from headwater.errors import SettingsError

STRING, BIGINT, DOUBLE, BOOLEAN, TIMESTAMP = "STRING", "BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP"
STRINGS = "ARRAY<STRING>"
LINEAGE, LINEAGE_EDGES, EDGES = "lineage", "lineageEdges", "edges"
# The column with all properties of an edge as JSON.
PROPERTIES = "properties"
# The columns that are not properties of an edge.
COMPUTED_COLUMNS = frozenset(
    {"source", "sourceKind", "type", "target", "targetKind", "layer", PROPERTIES}
)

Columns = dict[str, str]
# The label of each kind of node.
LABELS = {
    "datasets": "Dataset",
    "jobs": "Job",
    "runs": "PipelineRun",
    "sources": "Source",
    "artifacts": "Artifact",
    "answers": "Answer",
    "columns": "Column",
    "schemas": "SchemaVersion",
    "symlinks": "Symlink",
    "summaries": "RunSummary",
}


def _columns(text: str, **others: str) -> Columns:
    """Return `urn` and these names as STRING columns, with other columns by type."""
    return {"urn": STRING, **dict.fromkeys(text.split(), STRING), **others}


def _of(type: str, text: str) -> Columns:
    return dict.fromkeys(text.split(), type)


TABLES: dict[str, Columns] = {
    "datasets": _columns(
        "namespace name guid type subType description sourceName sourceUri storage fileFormat"
        " catalog lifecycle schema deprecation approvals",
        **_of(STRINGS, "columns owners tags hierarchy"),
        **_of(TIMESTAMP, "firstSeen lastSeen lifecycleAt droppedAt deletedAt deprecatedAt"),
    ),
    "jobs": _columns(
        "namespace name guid type processing integration sql language sourceCode description"
        " codeUrl codeRepo codePath codeVersion codeBranch deprecation approvals",
        **_of(STRINGS, "owners tags"),
        **_of(TIMESTAMP, "firstSeen lastSeen deletedAt deprecatedAt"),
        **_of(BOOLEAN, "declaresInputs declaresOutputs"),
    ),
    "runs": _columns(
        "runId runUuid namespace pipelineName status error engine version triggeredBy"
        " externalQueryId slot reportedSides execution",
        **_of(
            TIMESTAMP,
            "startedAt finishedAt failedAt lastSeen lastEnd nominalStart nominalEnd lastHeartbeatAt"
            " changedAt",
        ),
        **_of(BIGINT, "attempts attempt testsPassed testsFailed"),
        **_of(STRINGS, "tags extractionErrors failedTests"),
        **_of(BOOLEAN, "retried heartbeatLost endUnreported"),
    ),
    "sources": _columns(
        "namespace name dataset origin format checksum",
        registered=BOOLEAN,
        rowCount=BIGINT,
        capturedAt=TIMESTAMP,
    ),
    "artifacts": _columns(
        "namespace name dataset run runId status type storagePath schema schemaHash drift version"
        " lifecycle",
        **_of(TIMESTAMP, "startedAt createdAt"),
        **_of(BIGINT, "rowCount bytes fileCount"),
        **_of(BOOLEAN, "complete explicit rolledUp"),
        derivedFrom=STRINGS,
    ),
    "answers": _columns("answerId name type content generatedBy", generatedAt=TIMESTAMP),
    "columns": _columns("namespace dataset name type", current=BOOLEAN),
    "schemas": _columns("hash fields", columns=STRINGS),
    "symlinks": _columns("namespace name"),
    "summaries": _columns(
        "job day status versions version",
        **_of(STRINGS, "reads writes"),
        **_of(BIGINT, "runs timed errors rowsRead rowsWritten bytesWritten"),
        **_of(DOUBLE, "seconds secondsMin secondsMax"),
        **_of(TIMESTAMP, "first last"),
    ),
    EDGES: {
        **_of(STRING, "source sourceKind type target targetKind layer job"),
        **_of(TIMESTAMP, "firstSeen lastSeen"),
        **_of(BIGINT, "rowCount bytes"),
        **_of(BOOLEAN, "current declared"),
        **_of(STRINGS, "transformations evidence"),
        PROPERTIES: STRING,
    },
    LINEAGE: {**_of(STRING, "urn kind namespace name"), "distance": BIGINT},
    LINEAGE_EDGES: _of(STRING, "source target type"),
}


def resolve_kind(name: str) -> str:
    """Return the kind of a name, whatever its case.

    Args:
        name: The value of the option `kind`.

    Raises:
        SettingsError: There is no such kind.
    """
    by_name = {kind.lower(): kind for kind in TABLES}
    resolved = by_name.get(name.strip().lower())
    if resolved is None:
        close = difflib.get_close_matches(name.strip().lower(), by_name, n=1)
        meant = f" Did you mean {by_name[close[0]]!r}?" if close else ""
        raise SettingsError(f"option 'kind': {name!r} is not one of {', '.join(TABLES)}.{meant}")
    return resolved


def to_ddl(columns: Columns) -> str:
    """Return columns as a schema in Spark's DDL."""
    return ", ".join(f"`{name}` {type}" for name, type in columns.items())


def select_columns(kind: str, requested: Iterable[tuple[str, str]]) -> Columns:
    """Return the columns of a kind that a schema names.

    Args:
        kind: The kind of the table.
        requested: Name and type of each column of the schema.

    Raises:
        SettingsError: The kind has no such column, or it has another type.
    """
    columns, selected = TABLES[kind], {}
    for name, type in requested:
        if name not in columns:
            close = difflib.get_close_matches(name, columns, n=1)
            meant = (
                f"Did you mean {close[0]!r}?" if close else f"The columns are {', '.join(columns)}."
            )
            raise SettingsError(f"schema: {kind} have no column {name!r}. {meant}")
        if type.upper() != columns[name]:
            raise SettingsError(
                f"schema: the column {name!r} of {kind} is {columns[name]}, not {type.upper()}"
            )
        selected[name] = columns[name]
    return selected


def _text(value: Any) -> str:
    return (
        value
        if isinstance(value, str)
        else json.dumps(value, default=_time, ensure_ascii=False, sort_keys=True)
    )


def _time(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    raise TypeError(f"{type(value).__name__} is not a type of graph properties")


_AS: Mapping[str, Callable[[Any], Any]] = {
    STRING: _text,
    BIGINT: lambda value: value if isinstance(value, int) and not isinstance(value, bool) else None,
    DOUBLE: lambda value: float(value) if isinstance(value, int | float) else None,
    BOOLEAN: lambda value: value if isinstance(value, bool) else None,
    TIMESTAMP: lambda value: value if isinstance(value, datetime) and value.tzinfo else None,
    STRINGS: lambda value: (
        [_text(item) for item in value] if isinstance(value, list) else [_text(value)]
    ),
}


def convert(type: str, value: Any) -> Any:
    """Convert a value of the graph to the type of a column.

    Args:
        type: The type of the column.
        value: The value of the property.

    Returns:
        The converted value; None if it does not fit.
    """
    return None if value is None else _AS[type](value)
