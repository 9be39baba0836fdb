"""What GraphQL shows of a node beside its name and its links: what producers said of it, read only when asked for.

Each class is the base of the type of one label; its fields are properties of that node.
"""

from __future__ import annotations

import json
from datetime import datetime

import strawberry

from headwater.graphql.context import Info
from headwater.graphql.types.fields import property_of, resolver
from headwater.graphql.types.quality import Freshness, Quality, freshness_of, quality_of
from headwater.graphql.types.scalars import ID


@strawberry.type(description="A column of a schema.")
class SchemaField:
    name: str
    type: str | None


@strawberry.type(description="One schema, shared by all versions of any dataset that have it.")
class SchemaVersion:
    urn: ID
    hash: str
    fields: list[SchemaField]
    first_seen: datetime | None = strawberry.field(
        description="When the dataset was first seen with it."
    )


@strawberry.type
class DatasetDetails:
    urn: ID

    @resolver("TABLE, VIEW, TOPIC, MODEL, ...: as the producer says.")
    async def type(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "type", str)

    @resolver("A finer kind than the type, as the producer says.")
    async def sub_type(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "subType", str)

    @resolver("What it is, in words.")
    async def description(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "description", str)

    @resolver("Who owns it.")
    async def owners(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "owners", list) or []

    @resolver("Its tags as key=value, those of a field as field:key=value.")
    async def tags(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "tags", list) or []

    @resolver("The name of the system it lives in.")
    async def source_name(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "sourceName", str)

    @resolver("Where that system is.")
    async def source_uri(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "sourceUri", str)

    @resolver("How it is stored: iceberg, delta, ...")
    async def storage(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "storage", str)

    @resolver("The format of its files.")
    async def file_format(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "fileFormat", str)

    @resolver("The catalog that lists it.")
    async def catalog(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "catalog", str)

    @resolver("What it is in, outermost first: project, database, schema, ...")
    async def hierarchy(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "hierarchy", list) or []

    @resolver("What was last done to it: CREATE, ALTER, OVERWRITE, TRUNCATE, RENAME or DROP.")
    async def lifecycle(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "lifecycle", str)

    @resolver("When it was dropped, if that was the last that was done to it.")
    async def dropped_at(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "droppedAt", datetime)

    @resolver("How fresh it is: its own newest data, and that of each source which got into it.")
    async def freshness(self, info: Info) -> Freshness:
        return await freshness_of(info, self.urn)

    @resolver("What checks said of it, of any of its versions, and what was measured in it.")
    async def quality(self, info: Info) -> Quality:
        return await quality_of(info, self.urn)

    @resolver("Every schema it was seen with, newest first.")
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
class JobDetails:
    urn: ID

    @resolver("JOB, TASK, DAG, MODEL, ...: as the producer says.")
    async def type(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "type", str)

    @resolver("BATCH or STREAMING.")
    async def processing(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "processing", str)

    @resolver("SPARK, DBT, AIRFLOW, ...")
    async def integration(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "integration", str)

    @resolver("What it is for, in words.")
    async def description(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "description", str)

    @resolver("Who owns it.")
    async def owners(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "owners", list) or []

    @resolver("Its tags as key=value.")
    async def tags(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "tags", list) or []

    @resolver("The statement it runs, where one was sent.")
    async def sql(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "sql", str)

    @resolver("Its code, where that was sent.")
    async def source_code(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "sourceCode", str)

    @resolver("The language of its code.")
    async def language(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "language", str)

    @resolver("Where its code is.")
    async def code_url(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "codeUrl", str)

    @resolver("The repository of its code.")
    async def code_repo(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "codeRepo", str)

    @resolver("The path of its code in the repository.")
    async def code_path(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "codePath", str)

    @resolver("The version of its code, as last told.")
    async def code_version(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "codeVersion", str)


@strawberry.type
class RunDetails:
    urn: ID

    @resolver("Which attempt of its schedule slot it is, from 1; null without a nominal time.")
    async def attempt(self, info: Info) -> int | None:
        return await property_of(info, self.urn, "attempt", int)

    @resolver("Whether a later attempt for the same slot followed it.")
    async def retried(self, info: Info) -> bool:
        return bool(await property_of(info, self.urn, "retried", bool))

    @resolver("The end of the time it was for.")
    async def nominal_end(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "nominalEnd", datetime)

    @resolver("The time of the last event about it.")
    async def last_seen(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "lastSeen", datetime)

    @resolver(
        "When something was last heard of it, by Headwater's own clock, as long as it is running."
    )
    async def last_heartbeat_at(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "lastHeartbeatAt", datetime)

    @resolver("Its tags as key=value.")
    async def tags(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "tags", list) or []

    @resolver("Where in the code it failed, as the producer says.")
    async def stack_trace(self, info: Info) -> str | None:
        facets = await info.context.facets.load(self.urn)
        traces = (
            facets.get(name, {}).get("stackTrace") for name in ("errorMessage", "spark.exception")
        )
        return next((trace for trace in traces if isinstance(trace, str)), None)

    @resolver("What the producer could not extract of its lineage.")
    async def extraction_errors(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "extractionErrors", list) or []

    @resolver("The id of its query in the system that ran it.")
    async def external_query_id(self, info: Info) -> ID | None:
        return await property_of(info, self.urn, "externalQueryId", str)

    @resolver("How many of the tests it made passed; null when it made none.")
    async def tests_passed(self, info: Info) -> int | None:
        return await property_of(info, self.urn, "testsPassed", int)

    @resolver("The names of the tests it made that failed.")
    async def failed_tests(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "failedTests", list) or []


@strawberry.type
class ArtifactDetails:
    urn: ID

    @resolver("The version as its producer names it: a snapshot, a commit, a number.")
    async def version(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "version", str)

    @resolver("What was done to the dataset: CREATE, OVERWRITE, ALTER, ...")
    async def lifecycle(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "lifecycle", str)

    @resolver("The hash of its schema.")
    async def schema_hash(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "schemaHash", str)

    @resolver("What checks said of this version, and what was measured in it.")
    async def quality(self, info: Info) -> Quality:
        return await quality_of(info, self.urn)

    @resolver(
        "How its schema differs from that of the version before: added, dropped and retyped columns."
    )
    async def drift(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "drift", list) or []
