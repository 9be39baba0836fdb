"""The lineage graph as a metadata file of DataHub: a JSON array of metadata change proposals.

`datahub ingest` reads it with a source of type `file`. Datasets become `dataset` with properties,
schema, owners, tags, upstream lineage and column lineage; jobs become `dataFlow` and `dataJob` with
their inputs and outputs.

Source: DataHub's metadata models (PDL).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from headwater.exports.part import Part
from headwater.exports.rows import Node, nodes
from headwater.exports.table_lineage import TableLineage
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

_AUDIT_STAMP = {"time": 0, "actor": "urn:li:corpuser:headwater"}
_PLATFORMS = {"s3a": "s3", "s3n": "s3", "gs": "gcs", "file": "file", "kafka": "kafka"}
_RESERVED = str.maketrans({"(": "%28", ")": "%29", ",": "%2C"})
_NUMBERS = ("int", "long", "short", "byte", "float", "double", "decimal", "num", "real")

Proposal = dict[str, Any]


def datahub(view: GraphView, part: Part) -> Iterator[str]:
    """Yield the lines of a metadata file of DataHub."""
    lineage = TableLineage(view.database, part)
    jobs = {node.urn: node for node in nodes(view.database, part, "Job")}
    first = True
    yield "[\n"
    for proposal in _proposals(lineage, jobs):
        line = json.dumps(proposal, ensure_ascii=False, separators=(",", ":"))
        yield line if first else f",\n{line}"
        first = False
    yield "\n]\n"


def _proposals(lineage: TableLineage, jobs: dict[str, Node]) -> Iterator[Proposal]:
    upstreams = lineage.upstreams()
    for urn, node in lineage.datasets.items():
        entity = datahub_dataset(urn)
        for aspect, value in _dataset_aspects(node, lineage, upstreams.get(urn, set())):
            yield _proposal("dataset", entity, aspect, value)
    flows: set[str] = set()
    for urn, node in jobs.items():
        namespace, name = parse_urn(urn).parts or ("", urn)
        flow = f"urn:li:dataFlow:({_platform(node)},{_reserved(namespace)},PROD)"
        if flow not in flows:
            flows.add(flow)
            info = {"name": namespace, "customProperties": {}}
            yield _proposal("dataFlow", flow, "dataFlowInfo", info)
        entity = f"urn:li:dataJob:({flow},{_reserved(name)})"
        for aspect, value in _job_aspects(node, name, lineage):
            yield _proposal("dataJob", entity, aspect, value)


def _dataset_aspects(
    node: Node, lineage: TableLineage, upstreams: set[str]
) -> Iterator[tuple[str, Any]]:
    values = node.properties
    own = {"name": values.get("name"), "customProperties": {"headwater_urn": node.urn}}
    if values.get("description"):
        own["description"] = values["description"]
    yield "datasetProperties", own
    if columns := lineage.columns.get(node.urn):
        yield "schemaMetadata", _schema(node, columns)
    yield from _people_and_tags(node)
    if upstreams or any(lineage.column_sources.get(one.urn) for one in columns or ()):
        yield "upstreamLineage", _upstream_lineage(node.urn, lineage, upstreams)


def _upstream_lineage(urn: str, lineage: TableLineage, upstreams: set[str]) -> Any:
    fine = []
    for column in lineage.columns.get(urn, ()):
        sources = sorted(lineage.column_sources.get(column.urn, ()))
        if sources:
            fine.append(
                {
                    "upstreamType": "FIELD_SET",
                    "upstreams": [_field_urn(one, lineage) for one in sources],
                    "downstreamType": "FIELD",
                    "downstreams": [_field_urn(column.urn, lineage)],
                    "confidenceScore": 1.0,
                }
            )
            upstreams = upstreams | {lineage.dataset_of_column[one] for one in sources} - {urn}
    result: dict[str, Any] = {
        "upstreams": [
            {"auditStamp": _AUDIT_STAMP, "dataset": datahub_dataset(one), "type": "TRANSFORMED"}
            for one in sorted(upstreams)
        ]
    }
    return result | ({"fineGrainedLineages": fine} if fine else {})


def _field_urn(column: str, lineage: TableLineage) -> str:
    dataset = datahub_dataset(lineage.dataset_of_column[column])
    return f"urn:li:schemaField:({dataset},{_reserved(lineage.name_of_column[column])})"


def _schema(node: Node, columns: list[Node]) -> Any:
    order = {name: place for place, name in enumerate(node.properties.get("columns") or ())}
    current = [one for one in columns if one.properties.get("current")] or columns
    current.sort(key=lambda one: (order.get(one.properties["name"], len(order)), one.urn))
    return {
        "schemaName": node.properties.get("name"),
        "platform": f"urn:li:dataPlatform:{platform_of(node.properties.get('namespace') or '')}",
        "version": 0,
        "hash": "",
        "platformSchema": {"com.linkedin.schema.OtherSchema": {"rawSchema": ""}},
        "fields": [
            {
                "fieldPath": one.properties["name"],
                "nativeDataType": one.properties.get("type") or "unknown",
                "type": {"type": {_field_type(one.properties.get("type") or ""): {}}},
                "nullable": True,
            }
            for one in current
        ],
    }


def _field_type(type: str) -> str:
    text = type.lower()
    name = "StringType"
    if text.startswith("bool"):
        name = "BooleanType"
    elif text.startswith(("timestamp", "datetime", "time")):
        name = "TimeType"
    elif text.startswith("date"):
        name = "DateType"
    elif text.startswith(("array", "list")):
        name = "ArrayType"
    elif text.startswith(("struct", "map", "record")):
        name = "RecordType"
    elif any(text.startswith(one) for one in ("big", "small", "tiny", *_NUMBERS)):
        name = "NumberType"
    return f"com.linkedin.schema.{name}"


def _people_and_tags(node: Node) -> Iterator[tuple[str, Any]]:
    if owners := node.properties.get("owners"):
        listed = [
            {"owner": f"urn:li:corpuser:{_reserved(one)}", "type": "DATAOWNER"} for one in owners
        ]
        yield "ownership", {"owners": listed, "lastModified": _AUDIT_STAMP}
    if tags := node.properties.get("tags"):
        yield "globalTags", {"tags": [{"tag": f"urn:li:tag:{_reserved(one)}"} for one in tags]}


def _job_aspects(node: Node, name: str, lineage: TableLineage) -> Iterator[tuple[str, Any]]:
    values = node.properties
    info = {
        "name": name,
        "type": {"string": values.get("type") or "COMMAND"},
        "customProperties": {"headwater_urn": node.urn},
    }
    if values.get("description"):
        info["description"] = values["description"]
    yield "dataJobInfo", info
    yield (
        "dataJobInputOutput",
        {
            "inputDatasets": [datahub_dataset(one) for one in sorted(lineage.reads[node.urn])],
            "outputDatasets": [datahub_dataset(one) for one in sorted(lineage.writes[node.urn])],
        },
    )
    yield from _people_and_tags(node)


def _proposal(entity_type: str, urn: str, aspect: str, value: Any) -> Proposal:
    return {
        "entityType": entity_type,
        "entityUrn": urn,
        "changeType": "UPSERT",
        "aspectName": aspect,
        "aspect": {
            "contentType": "application/json",
            "value": json.dumps(value, ensure_ascii=False, separators=(",", ":")),
        },
    }


def datahub_dataset(urn: str) -> str:
    """Return the urn of DataHub for a dataset; the platform comes from its namespace."""
    namespace, name = parse_urn(urn).parts or ("", urn)
    platform = platform_of(namespace)
    authority = namespace.partition("://")[2]
    full = f"{authority}/{name.lstrip('/')}" if authority else name
    return f"urn:li:dataset:(urn:li:dataPlatform:{platform},{_reserved(full)},PROD)"


def platform_of(namespace: str) -> str:
    """Return the platform of a namespace: its scheme, or the whole of it."""
    scheme = namespace.partition("://")[0].partition(":")[0].lower() or "unknown"
    return _reserved(_PLATFORMS.get(scheme, scheme))


def _platform(job: Node) -> str:
    return _reserved(str(job.properties.get("integration") or "headwater").lower())


def _reserved(text: str) -> str:
    """Return a text without the characters that end a part of a urn of DataHub."""
    return text.translate(_RESERVED)
