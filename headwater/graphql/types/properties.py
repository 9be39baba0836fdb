"""The properties of nodes in the schema, read from Neo4j only if a query selects them.

Each class is the base of the type of one label; its fields are properties of that node.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Self

import msgspec
import strawberry
from strawberry.scalars import JSON

from headwater.cypher.driver.database import Row
from headwater.graphql.context import Info
from headwater.graphql.types.edits import Approval, Deprecation, Edit
from headwater.graphql.types.fields import name_parts, property_of, resolver
from headwater.graphql.types.lineage_node import Finding, Open, findings_of_node
from headwater.graphql.types.node import Node
from headwater.graphql.types.quality import Freshness, Quality, freshness_of, quality_of
from headwater.graphql.types.scalars import ID
from headwater.lineage.questions.traces import trace_link
from headwater.schema.edits import read_approvals
from headwater.schema.facets.headwater import Deprecation as StoredDeprecation


@strawberry.type(description="A column of a schema.")
class SchemaField:
    name: str
    type: str | None


@strawberry.type(description="A schema, shared by all versions that have it.")
class SchemaVersion:
    urn: ID
    hash: str
    fields: list[SchemaField]
    first_seen: datetime | None = strawberry.field(
        description="The time when the dataset first had it."
    )


@strawberry.type
class AssetDetails(Node):
    """The fields that datasets and jobs share."""

    urn: ID
    namespace: str
    name: str

    @classmethod
    def of(cls, row: Row) -> Self:
        return cls(urn=row["urn"], namespace=row["namespace"], name=row["name"])

    @classmethod
    async def all(cls, info: Info, urns: list[str]) -> list[Self]:
        urns = await info.context.visible_urns(urns)
        names = await name_parts(info, urns, "namespace", "name")
        return [
            cls(urn=urn, namespace=name[0], name=name[1])
            for urn, name in zip(urns, names, strict=True)
        ]

    @resolver("A description in words.")
    async def description(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "description", str)

    @resolver("The owners.")
    async def owners(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "owners", list) or []

    @resolver("The time of the first event that names it.")
    async def first_seen(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "firstSeen", datetime)

    @resolver("The time of the last event that names it.")
    async def last_seen(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "lastSeen", datetime)

    @resolver("Why nobody should use it any longer; null unless a person deprecated it.")
    async def deprecation(self, info: Info) -> Deprecation | None:
        text = await property_of(info, self.urn, "deprecation", str)
        if text is None:
            return None
        found = msgspec.json.decode(text, type=StoredDeprecation)
        replacement = found.replacement_urn
        visible = await info.context.visible_urns([replacement]) if replacement else []
        return Deprecation(
            reason=found.reason,
            replacement_urn=visible[0] if visible else None,
            until=found.until,
            since=await property_of(info, self.urn, "deprecatedAt", datetime),
        )

    @resolver("What people approved under a policy; withdrawn approvals are only in `edits`.")
    async def approvals(self, info: Info) -> list[Approval]:
        text = await property_of(info, self.urn, "approvals", str)
        return [Approval.of(one) for one in read_approvals(text)]

    @resolver("Its findings, open ones first; at most 20.")
    async def findings(self, info: Info, open: Open = None) -> list[Finding]:
        return await findings_of_node(info, self.urn, open=open)

    @resolver("What people decided about it, newest first; the newest 200 are kept.")
    async def edits(self, info: Info) -> list[Edit]:
        return [Edit.of(edit) for edit in await info.context.edits.load(self.urn)]

    @resolver("The newest value of each facet.")
    async def facets(self, info: Info) -> JSON:
        return JSON(await info.context.facets.load(self.urn))


@strawberry.type
class DatasetDetails(AssetDetails):
    @resolver("The type that the producer reports: TABLE, VIEW, TOPIC, MODEL, ...")
    async def type(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "type", str)

    @resolver("The subtype that the producer reports.")
    async def sub_type(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "subType", str)

    @resolver("The tags as key=value; tags of a field as field:key=value.")
    async def tags(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "tags", list) or []

    @resolver("The name of the system that stores it.")
    async def source_name(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "sourceName", str)

    @resolver("The URI of that system.")
    async def source_uri(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "sourceUri", str)

    @resolver("The table format: iceberg, delta, ...")
    async def storage(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "storage", str)

    @resolver("The format of its files: parquet, csv, ...")
    async def file_format(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "fileFormat", str)

    @resolver("The catalog that lists it.")
    async def catalog(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "catalog", str)

    @resolver("The containers of the dataset, outermost first: project, database, schema, ...")
    async def hierarchy(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "hierarchy", list) or []

    @resolver("The inventories that list it, whether or not anybody sends lineage for it.")
    async def inventories(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "inventories", list) or []

    @resolver("The last change of the dataset: CREATE, ALTER, OVERWRITE, TRUNCATE, RENAME or DROP.")
    async def lifecycle(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "lifecycle", str)

    @resolver("The time of the drop, if that was the last change.")
    async def dropped_at(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "droppedAt", datetime)

    @resolver("The time at which a person deleted it, if no later event named it.")
    async def deleted_at(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "deletedAt", datetime)

    @resolver("The age of its newest data, and of the upstream data that went into it.")
    async def freshness(self, info: Info) -> Freshness:
        return await freshness_of(info, self.urn)

    @resolver("The check results and measurements of the dataset and its versions.")
    async def quality(self, info: Info) -> Quality:
        return await quality_of(info, self.urn)

    @resolver("All schemas that the dataset has had, newest first.")
    async def schema_versions(self, info: Info) -> list[SchemaVersion]:
        rows = (await info.context.schema_versions.load(self.urn)).get("schemas", [])
        return [
            SchemaVersion(
                urn=row["urn"],
                hash=row["hash"],
                fields=_fields(row["fields"]),
                first_seen=row["firstSeen"],
            )
            for row in rows
        ]


def _fields(text: str) -> list[SchemaField]:
    return [SchemaField(name=name, type=type) for name, type in json.loads(text)]


@strawberry.type
class JobDetails(AssetDetails):
    @resolver("The type that the producer reports: JOB, TASK, DAG, MODEL, ...")
    async def type(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "type", str)

    @resolver("BATCH or STREAMING.")
    async def processing(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "processing", str)

    @resolver("SPARK, DBT, AIRFLOW, ...")
    async def integration(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "integration", str)

    @resolver("The tags as key=value.")
    async def tags(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "tags", list) or []

    @resolver("The time at which a person deleted it, if no later event named it.")
    async def deleted_at(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "deletedAt", datetime)

    @resolver("The SQL statement, if the producer sent one.")
    async def sql(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "sql", str)

    @resolver("The source code, if the producer sent it.")
    async def source_code(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "sourceCode", str)

    @resolver("The language of the source code.")
    async def language(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "language", str)

    @resolver("The URL of the source code.")
    async def code_url(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "codeUrl", str)

    @resolver("The repository of the source code.")
    async def code_repo(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "codeRepo", str)

    @resolver("The path of the source code in the repository.")
    async def code_path(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "codePath", str)

    @resolver("The version of the source code in the newest event.")
    async def code_version(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "codeVersion", str)


@strawberry.type
class RunDetails(Node):
    urn: ID

    @resolver(
        "The number of this attempt for its nominal time, from 1; null without a nominal time."
    )
    async def attempt(self, info: Info) -> int | None:
        return await property_of(info, self.urn, "attempt", int)

    @resolver("True if a later attempt for the same nominal time followed.")
    async def retried(self, info: Info) -> bool:
        return bool(await property_of(info, self.urn, "retried", bool))

    @resolver("The nominal end.")
    async def nominal_end(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "nominalEnd", datetime)

    @resolver("The time of its last event.")
    async def last_seen(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "lastSeen", datetime)

    @resolver("While it runs: when its last event arrived, by Headwater's clock.")
    async def last_heartbeat_at(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "lastHeartbeatAt", datetime)

    @resolver("The tags as key=value.")
    async def tags(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "tags", list) or []

    @resolver("The ids of the traces that its events name: the 20 smallest, sorted.")
    async def trace_ids(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "traceIds", list) or []

    @resolver("The number of its traces; 200 stands for 200 or more.")
    async def trace_count(self, info: Info) -> int:
        return await property_of(info, self.urn, "traceCount", int) or 0

    @resolver("The addresses of `traceIds` by the setting HEADWATER_TRACE_URL, in their order.")
    async def trace_links(self, info: Info) -> list[str]:
        ids = await property_of(info, self.urn, "traceIds", list) or []
        links = (trace_link(info.context.trace_url, trace_id) for trace_id in ids)
        return [link for link in links if link is not None]

    @resolver("The stack trace of the failure.")
    async def stack_trace(self, info: Info) -> str | None:
        facets = await info.context.facets.load(self.urn)
        traces = (
            facets.get(name, {}).get("stackTrace") for name in ("errorMessage", "spark.exception")
        )
        return next((trace for trace in traces if isinstance(trace, str)), None)

    @resolver("The errors of the producer while it extracted lineage.")
    async def extraction_errors(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "extractionErrors", list) or []

    @resolver("The id of its query in the system that executed it.")
    async def external_query_id(self, info: Info) -> ID | None:
        return await property_of(info, self.urn, "externalQueryId", str)

    @resolver("The number of tests that passed; null if it ran none.")
    async def tests_passed(self, info: Info) -> int | None:
        return await property_of(info, self.urn, "testsPassed", int)

    @resolver("The names of the tests that failed.")
    async def failed_tests(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "failedTests", list) or []


@strawberry.type
class ArtifactDetails(Node):
    urn: ID

    @resolver("The version in the producer's system: a snapshot, a commit, a number.")
    async def version(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "version", str)

    @resolver("The change that created the version: CREATE, OVERWRITE, ALTER, ...")
    async def lifecycle(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "lifecycle", str)

    @resolver(
        "`append` if its write kept the content before it, `overwrite` if it replaced that; null "
        "if it is unknown."
    )
    async def write_mode(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "writeMode", str)

    @resolver("The hash of its schema.")
    async def schema_hash(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "schemaHash", str)

    @resolver("The check results and measurements of this version.")
    async def quality(self, info: Info) -> Quality:
        return await quality_of(info, self.urn)

    @resolver(
        "The differences from the schema of the version before: added, dropped and retyped columns."
    )
    async def drift(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "drift", list) or []
