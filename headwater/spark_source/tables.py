"""The tables that Spark sees: for each kind its columns, named as the properties of the graph are, and their types.

Values come out of Neo4j as whatever was written; `value_as` makes them what the column says, so that no row ever fails
a read for its type.
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
# What is in it is a mapping of everything that an edge carries, as JSON.
PROPERTIES = "properties"
# What an edge does not carry itself: where it starts and ends, what it is, and what is made of these.
NOT_CARRIED = frozenset(
    {"source", "sourceKind", "type", "target", "targetKind", "layer", PROPERTIES}
)

Columns = dict[str, str]
# kind of node -> its label
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
    """`urn`, then these: a name alone is a STRING, after `|` the others by type."""
    return {"urn": STRING, **dict.fromkeys(text.split(), STRING), **others}


def _of(type: str, text: str) -> Columns:
    return dict.fromkeys(text.split(), type)


TABLES: dict[str, Columns] = {
    "datasets": _columns(
        "namespace name guid type subType description sourceName sourceUri storage fileFormat catalog lifecycle schema",
        **_of(STRINGS, "columns owners tags hierarchy"),
        **_of(TIMESTAMP, "firstSeen lastSeen lifecycleAt droppedAt"),
    ),
    "jobs": _columns(
        "namespace name guid type processing integration sql language sourceCode description codeUrl codeRepo codePath"
        " codeVersion codeBranch",
        **_of(STRINGS, "owners tags"),
        **_of(TIMESTAMP, "firstSeen lastSeen"),
        **_of(BOOLEAN, "declaresInputs declaresOutputs"),
    ),
    "runs": _columns(
        "runId runUuid namespace pipelineName status error engine version triggeredBy externalQueryId slot reportedSides",
        **_of(
            TIMESTAMP,
            "startedAt finishedAt failedAt lastSeen lastEnd nominalStart nominalEnd lastHeartbeatAt changedAt",
        ),
        **_of(BIGINT, "attempts attempt testsPassed testsFailed"),
        **_of(STRINGS, "tags extractionErrors failedTests"),
        **_of(BOOLEAN, "retried heartbeatLost"),
    ),
    "sources": _columns(
        "namespace name dataset origin format checksum",
        registered=BOOLEAN,
        rowCount=BIGINT,
        capturedAt=TIMESTAMP,
    ),
    "artifacts": _columns(
        "namespace name dataset run runId status type storagePath schema schemaHash drift version lifecycle",
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


def kind_named(name: str) -> str:
    """The kind of that name, in any capitals. Raises SettingsError."""
    by_name = {kind.lower(): kind for kind in TABLES}
    found = by_name.get(name.strip().lower())
    if found is None:
        close = difflib.get_close_matches(name.strip().lower(), by_name, n=1)
        meant = f" Did you mean {by_name[close[0]]!r}?" if close else ""
        raise SettingsError(f"option 'kind': {name!r} is none of {', '.join(TABLES)}.{meant}")
    return found


def as_ddl(columns: Columns) -> str:
    """The columns as Spark writes a schema."""
    return ", ".join(f"`{name}` {type}" for name, type in columns.items())


def chosen(kind: str, asked: Iterable[tuple[str, str]]) -> Columns:
    """Those columns of a kind that a schema asks for, (name, type) each. Raises SettingsError for one it has not."""
    known, found = TABLES[kind], {}
    for name, type in asked:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            meant = f"Did you mean {close[0]!r}?" if close else f"It has {', '.join(known)}."
            raise SettingsError(f"schema: {kind} have no column {name!r}. {meant}")
        if type.upper() != known[name]:
            raise SettingsError(
                f"schema: the column {name!r} of {kind} is {known[name]}, not {type.upper()}"
            )
        found[name] = known[name]
    return found


def _text(value: Any) -> str:
    return (
        value
        if isinstance(value, str)
        else json.dumps(value, default=_time, ensure_ascii=False, sort_keys=True)
    )


def _time(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    raise TypeError(f"{type(value).__name__} is nothing that the graph keeps")


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


def value_as(type: str, value: Any) -> Any:
    """A value of the graph as a column of that type holds it; null where it is none."""
    return None if value is None else _AS[type](value)
