"""What GraphQL shows of the graph: its nodes, one type per label.

Dataset, Job and Answer turn up by the thousand in lineages, so they are made from their urn alone, which spells
their name, and read anything further only when it is asked for (batched, by `Context.nodes`). The others are made
from their properties. Every list has a bound.
"""

from __future__ import annotations

import json
from datetime import datetime

import strawberry
from strawberry.scalars import JSON

from headwater.cypher.driver.database import Row
from headwater.graphql.context import Info
from headwater.graphql.types.aliases import QualifiedName
from headwater.graphql.types.enums import RunStatus
from headwater.graphql.types.fields import (
    After,
    First,
    checked_first,
    property_of,
    resolver,
    spelled,
)
from headwater.graphql.types.properties import (
    ArtifactDetails,
    DatasetDetails,
    JobDetails,
    RunDetails,
    SchemaField,
)
from headwater.graphql.types.results import Connection
from headwater.graphql.types.scalars import ID, Long
from headwater.schema.urns import job_urn, parse_urn


@strawberry.type(description="A named place data lives: a table, a path, a topic, a model.")
class Dataset(DatasetDetails):
    namespace: str
    name: str

    @classmethod
    async def all(cls, info: Info, urns: list[str]) -> list[Dataset]:
        urns = await info.context.visible_urns(urns)
        names = await spelled(info, urns, "namespace", "name")
        return [
            cls(urn=urn, namespace=name[0], name=name[1])
            for urn, name in zip(urns, names, strict=True)
        ]

    @resolver("Other names that are the same dataset.")
    async def aliases(self, info: Info) -> list[QualifiedName]:
        names = (await info.context.dataset_aliases.load(self.urn)).get("names", [])
        return [
            QualifiedName(**name)
            for name in names
            if info.context.view.visibility.includes(name["namespace"])
        ]

    @resolver("When an event first named it.")
    async def first_seen(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "firstSeen", datetime)

    @resolver("When an event last named it.")
    async def last_seen(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "lastSeen", datetime)

    @resolver("The names of its columns now, in order; nested ones by their dotted path.")
    async def columns(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "columns", list) or []

    @resolver("Its columns now, with their types.")
    async def fields(self, info: Info) -> list[SchemaField]:
        said = json.loads(await property_of(info, self.urn, "schema", str) or "{}")
        return [SchemaField(name=name, type=type) for name, type in said.items()]

    @resolver("Every facet as it was last sent.")
    async def facets(self, info: Info) -> JSON:
        return JSON(await info.context.facets.load(self.urn))

    @resolver("The jobs that produce it now.")
    async def produced_by(self, info: Info) -> list[Job]:
        return await Job.all(
            info, (await info.context.dataset_links.load(self.urn)).get("producers", [])
        )

    @resolver("The jobs that read it now.")
    async def read_by(self, info: Info) -> list[Job]:
        return await Job.all(
            info, (await info.context.dataset_links.load(self.urn)).get("readers", [])
        )

    @resolver("Its versions, newest first.")
    async def versions(
        self, info: Info, first: First = 20, after: After = None
    ) -> Connection[Artifact]:
        page = await info.context.dataset_versions.load((self.urn, checked_first(first), after))
        nodes = {
            row["urn"]: Artifact.of(row) for row in await info.context.load_existing(page.entries)
        }
        return Connection.of(page, map(nodes.get, page.entries), after)

    @resolver("Captures of it that nothing known produced.")
    async def sources(self, info: Info) -> list[Source]:
        urns = (await info.context.dataset_sources.load(self.urn)).get("sources", [])
        return [Source.of(row) for row in await info.context.load_existing(urns)]

    @resolver("The answers that cite any version of it, newest first.")
    async def answers(
        self, info: Info, first: First = 20, after: After = None
    ) -> Connection[Answer]:
        page = await info.context.dataset_answers.load((self.urn, checked_first(first), after))
        nodes = {answer.urn: answer for answer in await Answer.all(info, page.entries)}
        return Connection.of(page, map(nodes.get, page.entries), after)


