"""The estate of a story: tables as files, and jobs that compute them and report their lineage.

A table is a file of JSON lines. Each version is kept beside it, under the id of its run. A job is a
Python function from rows to rows. Its events contain what was measured on the rows: the schema, the
number of rows, and the measures of each column. A job whose function raises an error has failed.
"""

from __future__ import annotations

import inspect
import json
import traceback
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from headwater.scenarios.measures import column_metrics
from headwater.scenarios.rows import Row, Rows
from headwater.scenarios.topics import Topics
from headwater.schema import headwater_facets as native
from headwater.schema.urns import answer_urn, dataset_urn, job_urn, run_urn

Event = dict[str, Any]
_HEAD = {"_producer": native.PRODUCER, "_schemaURL": f"{native.PRODUCER}/scenarios.json"}
_SERVICE = "service"
# The time of a run that does nothing but copy a few rows.
RUN_TIME = timedelta(minutes=1)


def select(rows: Rows, names: Iterable[str]) -> Rows:
    """Return some columns of rows. Raise KeyError for a missing one."""
    wanted = tuple(names)
    return [_select(row, wanted) for row in rows]


def _select(row: Row, names: tuple[str, ...]) -> Row:
    return {name: row[name] for name in names}


@dataclass(frozen=True)
class Job:
    """A job: a function of the rows of its inputs, and what is declared about it.

    columns: by output column, the (dataset, column) pairs that it is made from.
    checks: a function from the rows of the output to the checks that passed or failed.
    model: whether the output is a model.
    sql: the query that `compute` runs, if it runs one.
    code: the function whose source is sent, if it is not `compute`.
    """

    name: str
    inputs: tuple[str, ...]
    output: str
    compute: Callable[..., Rows]
    types: Mapping[str, str]
    columns: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    owner: str = ""
    version: str = "1.0"
    checks: Callable[[Rows], Mapping[str, bool]] | None = None
    model: bool = False
    sql: str = ""
    code: Callable[..., Rows] | None = None


