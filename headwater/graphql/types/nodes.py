"""The nodes of the graph in the schema, one type per label.

Large answers hold thousands of Dataset, Job and Answer nodes. They are built from their urn alone,
which contains their name; `Context.nodes` reads other properties in batches if a query selects
them. The other types are built from their properties. Every list has a limit.
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
    Before,
    First,
    Last,
    name_parts,
    property_of,
    resolver,
)
from headwater.graphql.types.lineage_node import Finding, Open, findings_of_node
from headwater.graphql.types.node import Node
from headwater.graphql.types.properties import (
    ArtifactDetails,
    DatasetDetails,
    JobDetails,
    RunDetails,
    SchemaField,
)
from headwater.graphql.types.results import Connection, load_connection
from headwater.graphql.types.scalars import ID, Long, long_or_none
from headwater.graphql.types.steps import RunStep
from headwater.graphql.types.streams import StreamPartition
from headwater.lineage.pagination import page_request
from headwater.lineage.questions.run_steps import run_steps
from headwater.lineage.questions.run_streams import RunStream as StreamOfRun
from headwater.lineage.questions.run_streams import run_streams
from headwater.schema.urns import job_urn, parse_urn


@strawberry.type(description="A named collection of data: a table, a path, a topic, a model.")
class Dataset(DatasetDetails):
    @resolver("Other names of the same dataset.")
    async def aliases(self, info: Info) -> list[QualifiedName]:
        names = (await info.context.dataset_aliases.load(self.urn)).get("names", [])
        return [QualifiedName(**name) for name in names]

    @resolver("The names of its current columns, in order; nested ones by their dotted path.")
    async def columns(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "columns", list) or []

    @resolver("Its current columns, with their types.")
    async def fields(self, info: Info) -> list[SchemaField]:
        columns = json.loads(await property_of(info, self.urn, "schema", str) or "{}")
        return [SchemaField(name=name, type=type) for name, type in columns.items()]

    @resolver("The jobs that currently produce it.")
    async def produced_by(self, info: Info) -> list[Job]:
        return await Job.all(
            info, (await info.context.dataset_links.load(self.urn)).get("producers", [])
        )

    @resolver("The jobs that currently read it.")
    async def read_by(self, info: Info) -> list[Job]:
        return await Job.all(
            info, (await info.context.dataset_links.load(self.urn)).get("readers", [])
        )

    @resolver("Its versions, newest first.")
    async def versions(
        self,
        info: Info,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[Artifact]:
        async def load_nodes(urns: list[str]) -> dict[str, Artifact]:
            rows = await info.context.load_existing(urns)
            return {row["urn"]: Artifact.of(row) for row in rows}

        pages, counts = info.context.dataset_versions, info.context.dataset_versions_count
        page = page_request(first, after, last, before)
        return await load_connection(pages, counts, self.urn, page, load_nodes)

    @resolver("Captures of data that no known run produced.")
    async def sources(self, info: Info) -> list[Source]:
        urns = (await info.context.dataset_sources.load(self.urn)).get("sources", [])
        return [Source.of(row) for row in await info.context.load_existing(urns)]

    @resolver("The answers that cite a version of it, newest first.")
    async def answers(
        self,
        info: Info,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[Answer]:
        async def load_nodes(urns: list[str]) -> dict[str, Answer]:
            return {answer.urn: answer for answer in await Answer.all(info, urns)}

        pages, counts = info.context.dataset_answers, info.context.dataset_answers_count
        page = page_request(first, after, last, before)
        return await load_connection(pages, counts, self.urn, page, load_nodes)


@strawberry.type(description="A named process that reads and writes datasets.")
class Job(JobDetails):
    @resolver(
        "The datasets it currently reads: inputs of its newest successful execution, and declared"
        " inputs."
    )
    async def inputs(self, info: Info) -> list[Dataset]:
        return await Dataset.all(
            info, (await info.context.job_links.load(self.urn)).get("inputs", [])
        )

    @resolver("The datasets it currently produces.")
    async def outputs(self, info: Info) -> list[Dataset]:
        return await Dataset.all(
            info, (await info.context.job_links.load(self.urn)).get("outputs", [])
        )

    @resolver("The jobs that contain it: the DAG of a task, the application of a query.")
    async def parents(self, info: Info) -> list[Job]:
        return await Job.all(info, (await info.context.job_links.load(self.urn)).get("parents", []))

    @resolver("The jobs that it contains.")
    async def children(self, info: Info) -> list[Job]:
        return await Job.all(
            info, (await info.context.job_links.load(self.urn)).get("children", [])
        )

    @resolver("The jobs that it waits for by control flow.")
    async def runs_after(self, info: Info) -> list[Job]:
        return await Job.all(info, (await info.context.job_links.load(self.urn)).get("after", []))

    @resolver("Its runs, newest first.")
    async def runs(
        self,
        info: Info,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[PipelineRun]:
        async def load_nodes(urns: list[str]) -> dict[str, PipelineRun]:
            rows = await info.context.load_existing(urns)
            return {row["urn"]: PipelineRun.of(row) for row in rows}

        pages, counts = info.context.job_runs, info.context.job_runs_count
        page = page_request(first, after, last, before)
        return await load_connection(pages, counts, self.urn, page, load_nodes)


@strawberry.type(description="One execution of a job.")
class PipelineRun(RunDetails):
    run_id: ID
    run_uuid: ID | None = strawberry.field(
        description="A stable UUID for a run id that is not a UUID."
    )
    namespace: str | None
    pipeline_name: str | None
    status: RunStatus
    started_at: datetime | None
    finished_at: datetime | None
    failed_at: datetime | None
    nominal_start: datetime | None
    attempts: int = strawberry.field(description="The number of START events of this run id.")
    error: str | None
    engine: str | None
    version: str | None = strawberry.field(description="The version of the code.")
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

    @resolver("The seconds from start to end; null while it runs.")
    def duration_seconds(self) -> float | None:
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()

    @resolver("The job that it executes.")
    async def job(self, info: Info) -> Job | None:
        jobs = (await info.context.run_links.load(self.urn)).get("jobs", [])
        is_named = self.namespace and self.pipeline_name
        own_job = job_urn(self.namespace or "", self.pipeline_name or "") if is_named else ""
        first = await Job.all(info, [own_job] if own_job in jobs else jobs[:1])
        return first[0] if first else None

    @resolver("The datasets that it read.")
    async def inputs(self, info: Info) -> list[Dataset]:
        return await _datasets(
            info, (await info.context.run_links.load(self.urn)).get("inputs", [])
        )

    @resolver("The datasets that it wrote or began to write.")
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

    @resolver("The versions that it created.")
    async def artifacts(self, info: Info) -> list[Artifact]:
        urns = [
            use["urn"] for use in (await info.context.run_links.load(self.urn)).get("outputs", [])
        ]
        return [Artifact.of(row) for row in await info.context.load_existing(urns)]

    @resolver("The runs that contain it.")
    async def parents(self, info: Info) -> list[PipelineRun]:
        urns = (await info.context.run_links.load(self.urn)).get("parents", [])
        return [PipelineRun.of(row) for row in await info.context.load_existing(urns)]

    @resolver("The runs that it contains, oldest first.")
    async def children(self, info: Info) -> list[PipelineRun]:
        urns = (await info.context.run_links.load(self.urn)).get("children", [])
        return [PipelineRun.of(row) for row in await info.context.load_existing(urns)]

    @resolver("The number of runs inside it, at any depth, that failed and were not retried.")
    async def child_failures(self, info: Info) -> int:
        return int((await info.context.run_links.load(self.urn)).get("childFailures", 0))

    @resolver("True if `childFailures` is over 0.")
    async def has_failed_child(self, info: Info) -> bool:
        return bool((await info.context.run_links.load(self.urn)).get("childFailures", 0))

    @resolver("The steps that tracked functions recorded inside it, in order; at most 200.")
    async def steps(self, info: Info) -> list[RunStep]:
        return [RunStep.of(step) for step in run_steps(await info.context.facets.load(self.urn))]

    @resolver("The topics that it read and wrote, with the offsets that its events reported.")
    async def streams(self, info: Info) -> list[RunStream]:
        streams = run_streams(await info.context.run_links.load(self.urn))
        datasets = await Dataset.all(info, list(dict.fromkeys(one.dataset for one in streams)))
        by_urn = {dataset.urn: dataset for dataset in datasets}
        return [RunStream.of(one, by_urn[one.dataset]) for one in streams if one.dataset in by_urn]

    @resolver("The newest value of each facet.")
    async def facets(self, info: Info) -> JSON:
        return JSON(await info.context.facets.load(self.urn))


@strawberry.type(description="A topic that a run read or wrote.")
class RunStream:
    dataset: Dataset
    is_output: bool = strawberry.field(description="True if the run wrote it.")
    reported_at: datetime = strawberry.field(description="The newest event with offsets.")
    lag: Long | None = strawberry.field(
        description="How many records of all partitions it had not read; null if unknown."
    )
    partitions: list[StreamPartition] = strawberry.field(description="By number; at most 256.")

    @classmethod
    def of(cls, row: StreamOfRun, dataset: Dataset) -> RunStream:
        return cls(
            dataset=dataset,
            is_output=row.is_output,
            reported_at=row.reported_at,
            lag=long_or_none(row.lag),
            partitions=[StreamPartition.of(one) for one in row.partitions],
        )


@strawberry.type(description="A capture of data that no known run produced.")
class Source(Node):
    urn: ID
    namespace: str
    name: str
    dataset: Dataset
    registered: bool = strawberry.field(
        description="True if a client registered it; false if a run only read it."
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


@strawberry.type(description="A version of a dataset, created by a run.")
class Artifact(ArtifactDetails):
    namespace: str
    name: str
    dataset: Dataset
    run_id: ID | None
    type: str | None
    status: RunStatus = strawberry.field(description="The status of the run that created it.")
    complete: bool = strawberry.field(
        description="True if that run completed; otherwise the data may be partial."
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

    @resolver("The run that created it; null if an event only names the version.")
    async def run(self, info: Info) -> PipelineRun | None:
        row = await info.context.nodes.load(self.run_urn) if self.run_urn else None
        return PipelineRun.of(row) if row else None


@strawberry.type(
    description="A report, a dashboard figure, a prediction or a decision, with its citations."
)
class Answer(Node):
    urn: ID
    answer_id: ID

    @classmethod
    def of(cls, row: Row) -> Answer:
        return cls(urn=row["urn"], answer_id=row.get("answerId") or "")

    @classmethod
    async def all(cls, info: Info, urns: list[str]) -> list[Answer]:
        urns = await info.context.visible_urns(urns)
        names = await name_parts(info, urns, "answerId")
        return [cls(urn=urn, answer_id=name[0]) for urn, name in zip(urns, names, strict=True)]

    @resolver("The kind of answer.")
    async def type(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "type", str)

    @resolver("The text of the answer.")
    async def content(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "content", str)

    @resolver("The time of its creation.")
    async def generated_at(self, info: Info) -> datetime | None:
        return await property_of(info, self.urn, "generatedAt", datetime)

    @resolver("The person or system that created it.")
    async def generated_by(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "generatedBy", str)

    @resolver("The address at which people find it, for example of a dashboard.")
    async def url(self, info: Info) -> str | None:
        return await property_of(info, self.urn, "url", str)

    @resolver("The owners.")
    async def owners(self, info: Info) -> list[str]:
        return await property_of(info, self.urn, "owners", list) or []

    @resolver("Its findings, open ones first; at most 20.")
    async def findings(self, info: Info, open: Open = None) -> list[Finding]:
        return await findings_of_node(info, self.urn, open=open)

    @resolver("The cited versions of datasets, columns and other answers.")
    async def citations(self, info: Info) -> list[Citation]:
        cited = await info.context.citations.load(self.urn)
        return [Citation.of(row) for row in await info.context.load_existing(cited)]


@strawberry.type(
    description="A citation of an answer; exactly one of its fields beside `urn` is set."
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
            return cls(urn=urn, answer=Answer.of(row))
        return cls(urn=urn, column=Column.of(row))


@strawberry.type(description="A column of a dataset.")
class Column(Node):
    urn: ID
    namespace: str
    dataset_name: str = strawberry.field(description="The name of its dataset.")
    name: str
    type: str | None
    current: bool = strawberry.field(description="True if the current schema has it.")
    tags: list[str] = strawberry.field(
        description="Its own tags as key=value; those of its dataset are tags of the dataset."
    )

    @classmethod
    def of(cls, row: Row) -> Column:
        return cls(
            urn=row["urn"],
            namespace=row.get("namespace") or "",
            dataset_name=row.get("dataset") or "",
            name=row.get("name") or "",
            type=row.get("type"),
            current=bool(row.get("current")),
            tags=row.get("tags") or [],
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