@strawberry.type(description="A named process that reads and writes datasets.")
class Job(JobDetails):
    namespace: str
    name: str

    @classmethod
    async def all(cls, info: Info, urns: list[str]) -> list[Job]:
        urns = await info.context.visible_urns(urns)
        names = await spelled(info, urns, "namespace", "name")
        return [
            cls(urn=urn, namespace=name[0], name=name[1])
            for urn, name in zip(urns, names, strict=True)
        ]

    @resolver("When an event first named it.")
    async def first_seen(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "firstSeen", datetime)

    @resolver("When an event last named it.")
    async def last_seen(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "lastSeen", datetime)

    @resolver("Every facet as it was last sent.")
    async def facets(self, info: Info) -> JSON:
        return JSON(await info.context.facets.load(self.urn))

    @resolver(
        "The datasets it reads now: what its newest run that succeeded read, and what is declared."
    )
    async def inputs(self, info: Info) -> list[Dataset]:
        return await Dataset.all(
            info, (await info.context.job_links.load(self.urn)).get("inputs", [])
        )

    @resolver("The datasets it produces now.")
    async def outputs(self, info: Info) -> list[Dataset]:
        return await Dataset.all(
            info, (await info.context.job_links.load(self.urn)).get("outputs", [])
        )

    @resolver("The jobs it is part of: the DAG of a task, the application of a query.")
    async def parents(self, info: Info) -> list[Job]:
        return await Job.all(info, (await info.context.job_links.load(self.urn)).get("parents", []))

    @resolver("The jobs that are part of it.")
    async def children(self, info: Info) -> list[Job]:
        return await Job.all(
            info, (await info.context.job_links.load(self.urn)).get("children", [])
        )

    @resolver("The jobs after which it runs, by control flow.")
    async def runs_after(self, info: Info) -> list[Job]:
        return await Job.all(info, (await info.context.job_links.load(self.urn)).get("after", []))

    @resolver("Its runs, newest first.")
    async def runs(
        self, info: Info, first: First = 20, after: After = None
    ) -> Connection[PipelineRun]:
        page = await info.context.job_runs.load((self.urn, checked_first(first), after))
        nodes = {
            row["urn"]: PipelineRun.of(row)
            for row in await info.context.load_existing(page.entries)
        }
        return Connection.of(page, map(nodes.get, page.entries), after)


