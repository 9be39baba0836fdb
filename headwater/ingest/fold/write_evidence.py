"""The evidence of an event about the content before a write (`headwater.schema.write_modes`).

What producers send:

- Spark sends `lifecycleStateChange` OVERWRITE when it overwrites and nothing when it appends. It
  sends OVERWRITE also if it overwrites only some partitions. Then the written path, the SQL, the
  name of the plan's node or Iceberg's commit report shows the rest.
- dbt sends the materialisation of a model in the facet `dbt_model`.
- SQL operators send the statement in the facet `sql`. Spark sends a statement there that may be
  older than the write, so its `sql` facet only proves that content was kept.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from headwater.schema.facets import salvage
from headwater.schema.write_modes import APPENDS, KEEPS, OVERWRITES, REPLACES

# By lifecycle. A CREATE may be a CREATE IF NOT EXISTS, so it proves nothing.
LIFECYCLE_EVIDENCE = {
    "OVERWRITE": REPLACES,
    "TRUNCATE": REPLACES,
    "RENAME": REPLACES,
    "ALTER": KEEPS,
}
SILENCE_EVIDENCE = {"append": APPENDS, "overwrite": OVERWRITES}
# dbt's materialisations. A custom one is unknown.
_MATERIALIZED = {
    "incremental": KEEPS,
    "snapshot": KEEPS,
    "table": REPLACES,
    "view": REPLACES,
    "materialized_view": REPLACES,
    "seed": REPLACES,
    "test": REPLACES,
}
# The node of Spark's plan, as it is part of the job's name.
_DYNAMIC_OVERWRITE = "overwrite_partitions_dynamic"
_OVERWRITE_MODE = b"spark.sql.sources.partitionOverwriteMode"
_SQL_CHARACTERS_MAX = 65_536
_OPENING = re.compile(r"--|/\*|'")
_CLOSING = {"--": "\n", "/*": "*/", "'": "'"}
_STATEMENT = re.compile(
    r"\b(?:"
    r"(?P<overwrite>insert overwrite(?: table| into)?)"
    r"|(?P<replace>create or replace (?:(?:transient|temporary|temp) )?(?:table|view))"
    r"|(?P<create>create (?:(?:transient|temporary|temp|external) )*(?:table|view))"
    r"|(?P<truncate>truncate(?: table)?)"
    r"|(?P<drop>drop (?:table|view)(?: if exists)?)"
    r"|(?P<delete>delete from)"
    r"|(?P<change>insert(?: into)?(?: table)?|merge(?: into)?|update|copy(?: into)?|replace into)"
    r') (?P<name>[\w.`"\[\]$-]+)',
    re.IGNORECASE,
)
_NOT_EXISTS = re.compile(r" not exists\b", re.IGNORECASE)
_WHERE = re.compile(r"\bwhere\b", re.IGNORECASE)
_PARTITION = re.compile(r" ?partition ?\(", re.IGNORECASE)
_REPLACING = ("replace", "truncate", "drop")
# The evidence of a statement that overwrites some partitions: stronger than a reported OVERWRITE.
PARTIAL = "partial"
# By the parts of the name of its target: the evidence of a script.
SqlEvidence = dict[tuple[str, ...], str]


class CommitMetrics(msgspec.Struct, frozen=True, rename="camel"):
    """The numbers of records that an Iceberg commit added, and that the table then has."""

    added_records: float | None = None
    total_records: float | None = None


class CommitReport(msgspec.Struct, frozen=True, rename="camel"):
    """The `icebergCommitReport` facet of an output."""

    commit_metrics: CommitMetrics | None = None


class SparkProperties(msgspec.Struct, frozen=True):
    """The `spark_properties` facet of a run."""

    properties: dict[str, Any] = {}


class ModelConfig(msgspec.Struct, frozen=True):
    """The configuration of a dbt model."""

    materialized: Any = None
    full_refresh: Any = None


class Model(msgspec.Struct, frozen=True):
    """The `dbt_model` facet of a dataset."""

    config: ModelConfig | None = None


def model_evidence(model: Model | None) -> str:
    """Return the evidence of the configuration of a dbt model, "" if there is none."""
    config = model.config if model is not None else None
    if config is None:
        return ""
    if config.materialized == "incremental" and config.full_refresh is True:
        return REPLACES
    return _MATERIALIZED.get(str(config.materialized), "")


def commit_evidence(report: CommitReport | None) -> str:
    """Return the evidence of an Iceberg commit: the table has records that it did not add."""
    metrics = report.commit_metrics if report is not None else None
    if metrics is None or metrics.added_records is None or metrics.total_records is None:
        return ""
    return KEEPS if metrics.total_records > metrics.added_records else ""


def sql_evidence(query: str) -> SqlEvidence:
    """Return the evidence of SQL statements.

    A target that was emptied first stays replaced, whatever the later statements insert.
    """
    evidence: SqlEvidence = {}
    for statement in _without_literals(query[:_SQL_CHARACTERS_MAX]).split(";"):
        found = _STATEMENT.search(" ".join(statement.split()))
        word = _statement_evidence(found) if found is not None else ""
        if found is not None and word:
            target = name_parts(found["name"])
            if evidence.get(target) != REPLACES:
                evidence[target] = word
    return evidence


def _without_literals(query: str) -> str:
    """Return a query without comments and literals. The rest after an open one is left out."""
    parts, start = [], 0
    while (opening := _OPENING.search(query, start)) is not None:
        parts.append(query[start : opening.start()])
        closing = _CLOSING[opening[0]]
        end = query.find(closing, opening.end())
        if end < 0:
            return " ".join(parts)
        start = end + len(closing)
    return " ".join([*parts, query[start:]])


def _statement_evidence(found: re.Match[str]) -> str:
    rest = found.string[found.end() :]
    kind = next(name for name, text in found.groupdict().items() if text and name != "name")
    if kind == "overwrite":
        return PARTIAL if _PARTITION.match(rest) else REPLACES
    if kind == "create":
        # A table that did not exist has no earlier content. `name` is the IF of IF NOT EXISTS.
        is_conditional = found["name"].lower() == "if" and _NOT_EXISTS.match(rest)
        return "" if is_conditional else REPLACES
    if kind == "delete":
        return KEEPS if _WHERE.search(rest) else REPLACES
    return REPLACES if kind in _REPLACING else KEEPS


def evidence_for(evidence: SqlEvidence, name: str) -> str:
    """Return the evidence of a script about the dataset of a name, "" if there is none.

    The last part of the names must agree. Of several such targets, one with all its parts counts.
    """
    if not evidence:
        return ""
    parts = name_parts(name)
    alike = {target: word for target, word in evidence.items() if target[-1:] == parts[-1:]}
    if len(alike) > 1:
        alike = {target: word for target, word in alike.items() if parts[-len(target) :] == target}
    return max(alike.items(), key=lambda pair: len(pair[0]), default=((), ""))[1]


def name_parts(name: str) -> tuple[str, ...]:
    """Return the parts of the name of a table or a path, without quotes, in lower case."""
    parts = (part.strip('`"[]').lower() for part in re.split(r"[./]", name))
    return tuple(part for part in parts if part)


def is_dynamic_overwrite(job_name: str, properties: bytes) -> bool:
    """Return True for a Spark job that overwrites only the partitions for which it has rows.

    `properties` is its `spark_properties` facet, empty without one.
    """
    if _DYNAMIC_OVERWRITE in job_name:
        return True
    if _OVERWRITE_MODE not in properties:
        return False
    facet = salvage(SparkProperties, properties)
    mode = facet.properties.get(_OVERWRITE_MODE.decode()) if facet is not None else None
    return str(mode).lower() == "dynamic"


def event_evidence(*, reported: str, commit: str, sql: str, silence: str, is_part: bool) -> str:
    """Return the evidence of one event about one output, "" if there is none.

    Args:
        reported: The evidence of the lifecycle or the dbt model.
        commit: The evidence of an Iceberg commit.
        sql: The evidence of the SQL.
        silence: What it means that the producer reports nothing.
        is_part: The event names a part of the dataset.
    """
    if is_part or KEEPS in (reported, commit) or sql == PARTIAL:
        return KEEPS
    return reported or silence or sql