class Workshop:
    """The files of one story, and the events that its jobs send."""

    def __init__(
        self,
        namespace: str,
        folder: Path,
        send: Callable[[Sequence[Event]], None],
        *,
        tonight: datetime | None = None,
        send_spans: Callable[[Event], None] | None = None,
        uses_servers: bool = False,
    ) -> None:
        """Create the folder.

        Args:
            namespace: The namespace of all jobs and datasets.
            folder: The folder of the tables.
            send: Sends events to the API, and returns when they are accepted.
            tonight: When the jobs of tonight begin; by default three hours ago.
            send_spans: Sends an export request of OTLP to the API, for stories with services.
            uses_servers: Whether topics are of a real Kafka, and not of files.
        """
        # What has to end with the story: the servers that it started.
        self.resources = ExitStack()
        self.topics = Topics(folder / "topics", self.resources, uses_kafka=uses_servers)
        self.namespace = namespace
        self.folder = folder
        self._send = send
        self._send_spans = send_spans
        self._waiting: list[Event] = []
        self._waiting_spans: list[Event] = []
        self.tonight = tonight or datetime.now(UTC) - timedelta(hours=3)
        # The ids of the runs of each job, in their order.
        self.runs: dict[str, list[str]] = {}
        # The urn at which the replay begins, and the time since when its versions are bad.
        self.replay_start: tuple[str, str | None] = ("", None)
        folder.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.resources.close()

    def night(self, number: int, minute: float = 0) -> datetime:
        """Return a time in the night `number` nights ago: 0 is tonight."""
        return self.tonight - timedelta(days=number) + timedelta(minutes=minute)

    def place(self, table: str) -> tuple[str, str]:
        """Return the namespace and the name of the dataset of a table."""
        return self.namespace, table

    def urn(self, node: str) -> str:
        """Return the urn of `job:NAME`, `service:NAME`, `dataset:NAME` or `answer:ID`."""
        kind, _, name = node.partition(":")
        if kind == _SERVICE:
            return job_urn(self._services, name)
        if kind == "dataset":
            return dataset_urn(*self.place(name))
        return answer_urn(name) if kind == "answer" else job_urn(self.namespace, name)

    @property
    def urn_prefixes(self) -> tuple[str, ...]:
        """Return the beginnings of the urns of all nodes of the story but answers."""
        return tuple(self.urn(f"{kind}:") for kind in ("job", _SERVICE, "dataset"))

    def short(self, urn: str) -> str:
        """Return a urn of the story as `kind:name`."""
        kind, _, rest = urn.partition(":")
        of_service = self.urn(f"{_SERVICE}:")
        if urn.startswith(of_service):
            return f"{_SERVICE}:{urn.removeprefix(of_service)}"
        return f"{kind}:{rest.removeprefix(f'{self.namespace}:')}"

    @property
    def _services(self) -> str:
        return f"service://{self.namespace}"

    def send(self, *events: Event) -> None:
        """Queue events; `flush` sends them."""
        self._waiting += events

    def send_spans(self, request: Event) -> None:
        """Queue an export request of OTLP; `flush` sends it."""
        self._waiting_spans.append(request)

    @property
    def engine(self) -> str:
        """Return the words for the platform of the jobs."""
        return "real files"

    def flush(self) -> None:
        """Send the queued events and spans."""
        waiting, self._waiting = self._waiting, []
        spans, self._waiting_spans = self._waiting_spans, []
        if waiting:
            self._send(waiting)
        for request in spans:
            if self._send_spans is not None:
                self._send_spans(request)

    def read(self, table: str) -> Rows:
        """Return the rows of a table."""
        return _read(self._file(table))

    def write(self, table: str, rows: Rows) -> None:
        """Write a table without a run, as a service does with a topic."""
        self._write(table, rows)

    def read_version(self, table: str, run_id: str) -> Rows:
        """Return the rows that a run wrote."""
        return _read(self._file(table, run_id))

    def deliver(self, table: str, rows: Rows, types: Mapping[str, str], when: datetime) -> None:
        """Write a source as its owner delivers it, and register the capture with its schema."""
        self._write_delivery(table, rows, when)
        namespace, name = self.place(table)
        event = native.source_event(
            name,
            namespace=namespace,
            origin="delivery",
            format="json",
            row_count=len(rows),
            captured_at=time_text(when),
        )
        event["dataset"]["facets"]["schema"] = schema_facet(types)
        self.send(event)

    def answer(self, answer_id: str, content: str, cites: str, when: datetime, owner: str) -> None:
        """Register an answer that cites a table."""
        namespace, name = self.place(cites)
        self.send(
            native.answer_event(
                answer_id,
                cites=[{"namespace": namespace, "name": name}],
                content=content,
                generated_at=time_text(when),
                owners=[owner],
            )
        )

    def tag(self, table: str, key: str, value: str, when: datetime) -> None:
        """Tag a table."""
        tags = [{"key": key, "value": value, "source": "steward"}]
        self.send(native.tags_event(*self.place(table), tags, event_time=time_text(when)))

    def deprecate(self, table: str, replacement: str, reason: str, when: datetime) -> None:
        """Send the edit of a steward that deprecates a table."""
        urn = dataset_urn(*self.place(replacement))
        self.send(
            native.deprecation_event(
                *self.place(table),
                reason=reason,
                replacement=urn,
                event_time=time_text(when),
            )
        )

    def drop(self, job_name: str, table: str, when: datetime) -> None:
        """Delete a table with its file, and report the job that did it."""
        self._delete(table)
        namespace, name = self.place(table)
        dropped = {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}}
        self.send(
            {
                "eventType": "COMPLETE",
                "eventTime": time_text(when),
                "producer": native.PRODUCER,
                "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
                "run": {"runId": self._new_run(job_name, when), "facets": {}},
                "job": {"namespace": self.namespace, "name": job_name, "facets": {}},
                "inputs": [],
                "outputs": [{"namespace": namespace, "name": name, "facets": with_heads(dropped)}],
            }
        )

    def _new_run(self, job_name: str, when: datetime) -> str:
        run_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.namespace}/{job_name}/{when}"))
        self.runs.setdefault(job_name, []).append(run_id)
        return run_id

    def replay_from(self, node: str, since: datetime | None = None) -> None:
        """Name the dataset whose versions since a time are bad; or the last run of a job."""
        if since is not None:
            self.replay_start = self.urn(node), time_text(since)
        else:
            self.replay_start = run_urn(self.runs[node.removeprefix("job:")][-1]), None

    def run(
        self,
        job: Job,
        when: datetime,
        *,
        trace_id: str = "",
        input_facets: Mapping[str, Event] | None = None,
        took: timedelta = RUN_TIME,
        facets: Mapping[str, Any] | None = None,
    ) -> bool:
        """Run a job on the files and report it. Return True if it succeeded.

        Args:
            job: The job.
            when: When it starts.
            trace_id: The trace of messages that it reads.
            input_facets: By input, the facets of what it read of it.
            took: How long it takes.
            facets: Further facets of the run, without their heads.
        """
        run_id = self._new_run(job.name, when)
        self.send(self._event(job, run_id, "START", when))
        end = when + took
        further = dict(facets or {})
        try:
            rows = job.compute(*[self.read(name) for name in job.inputs])
        except Exception as error:
            failure = {
                "message": f"{type(error).__name__}: {error}",
                "programmingLanguage": "PYTHON",
                "stackTrace": traceback.format_exc(limit=-1),
            }
            further["errorMessage"] = failure
            self.send(self._event(job, run_id, "FAIL", end, facets=further))
            return False
        self._write(job.output, rows, run_id)
        if trace_id:
            further["trace"] = {"traceId": trace_id}
        complete = self._event(job, run_id, "COMPLETE", end, rows=rows, facets=further)
        for one in complete["inputs"] if input_facets else ():
            one["inputFacets"] = with_heads((input_facets or {}).get(one["name"], {}))
        self.send(complete)
        return True

    def _event(
        self,
        job: Job,
        run_id: str,
        state: str,
        when: datetime,
        *,
        rows: Rows | None = None,
        facets: Mapping[str, Any] | None = None,
    ) -> Event:
        output: Event = {"namespace": self.namespace, "name": job.output}
        if rows is not None:
            output |= self._output_facets(job, rows)
        return {
            "eventType": state,
            "eventTime": time_text(when),
            "producer": native.PRODUCER,
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
            "run": {
                "runId": run_id,
                "facets": with_heads(
                    {native.RUN_FACET: {"version": job.version}, **(facets or {})}
                ),
            },
            "job": {
                "namespace": self.namespace,
                "name": job.name,
                "facets": with_heads(_job_facets(job)),
            },
            "inputs": [{"namespace": self.namespace, "name": name} for name in job.inputs],
            "outputs": [output],
        }

    def _output_facets(self, job: Job, rows: Rows) -> Event:
        written_columns = rows[0] if rows else job.types
        types = {name: type for name, type in job.types.items() if name in written_columns}
        facets: Event = {"schema": schema_facet(types)}
        if job.columns:
            facets["columnLineage"] = {"fields": self._column_fields(job, types)}
        if job.model:
            facets["datasetType"] = {"datasetType": "MODEL"}
        quality: Event = {
            "dataQualityMetrics": {
                "rowCount": len(rows),
                "columnMetrics": column_metrics(rows, types),
            }
        }
        if job.checks is not None:
            quality["dataQualityAssertions"] = {
                "assertions": [
                    {"assertion": name, "success": passed}
                    for name, passed in job.checks(rows).items()
                ]
            }
        written = {"outputStatistics": {"rowCount": len(rows)}}
        return {
            "facets": with_heads({**facets, **quality}),
            "outputFacets": with_heads(written),
        }

    def _column_fields(self, job: Job, types: Mapping[str, str]) -> Event:
        fields: Event = {}
        for column in filter(types.__contains__, job.columns):
            pairs = job.columns[column]
            inputs = [
                {"namespace": self.namespace, "name": name, "field": source}
                for name, source in pairs
            ]
            fields[column] = {"inputFields": inputs}
        return fields

    def _delete(self, table: str) -> None:
        self._file(table).unlink()

    def _write_delivery(self, table: str, rows: Rows, when: datetime) -> None:
        del when
        self._write(table, rows)

    def _file(self, table: str, run_id: str = "newest") -> Path:
        return self.folder / table / f"{run_id}.jsonl"

    def _write(self, table: str, rows: Rows, run_id: str = "") -> None:
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        self._file(table).parent.mkdir(parents=True, exist_ok=True)
        for name in filter(None, ("newest", run_id)):
            self._file(table, name).write_text(text, encoding="utf-8")


def _read(file: Path) -> Rows:
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _job_facets(job: Job) -> Event:
    if job.sql:
        return {"sql": {"query": job.sql}, **owner_facet(job.owner)}
    return code_facets(job.code or job.compute, job.owner)


def code_facets(function: Callable[..., Any], owner: str) -> Event:
    """Return the facets of a job that runs a function."""
    code = {"language": "PYTHON", "sourceCode": inspect.getsource(function)}
    return {"sourceCode": code, **owner_facet(owner)}


def owner_facet(owner: str) -> Event:
    """Return the facet of the owner of a job; none without an owner."""
    return {"ownership": {"owners": [{"name": owner, "type": "team"}]}} if owner else {}


def schema_facet(types: Mapping[str, str]) -> Event:
    fields = [{"name": name, "type": type} for name, type in types.items()]
    return {**_HEAD, "fields": fields}


def with_heads(facets: Mapping[str, Any]) -> Event:
    """Return facets with the head that each facet has."""
    return {name: {**_HEAD, **content} for name, content in facets.items()}


def time_text(when: datetime) -> str:
    """Return a time as events have it."""
    return when.isoformat().replace("+00:00", "Z")