@strawberry.type(description="One execution of a job.")
class PipelineRun(RunDetails):
    run_id: ID
    run_uuid: ID | None = strawberry.field(
        description="A stable UUID beside a run id that is none."
    )
    namespace: str | None
    pipeline_name: str | None
    status: RunStatus
    started_at: datetime | None
    finished_at: datetime | None
    failed_at: datetime | None
    nominal_start: datetime | None
    attempts: int = strawberry.field(description="How often this run id was started.")
    error: str | None
    engine: str | None
    version: str | None = strawberry.field(description="The version of the code that ran.")
    triggered_by: str | None

    @classmethod
    def of(cls, row: Row) -> PipelineRun:
        return cls(
            urn=row["urn"],
            run_id=row.get("runId") or "",
            run_uuid=row.get("runUuid"),
            namespace=row.get("namespace"),
            pipeline_name=row.get("pipelineName"),
            status=RunStatus(row.get("status") or "RUNNING"),
            started_at=row.get("startedAt"),
            finished_at=row.get("finishedAt"),
            failed_at=row.get("failedAt"),
            nominal_start=row.get("nominalStart"),
            attempts=row.get("attempts") or 0,
            error=row.get("error"),
            engine=row.get("engine"),
            version=row.get("version"),
            triggered_by=row.get("triggeredBy"),
        )

    @resolver("From its start to its end; null while it runs.")
    def duration_seconds(self) -> float | None:
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()

    @resolver("The job it is a run of.")
    async def job(self, info: Info) -> Job | None:
        jobs = (await info.context.run_links.load(self.urn)).get("jobs", [])
        named = (
            job_urn(self.namespace, self.pipeline_name)
            if self.namespace and self.pipeline_name
            else ""
        )
        found = await Job.all(info, [named] if named in jobs else jobs[:1])
        return found[0] if found else None

    @resolver("The datasets it read.")
    async def inputs(self, info: Info) -> list[Dataset]:
        return await _datasets(
            info, (await info.context.run_links.load(self.urn)).get("inputs", [])
        )

    @resolver("The datasets it wrote, or began to write.")
    async def outputs(self, info: Info) -> list[Dataset]:
        return await _datasets(
            info, (await info.context.run_links.load(self.urn)).get("outputs", [])
        )

    @resolver("The versions of other runs that it read.")
    async def read_artifacts(self, info: Info) -> list[Artifact]:
        urns = [
            use["urn"] for use in (await info.context.run_links.load(self.urn)).get("inputs", [])
        ]
        return [
            Artifact.of(row) for row in await info.context.load_existing(_only("artifact", urns))
        ]

    @resolver("The raw sources that it read.")
    async def read_sources(self, info: Info) -> list[Source]:
        urns = [
            use["urn"] for use in (await info.context.run_links.load(self.urn)).get("inputs", [])
        ]
        return [Source.of(row) for row in await info.context.load_existing(_only("source", urns))]

    @resolver("The versions it made.")
    async def artifacts(self, info: Info) -> list[Artifact]:
        urns = [
            use["urn"] for use in (await info.context.run_links.load(self.urn)).get("outputs", [])
        ]
        return [Artifact.of(row) for row in await info.context.load_existing(urns)]

    @resolver("The runs it is part of.")
    async def parents(self, info: Info) -> list[PipelineRun]:
        urns = (await info.context.run_links.load(self.urn)).get("parents", [])
        return [PipelineRun.of(row) for row in await info.context.load_existing(urns)]

    @resolver("The runs that are part of it, oldest first.")
    async def children(self, info: Info) -> list[PipelineRun]:
        urns = (await info.context.run_links.load(self.urn)).get("children", [])
        return [PipelineRun.of(row) for row in await info.context.load_existing(urns)]

    @resolver(
        "How many of the runs that are part of it, at any depth, failed and were not tried again."
    )
    async def child_failures(self, info: Info) -> int:
        return int((await info.context.run_links.load(self.urn)).get("childFailures", 0))

    @resolver("Whether a run that is part of it failed.")
    async def has_failed_child(self, info: Info) -> bool:
        return bool((await info.context.run_links.load(self.urn)).get("childFailures", 0))

    @resolver("Every facet as it was last sent.")
    async def facets(self, info: Info) -> JSON:
        return JSON(await info.context.facets.load(self.urn))


@strawberry.type(description="One capture of a dataset that nothing known produced.")
class Source:
    urn: ID
    namespace: str
    name: str
    dataset: Dataset
    registered: bool = strawberry.field(
        description="Whether somebody registered it; otherwise it was only read."
    )
    origin: str | None
    format: str | None
    row_count: Long | None
    captured_at: datetime | None
    checksum: str | None

    @classmethod
    def of(cls, row: Row) -> Source:
        return cls(
            urn=row["urn"],
            namespace=row.get("namespace") or "",
            name=row.get("name") or "",
            dataset=_dataset_of(row),
            registered=bool(row.get("registered")),
            origin=row.get("origin"),
            format=row.get("format"),
            row_count=row.get("rowCount"),
            captured_at=row.get("capturedAt"),
            checksum=row.get("checksum"),
        )


@strawberry.type(description="One version of a dataset, made by a run.")
class Artifact(ArtifactDetails):
    namespace: str
    name: str
    dataset: Dataset
    run_id: ID | None
    type: str | None
    status: RunStatus = strawberry.field(description="The status of the run that made it.")
    complete: bool = strawberry.field(
        description="Whether that run completed; otherwise this may be a part."
    )
    created_at: datetime | None
    row_count: Long | None
    bytes: Long | None
    file_count: Long | None
    storage_path: str | None
    schema: str | None
    run_urn: strawberry.Private[str | None]

    @classmethod
    def of(cls, row: Row) -> Artifact:
        return cls(
            urn=row["urn"],
            namespace=row.get("namespace") or "",
            name=row.get("name") or "",
            dataset=_dataset_of(row),
            run_id=row.get("runId"),
            type=row.get("type"),
            status=RunStatus(row.get("status") or "RUNNING"),
            complete=bool(row.get("complete")),
            created_at=row.get("createdAt"),
            row_count=row.get("rowCount"),
            bytes=row.get("bytes"),
            file_count=row.get("fileCount"),
            storage_path=row.get("storagePath"),
            schema=row.get("schema"),
            run_urn=row.get("run"),
        )

    @resolver("The run that made it; null for a version that is only named.")
    async def run(self, info: Info) -> PipelineRun | None:
        row = await info.context.nodes.load(self.run_urn) if self.run_urn else None
        return PipelineRun.of(row) if row else None


@strawberry.type(
    description="A report, a number on a dashboard, a prediction or a decision, and what it cites."
)
class Answer:
    urn: ID
    answer_id: ID

    @classmethod
    async def all(cls, info: Info, urns: list[str]) -> list[Answer]:
        urns = await info.context.visible_urns(urns)
        names = await spelled(info, urns, "answerId")
        return [cls(urn=urn, answer_id=name[0]) for urn, name in zip(urns, names, strict=True)]

    @resolver("What kind of answer it is.")
    async def type(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "type", str)

    @resolver("What it says.")
    async def content(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "content", str)

    @resolver("When it was made.")
    async def generated_at(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "generatedAt", datetime)

    @resolver("Who or what made it.")
    async def generated_by(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "generatedBy", str)

    @resolver("What it cites: versions of datasets, columns, other answers.")
    async def citations(self, info: Info) -> list[Citation]:
        cited = await info.context.citations.load(self.urn)
        return [Citation.of(row) for row in await info.context.load_existing(cited)]


@strawberry.type(
    description="One thing an answer cites; exactly one of its fields beside `urn` is set."
)
class Citation:
    urn: ID
    artifact: Artifact | None = None
    source: Source | None = None
    answer: Answer | None = None
    column: Column | None = None

    @classmethod
    def of(cls, row: Row) -> Citation:
        urn, kind = row["urn"], parse_urn(row["urn"]).kind
        if kind == "artifact":
            return cls(urn=urn, artifact=Artifact.of(row))
        if kind == "source":
            return cls(urn=urn, source=Source.of(row))
        if kind == "answer":
            return cls(urn=urn, answer=Answer(urn=urn, answer_id=row.get("answerId") or ""))
        return cls(urn=urn, column=Column.of(row))


@strawberry.type(description="A field of a dataset.")
class Column:
    urn: ID
    namespace: str
    dataset_name: str = strawberry.field(description="The name of its dataset.")
    name: str
    type: str | None
    current: bool = strawberry.field(description="Whether the dataset has it now.")

    @classmethod
    def of(cls, row: Row) -> Column:
        return cls(
            urn=row["urn"],
            namespace=row.get("namespace") or "",
            dataset_name=row.get("dataset") or "",
            name=row.get("name") or "",
            type=row.get("type"),
            current=bool(row.get("current")),
        )


async def _datasets(info: Info, uses: list[Row]) -> list[Dataset]:
    return await Dataset.all(info, list(dict.fromkeys(use["dataset"] for use in uses)))


def _dataset_of(version: Row) -> Dataset:
    return Dataset(
        urn=version["dataset"],
        namespace=version.get("namespace") or "",
        name=version.get("name") or "",
    )


def _only(kind: str, urns: list[str]) -> list[str]:
    return [urn for urn in urns if urn.startswith(f"{kind}:")]
